"""The SQLite store: the store protocol on one file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.vector_similarity import centre_vectors, centred_cosines
from cofire.embedders.base import StoredModel, Vectors
from cofire.errors import StoreClosed, StoreNotOpened
from cofire.index import lookup
from cofire.index.expansion import ExpansionSeeds, LinkExpander
from cofire.index.fact_index import NO_SCORED_POSITIONS, FactIndex, ScoredPositions, list_filter_marks
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
    MODEL_RECORD,
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
    call_method,
)
from cofire.stores.recall_log import RecallBuffer
from cofire.stores.sqlite import (
    backups,
    cascade,
    fact_reads,
    fact_sql,
    fact_writes,
    graph_reads,
    schema,
    vector_reads,
    word_statistics,
)
from cofire.stores.sqlite.connections import (
    IN_MEMORY,
    ConnectionPair,
    SqliteOptions,
    SqliteReadTransaction,
    SqliteStatementRead,
    open_connections,
    translate_errors,
)
from cofire.stores.sqlite.curation import SqliteCurationMixin
from cofire.stores.sqlite.index_changes import is_small_change
from cofire.stores.sqlite.learning import (
    MAX_WRITE_DELAY,
    RECALLS_PER_WRITE,
    SqliteLearningMixin,
    write_waiting_recalls,
)
from cofire.stores.sqlite.live_index import (
    SNAPSHOT_GROWTH,
    LiveIndex,
    delete_snapshot,
    is_snapshot_due,
    read_own_changes,
    save_live_index,
    save_snapshot_if_due,
)
from cofire.stores.sqlite.transfer import SqliteTransferMixin

__all__ = ["SqliteOptions", "SqliteStore"]


class SqliteStore(SqliteTransferMixin, SqliteLearningMixin, SqliteCurationMixin):
    """Facts in one file. Any number of processes and threads may use it at once."""

    is_async = False
    server = None

    def __init__(self, lines: ConnectionPair, options: SqliteOptions) -> None:
        self.path = lines.path
        self._lines: ConnectionPair | None = lines
        self._options = options
        self._live = LiveIndex(graph=options.index == "usearch")
        self._counts = word_statistics.SqliteStatisticsCache()
        self._unlogged = RecallBuffer(RECALLS_PER_WRITE, MAX_WRITE_DELAY)

    @classmethod
    def open(cls, path: str, options: SqliteOptions) -> SqliteStore:
        """Open a store, creating the file if need be."""
        if Path(path).is_dir():
            raise StoreNotOpened(f"{path} is a folder.", way_out="Give the path of a file.")
        try:
            return cls(open_connections(path, options), options)
        except OSError as error:
            raise StoreNotOpened(
                f"The store {path} cannot be opened: {error}.", way_out="Give a place where a file may be written."
            ) from error

    def write(self, change: Change, expects: Mapping[str, int]) -> WriteResult:
        if change.removals or change.put_back:
            written = self._write_and_count(change, expects)
            self._open_lines().settle(patient=False)
            return written
        if change.recount:
            return self._write_and_count(change, expects)
        with self._writing() as connection:
            written, news = fact_writes.apply_change(connection, change, expects)
            if news is None and is_small_change(change):
                news = read_own_changes(connection)
        if news:
            self._live.expect(news)
        return written

    def collect_cascade(self, ids: Sequence[str]) -> RemovedCascade:
        with self._reading() as connection:
            return cascade.collect_cascade(connection, ids)

    def read_history(self, id: str) -> FactHistory:
        with self._reading() as connection:
            return fact_reads.read_history(connection, id)

    def find_ids_by_hash(self, hashes: Sequence[bytes]) -> dict[bytes, str]:
        with self._glancing() as connection:
            return fact_writes.find_ids_by_hash(connection, hashes)

    def read_facts(self, ids: Sequence[str]) -> list[Fact | None]:
        keys = self._live.keys_of(ids) if ids else None
        with self._glancing() as connection:
            facts = {} if keys is None else fact_sql.fetch_facts_by_key(connection, keys)
            # Those that are unknown here may be there; and in a file that was restored others have the keys.
            if missing := [id for id in ids if id not in facts]:
                facts |= fact_sql.fetch_facts(connection, missing)
        return [facts.get(id) for id in ids]

    def list_facts(self, selection: FactSelection, limit: int, before: str | None = None) -> list[Fact]:
        with self._reading() as connection:
            return fact_reads.list_facts(connection, selection, limit, before)

    def search_vectors(self, vector: Vectors, k: int, where: FactFilter, candidates: int) -> Sequence[str]:
        with self._reading() as connection, self._live.at(connection) as index:
            return index.best(self._nearest(connection, index, vector, where, max(k, candidates)), k)

    def search_similar(
        self, vector: Vectors, k: int, where: FactFilter, candidates: int, least: float
    ) -> list[NearbyFact]:
        # Marks are looked up among words.
        with self._reading() as connection, self._live.at(connection, wired=bool(list_filter_marks(where))) as index:
            near = self._nearest(connection, index, vector, where, max(k, candidates))
            found = index.best(near.at_least(least), k)
            return vector_reads.fetch_nearby_facts(connection, index, found) if found else []

    def _nearest(
        self, connection: apsw.Connection, index: FactIndex, vector: Vectors, where: FactFilter, candidates: int
    ) -> ScoredPositions:
        if index.model is None:
            return NO_SCORED_POSITIONS
        wanted = index.columns.size if self._options.index == "exact" else candidates
        asked = centre_vectors(vector, index.model.mean)
        positions = index.nearest(asked, self._live.admitted(connection, where), wanted)
        stored = vector_reads.fetch_vector_rows(connection, index, positions)
        return ScoredPositions(positions, centred_cosines(stored, asked, index.model.mean))

    def search_words(self, cue: KeywordQuery, k: int, where: FactFilter) -> Sequence[str]:
        with self._reading() as connection, self._live.at(connection) as index:
            return index.best(index.matching(cue, self._live.admitted(connection, where), k), k)

    def search_times(self, spans: Sequence[tuple[datetime, datetime]], k: int, where: FactFilter) -> Sequence[str]:
        with self._reading() as connection, self._live.at(connection) as index:
            positions = lookup.find_closest_in_time(index, spans, self._live.admitted(connection, where), k)
            return index.columns.spelled(positions)

    def filter_visible(self, ids: Sequence[str], where: FactFilter) -> Sequence[str]:
        with self._reading() as connection, self._live.at(connection) as index:
            positions = self._live.positions(connection, ids)
            return index.columns.spelled(positions[self._live.admitted(connection, where)[positions]])

    def fetch_features(self, ids: Sequence[str], words: Sequence[str], reach: int, near: int) -> FactFeatures:
        with self._reading() as connection, self._live.at(connection) as index:
            positions = self._live.positions(connection, ids)
            return lookup.build_features(
                index,
                positions,
                words,
                ids=ids,
                reach=reach,
                near=near,
                stored=lambda rows: vector_reads.fetch_vector_rows(connection, index, rows),
            )

    def locate_words(self, ids: Sequence[str], words: Sequence[str]) -> NDArray[np.int64]:
        with self._reading() as connection, self._live.at(connection) as index:
            keys = self._live.keys_of(ids)
            if keys is None:
                asked = ExpansionSeeds.among(tuple(ids), self._live.places(connection, ids))
                keys = np.zeros(len(ids), np.int64)
                keys[asked.rows] = index.columns["key"][asked.positions]
            return graph_reads.fetch_sentence_bits(connection, keys, words, index.placed)

    def match_speakers(self, scopes: Sequence[str], words: Sequence[str]) -> frozenset[str]:
        with self._reading() as connection, self._live.at(connection) as index:
            return index.voices.asked(self._live.scope_keys(scopes) or (), words)

    def match_tags(self, scopes: Sequence[str], names: Sequence[str]) -> frozenset[str]:
        with self._glancing() as connection:
            return graph_reads.find_existing_tags(connection, scopes, names)

    def look_up_names(self, names: Sequence[str], where: FactFilter, most: int) -> list[KnownName]:
        with self._reading() as connection, self._live.at(connection) as index:
            admitted, scopes = self._live.admitted(connection, where), self._live.scope_keys(where.scopes) or ()
            return graph_reads.find_known_names(connection, index, admitted, names, scopes=scopes, most=most)

    def find_unlinked_mentions(
        self, scope: str, names: Mapping[str, Sequence[str]], most: int, anew: bool
    ) -> dict[str, list[str]]:
        with self._reading() as connection, self._live.at(connection) as index:
            return graph_reads.find_unmarked_mentions(connection, index, scope, names, most, anew=anew)

    def fetch_name_links(self, ids: Sequence[str], where: FactFilter, common: int, most: int) -> NameLinkTable:
        with self._reading() as connection, self._live.at(connection) as index:
            seeds = self._live.positions(connection, list(dict.fromkeys(ids)))
            found = lookup.find_name_paths(index, seeds, self._live.admitted(connection, where), common, most)
            return graph_reads.decode_name_links(connection, index, found, index.spelled)

    def read_word_statistics(self, scopes: Sequence[str], words: Sequence[str]) -> WordStatistics:
        with self._reading() as connection, self._live.at(connection) as index:
            dimension = index.dimension if index.model else 0
            times = self._live.times(scopes)
            return self._counts.read(connection, scopes, words, dimension, self._live.state, times=times)

    def read_record(self, name: str, optimistic: bool = False) -> StoreRecord | None:
        with self._glancing() as connection:
            found = connection.execute("SELECT value, version FROM records WHERE name = ?", (name,)).fetchone()
        return StoreRecord(name, found[0], found[1]) if found else None

    def list_edges(self, wanted: EdgeFilter, limit: int) -> list[Edge]:
        with self._reading() as connection:
            return graph_reads.fetch_edges(connection, wanted, limit)

    def list_links(self, id: str, limit: int) -> list[Link]:
        with self._reading() as connection:
            return graph_reads.fetch_links(connection, id, limit)

    def find_neighbours(self, ids: Sequence[str], k: int, sharing: int) -> NeighbourCandidates:
        with self._reading() as connection:
            held = fact_writes.read_record_value(connection, MODEL_RECORD)
            return vector_reads.find_neighbour_candidates(
                connection, StoredModel.decode(held) if held else None, ids, k, sharing
            )

    def fetch_profiles(self, ids: Sequence[str]) -> FactProfiles:
        with self._reading() as connection:
            return graph_reads.fetch_profiles(connection, ids)

    def expand_links(self, ids: Sequence[str], conducting: ExpansionOptions) -> LinkExpansion:
        with self._reading() as connection, self._live.at(connection) as index:
            if conducting.where.as_of is not None:
                return graph_reads.expand_as_of(connection, self._live, index, ids, conducting)
            asked = self._asked(connection, index, ids)
            edges, admitted = self._live.adjacency(connection), self._live.admitted(connection, conducting.where)
            expander = LinkExpander(
                index, edges, admitted, lambda keys: graph_reads.decode_names(connection, keys, index.spelled)
            )
            return expander.expand(asked, conducting)

    def _asked(self, connection: apsw.Connection, index: FactIndex, ids: Sequence[str]) -> ExpansionSeeds:
        if index.columns.stand(ids):
            return ExpansionSeeds.standing(ids)
        wanted = tuple(dict.fromkeys(ids))
        return ExpansionSeeds.among(wanted, self._live.places(connection, wanted))

    def fetch_scope_graph(self, scope: str) -> ScopeGraph:
        with self._reading() as connection:
            return graph_reads.fetch_scope_graph(connection, scope)

    def fetch_importance(self, ids: Sequence[str]) -> dict[str, FactImportance]:
        with self._glancing() as connection:
            return graph_reads.fetch_importance(connection, ids)

    def read_size(self) -> StoreSize:
        with self._reading() as connection:
            facts, archived = connection.execute("SELECT count(*), coalesce(sum(archived), 0) FROM facts").get
            embedded = connection.execute("SELECT count(*) FROM vectors").get
            edges = connection.execute(
                "SELECT (SELECT count(*) FROM graph_edges WHERE ended IS NULL) "
                "+ (SELECT count(*) FROM association_edges WHERE ended IS NULL)"
            ).get
            mentions = connection.execute("SELECT count(*) FROM mentions").get
            waiting = connection.execute("SELECT count(*) FROM facts WHERE inbox").get
            held: Any = connection.execute("SELECT name, facts FROM scopes WHERE facts > 0 ORDER BY name")
            scopes = dict(held)
            details = {"sqlite": apsw.sqlite_lib_version(), "schema": str(schema.read_schema_version(connection))}
        return StoreSize(facts, archived, embedded, edges, mentions, waiting, scopes, self._bytes(), self.path, details)

    def confirm_records(self) -> None:
        """Every record was read as it is."""

    def for_call(self) -> SqliteStore:
        return self

    def together(self, calls: Sequence[MethodCall]) -> list[Any]:
        with self._reading():
            return [call_method(self, call) for call in calls]

    def backup(self, path: str) -> None:
        if path == IN_MEMORY or Path(path).exists():
            found = "is no file" if path == IN_MEMORY else "exists already"
            raise StoreNotOpened(f"{path} {found}.", way_out="Give the name of a new file.")
        with self._glancing() as connection, translate_errors(path):
            backups.copy_database(connection, path)

    def compact(self) -> None:
        """What SQLite moves within a page it leaves where it was, until the page is written over."""
        self._open_lines().write_anew()

    def check(self) -> list[str]:
        with self._reading() as connection:
            broken = [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
            dangling = connection.execute("PRAGMA foreign_key_check").fetchall()
        return broken + [f"{table} row {row} refers to a missing {parent}" for table, row, parent, _ in dangling]

    def close(self) -> None:
        if self._lines is not None and self._lines.are_of_another_process:
            return
        self._write_log()
        lines, self._lines = self._lines, None
        if lines is not None:
            try:
                if lines.writer is not None and self.path != IN_MEMORY:
                    save_snapshot_if_due(self._live, lines.writer)
            finally:
                lines.close()

    def _write_and_count(self, change: Change, expects: Mapping[str, int]) -> WriteResult:
        """Counting looks at the index as of this transaction. Nobody else may look until it is kept; if it is not, all is read anew."""
        with self._writing() as connection, self._live.alone():
            written, _ = fact_writes.apply_change(connection, change, expects)
            if written.removed:
                delete_snapshot(connection)
            with self._live.at(connection) as index:
                for scope in written.sizes if change.removals or change.put_back else ():
                    word_statistics.refresh_counted_scope(
                        connection, index, fact_writes.ensure_scope_key(connection, scope)
                    )
                for scope in change.recount:
                    word_statistics.recount_scope(
                        connection, index, fact_writes.ensure_scope_key(connection, scope), change.sample
                    )
                if is_snapshot_due(connection, SNAPSHOT_GROWTH):
                    save_live_index(self._live, connection)
            sizes = {
                name: fact_writes.read_scope_size(connection, fact_writes.ensure_scope_key(connection, name))
                for name in written.sizes
            }
            connection.execute("COMMIT")
            return replace(written, sizes=sizes)

    def _glancing(self) -> SqliteReadTransaction:
        return SqliteStatementRead(self._open_lines().reader, self.path)

    def _reading(self) -> SqliteReadTransaction:
        return SqliteReadTransaction(self._open_lines().reader, self.path)

    @contextmanager
    def _writing(self) -> Iterator[apsw.Connection]:
        line = self._open_lines().for_writing()
        with translate_errors(self.path), self._unlogged.restoring() as taken, line.writing() as connection:
            write_waiting_recalls(connection, self._unlogged, taken)
            yield connection

    def _open_lines(self) -> ConnectionPair:
        if self._lines is None:
            raise StoreClosed(f"The store {self.path} was closed.", way_out="Open the memory again.")
        if self._lines.are_of_another_process:
            raise StoreClosed(
                f"The store {self.path} was opened before a fork, by the process {self._lines.process}.",
                way_out="Open the memory anew in this process.",
            )
        return self._lines

    def _bytes(self) -> int:
        if self.path == IN_MEMORY:
            return 0
        # As SQLite knows it, wherever the process has gone since.
        file = self._open_lines().reader.connection.filename
        return sum(os.path.getsize(file + end) for end in ("", "-wal") if os.path.exists(file + end))
