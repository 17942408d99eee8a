"""The store protocols, the request and row types they use, and the names of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.array_ops import list_occurring_rows
from cofire.algorithms.session_context import SessionContext
from cofire.algorithms.vector_similarity import VectorRows
from cofire.embedders.base import Vectors
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
from cofire.stores.curation_rows import ContradictionReview, CurationChange, DecaySummary, GraphHealth, UsageReport
from cofire.stores.learning_rows import CommunityMembers, FeedbackCounts, JudgedRecall, LoggedRecall, RecallLogOptions

Floats = NDArray[np.float32]

MODEL_RECORD = "model"
INCOMING_RECORD = "model.incoming"
# Below every cosine, however it is rounded.
COSINE_LOWER_BOUND = -2.0


@dataclass(frozen=True, slots=True)
class KeywordQuery:
    """The words of a question with their weights, and the constants of BM25.

    A word of a description counts `hint_weight` of a word of the text. Words that are `lent` also
    count for the turns around the fact, as `context` says.
    """

    words: tuple[str, ...]
    weights: tuple[float, ...]
    mean_length: float
    k1: float
    b: float
    hint_weight: float = 0.0
    context: SessionContext | None = None
    lent: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True)
class FactFeatures:
    """The inputs of scoring: a row for each requested fact in order, then rows of their neighbours in
    the session.

    `around` has a row for each requested fact: the rows of the turns before it, the nearest first,
    then of those after it; -1 where there is none. `stored` are the vectors of the requested facts
    and their nearest neighbours, zeros where `embedded` is false. `counts` has a column a word; so
    has `hints`, which counts the words of descriptions. `times` are seconds since 1970. `asks` marks
    facts that end in a question, `timed` those that mention a time.
    """

    ids: tuple[str, ...]
    stored: VectorRows
    embedded: NDArray[np.bool_]
    counts: Floats
    lengths: Floats
    hints: Floats
    around: NDArray[np.int32]
    times: NDArray[np.float64]
    asks: NDArray[np.bool_]
    timed: NDArray[np.bool_]
    speakers: Sequence[str | None]

    @property
    def vectors(self) -> Floats:
        """The stored vectors, in a table of their own."""
        return self.stored.gathered


class StaleRecord(Exception):
    """A record read optimistically is stale. The verb runs again; no caller sees this error."""


@dataclass(frozen=True)
class NameLinkTable:
    """Names that some facts mention, and the facts they lead to.

    `ids` are the requested facts, then the targets; `loose` marks those of no session. One row a
    mention: `holder` (a row of ids), `name`, `count` (facts that mention it), `sentences` of the
    holder that do (a bit each), `own` (how strongly the holder is about it), and `sure` (the
    confidence of the mention). One row a link: `step` (a row of the mentions), `target` (a row of
    ids), `strength` (how strongly the target is about the name, 0 for a mere mention), and `there`
    (the sentences of the target).
    """

    ids: Sequence[str]
    loose: NDArray[np.bool_]
    name: tuple[str, ...]
    holder: NDArray[np.int64]
    count: NDArray[np.int64]
    sentences: NDArray[np.int64]
    own: NDArray[np.float64]
    sure: NDArray[np.float64]
    step: NDArray[np.int64]
    target: NDArray[np.int64]
    strength: NDArray[np.float64]
    there: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class KnownName:
    """A stored name: how many facts mention it, and which are about it, how strongly."""

    name: str
    mentioned: int
    about: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class WordStatistics:
    """How common words are in some scopes, as last counted, with a sample of vectors to estimate the
    similarity of unrelated facts.

    `earliest` and `latest` bound the times of the facts.
    """

    facts: int
    mean_length: float
    holding: tuple[int, ...]
    sample: NDArray[np.floating]
    earliest: datetime | None = None
    latest: datetime | None = None


@dataclass(frozen=True, slots=True)
class StoreSize:
    """What a store holds."""

    facts: int
    archived: int
    embedded: int
    edges: int
    mentions: int
    waiting: int
    scopes: Mapping[str, int]
    bytes: int
    place: str
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NearbyFact:
    """A fact near a vector, with its tags and its stored vector."""

    id: str
    tags: tuple[str, ...]
    vector: Vectors


@dataclass(frozen=True, slots=True)
class EdgeFilter:
    """A selection of stored edges. `ids` are facts at either end, None for all."""

    scopes: tuple[str, ...] | None = None
    kinds: frozenset[str] = frozenset()
    ids: frozenset[str] | None = None
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class InboxSelection:
    """Facts in the inbox of these scopes (None for all), which wait for a dream."""

    scopes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class UnembeddedSelection:
    """Facts without a vector of this model, neither a current nor an incoming one."""

    model: bytes


FactSelection = FactFilter | InboxSelection | UnembeddedSelection


@dataclass(frozen=True, slots=True)
class FactHistory:
    """The past of a fact: earlier versions and descriptions, the oldest first, and why curation
    archived it."""

    versions: tuple[FactVersion, ...] = ()
    descriptions: tuple[str, ...] = ()
    archived_because: str | None = None


@dataclass(frozen=True, slots=True)
class FactProfile:
    """What the edge score looks at in a fact, besides its vector. `hours` is the active-hours clock at
    its last observation."""

    id: str
    scope: str
    tags: frozenset[str]
    category: str | None
    hours: float


@dataclass(frozen=True, slots=True)
class FactProfiles:
    """Profiles of facts, and the active-hours clock as of the last use."""

    profiles: tuple[FactProfile, ...]
    active_hours: float


@dataclass(frozen=True)
class NeighbourCandidates:
    """Pairs of facts, as rows of `ids`, with their centred cosine."""

    ids: tuple[str, ...]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    cosines: Floats

    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows that are in a pair, in order."""
        return list_occurring_rows(len(self.ids), self.left, self.right)


@dataclass(frozen=True)
class ScopeGraph:
    """The edges and name links of a scope, as arrays over rows of `ids`. A link that conducts both ways
    has two rows."""

    ids: tuple[str, ...]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: Floats


@dataclass(frozen=True, slots=True)
class ExpansionOptions:
    """Which links to follow: of these kinds (None for all that conduct), with at least a confidence,
    to facts that pass the filter, at most so many from each fact, the strongest first.

    Without `names` only stored edges. Links of kinds in `without` do not count for the degree.
    """

    where: FactFilter
    kinds: frozenset[str] | None
    floor: float
    most: int
    names: bool = True
    without: frozenset[str] = frozenset()

    def wants(self, kind: str) -> bool:
        """Whether links of a kind may be followed."""
        return kind not in self.without and (self.kinds is None or kind in self.kinds)


@dataclass(frozen=True)
class LinkExpansion:
    """The links that leave some facts, a row a link; parallel links have rows of their own.

    `ids` are the requested facts in order, then the targets. A link conducts from `source` to
    `target`, both rows of `ids`; a weight or confidence is NaN where none is stored. `degree` counts
    the distinct neighbours of each requested fact by links of the wanted kinds, before filter,
    confidence and limit. `via` is the name that a link goes through. A store may decode ids on first
    access, and finds facts faster by such ids.
    """

    ids: Sequence[str]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    kind: Sequence[str]
    weight: NDArray[np.float64]
    confidence: NDArray[np.float64]
    tags: Sequence[frozenset[str]]
    via: Sequence[str | None]
    degree: NDArray[np.int64]


class MethodCall(Protocol):
    """A method of a store with its arguments."""

    @property
    def method(self) -> str: ...

    @property
    def arguments(self) -> tuple[Any, ...]: ...


@dataclass(frozen=True, slots=True)
class CallFailure:
    """The answer of a call that failed beside others that did not."""

    error: Exception


def call_method(store: Store, call: MethodCall) -> Any:
    """The answer of a store to a call, or its failure. A stale record is no failure of the call."""
    try:
        return getattr(store, call.method)(*call.arguments)
    except StaleRecord:
        raise
    except Exception as error:  # noqa: BLE001 - handed to the verb, which says which part failed
        return CallFailure(error)


async def call_method_async(store: Store, call: MethodCall) -> Any:
    """The same for a store whose answers are awaited."""
    try:
        return await getattr(store, call.method)(*call.arguments)
    except StaleRecord:
        raise
    except Exception as error:  # noqa: BLE001 - handed to the verb, which says which part failed
        return CallFailure(error)


class FactStore(Protocol):
    """Facts, their history, and named records. A record has a version, by which a write notices that another came first."""

    def write(self, change: Change, expects: Mapping[str, int]) -> WriteResult:
        """Write all of a change or nothing. Raises Conflict when a record has another version than expected (0: no record)."""

    def read_facts(self, ids: Sequence[str]) -> list[Fact | None]:
        """Facts by id, in the order of the ids; None for an unknown id."""

    def list_facts(self, selection: FactSelection, limit: int, before: str | None = None) -> list[Fact]:
        """A page of facts with ids below `before`: those that pass a filter newest first, those that wait for work oldest first."""

    def find_ids_by_hash(self, hashes: Sequence[bytes]) -> dict[bytes, str]:
        """The ids of the facts that have these content hashes."""

    def read_history(self, id: str) -> FactHistory:
        """Earlier versions and descriptions of a fact; empty for an unknown id."""

    def list_changed_ids(self, since: datetime | None) -> list[str]:
        """The facts in recall that were stored, observed again or updated since a moment, in order; all of them for None."""

    def collect_cascade(self, ids: Sequence[str]) -> RemovedCascade:
        """All rows that removing these facts would remove. Unknown ids have none."""

    def read_record(self, name: str, optimistic: bool = False) -> StoreRecord | None:
        """A named record. An optimistic read may answer with the record as last seen: a later answer in the same call confirms it
        or raises StaleRecord."""

    def confirm_records(self) -> None:
        """Raise StaleRecord unless the records read optimistically are current."""


class SearchStore(Protocol):
    """Proposals of facts for a question, and what scoring needs of them."""

    def search_vectors(self, vector: Vectors, k: int, where: FactFilter, candidates: int) -> Sequence[str]:
        """The facts closest to a vector by centred cosine, best first. An index may look at only so many candidates."""

    def search_similar(
        self, vector: Vectors, k: int, where: FactFilter, candidates: int, least: float
    ) -> list[NearbyFact]:
        """The same facts with their tags and vectors, without those whose cosine is below `least`."""

    def search_words(self, cue: KeywordQuery, k: int, where: FactFilter) -> Sequence[str]:
        """The facts with the highest BM25 score, best first. A fact with none of the words is no result."""

    def search_times(self, spans: Sequence[tuple[datetime, datetime]], k: int, where: FactFilter) -> Sequence[str]:
        """The facts closest in time to one of these spans, those inside a span first; of equals by content."""

    def filter_visible(self, ids: Sequence[str], where: FactFilter) -> Sequence[str]:
        """Those of these facts that pass the filter, in their order."""

    def fetch_features(self, ids: Sequence[str], words: Sequence[str], reach: int, near: int) -> FactFeatures:
        """The inputs of scoring: of these facts and of `reach` turns before and after each, `near` of them with vectors."""

    def locate_words(self, ids: Sequence[str], words: Sequence[str]) -> NDArray[np.int64]:
        """The sentences of these facts that contain the words, a bit a sentence: a row a fact, a column a word. In a fact that was not
        cut into sentences, every sentence contains its words."""

    def read_word_statistics(self, scopes: Sequence[str], words: Sequence[str]) -> WordStatistics:
        """How common these words are, as last counted."""

    def match_speakers(self, scopes: Sequence[str], words: Sequence[str]) -> frozenset[str]:
        """The speakers whose names contain one of these lower-case words."""

    def match_tags(self, scopes: Sequence[str], names: Sequence[str]) -> frozenset[str]:
        """Those of these names that are tags of facts in these scopes."""

    def look_up_names(self, names: Sequence[str], where: FactFilter, most: int) -> list[KnownName]:
        """Those of these names that a fact mentions, each with at most `most` facts about it, the strongest first."""


class GraphStore(Protocol):
    """Stored edges, links through names, and what is computed from them."""

    def list_edges(self, wanted: EdgeFilter, limit: int) -> list[Edge]:
        """Stored edges, the strongest first; of equals by source, target and kind."""

    def list_links(self, id: str, limit: int) -> list[Link]:
        """Stored edges of a fact and its links through names, the strongest first."""

    def expand_links(self, ids: Sequence[str], conducting: ExpansionOptions) -> LinkExpansion:
        """The links that leave these facts, the strongest first; of equals by kind, then by content. Unknown ids have none."""

    def fetch_name_links(self, ids: Sequence[str], where: FactFilter, common: int, most: int) -> NameLinkTable:
        """The names that these facts mention, with at most `most` facts about each. A name that no more than `common` facts mention
        leads to those facts as well."""

    def fetch_scope_graph(self, scope: str) -> ScopeGraph:
        """The graph of a scope as arrays."""

    def fetch_profiles(self, ids: Sequence[str]) -> FactProfiles:
        """What the edge score looks at in these facts. Unknown ids are left out."""

    def find_neighbours(self, ids: Sequence[str], k: int, sharing: int) -> NeighbourCandidates:
        """For each fact the k nearest of its scope, and up to `sharing` more that share a rare tag."""

    def find_unlinked_mentions(
        self, scope: str, names: Mapping[str, Sequence[str]], most: int, anew: bool
    ) -> dict[str, list[str]]:
        """Facts that contain all words of a name and are not linked to it, by name; none where they are more than `most`. Names that
        a fact is about already are looked for only `anew`."""

    def fetch_importance(self, ids: Sequence[str]) -> dict[str, FactImportance]:
        """PageRank and community of these facts, where they were computed."""

    def list_communities(self, scopes: Sequence[str] | None, limit: int, most: int) -> list[CommunityMembers]:
        """Communities, the largest first, each with at most `most` of its facts, the most central first."""


class LearningStore(Protocol):
    """The log of recalls and their feedback."""

    def log_recall(self, shown: LoggedRecall, keeping: RecallLogOptions) -> None:
        """Log what a recall showed, now or later. A store that may not be written to logs nothing."""

    def read_recall(self, id: str) -> LoggedRecall | None:
        """A logged recall, without facts that were forgotten since."""

    def fetch_feedback_counts(self, ids: Sequence[str]) -> dict[str, FeedbackCounts]:
        """How often these facts helped and hurt, where there was feedback."""

    def find_judged_recalls(self, ids: Sequence[str], limit: int) -> list[JudgedRecall]:
        """Judged recalls with at least two of these facts among their first results: most of them first, then the newest."""


class MaintenanceStore(Protocol):
    """Curation, checks, and the life of the store itself."""

    def preview_decay(self, curation: CurationChange, now: datetime, examples: int) -> DecaySummary:
        """What the decay rules and the pruning of a change would do to edges now."""

    def read_usage(self) -> UsageReport:
        """How the facts in recall were used."""

    def check_graph(self) -> GraphHealth:
        """Facts without links, and rows that refer to missing ones."""

    def list_reviews(self, open_only: bool) -> list[ContradictionReview]:
        """Contradictions proposed for review, those of the oldest facts first."""

    def read_size(self) -> StoreSize:
        """Counts and bytes."""

    def check(self) -> list[str]:
        """Problems of the store, in words; empty without any."""

    def compact(self) -> None:
        """Rewrite the files of the store, so that they hold no remains of removed rows."""

    def backup(self, path: str) -> None:
        """Copy the live store to a new file."""

    def close(self) -> None:
        """Release the store. Closing twice is harmless."""


class Store(FactStore, SearchStore, GraphStore, LearningStore, MaintenanceStore, Protocol):
    """Where facts are kept. Every method sees all that was written before it was called, by any process.

    The methods of a store that `is_async` return awaitables. `path` is the file of a store, `server` the address of one on a
    server, without its password.
    """

    @property
    def is_async(self) -> bool: ...

    @property
    def path(self) -> str | None: ...

    @property
    def server(self) -> str | None: ...

    def for_call(self) -> Store:
        """The store as one verb call uses it. It may keep what it prefetches until the call ends."""

    def together(self, calls: Sequence[MethodCall]) -> list[Any]:
        """Answer several calls as of one moment. A failing call answers `CallFailure`."""
