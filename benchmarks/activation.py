"""Measure the cost of following stored edges, by each dynamics, on graphs of growing size and from a hub.

    python benchmarks/activation.py [--edges 10000 100000 1000000] [--hub 40000] [--rounds 200] [--out figures.json]

A graph has a tenth as many facts as edges. CPU times are of one thread of this process, medians over random seeds. The first read
of the seeds, which a recall has done by then, is not included.
"""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

if not __package__:  # run by its path
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.speed import Figure, of_rounds, shown, yardstick
from cofire.activation_paths import SpreadResult
from cofire.algorithms import diffusion, energy, synapse
from cofire.evaluation import provenance
from cofire.model import Change, Edge, EdgeWrite, Fact, FactFilter, FactWrite, NameMention, SubjectName
from cofire.recall import spreading
from cofire.runtime.effects import Steps
from cofire.settings.table import (
    ACTIVATION_MOST_LINKS,
    DIFFUSION_DAMPING,
    DIFFUSION_DECAY,
    DIFFUSION_ITERATIONS,
    ENERGY_BRANCHES,
    ENERGY_MAX_DEPTH,
    ENERGY_MIN_ACTIVATION,
    ENERGY_TAG_FLOOR,
    GRAPH_RECALL_CONFIDENCE_FLOOR,
    GRAPH_RECALL_EXPANDED,
    SPREADING_ACTIVATION_DELTA,
    SPREADING_ACTIVATION_MAX_ITERATIONS,
    SPREADING_ACTIVATION_SPREADING_FACTOR,
    SPREADING_ACTIVATION_TAU_GATE,
    SPREADING_ACTIVATION_THETA,
    SPREADING_ACTIVATION_TOP_M,
    SYNAPSE_INHIBITION,
    SYNAPSE_SLOPE,
    Settings,
)
from cofire.stores.base import ExpansionOptions
from cofire.stores.sqlite.connections import SqliteOptions
from cofire.stores.sqlite.store import SqliteStore

SEED = 7
SEEDED = 7
FACTS_AT_ONCE = 5_000
EDGES_A_FACT = 10
HOPS = 2
NOW = datetime(2026, 1, 1, tzinfo=UTC)
OPTIONS = SqliteOptions(5.0, "normal", "signs")
Verb = Callable[[Mapping[str, float], ExpansionOptions], Steps[SpreadResult]]


def main(arguments: Sequence[str] | None = None) -> int:
    given = read_arguments(arguments)
    settings = Settings.layered()
    known = provenance.collect_provenance(settings)
    graphs = {f"{edges:,} edges": list(on_graph(edges, given.rounds, settings)) for edges in given.edges}
    graphs[f"a hub of {given.hub:,}"] = list(from_hub(given.hub, given.rounds, settings))
    show(known, graphs)
    if given.out:
        figures = {name: [asdict(figure) for figure in found] for name, found in graphs.items()}
        provenance.write_json({**known, "graphs": figures}, given.out)
    return 0


def read_arguments(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(description="What activation costs.")
    parser.add_argument("--edges", nargs="+", type=int, default=[10_000, 100_000, 1_000_000], metavar="N")
    parser.add_argument("--hub", type=int, default=40_000, metavar="N", help="How many neighbours the hub has.")
    parser.add_argument("--rounds", type=int, default=200, metavar="N", help="How often each is measured.")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="Where to write all figures.")
    return parser.parse_args(arguments)


def on_graph(edges: int, rounds: int, settings: Settings) -> Iterator[Figure]:
    """From a few facts of a random graph."""
    chance = np.random.default_rng(SEED)
    facts = max(SEEDED + 1, edges // EDGES_A_FACT)
    with TemporaryDirectory() as folder:
        ids = written(folder, facts, chance.integers(0, facts, (edges, 2)), chance)
        yield from looked_at(
            folder, [chance.choice(ids, SEEDED, replace=False).tolist() for _ in range(rounds)], settings
        )


def from_hub(degree: int, rounds: int, settings: Settings) -> Iterator[Figure]:
    """From a fact with many neighbours."""
    chance = np.random.default_rng(SEED)
    spokes = np.stack([np.zeros(degree, np.int64), np.arange(1, degree + 1)], axis=1)
    with TemporaryDirectory() as folder:
        ids = written(folder, degree + 1, spokes, chance)
        yield from looked_at(folder, [[ids[0]]] * rounds, settings)


def written(folder: str, facts: int, pairs: Any, chance: np.random.Generator) -> list[str]:
    """Create a store with these edges between facts with names, and a snapshot. Returns the ids of its facts."""
    ids = [f"{number:026}" for number in range(facts)]
    store = SqliteStore.open(f"{folder}/graph.db", OPTIONS)
    for start in range(0, facts, FACTS_AT_ONCE):
        some = range(start, min(facts, start + FACTS_AT_ONCE))
        store.write(Change(now=NOW, facts=tuple(fact(ids[number], number, facts, chance) for number in some)), {})
    said = chance.random((len(pairs), 2)).round(3)
    edges = [
        EdgeWrite(Edge(ids[a], ids[b], "similar", float(weight), float(sure)), "skip")
        for (a, b), (weight, sure) in zip(pairs.tolist(), said, strict=True)
        if a != b
    ]
    for start in range(0, len(edges), 10 * FACTS_AT_ONCE):
        store.write(Change(now=NOW, edges=tuple(edges[start : start + 10 * FACTS_AT_ONCE])), {})
    store.write(Change(now=NOW, recount=("default",)), {})
    store.close()
    return ids


def fact(id: str, number: int, facts: int, chance: np.random.Generator) -> FactWrite:
    """A fact about one name that mentions two others; about nine facts contain each name."""
    about, *mentioned = (f"name {name}" for name in chance.integers(0, max(1, facts // 3), 3).tolist())
    said = tuple(NameMention(name, (0,), 1.0) for name in dict.fromkeys(mentioned))
    counts = {"fact": 1, str(number): 1}
    return FactWrite(Fact(f"fact {number}", id=id, stored_at=NOW), counts, None, said, (SubjectName(about, 1.0),))


def looked_at(folder: str, seeds: Sequence[list[str]], settings: Settings) -> Iterator[Figure]:
    store = SqliteStore.open(f"{folder}/graph.db", OPTIONS)
    conducting = ExpansionOptions(FactFilter(now=NOW), None, 0.0, settings[ACTIVATION_MOST_LINKS], names=False)
    through_names = replace(conducting, names=True)
    yield of_rounds("yardstick: a fixed piece of work", "ms CPU", [yardstick() for _ in range(20)])
    yield of_rounds(
        "reading facts, once a process", "ms CPU", [cpu_ms(partial(store.filter_visible, ["x"], conducting.where))]
    )
    yield of_rounds("reading edges, once a process", "ms CPU", [cpu_ms(partial(store.expand_links, [], conducting))])
    yield timed("expand nothing", lambda _: store.expand_links([], conducting), seeds)
    yield timed("expand, stored edges", lambda some: store.expand_links(some, conducting), seeds, aim="≤ 0.1")
    yield timed("expand, and through names", lambda some: store.expand_links(some, through_names), seeds)
    yield timed(
        "expand after one edge more", lambda some: store.expand_links(some, conducting), seeds, partial(one_more, store)
    )
    for name, verb in dynamics(settings).items():
        yield timed(name, partial(spread_from, verb, conducting, store), seeds)
    store.close()


def dynamics(settings: Settings) -> dict[str, Verb]:
    """The dynamics with their default settings, as in a recall."""
    page = synapse.SynapseRule(
        settings[SPREADING_ACTIVATION_DELTA],
        settings[SPREADING_ACTIVATION_SPREADING_FACTOR],
        settings[SPREADING_ACTIVATION_THETA],
        1.0,
        settings[SPREADING_ACTIVATION_TOP_M],
        None,
    )
    paper = replace(page, slope=settings[SYNAPSE_SLOPE], inhibition=settings[SYNAPSE_INHIBITION])
    spread = partial(
        spreading.spread_synapse,
        rounds=settings[SPREADING_ACTIVATION_MAX_ITERATIONS],
        tau=settings[SPREADING_ACTIVATION_TAU_GATE],
    )
    flow = diffusion.DiffusionRule(
        settings[DIFFUSION_DECAY],
        HOPS,
        settings[GRAPH_RECALL_EXPANDED],
        settings[DIFFUSION_DAMPING],
        settings[DIFFUSION_ITERATIONS],
    )
    paths = energy.EnergyRule(settings[ENERGY_MAX_DEPTH], settings[ENERGY_MIN_ACTIVATION], settings[ENERGY_BRANCHES])
    floor = settings[GRAPH_RECALL_CONFIDENCE_FLOOR]
    return {
        "synapse.documented": lambda seeds, how: spread(seeds, how, page),
        "synapse.paper": lambda seeds, how: spread(seeds, how, paper),
        "diffusion": lambda seeds, how: spreading.spread_diffusion(seeds, replace(how, floor=floor), flow),
        "energy": lambda seeds, how: spreading.spread_energy(
            seeds, how, paths, tags=frozenset(), tag_floor=settings[ENERGY_TAG_FLOOR]
        ),
    }


def spread_from(verb: Verb, conducting: ExpansionOptions, store: SqliteStore, some: list[str]) -> SpreadResult:
    return driven(verb(dict.fromkeys(some, 1.0), conducting), store)


def driven(verb: Steps[SpreadResult], store: SqliteStore) -> SpreadResult:
    """Run a verb that only reads links, on a store."""
    try:
        ask: Any = next(verb)
        while True:
            ask = verb.send(store.expand_links(*ask.arguments))
    except StopIteration as done:
        found: SpreadResult = done.value
        return found


def one_more(store: SqliteStore, some: list[str]) -> None:
    edge = Edge(some[0], f"{int(some[-1]) // 2 + 1:026}", "supports", 0.5, 0.5)
    store.write(Change(now=NOW, edges=(EdgeWrite(edge),)), {})


def timed(
    name: str,
    act: Callable[[list[str]], object],
    seeds: Sequence[list[str]],
    before: Callable[[list[str]], object] | None = None,
    aim: str = "",
) -> Figure:
    """The time of the second of two equal reads, with an action in between."""
    rounds = []
    for some in seeds:
        act(some)
        if before is not None:
            before(some)
        rounds.append(cpu_ms(partial(act, some)))
    return of_rounds(name, "ms CPU", rounds, aim=aim)


def cpu_ms(act: Callable[[], object]) -> float:
    begun = time.thread_time()
    act()
    return 1000 * (time.thread_time() - begun)


def show(known: dict[str, Any], graphs: Mapping[str, Sequence[Figure]]) -> None:
    console = Console(width=max(100, Console().width))
    console.print(provenance.format_provenance(known))
    table = Table(title="ms CPU, medians and least", title_justify="left")
    table.add_column("what")
    for name in graphs:
        table.add_column(name, justify="right")
    for row in zip(*graphs.values(), strict=True):
        table.add_row(row[0].name, *(f"{shown(one.value)} ({shown(one.least)})" for one in row))
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
