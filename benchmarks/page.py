"""The page: the cost of GET /graph for the server, and the time to the first frame.

    python benchmarks/page.py [--facts 1000 10000] [--rounds 5] [--out figures.json]

A synthetic memory that has dreamed, `cofire serve` as a process of its own, and Chromium without a graphics card (software
rendering). The CPU time of the server is read from /proc, so this runs on Linux. Without a browser the first frame is skipped.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from rich.console import Console
from rich.table import Table

if not __package__:  # run by its path
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.synthetic import synthetic
from cofire import Memory
from cofire.evaluation import provenance
from scripts.screenshots import BROWSER, chromium, heard, running

SEED = 7
BATCH = 1_000


def main(arguments: Sequence[str] | None = None) -> int:
    given = read_arguments(arguments)
    with TemporaryDirectory(prefix="cofire-page-") as folder:
        figures = [measured(count, given.rounds, Path(folder)) for count in given.facts]
        with Memory(Path(folder) / f"{given.facts[0]}.db", embedder=None) as memory:
            known = provenance.collect_provenance(memory.settings())
    if given.out:
        provenance.write_json({**known, "page": figures}, given.out)
    show(figures)
    Console().print(provenance.format_provenance(known))
    return 0


def read_arguments(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(description="What the page costs, and how long it is waited for.")
    parser.add_argument("--facts", type=int, nargs="+", default=[1_000, 10_000], metavar="N", help="Sizes of memory.")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="How often each thing is done.")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="Where to write all figures.")
    return parser.parse_args(arguments)


def measured(count: int, rounds: int, folder: Path) -> dict[str, Any]:
    store = folder / f"{count}.db"
    fill(store, count)
    command = [sys.executable, "-m", "cofire", "serve", "--store", str(store), "--port", "0", "--json"]
    with running(command, {**os.environ, "XDG_DATA_HOME": str(folder), "COFIRE_EMBEDDER_NAME": "none"}) as server:
        address = heard(server)["open"]
        first, *others = [asked(address, server.pid, count) for _ in range(rounds + 1)]
        frames = first_frames(address, rounds)
    return {
        **{name: first[name] for name in ("nodes", "edges", "bytes")},
        "first_get_s": first["seconds"],
        "get_s": median(one["seconds"] for one in others),
        "get_cpu_s": median(one["cpu"] for one in others),
        "first_frames_ms": frames,
    }


def fill(store: Path, count: int) -> None:
    """A memory after a dream, with communities."""
    facts = synthetic(count, 0, seed=SEED).facts
    with Memory(store, embedder=None) as memory:
        for start in range(0, count, BATCH):
            memory.remember(facts[start : start + BATCH])
        memory.dream()


def asked(address: str, server: int, limit: int) -> dict[str, Any]:
    """One GET /graph on a new connection: seconds, CPU time of the server, and the response."""
    url, token = address.split("/#token=")
    headers, used, began = {"Authorization": f"Bearer {token}"}, cpu_of(server), time.perf_counter()
    answer = httpx.get(f"{url}/api/v1/graph", params={"limit": limit}, headers=headers, timeout=120).raise_for_status()
    seconds, told = time.perf_counter() - began, answer.json()
    counts = {"nodes": len(told["nodes"]), "edges": len(told["edges"]), "bytes": len(answer.content)}
    return {"seconds": seconds, "cpu": cpu_of(server) - used, **counts}


def cpu_of(process: int) -> float:
    """CPU seconds of a process, from /proc."""
    parts = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def first_frames(address: str, visits: int) -> list[float]:
    """Milliseconds to the first frame for each visit; empty without a browser."""
    if not chromium():
        return []
    command = ["node", str(BROWSER / "first-frame.mjs"), chromium(), address, str(visits)]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE) as browser:
        frames: list[float] = heard(browser)["frames"]
    return frames


def show(figures: Sequence[dict[str, Any]]) -> None:
    table = Table("facts", "edges", "GET /graph", "first GET", "server CPU", "bytes", "first frame, median")
    for one in figures:
        frames = one["first_frames_ms"]
        table.add_row(
            f"{one['nodes']:,}",
            f"{one['edges']:,}",
            f"{one['get_s']:.2f} s",
            f"{one['first_get_s']:.2f} s",
            f"{one['get_cpu_s']:.2f} s",
            f"{one['bytes']:,}",
            f"{median(frames) / 1_000:.2f} s" if frames else "no browser",
        )
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())
