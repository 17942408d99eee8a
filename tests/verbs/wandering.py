"""A graph answered by hand: what `"expand_links"` would be told of it, for tests of spreading."""

from __future__ import annotations

from typing import Any

import numpy as np

from cofire.activation_paths import ActivationHop, SpreadResult, hop_json, step_json
from cofire.model import FactFilter
from cofire.stores.base import ExpansionOptions, LinkExpansion
from tests.algorithms.wiring import Graph
from tests.conftest import START
from tests.verbs.answering import Answers, answers_from

EVERYWHERE = ExpansionOptions(FactFilter(now=START), kinds=None, floor=0.0, most=1_000)


def expansion(graph: Graph, ask: Any) -> LinkExpansion:
    """The links that leave the facts asked for, each of kind similar and fully trusted."""
    links = [(source, target) for source in ask.ids for target in graph.get(source, {})]
    ids = tuple(dict.fromkeys([*ask.ids, *(target for _, target in links)]))
    return LinkExpansion(
        ids=ids,
        source=np.array([ids.index(source) for source, _ in links], np.int64),
        target=np.array([ids.index(target) for _, target in links], np.int64),
        kind=tuple("similar" for _ in links),
        weight=np.array([graph[source][target] for source, target in links], np.float64),
        confidence=np.full(len(links), np.nan),
        tags=tuple(frozenset() for _ in links),
        via=tuple(None for _ in links),
        degree=np.array([len(graph.get(id, {})) for id in ask.ids], np.int64),
    )


def knowing(graph: Graph) -> Answers:
    return answers_from({"expand_links": lambda ask: expansion(graph, ask)})


def shared(graph: Graph, power: float) -> dict[str, dict[str, float]]:
    """Weights divided by a power of the degree, as the plain references want conductances."""
    return {
        source: {target: weight / len(targets) ** power for target, weight in targets.items()}
        for source, targets in graph.items()
    }


def path_to(spread: SpreadResult, id: str) -> tuple[ActivationHop, ...]:
    """The links from a seed to a fact, in order; none for a seed itself, or for what was not reached."""
    path: list[ActivationHop] = []
    while id in spread.hops:
        path.append(spread.hops[id])
        id = path[-1].source
    return tuple(reversed(path))


def spread_json(spread: SpreadResult) -> dict[str, Any]:
    """A spread as plain values."""
    return {
        "activation": dict(spread.activation),
        "rounds": [{"round": one.number, "facts": [step_json(step) for step in one.steps]} for one in spread.rounds],
        "hops": {id: hop_json(hop) for id, hop in spread.hops.items()},
    }
