"""The graph as a picture, and its communities with names."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from cofire.errors import InvalidQuestion
from cofire.ingest.markdown_text import markdown_to_text
from cofire.model import Edge, Fact, FactFilter, FactImportance
from cofire.recall.request import NamesInput
from cofire.results import Picture, PictureCluster, PictureEdge, PictureNode
from cofire.runtime.effects import ReadClock, Steps
from cofire.runtime.store_proxy import store
from cofire.stores.base import EdgeFilter, ExpansionOptions, LinkExpansion, ScopeGraph
from cofire.stores.metadata_filter import Condition, parse_conditions
from cofire.text.base import run_reading_rule
from cofire.text.categories import extract_key_phrases
from cofire.verbs import validation
from cofire.verbs.listing import check_ids, read_facts

# Facts of a community that its name is taken from, and how many of them are shown.
FACTS_PER_COMMUNITY, SHOWN_FACTS = 50, 3
PHRASES_PER_NAME = 3

_OUTER_MARKS = "`*_~=:|!<>[](){}\"'"
_INNER_MARK = re.compile(r"[`*|<>\[\](){}\"\\]|::|:/|^www\.|\.\./|__")


@dataclass(frozen=True, slots=True)
class CommunitySummary:
    """Facts that hang together: its number, with which recall can be asked for it alone, its name and its most central facts."""

    scope: str
    number: int
    size: int
    name: str
    facts: tuple[Fact, ...]


def list_communities(scope: NamesInput, limit: int) -> Steps[list[CommunitySummary]]:
    """The communities of some scopes, or of all, the largest first."""
    scopes = validation.parse_scopes(scope, InvalidQuestion)
    wanted = validation.check_count(limit, "limit", low=1, high=1_000_000)
    groups = yield from store.list_communities(scopes, wanted, FACTS_PER_COMMUNITY)
    read = yield from store.read_facts([id for group in groups for id in group.ids])
    facts = {fact.id: fact for fact in read if fact is not None}
    members = [[facts[id] for id in group.ids if id in facts] for group in groups]
    names = choose_group_names([[extract_phrases(fact) for fact in inside] for inside in members])
    return [
        CommunitySummary(group.scope, group.number, group.size, name, tuple(inside[:SHOWN_FACTS]))
        for group, inside, name in zip(groups, members, names, strict=True)
    ]


def extract_phrases(fact: Fact) -> frozenset[str]:
    """The telling phrases of a fact, and what it is about, in plain words: a text that was remembered may hold marks of Markdown.

    >>> sorted(extract_phrases(Fact("See the [tea guides](../guides/index.md) of **Kyoto**.", subject="`Tea`")))
    ['kyoto', 'tea', 'tea guides']
    """
    found = run_reading_rule("phrases", lambda: extract_key_phrases([markdown_to_text(fact.text)]), ())
    subject = markdown_to_text(fact.subject or "").casefold()
    return frozenset(name for phrase in (*found, subject) if (name := _strip_marks(phrase)))


def _strip_marks(phrase: str) -> str:
    """A phrase without the marks around its words; nothing where one of them has marks inside.

    >>> (
    ...     _strip_marks("`pot`"),
    ...     _strip_marks("_facets:"),
    ...     _strip_marks("guides](../guides"),
    ...     _strip_marks("c++ node.js"),
    ... )
    ('pot', 'facets', '', 'c++ node.js')
    """
    words = [word.strip(_OUTER_MARKS) for word in phrase.split()]
    return "" if any(_INNER_MARK.search(word) for word in words) else " ".join(word for word in words if word)


def choose_group_names(groups: Sequence[Sequence[frozenset[str]]]) -> list[str]:
    """A name for each group: the phrases that most of its facts say and few other groups do, tf · ln(1 + groups / groups that say it).

    >>> tea, pot = frozenset({"green tea", "kitchen"}), frozenset({"tea pot", "kitchen"})
    >>> choose_group_names([[tea, tea], [pot]])
    ['green tea, kitchen', 'tea pot, kitchen']
    """
    counts = [Counter(phrase for fact in group for phrase in fact) for group in groups]
    holding = Counter(phrase for count in counts for phrase in count)
    return [", ".join(_choose_phrases(count, holding, len(groups))) for count in counts]


def _choose_phrases(count: Counter[str], holding: Counter[str], groups: int) -> list[str]:
    worth = {phrase: times * math.log(1 + groups / holding[phrase]) for phrase, times in count.items()}
    chosen: list[str] = []
    for phrase in sorted(worth, key=lambda one: (-worth[one], one)):
        if len(chosen) < PHRASES_PER_NAME and not any(phrase in one or one in phrase for one in chosen):
            chosen.append(phrase)
    return chosen


MAX_ITEMS = 1_000_000
# More lines than these nobody can tell apart; the strongest are drawn.
MAX_LINES = 30_000
MAX_CLUSTERS = 100
LINKS_PER_FACT = 25
ABOUT_KIND, BETWEEN_KIND = "about", "between"


@dataclass(frozen=True, slots=True)
class GraphRequest:
    """What of the graph is drawn: scopes and kinds (all by default), one community, facts by metadata, and the maximum of facts."""

    scope: NamesInput
    kind: NamesInput
    limit: int
    depth: int
    community: int | None
    where: Mapping[str, object] | None = None

    @property
    def metadata(self) -> tuple[Condition, ...]:
        return parse_conditions(self.where)

    @property
    def scopes(self) -> tuple[str, ...] | None:
        return validation.parse_scopes(self.scope, InvalidQuestion)

    @property
    def kinds(self) -> frozenset[str]:
        return validation.parse_names(self.kind, "kind", InvalidQuestion)


def draw_graph(ids: str | Iterable[str] | None, frame: GraphRequest) -> Steps[Picture]:
    """Everything, or with ids what lies around them."""
    validation.check_count(frame.limit, "limit", low=1, high=MAX_ITEMS)
    validation.check_count(frame.depth, "depth", low=1, high=10)
    validation.check_count(0 if frame.community is None else frame.community, "community", low=0, high=2**62)
    if ids is not None:
        return (yield from _draw_surroundings(check_ids(ids), frame))
    size = yield from store.read_size()
    asked = frame.scopes
    scopes = {name: facts for name, facts in size.scopes.items() if asked is None or name in asked}
    if sum(scopes.values()) > frame.limit and frame.community is None and not frame.metadata:
        return (yield from _draw_clusters(scopes))
    return (yield from _draw_scopes(list(scopes), frame))


def _draw_scopes(scopes: Sequence[str], frame: GraphRequest) -> Steps[Picture]:
    """Every fact, or every one of a community or with some metadata."""
    facts, kinds = (yield from _scan_facts(scopes, frame)), frame.kinds
    selected = frame.community is not None or bool(frame.metadata)
    inside = frozenset(fact.id for fact in facts) if selected else None
    stored = yield from store.list_edges(EdgeFilter(scopes=frame.scopes, ids=inside), MAX_ITEMS)
    lines = [_make_line(edge) for edge in stored if not kinds or edge.kind in kinds]
    if not kinds or ABOUT_KIND in kinds:
        for scope in scopes:
            network = yield from store.fetch_scope_graph(scope)
            lines += find_name_lines(network, stored)
    return (yield from _make_picture(facts, lines, len(facts)))


def _scan_facts(scopes: Sequence[str], frame: GraphRequest) -> Steps[list[Fact]]:
    """The archived and outdated ones too: a picture may show them in another colour."""
    if not scopes:
        return []
    now: datetime = yield ReadClock()
    where = FactFilter(
        now, tuple(scopes), metadata=frame.metadata, archived=True, whenever=True, community=frame.community
    )
    found = yield from store.list_facts(where, frame.limit)
    return found


def find_name_lines(network: ScopeGraph, stored: Sequence[Edge]) -> list[PictureEdge]:
    """What joins facts in a network without a stored edge between them, each pair once, with the strongest of its weights."""
    count = max(1, len(network.ids))
    joined = _encode_pairs(network.source, network.target, count)
    fresh = (network.source != network.target) & ~np.isin(joined, _encode_stored_pairs(network, stored))
    pairs, place = np.unique(joined[fresh], return_inverse=True)
    weights = np.zeros(len(pairs))
    np.maximum.at(weights, place, network.weight[fresh])
    rows = zip(*(part.tolist() for part in (*np.divmod(pairs, count), weights)), strict=True)
    return [PictureEdge(network.ids[a], network.ids[b], ABOUT_KIND, round(weight, 6)) for a, b, weight in rows]


def _encode_pairs(one: NDArray[np.int64], other: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Two rows as one number, whichever comes first."""
    return np.minimum(one, other) * count + np.maximum(one, other)


def _encode_stored_pairs(network: ScopeGraph, stored: Sequence[Edge]) -> NDArray[np.int64]:
    row = {id: at for at, id in enumerate(network.ids)}
    source, target = (
        np.fromiter((row.get(id, -1) for id in ends), np.int64, len(stored))
        for ends in ((edge.source for edge in stored), (edge.target for edge in stored))
    )
    known = (source >= 0) & (target >= 0)
    return _encode_pairs(source[known], target[known], max(1, len(row)))


def _draw_surroundings(ids: list[str], frame: GraphRequest) -> Steps[Picture]:
    """Outward from some facts, step by step, along the strongest links of each."""
    yield from read_facts(ids)
    now: datetime = yield ReadClock()
    allowed = FactFilter(now, frame.scopes, metadata=frame.metadata, whenever=True)
    conducting = ExpansionOptions(allowed, frame.kinds or None, 0.0, LINKS_PER_FACT)
    reached, frontier, led = dict.fromkeys(ids), ids, list[PictureEdge]()
    for _ in range(frame.depth):
        found = yield from store.expand_links(frontier, conducting)
        led += _make_expansion_lines(found)
        frontier = [id for id in found.ids if id not in reached][: max(0, frame.limit - len(reached))]
        reached |= dict.fromkeys(frontier)
        if not frontier:
            break
    stored = yield from store.list_edges(EdgeFilter(kinds=frame.kinds, ids=frozenset(reached)), MAX_ITEMS)
    read = yield from store.read_facts(list(reached))
    return (
        yield from _make_picture(
            [fact for fact in read if fact], _merge_lines(map(_make_line, stored), led), len(reached)
        )
    )


def _make_expansion_lines(found: LinkExpansion) -> list[PictureEdge]:
    ids = tuple(found.ids)
    ends = zip(found.source.tolist(), found.target.tolist(), found.kind, found.weight.tolist(), strict=True)
    return [
        PictureEdge(ids[source], ids[target], kind, None if np.isnan(weight) else weight)
        for source, target, kind, weight in ends
    ]


def _merge_lines(stored: Iterable[PictureEdge], led: Iterable[PictureEdge]) -> list[PictureEdge]:
    """Each link once: as it is stored or, through a name, as it was first met."""
    seen: dict[tuple[frozenset[str], str], PictureEdge] = {}
    for line in (*stored, *led):
        seen.setdefault((frozenset((line.source, line.target)), line.kind), line)
    return list(seen.values())


def _make_picture(facts: Sequence[Fact], lines: Iterable[PictureEdge], total: int) -> Steps[Picture]:
    """Nodes and the strongest lines that have both ends among them."""
    shown = {fact.id for fact in facts}
    inside = [line for line in lines if line.source in shown and line.target in shown]
    drawn = sorted(inside, key=lambda line: -(line.weight or 0.0))[:MAX_LINES]
    degrees = Counter(line.source for line in drawn) + Counter(line.target for line in drawn)
    rated = yield from store.fetch_importance(sorted(shown))
    nodes = tuple(PictureNode(fact, rated.get(fact.id), degrees[fact.id]) for fact in facts)
    return Picture(nodes, tuple(drawn), (), total)


def _draw_clusters(scopes: Mapping[str, int]) -> Steps[Picture]:
    """Communities instead of facts. The archived ones, which no network has, are counted among those of no community."""
    named: list[CommunitySummary] = yield from list_communities(tuple(scopes), MAX_CLUSTERS)
    clusters, lines = list[PictureCluster](), list[PictureEdge]()
    for scope, facts in scopes.items():
        inside = [one for one in named if one.scope == scope]
        network = yield from store.fetch_scope_graph(scope)
        rated = yield from store.fetch_importance(network.ids)
        places = _assign_clusters(network, rated, inside)
        own = _make_clusters(scope, inside, places, max(0, facts - len(network.ids)))
        clusters += [cluster for cluster in own if cluster.size]
        lines += sum_cluster_links(network, places, [cluster.id for cluster in own])
    return Picture((), tuple(lines), tuple(clusters), sum(cluster.size for cluster in clusters))


def _assign_clusters(
    network: ScopeGraph, rated: Mapping[str, FactImportance], named: Sequence[CommunitySummary]
) -> NDArray[np.int64]:
    """For each fact the row of its cluster; those of no community shown share the last."""
    row = {one.number: at for at, one in enumerate(named)}
    last = len(named)
    return np.array([row.get(rated[id].community, last) if id in rated else last for id in network.ids], np.int64)


def _make_clusters(
    scope: str, named: Sequence[CommunitySummary], places: NDArray[np.int64], archived: int
) -> list[PictureCluster]:
    sizes = np.bincount(places, minlength=len(named) + 1).tolist()
    shown = [PictureCluster(scope, one.number, one.name, size) for one, size in zip(named, sizes, strict=False)]
    return [*shown, PictureCluster(scope, None, "", sizes[-1] + archived)]


def sum_cluster_links(network: ScopeGraph, places: NDArray[np.int64], names: Sequence[str]) -> list[PictureEdge]:
    """The weights of all links between two clusters, summed."""
    ends = np.sort(np.stack([places[network.source], places[network.target]]), axis=0)
    apart = ends[0] != ends[1]
    pairs, place = np.unique(ends[0][apart] * len(names) + ends[1][apart], return_inverse=True)
    sums = np.bincount(place, weights=network.weight[apart], minlength=len(pairs))
    rows = zip(*(part.tolist() for part in (*np.divmod(pairs, len(names)), sums)), strict=True)
    return [PictureEdge(names[a], names[b], BETWEEN_KIND, round(weight, 6)) for a, b, weight in rows]


def _make_line(edge: Edge) -> PictureEdge:
    return PictureEdge(edge.source, edge.target, edge.kind, edge.weight)
