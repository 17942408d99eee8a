"""The store as verbs use it: each method yields one call of the store and returns its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from cofire.embedders.base import Vectors
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
from cofire.runtime.effects import Steps, StoreCall, Together
from cofire.stores.base import (
    CallFailure,
    EdgeFilter,
    ExpansionOptions,
    FactFeatures,
    FactHistory,
    FactProfiles,
    FactSelection,
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
from cofire.stores.curation_rows import ContradictionReview, CurationChange, DecaySummary, GraphHealth, UsageReport
from cofire.stores.learning_rows import (
    CommunityMembers,
    FeedbackCounts,
    JudgedRecall,
    LoggedRecall,
    RecallLogOptions,
)

T = TypeVar("T")
U = TypeVar("U")


def _call(method: str, *arguments: Any) -> Steps[Any]:
    return (yield StoreCall(method, arguments))


def _take_call(query: Steps[Any]) -> StoreCall:
    call = next(query)
    if not isinstance(call, StoreCall):
        raise TypeError(f"Only store calls can run together, not {call!r}.")
    return call


class StoreProxy:
    """The methods of the store protocol as steps: `facts = yield from store.read_facts(ids)`."""

    @overload
    def together(self, first: Steps[T], second: Steps[U], /) -> Steps[tuple[T, U]]: ...
    @overload
    def together(self, *queries: Steps[T]) -> Steps[list[T]]: ...
    def together(self, *queries: Steps[Any]) -> Steps[Any]:
        """The answers to several queries as of one moment, in one round trip where the store can. Raises the first failure."""
        if len(queries) == 1:
            return [(yield from queries[0])]
        answers = yield from self.together_with_failures(*queries)
        for answer in answers:
            if isinstance(answer, CallFailure):
                raise answer.error
        return answers

    def together_with_failures(self, *queries: Steps[Any]) -> Steps[list[Any]]:
        """The same, with a `CallFailure` as the answer to a query that failed."""
        calls = [_take_call(query) for query in queries]
        answers: list[Any] = (yield Together(calls)) if calls else []
        return answers

    def write(self, change: Change, expects: Mapping[str, int] | None = None) -> Steps[WriteResult]:
        return _call("write", change, expects or {})

    def collect_cascade(self, ids: Sequence[str]) -> Steps[RemovedCascade]:
        return _call("collect_cascade", ids)

    def read_history(self, id: str) -> Steps[FactHistory]:
        return _call("read_history", id)

    def find_ids_by_hash(self, hashes: Sequence[bytes]) -> Steps[dict[bytes, str]]:
        return _call("find_ids_by_hash", hashes)

    def read_facts(self, ids: Sequence[str]) -> Steps[list[Fact | None]]:
        return _call("read_facts", ids)

    def list_facts(self, selection: FactSelection, limit: int, before: str | None = None) -> Steps[list[Fact]]:
        return _call("list_facts", selection, limit, before)

    def search_vectors(self, vector: Vectors, k: int, where: FactFilter, candidates: int) -> Steps[Sequence[str]]:
        return _call("search_vectors", vector, k, where, candidates)

    def search_similar(
        self, vector: Vectors, k: int, where: FactFilter, candidates: int, least: float
    ) -> Steps[list[NearbyFact]]:
        return _call("search_similar", vector, k, where, candidates, least)

    def search_words(self, cue: KeywordQuery, k: int, where: FactFilter) -> Steps[Sequence[str]]:
        return _call("search_words", cue, k, where)

    def search_times(
        self, spans: Sequence[tuple[datetime, datetime]], k: int, where: FactFilter
    ) -> Steps[Sequence[str]]:
        return _call("search_times", spans, k, where)

    def filter_visible(self, ids: Sequence[str], where: FactFilter) -> Steps[Sequence[str]]:
        return _call("filter_visible", ids, where)

    def fetch_features(
        self, ids: Sequence[str], words: Sequence[str], reach: int = 0, near: int = 0
    ) -> Steps[FactFeatures]:
        return _call("fetch_features", ids, words, reach, near)

    def locate_words(self, ids: Sequence[str], words: Sequence[str]) -> Steps[NDArray[np.int64]]:
        return _call("locate_words", ids, words)

    def match_speakers(self, scopes: Sequence[str], words: Sequence[str]) -> Steps[frozenset[str]]:
        return _call("match_speakers", scopes, words)

    def match_tags(self, scopes: Sequence[str], names: Sequence[str]) -> Steps[frozenset[str]]:
        return _call("match_tags", scopes, names)

    def look_up_names(self, names: Sequence[str], where: FactFilter, most: int) -> Steps[list[KnownName]]:
        return _call("look_up_names", names, where, most)

    def find_unlinked_mentions(
        self, scope: str, names: Mapping[str, Sequence[str]], most: int, anew: bool
    ) -> Steps[dict[str, list[str]]]:
        return _call("find_unlinked_mentions", scope, names, most, anew)

    def fetch_name_links(self, ids: Sequence[str], where: FactFilter, common: int, most: int) -> Steps[NameLinkTable]:
        return _call("fetch_name_links", ids, where, common, most)

    def read_word_statistics(self, scopes: Sequence[str], words: Sequence[str]) -> Steps[WordStatistics]:
        return _call("read_word_statistics", scopes, words)

    def read_record(self, name: str, *, optimistic: bool = False) -> Steps[StoreRecord | None]:
        return _call("read_record", name, optimistic)

    def list_edges(self, wanted: EdgeFilter, limit: int) -> Steps[list[Edge]]:
        return _call("list_edges", wanted, limit)

    def list_links(self, id: str, limit: int) -> Steps[list[Link]]:
        return _call("list_links", id, limit)

    def find_neighbours(self, ids: Sequence[str], k: int, sharing: int) -> Steps[NeighbourCandidates]:
        return _call("find_neighbours", ids, k, sharing)

    def fetch_profiles(self, ids: Sequence[str]) -> Steps[FactProfiles]:
        return _call("fetch_profiles", ids)

    def expand_links(self, ids: Sequence[str], conducting: ExpansionOptions) -> Steps[LinkExpansion]:
        return _call("expand_links", ids, conducting)

    def fetch_scope_graph(self, scope: str) -> Steps[ScopeGraph]:
        return _call("fetch_scope_graph", scope)

    def fetch_importance(self, ids: Sequence[str]) -> Steps[dict[str, FactImportance]]:
        return _call("fetch_importance", ids)

    def read_size(self) -> Steps[StoreSize]:
        return _call("read_size")

    def confirm_records(self) -> Steps[None]:
        return _call("confirm_records")

    def compact(self) -> Steps[None]:
        return _call("compact")

    def backup(self, path: str) -> Steps[None]:
        return _call("backup", path)

    def check(self) -> Steps[list[str]]:
        return _call("check")

    def log_recall(self, shown: LoggedRecall, keeping: RecallLogOptions) -> Steps[None]:
        return _call("log_recall", shown, keeping)

    def read_recall(self, id: str) -> Steps[LoggedRecall | None]:
        return _call("read_recall", id)

    def fetch_feedback_counts(self, ids: Sequence[str]) -> Steps[dict[str, FeedbackCounts]]:
        return _call("fetch_feedback_counts", ids)

    def find_judged_recalls(self, ids: Sequence[str], limit: int) -> Steps[list[JudgedRecall]]:
        return _call("find_judged_recalls", ids, limit)

    def list_communities(self, scopes: Sequence[str] | None, limit: int, most: int) -> Steps[list[CommunityMembers]]:
        return _call("list_communities", scopes, limit, most)

    def preview_decay(self, curation: CurationChange, now: datetime, examples: int) -> Steps[DecaySummary]:
        return _call("preview_decay", curation, now, examples)

    def read_usage(self) -> Steps[UsageReport]:
        return _call("read_usage")

    def check_graph(self) -> Steps[GraphHealth]:
        return _call("check_graph")

    def list_changed_ids(self, since: datetime | None) -> Steps[list[str]]:
        return _call("list_changed_ids", since)

    def list_reviews(self, open_only: bool = True) -> Steps[list[ContradictionReview]]:
        return _call("list_reviews", open_only)


store = StoreProxy()
