"""The graph as nodes and lines to draw, and its communities with names."""

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

FACTS_PER_COMMUNITY = 50  # the most central facts, from which a community gets its name
SHOWN_FACTS = 3
PHRASES_PER_NAME = 3

_OUTER_MARKS = "`*_~=:|!<>[](){}\"'"
_INNER_MARK = re.compile(r"[`*|<>\[\](){}\"\\]|::|:/|^www\.|\.\./|__")


@dataclass(frozen=True, slots=True)
class CommunitySummary:
    """A community of facts: its number (a filter of recall), its name and its most central facts."""

    scope: str
    number: int
    size: int
    name: str
    facts: tuple[Fact, ...]


def list_communities(scope: NamesInput, limit: int) -> Steps[list[CommunitySummary]]:
    """The communities of some or all scopes, the largest first."""
    scopes = validation.parse_scopes(scope, InvalidQuestion)
    count = validation.check_count(limit, "limit", low=1, high=1_000_000)
    communities = yield from store.list_communities(scopes, count, FACTS_PER_COMMUNITY)
    rows = yield from store.read_facts([id for community in communities for id in community.ids])
    fact_by_id = {fact.id: fact for fact in rows if fact is not None}
    members = [[fact_by_id[id] for id in community.ids if id in fact_by_id] for community in communities]
    phrases = [[extract_phrases(fact) for fact in facts] for facts in members]
    names = choose_group_names(phrases)
    return [
        CommunitySummary(community.scope, community.number, community.size, name, tuple(facts[:SHOWN_FACTS]))
        for community, facts, name in zip(communities, members, names, strict=True)
    ]


def extract_phrases(fact: Fact) -> frozenset[str]:
    """The key phrases and the subject of a fact, without Markdown.

    >>> sorted(extract_phrases(Fact("See the [tea guides](../guides/index.md) of **Kyoto**.", subject="`Tea`")))
    ['kyoto', 'tea', 'tea guides']
    """
    key_phrases = run_reading_rule("phrases", lambda: extract_key_phrases([markdown_to_text(fact.text)]), ())
    subject = markdown_to_text(fact.subject or "").casefold()
    stripped = {_strip_marks(phrase) for phrase in (*key_phrases, subject)}
    return frozenset(stripped - {""})


def _strip_marks(phrase: str) -> str:
    """A phrase without the marks around its words, or an empty text if a word contains marks.

    >>> (
    ...     _strip_marks("`pot`"),
    ...     _strip_marks("_facets:"),
    ...     _strip_marks("guides](../guides"),
    ...     _strip_marks("c++ node.js"),
    ... )
    ('pot', 'facets', '', 'c++ node.js')
    """
    words = [word.strip(_OUTER_MARKS) for word in phrase.split()]
    if any(_INNER_MARK.search(word) for word in words):
        return ""
    return " ".join(word for word in words if word)


def choose_group_names(groups: Sequence[Sequence[frozenset[str]]]) -> list[str]:
    """A name for each group: its phrases with the highest tf · ln(1 + groups / groups with the phrase).

    >>> tea, pot = frozenset({"green tea", "kitchen"}), frozenset({"tea pot", "kitchen"})
    >>> choose_group_names([[tea, tea], [pot]])
    ['green tea, kitchen', 'tea pot, kitchen']
    """
    counts = [Counter(phrase for fact in group for phrase in fact) for group in groups]
    holding = Counter(phrase for count in counts for phrase in count)
    return [", ".join(_choose_phrases(count, holding, len(groups))) for count in counts]


def _choose_phrases(count: Counter[str], holding: Counter[str], groups: int) -> list[str]:
    """The phrases with the highest scores of which none contains another."""
    scores = {phrase: times * math.log(1 + groups / holding[phrase]) for phrase, times in count.items()}
    chosen: list[str] = []
    for phrase in sorted(scores, key=lambda phrase: (-scores[phrase], phrase)):
        if len(chosen) == PHRASES_PER_NAME:
            break
        if not any(phrase in other or other in phrase for other in chosen):
            chosen.append(phrase)
    return chosen


MAX_ITEMS = 1_000_000
MAX_LINES = 30_000  # the strongest lines are drawn
MAX_CLUSTERS = 100
LINKS_PER_FACT = 25
ABOUT_KIND = "about"
BETWEEN_KIND = "between"


@dataclass(frozen=True, slots=True)
class GraphRequest:
    """The part of the graph to draw: scopes and kinds (all by default), one community, facts with some metadata.

    `limit` is the maximum number of facts, `depth` the number of steps from the given facts.
    """

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


def draw_graph(ids: str | Iterable[str] | None, request: GraphRequest) -> Steps[Picture]:
    """Draw the whole graph, or with ids the surroundings of these facts."""
    validation.check_count(request.limit, "limit", low=1, high=MAX_ITEMS)
    validation.check_count(request.depth, "depth", low=1, high=10)
    community = 0 if request.community is None else request.community
    validation.check_count(community, "community", low=0, high=2**62)
    if ids is not None:
        return (yield from _draw_surroundings(check_ids(ids), request))
    size = yield from store.read_size()
    requested = request.scopes
    scopes = {name: facts for name, facts in size.scopes.items() if requested is None or name in requested}
    is_selection = request.community is not None or bool(request.metadata)
    if sum(scopes.values()) > request.limit and not is_selection:
        return (yield from _draw_clusters(scopes))
    return (yield from _draw_scopes(list(scopes), request))


def _draw_scopes(scopes: Sequence[str], request: GraphRequest) -> Steps[Picture]:
    """Draw every fact, or every fact of a community or with some metadata."""
    facts = yield from _scan_facts(scopes, request)
    kinds = request.kinds
    is_selection = request.community is not None or bool(request.metadata)
    ids = frozenset(fact.id for fact in facts) if is_selection else None
    edges = yield from store.list_edges(EdgeFilter(scopes=request.scopes, ids=ids), MAX_ITEMS)
    lines = [_make_line(edge) for edge in edges if not kinds or edge.kind in kinds]
    if not kinds or ABOUT_KIND in kinds:
        for scope in scopes:
            graph = yield from store.fetch_scope_graph(scope)
            lines += find_name_lines(graph, edges)
    return (yield from _make_picture(facts, lines, len(facts)))


def _scan_facts(scopes: Sequence[str], request: GraphRequest) -> Steps[list[Fact]]:
    """The facts to draw. Archived and outdated facts are included, since a picture may mark them."""
    if not scopes:
        return []
    now: datetime = yield ReadClock()
    filter = FactFilter(
        now,
        tuple(scopes),
        metadata=request.metadata,
        archived=True,
        whenever=True,
        community=request.community,
    )
    facts = yield from store.list_facts(filter, request.limit)
    return facts


def find_name_lines(graph: ScopeGraph, edges: Sequence[Edge]) -> list[PictureEdge]:
    """The links of a graph between facts without a stored edge, each pair once with its highest weight."""
    count = max(1, len(graph.ids))
    pair_keys = _encode_pairs(graph.source, graph.target, count)
    stored_keys = _encode_edges(graph, edges)
    is_name_link = (graph.source != graph.target) & ~np.isin(pair_keys, stored_keys)
    unique_keys, positions = np.unique(pair_keys[is_name_link], return_inverse=True)
    weights = np.zeros(len(unique_keys))
    np.maximum.at(weights, positions, graph.weight[is_name_link])
    sources, targets = np.divmod(unique_keys, count)
    return _make_lines(graph.ids, sources, targets, ABOUT_KIND, weights)


def _encode_pairs(left: NDArray[np.int64], right: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Each pair of rows as one number, independent of their order."""
    return np.minimum(left, right) * count + np.maximum(left, right)


def _encode_edges(graph: ScopeGraph, edges: Sequence[Edge]) -> NDArray[np.int64]:
    row_by_id = {id: row for row, id in enumerate(graph.ids)}
    source = np.array([row_by_id.get(edge.source, -1) for edge in edges], np.int64)
    target = np.array([row_by_id.get(edge.target, -1) for edge in edges], np.int64)
    is_in_graph = (source >= 0) & (target >= 0)
    return _encode_pairs(source[is_in_graph], target[is_in_graph], max(1, len(graph.ids)))


def _make_lines(
    names: Sequence[str],
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    kind: str,
    weights: NDArray[np.float64],
) -> list[PictureEdge]:
    rows = zip(sources.tolist(), targets.tolist(), weights.tolist(), strict=True)
    return [PictureEdge(names[source], names[target], kind, round(weight, 6)) for source, target, weight in rows]


def _draw_surroundings(ids: list[str], request: GraphRequest) -> Steps[Picture]:
    """Draw the facts around some facts: `depth` steps outward along the strongest links of each."""
    yield from read_facts(ids)
    now: datetime = yield ReadClock()
    filter = FactFilter(now, request.scopes, metadata=request.metadata, whenever=True)
    options = ExpansionOptions(filter, request.kinds or None, 0.0, LINKS_PER_FACT)
    reached = dict.fromkeys(ids)
    frontier = ids
    expansion_lines: list[PictureEdge] = []
    for _ in range(request.depth):
        expansion = yield from store.expand_links(frontier, options)
        expansion_lines += _make_expansion_lines(expansion)
        room = max(0, request.limit - len(reached))
        frontier = [id for id in expansion.ids if id not in reached][:room]
        reached |= dict.fromkeys(frontier)
        if not frontier:
            break
    edges = yield from store.list_edges(EdgeFilter(kinds=request.kinds, ids=frozenset(reached)), MAX_ITEMS)
    rows = yield from store.read_facts(list(reached))
    facts = [fact for fact in rows if fact]
    lines = _merge_lines([_make_line(edge) for edge in edges], expansion_lines)
    return (yield from _make_picture(facts, lines, len(reached)))


def _make_expansion_lines(expansion: LinkExpansion) -> list[PictureEdge]:
    ids = tuple(expansion.ids)
    rows = zip(
        expansion.source.tolist(),
        expansion.target.tolist(),
        expansion.kind,
        expansion.weight.tolist(),
        strict=True,
    )
    return [
        PictureEdge(ids[source], ids[target], kind, None if np.isnan(weight) else weight)
        for source, target, kind, weight in rows
    ]


def _merge_lines(stored: Iterable[PictureEdge], expanded: Iterable[PictureEdge]) -> list[PictureEdge]:
    """Each link once: the stored edge if there is one, else the first expanded link."""
    lines: dict[tuple[frozenset[str], str], PictureEdge] = {}
    for line in (*stored, *expanded):
        lines.setdefault((frozenset((line.source, line.target)), line.kind), line)
    return list(lines.values())


def _make_picture(facts: Sequence[Fact], lines: Iterable[PictureEdge], total: int) -> Steps[Picture]:
    """The facts as nodes, and the strongest lines between them."""
    ids = {fact.id for fact in facts}
    inside = [line for line in lines if line.source in ids and line.target in ids]
    strongest = sorted(inside, key=lambda line: -(line.weight or 0.0))[:MAX_LINES]
    degrees = Counter(line.source for line in strongest) + Counter(line.target for line in strongest)
    importance = yield from store.fetch_importance(sorted(ids))
    nodes = tuple(PictureNode(fact, importance.get(fact.id), degrees[fact.id]) for fact in facts)
    return Picture(nodes, tuple(strongest), (), total)


def _draw_clusters(scopes: Mapping[str, int]) -> Steps[Picture]:
    """Draw communities instead of facts. Archived facts are not in a graph: they count as without community."""
    communities: list[CommunitySummary] = yield from list_communities(tuple(scopes), MAX_CLUSTERS)
    clusters: list[PictureCluster] = []
    lines: list[PictureEdge] = []
    for scope, fact_count in scopes.items():
        shown = [community for community in communities if community.scope == scope]
        graph = yield from store.fetch_scope_graph(scope)
        importance = yield from store.fetch_importance(graph.ids)
        cluster_rows = _assign_clusters(graph, importance, shown)
        archived = max(0, fact_count - len(graph.ids))
        scope_clusters = _make_clusters(scope, shown, cluster_rows, archived)
        clusters += [cluster for cluster in scope_clusters if cluster.size]
        lines += sum_cluster_links(graph, cluster_rows, [cluster.id for cluster in scope_clusters])
    return Picture((), tuple(lines), tuple(clusters), sum(cluster.size for cluster in clusters))


def _assign_clusters(
    graph: ScopeGraph, importance: Mapping[str, FactImportance], communities: Sequence[CommunitySummary]
) -> NDArray[np.int64]:
    """The cluster row of each fact. Facts of no shown community share the last row."""
    row_by_number = {community.number: row for row, community in enumerate(communities)}
    last = len(communities)
    rows = [row_by_number.get(importance[id].community, last) if id in importance else last for id in graph.ids]
    return np.array(rows, np.int64)


def _make_clusters(
    scope: str, communities: Sequence[CommunitySummary], cluster_rows: NDArray[np.int64], archived: int
) -> list[PictureCluster]:
    sizes = np.bincount(cluster_rows, minlength=len(communities) + 1).tolist()
    clusters = [
        PictureCluster(scope, community.number, community.name, size)
        for community, size in zip(communities, sizes, strict=False)
    ]
    return [*clusters, PictureCluster(scope, None, "", sizes[-1] + archived)]


def sum_cluster_links(graph: ScopeGraph, cluster_rows: NDArray[np.int64], names: Sequence[str]) -> list[PictureEdge]:
    """The sum of the weights of all links between each two clusters."""
    ends = np.sort(np.stack([cluster_rows[graph.source], cluster_rows[graph.target]]), axis=0)
    is_between = ends[0] != ends[1]
    pair_keys = ends[0][is_between] * len(names) + ends[1][is_between]
    unique_keys, positions = np.unique(pair_keys, return_inverse=True)
    weights = graph.weight[is_between].astype(np.float64)
    sums = np.bincount(positions, weights=weights, minlength=len(unique_keys)).astype(np.float64)
    sources, targets = np.divmod(unique_keys, len(names))
    return _make_lines(names, sources, targets, BETWEEN_KIND, sums)


def _make_line(edge: Edge) -> PictureEdge:
    return PictureEdge(edge.source, edge.target, edge.kind, edge.weight)
