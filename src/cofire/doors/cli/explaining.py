"""`cofire why`: why a fact comes back for a question, or where it is lost and what would bring it back."""

from __future__ import annotations

from typing import Annotated

import typer

from cofire.doors.cli.calling import Call
from cofire.doors.cli.filters import Filters
from cofire.doors.cli.reasons_layout import draw_why
from cofire.doors.cli.recalling import Manner, refuse_if_not_explained
from cofire.doors.cli.screen import out, show, show_json

Query = Annotated[str, typer.Argument(metavar="QUESTION", help="The question, in quotes.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="The fact that is missing, or that is there.")]


def why(*, query: Query, id: Id, manner: Manner, filters: Filters, call: Call) -> None:
    """See why a fact comes back for a question, or the first stage where it is lost, and what would bring it back.

    Give the same options as to recall. Every remedy was really tried, on a memory that stays as it is.

    cofire why "What database configuration do we use?" 01M7GRXZ72ER9HC7SM0EVVJFVW -k 3
    """
    with call.memory() as memory:
        refuse_if_not_explained(memory)
        found = memory.why(query, id, **filters.keywords, **manner.keywords)
    if call.as_json:
        return show_json(found.to_dict())
    if out().is_terminal:
        return draw_why(found)
    return show(found.text())
