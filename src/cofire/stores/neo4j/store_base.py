"""The store protocol on Neo4j: which query generator serves each method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from datetime import datetime
from functools import partial
from typing import Any, ParamSpec, TypeVar, cast

import neo4j
import numpy as np
from numpy.typing import NDArray

from cofire.embedders.base import Vectors
from cofire.errors import StoreClosed, StoreError
from cofire.model import (
    Change,
    Edge,
    Fact,
    FactFilter,
    FactImportance,
    FactVersion,
    Link,
    RemovedCascade,
    StoreRecord,
    WriteResult,
)
from cofire.stores.base import (
    EdgeFilter,
    ExpansionOptions,
    FactFeatures,
    FactProfile,
    KeywordQuery,
    KnownName,
    LinkExpansion,
    NameLinkTable,
    NearbyFact,
    NeighbourCandidates,
    ScopeGraph,
    StoreSize,
    WordStatistics,
)
from cofire.stores.curation_protocol import ContradictionReview, DecayRule, DecaySummary, FactUsage, GraphHealth
from cofire.stores.learning_protocol import (
    CommunityMembers,
    FeedbackCounts,
    JudgedRecall,
    LoggedRecall,
    RecallLogOptions,
)
from cofire.stores.neo4j import (
    cascade,
    changes,
    curation,
    fact_reads,
    features,
    graph_reads,
    learning,
    records,
    search,
    transfer_format,
    word_statistics,
)
from cofire.stores.neo4j import graph_reads as naming
from cofire.stores.neo4j.connection import Neo4jOptions, ServerAddress
from cofire.stores.neo4j.cypher import CypherQuery, QuerySteps, QueryStepsFactory
from cofire.stores.neo4j.prefetch import Prefetch
from cofire.stores.neo4j.records import SeenRecords
from cofire.stores.transfer_format import StoreMetadata, TransferBatch

T = TypeVar("T")
P = ParamSpec("P")

# While questions are gathered, a method answers with the reading that it would do.
_COLLECTING_READS: ContextVar[bool] = ContextVar("gathering", default=False)


class Neo4jStoreBase:
    """The protocol, the same for both stores and for their sittings. What `_answer` and `_write` return is awaited by whoever awaits."""

    awaits = False

    def __init__(self, address: ServerAddress, options: Neo4jOptions) -> None:
        self.place = address.place
        self._address = address
        self._options = options
        self._counts = word_statistics.Neo4jStatisticsCache()
        self._speakers: search.SpeakersByScope = {}
        self._seen: SeenRecords = {}
        self._unlogged = learning.Neo4jRecallBuffer()
        self._closed = False

    @property
    def _brought(self) -> Prefetch:
        """Where answers leave what comes along: here nobody keeps it."""
        return Prefetch()

    def _answer(self, reading: Callable[P, QuerySteps[T]], *args: P.args, **named: P.kwargs) -> T:
        begun = partial(reading, *args, **named)
        self._refuse_closed()
        return cast(T, begun) if _COLLECTING_READS.get() else self._read(begun)

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreClosed(f"The store {self.place} was closed.", way_out="Open the memory again.")

    def _read(self, begun: QueryStepsFactory[T]) -> T:
        raise NotImplementedError

    def _write(self, writing: Callable[P, QuerySteps[T]], *args: P.args, **named: P.kwargs) -> T:
        raise NotImplementedError

    def together(
        self, questions: Sequence[Callable[[], Any]], besides: Sequence[QueryStepsFactory[Any]] = ()
    ) -> list[Any]:
        """In one round trip a step, others besides; where that fails each by itself, so that it is known which one does."""
        raise NotImplementedError

    def close(self) -> None:
        """What was shown and not yet logged is logged first, if the server is still there."""
        raise NotImplementedError

    def _note(self, waiting: Sequence[LoggedRecall], keeping: RecallLogOptions) -> None:
        """Write what was shown. When that fails it is told to the log of the program, and nobody's recall fails with it."""
        raise NotImplementedError

    def write(self, change: Change, expects: Mapping[str, int]) -> WriteResult:
        self._refuse_closed()
        for record in change.records:
            self._seen.pop(record.name, None)
        return self._write(changes.write_recalls_and_change, *self._unlogged.take(), change, expects)

    def taken(self, ids: Sequence[str]) -> RemovedCascade:
        return self._answer(cascade.collect_cascade, ids)

    def carried(self, ids: Sequence[str]) -> TransferBatch:
        return self._answer(transfer_format.export_facts, ids)

    def take_in(self, carried: TransferBatch, now: datetime) -> None:
        self._refuse_closed()
        return self._write(transfer_format.import_facts, carried, now)

    def household(self) -> StoreMetadata:
        return self._answer(transfer_format.read_store_metadata)

    def furnish(self, household: StoreMetadata) -> None:
        self._refuse_closed()
        return self._write(transfer_format.write_store_metadata, household)

    def history(self, id: str) -> list[FactVersion]:
        return self._answer(changes.fetch_history, id)

    def recognise(self, hashes: Sequence[bytes]) -> dict[bytes, str]:
        return self._answer(fact_reads.find_ids_by_hash, hashes)

    def read(self, ids: Sequence[str]) -> list[Fact | None]:
        return self._answer(fact_reads.fetch_facts, self._brought, ids)

    def scan(self, where: FactFilter, limit: int, before: str | None) -> list[Fact]:
        return self._answer(fact_reads.scan_facts, where, limit, before)

    def nearest(self, vector: Vectors, k: int, where: FactFilter, candidates: int) -> list[str]:
        return self._answer(search.find_nearest_ids, vector, k, where, candidates)

    def alike(self, vector: Vectors, k: int, where: FactFilter, candidates: int, least: float) -> list[NearbyFact]:
        return self._answer(search.find_nearby_facts, vector, k, where, candidates, least)

    def matching(self, cue: KeywordQuery, k: int, where: FactFilter) -> list[str]:
        return self._answer(search.find_matching_ids, cue, k, where)

    def timely(self, spans: Sequence[tuple[datetime, datetime]], k: int, where: FactFilter) -> list[str]:
        return self._answer(search.find_by_time, spans, k, where)

    def admitted(self, ids: Sequence[str], where: FactFilter) -> list[str]:
        return self._answer(search.filter_ids, ids, where)

    def weigh(self, ids: Sequence[str], words: Sequence[str], reach: int, near: int) -> FactFeatures:
        return self._answer(features.fetch_features, self._brought, ids, words, reach, near)

    def places(self, ids: Sequence[str], words: Sequence[str]) -> NDArray[np.int64]:
        return self._answer(features.fetch_sentence_bits, self._brought, ids, words)

    def voices(self, scopes: Sequence[str], words: Sequence[str]) -> frozenset[str]:
        return self._answer(search.find_speakers, self._speakers, scopes, words)

    def tags(self, scopes: Sequence[str], names: Sequence[str]) -> frozenset[str]:
        return self._answer(search.find_existing_tags, scopes, names)

    def known(self, names: Sequence[str], where: FactFilter, most: int) -> list[KnownName]:
        return self._answer(naming.find_known_names, names, where, most)

    def speaking(self, scope: str, names: Mapping[str, Sequence[str]], most: int, anew: bool) -> dict[str, list[str]]:
        return self._answer(naming.find_unmarked_mentions, scope, names, most, anew)

    def paths(self, ids: Sequence[str], where: FactFilter, common: int, most: int) -> NameLinkTable:
        return self._answer(naming.fetch_name_link_table, self._brought, ids, where, common, most)

    def statistics(self, scopes: Sequence[str], words: Sequence[str]) -> WordStatistics:
        return self._answer(word_statistics.fetch_word_statistics, self._brought, self._counts, scopes, words)

    def record(self, name: str) -> StoreRecord | None:
        return self._answer(records.fetch_and_remember_record, self._seen, name)

    def unembedded(self, model: bytes, limit: int) -> list[Fact]:
        return self._answer(fact_reads.fetch_unembedded, model, limit)

    def edges(self, wanted: EdgeFilter, limit: int) -> list[Edge]:
        return self._answer(graph_reads.fetch_edges, wanted, limit)

    def links(self, id: str, limit: int) -> list[Link]:
        return self._answer(graph_reads.fetch_links, id, limit)

    def waiting(self, scopes: Sequence[str] | None, limit: int) -> list[Fact]:
        return self._answer(fact_reads.fetch_inbox, scopes, limit)

    def kin(self, ids: Sequence[str], k: int, sharing: int) -> NeighbourCandidates:
        return self._answer(search.find_neighbour_candidates, ids, k, sharing)

    def profiles(self, ids: Sequence[str]) -> list[FactProfile]:
        return self._answer(graph_reads.fetch_profiles, ids)

    def expand(self, ids: Sequence[str], conducting: ExpansionOptions) -> LinkExpansion:
        return self._answer(graph_reads.fetch_expansion, self._brought, ids, conducting)

    def network(self, scope: str) -> ScopeGraph:
        return self._answer(graph_reads.fetch_scope_graph, scope)

    def importance(self, ids: Sequence[str]) -> dict[str, FactImportance]:
        return self._answer(graph_reads.fetch_importance, ids)

    def descriptions(self, id: str) -> list[str]:
        return self._answer(graph_reads.fetch_descriptions, id)

    def active_hours(self) -> float:
        return self._answer(learning.fetch_active_hours)

    def size(self) -> StoreSize:
        return self._answer(fact_reads.fetch_store_size, self.place)

    def check(self) -> list[str]:
        return self._answer(fact_reads.check_store)

    def fading(self, fade: DecayRule, now: datetime, examples: int) -> DecaySummary:
        return self._answer(curation.fetch_decay_preview, fade, now, examples)

    def weak(self, threshold: float, examples: int) -> DecaySummary:
        return self._answer(curation.fetch_weak_edges, threshold, examples)

    def usage(self) -> list[FactUsage]:
        return self._answer(curation.fetch_usage)

    def active_days(self) -> list[int]:
        return self._answer(curation.fetch_active_days)

    def health(self) -> GraphHealth:
        return self._answer(curation.fetch_health)

    def changed_facts(self, since: datetime | None) -> list[str]:
        return self._answer(curation.fetch_changed_ids, since)

    def reviews(self, open_only: bool) -> list[ContradictionReview]:
        return self._answer(curation.fetch_reviews, open_only)

    def archived_because(self, ids: Sequence[str]) -> Mapping[str, str]:
        return self._answer(curation.fetch_archive_reasons, ids)

    def log(self, shown: LoggedRecall, keeping: RecallLogOptions) -> None:
        self._refuse_closed()
        if waiting := self._unlogged.add(shown, keeping):
            return self._note(waiting, keeping)

    def shown(self, id: str) -> LoggedRecall | None:
        self._refuse_closed()
        return self._unlogged.find(id) or self._answer(learning.read_recall, id)

    def uses(self, ids: Sequence[str]) -> dict[str, FeedbackCounts]:
        return self._answer(learning.fetch_uses, ids)

    def occasions(self, ids: Sequence[str], limit: int) -> list[JudgedRecall]:
        return self._answer(learning.find_similar_recalls, self._brought, ids, limit)

    def groups(self, scopes: Sequence[str] | None, limit: int, most: int) -> list[CommunityMembers]:
        return self._answer(learning.fetch_communities, scopes, limit, most)

    def backup(self, path: str) -> None:
        self._refuse_closed()
        raise StoreError(
            f"A server keeps its own backups; nothing was copied to {path}.",
            way_out="Use neo4j-admin database dump on the server, or: cofire export FILE",
        )

    def _gathered(self, questions: Sequence[Callable[[], Any]]) -> list[QueryStepsFactory[Any] | None]:
        """The reading that each question comes to; None for one that makes something of its answer, and is asked by itself."""
        self._refuse_closed()
        gathering = _COLLECTING_READS.set(True)
        try:
            return [_collect_read(question) for question in questions]
        finally:
            _COLLECTING_READS.reset(gathering)

    def _timed(self, query: CypherQuery) -> neo4j.Query:
        return neo4j.Query(cast(Any, query.text), timeout=self._options.answer_seconds)


def _collect_read(question: Callable[[], Any]) -> QueryStepsFactory[Any] | None:
    try:
        found = question()
    except (TypeError, AttributeError):
        return None
    return found if isinstance(found, partial) else None
