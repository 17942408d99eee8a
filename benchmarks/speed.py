"""Measure remember, recall and start on a store of synthetic facts. Only the cold start includes embedding.

    python benchmarks/speed.py [--facts 100000] [--questions 200] [--rounds 5] [--out figures.json]

CPU times are of one thread of this process. Each figure is a median with the range over its rounds.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

if not __package__:  # run by its path
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import cofire
from benchmarks.synthetic import SeededVectors, strangers, synthetic
from cofire import Memory
from cofire.embedders.bundled import BundledEmbedder
from cofire.evaluation import provenance

ROOT = Path(__file__).resolve().parent.parent
SEED = 7
BULKS = 10
SINGLES = 200
CANDIDATES = (128, 256, 400, 800)
COMPARED = 40
BY_MEANING = {"keyword.enabled": False, "abstention.rule": "off"}


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured figure: the median of its rounds, their range, and the aim."""

    name: str
    unit: str
    value: float
    least: float
    most: float
    rounds: int
    aim: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    given = read_arguments(arguments)
    with TemporaryDirectory() as folder, bars() as bar:
        store = Path(folder) / "speed.db"
        figures = list(measured(store, given, bar))
        with Memory(store, embedder=None) as memory:
            known = provenance.collect_provenance(memory.settings())
    found = {**known, "facts": given.facts, "figures": [asdict(figure) for figure in figures]}
    if given.out:
        provenance.write_json(found, given.out)
    show(known, figures, given.facts)
    return 0


def read_arguments(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(description="Speed on a store of synthetic facts.")
    parser.add_argument("--facts", type=int, default=100_000, metavar="N", help="How many facts the store holds.")
    parser.add_argument("--questions", type=int, default=200, metavar="N", help="How many questions are asked.")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="How often each of them, and each start.")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="Where to write all figures.")
    return parser.parse_args(arguments)


def measured(store: Path, given: Namespace, bar: Progress) -> Iterator[Figure]:
    """All figures, in the order of use: write, recall, start again."""
    yield of_rounds("yardstick: a fixed piece of work", "ms CPU", [yardstick() for _ in range(20)])
    made = synthetic(given.facts + SINGLES, given.questions, seed=SEED)
    with opened(store) as (memory, embedder):
        yield bulk(memory, embedder, made.facts[: given.facts], bar)
        yield from singles(memory, embedder, made.facts[given.facts :])
        yield from recalls(memory, embedder, made.questions, given.rounds, bar)
        yield exactly("peak memory while writing", "MB", peak_memory())
    yield exactly("file", "bytes a fact", size_of(store) / (len(made.facts) + SINGLES), aim="≤ 4,000")
    yield from starts(store, made.questions, given.rounds)
    yield from agreement(store, made.questions[:COMPARED], bar)
    yield of_rounds("yardstick, at the end", "ms CPU", [yardstick() for _ in range(20)])


@contextmanager
def opened(store: Path, **settings: object) -> Iterator[tuple[Memory, SeededVectors]]:
    """The store with seeded vectors and the identity of the bundled model, so that the real model can open it later."""
    embedder = SeededVectors(BundledEmbedder())
    with Memory(store, embedder=embedder, settings=settings) as memory:
        yield memory, embedder


def bulk(memory: Memory, embedder: SeededVectors, facts: Sequence[dict[str, Any]], bar: Progress) -> Figure:
    """Facts a second of CPU time, in tenths of the whole, which shows a rate that falls with size."""
    size = max(1, len(facts) // BULKS)
    task = bar.add_task("remember", total=len(facts))
    rates = []
    for start in range(0, len(facts), size):
        some = facts[start : start + size]
        rates.append(1000 * len(some) / cpu_ms(partial(memory.remember, some), embedder))
        bar.update(task, completed=start + len(some))
    return of_rounds("remember in bulk", "facts/s CPU", rates, aim="≥ 3,000")


def singles(memory: Memory, embedder: SeededVectors, facts: Sequence[dict[str, Any]]) -> Iterator[Figure]:
    """Remember one fact at a time in the full store; wall time includes the disk. In a larger store a fact finds more similar facts to
    link. A fact without similar ones is measured too: it shows the cost of the size of the store alone."""
    times = [timed(partial(memory.remember, fact), embedder) for fact in facts]
    yield of_rounds("remember one", "ms CPU", [cpu for cpu, _ in times])
    yield of_rounds("remember one", "ms wall", [wall for _, wall in times])
    alone = [cpu_ms(partial(memory.remember, text), embedder) for text in strangers(len(facts), seed=SEED)]
    yield of_rounds("remember one like no other", "ms CPU", alone)


def recalls(
    memory: Memory, embedder: SeededVectors, questions: Sequence[str], rounds: int, bar: Progress
) -> Iterator[Figure]:
    """Median and 95th percentile over the questions, for each round after a warm-up round. And the median of the fastest time of each
    question: other programs on the machine make a recall slower, never faster."""
    task = bar.add_task("recall", total=(rounds + 1) * len(questions))
    told = []
    for _ in range(rounds + 1):
        told.append([cpu_ms(partial(memory.recall, asked), embedder) for asked in questions])
        bar.advance(task, len(questions))
    counted = told[1:]
    yield of_rounds("recall, median", "ms CPU", [median(times) for times in counted], aim="≤ 3")
    yield of_rounds("recall, 95th percentile", "ms CPU", [sorted(times)[int(0.95 * len(times))] for times in counted])
    yield of_rounds("recall, each at its quickest", "ms CPU", [min(times) for times in zip(*counted, strict=True)])


def starts(store: Path, questions: Sequence[str], rounds: int) -> Iterator[Figure]:
    """The first recall of a new process, and a complete `cofire recall` on the command line."""
    firsts = [first_recall_elsewhere(store, questions[place % len(questions)]) for place in range(rounds)]
    yield of_rounds("first recall of a process", "ms CPU", [one["first_cpu_ms"] for one in firsts])
    yield of_rounds("first recall of a process", "ms wall", [one["first_wall_ms"] for one in firsts])
    yield of_rounds("peak memory of such a process", "MB", [one["peak_mb"] for one in firsts])
    colds = [cold_recall(store, questions[place % len(questions)]) for place in range(rounds + 1)]
    yield of_rounds("cold cofire recall", "s wall", colds[1:], aim="≤ 0.8")


def agreement(store: Path, questions: Sequence[str], bar: Progress) -> Iterator[Figure]:
    """The share of the exact ten nearest that the sign-bit index finds, by the number of candidates for exact scoring."""
    task = bar.add_task("exact search", total=len(questions))
    with opened(store, **{"semantic.index": "exact"}) as (memory, _):
        exact = []
        for asked in questions:
            exact.append(set(memory.recall(asked, settings=BY_MEANING).ids))
            bar.advance(task)
    with opened(store, **{"semantic.index": "signs"}) as (memory, _):
        for candidates in CANDIDATES:
            own = {**BY_MEANING, "semantic.candidates": candidates}
            found = [set(memory.recall(asked, settings=own).ids) for asked in questions]
            shares = [len(one & best) / len(best) for one, best in zip(found, exact, strict=True)]
            yield exactly(f"signs against exact, {candidates} candidates", "recall@10", mean(shares))


def first_recall_elsewhere(store: Path, question: str) -> dict[str, float]:
    """Recall in a new process, which reports its cost."""
    program = "import sys; from benchmarks.speed import first_recall; first_recall(sys.argv[1], sys.argv[2])"
    said = run_python("-c", program, str(store), question)
    found: dict[str, float] = json.loads(said)
    return found


def first_recall(store: str, question: str) -> None:
    """Print the cost of opening a store and of the first recall in this process, without imports and embedding."""
    with opened(Path(store)) as (memory, embedder):
        cpu, wall = timed(partial(memory.recall, question), embedder)
    print(json.dumps({"first_cpu_ms": cpu, "first_wall_ms": wall, "peak_mb": peak_memory()}))


def cold_recall(store: Path, question: str) -> float:
    """Seconds from the command to its output, with the real model."""
    begun = time.perf_counter()
    said = run_python("-m", "cofire", "--store", str(store), "recall", question, "--json")
    seconds = time.perf_counter() - begun
    found = json.loads(said)
    if not found["hits"] and not found["guesses"]:
        raise AssertionError(f"Nothing was recalled: {said}")
    return seconds


def run_python(*arguments: str) -> str:
    """The output of a new interpreter with the same cofire and a bytecode cache, as for an installed package."""
    places = [str(ROOT), str(Path(cofire.__file__).parent.parent)]
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(Path(gettempdir()) / "cofire-speed-bytecode")}
    environment = {**os.environ, **compiled, "PYTHONPATH": os.pathsep.join(places)}
    done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{' '.join(arguments[:3])} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def cpu_ms(act: Callable[[], object], embedder: SeededVectors) -> float:
    return timed(act, embedder)[0]


def timed(act: Callable[[], object], embedder: SeededVectors) -> tuple[float, float]:
    """Milliseconds of CPU and of wall time without embedding."""
    cpu, wall = time.process_time() - embedder.spent, time.perf_counter() - embedder.waited
    act()
    return 1000 * (time.process_time() - embedder.spent - cpu), 1000 * (time.perf_counter() - embedder.waited - wall)


def peak_memory() -> float:
    """The peak memory of this process in MB; on Linux without memory inherited from its parent."""
    status = Path("/proc/self/status")
    if status.exists():
        held = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
        return int(held.split()[1]) * 1_024 / 1_000_000
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1_000_000 if sys.platform == "darwin" else 1_000)


def yardstick() -> float:
    """CPU milliseconds of a fixed workload, half Python and half numpy: the current speed of the machine."""
    begun = time.process_time()
    sum(number * number for number in range(100_000))
    matrix = np.ones((256, 256), np.float32)
    for _ in range(8):
        matrix = (matrix @ matrix) % 7
    return 1000 * (time.process_time() - begun)


def size_of(store: Path) -> int:
    return sum(path.stat().st_size for path in store.parent.glob(f"{store.name}*"))


def of_rounds(name: str, unit: str, rounds: Sequence[float], *, aim: str = "") -> Figure:
    return Figure(name, unit, median(rounds), min(rounds), max(rounds), len(rounds), aim)


def exactly(name: str, unit: str, value: float, *, aim: str = "") -> Figure:
    return Figure(name, unit, value, value, value, 1, aim)


def bars() -> Progress:
    return Progress(console=Console(stderr=True), transient=True)


def show(known: dict[str, Any], figures: Sequence[Figure], facts: int) -> None:
    console = Console(width=max(100, Console().width))
    console.print(provenance.format_provenance(known))
    table = Table(title=f"{facts:,} facts", title_justify="left")
    for label in ("what", "unit", "median", "range", "rounds", "aim"):
        table.add_column(label, justify="left" if label in ("what", "unit") else "right")
    for one in figures:
        spread = f"{shown(one.least)} – {shown(one.most)}" if one.rounds > 1 else ""
        table.add_row(one.name, one.unit, shown(one.value), spread, str(one.rounds), one.aim)
    console.print(table)


def shown(value: float) -> str:
    """A number with three significant digits.

    >>> shown(3412.7), shown(2.345), shown(0.98765)
    ('3,413', '2.35', '0.988')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    sys.exit(main())
