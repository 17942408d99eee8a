"""Reasons layout: how `cofire why` looks at a terminal. The stages as a line, the fact beside the last that came back, and remedies."""

from __future__ import annotations

from rich.text import Text

from cofire.doors.cli.drawing import THIS, Scale, bar, bar_room, draw_score, draw_ways, named, scale_of, show_packed
from cofire.doors.cli.layout import clipped, rounded
from cofire.doors.cli.screen import WIDEST, out, show, styled
from cofire.reasons import Stage, Why
from cofire.recollection import Hit

INDENT = 2
_PASSED, _LOST, _AHEAD = ("●", "green"), ("✗", "bold red"), ("○", "dim")
_HELPS, _IN_VAIN = ("✓", "bold green"), ("✗", "dim")
_LAST = "last to come back"
# What a fact has to pass, in the order in which it is looked at, and the stages that are lost there.
STATIONS: dict[str, tuple[Stage, ...]] = {
    "stored": ("not_stored",),
    "recall on": ("switched_off",),
    "filters": ("filtered",),
    "evidence": ("silent",),
    "graph": ("cut_by_inhibition", "beyond_expanded"),
    "candidate": ("not_a_candidate",),
    "rank": ("beyond_k", "outranked", "beyond_budget"),
    "back": (),
}


def draw_why(found: Why) -> None:
    """All of it, the verdict first."""
    mark, style = _HELPS if found.returned else _LOST
    show(Text.assemble((f"{mark} {found.stage}", style)))
    if found.fact:
        show(styled(clipped(found.fact.text, 3 * WIDEST), "bold"), indent=INDENT)
    show(found.explanation, indent=INDENT)
    show()
    _draw_stations(found.stage)
    _draw_scores(found)
    _draw_remedies(found)


def stations(stage: Stage) -> list[tuple[str, str, str]]:
    """Each station with its mark and style: passed, lost there, or never reached.

    >>> [mark for _, mark, _ in stations("filtered")]
    ['●', '●', '✗', '○', '○', '○', '○', '○']
    """
    names = list(STATIONS)
    lost = next((at for at, name in enumerate(names) if stage in STATIONS[name]), len(names))
    return [(name, *(_PASSED if at < lost else _LOST if at == lost else _AHEAD)) for at, name in enumerate(names)]


def _draw_stations(stage: Stage) -> None:
    passed = stations(stage)
    line = Text(" ─ ", "dim").join(Text(f"{mark} {name}", style) for name, mark, style in passed)
    if INDENT + line.cell_len <= min(out().width, WIDEST):
        return show(line, indent=INDENT)
    return _draw_short_stations(passed)


def _draw_short_stations(passed: list[tuple[str, str, str]]) -> None:
    """Where there is little room only the place where it was lost, or the last, has its name."""
    show(Text("──", "dim").join(Text(mark, style) for _, mark, style in passed), indent=INDENT)
    at = next((at for at, (_, mark, _) in enumerate(passed) if mark == _LOST[0]), len(passed) - 1)
    name, _, style = passed[at]
    show(Text(name, style), indent=INDENT + 3 * at)


def _draw_scores(found: Why) -> None:
    if found.hit is None or found.place is None:
        return
    show()
    if found.last is None:
        scale = scale_of([found.hit], bar_room(INDENT))
        draw_score(found.hit, scale, indent=INDENT)
    else:
        _draw_beside(found.hit, found.last)
    draw_ways(found.hit, found.texts, indent=INDENT)


def _draw_beside(hit: Hit, last: Hit) -> None:
    """Two bars on one scale, and channel by channel what makes the difference."""
    scores = max(len(rounded(one.score)) for one in (hit, last))
    lead = INDENT + len(_LAST) + scores + 4
    scale = scale_of([last, hit], bar_room(lead))
    for name, one in ((THIS, hit), (_LAST, last)):
        told = Text.assemble(" " * INDENT, name.ljust(len(_LAST) + 2), (rounded(one.score).rjust(scores), "bold cyan"))
        show(bar(one.channels, scale), lead=told, indent=lead)
    show_packed([Text("difference:", "dim"), *_differences(hit, last, scale)], indent=INDENT)


def _differences(hit: Hit, last: Hit, scale: Scale) -> list[Text]:
    """What the fact has more or less than the last that came back, the largest first; what rounds to nothing is left out."""
    more = {name: _gives(hit, name) - _gives(last, name) for name in scale.letters}
    told = sorted((name for name in more if round(more[name], 2)), key=lambda name: -abs(more[name]))
    return [named(name, scale).append(" ").append_text(_signed(more[name])) for name in told]


def _gives(hit: Hit, name: str) -> float:
    return hit.channels[name].gives if name in hit.channels else 0.0


def _signed(number: float) -> Text:
    return Text(rounded(number, "+"), "green" if number > 0 else "red")


def _draw_remedies(found: Why) -> None:
    if found.remedies:
        _head("What would bring it back")
    for one in found.remedies:
        _draw_tried(styled(one.change).append(f"  → place {one.place}", "dim"), _HELPS)
    if found.in_vain:
        _head("Tried in vain")
    for change in found.in_vain:
        _draw_tried(styled(change, "dim"), _IN_VAIN)


def _draw_tried(change: Text, mark: tuple[str, str]) -> None:
    show(change, lead=Text.assemble(" " * INDENT, mark), indent=INDENT + 2)


def _head(title: str) -> None:
    show()
    show(Text(title, "bold"), indent=INDENT)
