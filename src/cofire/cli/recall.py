"""The commands `recall` and `why`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer
from rich.text import Text

import cofire
from cofire.cli.layout import (
    THIS_FACT,
    BarScale,
    available_bar_length,
    draw_paths,
    draw_score,
    format_channel_name,
    format_setting_value,
    make_bar_scale,
    make_score_bar,
    show_recollection,
    show_wrapped_pieces,
)
from cofire.cli.options import GlobalOptions, SharedFilterOptions, parse_pairs
from cofire.cli.terminal import MAX_WIDTH, show_json, show_note, show_text, show_warning, stdout_console, styled_text
from cofire.errors import InvalidInput, NotFound
from cofire.explain import shorten_text
from cofire.interfaces.plain_text import format_score
from cofire.results import Counterfactual, Hit, RecallStage, Recollection, WhyResult
from cofire.settings import table
from cofire.settings.presets import PRESETS, STRATEGIES
from cofire.settings.table import RECALL_K

QuestionArgument = Annotated[
    list[str], typer.Argument(metavar="QUESTION", help="The question. Several words form one question.")
]


@dataclass(frozen=True)
class RecallCommandOptions:
    """Search options and result limits."""

    k: Annotated[
        int | None,
        typer.Option("-k", metavar="N", help=f"Maximum number of facts. Default: the setting {RECALL_K.name}."),
    ] = None
    budget: Annotated[int | None, typer.Option("--budget", metavar="N", help="Maximum number of tokens of text.")] = (
        None
    )
    mode: Annotated[
        str | None, typer.Option("--mode", metavar="NAME", help="no_recall, minimal (keyword search), full or graph.")
    ] = None
    strategy: Annotated[
        str | None,
        typer.Option("--strategy", metavar="NAME", help=f"The kind of question: {', '.join(STRATEGIES)}."),
    ] = None
    preset: Annotated[
        str | None, typer.Option("--preset", metavar="NAME", help=f"A preset of settings: {', '.join(PRESETS)}.")
    ] = None
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change a setting for this question only. Repeatable."),
    ] = None

    @property
    def keywords(self) -> dict[str, Any]:
        """The options as keyword arguments of Memory.recall."""
        return {
            "k": self.k,
            "budget": self.budget,
            "mode": self.mode,
            "strategy": self.strategy,
            "preset": self.preset,
            "settings": parse_pairs(self.settings or [], "--set"),
        }


@dataclass(frozen=True)
class RecallOutputOptions:
    """The form of the output."""

    xray: Annotated[bool, typer.Option("--xray", help="Show every stage: plan, channels, scores and paths.")] = False
    text: Annotated[bool, typer.Option("--text", help="Print only a block for a prompt, delimited as data.")] = False


def recall(
    *,
    question: QuestionArgument,
    search: RecallCommandOptions,
    output: RecallOutputOptions,
    filters: SharedFilterOptions,
    call: GlobalOptions,
) -> None:
    """Find the facts that answer a question, best first.

    If nothing relevant is stored, prints the reason; the exit code is 0. Searches the scope `default` unless --scope is
    given.

    cofire recall "What database configuration do we use?" -k 3
    """
    if output.text and (call.as_json or output.xray):
        raise InvalidInput("--text cannot be combined with --json or --xray.", way_out="Choose one of them.")
    with call.open_memory() as memory:
        explained = memory.settings()[table.GRAPH_RECALL_EXPLAIN_DOORS]
        if output.xray:
            refuse_if_explanations_off(memory)
        recollection = memory.recall(" ".join(question), **filters.keywords, **search.keywords)
    if call.as_json:
        show_json(recollection.to_dict())
    elif output.text:
        _show_prompt_block(recollection, search.budget)
    elif output.xray:
        show_text(recollection.xray())
    else:
        _show_answer(recollection, call, explained=explained)


def refuse_if_explanations_off(memory: cofire.Memory) -> None:
    """Raise if the settings forbid explanations of results."""
    setting = table.GRAPH_RECALL_EXPLAIN_DOORS
    if not memory.settings()[setting]:
        raise InvalidInput(
            f"The setting {setting.name} disables explanations.",
            way_out=f"Enable them with: cofire config set {setting.name} true",
        )


def _show_prompt_block(recollection: Recollection, budget: int | None) -> None:
    """Print the block alone to standard output. An empty one prints nothing there, so that no text enters a prompt."""
    block = recollection.text(budget)
    if block:
        show_text(block)
    else:
        show_note(recollection.reason or "The budget is too small for the best fact.")
    _show_channel_notes(recollection)


def _show_answer(recollection: Recollection, call: GlobalOptions, *, explained: bool) -> None:
    if recollection.known:
        show_recollection(recollection, explained=explained)
        if recollection.id:
            show_note(f"Report useful facts with: cofire feedback {recollection.id} --helped ID")
    else:
        show_text(recollection.reason)
        show_note(f"Store: {call.location}. Scope: {', '.join(recollection.scopes)}.")
    _show_channel_notes(recollection)


def _show_channel_notes(recollection: Recollection) -> None:
    """Warn about a failed channel. A channel without results is noted on a terminal only."""
    for channel in recollection.channels:
        if channel.status == "failed":
            show_warning(f"The {channel.name} channel failed: {channel.note}")
        elif channel.note:
            show_note(f"The {channel.name} channel found nothing ({channel.status}): {channel.note}.")


WhyQuestionArgument = Annotated[str, typer.Argument(metavar="QUESTION", help="The question, in quotes.")]
WhyFactArgument = Annotated[str, typer.Argument(metavar="ID", help="The id of the missing or unexpected fact.")]

INDENT = 2
_PASSED_MARK, _LOST_MARK, _NOT_REACHED_MARK = ("●", "green"), ("✗", "bold red"), ("○", "dim")
_HELPS_MARK, _FAILED_MARK = ("✓", "bold green"), ("✗", "dim")
_LAST_HIT_LABEL = "last result"
# The checkpoints of a fact in order, and the stages at which it can be lost there.
CHECKPOINTS: dict[str, tuple[RecallStage, ...]] = {
    "stored": ("not_stored",),
    "recall on": ("switched_off",),
    "filters": ("filtered",),
    "evidence": ("silent",),
    "graph": ("cut_by_inhibition", "beyond_expanded"),
    "candidate": ("not_a_candidate",),
    "rank": ("beyond_k", "outranked", "beyond_budget"),
    "returned": (),
}
# Arguments of recall whose option has another name.
_OPTION_NAMES = {"k": "-k", "tags": "--tag"}


def why(
    *,
    query: WhyQuestionArgument,
    id: WhyFactArgument,
    search: RecallCommandOptions,
    filters: SharedFilterOptions,
    call: GlobalOptions,
) -> None:
    """Explain why a question returns a fact, or the stage that removes it and the changes that would return it.

    Give the same options as to recall. Every listed change was tested; the memory is not modified.

    cofire why "What database configuration do we use?" 01M7GRXZ72ER9HC7SM0EVVJFVW -k 3
    """
    with call.open_memory() as memory:
        refuse_if_explanations_off(memory)
        result = memory.why(query, id, **filters.keywords, **search.keywords)
    if result.stage == "not_stored":
        raise NotFound(f"No fact has the id {id}.", way_out="List the ids with: cofire list")
    if call.as_json:
        return show_json(result.to_dict())
    remedies = tuple(replace(remedy, change=format_remedy(remedy)) for remedy in result.remedies)
    result = replace(result, remedies=remedies)
    if stdout_console().is_terminal:
        return draw_why(result)
    return show_text(result.text())


def draw_why(result: WhyResult) -> None:
    """The verdict, the checkpoints, the scores and the remedies."""
    mark, style = _HELPS_MARK if result.returned else _LOST_MARK
    show_text(Text.assemble((f"{mark} {result.stage}", style)))
    if result.fact:
        show_text(styled_text(shorten_text(result.fact.text, 3 * MAX_WIDTH), "bold"), indent=INDENT)
    show_text(result.explanation, indent=INDENT)
    show_text()
    _draw_checkpoints(result.stage)
    _draw_scores(result)
    _draw_remedies(result)


def mark_checkpoints(stage: RecallStage) -> list[tuple[str, str, str]]:
    """Each checkpoint with its mark and style: passed, lost there, or not reached.

    >>> [mark for _, mark, _ in mark_checkpoints("filtered")]
    ['●', '●', '✗', '○', '○', '○', '○', '○']
    """
    names = list(CHECKPOINTS)
    lost_at = next((index for index, name in enumerate(names) if stage in CHECKPOINTS[name]), len(names))
    marked = []
    for index, name in enumerate(names):
        mark, style = _PASSED_MARK if index < lost_at else _LOST_MARK if index == lost_at else _NOT_REACHED_MARK
        marked.append((name, mark, style))
    return marked


def _draw_checkpoints(stage: RecallStage) -> None:
    checkpoints = mark_checkpoints(stage)
    line = Text(" ─ ", "dim").join(Text(f"{mark} {name}", style) for name, mark, style in checkpoints)
    if INDENT + line.cell_len <= min(stdout_console().width, MAX_WIDTH):
        return show_text(line, indent=INDENT)
    return _draw_short_checkpoints(checkpoints)


def _draw_short_checkpoints(checkpoints: list[tuple[str, str, str]]) -> None:
    """On a narrow terminal, name only the checkpoint where the fact is lost, or the last one."""
    marks = Text("──", "dim").join(Text(mark, style) for _, mark, style in checkpoints)
    show_text(marks, indent=INDENT)
    lost = (index for index, (_, mark, _) in enumerate(checkpoints) if mark == _LOST_MARK[0])
    index = next(lost, len(checkpoints) - 1)
    name, _, style = checkpoints[index]
    show_text(Text(name, style), indent=INDENT + 3 * index)


def _draw_scores(result: WhyResult) -> None:
    if result.hit is None or result.place is None:
        return
    show_text()
    if result.last is None:
        scale = make_bar_scale([result.hit], available_bar_length(INDENT))
        draw_score(result.hit, scale, indent=INDENT)
    else:
        _draw_comparison(result.hit, result.last)
    draw_paths(result.hit, result.texts, indent=INDENT)


def _draw_comparison(hit: Hit, last: Hit) -> None:
    """The bars of this fact and of the last result on one scale, and the differences by channel."""
    label_width = max(len(THIS_FACT), len(_LAST_HIT_LABEL))
    score_width = max(len(format_score(hit.score)), len(format_score(last.score)))
    indent = INDENT + label_width + score_width + 4
    scale = make_bar_scale([last, hit], available_bar_length(indent))
    for label, each in ((THIS_FACT, hit), (_LAST_HIT_LABEL, last)):
        score = format_score(each.score).rjust(score_width)
        lead = Text.assemble(" " * INDENT, label.ljust(label_width + 2), (score, "bold cyan"))
        show_text(make_score_bar(each.channels, scale), lead=lead, indent=indent)
    differences = _format_differences(hit, last, scale)
    show_wrapped_pieces([Text("difference:", "dim"), *differences], indent=INDENT)


def _format_differences(hit: Hit, last: Hit, scale: BarScale) -> list[Text]:
    """The contributions of this fact minus those of the last result, largest first; zeros are left out."""
    differences = {name: _contribution_of(hit, name) - _contribution_of(last, name) for name in scale.letters}
    shown = [name for name, value in differences.items() if round(value, 2)]
    shown.sort(key=lambda name: -abs(differences[name]))
    return [
        format_channel_name(name, scale).append(" ").append_text(_format_signed(differences[name])) for name in shown
    ]


def _contribution_of(hit: Hit, name: str) -> float:
    return hit.channels[name].gives if name in hit.channels else 0.0


def _format_signed(number: float) -> Text:
    return Text(format_score(number, "+"), "green" if number > 0 else "red")


def _draw_remedies(result: WhyResult) -> None:
    if result.remedies:
        _draw_heading("Changes that return it")
    for remedy in result.remedies:
        _draw_change(styled_text(remedy.change).append(f"  → rank {remedy.place}", "dim"), _HELPS_MARK)
    if result.in_vain:
        _draw_heading("Tried without success")
    for change in result.in_vain:
        _draw_change(styled_text(change, "dim"), _FAILED_MARK)


def _draw_change(change: Text, mark: tuple[str, str]) -> None:
    show_text(change, lead=Text.assemble(" " * INDENT, mark), indent=INDENT + 2)


def _draw_heading(title: str) -> None:
    show_text()
    show_text(Text(title, "bold"), indent=INDENT)


def format_remedy(remedy: Counterfactual) -> str:
    """A change as options of the command line.

    >>> asked = {"scope": ["default", "team a"], "tags": None, "k": 3, "settings": {"keyword.k1": 2.0}}
    >>> format_remedy(Counterfactual("", 1, asked))
    "--scope default --scope 'team a' -k 3 --set keyword.k1=2.0, without --tag"
    """
    options = {name: value for name, value in remedy.asked.items() if value is not None}
    parts = [shlex.join(_format_options(options))] if options else []
    parts += [f"without {_format_option_name(name)}" for name in remedy.asked if name not in options]
    parts += [f"ask: {remedy.query}"] if remedy.query else []
    # The change ends with the link to make, already in the form of a command.
    parts += [f"cofire {remedy.change.rpartition(', ')[2]}"] if remedy.link else []
    return ", ".join(parts)


def _format_options(options: Mapping[str, Any]) -> Iterator[str]:
    for name, value in options.items():
        if name == "settings":
            for setting, setting_value in value.items():
                yield from ("--set", f"{setting}={format_setting_value(setting_value)}")
        else:
            for item in value if isinstance(value, list) else [value]:
                yield from (_format_option_name(name), format_setting_value(item))


def _format_option_name(name: str) -> str:
    return _OPTION_NAMES.get(name, f"--{name.replace('_', '-')}")
