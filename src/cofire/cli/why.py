"""The command `why` and its terminal layout: stages, scores and remedies."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any

import typer
from rich.text import Text

from cofire.cli.charts import (
    THIS_FACT,
    BarScale,
    available_bar_length,
    draw_paths,
    draw_score,
    format_channel_name,
    make_bar_scale,
    make_score_bar,
    show_wrapped_pieces,
)
from cofire.cli.config import format_setting_value
from cofire.cli.layout import clip_text, format_score
from cofire.cli.options import GlobalOptions, SharedFilterOptions
from cofire.cli.recall import RecallCommandOptions, refuse_if_explanations_off
from cofire.cli.terminal import MAX_WIDTH, show_json, show_text, stdout_console, styled_text
from cofire.errors import NotFound
from cofire.results import Counterfactual, Hit, RecallStage, WhyResult

INDENT = 2
_PASSED_MARK, _LOST_MARK, _AHEAD_MARK = ("●", "green"), ("✗", "bold red"), ("○", "dim")
_HELPS_MARK, _FAILED_MARK = ("✓", "bold green"), ("✗", "dim")
_LAST_HIT_LABEL = "last to come back"
# What a fact has to pass, in the order in which it is looked at, and the stages that are lost there.
CHECKPOINTS: dict[str, tuple[RecallStage, ...]] = {
    "stored": ("not_stored",),
    "recall on": ("switched_off",),
    "filters": ("filtered",),
    "evidence": ("silent",),
    "graph": ("cut_by_inhibition", "beyond_expanded"),
    "candidate": ("not_a_candidate",),
    "rank": ("beyond_k", "outranked", "beyond_budget"),
    "back": (),
}


def draw_why(found: WhyResult) -> None:
    """All of it, the verdict first."""
    mark, style = _HELPS_MARK if found.returned else _LOST_MARK
    show_text(Text.assemble((f"{mark} {found.stage}", style)))
    if found.fact:
        show_text(styled_text(clip_text(found.fact.text, 3 * MAX_WIDTH), "bold"), indent=INDENT)
    show_text(found.explanation, indent=INDENT)
    show_text()
    _draw_checkpoints(found.stage)
    _draw_scores(found)
    _draw_remedies(found)


def mark_checkpoints(stage: RecallStage) -> list[tuple[str, str, str]]:
    """Each station with its mark and style: passed, lost there, or never reached.

    >>> [mark for _, mark, _ in mark_checkpoints("filtered")]
    ['●', '●', '✗', '○', '○', '○', '○', '○']
    """
    names = list(CHECKPOINTS)
    lost = next((at for at, name in enumerate(names) if stage in CHECKPOINTS[name]), len(names))
    return [
        (name, *(_PASSED_MARK if at < lost else _LOST_MARK if at == lost else _AHEAD_MARK))
        for at, name in enumerate(names)
    ]


def _draw_checkpoints(stage: RecallStage) -> None:
    passed = mark_checkpoints(stage)
    line = Text(" ─ ", "dim").join(Text(f"{mark} {name}", style) for name, mark, style in passed)
    if INDENT + line.cell_len <= min(stdout_console().width, MAX_WIDTH):
        return show_text(line, indent=INDENT)
    return _draw_short_checkpoints(passed)


def _draw_short_checkpoints(passed: list[tuple[str, str, str]]) -> None:
    """Where there is little room only the place where it was lost, or the last, has its name."""
    show_text(Text("──", "dim").join(Text(mark, style) for _, mark, style in passed), indent=INDENT)
    at = next((at for at, (_, mark, _) in enumerate(passed) if mark == _LOST_MARK[0]), len(passed) - 1)
    name, _, style = passed[at]
    show_text(Text(name, style), indent=INDENT + 3 * at)


def _draw_scores(found: WhyResult) -> None:
    if found.hit is None or found.place is None:
        return
    show_text()
    if found.last is None:
        scale = make_bar_scale([found.hit], available_bar_length(INDENT))
        draw_score(found.hit, scale, indent=INDENT)
    else:
        _draw_comparison(found.hit, found.last)
    draw_paths(found.hit, found.texts, indent=INDENT)


def _draw_comparison(hit: Hit, last: Hit) -> None:
    """Two bars on one scale, and channel by channel what makes the difference."""
    scores = max(len(format_score(one.score)) for one in (hit, last))
    lead = INDENT + len(_LAST_HIT_LABEL) + scores + 4
    scale = make_bar_scale([last, hit], available_bar_length(lead))
    for name, one in ((THIS_FACT, hit), (_LAST_HIT_LABEL, last)):
        told = Text.assemble(
            " " * INDENT, name.ljust(len(_LAST_HIT_LABEL) + 2), (format_score(one.score).rjust(scores), "bold cyan")
        )
        show_text(make_score_bar(one.channels, scale), lead=told, indent=lead)
    show_wrapped_pieces([Text("difference:", "dim"), *_format_differences(hit, last, scale)], indent=INDENT)


def _format_differences(hit: Hit, last: Hit, scale: BarScale) -> list[Text]:
    """What the fact has more or less than the last that came back, the largest first; what rounds to nothing is left out."""
    more = {name: _contribution_of(hit, name) - _contribution_of(last, name) for name in scale.letters}
    told = sorted((name for name in more if round(more[name], 2)), key=lambda name: -abs(more[name]))
    return [format_channel_name(name, scale).append(" ").append_text(_format_signed(more[name])) for name in told]


def _contribution_of(hit: Hit, name: str) -> float:
    return hit.channels[name].gives if name in hit.channels else 0.0


def _format_signed(number: float) -> Text:
    return Text(format_score(number, "+"), "green" if number > 0 else "red")


def _draw_remedies(found: WhyResult) -> None:
    if found.remedies:
        _draw_heading("What would bring it back")
    for one in found.remedies:
        _draw_change(styled_text(one.change).append(f"  → place {one.place}", "dim"), _HELPS_MARK)
    if found.in_vain:
        _draw_heading("Tried in vain")
    for change in found.in_vain:
        _draw_change(styled_text(change, "dim"), _FAILED_MARK)


def _draw_change(change: Text, mark: tuple[str, str]) -> None:
    show_text(change, lead=Text.assemble(" " * INDENT, mark), indent=INDENT + 2)


def _draw_heading(title: str) -> None:
    show_text()
    show_text(Text(title, "bold"), indent=INDENT)


WhyQuestionArgument = Annotated[str, typer.Argument(metavar="QUESTION", help="The question, in quotes.")]
MissingFactArgument = Annotated[str, typer.Argument(metavar="ID", help="The fact that is missing, or that is there.")]

# Keywords of recall whose option has another name.
_OPTION_NAMES = {"k": "-k", "tags": "--tag"}


def why(
    *,
    query: WhyQuestionArgument,
    id: MissingFactArgument,
    manner: RecallCommandOptions,
    filters: SharedFilterOptions,
    call: GlobalOptions,
) -> None:
    """See why a fact comes back for a question, or the first stage where it is lost, and what would bring it back.

    Give the same options as to recall. Every remedy was really tried, on a memory that stays as it is.

    cofire why "What database configuration do we use?" 01M7GRXZ72ER9HC7SM0EVVJFVW -k 3
    """
    with call.memory() as memory:
        refuse_if_explanations_off(memory)
        found = memory.why(query, id, **filters.keywords, **manner.keywords)
    if found.stage == "not_stored":
        raise NotFound(f"No fact has the id {id}.", way_out="List the ids with: cofire list")
    if call.as_json:
        return show_json(found.to_dict())
    if stdout_console().is_terminal:
        return draw_why(with_typed_remedies(found))
    return show_text(with_typed_remedies(found).text())


def with_typed_remedies(found: WhyResult) -> WhyResult:
    """The same, with remedies as one types them."""
    return replace(found, remedies=tuple(replace(one, change=format_remedy(one)) for one in found.remedies))


def format_remedy(remedy: Counterfactual) -> str:
    """A change in the options of the command line.

    >>> format_remedy(
    ...     Counterfactual(
    ...         "", 1, {"scope": ["default", "team a"], "tags": None, "k": 3, "settings": {"keyword.k1": 2.0}}
    ...     )
    ... )
    "--scope default --scope 'team a' -k 3 --set keyword.k1=2.0, without --tag"
    """
    given = {name: value for name, value in remedy.asked.items() if value is not None}
    said = [shlex.join(_format_options(given))] if given else []
    said += [f"without {_format_option_name(name)}" for name in remedy.asked if name not in given]
    said += [f"ask: {remedy.query}"] if remedy.query else []
    # What to connect is told last, and already as a command.
    said += [f"cofire {remedy.change.rpartition(', ')[2]}"] if remedy.link else []
    return ", ".join(said)


def _format_options(given: Mapping[str, Any]) -> Iterator[str]:
    for name, value in given.items():
        if name == "settings":
            yield from (
                word for label, one in value.items() for word in ("--set", f"{label}={format_setting_value(one)}")
            )
        else:
            for one in value if isinstance(value, list) else [value]:
                yield from (_format_option_name(name), format_setting_value(one))


def _format_option_name(name: str) -> str:
    return _OPTION_NAMES.get(name, f"--{name.replace('_', '-')}")
