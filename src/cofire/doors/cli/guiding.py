"""`cofire guide`: the pages that tell an agent what each verb is for."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from cofire.doors.cli.calling import Call
from cofire.doors.cli.screen import show, show_json
from cofire.guide import PAGES, guide


def _verbs(incomplete: str) -> list[str]:
    return [verb for verb in PAGES if verb.startswith(incomplete)]


Verb = Annotated[
    str | None,
    typer.Argument(
        metavar="VERB", help="The verb, as in dream; without it there is a line on each.", autocompletion=_verbs
    ),
]


def show_guide(*, verb: Verb = None, call: Call) -> None:
    """Read what a verb does, when to use it, what it costs and what comes next: short pages, written for agents."""
    text = guide(verb)
    if call.as_json:
        return show_json({"pages": [asdict(PAGES[name]) for name in ([verb] if verb else PAGES)]})
    show(text)
