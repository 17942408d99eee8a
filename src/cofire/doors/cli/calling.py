"""Calling: what every command shares. The store and the shape of the answer, and options that come in bundles."""

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
from cofire import configuration
from cofire.errors import InvalidInput, StoreNotOpened
from cofire.places import at_home, is_served, without_password

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
class Call:
    """What may be said before or after every command; what stands after it wins."""

    store: StoreOption = None
    as_json: JsonOption = False

    def __post_init__(self) -> None:
        if self.store == "":
            raise InvalidInput("--store is empty.", way_out="Give the path of a file, or leave --store out.")

    @property
    def place(self) -> str:
        """Where the store is, or will be, for people to read."""
        return without_password(self._given)

    @property
    def file(self) -> Path | None:
        """The file that is the store, or will be; None where a server has it."""
        return None if is_served(self._given) else at_home(self._given)

    @property
    def store_exists(self) -> bool:
        """Whether there is something to open. Of a server only the opening tells."""
        return self.file is None or self.file.exists()

    @property
    def _given(self) -> str:
        return self.store or configuration.default_store()

    def after(self, earlier: object) -> Self:
        """This call, with what was said before the command where nothing was said after it."""
        if not isinstance(earlier, Call):
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


def refuse_empty(option: str, given: Iterable[str]) -> None:
    """A name without a letter is nobody's: what takes it at the start would fail at every call."""
    if not all(name.strip() for name in given):
        raise InvalidInput(f"{option} is empty.", way_out=f"Give a name, or leave {option} out.")


def begin_group(ctx: typer.Context, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Keep what was said before the command; without a command, say which there are."""
    ctx.obj = Call(store, as_json).after(ctx.obj)
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
        raise typer.Exit


def spread(command: Callable[..., Any]) -> Callable[..., Any]:
    """Let each parameter that is a dataclass of options appear on the command line as these options.

    A parameter of the type `Call` also takes over what was said before the command.
    """
    hints = get_type_hints(command, include_extras=True)
    bundles = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    spelled = [one for name in inspect.signature(command).parameters for one in _spelled(command, name, hints)]

    @wraps(command)
    def gathered(ctx: typer.Context, **given: Any) -> Any:
        made = {name: _bundled(bundle, given) for name, bundle in bundles.items()}
        calls = {name: call.after(ctx.obj) for name, call in made.items() if isinstance(call, Call)}
        return command(**{**made, **calls}, **given)

    context = Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=typer.Context)
    gathered.__signature__ = inspect.Signature([context, *spelled])  # type: ignore[attr-defined]
    gathered.__annotations__ = {one.name: one.annotation for one in (context, *spelled)}
    return gathered


def _spelled(command: Callable[..., Any], name: str, hints: dict[str, Any]) -> list[Parameter]:
    if not is_dataclass(hints[name]):
        default = inspect.signature(command).parameters[name].default
        return [Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[name])]
    inside = get_type_hints(hints[name], include_extras=True)
    return [
        Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default, annotation=inside[one.name])
        for one in fields(hints[name])
    ]


def _bundled(bundle: Any, given: dict[str, Any]) -> Any:
    return bundle(**{one.name: given.pop(one.name) for one in fields(bundle)})
