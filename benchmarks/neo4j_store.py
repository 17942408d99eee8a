"""Neo4j: the cost of a memory on a server compared with the same memory in a file, and whether the answers agree.

    python benchmarks/neo4j_store.py [--facts 10000] [--file STORE.db] [--questions 60] [--bulk 2560] [--out figures.json]

The program starts a real server, as the tests do, and stops it at the end; both share this machine. Without `--file` it creates
a file of synthetic facts first. Times are wall time without embedding. Each figure is a median with the range over its rounds.
"""

from __future__ import annotations

import asyncio
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any, cast

from rich.progress import Progress

if not __package__:  # run by its path
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.speed import Figure, bars, exactly, of_rounds, show, timed
from benchmarks.synthetic import SeededVectors, synthetic
from cofire import AsyncMemory, Memory
from cofire.embedders.bundled import BundledEmbedder
from cofire.evaluation import provenance
from cofire.results import Recollection
from cofire.runtime.session import open_store
from cofire.settings.sources import load_settings
from cofire.stores.transfer_format import TransferableStore
from cofire.verbs.transfer import copy
from tests.neo4j_server import FOR_MEASURING, empty, queries_sent, server

SEED = 7
BULKS = 10
AT_ONCE = (1, 8, 64)
EXPLORATIONS = 128


def main(arguments: Sequence[str] | None = None) -> int:
    given = read_arguments(arguments)
    with TemporaryDirectory() as folder, bars() as bar, server(FOR_MEASURING) as served:
        made = synthetic(given.facts, given.questions, seed=SEED)
        file = given.file or write_file(Path(folder) / "same.db", made.facts)
        figures = list(measured(str(file), served.url, made.facts[: given.bulk], made.questions, bar))
        with Memory(file, embedder=None) as memory:
            known, facts = provenance.collect_provenance(memory.settings()), memory.stats().size.facts
    found = {**known, "facts": facts, "figures": [asdict(figure) for figure in figures]}
    if given.out:
        provenance.write_json(found, given.out)
    show(known, figures, facts)
    return 0


def read_arguments(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(description="A memory on a server beside the same memory in a file.")
    parser.add_argument("--facts", type=int, default=10_000, metavar="N", help="How many facts are made.")
    parser.add_argument("--file", type=Path, metavar="STORE.db", help="An existing store of such facts.")
    parser.add_argument("--questions", type=int, default=60, metavar="N", help="How many questions are asked.")
    parser.add_argument(
        "--bulk", type=int, default=2_560, metavar="N", help="How many facts are remembered on the server."
    )
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="Where to write all figures.")
    return parser.parse_args(arguments)


def measured(
    file: str, url: str, told: Sequence[dict[str, Any]], questions: Sequence[str], bar: Progress
) -> Iterator[Figure]:
    """All figures: remember on the server, copy to it, recall from both, and explore concurrently."""
    yield bulk(url, told, bar)
    yield brought(file, url, bar)
    yield from recalls(file, url, questions, bar)
    yield from asyncio.run(explorations(url, bar))


@contextmanager
def opened(place: str) -> Iterator[tuple[Memory, SeededVectors]]:
    """A store with vectors from a seed under the identity of the bundled model."""
    embedder = SeededVectors(BundledEmbedder())
    with Memory(place, embedder=embedder) as memory:
        yield memory, embedder


def write_file(file: Path, facts: Sequence[dict[str, Any]]) -> Path:
    with opened(str(file)) as (memory, _):
        memory.remember(facts)
        memory.dream()
    return file


def bulk(url: str, facts: Sequence[dict[str, Any]], bar: Progress) -> Figure:
    """Facts a second, in tenths of the whole; the first tenth is a warm-up. The server is empty afterwards."""
    size = max(1, len(facts) // BULKS)
    task = bar.add_task("remember", total=len(facts))
    rates = []
    with opened(url) as (memory, embedder):
        for start in range(0, len(facts), size):
            some = facts[start : start + size]
            rates.append(1000 * len(some) / timed(partial(memory.remember, some), embedder)[1])
            bar.advance(task, len(some))
    empty(url)
    return of_rounds("remember in bulk", "facts/s", rates[1:], aim="≥ 1,000")


def brought(file: str, url: str, bar: Progress) -> Figure:
    """Facts a second of a copy, including the comparison of both stores."""
    task = bar.add_task("copy", total=None)
    ours, theirs = (open_store(place, load_settings(record=None, call={})) for place in (file, url))
    begun = time.perf_counter()
    copied = copy(
        cast(TransferableStore, ours),
        cast(TransferableStore, theirs),
        now=datetime.now(UTC),
        advance=lambda step: bar.update(task, completed=step.done, total=step.total),
    )
    seconds = time.perf_counter() - begun
    ours.close()
    theirs.close()
    return exactly("copy from the file, compared", "facts/s", copied.copied / seconds)


def recalls(file: str, url: str, questions: Sequence[str], bar: Progress) -> Iterator[Figure]:
    """Each question on both stores in turn. The first round, a warm-up, does not count."""
    task = bar.add_task("recall", total=2 * len(questions))
    with opened(file) as ours, opened(url) as theirs:
        for asked in questions:
            ours[0].recall(asked)
            theirs[0].recall(asked)
            bar.advance(task)
        pairs = []
        for asked in questions:
            pairs.append((answered(*ours, asked), answered(*theirs, asked)))
            bar.advance(task)
        trips = [trips_of(partial(theirs[0].recall, asked)) for asked in questions]
    for at, where in enumerate(("file", "server")):
        times = sorted(pair[at][0] for pair in pairs)
        yield of_rounds(f"recall, {where}, median", "ms", times)
        yield exactly(f"recall, {where}, 95th percentile", "ms", times[int(0.95 * len(times))])
    yield of_rounds("round trips a recall", "queries", trips, aim="≤ 5")
    yield exactly(
        "first ten of both alike", "share", mean(alike(one[1], other[1]) for one, other in pairs), aim="≥ 0.99"
    )


def answered(memory: Memory, embedder: SeededVectors, asked: str) -> tuple[float, set[str]]:
    """Milliseconds of a recall, and the ids of its hits or guesses."""
    found: list[Recollection] = []
    wall = timed(lambda: found.append(memory.recall(asked)), embedder)[1]
    return wall, {hit.id for hit in (*found[0], *found[0].guesses)}


def alike(one: set[str], other: set[str]) -> float:
    """The share of results that both stores return."""
    return len(one & other) / max(1, len(one), len(other))


def trips_of(act: Callable[[], object]) -> float:
    with queries_sent() as sent:
        act()
    return float(len(sent))


async def explorations(url: str, bar: Progress) -> list[Figure]:
    """Run explorations concurrently, each from another fact."""
    task = bar.add_task("explore", total=len(AT_ONCE) * EXPLORATIONS)
    figures: list[Figure] = []
    async with AsyncMemory(url, embedder=SeededVectors(BundledEmbedder())) as memory:
        seeds = [fact.id for fact in await memory.facts(limit=EXPLORATIONS)]
        await asyncio.gather(*(memory.explore(seed) for seed in seeds[:8]))
        for many in AT_ONCE:
            begun = time.perf_counter()
            times = sorted(await _explored(memory, seeds, many, lambda: bar.advance(task)))
            rate = len(times) / (time.perf_counter() - begun)
            figures += [
                exactly(f"{many} explorations at once", "a second", rate),
                of_rounds(f"{many} at once, median", "ms", times),
                exactly(f"{many} at once, 95th percentile", "ms", times[int(0.95 * len(times))]),
            ]
    return figures


async def _explored(memory: AsyncMemory, seeds: Sequence[str], many: int, advance: Callable[[], None]) -> list[float]:
    turn = asyncio.Semaphore(many)

    async def one(seed: str) -> float:
        async with turn:
            begun = time.perf_counter()
            await memory.explore(seed)
            advance()
            return 1000 * (time.perf_counter() - begun)

    return list(await asyncio.gather(*map(one, seeds)))


if __name__ == "__main__":
    sys.exit(main())
