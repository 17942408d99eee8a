"""Many processes on one file: writers that remember, repeat and forget, and readers that check them.

    python benchmarks/processes.py [--seconds 60] [--writers 8] [--readers 8] [--kill] [--out figures.json]

Exits with 0 only if no process failed and no fact was lost, stored twice or found after a forget. With --kill, writers are killed
and replaced during the run; acknowledged facts must still be there. The store and the ledgers of a failed run are kept.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import shutil
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from statistics import median
from tempfile import mkdtemp
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

if not __package__:  # run by its path
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import crowd
from benchmarks.crowd import Post
from benchmarks.ledger import Entry, Reader
from benchmarks.verdict import account, unaccounted, violations
from cofire import Memory
from cofire.evaluation import provenance

PAGE = 10_000
SHOWN = 20
PATIENCE = 120.0

# A new interpreter each, as for unrelated programs.
_PROCESSES = multiprocessing.get_context("spawn")


def main(arguments: Sequence[str] | None = None) -> int:
    given = read_arguments(arguments)
    folder = Path(mkdtemp(prefix="cofire-processes-"))
    post = Post(folder, 0, given.writers, given.seed)
    killed = let_loose(post, given)
    figures = {**judged(post, given), "killed": killed}
    if given.out:
        provenance.write_json(figures, given.out)
    show(figures)
    if figures["violations"]:
        print(f"The store and the ledgers are in {folder}", file=sys.stderr)
        return 1
    shutil.rmtree(folder)
    return 0


def read_arguments(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(description="Many processes on one file.")
    parser.add_argument("--seconds", type=float, default=60.0, metavar="N", help="How long they work.")
    parser.add_argument("--writers", type=int, default=8, metavar="N")
    parser.add_argument("--readers", type=int, default=8, metavar="N")
    parser.add_argument(
        "--kill", action="store_true", help="Kill writers during the run, and start others in their place."
    )
    parser.add_argument("--seed", type=int, default=7, metavar="N")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="Where to write all figures.")
    return parser.parse_args(arguments)


def let_loose(post: Post, given: Namespace) -> int:
    """Start all processes, give the start signal, wait for the end, and return how many were killed."""
    writers = [start(crowd.write_guarded, replace(post, number=number)) for number in range(given.writers)]
    readers = [start(crowd.read_guarded, replace(post, number=number)) for number in range(given.readers)]
    until = give_word(post, given)
    killed, chance = 0, random.Random(given.seed)
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("working", total=given.seconds)
        while (left := until - time.time()) > 0:
            time.sleep(min(0.2 + 0.8 * chance.random(), left))
            bar.update(task, completed=given.seconds - left)
            killed += replace_one(writers, post, chance) if given.kill and time.time() < until else 0
    wait_for([*writers, *readers], post, until)
    return killed


def give_word(post: Post, given: Namespace) -> float:
    """When all processes are ready, announce the time to stop. A failed process is not waited for."""
    deadline = time.time() + PATIENCE
    while len(list(post.folder.glob("ready-*"))) < given.writers + given.readers and time.time() < deadline:
        time.sleep(0.02)
    until: float = time.time() + given.seconds
    unfinished = post.word.with_suffix(".new")
    unfinished.write_text(str(until), encoding="ascii")
    unfinished.replace(post.word)
    return until


def start(work: Callable[[Post], None], post: Post) -> BaseProcess:
    process = _PROCESSES.Process(target=work, args=(post,))
    process.start()
    return process


def replace_one(writers: list[BaseProcess], post: Post, chance: random.Random) -> int:
    """Kill a writer as a crash would, and start another in its place."""
    number = chance.randrange(len(writers))
    if not writers[number].is_alive():
        return 0
    writers[number].kill()
    writers[number].join()
    writers[number] = start(crowd.write_guarded, replace(post, number=number))
    return 1


def wait_for(everybody: Sequence[BaseProcess], post: Post, until: float) -> None:
    """Wait for all processes; one that does not end in time is stopped and counts as an error."""
    for process in everybody:
        process.join(max(0.0, until + PATIENCE - time.time()))
        if process.is_alive():
            process.kill()
            process.join()
        if process.exitcode != 0:
            post.note_error(f"{process.name} ended with {process.exitcode}")


def judged(post: Post, given: Namespace) -> dict[str, Any]:
    """The figures of a finished run, and its violations."""
    written = [entry for number in range(given.writers) for entry in Reader(post.ledger_of(number)).more()]
    tallies = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(post.folder.glob("reader-*.json"))]
    said = account(written)
    with Memory(post.store, embedder=None) as memory:
        stored = list(all_facts(memory))
        wrong = [
            *post.errors(),
            *(wrong for tally in tallies for wrong in tally["wrong"]),
            *violations(stored, said),
            *(f"check: {problem}" for problem in memory.check()),
            *miscounts(memory, stored, unaccounted(stored, said), given.kill),
        ]
        known = provenance.collect_provenance(memory.settings())
    asked = [taken for tally in tallies for taken in tally["milliseconds"]]
    if not asked and given.readers:
        wrong.append("no question was asked")
    return {**known, **rates(written, asked, given), "stored": len(stored), "violations": wrong}


def all_facts(memory: Memory) -> Iterator[tuple[str, str]]:
    """Ids and texts of all facts, page by page."""
    before = None
    while page := memory.facts(limit=PAGE, before=before):
        yield from ((fact.id, fact.text) for fact in page)
        before = page[-1].id


def miscounts(memory: Memory, stored: Sequence[object], unaccounted: int, kill: bool) -> Iterator[str]:
    """Violations of the store's counters, and of the number of facts without acknowledgement."""
    size = memory.stats().size
    if size.facts != len(stored) or sum(size.scopes.values()) != len(stored):
        yield f"counted: {len(stored)} facts are listed, {size.facts} counted, by scope {dict(size.scopes)}"
    if unaccounted and not kill:
        yield f"unaccounted: nobody was told of {unaccounted} facts"


def rates(written: Sequence[Entry], asked: Sequence[float], given: Namespace) -> dict[str, Any]:
    """Operations a second of wall time, all processes together, and their durations."""
    done = [entry for entry in written if entry.done]
    alone = [entry.milliseconds for entry in done if entry.act == "remember" and len(entry.texts) == 1]
    return {
        "writers": given.writers,
        "readers": given.readers,
        "seconds": given.seconds,
        "writes_a_second": round(len(done) / given.seconds, 1),
        "facts_a_second": round(sum(len(entry.texts) for entry in done) / given.seconds, 1),
        "recalls_a_second": round(len(asked) / given.seconds, 1),
        "remember_one_ms": spread_of(alone),
        "recall_ms": spread_of(asked),
    }


def spread_of(milliseconds: Sequence[float]) -> dict[str, float]:
    """Median, 99th percentile and maximum of wall time."""
    if not milliseconds:
        return {}
    ordered = sorted(milliseconds)
    tail = ordered[int(0.99 * len(ordered))]
    return {"median": round(median(ordered), 2), "p99": round(tail, 2), "longest": round(ordered[-1], 2)}


def show(figures: dict[str, Any]) -> None:
    console = Console(width=max(100, Console().width))
    console.print(provenance.format_provenance(figures))
    table = Table("what", "figure", title="Many processes on one file", title_justify="left")
    for name in ("writers", "readers", "seconds", "killed", "writes_a_second", "facts_a_second", "recalls_a_second"):
        table.add_row(name.replace("_", " "), str(figures[name]))
    for name in ("remember_one_ms", "recall_ms"):
        spread = ", ".join(f"{label} {value}" for label, value in figures[name].items())
        table.add_row(name.replace("_ms", ", ms wall").replace("_", " "), spread)
    table.add_row("facts at the end", str(figures["stored"]))
    table.add_row("violations", str(len(figures["violations"])))
    console.print(table)
    for wrong in figures["violations"][:SHOWN]:
        console.print(wrong, markup=False)


if __name__ == "__main__":
    sys.exit(main())
