"""Facts, edges, filters, and what one transaction writes or removes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Self

from cofire.stores.curation_rows import NO_CURATION, CurationChange
from cofire.stores.learning_rows import EdgeAdjustment, FeedbackCounts, JudgedRecall
from cofire.stores.metadata_filter import Condition


@dataclass(frozen=True, slots=True)
class CascadeCounts:
    """Number of rows of each kind that are deleted together with some facts.

    `words` are entries of the word index. `cited` are other facts whose descriptions cite them.
    """

    facts: int = 0
    edges: int = 0
    mentions: int = 0
    subjects: int = 0
    vectors: int = 0
    words: int = 0
    descriptions: int = 0
    cited: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RemovedCascade:
    """Deleted facts and their dependent rows, in the format of the store that can restore them."""

    radius: CascadeCounts = CascadeCounts()
    rows: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, order=True)
class SkippedRestore:
    """Something that could not be restored, and why."""

    what: str
    id: str
    why: str


@dataclass(frozen=True, slots=True)
class RestoreSummary:
    """What was restored: ids of facts, number of edges, and what was skipped."""

    facts: tuple[str, ...] = ()
    edges: int = 0
    skipped: tuple[SkippedRestore, ...] = ()


def make_model_skip(id: str) -> SkippedRestore:
    """The vector of a fact is from a model that the store no longer uses."""
    return SkippedRestore("vector", id, "the store now has vectors of another model; create one with: cofire reembed")


@dataclass(frozen=True, slots=True)
class ForgetReceipt:
    """Where forgotten facts are kept, until when they can be restored, and when they last were.

    `path` is empty if they are kept in this process only.
    """

    id: str
    path: str
    made: datetime
    expires: datetime
    ids: tuple[str, ...]
    scopes: frozenset[str] = frozenset()
    undone: datetime | None = None


@dataclass(frozen=True, slots=True)
class KeptReceipt:
    """A receipt and the rows it can restore."""

    receipt: ForgetReceipt
    taken: RemovedCascade


DEFAULT_SCOPE = "default"

# What links are computed from: a content hash, a category and tags.
LinkBasis = tuple[bytes, str | None, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Fact:
    """One remembered statement. The caller sets the first block of fields, the store the second.

    `at` is the time of the event, `stored_at` the time of storing. `id` is empty until the fact is
    stored. `supersedes` are ids of older facts that `remember` marks as replaced by this one.
    `superseded_by` are ids of the facts that replaced this one, filled in by `facts` and `portrait`.
    The store keeps both as edges of the kind supersedes.
    """

    text: str
    tags: tuple[str, ...] = ()
    category: str | None = None
    subject: str | None = None
    at: datetime | None = None
    session: str | None = None
    speaker: str | None = None
    scope: str = DEFAULT_SCOPE
    source: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires: datetime | None = None
    supersedes: tuple[str, ...] = field(default=(), compare=False)

    id: str = ""
    position: int | None = None
    stored_at: datetime | None = None
    reinforced: int = 0
    reinforced_at: datetime | None = None
    pinned: bool = False
    archived: bool = False
    superseded_by: tuple[str, ...] = field(default=(), compare=False)

    @property
    def time(self) -> datetime | None:
        """The time of the event or, if it is unknown, of storing."""
        return self.at or self.stored_at

    @property
    def drawn_from(self) -> LinkBasis:
        """What a dream computes links from: content, category and tags."""
        return self.hash, self.category, frozenset(self.tags)

    @property
    def hash(self) -> bytes:
        """The identity of a fact: scope, text, subject, speaker, session and event time.

        >>> Fact("Tea at four.").hash == Fact("Tea at four.", tags=("habit",)).hash
        True
        >>> Fact("Tea at four.").hash == Fact("Tea at four.", session="monday").hash
        False
        """
        time = self.at.isoformat() if self.at else None
        return _hash_parts(self.scope, self.text, self.subject, self.speaker, self.session, time)

    @property
    def reading(self) -> str:
        """The text that search indexes: preceded by the subject unless it starts with it."""
        if not self.subject or self.text.casefold().startswith(self.subject.casefold()):
            return self.text
        return f"{self.subject}. {self.text}"

    def observed_again(self, again: Fact, now: datetime) -> Self:
        """Merge a repetition of this fact: reinforce it, unarchive it, add what is new.

        Existing values stay. If the merged validity is empty, the validity of the repetition counts.
        """
        valid_from = again.valid_from or self.valid_from
        valid_until = again.valid_until or _drop_past_end(self.valid_until, now)
        if valid_from and valid_until and valid_from >= valid_until:
            valid_from, valid_until = again.valid_from, again.valid_until
        return replace(
            self,
            tags=tuple(sorted({*self.tags, *again.tags})),
            category=self.category or again.category,
            source=self.source or again.source,
            metadata={**self.metadata, **again.metadata},
            valid_from=valid_from,
            valid_until=valid_until,
            expires=again.expires or _drop_past_end(self.expires, now),
            reinforced=self.reinforced + 1,
            reinforced_at=now,
            archived=False,
        )


@lru_cache(maxsize=1_024)
def _hash_parts(*parts: str | None) -> bytes:
    """Hash of length-prefixed parts. Cached: copies of a new fact compute it repeatedly."""
    content = "".join("-" if part is None else f"{len(part)}:{part}" for part in parts)
    return blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _drop_past_end(end: datetime | None, now: datetime) -> datetime | None:
    """A past end does not apply to a fact that is observed now."""
    return end if end is not None and end > now else None


@dataclass(frozen=True, slots=True)
class FactVersion:
    """A fact as it was before the change at `until`."""

    until: datetime
    fact: Fact


@dataclass(frozen=True, slots=True)
class Edge:
    """A stored connection between two facts. Weight and confidence are optional.

    `co_access_count` is how often use strengthened it, `strengthened` when it was last strengthened
    or observed again. Neither counts for equality.
    """

    source: str
    target: str
    kind: str
    weight: float | None = None
    confidence: float | None = None
    tags: tuple[str, ...] = ()
    origin: str = ""
    co_access_count: int = field(default=0, compare=False, kw_only=True)
    strengthened: datetime | None = field(default=None, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Link(Edge):
    """An edge as seen from one of its facts. `via` is what both share: a name or a session."""

    via: str | None = None


@dataclass(frozen=True, slots=True)
class FactFilter:
    """Which facts are visible. All conditions must hold.

    A condition with several values matches any of them; tags must all match. Maintenance uses three
    values that recall never does: `scopes=None` for all scopes, `whenever` to include expired and
    invalid facts, `pinned` for pinned facts only.
    """

    now: datetime
    scopes: tuple[str, ...] | None = (DEFAULT_SCOPE,)
    tags: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    speakers: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    metadata: tuple[Condition, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    community: int | None = None
    archived: bool = False
    whenever: bool = False
    pinned: bool = False

    @property
    def leaves_out(self) -> bool:
        """Whether it has a condition on scope, marks or event time."""
        marks = (self.tags, self.categories, self.speakers, self.sessions, self.metadata)
        bounds = (self.since, self.until, self.as_of, self.community)
        return self.scopes is not None or any(marks) or any(bound is not None for bound in bounds)

    def admits(self, fact: Fact, community: int | None = None) -> bool:
        """The definition of the filter, with which all stores agree. `community` is that of the fact."""
        in_community = self.community is None or community == self.community
        return in_community and self._admits_marks(fact) and self._admits_times(fact)

    def _admits_marks(self, fact: Fact) -> bool:
        return (
            (self.scopes is None or fact.scope in self.scopes)
            and self.tags <= set(fact.tags)
            and (not self.categories or fact.category in self.categories)
            and (not self.speakers or fact.speaker in self.speakers)
            and (not self.sessions or fact.session in self.sessions)
            and all(condition.holds(fact.metadata) for condition in self.metadata)
            and (self.archived or not fact.archived)
            and (fact.pinned or not self.pinned)
        )

    def _admits_times(self, fact: Fact) -> bool:
        moment = self.as_of or self.now
        time = fact.time
        stored = fact.stored_at
        return (
            (self.since is None or (time is not None and time >= self.since))
            and (self.until is None or (time is not None and time <= self.until))
            and (self.as_of is None or (stored is not None and stored <= self.as_of))
            and (self.whenever or self._is_valid(fact, moment))
        )

    def _is_valid(self, fact: Fact, moment: datetime) -> bool:
        return (
            (fact.valid_from is None or fact.valid_from <= moment)
            and (fact.valid_until is None or moment < fact.valid_until)
            and (fact.expires is None or moment < fact.expires)
        )


@dataclass(frozen=True, slots=True)
class StoreRecord:
    """A small named value in the store (its model, its settings). Each write increments `version`."""

    name: str
    value: bytes
    version: int = 0


@dataclass(frozen=True, slots=True)
class NameMention:
    """A name that a fact mentions, the sentences with it, and the confidence (less for parts of names)."""

    name: str
    sentences: tuple[int, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class SubjectName:
    """The name of a subject of a fact, and its strength."""

    name: str
    strength: float


@dataclass(frozen=True, slots=True)
class FactWrite:
    """A fact to write, with its words, names and vector (None without an embedder).

    `perhaps` are names with their sentences that count as mentions only if a fact of the scope has
    them as a subject. `places` are the sentences of each word, one bit per sentence. `again` marks a
    repetition of a stored fact, for which only the words are computed.
    """

    fact: Fact
    counts: Mapping[str, int]
    vector: bytes | None = None
    mentions: tuple[NameMention, ...] = ()
    subjects: tuple[SubjectName, ...] = ()
    perhaps: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    places: Mapping[str, int] = field(default_factory=dict)
    again: bool = False


@dataclass(frozen=True, slots=True)
class EdgeWrite:
    """An edge to write, and what to do if it exists.

    reinforce: raise the confidence by one step; update: store the new values; skip: keep the old
    ones; error: refuse the change. An edge that cofire computed itself (`own`) is skipped silently if
    one of its facts no longer exists.
    """

    edge: Edge
    mode: str = "reinforce"
    own: bool = False


@dataclass(frozen=True, slots=True)
class FactDescription:
    """A description of a fact from the facts it is linked to. The text of the fact does not change.

    `counts` are the words of the description; a store ignores those that the fact has itself.
    `cites` maps the words to the facts they come from, so that both are deleted together.
    """

    fact: str
    text: str
    counts: Mapping[str, int]
    cites: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FactImportance:
    """PageRank and community of a fact."""

    fact: str
    pagerank: float
    community: int


@dataclass(frozen=True, slots=True)
class Change:
    """Everything that one transaction writes, atomically.

    facts, removals, records   facts to insert or reinforce, ids to delete, named values to write
    recount, sample            scopes whose word statistics are recomputed; vectors sampled per scope
    vectors, adopt_vectors     vectors of a new model; make them current and delete those of the old one
    edges, ended               edges to write, and edges to end
    reach                      how many previous turns of its session a new fact is linked to
    mentions, descriptions     added to existing facts
    dreamed                    facts to remove from the inbox, unless their content changed meanwhile
    importance                 replaces all importance in the scopes of its facts
    idle_minutes               counts the change as use; a longer pause starts a new period of use
    archive, pins              hide facts from recall (True) or show them; exempt facts from decay
    curation                   what curate, supersede and review write
    put_back                   rows of an earlier removal to restore
    revisions                  new content for existing facts; the old one goes to their history
    lessons, uses, occasions   edge adjustments, feedback counts, and judged recalls to add or merge
    as_read                    facts as they were when the change was computed; if one of them is
                               different now, nothing is written and `Conflict` is raised
    """

    now: datetime
    facts: tuple[FactWrite, ...] = ()
    removals: tuple[str, ...] = ()
    records: tuple[StoreRecord, ...] = ()
    recount: tuple[str, ...] = ()
    sample: int = 0
    vectors: Mapping[str, bytes] = field(default_factory=dict)
    adopt_vectors: bool = False
    edges: Sequence[EdgeWrite] = ()
    ended: tuple[Edge, ...] = ()
    reach: int = 0
    mentions: Mapping[str, tuple[NameMention, ...]] = field(default_factory=dict)
    descriptions: tuple[FactDescription, ...] = ()
    dreamed: Mapping[str, LinkBasis] = field(default_factory=dict)
    importance: tuple[FactImportance, ...] | None = None
    idle_minutes: float | None = None
    archive: Mapping[str, bool] = field(default_factory=dict)
    curation: CurationChange = NO_CURATION
    pins: Mapping[str, bool] = field(default_factory=dict)
    put_back: RemovedCascade | None = None
    revisions: tuple[FactWrite, ...] = ()
    lessons: tuple[EdgeAdjustment, ...] = ()
    uses: Mapping[str, FeedbackCounts] = field(default_factory=dict)
    occasions: tuple[JudgedRecall, ...] = ()
    as_read: Mapping[str, Fact] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredFact:
    """The id of a written fact, and whether it is new."""

    id: str
    fresh: bool


@dataclass(frozen=True, slots=True)
class ScopeSize:
    """Number of facts of a scope, and their number when its word statistics were computed."""

    facts: int
    counted: int


@dataclass(frozen=True, slots=True)
class EdgeCounts:
    """Number of edges inserted, changed and ended."""

    new: int = 0
    changed: int = 0
    ended: int = 0

    def __add__(self, other: EdgeCounts) -> EdgeCounts:
        return EdgeCounts(self.new + other.new, self.changed + other.changed, self.ended + other.ended)


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The effect of a change. `taken` are the rows deleted by removals."""

    facts: tuple[StoredFact, ...] = ()
    removed: int = 0
    edges: EdgeCounts = EdgeCounts()
    sizes: Mapping[str, ScopeSize] = field(default_factory=dict)
    taken: RemovedCascade | None = field(default=None, compare=False)
    put_back: RestoreSummary = field(default_factory=RestoreSummary)
