"""Recall quality: how much of what answers a question is among the first five and ten facts, by words, by meaning and by both.

    python benchmarks/quality.py DATA_FOLDER… [--sets musique locomo] [--out figures.json] [--cache FOLDER] [--limit N]

A folder holds a set (corpus.jsonl, queries.jsonl) or several in folders of their own. All arms ask the same store.
"""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.progress import Progress, TaskID
from rich.table import Table

if not __package__:  # run by its path
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import provenance, scoring
from benchmarks.evaluation_sets import Asked, EvaluationSet, find_sets, load
from benchmarks.kept_vectors import KeptVectors, default_folder
from cofire import Memory
from cofire.embedders.base import Embedder
from cofire.embedders.bundled import Bundled

ARMS: Mapping[str, Mapping[str, Any]] = {
    "words": {"settings": {"semantic.enabled": False}},
    "meaning": {"settings": {"keyword.enabled": False}},
    "rrf": {"preset": "documented-rrf"},
    "default": {},
}
SINGLES = ("words", "meaning")
DEPTH = max(scoring.CUTS)


def main(arguments: Sequence[str] | None = None, make_embedder: Callable[[], Embedder] = Bundled) -> int:
    """Measure all sets and print the tables; 1 when the default is worse than its better channel anywhere."""
    given = read_arguments(arguments)
    folders = [one for one in find_sets(given.folders) if not given.sets or one.name in given.sets]
    figures: dict[str, Any] = {"sets": {}}
    with bars() as bar:
        for folder in folders:
            chosen = load(folder, limit=given.limit)
            with remembered(chosen, KeptVectors(make_embedder(), given.cache), bar) as (memory, embedder, fact_of):
                figures = {**provenance.provenance(memory.settings()), **figures}
                figures["sets"][chosen.name] = measured(chosen, memory, embedder, fact_of, bar)
    if given.out:
        provenance.write_json(figures, given.out)
    show(figures)
    return 1 if any(one["shortfalls"] for one in figures["sets"].values()) else 0


def read_arguments(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(description="Recall quality over evaluation sets.")
    parser.add_argument("folders", nargs="+", type=Path, metavar="DATA_FOLDER", help="A set, or a folder of sets.")
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="Only these sets.")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="Where to write all figures.")
    parser.add_argument(
        "--cache", type=Path, default=default_folder(), metavar="FOLDER", help="Where vectors are kept."
    )
    parser.add_argument("--limit", type=int, metavar="N", help="Only the first N questions of each set.")
    return parser.parse_args(arguments)


@contextmanager
def remembered(
    chosen: EvaluationSet, embedder: KeptVectors, bar: Progress
) -> Iterator[tuple[Memory, KeptVectors, dict[str, str]]]:
    """A set in a memory of its own, with the fact that each row became. Rows alike in everything are one fact."""
    with TemporaryDirectory() as folder, Memory(Path(folder) / "set.db", embedder=embedder) as memory:
        task = bar.add_task(f"{chosen.name}: remember", total=len(chosen.facts))
        ids = memory.remember(chosen.facts, progress=lambda so_far: bar.update(task, completed=so_far.done))
        yield memory, embedder, dict(zip(chosen.rows, ids, strict=True))


def measured(
    chosen: EvaluationSet, memory: Memory, embedder: KeptVectors, fact_of: Mapping[str, str], bar: Progress
) -> dict[str, Any]:
    """The figures of every arm on one set."""
    task = bar.add_task(f"{chosen.name}: recall", total=len(chosen.questions) * len(ARMS))
    arms = {
        name: scoring.figures(list(counted(answers(chosen.questions, memory, embedder, asked), bar, task)), fact_of)
        for name, asked in ARMS.items()
    }
    return {
        "rows": len(chosen.rows),
        "facts": len(set(fact_of.values())),
        "questions": len(chosen.questions),
        "arms": arms,
        "shortfalls": scoring.shortfalls(arms, arm="default", singles=SINGLES),
    }


def answers(
    questions: Iterable[Asked], memory: Memory, embedder: KeptVectors, asked: Mapping[str, Any]
) -> Iterator[scoring.Answer]:
    """What comes back to each question, and how long the processor took for it without embedding."""
    for question in questions:
        begun = time.process_time() - embedder.spent
        found = memory.recall(question.text, k=DEPTH, scope=question.scope, **asked)
        yield scoring.Answer(question, found.ids, 1000 * (time.process_time() - embedder.spent - begun))


def counted(answered: Iterable[scoring.Answer], bar: Progress, task: TaskID) -> Iterator[scoring.Answer]:
    for answer in answered:
        bar.advance(task)
        yield answer


def bars() -> Progress:
    return Progress(console=Console(stderr=True), transient=True)


def show(figures: Mapping[str, Any]) -> None:
    console = Console(width=max(100, Console().width))
    console.print(provenance.in_words(dict(figures)))
    console.print(table_of_sets(figures["sets"]))
    console.print(table_of_categories(figures["sets"]))
    for name, one in figures["sets"].items():
        for shortfall in one["shortfalls"]:
            console.print(f"{name}: the default is below its better channel: {shortfall}")


def table_of_sets(sets: Mapping[str, Any]) -> Table:
    table = Table(title="R@5 / R@10 in percent", title_justify="left")
    for label in ("set", "arm"):
        table.add_column(label)
    for label in (*scoring.HALVES, "ms a recall"):
        table.add_column(label, justify="right")
    for name, one in sets.items():
        for arm, found in one["arms"].items():
            halves = [f"{shown(found[half]['R@5'])} / {shown(found[half]['R@10'])}" for half in scoring.HALVES]
            table.add_row(name if arm == "words" else "", arm, *halves, f"{found['recall_ms']:.2f}")
        table.add_section()
    return table


def table_of_categories(sets: Mapping[str, Any]) -> Table:
    table = Table(title="R@10 by category", title_justify="left")
    for label in ("set", "category", "questions", *ARMS):
        table.add_column(label, justify="left" if label in ("set", "category") else "right")
    for name, one in sets.items():
        for category, found in one["arms"]["default"]["categories"].items():
            by_arm = [shown(one["arms"][arm]["categories"][category]["R@10"]) for arm in ARMS]
            table.add_row(name, category, str(found["questions"]), *by_arm)
        table.add_section()
    return table


def shown(percent: float | None) -> str:
    return "–" if percent is None else f"{percent:.1f}"


if __name__ == "__main__":
    sys.exit(main())
