"""Small graphs for the tests of spreading: as a plain mapping, as arrays, and drawn by hypothesis."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from hypothesis import strategies as st

from cofire.algorithms.conductance import ConductanceEdges

Graph = Mapping[str, Mapping[str, float]]

CHAIN: Graph = {"A": {"B": 1.0}, "B": {"A": 1.0, "C": 1.0}, "C": {"B": 1.0}}
NAMES = "ABCDEFGHIJ"


def rows(graph: Graph) -> list[str]:
    """The names of a graph in order: a name's place is its row."""
    return sorted({*graph, *(target for targets in graph.values() for target in targets)})


def wired(graph: Graph, names: list[str], *, shared: bool = False) -> ConductanceEdges:
    """A graph as wires, its numbers divided among neighbours where they are `shared`."""
    ends = [(source, target) for source in sorted(graph) for target in sorted(graph[source])]
    among = [len(graph[source]) if shared else 1 for source, _ in ends]
    return ConductanceEdges(
        np.array([names.index(source) for source, _ in ends], np.int64),
        np.array([names.index(target) for _, target in ends], np.int64),
        np.array([graph[s][t] / n for (s, t), n in zip(ends, among, strict=True)], np.float64),
        np.arange(len(ends)),
    )


def placed(values: Mapping[str, float], names: list[str]) -> np.ndarray:
    return np.array([values.get(name, 0.0) for name in names])


HALVES = st.sampled_from([1 / 8, 1 / 4, 1 / 2, 1.0])
STRENGTHS = st.one_of(st.sampled_from([0.01, 0.25, 0.5, 0.5, 1.0]), st.floats(0.01, 1.0))


@st.composite
def graphs(draw: st.DrawFn, strengths: st.SearchStrategy[float] = STRENGTHS) -> Graph:
    """A graph of up to ten facts; an edge leads one way or both."""
    names = NAMES[: draw(st.integers(1, len(NAMES)))]
    ends = st.sampled_from(names)
    graph: dict[str, dict[str, float]] = {name: {} for name in names}
    for one, other, strength, both in draw(st.lists(st.tuples(ends, ends, strengths, st.booleans()), max_size=25)):
        if one != other:
            graph[one][other] = strength
            if both:
                graph[other][one] = strength
    return graph


@st.composite
def seeded(draw: st.DrawFn, strengths: st.SearchStrategy[float] = STRENGTHS) -> tuple[Graph, dict[str, float]]:
    """A graph, and where it is stirred."""
    graph = draw(graphs(strengths))
    return graph, draw(st.dictionaries(st.sampled_from(sorted(graph)), strengths, min_size=1, max_size=4))
