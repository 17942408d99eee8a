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
    """All tables of a run that are not empty."""
    sets = figures["sets"]
    yield make_metrics_table(sets)
    yield make_halves_table(sets)
    if any(figures_of_set["categories"] for each in sets.values() for figures_of_set in each["arms"].values()):
        yield make_categories_table(sets)
    if "ablations" in figures:
        yield from (make_losses_table(sets, figures["ablations"], metric) for metric in SHOWN_LOSSES)


def make_metrics_table(sets: Figures) -> Table:
    table = _make_table("All questions, in percent", ["set", "arm"], [*METRICS, "R@5 interval", "ms p50", "ms p95"])
    for name, figures in sets.items():
        for place, (arm, arm_figures) in enumerate(figures["arms"].items()):
            times = (arm_figures["recall_ms"], arm_figures["recall_ms_p95"])
            table.add_row(
                "" if place else f"{name} ({figures['questions']})",
                arm,
                *(format_percent(arm_figures["all"][metric]) for metric in METRICS),
                format_interval(arm_figures["all"]["intervals"]["R@5"]),
                *(f"{figures:.1f}" for figures in times),
            )
        table.add_section()
    return table


def make_halves_table(sets: Figures) -> Table:
    table = _make_table("R@5 / R@10 by half, with the interval of R@5", ["set", "arm"], HALVES[1:])
    for name, figures in sets.items():
        for place, (arm, arm_figures) in enumerate(figures["arms"].items()):
            table.add_row("" if place else name, arm, *(_format_half(arm_figures[half]) for half in HALVES[1:]))
        table.add_section()
    return table


def make_categories_table(sets: Figures) -> Table:
    arms = list(dict.fromkeys(arm for figures in sets.values() for arm in figures["arms"]))
    table = _make_table("R@5 by category, with the interval of the last arm", ["set", "category"], ["n", *arms, ""])
    for name, figures in sets.items():
        last = figures["arms"][arms[-1]]["categories"]
        for category, category_figures in last.items():
            by_arm = [format_percent(figures["arms"][arm]["categories"][category]["R@5"]) for arm in arms]
            table.add_row(
                name,
                category,
                str(category_figures["questions"]),
                *by_arm,
                format_interval(category_figures["intervals"]["R@5"]),
            )
        table.add_section()
    return table


def make_losses_table(sets: Figures, means: Figures, metric: str) -> Table:
    """The loss of each ablation, highest first. A star is beyond chance."""
    table = _make_table(f"Points of {metric} lost without …; * beyond chance", ["without"], ["mean", *sets])
    for name in sorted(means, key=lambda figures: -means[figures][metric]):
        losses = [figures["ablations"][name]["loss"][metric] for figures in sets.values()]
        table.add_row(name, f"{means[name][metric]:+.2f}", *map(format_change, losses))
    return table


def make_changes_table(compared: Figures) -> Table:
    """The changes between two runs."""
    table = _make_table("Points gained; * beyond chance", ["set", "arm", "half"], SHOWN_CHANGES)
    for name, figures in compared["sets"].items():
        for arm, halves in figures["arms"].items():
            for half, changes in halves.items():
                spans = [
                    f"{format_change(changes[metric])} {format_interval(changes[metric]['interval'])}"
                    for metric in SHOWN_CHANGES
                ]
                table.add_row(f"{name} ({figures['questions']})", arm, half, *spans)
        table.add_section()
    return table


def list_complaints(figures: Figures) -> Iterator[str]:
    """The reasons why a run fails."""
    for name, figures_of_set in figures["sets"].items():
        yield from (
            f"{name}: the {DEFAULT_ARM} is worse than its better channel: {shortfall}"
            for shortfall in figures_of_set["shortfalls"]
        )
        yield from (f"{name}: the graph is harmful: {harm}" for harm in figures_of_set["harm"])


def format_change(change: Figures) -> str:
    """A difference, with a star if it is beyond chance.

    >>> format_change({"points": 1.5, "beyond_chance": True}), format_change({"points": -0.25, "beyond_chance": False})
    ('+1.50*', '-0.25 ')
    """
    return f"{change['points']:+.2f}{'*' if change['beyond_chance'] else ' '}"


def format_percent(percent: float | None) -> str:
    return "–" if percent is None else f"{percent:.1f}"


def format_interval(ends: tuple[float, float] | None) -> str:
    return "–" if ends is None else f"{ends[0]:.1f} … {ends[1]:.1f}"


def _format_half(figures: Figures) -> str:
    if not figures["questions"]:
        return "–"
    return f"{format_percent(figures['R@5'])} / {format_percent(figures['R@10'])}  {format_interval(figures['intervals']['R@5'])}"


def _make_table(title: str, words: Iterable[str], numbers: Iterable[str]) -> Table:
    made = Table(title=title, title_justify="left")
    for label in words:
        made.add_column(label, no_wrap=True)
    for label in numbers:
        made.add_column(label, justify="right", no_wrap=True)
    return made
