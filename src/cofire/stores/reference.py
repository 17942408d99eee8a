"""The reference store: the Store protocol in plain dictionaries, as its living definition. No index, no file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics import bm25, likeness
from cofire.embedders.base import Model, StoredModel, Vectors
from cofire.errors import Conflict, StoreClosed, StoreError
from cofire.model import (
    Change,
    Edge,
    EdgeCounts,
    Fact,
    Importance,
    Link,
    NewFact,
    Past,
    Record,
    ScopeSize,
    Stored,
    Where,
    Written,
)
from cofire.reading.words import fold
from cofire.revising import Taken
from cofire.stores import reference_curating as caring
from cofire.stores import reference_graph as graph
from cofire.stores import reference_kin, reference_recall
from cofire.stores import reference_revising as revising
from cofire.stores.base import (
    INCOMING_RECORD,
    LEAST_COSINE,
    MODEL_RECORD,
    Conducting,
    EdgeFilter,
    Evidence,
    Expansion,
    Kin,
    Known,
    NamePaths,
    Near,
    Network,
    Profile,
    StoreSize,
    WordCue,
    WordStatistics,
)
from cofire.stores.expanding import expansion
from cofire.stores.linking import content_order
from cofire.stores.reference_learning import Lessons, write_learning
from cofire.stores.reference_shelf import Shelf, count, count_again
from cofire.stores.refusing import refuse_forgotten, refuse_overtaken, still_true

EVERY_LINK = 1_000_000


class ReferenceStore(caring.Curating, Lessons):
    """Looks at everything each time; what it answers is what every store must answer."""

    def __init__(self) -> None:
        self._kept: Shelf | None = Shelf()
        self._lock = RLock()

    def write(self, change: Change, expects: Mapping[str, int]) -> Written:
        with self._lock:
            shelf = self._open().copy()
            if any(shelf.version(name) != version for name, version in expects.items()):
                raise Conflict("Somebody else wrote to the store in between.", way_out="Read it and try again.")
            refuse_overtaken(change.as_read, shelf.facts)
            change = still_true(
                change, {id: fact.drawn_from for id, fact in shelf.facts.items() if id in change.dreamed}
            )
            before, written = self._open().web.edges, _written(shelf, change)
            shelf.web.date_edges(before, shelf.facts, change.now)
            self._kept = shelf
            return written

    def taken(self, ids: Sequence[str]) -> Taken:
        return revising.taken(self._open(), ids)

    def history(self, id: str) -> list[Past]:
        return revising.history_of(self._open(), id)

    def recognise(self, hashes: Sequence[bytes]) -> dict[bytes, str]:
        ids = self._open().ids
        return {hash: ids[hash] for hash in hashes if hash in ids}

    def read(self, ids: Sequence[str]) -> list[Fact | None]:
        facts = self._open().facts
        return [facts.get(id) for id in ids]

    def scan(self, where: Where, limit: int, before: str | None) -> list[Fact]:
        seen = [fact for fact in self._open().seen(where) if before is None or fact.id < before]
        return sorted(seen, key=lambda fact: fact.id, reverse=True)[:limit]

    def nearest(self, vector: Vectors, k: int, where: Where, candidates: int) -> list[str]:
        return self._nearest(vector, k, where, LEAST_COSINE)

    def alike(self, vector: Vectors, k: int, where: Where, candidates: int, least: float) -> list[Near]:
        shelf, ids = self._open(), self._nearest(vector, k, where, least)
        rows = shelf.rows([shelf.vectors[id] for id in ids])
        return [Near(id, shelf.facts[id].tags, row) for id, row in zip(ids, rows, strict=True)]

    def _nearest(self, vector: Vectors, k: int, where: Where, least: float) -> list[str]:
        shelf, model = self._open(), self.record(MODEL_RECORD)
        if model is None:
            return []
        mean = StoredModel.decode(model.value).mean
        ids = [fact.id for fact in shelf.seen(where) if fact.id in shelf.vectors]
        rows = shelf.rows([shelf.vectors[id] for id in ids])
        cosines = likeness.centred(rows, mean) @ likeness.centred(vector, mean)
        close = np.flatnonzero(cosines >= least)
        return _best([ids[row] for row in close], cosines[close], k)

    def matching(self, cue: WordCue, k: int, where: Where) -> list[str]:
        shelf = self._open()
        seen = [fact.id for fact in shelf.seen(where)]
        counts = reference_recall.counts_with_context(shelf, seen, cue)
        held = np.flatnonzero(counts.any(axis=1))
        ids = [seen[row] for row in held]
        resisting = bm25.resistance(shelf.lengths(ids), k1=cue.k1, b=cue.b, mean_length=cue.mean_length)
        return _best(ids, bm25.share(bm25.saturation(counts[held], resisting[:, None]), cue.weights), k)

    def timely(self, spans: Sequence[tuple[datetime, datetime]], k: int, where: Where) -> list[str]:
        return reference_recall.timely(self._open(), spans, k, where)

    def admitted(self, ids: Sequence[str], where: Where) -> list[str]:
        shelf = self._open()
        return [id for id in ids if id in shelf.facts and shelf.admits(shelf.facts[id], where)]

    def weigh(self, ids: Sequence[str], words: Sequence[str], reach: int, near: int) -> Evidence:
        return reference_recall.evidence(self._open(), ids, words, reach, near)

    def places(self, ids: Sequence[str], words: Sequence[str]) -> NDArray[np.int64]:
        shelf = self._open()
        table = [[shelf.sentences(id, word) for word in words] for id in ids]
        return np.array(table, np.int64).reshape(len(ids), len(words))

    def voices(self, scopes: Sequence[str], words: Sequence[str]) -> frozenset[str]:
        speakers = {fact.speaker for fact in self._open().facts.values() if fact.speaker and fact.scope in scopes}
        return frozenset(speaker for speaker in speakers if not set(fold(speaker).casefold().split()).isdisjoint(words))

    def tags(self, scopes: Sequence[str], names: Sequence[str]) -> frozenset[str]:
        held = {tag for fact in self._open().facts.values() if fact.scope in scopes for tag in fact.tags}
        return frozenset(names) & held

    def known(self, names: Sequence[str], where: Where, most: int) -> list[Known]:
        return reference_recall.known(self._open(), names, where, most)

    def speaking(self, scope: str, names: Mapping[str, Sequence[str]], most: int, anew: bool) -> dict[str, list[str]]:
        return reference_recall.speaking(self._open(), scope, names, most, anew=anew)

    def paths(self, ids: Sequence[str], where: Where, common: int, most: int) -> NamePaths:
        return reference_recall.paths(self._open(), ids, where, common, most)

    def statistics(self, scopes: Sequence[str], words: Sequence[str]) -> WordStatistics:
        shelf = self._open()
        counted = [shelf.last_count(scope) for scope in sorted(set(scopes))]
        facts, length = sum(one.facts for one in counted), sum(one.length for one in counted)
        holding = tuple(sum(one.holding.get(word, 0) for one in counted) for word in words)
        sample = shelf.rows([vector for one in counted for vector in one.sample])
        told = [fact.time for fact in shelf.facts.values() if fact.scope in scopes and fact.time]
        mean = length / facts if facts else 0.0
        return WordStatistics(facts, mean, holding, sample, min(told, default=None), max(told, default=None))

    def record(self, name: str) -> Record | None:
        return self._open().records.get(name)

    def unembedded(self, model: bytes, limit: int) -> list[Fact]:
        shelf = self._open()
        have = shelf.vectors_of(StoredModel.decode(model).model)
        return [shelf.facts[id] for id in sorted(shelf.facts) if id not in have][:limit]

    def size(self) -> StoreSize:
        shelf = self._open()
        facts = shelf.facts.values()
        archived, scopes = sum(fact.archived for fact in facts), Counter(fact.scope for fact in facts)
        mentions = sum(len(named) for named in shelf.web.mentions.values())
        counts = (len(facts), archived, len(shelf.vectors), len(shelf.web.edges), mentions, len(shelf.web.inbox))
        return StoreSize(*counts, scopes, 0, place="this process")

    def edges(self, wanted: EdgeFilter, limit: int) -> list[Edge]:
        shelf = self._open()
        return graph.edges(shelf.web, shelf.facts, wanted, limit)

    def links(self, id: str, limit: int) -> list[Link]:
        shelf = self._open()
        return graph.links(shelf.web, shelf.facts, id, limit)

    def waiting(self, scopes: Sequence[str] | None, limit: int) -> list[Fact]:
        shelf = self._open()
        facts = [fact for id, fact in shelf.facts.items() if id in shelf.web.inbox]
        return [fact for fact in facts if scopes is None or fact.scope in scopes][:limit]

    def kin(self, ids: Sequence[str], k: int, sharing: int) -> Kin:
        return reference_kin.kin(self._open(), ids, k, sharing)

    def profiles(self, ids: Sequence[str]) -> list[Profile]:
        shelf = self._open()
        return graph.profiles(shelf.web, shelf.facts, ids)

    def expand(self, ids: Sequence[str], conducting: Conducting, least: NDArray[np.float64] | None = None) -> Expansion:
        shelf, as_of = self._open(), conducting.where.as_of
        links = {id: graph.links(shelf.web, shelf.facts, id, EVERY_LINK, as_of) for id in ids if id in shelf.facts}
        admitted = {fact.id: content_order(fact.hash) for fact in shelf.seen(conducting.where)}
        return expansion(ids, links, conducting, admitted)

    def network(self, scope: str) -> Network:
        shelf = self._open()
        return graph.network(shelf.web, shelf.facts, scope)

    def importance(self, ids: Sequence[str]) -> dict[str, Importance]:
        rated = self._open().web.importance
        return {id: rated[id] for id in ids if id in rated}

    def descriptions(self, id: str) -> list[str]:
        return list(self._open().web.descriptions.get(id, []))

    def active_hours(self) -> float:
        return self._open().web.active_hours()

    def together(self, questions: Sequence[Callable[[], Any]]) -> list[Any]:
        with self._lock:
            self._open()
            return [question() for question in questions]

    def backup(self, path: str) -> None:
        self._open()
        raise StoreError(f"This store has no file to copy to {path}.", way_out='Use one in a file: Memory("team.db").')

    def check(self) -> list[str]:
        self._open()
        return []

    def close(self) -> None:
        self._kept = None

    def _open(self) -> Shelf:
        if self._kept is None:
            raise StoreClosed("The store is closed.", way_out="Open it again.")
        return self._kept


def _written(shelf: Shelf, change: Change) -> Written:
    """Put a change into the shelf, part after part; the words are counted last, when all else is in place."""
    if change.idle_minutes is not None:
        shelf.web.use(change.now, change.idle_minutes)
    hours = shelf.web.active_hours() if change.idle_minutes is not None else 0.0
    followed, stored = _tell_all(shelf, change, hours)
    taken = revising.taken(shelf, change.removals)
    doomed = [shelf.facts[id] for id in dict.fromkeys(change.removals) if id in shelf.facts]
    for fact in doomed:
        del shelf.facts[fact.id], shelf.counts[fact.id], shelf.places[fact.id], shelf.ids[fact.hash]
        del shelf.numbers[fact.id]
        shelf.vectors.pop(fact.id, None)
        shelf.incoming.pop(fact.id, None)
        shelf.web.forget(fact.id)
        shelf.learning.forget(fact.id)
    revising.scrub(shelf.web, taken.rows.get(revising.CITED, {}))
    given = change.put_back.rows if change.put_back else {}
    put_back = revising.put_back(shelf, given)
    revived = list(given.get(revising.FACTS, {}).values())
    shelf.facts.update({id: replace(shelf.facts[id], pinned=on) for id, on in change.pins.items() if id in shelf.facts})
    for revised in change.revisions:
        revising.revise(shelf, revised, change.now)
    before = shelf.model(MODEL_RECORD)
    _record(shelf, change.records)
    shelf.incoming |= {id: vector for id, vector in change.vectors.items() if id in shelf.facts}
    if change.adopt_vectors:
        _adopt(shelf, before)
    touched = {*(new.fact.scope for new in change.facts), *(fact.scope for fact in doomed + revived)}
    count_again(shelf, touched if doomed or revived else ())
    shelf.counted |= {scope: count(shelf, scope, change.sample, shelf.numbers.get("", 0)) for scope in change.recount}
    touched |= set(change.recount)
    sizes = {scope: ScopeSize(len(shelf.in_scope(scope)), shelf.last_count(scope).facts) for scope in touched}
    edges = graph.write_graph(shelf.web, shelf.facts, shelf.counts, change)
    faded = caring.write_curation(caring.Ground(shelf.web.care, shelf.web.edges, shelf.facts, shelf.web.spans), change)
    learned = write_learning(shelf.learning, shelf.web, shelf.facts, change)
    new, changed = edges.new + followed + learned.new, edges.changed + faded.changed + learned.changed
    return Written(stored, len(doomed), EdgeCounts(new, changed, edges.ended + faded.ended), sizes, taken, put_back)


def _tell_all(shelf: Shelf, change: Change, hours: float) -> tuple[int, tuple[Stored, ...]]:
    """Keep the facts of a change and wire in those that are new. Returns how many edges that made, and what became of each."""
    stored = tuple(_tell(shelf, new, change.now) for new in change.facts)
    shelf.web.hours |= {one.id: hours for one in stored}
    fresh = [replace(new, fact=shelf.facts[one.id]) for new, one in zip(change.facts, stored, strict=True) if one.fresh]
    followed = sum(graph.wire_fact(shelf.web, shelf.facts, new, change.reach) for new in fresh)
    graph.suppose_names(shelf.web, shelf.facts, fresh)
    return followed, stored


def _tell(shelf: Shelf, new: NewFact, now: datetime) -> Stored:
    """Keep a fact, or reinforce the one that says the same. The words of added tags are found from then on as well."""
    id = shelf.ids.get(new.fact.hash)
    if id is not None:
        shelf.facts[id] = shelf.facts[id].observed_again(new.fact, now)
        shelf.counts[id] = {**new.counts, **shelf.counts[id]}
        return Stored(id, fresh=False)
    refuse_forgotten(new)
    id = shelf.ids[new.fact.hash] = new.fact.id
    shelf.numbers[""] = shelf.numbers[id] = shelf.numbers.get("", 0) + 1
    shelf.facts[id] = replace(new.fact, position=_next_position(shelf, new.fact))
    shelf.counts[id] = dict(new.counts)
    shelf.places[id] = dict(new.places)
    if new.vector is not None:
        shelf.vectors[id] = new.vector
    return Stored(id, fresh=True)


def _next_position(shelf: Shelf, new: Fact) -> int | None:
    if new.session is None:
        return None
    taken = [fact.position for fact in shelf.in_scope(new.scope) if fact.session == new.session]
    return max((position + 1 for position in taken if position is not None), default=0)


def _record(shelf: Shelf, records: Iterable[Record]) -> None:
    """Each writing raises a record's version. What was moving in is dropped when another model begins to."""
    moving = shelf.model(INCOMING_RECORD)
    for record in records:
        shelf.records[record.name] = replace(record, version=shelf.version(record.name) + 1)
    if shelf.model(INCOMING_RECORD) != moving:
        shelf.incoming = {}


def _adopt(shelf: Shelf, before: Model | None) -> None:
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


def _best(ids: Sequence[str], scores: NDArray[np.floating], k: int) -> list[str]:
    """The highest scores first; of equals, the newer. Six decimals, so that the last bit of a sum decides nothing."""
    rounded = np.round(scores, 6).tolist()
    return [id for _, id in sorted(zip(rounded, ids, strict=True), reverse=True)[:k]]
