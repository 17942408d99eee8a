"""The reference store: the store protocol over plain dictionaries, as a test oracle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms import bm25, vector_similarity
from cofire.embedders.base import Model, StoredModel, Vectors
from cofire.errors import Conflict, StoreClosed, StoreError
from cofire.model import (
    Change,
    Edge,
    EdgeCounts,
    Fact,
    FactFilter,
    FactImportance,
    FactWrite,
    Link,
    RemovedCascade,
    ScopeSize,
    StoredFact,
    StoreRecord,
    WriteResult,
)
from cofire.stores.base import (
    COSINE_LOWER_BOUND,
    INCOMING_RECORD,
    MODEL_RECORD,
    EdgeFilter,
    ExpansionOptions,
    FactFeatures,
    FactHistory,
    FactProfiles,
    FactSelection,
    Floats,
    InboxSelection,
    KeywordQuery,
    KnownName,
    LinkExpansion,
    MethodCall,
    NameLinkTable,
    NearbyFact,
    NeighbourCandidates,
    ScopeGraph,
    StoreSize,
    UnembeddedSelection,
    WordStatistics,
    call_method,
)
from cofire.stores.link_rules import build_expansion, content_order
from cofire.stores.rules import drop_stale_dream_results, reject_forgotten_fact, reject_stale_facts
from cofire.text.words import fold_accents
from tests.reference_store import cascade as revising
from tests.reference_store import curation as caring
from tests.reference_store import graph, search
from tests.reference_store.graph import ReferenceGraph
from tests.reference_store.learning import ReferenceLearningMixin, ReferenceLearningState, write_learning


@dataclass(frozen=True, slots=True)
class ReferenceWordCount:
    """The words of a scope as last counted, up to which fact, with a sample of its vectors of at most so many."""

    facts: int = 0
    length: int = 0
    holding: Mapping[str, int] = field(default_factory=dict)
    sample: tuple[bytes, ...] = ()
    up_to: int = 0
    sampled: int = 0


@dataclass
class ReferenceState:
    """All that is kept: facts and what hangs on them by id, records by name, counted words by scope.

    `numbers` tell in which order facts came; under no id stands the last number given, since none is given twice.
    """

    facts: dict[str, Fact] = field(default_factory=dict)
    ids: dict[bytes, str] = field(default_factory=dict)
    counts: dict[str, Mapping[str, int]] = field(default_factory=dict)
    places: dict[str, Mapping[str, int]] = field(default_factory=dict)
    vectors: dict[str, bytes] = field(default_factory=dict)
    incoming: dict[str, bytes] = field(default_factory=dict)
    records: dict[str, StoreRecord] = field(default_factory=dict)
    counted: dict[str, ReferenceWordCount] = field(default_factory=dict)
    web: ReferenceGraph = field(default_factory=ReferenceGraph)
    learning: ReferenceLearningState = field(default_factory=ReferenceLearningState)
    numbers: dict[str, int] = field(default_factory=dict)

    def copy(self) -> ReferenceState:
        return ReferenceState(**{name: kept.copy() for name, kept in vars(self).items()})

    def seen(self, where: FactFilter) -> list[Fact]:
        return [fact for fact in self.facts.values() if self.admits(fact, where)]

    def admits(self, fact: Fact, where: FactFilter) -> bool:
        rated = self.web.importance.get(fact.id)
        return where.admits(fact, rated.community if rated else None)

    def in_scope(self, scope: str) -> list[Fact]:
        return [fact for fact in self.facts.values() if fact.scope == scope]

    def last_count(self, scope: str) -> ReferenceWordCount:
        return self.counted.get(scope, ReferenceWordCount())

    def version(self, name: str) -> int:
        return self.records[name].version if name in self.records else 0

    def model(self, name: str) -> Model | None:
        return StoredModel.decode(self.records[name].value).model if name in self.records else None

    def vectors_of(self, model: Model | None) -> dict[str, bytes]:
        """The vectors of a model, current and moving in."""
        current = self.vectors if self.model(MODEL_RECORD) == model else {}
        return current | (self.incoming if self.model(INCOMING_RECORD) == model else {})

    def rows(self, vectors: Sequence[bytes]) -> Floats:
        model = self.model(MODEL_RECORD)
        rows = [np.frombuffer(vector, dtype="<f2") for vector in vectors]
        return np.array(rows, dtype=np.float32).reshape(len(rows), model.dimension if model else 0)

    def word_counts(self, ids: Sequence[str], words: Sequence[str]) -> NDArray[np.float64]:
        counts = [[self.counts[id].get(word, 0) for word in words] for id in ids]
        return np.array(counts, dtype=np.float64).reshape(len(ids), len(words))

    def hint_counts(self, ids: Sequence[str], words: Sequence[str]) -> NDArray[np.float64]:
        counts = [[self.web.hints.get(id, {}).get(word, 0) for word in words] for id in ids]
        return np.array(counts, dtype=np.float64).reshape(len(ids), len(words))

    def sentences(self, id: str, word: str) -> int:
        """Where nobody cut the text into sentences, all it holds stands in every one."""
        uncut = not self.places.get(id) and word in self.counts.get(id, {})
        return -1 if uncut else self.places.get(id, {}).get(word, 0)

    def lengths(self, ids: Sequence[str]) -> NDArray[np.float64]:
        return np.array([sum(self.counts[id].values()) for id in ids], dtype=np.float64)


def count_words(shelf: ReferenceState, scope: str, sample: int, up_to: int) -> ReferenceWordCount:
    """Archived facts count too. The sample is by content hash, so that every store draws the same one."""
    inside = [fact for fact in shelf.in_scope(scope) if shelf.numbers[fact.id] <= up_to]
    facts = sorted(inside, key=lambda fact: fact.hash)
    words = [word for fact in facts for word in shelf.counts[fact.id]]
    vectors = [shelf.vectors[fact.id] for fact in facts if fact.id in shelf.vectors]
    length = int(shelf.lengths([fact.id for fact in facts]).sum())
    return ReferenceWordCount(len(facts), length, Counter(words), tuple(vectors[:sample]), up_to, sample)


def recount_words(shelf: ReferenceState, scopes: Iterable[str]) -> None:
    """Count what was counted, when some of it went or came back; what was told since is left for the next count."""
    known = {scope: shelf.counted[scope] for scope in scopes if scope in shelf.counted}
    shelf.counted |= {scope: count_words(shelf, scope, one.sampled, one.up_to) for scope, one in known.items()}


UNLIMITED_LINKS = 1_000_000


class ReferenceStore(caring.ReferenceCurationMixin, ReferenceLearningMixin):
    """Looks at everything each time; what it answers is what every store must answer."""

    is_async = False
    path = None
    server = None

    def __init__(self) -> None:
        self._kept: ReferenceState | None = ReferenceState()
        self._lock = RLock()

    def write(self, change: Change, expects: Mapping[str, int]) -> WriteResult:
        with self._lock:
            shelf = self._open().copy()
            if any(shelf.version(name) != version for name, version in expects.items()):
                raise Conflict("Somebody else wrote to the store in between.", way_out="Read it and try again.")
            reject_stale_facts(change.as_read, shelf.facts)
            change = drop_stale_dream_results(
                change, {id: fact.drawn_from for id, fact in shelf.facts.items() if id in change.dreamed}
            )
            before, written = self._open().web.edges, _apply_change(shelf, change)
            shelf.web.date_edges(before, shelf.facts, change.now)
            self._kept = shelf
            return written

    def collect_cascade(self, ids: Sequence[str]) -> RemovedCascade:
        return revising.collect_cascade(self._open(), ids)

    def read_history(self, id: str) -> FactHistory:
        shelf = self._open()
        return FactHistory(
            tuple(revising.list_history(shelf, id)),
            tuple(shelf.web.descriptions.get(id, ())),
            shelf.web.care.because.get(id) if id in shelf.facts and shelf.facts[id].archived else None,
        )

    def find_ids_by_hash(self, hashes: Sequence[bytes]) -> dict[bytes, str]:
        ids = self._open().ids
        return {hash: ids[hash] for hash in hashes if hash in ids}

    def read_facts(self, ids: Sequence[str]) -> list[Fact | None]:
        facts = self._open().facts
        return [facts.get(id) for id in ids]

    def list_facts(self, selection: FactSelection, limit: int, before: str | None = None) -> list[Fact]:
        shelf = self._open()
        match selection:
            case InboxSelection(scopes):
                inbox = [fact for id, fact in shelf.facts.items() if id in shelf.web.inbox]
                facts = [fact for fact in inbox if scopes is None or fact.scope in scopes]
            case UnembeddedSelection(model):
                embedded = shelf.vectors_of(StoredModel.decode(model).model)
                facts = [shelf.facts[id] for id in sorted(shelf.facts) if id not in embedded]
            case where:
                facts = sorted(shelf.seen(where), key=lambda fact: fact.id, reverse=True)
        return [fact for fact in facts if before is None or fact.id < before][:limit]

    def search_vectors(self, vector: Vectors, k: int, where: FactFilter, candidates: int) -> list[str]:
        return self._nearest(vector, k, where, COSINE_LOWER_BOUND)

    def search_similar(
        self, vector: Vectors, k: int, where: FactFilter, candidates: int, least: float
    ) -> list[NearbyFact]:
        shelf, ids = self._open(), self._nearest(vector, k, where, least)
        rows = shelf.rows([shelf.vectors[id] for id in ids])
        return [NearbyFact(id, shelf.facts[id].tags, row) for id, row in zip(ids, rows, strict=True)]

    def _nearest(self, vector: Vectors, k: int, where: FactFilter, least: float) -> list[str]:
        shelf, model = self._open(), self.read_record(MODEL_RECORD)
        if model is None:
            return []
        mean = StoredModel.decode(model.value).mean
        ids = [fact.id for fact in shelf.seen(where) if fact.id in shelf.vectors]
        rows = shelf.rows([shelf.vectors[id] for id in ids])
        cosines = vector_similarity.centre_vectors(rows, mean) @ vector_similarity.centre_vectors(vector, mean)
        close = np.flatnonzero(cosines >= least)
        return _select_best([ids[row] for row in close], cosines[close], k)

    def search_words(self, cue: KeywordQuery, k: int, where: FactFilter) -> list[str]:
        shelf = self._open()
        seen = [fact.id for fact in shelf.seen(where)]
        counts = search.count_words_with_context(shelf, seen, cue)
        held = np.flatnonzero(counts.any(axis=1))
        ids = [seen[row] for row in held]
        resisting = bm25.length_normalisation(shelf.lengths(ids), k1=cue.k1, b=cue.b, mean_length=cue.mean_length)
        return _select_best(
            ids, bm25.bm25_share(bm25.term_saturation(counts[held], resisting[:, None]), cue.weights), k
        )

    def search_times(self, spans: Sequence[tuple[datetime, datetime]], k: int, where: FactFilter) -> list[str]:
        return search.rank_by_time(self._open(), spans, k, where)

    def filter_visible(self, ids: Sequence[str], where: FactFilter) -> list[str]:
        shelf = self._open()
        return [id for id in ids if id in shelf.facts and shelf.admits(shelf.facts[id], where)]

    def fetch_features(self, ids: Sequence[str], words: Sequence[str], reach: int, near: int) -> FactFeatures:
        return search.gather_features(self._open(), ids, words, reach, near)

    def locate_words(self, ids: Sequence[str], words: Sequence[str]) -> NDArray[np.int64]:
        shelf = self._open()
        table = [[shelf.sentences(id, word) for word in words] for id in ids]
        return np.array(table, np.int64).reshape(len(ids), len(words))

    def match_speakers(self, scopes: Sequence[str], words: Sequence[str]) -> frozenset[str]:
        speakers = {fact.speaker for fact in self._open().facts.values() if fact.speaker and fact.scope in scopes}
        return frozenset(
            speaker for speaker in speakers if not set(fold_accents(speaker).casefold().split()).isdisjoint(words)
        )

    def match_tags(self, scopes: Sequence[str], names: Sequence[str]) -> frozenset[str]:
        held = {tag for fact in self._open().facts.values() if fact.scope in scopes for tag in fact.tags}
        return frozenset(names) & held

    def look_up_names(self, names: Sequence[str], where: FactFilter, most: int) -> list[KnownName]:
        return search.find_known_names(self._open(), names, where, most)

    def find_unlinked_mentions(
        self, scope: str, names: Mapping[str, Sequence[str]], most: int, anew: bool
    ) -> dict[str, list[str]]:
        return search.find_unmarked_mentions(self._open(), scope, names, most, anew=anew)

    def fetch_name_links(self, ids: Sequence[str], where: FactFilter, common: int, most: int) -> NameLinkTable:
        return search.build_name_link_table(self._open(), ids, where, common, most)

    def read_word_statistics(self, scopes: Sequence[str], words: Sequence[str]) -> WordStatistics:
        shelf = self._open()
        counted = [shelf.last_count(scope) for scope in sorted(set(scopes))]
        facts, length = sum(one.facts for one in counted), sum(one.length for one in counted)
        holding = tuple(sum(one.holding.get(word, 0) for one in counted) for word in words)
        sample = shelf.rows([vector for one in counted for vector in one.sample])
        told = [fact.time for fact in shelf.facts.values() if fact.scope in scopes and fact.time]
        mean = length / facts if facts else 0.0
        return WordStatistics(facts, mean, holding, sample, min(told, default=None), max(told, default=None))

    def read_record(self, name: str, optimistic: bool = False) -> StoreRecord | None:
        return self._open().records.get(name)

    def read_size(self) -> StoreSize:
        shelf = self._open()
        facts = shelf.facts.values()
        archived, scopes = sum(fact.archived for fact in facts), Counter(fact.scope for fact in facts)
        mentions = sum(len(named) for named in shelf.web.mentions.values())
        counts = (len(facts), archived, len(shelf.vectors), len(shelf.web.edges), mentions, len(shelf.web.inbox))
        return StoreSize(*counts, scopes, 0, place="this process")

    def list_edges(self, wanted: EdgeFilter, limit: int) -> list[Edge]:
        shelf = self._open()
        return graph.select_edges(shelf.web, shelf.facts, wanted, limit)

    def list_links(self, id: str, limit: int) -> list[Link]:
        shelf = self._open()
        return graph.list_links(shelf.web, shelf.facts, id, limit)

    def find_neighbours(self, ids: Sequence[str], k: int, sharing: int) -> NeighbourCandidates:
        return search.find_neighbour_candidates(self._open(), ids, k, sharing)

    def fetch_profiles(self, ids: Sequence[str]) -> FactProfiles:
        shelf = self._open()
        return FactProfiles(tuple(graph.list_profiles(shelf.web, shelf.facts, ids)), shelf.web.active_hours())

    def expand_links(self, ids: Sequence[str], conducting: ExpansionOptions) -> LinkExpansion:
        shelf, as_of = self._open(), conducting.where.as_of
        links = {
            id: graph.list_links(shelf.web, shelf.facts, id, UNLIMITED_LINKS, as_of) for id in ids if id in shelf.facts
        }
        admitted = {fact.id: content_order(fact.hash) for fact in shelf.seen(conducting.where)}
        return build_expansion(ids, links, conducting, admitted)

    def fetch_scope_graph(self, scope: str) -> ScopeGraph:
        shelf = self._open()
        return graph.build_scope_graph(shelf.web, shelf.facts, scope)

    def fetch_importance(self, ids: Sequence[str]) -> dict[str, FactImportance]:
        rated = self._open().web.importance
        return {id: rated[id] for id in ids if id in rated}

    def confirm_records(self) -> None:
        """Every record was read as it is."""

    def for_call(self) -> ReferenceStore:
        return self

    def together(self, calls: Sequence[MethodCall]) -> list[Any]:
        with self._lock:
            self._open()
            return [call_method(self, call) for call in calls]

    def compact(self) -> None:
        """Nothing remains of removed facts."""

    def backup(self, path: str) -> None:
        self._open()
        raise StoreError(f"This store has no file to copy to {path}.", way_out='Use one in a file: Memory("team.db").')

    def check(self) -> list[str]:
        self._open()
        return []

    def close(self) -> None:
        self._kept = None

    def _open(self) -> ReferenceState:
        if self._kept is None:
            raise StoreClosed("The store is closed.", way_out="Open it again.")
        return self._kept


def _apply_change(shelf: ReferenceState, change: Change) -> WriteResult:
    """Put a change into the shelf, part after part; the words are counted last, when all else is in place."""
    if change.idle_minutes is not None:
        shelf.web.use(change.now, change.idle_minutes)
    hours = shelf.web.active_hours() if change.idle_minutes is not None else 0.0
    followed, stored = _store_facts(shelf, change, hours)
    taken = revising.collect_cascade(shelf, change.removals)
    doomed = [shelf.facts[id] for id in dict.fromkeys(change.removals) if id in shelf.facts]
    for fact in doomed:
        del shelf.facts[fact.id], shelf.counts[fact.id], shelf.places[fact.id], shelf.ids[fact.hash]
        del shelf.numbers[fact.id]
        shelf.vectors.pop(fact.id, None)
        shelf.incoming.pop(fact.id, None)
        shelf.web.forget(fact.id)
        shelf.learning.forget(fact.id)
    revising.remove_citations(shelf.web, taken.rows.get(revising.CITED_KEY, {}))
    given = change.put_back.rows if change.put_back else {}
    put_back = revising.restore_entries(shelf, given)
    revived = list(given.get(revising.FACTS_KEY, {}).values())
    shelf.facts.update({id: replace(shelf.facts[id], pinned=on) for id, on in change.pins.items() if id in shelf.facts})
    for revised in change.revisions:
        revising.revise_fact(shelf, revised, change.now)
    before = shelf.model(MODEL_RECORD)
    _write_records(shelf, change.records)
    shelf.incoming |= {id: vector for id, vector in change.vectors.items() if id in shelf.facts}
    if change.adopt_vectors:
        _adopt_vectors(shelf, before)
    touched = {*(new.fact.scope for new in change.facts), *(fact.scope for fact in doomed + revived)}
    recount_words(shelf, touched if doomed or revived else ())
    shelf.counted |= {
        scope: count_words(shelf, scope, change.sample, shelf.numbers.get("", 0)) for scope in change.recount
    }
    touched |= set(change.recount)
    sizes = {scope: ScopeSize(len(shelf.in_scope(scope)), shelf.last_count(scope).facts) for scope in touched}
    edges = graph.write_graph(shelf.web, shelf.facts, shelf.counts, change)
    faded = caring.write_curation(
        caring.ReferenceDecayInput(shelf.web.care, shelf.web.edges, shelf.facts, shelf.web.spans), change
    )
    learned = write_learning(shelf.learning, shelf.web, shelf.facts, change)
    counts = edges + EdgeCounts(new=followed) + faded + learned
    return WriteResult(stored, len(doomed), counts, sizes, taken, put_back)


def _store_facts(shelf: ReferenceState, change: Change, hours: float) -> tuple[int, tuple[StoredFact, ...]]:
    """Keep the facts of a change and wire in those that are new. Returns how many edges that made, and what became of each."""
    stored = tuple(_store_fact(shelf, new, change.now) for new in change.facts)
    shelf.web.hours |= {one.id: hours for one in stored}
    fresh = [replace(new, fact=shelf.facts[one.id]) for new, one in zip(change.facts, stored, strict=True) if one.fresh]
    followed = sum(graph.add_fact_links(shelf.web, shelf.facts, new, change.reach) for new in fresh)
    graph.add_inferred_mentions(shelf.web, shelf.facts, fresh)
    return followed, stored


def _store_fact(shelf: ReferenceState, new: FactWrite, now: datetime) -> StoredFact:
    """Keep a fact, or reinforce the one that says the same. The words of added tags are found from then on as well."""
    id = shelf.ids.get(new.fact.hash)
    if id is not None:
        shelf.facts[id] = shelf.facts[id].observed_again(new.fact, now)
        shelf.counts[id] = {**new.counts, **shelf.counts[id]}
        return StoredFact(id, fresh=False)
    reject_forgotten_fact(new)
    id = shelf.ids[new.fact.hash] = new.fact.id
    shelf.numbers[""] = shelf.numbers[id] = shelf.numbers.get("", 0) + 1
    shelf.facts[id] = replace(new.fact, position=_next_position(shelf, new.fact))
    shelf.counts[id] = dict(new.counts)
    shelf.places[id] = dict(new.places)
    if new.vector is not None:
        shelf.vectors[id] = new.vector
    return StoredFact(id, fresh=True)


def _next_position(shelf: ReferenceState, new: Fact) -> int | None:
    if new.session is None:
        return None
    taken = [fact.position for fact in shelf.in_scope(new.scope) if fact.session == new.session]
    return max((position + 1 for position in taken if position is not None), default=0)


def _write_records(shelf: ReferenceState, records: Iterable[StoreRecord]) -> None:
    """Each writing raises a record's version. What was moving in is dropped when another model begins to."""
    moving = shelf.model(INCOMING_RECORD)
    for record in records:
        shelf.records[record.name] = replace(record, version=shelf.version(record.name) + 1)
    if shelf.model(INCOMING_RECORD) != moving:
        shelf.incoming = {}


def _adopt_vectors(shelf: ReferenceState, before: Model | None) -> None:
    """The vectors that moved in become the store's own; those of another model go, and the samples of them."""
    model = shelf.model(MODEL_RECORD)
    if model != before:
        shelf.vectors = {}
        shelf.counted = {scope: replace(counted, sample=()) for scope, counted in shelf.counted.items()}
    adopted = shelf.vectors_of(model)
    shelf.web.inbox |= {id: None for id in sorted(adopted) if id not in shelf.vectors}
    shelf.vectors = adopted
    shelf.records.pop(INCOMING_RECORD, None)
    shelf.incoming = {}


def _select_best(ids: Sequence[str], scores: NDArray[np.floating], k: int) -> list[str]:
    """The highest scores first; of equals, the newer. Six decimals, so that the last bit of a sum decides nothing."""
    rounded = np.round(scores, 6).tolist()
    return [id for _, id in sorted(zip(rounded, ids, strict=True), reverse=True)[:k]]
