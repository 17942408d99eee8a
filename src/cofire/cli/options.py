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

# A memory that is gone when it is closed.
IN_MEMORY = ":memory:"

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH",
        help="The file that holds the memory, or the URL of a Neo4j server. Without it: $COFIRE_STORE, or memory.db in your data folder.",
        rich_help_panel="Everywhere",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Answer in JSON, errors too.", rich_help_panel="Everywhere")]


@dataclass(frozen=True)
class GlobalOptions:
    """What may be said before or after every command; what stands after it wins."""

    store: StoreOption = None
    as_json: JsonOption = False

    def __post_init__(self) -> None:
        if self.store == "":
            raise InvalidInput("--store is empty.", way_out="Give the path of a file, or leave --store out.")

    @property
    def place(self) -> str:
        """Where the store is, or will be, for people to read."""
        return strip_credentials(self._given)

    @property
    def file(self) -> Path | None:
        """The file that is the store, or will be; None where a server has it."""
        return None if is_server_url(self._given) else expand_store_path(self._given)

    @property
    def store_exists(self) -> bool:
        """Whether there is something to open. Of a server only the opening tells."""
        return self.file is None or self.file.exists()

    @property
    def _given(self) -> str:
        return self.store or sources.default_store()

    def after(self, earlier: object) -> Self:
        """This call, with what was said before the command where nothing was said after it."""
        if not isinstance(earlier, GlobalOptions):
            return self
        return replace(self, store=self.store or earlier.store, as_json=self.as_json or earlier.as_json)

    def memory(self, *, may_begin: bool = False, reembedding: bool = False) -> cofire.Memory:
        """The memory with the embedder of the settings: for what is searched or embedded."""
        self._expect_store(may_begin)
        return cofire.Memory(self.store, reembedding=reembedding)

    def shelf(self, *, may_begin: bool = False) -> cofire.Memory:
        """The memory without an embedder: for what only reads or removes, so that no model is loaded, nor needed."""
        self._expect_store(may_begin)
        return cofire.Memory(self.store, embedder=None)

    def _expect_store(self, may_begin: bool) -> None:
        """Only what is told begins a store: else a slip in a path would leave an empty one there, which knows nothing."""
        if not (may_begin or self.store is None or self.store == IN_MEMORY or self.store_exists):
            raise StoreNotOpened(
                f"There is no store {self.place}.", way_out="Correct the path; `cofire remember` would begin one there."
            )


def refuse_empty_names(option: str, given: Iterable[str]) -> None:
    """A name without a letter is nobody's: what takes it at the start would fail at every call."""
    if not all(name.strip() for name in given):
        raise InvalidInput(f"{option} is empty.", way_out=f"Give a name, or leave {option} out.")


def handle_group_options(ctx: typer.Context, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Keep what was said before the command; without a command, say which there are."""
    ctx.obj = GlobalOptions(store, as_json).after(ctx.obj)
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
        raise typer.Exit


def expand_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Let each parameter that is a dataclass of options appear on the command line as these options.

    A parameter of the type `GlobalOptions` also takes over what was said before the command.
    """
    hints = get_type_hints(command, include_extras=True)
    bundles = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    spelled = [one for name in inspect.signature(command).parameters for one in _expand_parameter(command, name, hints)]

    @wraps(command)
    def gathered(ctx: typer.Context, **given: Any) -> Any:
        made = {name: _collect_bundle(bundle, given) for name, bundle in bundles.items()}
        calls = {name: call.after(ctx.obj) for name, call in made.items() if isinstance(call, GlobalOptions)}
        return command(**{**made, **calls}, **given)

    context = Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=typer.Context)
    gathered.__signature__ = inspect.Signature([context, *spelled])  # type: ignore[attr-defined]
    gathered.__annotations__ = {one.name: one.annotation for one in (context, *spelled)}
    return gathered


def _expand_parameter(command: Callable[..., Any], name: str, hints: dict[str, Any]) -> list[Parameter]:
    if not is_dataclass(hints[name]):
        default = inspect.signature(command).parameters[name].default
        return [Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[name])]
    inside = get_type_hints(hints[name], include_extras=True)
    return [
        Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default, annotation=inside[one.name])
        for one in fields(hints[name])
    ]


def _collect_bundle(bundle: Any, given: dict[str, Any]) -> Any:
    return bundle(**{one.name: given.pop(one.name) for one in fields(bundle)})


_FILTER_PANEL = "Which facts"


def _name_option(flag: str, text: str) -> Any:
    return typer.Option(flag, metavar="NAME", help=text, rich_help_panel=_FILTER_PANEL)


def _time_option(flag: str, text: str) -> Any:
    return typer.Option(flag, metavar="TIME", help=text, rich_help_panel=_FILTER_PANEL)


WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="CONDITION",
        help="Facts whose metadata match, as in project=x, 'priority>=3', owner!=Ana, or a key alone. Also > < <=. If "
        "repeated, all must match; several project=… mean any of them.",
        rich_help_panel=_FILTER_PANEL,
    ),
]


@dataclass(frozen=True)
class SharedFilterOptions:
    """Which facts may be seen. A repeated option holds for any of its values; of tags and conditions, all must hold."""

    scope: Annotated[list[str] | None, _name_option("--scope", "Facts of this scope. Repeatable.")] = None
    session: Annotated[list[str] | None, _name_option("--session", "Facts of this session. Repeatable.")] = None
    tag: Annotated[list[str] | None, _name_option("--tag", "Facts with this tag; if repeated, with all of them.")] = (
        None
    )
    category: Annotated[list[str] | None, _name_option("--category", "Facts of this category. Repeatable.")] = None
    speaker: Annotated[list[str] | None, _name_option("--speaker", "Facts said by this speaker. Repeatable.")] = None
    where: WhereOption = None
    since: Annotated[str | None, _time_option("--since", "Facts from this time on, as in 2026-05-08.")] = None
    until: Annotated[str | None, _time_option("--until", "Facts up to this time, as in 2026-05-08T13:56.")] = None
    as_of: Annotated[str | None, _time_option("--as-of", "What memory knew at this time.")] = None
    community: Annotated[
        int | None,
        typer.Option(
            "--community",
            metavar="NUMBER",
            help="Facts of this community, as cofire communities lists them.",
            rich_help_panel=_FILTER_PANEL,
        ),
    ] = None

    @property
    def keywords(self) -> dict[str, Any]:
        """What was said, in the keywords of Memory."""
        said = {
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
        return {name: value for name, value in said.items() if value not in (None, [], ())}


def parse_pairs(given: Iterable[str], option: str) -> dict[str, str]:
    """Names with their values, each value as text.

    >>> parse_pairs(["page=3", "note=a=b"], "--meta")
    {'page': '3', 'note': 'a=b'}
    """
    return dict(_parse_pair(one, option) for one in given)


def _parse_pair(given: str, option: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not name.strip() or not equals:
        raise InvalidInput(
            f"{option} cannot be {given!r}.", way_out=f"Give a name and a value, as in {option} name=value."
        )
    return name.strip(), value
