"""Tuning: a grid of weights and BM25 constants, measured on the tuning halves alone. Prints the best; changes no default.

    python benchmarks/tune.py DATA_FOLDER… [--sets …] [--cache FOLDER] [--semantic .1 .17] [--k1 .8 1.2] [--b .6 .75]

Only the ratio of the two weights matters, so the word channel keeps its own.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

if not __package__:  # run by its path
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import scoring
from benchmarks.evaluation_sets import EvaluationSet, find_sets, load
from benchmarks.kept_vectors import KeptVectors, default_folder
from benchmarks.quality import answers, bars, remembered
from cofire import Memory
from cofire.embedders.base import Embedder
from cofire.embedders.bundled import Bundled

Reached = Mapping[str, Mapping[str, float]]

SHOWN = 15


@dataclass(frozen=True)
class Opened:
    """A set whose tuning half is ready to be asked."""

    chosen: EvaluationSet
    memory: Memory
    embedder: KeptVectors
    fact_of: Mapping[str, str]

    def recalls(self, settings: Mapping[str, Any]) -> dict[str, float]:
        """R@5 and R@10 under these settings."""
        answered = list(answers(self.chosen.questions, self.memory, self.embedder, {"settings": settings}))
        return scoring.recalls(answered, self.fact_of)


@dataclass(frozen=True)
class Trial:
    """Settings, what they reach on each set, and the least by which that exceeds the better single channel."""

    settings: Mapping[str, float]
    reached: Reached
    margin: float

    @property
    def mean(self) -> float:
        """Over sets and cuts alike, so that every set counts the same."""
        return mean(found[cut] for found in self.reached.values() for cut in cuts())


def main(arguments: Sequence[str] | None = None, make_embedder: Callable[[], Embedder] = Bundled) -> int:
    given = read_arguments(arguments)
    with ExitStack() as stack, bars() as bar:
        sets = {one.chosen.name: one for one in opened_sets(given, make_embedder, stack, bar)}
        found = sorted(trials(sets, given, bar), key=lambda trial: -trial.mean)
    Console(width=160).print(table(found[:SHOWN]))
    return 0


def read_arguments(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(description="Settings that serve the tuning halves best.")
    parser.add_argument("folders", nargs="+", type=Path, metavar="DATA_FOLDER", help="A set, or a folder of sets.")
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="Only these sets.")
    parser.add_argument(
        "--cache", type=Path, default=default_folder(), metavar="FOLDER", help="Where vectors are kept."
    )
    parser.add_argument("--semantic", nargs="+", type=float, default=[0.1, 0.13, 0.17, 0.22, 0.3], metavar="WEIGHT")
    parser.add_argument("--k1", nargs="+", type=float, default=[0.5, 0.8, 1.2], metavar="VALUE")
    parser.add_argument("--b", nargs="+", type=float, default=[0.4, 0.6, 0.75], metavar="VALUE")
    return parser.parse_args(arguments)


def opened_sets(
    given: Namespace, make_embedder: Callable[[], Embedder], stack: ExitStack, bar: Progress
) -> Iterator[Opened]:
    for folder in find_sets(given.folders):
        if not given.sets or folder.name in given.sets:
            chosen = tuning_half(load(folder, limit=None))
            embedder = KeptVectors(make_embedder(), given.cache)
            yield Opened(chosen, *stack.enter_context(remembered(chosen, embedder, bar)))


def tuning_half(chosen: EvaluationSet) -> EvaluationSet:
    return replace(chosen, questions=tuple(question for question in chosen.questions if question.tuning))


def trials(sets: Mapping[str, Opened], given: Namespace, bar: Progress) -> Iterator[Trial]:
    """Every point of the grid."""
    task = bar.add_task("trials", total=len(given.k1) * len(given.b) * len(given.semantic))
    meaning = {name: one.recalls({"keyword.enabled": False}) for name, one in sets.items()}
    for k1, b in product(given.k1, given.b):
        constants = {"keyword.k1": k1, "keyword.b": b}
        words = {name: one.recalls({**constants, "semantic.enabled": False}) for name, one in sets.items()}
        for weight in given.semantic:
            settings = {**constants, "semantic.weight": weight}
            reached = {name: one.recalls(settings) for name, one in sets.items()}
            yield Trial(settings, reached, least_margin(reached, words, meaning))
            bar.advance(task)


def least_margin(reached: Reached, *singles: Reached) -> float:
    """By how much the fusion is at least above the better single channel, on any set at any cut.

    >>> least_margin(
    ...     {"a": {"R@5": 60.0, "R@10": 70.0}}, {"a": {"R@5": 50.0, "R@10": 71.0}}, {"a": {"R@5": 59.0, "R@10": 60.0}}
    ... )
    -1.0
    """
    return min(
        found[cut] - max(single[name][cut] for single in singles) for name, found in reached.items() for cut in cuts()
    )


def cuts() -> list[str]:
    return [f"R@{k}" for k in scoring.CUTS]


def table(found: Sequence[Trial]) -> Table:
    made = Table(title="Tuning halves: R@5 / R@10, the best settings first", title_justify="left")
    for label in (*found[0].settings, "mean", "margin", *found[0].reached):
        made.add_column(label, justify="right")
    for trial in found:
        values = [f"{value:g}" for value in trial.settings.values()]
        reached = [f"{one['R@5']:.1f} / {one['R@10']:.1f}" for one in trial.reached.values()]
        made.add_row(*values, f"{trial.mean:.2f}", f"{trial.margin:+.2f}", *reached)
    return made


if __name__ == "__main__":
    sys.exit(main())
