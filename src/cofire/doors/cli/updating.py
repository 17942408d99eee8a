"""`cofire update`: a fact says something else from now on, under the same id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from cofire import xray
from cofire.doors.cli.calling import Call
from cofire.doors.cli.layout import show_listed
from cofire.doors.cli.pairs import pairs
from cofire.doors.cli.screen import show_json
from cofire.errors import InvalidInput

CLEARABLE = ("tags", "category", "subject", "at", "metadata", "valid_from", "valid_until", "expires")


def _option(flag: str, metavar: str, text: str) -> Any:
    return typer.Option(flag, metavar=metavar, help=text)


Id = Annotated[str, typer.Argument(metavar="ID", help="The id as remember, recall and list print it.")]
Text = Annotated[str | None, typer.Argument(metavar="[TEXT]", help="What it says from now on.")]


@dataclass(frozen=True)
class Changes:
    """What may be changed besides the text."""

    tag: Annotated[list[str] | None, _option("--tag", "NAME", "Its tags, in place of those it has. Repeatable.")] = None
    category: Annotated[str | None, _option("--category", "NAME", "What kind of fact it is.")] = None
    subject: Annotated[str | None, _option("--subject", "NAME", "What it is about.")] = None
    at: Annotated[str | None, _option("--at", "TIME", "When it happened, as in 2026-05-08T13:56.")] = None
    meta: Annotated[
        list[str] | None, _option("--meta", "KEY=VALUE", "Its metadata, in place of what it has. Repeatable.")
    ] = None
    valid_from: Annotated[str | None, _option("--valid-from", "TIME", "From when on it holds.")] = None
    valid_until: Annotated[str | None, _option("--valid-until", "TIME", "Until when it holds.")] = None
    expires: Annotated[str | None, _option("--expires", "TIME", "When it is no longer to be recalled.")] = None
    clear: Annotated[
        list[str] | None, _option("--clear", "NAME", f"Take a value away: {', '.join(CLEARABLE)}. Repeatable.")
    ] = None

    @property
    def keywords(self) -> dict[str, Any]:
        """What was said, in the keywords of Memory.update."""
        plain = {label: getattr(self, label) for label in CLEARABLE if label not in {"tags", "metadata"}}
        said = plain | {"tags": self.tag, "metadata": pairs(self.meta or [], "--meta")}
        given = {label: value for label, value in said.items() if value not in (None, [], {})}
        return {**dict.fromkeys(self._cleared(given)), **given}

    def _cleared(self, given: dict[str, Any]) -> list[str]:
        for label in self.clear or ():
            if label not in CLEARABLE:
                raise InvalidInput(f"{label} cannot be cleared.", way_out=f"These can: {', '.join(CLEARABLE)}.")
            if label in given:
                raise InvalidInput(f"{label} is both given and cleared.", way_out="Do one of the two.")
        return self.clear or []


def update(*, id: Id, text: Text = None, changes: Changes, call: Call) -> None:
    """Change a fact under its id. What it said before is kept: cofire show ID tells it.

    cofire update 01J… "Ana leads the Porto office."
    """
    said = changes.keywords | ({} if text is None else {"text": text})
    if not said:
        raise InvalidInput("Nothing says what to change.", way_out="Give a new TEXT, or an option such as --tag.")
    with call.memory() as memory:
        fact = memory.update(id, **said)
    if call.as_json:
        return show_json({"fact": xray.fact_json(fact)})
    return show_listed(fact)
