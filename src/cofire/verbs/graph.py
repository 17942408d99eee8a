"""Graph: the memory as a picture. All facts with their edges, the surroundings of some, or communities where there are too many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from cofire.asks import Asking, Now, Read, Scan, Size
from cofire.errors import InvalidQuestion
from cofire.graph_asks import Edges, Expand, Rated, TheNetwork
from cofire.metadata_filter import Condition, conditions
from cofire.model import Edge, Fact, Importance, Where
from cofire.pictures import Cluster, Line, Node, Picture
from cofire.stores.base import Conducting, EdgeFilter, Expansion, Network, StoreSize
from cofire.verbs import accepting
from cofire.verbs.asking import Names
from cofire.verbs.communities import Community, communities
from cofire.verbs.listing import checked_ids, facts_by_id

MANY = 1_000_000
# More lines than these nobody can tell apart; the strongest are drawn.
MOST_LINES = 30_000
MOST_CLUSTERS = 100
BRANCHES = 25
ABOUT, BETWEEN = "about", "between"


@dataclass(frozen=True, slots=True)
class Frame:
    """What of the graph is drawn: scopes and kinds (all by default), one community, facts by metadata, and the maximum of facts."""

    scope: Names
    kind: Names
    limit: int
    depth: int
    community: int | None
    where: Mapping[str, object] | None = None

    @property
    def metadata(self) -> tuple[Condition, ...]:
        return conditions(self.where)

    @property
    def scopes(self) -> tuple[str, ...] | None:
        return accepting.scopes(self.scope, InvalidQuestion)

    @property
    def kinds(self) -> frozenset[str]:
        return accepting.names(self.kind, "kind", InvalidQuestion)


def graph(ids: str | Iterable[str] | None, frame: Frame) -> Asking[Picture]:
    """Everything, or with ids what lies around them."""
    accepting.count(frame.limit, "limit", low=1, high=MANY)
    accepting.count(frame.depth, "depth", low=1, high=10)
    accepting.count(0 if frame.community is None else frame.community, "community", low=0, high=2**62)
    if ids is not None:
        return (yield from _around(checked_ids(ids), frame))
    size: StoreSize = yield Size()
    asked = frame.scopes
    scopes = {name: facts for name, facts in size.scopes.items() if asked is None or name in asked}
    if sum(scopes.values()) > frame.limit and frame.community is None and not frame.metadata:
        return (yield from _clustered(scopes))
    return (yield from _whole(list(scopes), frame))


def _whole(scopes: Sequence[str], frame: Frame) -> Asking[Picture]:
    """Every fact, or every one of a community or with some metadata."""
    facts, kinds = (yield from _all_facts(scopes, frame)), frame.kinds
    selected = frame.community is not None or bool(frame.metadata)
    inside = frozenset(fact.id for fact in facts) if selected else None
    stored: list[Edge] = yield Edges(EdgeFilter(scopes=frame.scopes, ids=inside), MANY)
    lines = [_line(edge) for edge in stored if not kinds or edge.kind in kinds]
    if not kinds or ABOUT in kinds:
        for scope in scopes:
            network: Network = yield TheNetwork(scope)
            lines += through_names(network, stored)
    return (yield from _picture(facts, lines, len(facts)))


def _all_facts(scopes: Sequence[str], frame: Frame) -> Asking[list[Fact]]:
    """The archived and outdated ones too: a picture may show them in another colour."""
    if not scopes:
        return []
    now: datetime = yield Now()
    where = Where(now, tuple(scopes), metadata=frame.metadata, archived=True, whenever=True, community=frame.community)
    found: list[Fact] = yield Scan(where, frame.limit)
    return found


def through_names(network: Network, stored: Sequence[Edge]) -> list[Line]:
    """What joins facts in a network without a stored edge between them, each pair once, with the strongest of its weights."""
    count = max(1, len(network.ids))
    joined = _pairs(network.source, network.target, count)
    fresh = (network.source != network.target) & ~np.isin(joined, _stored_pairs(network, stored))
    pairs, place = np.unique(joined[fresh], return_inverse=True)
    weights = np.zeros(len(pairs))
    np.maximum.at(weights, place, network.weight[fresh])
    rows = zip(*(part.tolist() for part in (*np.divmod(pairs, count), weights)), strict=True)
    return [Line(network.ids[a], network.ids[b], ABOUT, round(weight, 6)) for a, b, weight in rows]


def _pairs(one: NDArray[np.int64], other: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Two rows as one number, whichever comes first."""
    return np.minimum(one, other) * count + np.maximum(one, other)


def _stored_pairs(network: Network, stored: Sequence[Edge]) -> NDArray[np.int64]:
    row = {id: at for at, id in enumerate(network.ids)}
    source, target = (
        np.fromiter((row.get(id, -1) for id in ends), np.int64, len(stored))
        for ends in ((edge.source for edge in stored), (edge.target for edge in stored))
    )
    known = (source >= 0) & (target >= 0)
    return _pairs(source[known], target[known], max(1, len(row)))


def _around(ids: list[str], frame: Frame) -> Asking[Picture]:
    """Outward from some facts, step by step, along the strongest links of each."""
    yield from facts_by_id(ids)
    now: datetime = yield Now()
    allowed = Where(now, frame.scopes, metadata=frame.metadata, whenever=True)
    conducting = Conducting(allowed, frame.kinds or None, 0.0, BRANCHES)
    reached, frontier, led = dict.fromkeys(ids), ids, list[Line]()
    for _ in range(frame.depth):
        found: Expansion = yield Expand(frontier, conducting)
        led += _links(found)
        frontier = [id for id in found.ids if id not in reached][: max(0, frame.limit - len(reached))]
        reached |= dict.fromkeys(frontier)
        if not frontier:
            break
    stored: list[Edge] = yield Edges(EdgeFilter(kinds=frame.kinds, ids=frozenset(reached)), MANY)
    read: list[Fact | None] = yield Read(list(reached))
    return (yield from _picture([fact for fact in read if fact], _merged(map(_line, stored), led), len(reached)))


def _links(found: Expansion) -> list[Line]:
    ids = tuple(found.ids)
    ends = zip(found.source.tolist(), found.target.tolist(), found.kind, found.weight.tolist(), strict=True)
    return [
        Line(ids[source], ids[target], kind, None if np.isnan(weight) else weight)
        for source, target, kind, weight in ends
    ]


def _merged(stored: Iterable[Line], led: Iterable[Line]) -> list[Line]:
    """Each link once: as it is stored or, through a name, as it was first met."""
    seen: dict[tuple[frozenset[str], str], Line] = {}
    for line in (*stored, *led):
        seen.setdefault((frozenset((line.source, line.target)), line.kind), line)
    return list(seen.values())


def _picture(facts: Sequence[Fact], lines: Iterable[Line], total: int) -> Asking[Picture]:
    """Nodes and the strongest lines that have both ends among them."""
    shown = {fact.id for fact in facts}
    inside = [line for line in lines if line.source in shown and line.target in shown]
    drawn = sorted(inside, key=lambda line: -(line.weight or 0.0))[:MOST_LINES]
    degrees = Counter(line.source for line in drawn) + Counter(line.target for line in drawn)
    rated: Mapping[str, Importance] = yield Rated(sorted(shown))
    nodes = tuple(Node(fact, rated.get(fact.id), degrees[fact.id]) for fact in facts)
    return Picture(nodes, tuple(drawn), (), total)


def _clustered(scopes: Mapping[str, int]) -> Asking[Picture]:
    """Communities instead of facts. The archived ones, which no network has, are counted among those of no community."""
    named: list[Community] = yield from communities(tuple(scopes), MOST_CLUSTERS)
    clusters, lines = list[Cluster](), list[Line]()
    for scope, facts in scopes.items():
        inside = [one for one in named if one.scope == scope]
        network: Network = yield TheNetwork(scope)
        rated: Mapping[str, Importance] = yield Rated(network.ids)
        places = _places(network, rated, inside)
        own = _clusters(scope, inside, places, max(0, facts - len(network.ids)))
        clusters += [cluster for cluster in own if cluster.size]
        lines += between(network, places, [cluster.id for cluster in own])
    return Picture((), tuple(lines), tuple(clusters), sum(cluster.size for cluster in clusters))


def _places(network: Network, rated: Mapping[str, Importance], named: Sequence[Community]) -> NDArray[np.int64]:
    """For each fact the row of its cluster; those of no community shown share the last."""
    row = {one.number: at for at, one in enumerate(named)}
    last = len(named)
    return np.array([row.get(rated[id].community, last) if id in rated else last for id in network.ids], np.int64)


def _clusters(scope: str, named: Sequence[Community], places: NDArray[np.int64], archived: int) -> list[Cluster]:
    sizes = np.bincount(places, minlength=len(named) + 1).tolist()
    shown = [Cluster(scope, one.number, one.name, size) for one, size in zip(named, sizes, strict=False)]
    return [*shown, Cluster(scope, None, "", sizes[-1] + archived)]


def between(network: Network, places: NDArray[np.int64], names: Sequence[str]) -> list[Line]:
    """The weights of all links between two clusters, summed."""
    ends = np.sort(np.stack([places[network.source], places[network.target]]), axis=0)
    apart = ends[0] != ends[1]
    pairs, place = np.unique(ends[0][apart] * len(names) + ends[1][apart], return_inverse=True)
    sums = np.bincount(place, weights=network.weight[apart], minlength=len(pairs))
    rows = zip(*(part.tolist() for part in (*np.divmod(pairs, len(names)), sums)), strict=True)
    return [Line(names[a], names[b], BETWEEN, round(weight, 6)) for a, b, weight in rows]


def _line(edge: Edge) -> Line:
    return Line(edge.source, edge.target, edge.kind, edge.weight)
