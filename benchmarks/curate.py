"""Curation of a store with a million edges that are all due to decay, and a second run.

python benchmarks/curate.py [--facts 100000] [--edges 1000000] [--store STORE] [--out figures.json]

With --store a copy of that store is curated; without it a store is created first. Missing edges are hebbian edges between random facts.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from json import dumps, loads
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apsw
import numpy as np
from rich.console import Console
from rich.table import Table

if not __package__:  # run by its path
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.synthetic import SeededVectors, synthetic
from cofire import Memory
from cofire.embedders.bundled import BundledEmbedder
from cofire.evaluation import provenance

LATER = timedelta(days=100)


def main(arguments: Sequence[str] | None = None) -> int:
    given = read_arguments(arguments)
    if given.one:
        print(dumps(curated(given.one)))
        return 0
    with TemporaryDirectory() as folder:
        store = Path(folder) / "curate.db"
        stock(store, given)
        command = [sys.executable, __file__, "--one", str(store)]
        ended = subprocess.run(command, capture_output=True, text=True, check=True)
    figures = loads(ended.stdout.strip().splitlines()[-1])
    show(figures)
    if given.out:
        provenance.write_json(figures, given.out)
    return 0


def read_arguments(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--one", type=Path, help="curate this store itself, and print the figures")
    parser.add_argument("--out", type=Path)
    return parser.parse_args(arguments)


def stock(store: Path, given: Namespace) -> None:
    """A store with this number of edges."""
    if given.store:
        shutil.copy(given.store, store)
        Memory(store, embedder=None).close()
    else:
        with Memory(store, embedder=SeededVectors(BundledEmbedder())) as memory:
            memory.remember(synthetic(given.facts, 10, seed=1).facts)
            memory.dream()
    with Memory(store, embedder=None) as memory:
        lacking = given.edges - memory.stats().size.edges
    if lacking > 0:
        strew(store, lacking)


def strew(store: Path, edges: int) -> None:
    """Hebbian edges between random facts, by SQL: creating them through the API would take longer than the rest."""
    connection, chance = apsw.Connection(str(store)), np.random.default_rng(1)
    keys = np.array([key for (key,) in connection.execute("SELECT key FROM facts")], np.int64)
    now = int(datetime.now(UTC).timestamp() * 1e6)
    version = connection.execute("UPDATE state SET version = version + 1 RETURNING version").get
    with connection:
        connection.executemany(
            "INSERT OR IGNORE INTO association_edges(source, target, kind, weight, origin, created, version) "
            f"VALUES (?, ?, 'hebbian', 0.5, 'use', {now}, {version})",
            np.sort(chance.choice(keys, (edges, 2)), axis=1).tolist(),
        )
    connection.close()


def curated(store: Path) -> dict[str, Any]:
    """A first run, in which all edges decay, and a second one at the same time."""
    later = datetime.now(UTC) + LATER
    with Memory(store, embedder=None, settings={"decay.clock": "calendar"}, clock=lambda: later) as memory:
        size = memory.stats().size
        runs = [one_run(memory) for _ in range(2)]
    return {"facts": size.facts, "edges": size.edges, "runs": runs}


def one_run(memory: Memory) -> dict[str, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    done = memory.curate()
    return {
        "faded": done.faded,
        "lowered": done.lowered,
        "communities": done.communities,
        "seconds": round(time.perf_counter() - wall, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def show(figures: Mapping[str, Any]) -> None:
    title = f"Curation of {figures['facts']:,} facts and {figures['edges']:,} edges"
    table = Table("run", "faded", "lowered", "seconds", "CPU s", "peak MB", title=title)
    for name, one in zip(("all fades", "once more"), figures["runs"], strict=True):
        cells = (f"{one['faded']:,}", f"{one['lowered']:,}", f"{one['seconds']}", f"{one['cpu_seconds']}")
        table.add_row(name, *cells, f"{one['peak_megabytes']:,}")
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())
