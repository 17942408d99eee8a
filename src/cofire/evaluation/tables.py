"""Tables of measured figures for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.table import Table

from cofire.evaluation.baselines import DEFAULT_ARM
from cofire.evaluation.metrics import HALVES, METRICS

Figures = Mapping[str, Any]

SHOWN_LOSSES = ("R@5", "R@10")
SHOWN_CHANGES = ("R@5", "R@10", "all@10", "nDCG@10", "MRR")


def make_tables(figures: Figures) -> Iterator[Table]:
    """Every table of a run that has something to say."""
    sets = figures["sets"]
    yield make_metrics_table(sets)
    yield make_halves_table(sets)
    if any(one["categories"] for each in sets.values() for one in each["arms"].values()):
        yield make_categories_table(sets)
    if "ablations" in figures:
        yield from (make_losses_table(sets, figures["ablations"], metric) for metric in SHOWN_LOSSES)


def make_metrics_table(sets: Figures) -> Table:
    table = _make_table("All questions, in percent", ["set", "arm"], [*METRICS, "R@5 lies in", "ms p50", "ms p95"])
    for name, one in sets.items():
        for place, (arm, found) in enumerate(one["arms"].items()):
            times = (found["recall_ms"], found["recall_ms_p95"])
            table.add_row(
                "" if place else f"{name} ({one['questions']})",
                arm,
                *(format_percent(found["all"][metric]) for metric in METRICS),
                format_interval(found["all"]["intervals"]["R@5"]),
                *(f"{one:.1f}" for one in times),
            )
        table.add_section()
    return table


def make_halves_table(sets: Figures) -> Table:
    table = _make_table("R@5 / R@10 by half, and between what R@5 lies", ["set", "arm"], HALVES[1:])
    for name, one in sets.items():
        for place, (arm, found) in enumerate(one["arms"].items()):
            table.add_row("" if place else name, arm, *(_format_half(found[half]) for half in HALVES[1:]))
        table.add_section()
    return table


def make_categories_table(sets: Figures) -> Table:
    arms = list(dict.fromkeys(arm for one in sets.values() for arm in one["arms"]))
    table = _make_table(
        "R@5 by category; last between what that of the last arm lies", ["set", "category"], ["n", *arms, ""]
    )
    for name, one in sets.items():
        last = one["arms"][arms[-1]]["categories"]
        for category, found in last.items():
            by_arm = [format_percent(one["arms"][arm]["categories"][category]["R@5"]) for arm in arms]
            table.add_row(name, category, str(found["questions"]), *by_arm, format_interval(found["intervals"]["R@5"]))
        table.add_section()
    return table


def make_losses_table(sets: Figures, means: Figures, metric: str) -> Table:
    """What each ablation loses, the worst first; a star is beyond chance."""
    table = _make_table(f"Points of {metric} lost without …; * is beyond chance", ["without"], ["mean", *sets])
    for name in sorted(means, key=lambda one: -means[one][metric]):
        losses = [one["ablations"][name]["loss"][metric] for one in sets.values()]
        table.add_row(name, f"{means[name][metric]:+.2f}", *map(format_change, losses))
    return table


def make_changes_table(compared: Figures) -> Table:
    """What changed between two runs."""
    table = _make_table("Points gained; * is beyond chance", ["set", "arm", "half"], SHOWN_CHANGES)
    for name, one in compared["sets"].items():
        for arm, halves in one["arms"].items():
            for half, found in halves.items():
                spans = [
                    f"{format_change(found[metric])} {format_interval(found[metric]['interval'])}"
                    for metric in SHOWN_CHANGES
                ]
                table.add_row(f"{name} ({one['questions']})", arm, half, *spans)
        table.add_section()
    return table


def list_complaints(figures: Figures) -> Iterator[str]:
    """What makes a run fail, in words."""
    for name, one in figures["sets"].items():
        yield from (f"{name}: the {DEFAULT_ARM} is below its better channel: {said}" for said in one["shortfalls"])
        yield from (f"{name}: the graph does harm: {said}" for said in one["harm"])


def format_change(one: Figures) -> str:
    """A difference, with a star if it is beyond chance.

    >>> format_change({"points": 1.5, "beyond_chance": True}), format_change({"points": -0.25, "beyond_chance": False})
    ('+1.50*', '-0.25 ')
    """
    return f"{one['points']:+.2f}{'*' if one['beyond_chance'] else ' '}"


def format_percent(percent: float | None) -> str:
    return "–" if percent is None else f"{percent:.1f}"


def format_interval(ends: tuple[float, float] | None) -> str:
    return "–" if ends is None else f"{ends[0]:.1f} … {ends[1]:.1f}"


def _format_half(found: Figures) -> str:
    if not found["questions"]:
        return "–"
    return f"{format_percent(found['R@5'])} / {format_percent(found['R@10'])}  {format_interval(found['intervals']['R@5'])}"


def _make_table(title: str, words: Iterable[str], numbers: Iterable[str]) -> Table:
    made = Table(title=title, title_justify="left")
    for label in words:
        made.add_column(label, no_wrap=True)
    for label in numbers:
        made.add_column(label, justify="right", no_wrap=True)
    return made
