"""`cofire recall`: a question goes in, what memory knows about it comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

import cofire
from cofire.doors.cli.calling import Call
from cofire.doors.cli.drawing import show_found
from cofire.doors.cli.filters import Filters
from cofire.doors.cli.pairs import pairs
from cofire.doors.cli.screen import note, show, show_json, warn
from cofire.errors import InvalidInput
from cofire.presets import PRESETS, STRATEGIES
from cofire.recollection import ChannelReport, Recollection
from cofire.settings import K, recall_settings

Words = Annotated[
    list[str], typer.Argument(metavar="QUESTION", help="What to ask memory; several words are one question.")
]


@dataclass(frozen=True)
class Manner:
    """How to search, and how much to bring back."""

    k: Annotated[
        int | None, typer.Option("-k", metavar="N", help=f"At most so many facts. Without it: the setting {K.name}.")
    ] = None
    budget: Annotated[int | None, typer.Option("--budget", metavar="N", help="At most so many tokens of text.")] = None
    mode: Annotated[
        str | None, typer.Option("--mode", metavar="NAME", help="no_recall, minimal (words only), full or graph.")
    ] = None
    strategy: Annotated[
        str | None,
        typer.Option("--strategy", metavar="NAME", help=f"What kind of question it is: {', '.join(STRATEGIES)}."),
    ] = None
    preset: Annotated[
        str | None, typer.Option("--preset", metavar="NAME", help=f"Settings by name: {', '.join(PRESETS)}.")
    ] = None
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting for this question only. Repeatable."),
    ] = None

    @property
    def keywords(self) -> dict[str, Any]:
        """What was said, in the keywords of Memory.recall."""
        said = {"k": self.k, "budget": self.budget, "mode": self.mode, "strategy": self.strategy, "preset": self.preset}
        return {**said, "settings": pairs(self.settings or [], "--set")}


@dataclass(frozen=True)
class View:
    """What of the answer is shown."""

    xray: Annotated[bool, typer.Option("--xray", help="Show every stage: plan, channels, scores and paths.")] = False
    text: Annotated[
        bool, typer.Option("--text", help="Print a block for a prompt, fenced as data, and nothing else.")
    ] = False


def recall(*, question: Words, manner: Manner, view: View, filters: Filters, call: Call) -> None:
    """Ask memory a question; what it knows comes back, best first.

    When nothing is known the reason is printed, and the exit code is 0 all the same. Without --scope the scope `default`
    is asked.

    cofire recall "What database configuration do we use?" -k 3
    """
    if view.text and (call.as_json or view.xray):
        raise InvalidInput("--text cannot be combined with --json or --xray.", way_out="Choose one of them.")
    with call.memory() as memory:
        explained = memory.settings()[recall_settings.EXPLAIN_DOORS]
        if view.xray:
            refuse_if_not_explained(memory)
        found = memory.recall(" ".join(question), **filters.keywords, **manner.keywords)
    if call.as_json:
        show_json(found.to_dict())
    elif view.text:
        _show_block(found, manner.budget)
    elif view.xray:
        show(found.xray())
    else:
        _show(found, call, explained=explained)


def refuse_if_not_explained(memory: cofire.Memory) -> None:
    """Whoever runs the memory may want recalls to be answered and not explained."""
    if not memory.settings()[recall_settings.EXPLAIN_DOORS]:
        name = recall_settings.EXPLAIN_DOORS.name
        raise InvalidInput(
            f"Explanations are switched off by {name}.",
            way_out=f"Switch them on with: cofire config set {name} true",
        )


def _show_block(found: Recollection, budget: int | None) -> None:
    """The block alone on standard output: an empty one must not put words into a prompt."""
    block = found.text(budget)
    if block:
        show(block)
    else:
        note(found.reason or "The budget is too small for even the best fact.")
    _tell_of_silence(found)


def _show(found: Recollection, call: Call, *, explained: bool) -> None:
    if found.known:
        show_found(found, explained=explained)
        if found.id:
            note(f"Tell what helped: cofire feedback {found.id} --helped ID")
    else:
        show(found.reason)
        note(f"The store is {call.place}, the scope {', '.join(found.scopes)}.")
    _tell_of_silence(found)


def _tell_of_silence(found: Recollection) -> None:
    """A channel that failed is said aloud; one that has nothing to work with only where somebody watches."""
    for channel in found.channels:
        if channel.status == "failed":
            warn(f"The {channel.name} channel failed: {channel.note}")
        elif channel.note:
            note(_said(channel))


def _said(channel: ChannelReport) -> str:
    return f"The {channel.name} channel was silent ({channel.status}): {channel.note}."
