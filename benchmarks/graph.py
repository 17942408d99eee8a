"""Edges by kind on evaluation sets, whether gold facts are connected, and how dreaming scales.

python benchmarks/graph.py sets DATA_FOLDER… [--sets 2wiki hotpotqa locomo] [--cache FOLDER] [--out figures.json]
python benchmarks/graph.py dream [--facts 10000 100000] [--out figures.json]
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from json import dumps, loads
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.table import Table

if not __package__:  # run by its path
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.synthetic import SeededVectors, synthetic
from cofire import Memory
from cofire.cli.evaluation import progress_bars
from cofire.embedders.bundled import BundledEmbedder
from cofire.evaluation import provenance
from cofire.evaluation.datasets import EvaluationSet, find_sets, load_set
from cofire.evaluation.store_setup import CachingEmbedder, LoadOptions, default_cache_folder, open_loaded_memory

MANY = 10_000_000
MOST_LINKS = 1_000_000
HOPS = 2

Neighbours = Mapping[str, set[str]]


def main(arguments: Sequence[str] | None = None) -> int:
    given = read_arguments(arguments)
    figures = sets(given) if given.what == "sets" else dreams(given)
    if given.out:
        provenance.write_json(figures, given.out)
    return 0


def read_arguments(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(description="The graph that writes itself.")
    parts = parser.add_subparsers(dest="what", required=True)
    on_sets = parts.add_parser("sets", help="Edges and connectedness on evaluation sets.")
    on_sets.add_argument("folders", nargs="+", type=Path, metavar="DATA_FOLDER")
    on_sets.add_argument("--sets", nargs="+", metavar="NAME")
    on_sets.add_argument("--cache", type=Path, default=default_cache_folder())
    dreaming = parts.add_parser("dream", help="Time and memory of a dream as the store grows.")
    dreaming.add_argument("--facts", nargs="+", type=int, default=[10_000, 100_000])
    dreaming.add_argument("--one", type=Path, help="Build one store here and print its figures (used for each size).")
    for part in (on_sets, dreaming):
        part.add_argument("--out", type=Path)
    return parser.parse_args(arguments)


def sets(given: Namespace) -> dict[str, Any]:
    """Remember every set and dream: edges a fact by kind, and gold facts within two hops of each other."""
    figures: dict[str, Any] = {"sets": {}}
    manner = LoadOptions({}, dream=False, keep=None)
    with progress_bars() as watch:
        for folder in find_sets(given.folders):
            if given.sets and folder.name not in given.sets:
                continue
            chosen = load_set(folder, limit=None)
            with open_loaded_memory(
                chosen.name, [chosen], CachingEmbedder(BundledEmbedder(), given.cache), manner, watch
            ) as stock:
                figures = {**provenance.collect_provenance(stock.memory.settings()), **figures}
                figures["sets"][chosen.name] = measured(chosen, stock.memory, stock.fact_of[chosen.name])
    show_sets(figures["sets"])
    return figures


def measured(chosen: EvaluationSet, memory: Memory, fact_of: Mapping[str, str]) -> dict[str, Any]:
    begun = time.process_time()
    done = memory.dream()
    spent = time.process_time() - begun
    size = memory.stats().size
    edges = memory.edges(limit=MANY)
    stored = neighbours((edge.source, edge.target) for edge in edges)
    about, shared = through_names(memory, list(dict.fromkeys(fact_of.values())))
    golds = [[fact_of[row] for row in asked.gold] for asked in chosen.questions if len(asked.gold) > 1]
    return {
        "facts": size.facts,
        "dream_seconds": round(spent, 2),
        "communities": done.communities,
        "mentions_a_fact": round(size.mentions / max(1, size.facts), 2),
        "edges_a_fact": {kind: round(n / max(1, size.facts), 3) for kind, n in Counter(e.kind for e in edges).items()},
        "connected": {
            "stored edges": share_connected(golds, [stored]),
            "and shared rare names": share_connected(golds, [stored, shared]),
            "and mention to subject": share_connected(golds, [stored, shared, about]),
            "mention to subject alone": share_connected(golds, [about]),
        },
    }


def through_names(memory: Memory, ids: Sequence[str]) -> tuple[Neighbours, Neighbours]:
    """Pairs where one fact mentions the subject of the other, and pairs that share a rare name."""
    about, shared = list[tuple[str, str]](), list[tuple[str, str]]()
    for id in ids:
        for link in memory.neighbours(id, limit=MOST_LINKS):
            if link.origin == "names":
                (about if link.kind == "about" else shared).append((link.source, link.target))
    return neighbours(about), neighbours(shared)


def neighbours(pairs: Iterable[tuple[str, str]]) -> Neighbours:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for one, other in pairs:
        found[one].add(other)
        found[other].add(one)
    return found


def share_connected(golds: Sequence[Sequence[str]], graphs: Sequence[Neighbours]) -> float:
    """The share of questions, in percent, where each gold fact has another one within two hops."""
    if not golds:
        return 0.0
    return round(100 * sum(is_connected(gold, graphs) for gold in golds) / len(golds), 1)


def is_connected(gold: Sequence[str], graphs: Sequence[Neighbours]) -> bool:
    wanted = set(gold)
    return len(wanted) == 1 or all(reached(id, graphs) & (wanted - {id}) for id in wanted)


def reached(id: str, graphs: Sequence[Neighbours]) -> set[str]:
    found = {id}
    for _ in range(HOPS):
        found = found.union(*(graph.get(one, set()) for one in found for graph in graphs))
    return found


def dreams(given: Namespace) -> dict[str, Any]:
    """Dream over stores of growing size, each in its own process."""
    if given.one:
        return one_dream(given.one, given.facts[0])
    figures: dict[str, Any] = {"dreams": []}
    for facts in given.facts:
        with TemporaryDirectory() as folder:
            command = [
                sys.executable,
                __file__,
                "dream",
                "--facts",
                str(facts),
                "--one",
                str(Path(folder) / "dream.db"),
            ]
            ended = subprocess.run(command, capture_output=True, text=True, check=True)
            figures["dreams"].append(loads(ended.stdout.strip().splitlines()[-1]))
    show_dreams(figures["dreams"])
    return figures


def one_dream(store: Path, facts: int) -> dict[str, Any]:
    made = synthetic(facts, 10, seed=1)
    embedder = SeededVectors(BundledEmbedder())
    with Memory(store, embedder=embedder) as memory:
        begun = time.process_time()
        memory.remember(made.facts)
        remembered_in = time.process_time() - begun - embedder.spent
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begun = time.process_time()
        done = memory.dream()
        spent = time.process_time() - begun
        size = memory.stats().size
    figures = {
        "facts": facts,
        "edges": size.edges,
        "mentions": size.mentions,
        "communities": done.communities,
        "remember_facts_a_second": round(facts / remembered_in),
        "dream_cpu_seconds": round(spent, 1),
        "peak_megabytes_before": before // 1024,
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    print(dumps(figures))
    return figures


def show_sets(figures: Mapping[str, Any]) -> None:
    table = Table("set", "facts", "mentions", "edges a fact by kind", "connected within two hops, %", title="The graph")
    for name, one in figures.items():
        kinds = ", ".join(f"{kind} {n:.2f}" for kind, n in sorted(one["edges_a_fact"].items()))
        reach = ", ".join(f"{way} {share}" for way, share in one["connected"].items())
        table.add_row(name, f"{one['facts']:,}", f"{one['mentions_a_fact']}", kinds, reach)
    Console().print(table)


def show_dreams(figures: Sequence[Mapping[str, Any]]) -> None:
    table = Table(
        "facts", "edges", "mentions", "remember, facts/s", "dream, CPU s", "peak MB", "growth", title="Dreams"
    )
    for before, one in zip([None, *figures], figures, strict=False):
        growth = f"{one['dream_cpu_seconds'] / before['dream_cpu_seconds']:.1f}×" if before else ""
        cells = (one["facts"], one["edges"], one["mentions"], one["remember_facts_a_second"])
        table.add_row(
            *(f"{cell:,}" for cell in cells), f"{one['dream_cpu_seconds']}", f"{one['peak_megabytes']:,}", growth
        )
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())
