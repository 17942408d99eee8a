"""Tables of measured figures for the screen. Nothing is measured here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.table import Table

from cofire.benching.arms import DEFAULT
from cofire.benching.scoring import HALVES, METRICS

Figures = Mapping[str, Any]

SHOWN_LOSSES = ("R@5", "R@10")
SHOWN_CHANGES = ("R@5", "R@10", "all@10", "nDCG@10", "MRR")


def tables(figures: Figures) -> Iterator[Table]:
    """Every table of a run that has something to say."""
    sets = figures["sets"]
    yield of_metrics(sets)
    yield of_halves(sets)
    if any(one["categories"] for each in sets.values() for one in each["arms"].values()):
        yield of_categories(sets)
    if "ablations" in figures:
        yield from (of_losses(sets, figures["ablations"], metric) for metric in SHOWN_LOSSES)


def of_metrics(sets: Figures) -> Table:
    table = _table("All questions, in percent", ["set", "arm"], [*METRICS, "R@5 lies in", "ms p50", "ms p95"])
    for name, one in sets.items():
        for place, (arm, found) in enumerate(one["arms"].items()):
            times = (found["recall_ms"], found["recall_ms_p95"])
            table.add_row(
                "" if place else f"{name} ({one['questions']})",
                arm,
                *(shown(found["all"][metric]) for metric in METRICS),
                between(found["all"]["intervals"]["R@5"]),
                *(f"{one:.1f}" for one in times),
            )
        table.add_section()
    return table


def of_halves(sets: Figures) -> Table:
    table = _table("R@5 / R@10 by half, and between what R@5 lies", ["set", "arm"], HALVES[1:])
    for name, one in sets.items():
        for place, (arm, found) in enumerate(one["arms"].items()):
            table.add_row("" if place else name, arm, *(_half(found[half]) for half in HALVES[1:]))
        table.add_section()
    return table


def of_categories(sets: Figures) -> Table:
    arms = list(dict.fromkeys(arm for one in sets.values() for arm in one["arms"]))
    table = _table(
        "R@5 by category; last between what that of the last arm lies", ["set", "category"], ["n", *arms, ""]
    )
    for name, one in sets.items():
        last = one["arms"][arms[-1]]["categories"]
        for category, found in last.items():
            by_arm = [shown(one["arms"][arm]["categories"][category]["R@5"]) for arm in arms]
            table.add_row(name, category, str(found["questions"]), *by_arm, between(found["intervals"]["R@5"]))
        table.add_section()
    return table


def of_losses(sets: Figures, means: Figures, metric: str) -> Table:
    """What each ablation loses, the worst first; a star is beyond chance."""
    table = _table(f"Points of {metric} lost without …; * is beyond chance", ["without"], ["mean", *sets])
    for name in sorted(means, key=lambda one: -means[one][metric]):
        losses = [one["ablations"][name]["loss"][metric] for one in sets.values()]
        table.add_row(name, f"{means[name][metric]:+.2f}", *map(change, losses))
    return table


def of_changes(compared: Figures) -> Table:
    """What changed between two runs."""
    table = _table("Points gained; * is beyond chance", ["set", "arm", "half"], SHOWN_CHANGES)
    for name, one in compared["sets"].items():
        for arm, halves in one["arms"].items():
            for half, found in halves.items():
                spans = [f"{change(found[metric])} {between(found[metric]['interval'])}" for metric in SHOWN_CHANGES]
                table.add_row(f"{name} ({one['questions']})", arm, half, *spans)
        table.add_section()
    return table


def complaints(figures: Figures) -> Iterator[str]:
    """What makes a run fail, in words."""
    for name, one in figures["sets"].items():
        yield from (f"{name}: the {DEFAULT} is below its better channel: {said}" for said in one["shortfalls"])
        yield from (f"{name}: the graph does harm: {said}" for said in one["harm"])


def change(one: Figures) -> str:
    """A difference, with a star if it is beyond chance.

    >>> change({"points": 1.5, "beyond_chance": True}), change({"points": -0.25, "beyond_chance": False})
    ('+1.50*', '-0.25 ')
    """
    return f"{one['points']:+.2f}{'*' if one['beyond_chance'] else ' '}"


def shown(percent: float | None) -> str:
    return "–" if percent is None else f"{percent:.1f}"


def between(ends: tuple[float, float] | None) -> str:
    return "–" if ends is None else f"{ends[0]:.1f} … {ends[1]:.1f}"


def _half(found: Figures) -> str:
    if not found["questions"]:
        return "–"
    return f"{shown(found['R@5'])} / {shown(found['R@10'])}  {between(found['intervals']['R@5'])}"


def _table(title: str, words: Iterable[str], numbers: Iterable[str]) -> Table:
    made = Table(title=title, title_justify="left")
    for label in words:
        made.add_column(label, no_wrap=True)
    for label in numbers:
        made.add_column(label, justify="right", no_wrap=True)
    return made
