"""Measure whether feedback on earlier questions helps related later ones and leaves the others unchanged.

    python benchmarks/learning.py DATA_FOLDER… [--sets …] [--taught 500] [--arms …] [--keep FOLDER] [--cache FOLDER] [--out FILE]

The questions of each set are split randomly into two parts. One part teaches: each question runs, with feedback that the gold facts
among the results helped. The other part runs before and after. Then the parts swap. A later question that shares a gold fact with a
taught one is related; one that shares two has the same pair. Other arms teach by exposure only: `documented` strengthens all results
of a recall, `earned` those that come back together in three sessions. Constants were chosen on the tuning halves; the other half is
the figure to report.
"""

from __future__ import annotations

import json
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, combinations, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

if not __package__:  # run by its path
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from cofire import Memory
from cofire.embedders.bundled import BundledEmbedder
from cofire.evaluation import datasets
from cofire.evaluation.datasets import EvaluationQuestion, EvaluationSet
from cofire.evaluation.metrics import confidence_interval, recall_at
from cofire.evaluation.store_setup import CachingEmbedder, LoadOptions, default_cache_folder, open_loaded_memory

K, CUT = 10, 5
Found = dict[str, float]
PARTS = ("same pair", "related", "unrelated", "taught")
QUIET: Mapping[str, Any] = {"recall_log.enabled": False, "abstention.rule": "off"}


@dataclass(frozen=True)
class Lesson:
    """Taught questions, and later ones: with two gold facts of one taught question, with at least one, with none."""

    taught: tuple[EvaluationQuestion, ...]
    same_pair: tuple[EvaluationQuestion, ...]
    related: tuple[EvaluationQuestion, ...]
    unrelated: tuple[EvaluationQuestion, ...]

    @property
    def parts(self) -> Mapping[str, Sequence[EvaluationQuestion]]:
        return {
            "same pair": self.same_pair,
            "related": self.related,
            "unrelated": self.unrelated,
            "taught": self.taught,
        }


def lessons(chosen: EvaluationSet, taught: int) -> tuple[Lesson, Lesson]:
    """Two random parts, the same in every run; each teaches for the other."""
    mixed = sorted(chosen.questions, key=lambda one: blake2b(f"{chosen.name} {one.id}".encode()).digest())
    one, other = mixed[: len(mixed) // 2], mixed[len(mixed) // 2 :]
    return lesson(one[:taught], other), lesson(other[:taught], one)


def lesson(taught: Sequence[EvaluationQuestion], later: Sequence[EvaluationQuestion]) -> Lesson:
    gold = {(scope_of(one), row) for one in taught for row in one.gold}
    pairs = {(scope_of(one), pair) for one in taught for pair in combinations(sorted(one.gold), 2)}
    related = [one for one in later if any((scope_of(one), row) in gold for row in one.gold)]
    others = [one for one in later if one not in related]
    same = [one for one in later if any((scope_of(one), two) in pairs for two in combinations(sorted(one.gold), 2))]
    return Lesson(tuple(taught), tuple(same), tuple(related), tuple(others))


def scope_of(question: EvaluationQuestion) -> str:
    return question.scope if isinstance(question.scope, str) else " ".join(question.scope)


def ask(memory: Memory, question: EvaluationQuestion, **settings: Any) -> Any:
    return memory.recall(question.text, k=K, scope=question.scope, settings={**QUIET, **settings})


def found_in(memory: Memory, questions: Sequence[EvaluationQuestion], fact_of: Mapping[str, str]) -> Found:
    """The share of gold among the first results, by question."""
    return {one.id: recall_at([fact_of[row] for row in one.gold], ask(memory, one).ids, CUT) for one in questions}


def by_feedback(memory: Memory, questions: Sequence[EvaluationQuestion], fact_of: Mapping[str, str]) -> None:
    """Give feedback that the returned gold facts helped."""
    for one in questions:
        found, gold = ask(memory, one), {fact_of[row] for row in one.gold}
        if helped := [id for id in found.ids if id in gold]:
            memory.feedback(found, helped=helped)


def by_blame(memory: Memory, questions: Sequence[EvaluationQuestion], fact_of: Mapping[str, str]) -> None:
    """The same, and feedback that other facts among the first results hurt."""
    for one in questions:
        found, gold = ask(memory, one), {fact_of[row] for row in one.gold}
        helped = [id for id in found.ids if id in gold]
        hurt = [id for id in found.ids[:CUT] if id not in gold]
        if helped or hurt:
            memory.feedback(found, helped=helped, hurt=hurt)


def exposed(rule: str) -> Callable[..., None]:
    """Strengthen all results, whether they helped or not."""

    def teach(memory: Memory, questions: Sequence[EvaluationQuestion], _: Mapping[str, str]) -> None:
        for one in questions:
            ask(memory, one, **{"recall_log.enabled": True, "hebbian.rule": rule})

    return teach


# How each arm teaches, and in how many sessions.
ARMS: Mapping[str, tuple[Callable[..., None], int]] = {
    "feedback": (by_feedback, 1),
    "feedback and blame": (by_blame, 1),
    "earned": (exposed("earned"), 3),
    "documented": (exposed("documented"), 1),
}


def measured(
    chosen: EvaluationSet, place: Path, fact_of: Mapping[str, str], vectors: Path, given: Namespace
) -> list[dict[str, Any]]:
    """The gold found by each question of each part, before and after each arm has taught, on a copy of the store."""
    with closing(opened(place, vectors)) as memory:
        before = found_in(memory, chosen.questions, fact_of)
    rows: list[dict[str, Any]] = []
    for cut, arm in product(lessons(chosen, given.taught), given.arms):
        teach, sessions = ARMS[arm]
        copy = place.with_name(f"{place.stem}-taught.db")
        shutil.copy(place, copy)
        for session in range(sessions):
            with closing(opened(copy, vectors, f"session {session}")) as memory:
                teach(memory, cut.taught, fact_of)
        with closing(opened(copy, vectors)) as memory:
            after = found_in(memory, chosen.questions, fact_of)
        copy.unlink()
        rows += [
            {"arm": arm, "part": part, "tuning": one.tuning, "before": before[one.id], "after": after[one.id]}
            for part, questions in cut.parts.items()
            for one in questions
        ]
    return rows


def opened(place: Path, vectors: Path, session: str | None = None) -> Memory:
    return Memory(place, embedder=CachingEmbedder(BundledEmbedder(), vectors), session=session)


def gained(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Points of R@5, with the interval of the paired difference."""
    if not rows:
        return None
    before, after = (np.array([row[when] for row in rows], np.float64) for when in ("before", "after"))
    low, high = (round(float(end), 2) for end in confidence_interval(100 * (after - before)))
    return {
        "questions": len(rows),
        "before": round(100 * float(before.mean()), 2),
        "gain": round(100 * float((after - before).mean()), 2),
        "interval": [low, high],
    }


def summary(rows: Sequence[Mapping[str, Any]]) -> Any:
    """By half, arm and part."""
    halves: Mapping[str, tuple[bool, ...]] = {"all": (True, False), "tuning": (True,), "other": (False,)}
    return {
        half: {
            arm: {
                part: gained(
                    [row for row in rows if (row["arm"], row["part"]) == (arm, part) and row["tuning"] in kept]
                )
                for part in PARTS
            }
            for arm in dict.fromkeys(row["arm"] for row in rows)
        }
        for half, kept in halves.items()
    }


def show(name: str, figures: Mapping[str, Any], console: Console) -> None:
    table = Table("set", "half", "arm", *PARTS)
    for half, arm in [(half, arm) for half, arms in figures.items() for arm in arms]:
        cells = [
            f"{one['before']} ({one['questions']}) {one['gain']:+} [{one['interval'][0]}, {one['interval'][1]}]"
            if one
            else ""
            for one in (figures[half][arm][part] for part in PARTS)
        ]
        table.add_row(name, half, arm, *cells)
    console.print(table)


def options(given: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--taught", type=int, default=500)
    parser.add_argument("--arms", nargs="*", choices=ARMS, default=list(ARMS))
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--cache", type=Path, default=None)
    parser.add_argument("--out", type=Path)
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    chosen, rows = options(given), dict[str, Any]()
    for folder in datasets.find_sets(chosen.folders):
        if chosen.sets and folder.name not in chosen.sets:
            continue
        one = datasets.load_set(folder, limit=None)
        vectors = chosen.cache or default_cache_folder()
        manner = LoadOptions({}, dream=False, keep=chosen.keep)
        with TemporaryDirectory() as temporary:
            place = Path(temporary) / f"{one.name}.db"
            with open_loaded_memory(
                one.name, [one], CachingEmbedder(BundledEmbedder(), vectors), manner, lambda *_: None
            ) as stock:
                stock.store.backup(str(place))
                fact_of = stock.fact_of[one.name]
            rows[one.name] = measured(one, place, fact_of, vectors, chosen)
        show(one.name, summary(rows[one.name]), Console(width=200))
    every = {name: summary(found) for name, found in (*rows.items(), ("all sets", [*chain(*rows.values())]))}
    show("all sets", every["all sets"], Console(width=200))
    if chosen.out:
        chosen.out.write_text(json.dumps(every, indent=2), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
