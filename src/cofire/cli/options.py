"""Options shared by commands: the store, JSON output, fact filters and NAME=VALUE pairs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import wraps
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, Self, get_type_hints

import typer

import cofire
from cofire.errors import InvalidInput, StoreNotOpened
from cofire.settings import sources
from cofire.stores.metadata_filter import parse_expressions
from cofire.stores.store_location import expand_store_path, is_server_url, strip_credentials

# A store that is discarded when it is closed.
IN_MEMORY = ":memory:"

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH",
        help="The store: a file, or the URL of a Neo4j server. Default: $COFIRE_STORE, else memory.db in the "
        "data folder of your account.",
        rich_help_panel="Global options",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print results and errors as JSON.", rich_help_panel="Global options")
]


@dataclass(frozen=True)
class GlobalOptions:
    """Options that every command takes, before or after its name. Those after it win."""

    store: StoreOption = None
    as_json: JsonOption = False

    def __post_init__(self) -> None:
        if self.store == "":
            raise InvalidInput("--store is empty.", way_out="Give the path of a file, or leave --store out.")

    @property
    def location(self) -> str:
        """The store for messages: its path or its URL without credentials."""
        return strip_credentials(self._store_or_default)

    @property
    def file(self) -> Path | None:
        """The path of the store, which may not exist yet; None for a server."""
        store = self._store_or_default
        return None if is_server_url(store) else expand_store_path(store)

    @property
    def store_exists(self) -> bool:
        """Whether the store file exists. A server is assumed to."""
        return self.file is None or self.file.exists()

    @property
    def _store_or_default(self) -> str:
        return self.store or sources.default_store()

    def after(self, earlier: object) -> Self:
        """These options, completed by those given before the command."""
        if not isinstance(earlier, GlobalOptions):
            return self
        return replace(self, store=self.store or earlier.store, as_json=self.as_json or earlier.as_json)

    def open_memory(self, *, may_create: bool = False, reembedding: bool = False) -> cofire.Memory:
        """Open the memory with the embedder of the settings, to search or embed."""
        self._expect_store(may_create)
        return cofire.Memory(self.store, reembedding=reembedding)

    def open_without_embedder(self, *, may_create: bool = False) -> cofire.Memory:
        """Open the memory without loading a model, to read, link or remove facts."""
        self._expect_store(may_create)
        return cofire.Memory(self.store, embedder=None)

    def _expect_store(self, may_create: bool) -> None:
        """Only commands that store facts create a store. A typo in a path must not leave an empty one behind."""
        if not (may_create or self.store is None or self.store == IN_MEMORY or self.store_exists):
            raise StoreNotOpened(
                f"There is no store {self.location}.",
                way_out="Correct the path, or create the store with: cofire remember",
            )


def refuse_empty_names(option: str, names: Iterable[str]) -> None:
    """Reject blank names at once; they would fail at every later call."""
    if not all(name.strip() for name in names):
        raise InvalidInput(f"{option} is empty.", way_out=f"Give a name, or leave {option} out.")


def handle_group_options(ctx: typer.Context, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Keep the options given before a command. Without a command, print the help."""
    ctx.obj = GlobalOptions(store, as_json).after(ctx.obj)
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
        raise typer.Exit


def expand_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Turn each parameter that is a dataclass of options into these options on the command line.

    A parameter of type `GlobalOptions` also receives the options given before the command.
    """
    hints = get_type_hints(command, include_extras=True)
    bundles = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters = [Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    for name in inspect.signature(command).parameters:
        parameters += _expand_parameter(command, name, hints)

    @wraps(command)
    def expanded(ctx: typer.Context, **values: Any) -> Any:
        arguments: dict[str, Any] = {}
        for name, bundle in bundles.items():
            arguments[name] = _collect_bundle(bundle, values)
            if isinstance(arguments[name], GlobalOptions):
                arguments[name] = arguments[name].after(ctx.obj)
        return command(**arguments, **values)

    expanded.__doc__ = join_lines(inspect.getdoc(command) or "")
    expanded.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return expanded


def join_lines(text: str) -> str:
    """Each paragraph on one line, so that help is wrapped to the width of the terminal alone."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(" ".join(paragraph.splitlines()) for paragraph in paragraphs)


def _expand_parameter(command: Callable[..., Any], name: str, hints: dict[str, Any]) -> list[Parameter]:
    if not is_dataclass(hints[name]):
        default = inspect.signature(command).parameters[name].default
        return [Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[name])]
    field_hints = get_type_hints(hints[name], include_extras=True)
    return [
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=field_hints[field.name])
        for field in fields(hints[name])
    ]


def _collect_bundle(bundle: Any, values: dict[str, Any]) -> Any:
    return bundle(**{field.name: values.pop(field.name) for field in fields(bundle)})


_FILTER_PANEL = "Filters"


def _name_option(flag: str, text: str) -> Any:
    return typer.Option(flag, metavar="NAME", help=text, rich_help_panel=_FILTER_PANEL)


def _time_option(flag: str, text: str) -> Any:
    return typer.Option(flag, metavar="TIME", help=text, rich_help_panel=_FILTER_PANEL)


WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="CONDITION",
        help="Facts whose metadata match: project=x, 'priority>=3', owner!=Ana, or a key that must exist. Also "
        "> < <=. If repeated, all conditions must hold; several project=… match any of the values.",
        rich_help_panel=_FILTER_PANEL,
    ),
]


@dataclass(frozen=True)
class SharedFilterOptions:
    """Filters on facts. Repeated values of one filter are alternatives; all tags and conditions must hold."""

    scope: Annotated[list[str] | None, _name_option("--scope", "Facts of this scope. Repeatable.")] = None
    session: Annotated[list[str] | None, _name_option("--session", "Facts of this session. Repeatable.")] = None
    tag: Annotated[
        list[str] | None, _name_option("--tag", "Facts with this tag. Repeatable; all tags must be present.")
    ] = None
    category: Annotated[list[str] | None, _name_option("--category", "Facts of this category. Repeatable.")] = None
    speaker: Annotated[list[str] | None, _name_option("--speaker", "Facts said by this speaker. Repeatable.")] = None
    where: WhereOption = None
    since: Annotated[str | None, _time_option("--since", "Facts from this time on, for example 2026-05-08.")] = None
    until: Annotated[str | None, _time_option("--until", "Facts up to this time, for example 2026-05-08T13:56.")] = None
    as_of: Annotated[str | None, _time_option("--as-of", "Facts that were valid at this time.")] = None
    community: Annotated[
        int | None,
        typer.Option(
            "--community",
            metavar="NUMBER",
            help="Facts of this community; see cofire communities.",
            rich_help_panel=_FILTER_PANEL,
        ),
    ] = None

    @property
    def keywords(self) -> dict[str, Any]:
        """The filters that are set, as keyword arguments of Memory."""
        values = {
            "scope": self.scope,
            "session": self.session,
            "tags": self.tag,
            "category": self.category,
            "speaker": self.speaker,
            "where": parse_expressions(self.where or ()) or None,
            "since": self.since,
            "until": self.until,
            "as_of": self.as_of,
            "community": self.community,
        }
        return {name: value for name, value in values.items() if value not in (None, [], ())}


def parse_pairs(pairs: Iterable[str], option: str) -> dict[str, str]:
    """Parse NAME=VALUE pairs; values stay text.

    >>> parse_pairs(["page=3", "note=a=b"], "--meta")
    {'page': '3', 'note': 'a=b'}
    """
    parsed: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name.strip() or not equals:
            raise InvalidInput(f"{option} cannot be {pair!r}.", way_out=f"Give a name and a value: {option} name=value")
        parsed[name.strip()] = value
    return parsed
