"""The default dynamics: passes from the best candidates over shared names and stored edges."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count

import numpy as np
from numpy.typing import NDArray

from cofire.activation_paths import ActivationHop
from cofire.algorithms import coverage, name_walk, rank_fusion
from cofire.algorithms.array_ops import nan_to_none
from cofire.algorithms.conductance import MISSING_WEIGHT
from cofire.algorithms.session_context import borrowing_factors
from cofire.index import native_scoring as compiled
from cofire.index.native import LIBRARY
from cofire.recall.query import AnalysedQuery
from cofire.recall.request import RecallRequest
from cofire.recall.scoring import CandidateTable, FloatArray, append_candidates, score_candidates
from cofire.runtime.effects import Steps
from cofire.runtime.store_proxy import store
from cofire.settings.ranking import current_constants
from cofire.stores.base import ExpansionOptions, FactFeatures, LinkExpansion, NameLinkTable
from cofire.stores.lazy_ids import lazy_property, merge_ids, select_ids

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WalkBounds:
    """How far a walk may go: from so many seeds that count at least so much, to so many facts, over links at least so sure."""

    seeds: int
    least_seed: float
    expanded: int
    floor: float


@dataclass(frozen=True, slots=True)
class WalkNameLinks:
    """Paths, with what no pass changes: the rows of their facts in the slate, how much each fact draws, and what each name counts.
    `to_native_paths` is all that as compiled code reads it."""

    paths: NameLinkTable
    rows: IntArray
    draws: FloatArray
    names: FloatArray
    in_c: compiled.NativeWalkPaths | None


@dataclass(frozen=True, slots=True)
class BestNameLinks:
    """Facts that the walk came to: their rows in the paths, and for each the row of the best link there; `target` and `source` are
    rows of the slate, of the fact and of the one that leads to it."""

    at: IntArray
    link: IntArray
    about: FloatArray
    shared: FloatArray
    target: IntArray
    source: IntArray


def prepare_name_links(paths: NameLinkTable, known: CandidateTable, cue: AnalysedQuery, floor: float) -> WalkNameLinks:
    """Where these paths lead, for this question."""
    rows = np.fromiter(map(known.rows.__getitem__, paths.ids), np.int64, len(paths.ids))
    draws = name_walk.weigh_similarity(known.standing[rows], softness=current_constants().names.nearness)
    names = weigh_names(paths, cue, floor)
    return WalkNameLinks(paths, rows, draws, names, None if LIBRARY is None else to_native_paths(paths, names))


def choose_best_links(
    over: WalkNameLinks, known: CandidateTable, seeds: Mapping[str, float], bounds: WalkBounds
) -> BestNameLinks:
    """The best link to each fact, over facts about a name and over shared names, and of those the strongest of either kind."""
    paths, rows, starts = over.paths, over.rows, np.zeros(len(known.ids))
    starts[[known.rows[id] for id in seeds]] = list(seeds.values())
    if over.in_c is not None:
        best = compiled.find_best_links(over.in_c, over.draws, starts[rows], paths.loose, bounds.expanded)
        source = rows[paths.holder[paths.step[best.link]]]
        return BestNameLinks(best.at, best.link, best.about, best.shared, rows[best.at], source)
    about, shared = (
        name_walk.choose_best_steps(steps, starts[rows], over.names, facts=len(paths.ids))
        for steps in split_steps(over)
    )
    strong = _mask_strongest(about.value, bounds.expanded) | _mask_strongest(shared.value, bounds.expanded)
    at = np.flatnonzero(strong)
    link = np.where(about.value >= shared.value, about.step, shared.step)
    source = rows[paths.holder[paths.step[link[at]]]]
    return BestNameLinks(at, link[at], about.value[at], shared.value[at], rows[at], source)


def weigh_names(paths: NameLinkTable, cue: AnalysedQuery, floor: float) -> FloatArray:
    """What each name counts: by its rarity, less if the question holds it; those that are too unsure nothing."""
    weights = name_walk.name_rarity(max(1, cue.facts), paths.count) * (paths.sure >= floor)
    if cue.spelled.isdisjoint(paths.name):
        return weights
    known = current_constants().names.in_question
    return weights * np.array([known if name in cue.spelled else 1.0 for name in paths.name], np.float64)


def split_steps(over: WalkNameLinks) -> tuple[name_walk.NameSteps, name_walk.NameSteps]:
    """Steps to facts about a name (or from a fact about it), and steps between facts that merely share one.

    Turns of a session are linked by their neighbours; that they mention the same name says nothing.
    """
    paths = over.paths
    seed = paths.holder[paths.step]
    draws = over.draws[paths.target] * np.where(paths.strength > 0, paths.strength, 1.0)
    about = (paths.strength > 0) | (paths.own[paths.step] > 0)
    shared = ~about & paths.loose[seed] & paths.loose[paths.target]
    order = np.argsort(order_names(paths)[paths.step], kind="stable")
    every = name_walk.NameSteps(seed[order], paths.step[order], paths.target[order], draws[order], order)
    return every.only(about[order]), every.only(shared[order])


def order_names(paths: NameLinkTable) -> IntArray:
    """The order of names: of two worth the same, the surer one tells the way, whichever was written first."""
    letters = np.array(sorted(range(len(paths.name)), key=paths.name.__getitem__), np.int64)
    surest = letters[np.argsort(-paths.sure[letters], kind="stable")]
    turn = np.empty(len(surest), np.int64)
    turn[surest] = np.arange(len(surest))
    return turn


def to_native_paths(paths: NameLinkTable, weights: FloatArray) -> compiled.NativeWalkPaths:
    """Paths as compiled code reads them, with what each name counts."""
    return compiled.NativeWalkPaths(
        (paths.holder, paths.count, paths.sentences, order_names(paths), paths.own, weights),
        (paths.step, paths.target, paths.there, paths.strength),
    )


def _mask_strongest(values: FloatArray, most: int) -> NDArray[np.bool_]:
    """The strongest of those that a step leads to."""
    order = np.argsort(-values, kind="stable")[:most]
    kept = np.zeros(len(values), np.bool_)
    kept[order] = values[order] > 0
    return kept


_EMPTY_INTS, _EMPTY_FLOATS = np.zeros(0, np.int64), np.zeros(0)


@dataclass(frozen=True)
class ExpansionCache:
    """The seeds that were asked for, where their names lead, and their stored edges, ask by ask."""

    seeds: frozenset[str]
    paths: NameLinkTable
    edges: tuple[LinkExpansion, ...] = ()

    def with_those_of(self, seeds: Sequence[str], edges: LinkExpansion, paths: NameLinkTable) -> ExpansionCache:
        """These and those of more seeds."""
        every = join_name_paths(self.paths, paths) if self.seeds else paths
        return ExpansionCache(self.seeds.union(seeds), every, (*self.edges, edges))


EMPTY_EXPANSION_CACHE = ExpansionCache(
    frozenset(),
    NameLinkTable(
        (),
        np.zeros(0, np.bool_),
        (),
        _EMPTY_INTS,
        _EMPTY_INTS,
        _EMPTY_INTS,
        _EMPTY_FLOATS,
        _EMPTY_FLOATS,
        _EMPTY_INTS,
        _EMPTY_INTS,
        _EMPTY_FLOATS,
        _EMPTY_INTS,
    ),
)


def join_name_paths(known: NameLinkTable, more: NameLinkTable) -> NameLinkTable:
    """Two sets of paths as one; a fact that both know has one row."""
    rows = {id: row for row, id in enumerate(known.ids)}
    moved = np.array([rows.setdefault(id, len(rows)) for id in more.ids], np.int64)
    return NameLinkTable(
        ids=tuple(rows),
        loose=np.concatenate([known.loose, more.loose[moved >= len(known.ids)]]),
        name=known.name + more.name,
        holder=np.concatenate([known.holder, moved[more.holder]]),
        count=np.concatenate([known.count, more.count]),
        sentences=np.concatenate([known.sentences, more.sentences]),
        own=np.concatenate([known.own, more.own]),
        sure=np.concatenate([known.sure, more.sure]),
        step=np.concatenate([known.step, more.step + len(known.name)]),
        target=np.concatenate([known.target, moved[more.target]]),
        strength=np.concatenate([known.strength, more.strength]),
        there=np.concatenate([known.there, more.there]),
    )


def drop_forgotten(paths: NameLinkTable, weighed: Mapping[str, int]) -> NameLinkTable:
    """Paths without facts that somebody forgot since they were found."""
    if all(map(weighed.__contains__, paths.ids)):
        return paths
    there = np.array([id in weighed for id in paths.ids], np.bool_)
    moved = np.maximum(0, np.cumsum(there) - 1)
    kept = there[paths.target] & there[paths.holder[paths.step]]
    return replace(
        paths,
        ids=tuple(id for id in paths.ids if id in weighed),
        loose=paths.loose[there],
        holder=moved[paths.holder],
        step=paths.step[kept],
        target=moved[paths.target[kept]],
        strength=paths.strength[kept],
        there=paths.there[kept],
    )


class EdgeHops(Mapping[str, ActivationHop]):
    """The best hop along a stored edge to each fact that one leads to, and its energy. Hops are spelled out when somebody asks how
    the walk came there."""

    def __init__(self) -> None:
        self.energies: dict[str, float] = {}
        self._links: dict[str, tuple[str, LinkExpansion, int]] = {}

    def add(self, found: LinkExpansion, seeds: Mapping[str, float]) -> None:
        """Take in what links carry; of equals the first stays. A seed is not paid for what comes from a weaker one."""
        ids, energies = tuple(found.ids), compute_edge_energies(found, seeds)
        for row in np.argsort(-energies, kind="stable").tolist():
            source, target, energy = ids[found.source[row]], ids[found.target[row]], float(energies[row])
            if energy > self.energies.get(target, 0.0) and seeds.get(target, 0.0) < seeds[source]:
                self.energies[target], self._links[target] = energy, (source, found, row)

    def __getitem__(self, id: str) -> ActivationHop:
        source, found, row = self._links[id]
        weight, confidence = (nan_to_none(values.item(row)) for values in (found.weight, found.confidence))
        return ActivationHop(source, id, found.kind[row], weight, confidence, found.via[row], self.energies[id])

    def __contains__(self, id: object) -> bool:
        return id in self.energies

    def __iter__(self) -> Iterator[str]:
        return iter(self.energies)

    def __len__(self) -> int:
        return len(self.energies)


def expand_stored_edges(seeds: Sequence[str], asked: RecallRequest, floor: float, most: int) -> Steps[LinkExpansion]:
    """Ask for the stored edges of seeds."""
    return store.expand_links(
        tuple(seeds), ExpansionOptions(asked.where, None, floor, most, names=False, without=find_zero_weight_kinds())
    )


def collect_edge_hops(edges: Iterable[LinkExpansion], seeds: Mapping[str, float]) -> EdgeHops:
    """Where stored edges lead from seeds."""
    wired = EdgeHops()
    for found in edges:
        if found.kind:
            wired.add(found, seeds)
    return wired


def find_zero_weight_kinds() -> frozenset[str]:
    """Kinds of edge that carry nothing in the walk."""
    return _select_zero_weight(tuple(current_constants().edges.kinds.items()))


@lru_cache(maxsize=16)
def _select_zero_weight(kinds: tuple[tuple[str, float], ...]) -> frozenset[str]:
    return frozenset(kind for kind, worth in kinds if not worth)


def compute_edge_energies(found: LinkExpansion, seeds: Mapping[str, float]) -> FloatArray:
    """What each link carries: seed · kind · weight · confidence / degree^p (ruling 31)."""
    kinds = current_constants().edges.kinds
    worth = np.array([kinds.get(kind, kinds["other"]) for kind in found.kind], np.float64)
    # Links leave those who were asked for, which stand first.
    started = np.array([seeds.get(id, 0.0) for id in found.ids[: len(found.degree)]], np.float64)
    weight = np.where(np.isnan(found.weight), MISSING_WEIGHT, found.weight)
    sure = np.where(np.isnan(found.confidence), 1.0, found.confidence)
    fan = np.maximum(1, found.degree)[found.source] ** current_constants().edges.fan if len(found.source) else 1.0
    return np.asarray(started[found.source] * worth * weight * sure / fan)


RARE_FEATURE_CAP = 6.0


@dataclass(frozen=True, slots=True)
class WordSentences:
    """In which sentences of facts the words of the question stand: a row a fact and a column a word. `at` tells for the rows of the
    slate which row that is, -1 for a fact that was not looked at."""

    at: IntArray
    table: IntArray

    def of(self, rows: IntArray) -> IntArray:
        return self.table[self.at[rows]]


@dataclass(frozen=True)
class WalkPass:
    """What one pass found: the slate with the facts it brought, what each feature gives a row of it, how much the best hop to
    each carries, the hops themselves, and what later passes need not ask or prepare again: where seeds lead, and where the words of
    the question stand in facts."""

    slate: CandidateTable
    seeds: Mapping[str, float]
    gives: Mapping[str, FloatArray]
    carried: FloatArray
    hops: Mapping[str, ActivationHop]
    footpaths: ExpansionCache
    over: WalkNameLinks
    places: WordSentences

    @property
    def total(self) -> FloatArray:
        """What the walk gives each fact."""
        return np.asarray(sum(self.gives.values(), np.zeros(len(self.slate.ids))))


@dataclass(frozen=True, slots=True)
class PassStart:
    """Where a pass starts: from weighted seeds, with what earlier passes asked and prepared."""

    seeds: Mapping[str, float]
    footpaths: ExpansionCache
    places: WordSentences
    over: WalkNameLinks | None = None


def walk_first_pass(
    known: CandidateTable, cue: AnalysedQuery, asked: RecallRequest, bounds: WalkBounds
) -> Steps[WalkPass]:
    """From the facts that answer best by themselves."""
    seeds = select_seeds(known, known.direct, current_constants().seeds.warmth, bounds)
    nowhere = WordSentences(np.zeros(0, np.int64), np.zeros((0, len(cue.words.words)), np.int64))
    return (yield from walk_from_seeds(known, PassStart(seeds, EMPTY_EXPANSION_CACHE, nowhere), cue, asked, bounds))


def walk_next_pass(walked: WalkPass, cue: AnalysedQuery, asked: RecallRequest, bounds: WalkBounds) -> Steps[WalkPass]:
    """From the facts that answer best after a pass."""
    scores = walked.slate.direct + walked.total
    seeds = select_seeds(walked.slate, scores, current_constants().seeds.again, bounds)
    start = PassStart(seeds, walked.footpaths, walked.places, walked.over)
    return (yield from walk_from_seeds(walked.slate, start, cue, asked, bounds))


def walk_from_seeds(
    known: CandidateTable, start: PassStart, cue: AnalysedQuery, asked: RecallRequest, bounds: WalkBounds
) -> Steps[WalkPass]:
    """One pass from weighted seeds."""
    footpaths = yield from _fetch_expansions(start, cue, asked, bounds)
    wired = collect_edge_hops(footpaths.edges, start.seeds)
    known = yield from score_missing(known, [footpaths.paths.ids, wired.energies], cue, asked)
    paths = drop_forgotten(footpaths.paths, known.rows)
    before = start.over
    over = (
        before if before is not None and before.paths is paths else prepare_name_links(paths, known, cue, bounds.floor)
    )
    linked = choose_best_links(over, known, start.seeds, bounds)
    places = yield from _fetch_word_sentences(start.places, known, linked, cue)
    gives = score_links(known, over, linked, places, cue)
    along = np.zeros(len(known.ids))
    for id, energy in wired.energies.items():
        if id in known.rows:
            along[known.rows[id]] = energy
    gives["wired"] = current_constants().features["wired"] * np.sqrt(along)
    carried = np.maximum(along, _scatter_values(len(known.ids), linked.target, np.maximum(linked.about, linked.shared)))
    return WalkPass(known, start.seeds, gives, carried, WalkHops(paths, linked, wired), footpaths, over, places)


def _fetch_expansions(
    start: PassStart, cue: AnalysedQuery, asked: RecallRequest, bounds: WalkBounds
) -> Steps[ExpansionCache]:
    """Where the seeds lead, over names and along stored edges; those of earlier passes are not asked for again."""
    new, names = [id for id in start.seeds if id not in start.footpaths.seeds], current_constants().names
    if not new:
        return start.footpaths
    few = name_walk.max_facts_per_name(cue.facts, fewest=names.few, share=names.share)
    edges, paths = yield from store.together(
        expand_stored_edges(new, asked, bounds.floor, bounds.expanded),
        store.fetch_name_links(new, asked.where, few, names.most),
    )
    return start.footpaths.with_those_of(new, edges, paths)


def _fetch_word_sentences(
    before: WordSentences, known: CandidateTable, linked: BestNameLinks, cue: AnalysedQuery
) -> Steps[WordSentences]:
    """Where the words of the question stand in linked facts and in those that lead to them."""
    at = np.empty(len(known.ids), np.int64)
    # A slate only grows at its end.
    at[: len(before.at)], at[len(before.at) :] = before.at, -1
    looked_at = np.zeros(len(at), np.bool_)
    looked_at[linked.target] = looked_at[linked.source] = True
    new = (looked_at & (at < 0)).nonzero()[0]
    if not len(new):
        return WordSentences(at, before.table)
    found = yield from store.locate_words([known.ids[row] for row in new.tolist()], cue.words.words)
    at[new] = np.arange(len(before.table), len(before.table) + len(new))
    return WordSentences(at, np.concatenate([before.table, found]))


def select_seeds(known: CandidateTable, scores: FloatArray, softness: float, bounds: WalkBounds) -> dict[str, float]:
    """The best as seeds, with their weights beside the very best, which comes first; those that count too little are none."""
    rows = rank_fusion.top_rows(scores, known.ids, bounds.seeds)
    weights = name_walk.weigh_seeds(scores[rows], softness=softness)
    return {
        known.ids[row]: float(weight) for row, weight in zip(rows, weights, strict=True) if weight >= bounds.least_seed
    }


def score_missing(
    known: CandidateTable, led_to: Iterable[Collection[str]], cue: AnalysedQuery, asked: RecallRequest
) -> Steps[CandidateTable]:
    """The slate with facts that were not weighed yet."""
    new = merge_ids(led_to, but=known.rows)
    if not new:
        return known
    evidence = yield from fetch_features(new, cue)
    return append_candidates(known, score_candidates(evidence, cue, asked.settings))


def fetch_features(ids: Sequence[str], cue: AnalysedQuery) -> Steps[FactFeatures]:
    """Ask for what scoring needs of facts, and of the turns around them where those count."""
    if cue.words.context is None:
        return store.fetch_features(ids, cue.words.words)
    return store.fetch_features(
        ids, cue.words.words, current_constants().words.reach, current_constants().vectors.reach
    )


def _score_links_native(
    paths: compiled.NativeWalkPaths,
    known: CandidateTable,
    linked: BestNameLinks,
    places: WordSentences,
    cue: AnalysedQuery,
) -> dict[str, FloatArray]:
    """The same as `score_links`, by compiled code."""
    names, links, weights = current_constants().names, current_constants().links, current_constants().features
    return compiled.score_links(
        paths,
        (linked.target, linked.source, linked.link, linked.about, linked.shared),
        (known.holds, known.direct, known.scores["keyword"], known.lengths, places.at),
        shares=cue.word_shares,
        places=places.table,
        rules=(RARE_FEATURE_CAP, names.room, names.short, links.most, links.least),
        weights=[weights[name] for name in compiled.LINK_FEATURES],
    )


def score_links(
    known: CandidateTable, over: WalkNameLinks, linked: BestNameLinks, places: WordSentences, cue: AnalysedQuery
) -> dict[str, FloatArray]:
    """What the features of linked facts give them, as far as the link counts and within its bounds; 0 for all others."""
    if over.in_c is not None:
        return _score_links_native(over.in_c, known, linked, places, cue)
    paths, shares = over.paths, cue.word_shares
    step = paths.step[linked.link]
    there, here = places.of(linked.target), places.of(linked.source)
    theirs = known.holds[linked.source]
    found = {
        "about": np.sqrt(linked.about),
        "shared": np.sqrt(linked.shared),
        "rare": name_walk.score_rare_links(paths.count[step], known.direct[linked.source], most=RARE_FEATURE_CAP),
        "fits": coverage.best_sentence_share(here, paths.sentences[step], np.zeros_like(theirs), shares),
        "adds_there": coverage.best_sentence_share(there, paths.there[linked.link], theirs, shares),
        "adds": coverage.added_word_share(known.holds[linked.target], theirs, shares),
        "repeats": known.scores["keyword"][linked.target]
        * name_walk.remaining_question_share(theirs @ shares, enough=current_constants().names.room),
    }
    counts = compute_link_share(known, linked)
    given = {name: current_constants().features[name] * counts * values for name, values in found.items()}
    links, total = current_constants().links, np.asarray(sum(given.values()))
    worth = known.direct[linked.source], known.direct[linked.target]
    share = name_walk.link_bound_factors(total, *worth, most=links.most, least=links.least)
    return {name: _scatter_values(len(known.ids), linked.target, share * values) for name, values in given.items()}


def compute_link_share(known: CandidateTable, linked: BestNameLinks) -> FloatArray:
    """A link to what is about a name counts in full; one between facts that merely mention it, as far as they are short."""
    short = current_constants().names.short
    open_ = [borrowing_factors(known.lengths[end], short=short) for end in (linked.source, linked.target)]
    return np.where(linked.about > 0, 1.0, open_[0] * open_[1])


class WalkHops(Mapping[str, ActivationHop]):
    """The best hop to each fact, over a name or along a stored edge; spelled out when somebody asks how the walk came there."""

    def __init__(self, paths: NameLinkTable, linked: BestNameLinks, wires: EdgeHops) -> None:
        self._paths, self._linked, self._wires = paths, linked, wires

    @lazy_property
    def _places(self) -> dict[str, int]:
        return dict(zip(select_ids(self._paths.ids, self._linked.at), count(), strict=False))

    def __getitem__(self, id: str) -> ActivationHop:
        if id not in self._places:
            return self._wires[id]
        named = self._over_name(self._places[id], id)
        return self._wires[id] if self._wires.energies.get(id, 0.0) > named.energy else named

    def __contains__(self, id: object) -> bool:
        return id in self._places or id in self._wires

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self._places), **dict.fromkeys(self._wires)})

    def __len__(self) -> int:
        return len({*self._places, *self._wires})

    def _over_name(self, place: int, id: str) -> ActivationHop:
        paths, link = self._paths, self._linked.link.item(place)
        about, shared = self._linked.about.item(place), self._linked.shared.item(place)
        step = paths.step.item(link)
        weight = max(paths.strength.item(link), paths.own.item(step), 0.3) / max(1, paths.count.item(step)) ** 0.5
        kind = "about" if about >= shared else "entity"
        source = paths.ids[paths.holder.item(step)]
        return ActivationHop(source, id, kind, weight, paths.sure.item(step), paths.name[step], max(about, shared))


def _scatter_values(size: int, rows: IntArray, values: FloatArray) -> FloatArray:
    found = np.zeros(size)
    found[rows] = values
    return found
