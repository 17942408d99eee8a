"""The default walk: passes from the best candidates over shared names and stored edges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cofire.activation_paths import ActivationHop
from cofire.algorithms import coverage, name_walk, rank_fusion
from cofire.algorithms.array_ops import nan_to_none
from cofire.algorithms.conductance import MISSING_WEIGHT
from cofire.algorithms.session_context import borrowing_factors
from cofire.recall.plan import RecallPlan
from cofire.recall.query import Query
from cofire.recall.request import RecallRequest
from cofire.recall.score import BoolArray, Candidates, FloatArray, score_missing
from cofire.runtime.effects import Steps
from cofire.runtime.store_proxy import store
from cofire.settings.ranking import current_constants
from cofire.settings.table import (
    GRAPH_RECALL_CONFIDENCE_FLOOR,
    GRAPH_RECALL_EXPANDED,
    GRAPH_RECALL_MIN_SEED_SCORE,
    GRAPH_RECALL_SEEDS,
    Settings,
)
from cofire.stores.base import ExpansionOptions, LinkExpansion, NameLinkTable

IntArray = NDArray[np.int64]

# The least strength of a link over a name, for the weight that a path shows.
MIN_NAME_STRENGTH = 0.3


@dataclass(frozen=True, slots=True)
class WalkLimits:
    """Number of seeds and their least weight, number of facts reached, least confidence of a link."""

    seeds: int
    min_seed_weight: float
    reached: int
    min_confidence: float


@dataclass(frozen=True)
class Links:
    """Where the seeds of all passes lead: over names and along stored edges. Each seed is read once."""

    seeds: frozenset[str]
    names: NameLinkTable
    edges: tuple[LinkExpansion, ...]


@dataclass(frozen=True, slots=True)
class BestNameLinks:
    """The facts reached over names and the best link to each.

    `target` and `source` are rows of the candidates, `link` is a row of the name links. `about` is the
    value of the best link to a fact about a name, `shared` of the best one between facts that share it.
    """

    target: IntArray
    source: IntArray
    link: IntArray
    about: FloatArray
    shared: FloatArray


class BestEdge(NamedTuple):
    """The stored edge that brings most energy to a fact."""

    energy: float
    source: str
    expansion: LinkExpansion
    row: int


@dataclass(frozen=True)
class WordSentences:
    """The sentences of each candidate that hold each word of the question, one bit a sentence.

    Only candidates at either end of a link are read: `is_read` tells which rows are.
    """

    bits: IntArray
    is_read: BoolArray

    def grow(self, rows: int) -> WordSentences:
        """The same with rows for candidates that were added."""
        more = rows - len(self.bits)
        bits = np.concatenate([self.bits, np.zeros((more, self.bits.shape[1]), np.int64)])
        return WordSentences(bits, np.concatenate([self.is_read, np.zeros(more, np.bool_)]))


@dataclass(frozen=True)
class WalkPass:
    """One pass: its seeds, what each link feature contributes to each candidate, and how it was reached.

    `strength` is how much the best hop brings to each candidate, 0 if it was not reached.
    """

    seeds: Mapping[str, float]
    contributions: Mapping[str, FloatArray]
    strength: FloatArray
    hops: Mapping[str, ActivationHop]


def walk_graph(
    candidates: Candidates, query: Query, request: RecallRequest, plan: RecallPlan
) -> Steps[tuple[Candidates, list[WalkPass]]]:
    """Reach facts that no channel proposed: from the best candidates, then from the best of what that reached."""
    limits = _make_limits(request.settings)
    links = Links(frozenset(), _EMPTY_NAME_LINKS, ())
    sentences = WordSentences(np.zeros((0, len(query.words.words)), np.int64), np.zeros(0, np.bool_))
    scores, softness = candidates.direct, current_constants().seeds.warmth
    passes: list[WalkPass] = []
    for _ in range(plan.passes):
        seeds = select_seeds(candidates, scores, softness, limits)
        links = yield from read_links(links, seeds, query, request, limits)
        edges = choose_best_edges(links.edges, seeds)
        candidates = yield from score_missing(candidates, [links.names.ids, edges], query, request.settings)
        # A fact that was forgotten meanwhile has no row.
        names = drop_missing_facts(links.names, candidates)
        name_links = choose_best_name_links(names, candidates, seeds, query, limits)
        sentences = yield from read_sentences(sentences, candidates, name_links, query)
        contributions = score_name_links(candidates, names, name_links, sentences, query)
        edge_energy = collect_edge_energy(candidates, edges)
        contributions["wired"] = current_constants().features["wired"] * np.sqrt(edge_energy)
        name_strength = _scatter(
            len(candidates.ids), name_links.target, np.maximum(name_links.about, name_links.shared)
        )
        strength = np.maximum(edge_energy, name_strength)
        passes.append(WalkPass(seeds, contributions, strength, WalkHops(candidates, names, name_links, edges)))
        if not strength.any():
            break  # Nothing was reached, so that the next pass would have the same seeds.
        scores = candidates.direct + sum(contributions.values(), np.zeros(len(candidates.ids)))
        softness = current_constants().seeds.again
    return candidates, passes


def _make_limits(settings: Settings) -> WalkLimits:
    return WalkLimits(
        seeds=settings[GRAPH_RECALL_SEEDS],
        min_seed_weight=settings[GRAPH_RECALL_MIN_SEED_SCORE],
        reached=settings[GRAPH_RECALL_EXPANDED],
        min_confidence=settings[GRAPH_RECALL_CONFIDENCE_FLOOR],
    )


def select_seeds(candidates: Candidates, scores: FloatArray, softness: float, limits: WalkLimits) -> dict[str, float]:
    """The best candidates with their weights relative to the best one, which comes first."""
    rows = rank_fusion.top_rows(scores, candidates.ids, limits.seeds)
    weights = name_walk.weigh_seeds(scores[rows], softness=softness)
    return {
        candidates.ids[row]: weight
        for row, weight in zip(rows, weights.tolist(), strict=True)
        if weight >= limits.min_seed_weight
    }


# Links: what seeds lead to


def read_links(
    links: Links, seeds: Mapping[str, float], query: Query, request: RecallRequest, limits: WalkLimits
) -> Steps[Links]:
    """The links with those of seeds that earlier passes did not read."""
    new_seeds = [id for id in seeds if id not in links.seeds]
    if not new_seeds:
        return links
    constants = current_constants().names
    max_sharing = name_walk.max_facts_per_name(query.fact_count, fewest=constants.few, share=constants.share)
    options = ExpansionOptions(
        request.where, None, limits.min_confidence, limits.reached, names=False, without=find_unused_kinds()
    )
    edges, names = yield from store.together(
        store.expand_links(tuple(new_seeds), options),
        store.fetch_name_links(new_seeds, request.where, max_sharing, constants.most),
    )
    all_names = join_name_links(links.names, names) if links.seeds else names
    return Links(links.seeds.union(new_seeds), all_names, (*links.edges, edges))


def find_unused_kinds() -> frozenset[str]:
    """Kinds of edge that carry nothing in the walk."""
    return frozenset(kind for kind, weight in current_constants().edges.kinds.items() if not weight)


def join_name_links(links: NameLinkTable, more: NameLinkTable) -> NameLinkTable:
    """Two tables of name links as one. A fact that is in both has one row."""
    rows = {id: row for row, id in enumerate(links.ids)}
    moved = np.array([rows.setdefault(id, len(rows)) for id in more.ids], np.int64)
    is_new = moved >= len(links.ids)
    return NameLinkTable(
        ids=tuple(rows),
        loose=np.concatenate([links.loose, more.loose[is_new]]),
        name=links.name + more.name,
        holder=np.concatenate([links.holder, moved[more.holder]]),
        count=np.concatenate([links.count, more.count]),
        sentences=np.concatenate([links.sentences, more.sentences]),
        own=np.concatenate([links.own, more.own]),
        sure=np.concatenate([links.sure, more.sure]),
        step=np.concatenate([links.step, more.step + len(links.name)]),
        target=np.concatenate([links.target, moved[more.target]]),
        strength=np.concatenate([links.strength, more.strength]),
        there=np.concatenate([links.there, more.there]),
    )


def drop_missing_facts(links: NameLinkTable, candidates: Candidates) -> NameLinkTable:
    """Name links without facts that are not among the candidates."""
    is_kept = np.array([id in candidates.row_of for id in links.ids], np.bool_)
    if is_kept.all():
        return links
    moved = np.maximum(0, np.cumsum(is_kept) - 1)
    kept_links = is_kept[links.target] & is_kept[links.holder[links.step]]
    return replace(
        links,
        ids=tuple(id for id in links.ids if id in candidates.row_of),
        loose=links.loose[is_kept],
        holder=moved[links.holder],
        step=links.step[kept_links],
        target=moved[links.target[kept_links]],
        strength=links.strength[kept_links],
        there=links.there[kept_links],
    )


_NO_INTS, _NO_FLOATS = np.zeros(0, np.int64), np.zeros(0)
_EMPTY_NAME_LINKS = NameLinkTable(
    ids=(),
    loose=np.zeros(0, np.bool_),
    name=(),
    holder=_NO_INTS,
    count=_NO_INTS,
    sentences=_NO_INTS,
    own=_NO_FLOATS,
    sure=_NO_FLOATS,
    step=_NO_INTS,
    target=_NO_INTS,
    strength=_NO_FLOATS,
    there=_NO_INTS,
)


# Stored edges


def choose_best_edges(expansions: Iterable[LinkExpansion], seeds: Mapping[str, float]) -> dict[str, BestEdge]:
    """The best stored edge to each fact; of equals the first. A seed gets nothing from a weaker seed."""
    best: dict[str, BestEdge] = {}
    for expansion in expansions:
        if not expansion.kind:
            continue
        ids, energies = tuple(expansion.ids), compute_edge_energies(expansion, seeds)
        for row in np.argsort(-energies, kind="stable").tolist():
            source, target, energy = ids[expansion.source[row]], ids[expansion.target[row]], energies.item(row)
            is_better = energy > (best[target].energy if target in best else 0.0)
            if is_better and seeds.get(target, 0.0) < seeds[source]:
                best[target] = BestEdge(energy, source, expansion, row)
    return best


def compute_edge_energies(expansion: LinkExpansion, seeds: Mapping[str, float]) -> FloatArray:
    """What each link carries: seed · kind · weight · confidence / degree^p (ruling 31)."""
    constants = current_constants().edges
    of_kind = np.array([constants.kinds.get(kind, constants.kinds["other"]) for kind in expansion.kind], np.float64)
    # Links leave the facts that were asked for, which are the first rows.
    seed_weights = np.array([seeds.get(id, 0.0) for id in expansion.ids[: len(expansion.degree)]], np.float64)
    weight = np.where(np.isnan(expansion.weight), MISSING_WEIGHT, expansion.weight)
    confidence = np.where(np.isnan(expansion.confidence), 1.0, expansion.confidence)
    fan = np.maximum(1, expansion.degree)[expansion.source] ** constants.fan
    return np.asarray(seed_weights[expansion.source] * of_kind * weight * confidence / fan)


def collect_edge_energy(candidates: Candidates, edges: Mapping[str, BestEdge]) -> FloatArray:
    """The energy of the best stored edge to each candidate."""
    energy = np.zeros(len(candidates.ids))
    for id, edge in edges.items():
        if id in candidates.row_of:
            energy[candidates.row_of[id]] = edge.energy
    return energy


# Links over names


def choose_best_name_links(
    names: NameLinkTable, candidates: Candidates, seeds: Mapping[str, float], query: Query, limits: WalkLimits
) -> BestNameLinks:
    """The best link to each fact, and of the facts those with the strongest links of either kind."""
    rows = np.array([candidates.row_of[id] for id in names.ids], np.int64)
    seed_weights = np.array([seeds.get(id, 0.0) for id in names.ids], np.float64)
    name_weights = weigh_names(names, query, limits.min_confidence)
    about, shared = (
        name_walk.choose_best_steps(steps, seed_weights, name_weights, facts=len(rows))
        for steps in split_steps(names, candidates.scores["semantic"][rows])
    )
    strongest = _mask_strongest(about.value, limits.reached) | _mask_strongest(shared.value, limits.reached)
    reached = np.flatnonzero(strongest)
    link = np.where(about.value >= shared.value, about.step, shared.step)[reached]
    source = names.holder[names.step[link]]
    return BestNameLinks(rows[reached], rows[source], link, about.value[reached], shared.value[reached])


def weigh_names(names: NameLinkTable, query: Query, min_confidence: float) -> FloatArray:
    """The weight of each name: its rarity, less if the question holds it, 0 below the least confidence."""
    weights = name_walk.name_rarity(max(1, query.fact_count), names.count) * (names.sure >= min_confidence)
    in_question = query.names_in_question
    if in_question.isdisjoint(names.name):
        return weights
    factor = current_constants().names.in_question
    return weights * np.array([factor if name in in_question else 1.0 for name in names.name], np.float64)


def split_steps(names: NameLinkTable, similarity: FloatArray) -> tuple[name_walk.NameSteps, name_walk.NameSteps]:
    """Steps to or from a fact about the name, and steps between facts that both mention it.

    Turns of a session are linked as neighbours. That they mention the same name says nothing.
    """
    seed = names.holder[names.step]
    draw = name_walk.weigh_similarity(similarity, softness=current_constants().names.nearness)
    draws = draw[names.target] * np.where(names.strength > 0, names.strength, 1.0)
    is_about = (names.strength > 0) | (names.own[names.step] > 0)
    is_shared = ~is_about & names.loose[seed] & names.loose[names.target]
    order = np.argsort(order_names(names)[names.step], kind="stable")
    steps = name_walk.NameSteps(seed[order], names.step[order], names.target[order], draws[order], order)
    return steps.only(is_about[order]), steps.only(is_shared[order])


def order_names(names: NameLinkTable) -> IntArray:
    """The rank of each name: the surer one first, then by letters. It decides between links of equal value."""
    by_letters = np.array(sorted(range(len(names.name)), key=names.name.__getitem__), np.int64)
    surest_first = by_letters[np.argsort(-names.sure[by_letters], kind="stable")]
    rank = np.empty(len(surest_first), np.int64)
    rank[surest_first] = np.arange(len(surest_first))
    return rank


def _mask_strongest(values: FloatArray, count: int) -> BoolArray:
    """The highest values, as far as they are above 0."""
    order = np.argsort(-values, kind="stable")[:count]
    is_kept = np.zeros(len(values), np.bool_)
    is_kept[order] = values[order] > 0
    return is_kept


def read_sentences(
    sentences: WordSentences, candidates: Candidates, links: BestNameLinks, query: Query
) -> Steps[WordSentences]:
    """The sentences of words, with those of candidates at either end of a link."""
    sentences = sentences.grow(len(candidates.ids))
    is_wanted = np.zeros(len(candidates.ids), np.bool_)
    is_wanted[links.target] = is_wanted[links.source] = True
    new_rows = np.flatnonzero(is_wanted & ~sentences.is_read)
    if not len(new_rows):
        return sentences
    bits = yield from store.locate_words([candidates.ids[row] for row in new_rows.tolist()], query.words.words)
    sentences.bits[new_rows] = bits
    sentences.is_read[new_rows] = True
    return sentences


def score_name_links(
    candidates: Candidates, names: NameLinkTable, links: BestNameLinks, sentences: WordSentences, query: Query
) -> dict[str, FloatArray]:
    """What each feature of the best link contributes to each candidate; 0 where no link leads."""
    constants, word_shares = current_constants(), query.word_shares
    step = names.step[links.link]
    target_bits, source_bits = sentences.bits[links.target], sentences.bits[links.source]
    source_words = candidates.holds_words[links.source]
    no_words = np.zeros_like(source_words)
    values = {
        "about": np.sqrt(links.about),
        "shared": np.sqrt(links.shared),
        "rare": name_walk.score_rare_links(
            names.count[step], candidates.direct[links.source], most=constants.names.rare
        ),
        "fits": coverage.best_sentence_share(source_bits, names.sentences[step], no_words, word_shares),
        "adds_there": coverage.best_sentence_share(target_bits, names.there[links.link], source_words, word_shares),
        "adds": coverage.added_word_share(candidates.holds_words[links.target], source_words, word_shares),
        "repeats": candidates.scores["keyword"][links.target]
        * name_walk.remaining_question_share(source_words @ word_shares, enough=constants.names.room),
    }
    link_share = compute_link_share(candidates, links)
    contributions = {name: constants.features[name] * link_share * value for name, value in values.items()}
    bound = name_walk.link_bound_factors(
        np.asarray(sum(contributions.values())),
        candidates.direct[links.source],
        candidates.direct[links.target],
        most=constants.links.most,
        least=constants.links.least,
    )
    rows = len(candidates.ids)
    return {name: _scatter(rows, links.target, bound * value) for name, value in contributions.items()}


def compute_link_share(candidates: Candidates, links: BestNameLinks) -> FloatArray:
    """A link to a fact about the name counts in full; one between facts that mention it counts as far as both are short."""
    short = current_constants().names.short
    source_factor = borrowing_factors(candidates.lengths[links.source], short=short)
    target_factor = borrowing_factors(candidates.lengths[links.target], short=short)
    return np.where(links.about > 0, 1.0, source_factor * target_factor)


def _scatter(size: int, rows: IntArray, values: FloatArray) -> FloatArray:
    """Values at their rows, 0 elsewhere."""
    scattered = np.zeros(size)
    scattered[rows] = values
    return scattered


class WalkHops(Mapping[str, ActivationHop]):
    """The best hop to each fact, over a name or along a stored edge.

    A hop is made when it is looked up: a pass reaches a hundred facts, and ten of them are shown.
    """

    def __init__(
        self, candidates: Candidates, names: NameLinkTable, links: BestNameLinks, edges: Mapping[str, BestEdge]
    ) -> None:
        self._names, self._links, self._edges = names, links, edges
        self._row_of = {candidates.ids[row]: at for at, row in enumerate(links.target.tolist())}

    def __getitem__(self, id: str) -> ActivationHop:
        row, edge = self._row_of.get(id), self._edges.get(id)
        if row is None:
            return _make_edge_hop(self._edges[id], id)
        hop = self._make_name_hop(row, id)
        return _make_edge_hop(edge, id) if edge is not None and edge.energy > hop.energy else hop

    def __contains__(self, id: object) -> bool:
        return id in self._row_of or id in self._edges

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self._row_of), **dict.fromkeys(self._edges)})

    def __len__(self) -> int:
        return len({*self._row_of, *self._edges})

    def _make_name_hop(self, row: int, id: str) -> ActivationHop:
        names, link = self._names, self._links.link.item(row)
        about, shared = self._links.about.item(row), self._links.shared.item(row)
        step = names.step.item(link)
        strength = max(names.strength.item(link), names.own.item(step), MIN_NAME_STRENGTH)
        return ActivationHop(
            source=names.ids[names.holder.item(step)],
            target=id,
            kind="about" if about >= shared else "entity",
            weight=strength / max(1, names.count.item(step)) ** 0.5,
            confidence=names.sure.item(step),
            via=names.name[step],
            energy=max(about, shared),
        )


def _make_edge_hop(edge: BestEdge, id: str) -> ActivationHop:
    expansion, row = edge.expansion, edge.row
    return ActivationHop(
        source=edge.source,
        target=id,
        kind=expansion.kind[row],
        weight=nan_to_none(expansion.weight.item(row)),
        confidence=nan_to_none(expansion.confidence.item(row)),
        via=expansion.via[row],
        energy=edge.energy,
    )
