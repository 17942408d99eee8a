"""The command `recall`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

import cofire
from cofire.cli.charts import show_recollection
from cofire.cli.options import GlobalOptions, SharedFilterOptions, parse_pairs
from cofire.cli.terminal import show_json, show_note, show_text, show_warning
from cofire.errors import InvalidInput
from cofire.results import ChannelReport, Recollection
from cofire.settings import table
from cofire.settings.presets import PRESETS, STRATEGIES
from cofire.settings.table import RECALL_K

QuestionArgument = Annotated[
    list[str], typer.Argument(metavar="QUESTION", help="What to ask memory; several words are one question.")
]


@dataclass(frozen=True)
class RecallCommandOptions:
    """How to search, and how much to bring back."""

    k: Annotated[
        int | None,
        typer.Option("-k", metavar="N", help=f"At most so many facts. Without it: the setting {RECALL_K.name}."),
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
        return {**said, "settings": parse_pairs(self.settings or [], "--set")}


@dataclass(frozen=True)
class RecallOutputOptions:
    """What of the answer is shown."""

    xray: Annotated[bool, typer.Option("--xray", help="Show every stage: plan, channels, scores and paths.")] = False
    text: Annotated[
        bool, typer.Option("--text", help="Print a block for a prompt, fenced as data, and nothing else.")
    ] = False


def recall(
    *,
    question: QuestionArgument,
    manner: RecallCommandOptions,
    view: RecallOutputOptions,
    filters: SharedFilterOptions,
    call: GlobalOptions,
) -> None:
    """Ask memory a question; what it knows comes back, best first.

    When nothing is known the reason is printed, and the exit code is 0 all the same. Without --scope the scope `default`
    is asked.

    cofire recall "What database configuration do we use?" -k 3
    """
    if view.text and (call.as_json or view.xray):
        raise InvalidInput("--text cannot be combined with --json or --xray.", way_out="Choose one of them.")
    with call.memory() as memory:
        explained = memory.settings()[table.GRAPH_RECALL_EXPLAIN_DOORS]
        if view.xray:
            refuse_if_explanations_off(memory)
        found = memory.recall(" ".join(question), **filters.keywords, **manner.keywords)
    if call.as_json:
        show_json(found.to_dict())
    elif view.text:
        _show_prompt_block(found, manner.budget)
    elif view.xray:
        show_text(found.xray())
    else:
        _show_answer(found, call, explained=explained)


def refuse_if_explanations_off(memory: cofire.Memory) -> None:
    """Whoever runs the memory may want recalls to be answered and not explained."""
    if not memory.settings()[table.GRAPH_RECALL_EXPLAIN_DOORS]:
        name = table.GRAPH_RECALL_EXPLAIN_DOORS.name
        raise InvalidInput(
            f"Explanations are switched off by {name}.",
            way_out=f"Switch them on with: cofire config set {name} true",
        )


def _show_prompt_block(found: Recollection, budget: int | None) -> None:
    """The block alone on standard output: an empty one must not put words into a prompt."""
    block = found.text(budget)
    if block:
        show_text(block)
    else:
        show_note(found.reason or "The budget is too small for even the best fact.")
    _show_channel_notes(found)


def _show_answer(found: Recollection, call: GlobalOptions, *, explained: bool) -> None:
    if found.known:
        show_recollection(found, explained=explained)
        if found.id:
            show_note(f"Tell what helped: cofire feedback {found.id} --helped ID")
    else:
        show_text(found.reason)
        show_note(f"The store is {call.place}, the scope {', '.join(found.scopes)}.")
    _show_channel_notes(found)


def _show_channel_notes(found: Recollection) -> None:
    """A channel that failed is said aloud; one that has nothing to work with only where somebody watches."""
    for channel in found.channels:
        if channel.status == "failed":
            show_warning(f"The {channel.name} channel failed: {channel.note}")
        elif channel.note:
            show_note(_describe_silent_channel(channel))


def _describe_silent_channel(channel: ChannelReport) -> str:
    return f"The {channel.name} channel was silent ({channel.status}): {channel.note}."
