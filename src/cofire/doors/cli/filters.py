"""Filters: the options that say which facts are meant, the same for every command that takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from cofire.metadata_filter import parse_expressions

_PANEL = "Which facts"


def _several(flag: str, text: str) -> Any:
    return typer.Option(flag, metavar="NAME", help=text, rich_help_panel=_PANEL)


def _moment(flag: str, text: str) -> Any:
    return typer.Option(flag, metavar="TIME", help=text, rich_help_panel=_PANEL)


Conditions = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="CONDITION",
        help="Facts whose metadata match, as in project=x, 'priority>=3', owner!=Ana, or a key alone. Also > < <=. If "
        "repeated, all must match; several project=… mean any of them.",
        rich_help_panel=_PANEL,
    ),
]


@dataclass(frozen=True)
class Filters:
    """Which facts may be seen. A repeated option holds for any of its values; of tags and conditions, all must hold."""

    scope: Annotated[list[str] | None, _several("--scope", "Facts of this scope. Repeatable.")] = None
    session: Annotated[list[str] | None, _several("--session", "Facts of this session. Repeatable.")] = None
    tag: Annotated[list[str] | None, _several("--tag", "Facts with this tag; if repeated, with all of them.")] = None
    category: Annotated[list[str] | None, _several("--category", "Facts of this category. Repeatable.")] = None
    speaker: Annotated[list[str] | None, _several("--speaker", "Facts said by this speaker. Repeatable.")] = None
    where: Conditions = None
    since: Annotated[str | None, _moment("--since", "Facts from this time on, as in 2026-05-08.")] = None
    until: Annotated[str | None, _moment("--until", "Facts up to this time, as in 2026-05-08T13:56.")] = None
    as_of: Annotated[str | None, _moment("--as-of", "What memory knew at this time.")] = None
    community: Annotated[
        int | None,
        typer.Option(
            "--community",
            metavar="NUMBER",
            help="Facts of this community, as cofire communities lists them.",
            rich_help_panel=_PANEL,
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
