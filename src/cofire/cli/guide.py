"""The command `guide`: prints the page of a verb."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from cofire.cli.options import GlobalOptions
from cofire.cli.terminal import show_json, show_text
from cofire.guide import VERB_GUIDES, guide_text


def _complete_verbs(incomplete: str) -> list[str]:
    return [verb for verb in VERB_GUIDES if verb.startswith(incomplete)]


VerbArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="VERB",
        help="The verb, for example dream. Without it, one line per verb.",
        autocompletion=_complete_verbs,
    ),
]


def show_guide(*, verb: VerbArgument = None, call: GlobalOptions) -> None:
    """Print what a verb does, when to use it, what it costs and what to do next: short pages for agents."""
    text = guide_text(verb)
    if call.as_json:
        return show_json({"pages": [asdict(VERB_GUIDES[name]) for name in ([verb] if verb else VERB_GUIDES)]})
    show_text(text)
