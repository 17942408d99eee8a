"""The store protocol on Neo4j: which query generator serves each method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

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
    Link,
    RemovedCascade,
    StoreRecord,
    WriteResult,
)
from cofire.stores.base import (
    EdgeFilter,
    ExpansionOptions,
    FactFeatures,
    FactHistory,
    FactProfiles,
    FactSelection,
    KeywordQuery,
    KnownName,
    LinkExpansion,
    MethodCall,
    NameLinkTable,
    NearbyFact,
    NeighbourCandidates,
    ScopeGraph,
    StoreSize,
    WordStatistics,
)
from cofire.stores.curation_rows import ContradictionReview, CurationChange, DecaySummary, GraphHealth, UsageReport
from cofire.stores.learning_rows import (
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
    facts,
    features,
    graph_reads,
    learning,
    records,
    search,
    transfer_format,
    word_statistics,
)
from cofire.stores.neo4j.connection import Neo4jOptions, ServerAddress
from cofire.stores.neo4j.cypher import CypherQuery, QuerySteps, QueryStepsFactory, run_in_step, run_together
from cofire.stores.neo4j.prefetch import Prefetch
from cofire.stores.neo4j.records import SeenRecords
from cofire.stores.recall_log import RecallBuffer
from cofire.stores.transfer_format import StoreMetadata, TransferBatch

T = TypeVar("T")
P = ParamSpec("P")

S = TypeVar("S", bound="Neo4jStoreBase")

# The query generator behind each reading method, by name: `together` runs several of them in step.
QUERY_BUILDERS: dict[str, Callable[..., QuerySteps[Any]]] = {}


def runs_query(build: Callable[Concatenate[S, P], QuerySteps[T]]) -> Callable[Concatenate[S, P], T]:
    """Make a method that runs the query generator it builds. On an async store it returns an awaitable."""
    QUERY_BUILDERS[build.__name__] = build

    @wraps(build)
    def run(self: S, /, *args: P.args, **named: P.kwargs) -> T:
        self._refuse_closed()
        return self._read(partial(build, self, *args, **named))

    return run


class Neo4jStoreBase:
    """The store protocol, for both stores and for their per-call caches. Subclasses run the queries, called or awaited."""

    is_async = False
    path = None

    def __init__(self, address: ServerAddress, options: Neo4jOptions) -> None:
        self.server = address.place
        self._address = address
        self._options = options
        self._counts = word_statistics.Neo4jStatisticsCache()
        self._speakers: search.SpeakersByScope = {}
        self._seen: SeenRecords = {}
        self._unlogged = RecallBuffer(learning.RECALLS_PER_WRITE)
        self._closed = False

    @property
    def _prefetch(self) -> Prefetch:
        """Where queries leave rows for later steps. Outside a verb call there are none."""
        return Prefetch()

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreClosed(f"The store {self.server} was closed.", way_out="Open the memory again.")

    def _read(self, start: QueryStepsFactory[T]) -> T:
        """Run a query generator, each query in a transaction of its own."""
        raise NotImplementedError

    def _write(self, writing: Callable[P, QuerySteps[T]], *args: P.args, **named: P.kwargs) -> T:
        """Run a query generator in one write transaction, which the driver may run again."""
        raise NotImplementedError

    def _read_together(self, view: Neo4jStoreBase, calls: Sequence[MethodCall]) -> list[Any]:
        """Answer calls of a view of this store in joint queries; if that fails, each by itself to find the failing one."""
        raise NotImplementedError

    def _log(self, waiting: Sequence[LoggedRecall], keeping: RecallLogOptions) -> None:
        """Write logged recalls. A failure is a warning: it fails no recall."""
        raise NotImplementedError

    def _join_calls(self, calls: Sequence[MethodCall]) -> QuerySteps[list[Any]]:
        parts = [QUERY_BUILDERS[call.method](self, *call.arguments) for call in calls]
        answers = yield from run_in_step([*parts, *self._confirmations()])
        return answers[: len(calls)]

    def _confirmations(self) -> list[QuerySteps[None]]:
        """What has to be confirmed beside the next answers."""
        return []

    def together(self, calls: Sequence[MethodCall]) -> list[Any]:
        self._refuse_closed()
        return self._read_together(self, calls)

    def for_call(self) -> Neo4jStoreBase:
        raise NotImplementedError

    def close(self) -> None:
        """Write the recalls that are not logged yet, if the server is still there, and close the connections."""
        raise NotImplementedError

    def write(self, change: Change, expects: Mapping[str, int]) -> WriteResult:
        self._refuse_closed()
        for record in change.records:
            self._seen.pop(record.name, None)
        return self._write(changes.write_recalls_and_change, *self._unlogged.take(), change, expects)

    @runs_query
    def collect_cascade(self, ids: Sequence[str]) -> QuerySteps[RemovedCascade]:
        return cascade.collect_cascade(ids)

    @runs_query
    def export_facts(self, ids: Sequence[str]) -> QuerySteps[TransferBatch]:
        return transfer_format.export_facts(ids)

    def import_facts(self, carried: TransferBatch, now: datetime) -> None:
        self._refuse_closed()
        return self._write(transfer_format.import_facts, carried, now)

    @runs_query
    def read_metadata(self) -> QuerySteps[StoreMetadata]:
        return transfer_format.read_store_metadata()

    def write_metadata(self, household: StoreMetadata) -> None:
        self._refuse_closed()
        return self._write(transfer_format.write_store_metadata, household)

    @runs_query
    def read_history(self, id: str) -> QuerySteps[FactHistory]:
        return changes.fetch_history(id)

    @runs_query
    def find_ids_by_hash(self, hashes: Sequence[bytes]) -> QuerySteps[dict[bytes, str]]:
        return facts.find_ids_by_hash(hashes)

    @runs_query
    def read_facts(self, ids: Sequence[str]) -> QuerySteps[list[Fact | None]]:
        return facts.fetch_facts(self._prefetch, ids)

    @runs_query
    def list_facts(self, selection: FactSelection, limit: int, before: str | None = None) -> QuerySteps[list[Fact]]:
        return facts.list_facts(selection, limit, before)

    @runs_query
    def search_vectors(self, vector: Vectors, k: int, where: FactFilter, candidates: int) -> QuerySteps[list[str]]:
        return search.find_nearest_ids(vector, k, where, candidates)

    @runs_query
    def search_similar(
        self, vector: Vectors, k: int, where: FactFilter, candidates: int, least: float
    ) -> QuerySteps[list[NearbyFact]]:
        return search.find_nearby_facts(vector, k, where, candidates, least)

    @runs_query
    def search_words(self, cue: KeywordQuery, k: int, where: FactFilter) -> QuerySteps[list[str]]:
        return search.find_matching_ids(cue, k, where)

    @runs_query
    def search_times(
        self, spans: Sequence[tuple[datetime, datetime]], k: int, where: FactFilter
    ) -> QuerySteps[list[str]]:
        return search.find_by_time(spans, k, where)

    @runs_query
    def filter_visible(self, ids: Sequence[str], where: FactFilter) -> QuerySteps[list[str]]:
        return search.filter_ids(ids, where)

    @runs_query
    def fetch_features(
        self, ids: Sequence[str], words: Sequence[str], reach: int, near: int
    ) -> QuerySteps[FactFeatures]:
        return features.fetch_features(self._prefetch, ids, words, reach, near)

    @runs_query
    def locate_words(self, ids: Sequence[str], words: Sequence[str]) -> QuerySteps[NDArray[np.int64]]:
        return features.fetch_sentence_bits(self._prefetch, ids, words)

    @runs_query
    def match_speakers(self, scopes: Sequence[str], words: Sequence[str]) -> QuerySteps[frozenset[str]]:
        return search.find_speakers(self._speakers, scopes, words)

    @runs_query
    def match_tags(self, scopes: Sequence[str], names: Sequence[str]) -> QuerySteps[frozenset[str]]:
        return search.find_existing_tags(scopes, names)

    @runs_query
    def look_up_names(self, names: Sequence[str], where: FactFilter, most: int) -> QuerySteps[list[KnownName]]:
        return graph_reads.find_known_names(names, where, most)

    @runs_query
    def find_unlinked_mentions(
        self, scope: str, names: Mapping[str, Sequence[str]], most: int, anew: bool
    ) -> QuerySteps[dict[str, list[str]]]:
        return graph_reads.find_unmarked_mentions(scope, names, most, anew)

    @runs_query
    def fetch_name_links(
        self, ids: Sequence[str], where: FactFilter, common: int, most: int
    ) -> QuerySteps[NameLinkTable]:
        return graph_reads.fetch_name_link_table(self._prefetch, ids, where, common, most)

    @runs_query
    def read_word_statistics(self, scopes: Sequence[str], words: Sequence[str]) -> QuerySteps[WordStatistics]:
        return word_statistics.fetch_word_statistics(self._prefetch, self._counts, scopes, words)

    @runs_query
    def read_record(self, name: str, optimistic: bool = False) -> QuerySteps[StoreRecord | None]:
        return records.fetch_and_remember_record(self._seen, name)

    @runs_query
    def list_edges(self, wanted: EdgeFilter, limit: int) -> QuerySteps[list[Edge]]:
        return graph_reads.fetch_edges(wanted, limit)

    @runs_query
    def list_links(self, id: str, limit: int) -> QuerySteps[list[Link]]:
        return graph_reads.fetch_links(id, limit)

    @runs_query
    def find_neighbours(self, ids: Sequence[str], k: int, sharing: int) -> QuerySteps[NeighbourCandidates]:
        return search.find_neighbour_candidates(ids, k, sharing)

    @runs_query
    def fetch_profiles(self, ids: Sequence[str]) -> QuerySteps[FactProfiles]:
        profiles, hours = yield from run_together(graph_reads.fetch_profiles(ids), learning.fetch_active_hours())
        return FactProfiles(profiles, hours)

    @runs_query
    def expand_links(self, ids: Sequence[str], conducting: ExpansionOptions) -> QuerySteps[LinkExpansion]:
        return graph_reads.fetch_expansion(self._prefetch, ids, conducting)

    @runs_query
    def fetch_scope_graph(self, scope: str) -> QuerySteps[ScopeGraph]:
        return graph_reads.fetch_scope_graph(scope)

    @runs_query
    def fetch_importance(self, ids: Sequence[str]) -> QuerySteps[dict[str, FactImportance]]:
        return graph_reads.fetch_importance(ids)

    @runs_query
    def read_size(self) -> QuerySteps[StoreSize]:
        return facts.fetch_store_size(self.server)

    @runs_query
    def check(self) -> QuerySteps[list[str]]:
        return facts.check_store()

    @runs_query
    def preview_decay(self, change: CurationChange, now: datetime, examples: int) -> QuerySteps[DecaySummary]:
        return curation.fetch_decay_preview(change, now, examples)

    @runs_query
    def read_usage(self) -> QuerySteps[UsageReport]:
        return curation.fetch_usage()

    @runs_query
    def check_graph(self) -> QuerySteps[GraphHealth]:
        return curation.fetch_health()

    @runs_query
    def list_changed_ids(self, since: datetime | None) -> QuerySteps[list[str]]:
        return curation.fetch_changed_ids(since)

    @runs_query
    def list_reviews(self, open_only: bool) -> QuerySteps[list[ContradictionReview]]:
        return curation.fetch_reviews(open_only)

    def log_recall(self, shown: LoggedRecall, keeping: RecallLogOptions) -> None:
        self._refuse_closed()
        if self._unlogged.add(shown, keeping):
            waiting, _ = self._unlogged.take()
            return self._log(waiting, keeping)

    @runs_query
    def read_recall(self, id: str) -> QuerySteps[LoggedRecall | None]:
        return self._unlogged.find(id) or (yield from learning.read_recall(id))

    @runs_query
    def fetch_feedback_counts(self, ids: Sequence[str]) -> QuerySteps[dict[str, FeedbackCounts]]:
        return learning.fetch_uses(ids)

    @runs_query
    def find_judged_recalls(self, ids: Sequence[str], limit: int) -> QuerySteps[list[JudgedRecall]]:
        return learning.find_similar_recalls(self._prefetch, ids, limit)

    @runs_query
    def list_communities(
        self, scopes: Sequence[str] | None, limit: int, most: int
    ) -> QuerySteps[list[CommunityMembers]]:
        return learning.fetch_communities(scopes, limit, most)

    def backup(self, path: str) -> None:
        self._refuse_closed()
        raise StoreError(
            f"A server keeps its own backups; nothing was copied to {path}.",
            way_out="Use neo4j-admin database dump on the server, or: cofire export FILE",
        )

    def confirm_records(self) -> None:
        """Every record was read as it is."""

    def compact(self) -> None:
        """The server reuses the space of removed rows by itself."""

    def _timed(self, query: CypherQuery) -> neo4j.Query:
        return neo4j.Query(cast(Any, query.text), timeout=self._options.answer_seconds)
