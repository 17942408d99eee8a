"""Learning: whether feedback on earlier questions helps later ones that are related, and leaves the others alone.

    python benchmarks/learning.py DATA_FOLDER… [--sets …] [--taught 500] [--keep FOLDER] [--cache FOLDER] [--output FILE]

Of each set a chance part of the questions is taught: asked, with feedback that the gold facts among the results helped. All others are
asked before and after. Those that share a gold fact with a taught question are related, those that share two have the same pair.
Other arms teach by exposure alone: `documented` strengthens all that comes back together, `earned` what comes back together in three
sessions.
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
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

if not __package__:  # run by its path
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from cofire import Memory
from cofire.benching import evaluation_sets
from cofire.benching.evaluation_sets import Asked, EvaluationSet
from cofire.benching.intervals import interval
from cofire.benching.kept_vectors import KeptVectors, default_folder
from cofire.benching.scoring import share_found
from cofire.benching.stocking import Manner, stocked
from cofire.embedders.bundled import Bundled

K, CUT = 10, 5
QUIET: Mapping[str, Any] = {"recall_log.enabled": False, "abstention.rule": "off"}


@dataclass(frozen=True)
class Lesson:
    """A set cut into questions to teach by and later ones: with two gold facts of one taught question, with one at least, with none."""

    taught: tuple[Asked, ...]
    same_pair: tuple[Asked, ...]
    related: tuple[Asked, ...]
    unrelated: tuple[Asked, ...]


def cut(chosen: EvaluationSet, taught: int) -> Lesson:
    """By chance, but each time the same; at most half of the questions are taught."""
    mixed = sorted(chosen.questions, key=lambda one: blake2b(f"{chosen.name} {one.id}".encode()).digest())
    first = mixed[: min(taught, len(mixed) // 2)]
    gold = {(scope_of(one), row) for one in first for row in one.gold}
    pairs = {(scope_of(one), pair) for one in first for pair in combinations(sorted(one.gold), 2)}
    later = mixed[len(first) :]
    related = [one for one in later if any((scope_of(one), row) in gold for row in one.gold)]
    others = [one for one in later if one not in related]
    same = [one for one in later if any((scope_of(one), two) in pairs for two in combinations(sorted(one.gold), 2))]
    return Lesson(tuple(first), tuple(same), tuple(related), tuple(others))


def scope_of(question: Asked) -> str:
    return question.scope if isinstance(question.scope, str) else " ".join(question.scope)


def ask(memory: Memory, question: Asked, **settings: Any) -> Any:
    return memory.recall(question.text, k=K, scope=question.scope, settings={**QUIET, **settings})


def found_in(memory: Memory, questions: Sequence[Asked], fact_of: Mapping[str, str]) -> np.ndarray[Any, Any]:
    """The share of gold among the first places, of each question."""
    return np.array(
        [share_found([fact_of[row] for row in one.gold], ask(memory, one).ids, CUT) for one in questions], np.float64
    )


def by_feedback(memory: Memory, questions: Sequence[Asked], fact_of: Mapping[str, str]) -> None:
    """The gold facts that came back helped."""
    for one in questions:
        found, gold = ask(memory, one), {fact_of[row] for row in one.gold}
        if helped := [id for id in found.ids if id in gold]:
            memory.feedback(found, helped=helped)


def by_blame(memory: Memory, questions: Sequence[Asked], fact_of: Mapping[str, str]) -> None:
    """The same, and what stood among the first places without being gold hurt."""
    for one in questions:
        found, gold = ask(memory, one), {fact_of[row] for row in one.gold}
        helped = [id for id in found.ids if id in gold]
        hurt = [id for id in found.ids[:CUT] if id not in gold]
        if helped or hurt:
            memory.feedback(found, helped=helped, hurt=hurt)


def exposed(rule: str) -> Callable[..., None]:
    """What comes back is strengthened, whether it helped or not."""

    def teach(memory: Memory, questions: Sequence[Asked], _: Mapping[str, str]) -> None:
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


def measured(chosen: EvaluationSet, place: Path, fact_of: Mapping[str, str], vectors: Path, taught: int) -> Any:
    """Each arm on a copy of the store."""
    lesson = cut(chosen, taught)
    parts = {
        "same pair": lesson.same_pair,
        "related": lesson.related,
        "unrelated": lesson.unrelated,
        "taught": lesson.taught,
    }
    with closing(opened(place, vectors)) as memory:
        before = {name: found_in(memory, questions, fact_of) for name, questions in parts.items()}
    figures: dict[str, Any] = {
        "questions": {name: len(questions) for name, questions in parts.items()},
        "before": {name: share(found) for name, found in before.items()},
    }
    for arm, (teach, sessions) in ARMS.items():
        copy = place.with_name(f"{place.stem}-{arm.replace(' ', '-')}.db")
        shutil.copy(place, copy)
        for session in range(sessions):
            with closing(opened(copy, vectors, f"session {session}")) as memory:
                teach(memory, lesson.taught, fact_of)
        with closing(opened(copy, vectors)) as memory:
            after = {name: found_in(memory, questions, fact_of) for name, questions in parts.items()}
            figures[arm] = {name: gained(before[name], found) for name, found in after.items()}
            figures[arm]["edges"] = len(memory.edges(kind="hebbian", limit=1_000_000))
        copy.unlink()
    return figures


def opened(place: Path, vectors: Path, session: str | None = None) -> Memory:
    return Memory(place, embedder=KeptVectors(Bundled(), vectors), session=session)


def share(found: np.ndarray[Any, Any]) -> float | None:
    return round(100 * float(found.mean()), 2) if len(found) else None


def gained(before: np.ndarray[Any, Any], after: np.ndarray[Any, Any]) -> Any:
    """Points of R@5, with the interval of the paired difference."""
    if not len(before):
        return None
    low, high = (round(float(end), 2) for end in interval(100 * (after - before)))
    return {"R@5": share(after), "gain": round(100 * float((after - before).mean()), 2), "interval": [low, high]}


def show(figures: Mapping[str, Any], console: Console) -> None:
    table = Table("set", "arm", "same pair", "related", "unrelated", "taught", "edges")
    for name, one in figures.items():
        counts = one["questions"]
        table.add_row(name, "before", *(f"{one['before'][part]} ({counts[part]})" for part in counts), "")
        for arm in ARMS:
            cells = [
                f"{g['gain']:+} [{g['interval'][0]}, {g['interval'][1]}]" if (g := one[arm][part]) else ""
                for part in counts
            ]
            table.add_row("", arm, *cells, str(one[arm]["edges"]))
    console.print(table)


def options(given: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--taught", type=int, default=500)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--cache", type=Path, default=None)
    parser.add_argument("--output", type=Path)
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    chosen, figures = options(given), {}
    for folder in evaluation_sets.find_sets(chosen.folders):
        if chosen.sets and folder.name not in chosen.sets:
            continue
        one = evaluation_sets.load(folder, limit=None)
        vectors = chosen.cache or default_folder()
        manner = Manner({}, dream=False, keep=chosen.keep)
        with TemporaryDirectory() as temporary:
            place = Path(temporary) / f"{one.name}.db"
            with stocked(one.name, [one], KeptVectors(Bundled(), vectors), manner, lambda *_: None) as stock:
                stock.store.backup(str(place))
                fact_of = stock.fact_of[one.name]
            figures[one.name] = measured(one, place, fact_of, vectors, chosen.taught)
        show({one.name: figures[one.name]}, Console(width=140))
    if chosen.output:
        chosen.output.write_text(json.dumps(figures, indent=2), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
