"""The values of a memory: facts, edges, filters, and what one transaction writes or removes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Self

from cofire.stores.curation_protocol import NO_CURATION, CurationChange
from cofire.stores.learning_protocol import EdgeAdjustment, FeedbackCounts, JudgedRecall
from cofire.stores.metadata_filter import Condition


@dataclass(frozen=True, slots=True)
class CascadeCounts:
    """All that hangs on some facts and goes with them: rows of each kind, and the other facts whose descriptions cite them.

    `words` are entries of the word index.
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
    """Facts with all that hangs on them. The rows are in the store's own words: it alone can put them back."""

    radius: CascadeCounts = CascadeCounts()
    rows: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, order=True)
class SkippedRestore:
    """Something that could not be put back, and why."""

    what: str
    id: str
    why: str


@dataclass(frozen=True, slots=True)
class RestoreSummary:
    """What came back of what was taken: facts by id, how many edges, and what did not."""

    facts: tuple[str, ...] = ()
    edges: int = 0
    skipped: tuple[SkippedRestore, ...] = ()


def make_model_skip(id: str) -> SkippedRestore:
    """Of a fact whose vector is of a model that the store no longer has."""
    return SkippedRestore(
        "vector", id, "the store holds another model's vectors by now; give it one with: cofire reembed"
    )


@dataclass(frozen=True, slots=True)
class ForgetReceipt:
    """Where something forgotten is kept, until when it can be brought back, and when it last was. `path` is empty where that is this
    process."""

    id: str
    path: str
    made: datetime
    expires: datetime
    ids: tuple[str, ...]
    scopes: frozenset[str] = frozenset()
    undone: datetime | None = None


@dataclass(frozen=True, slots=True)
class KeptReceipt:
    """A receipt with what it is for."""

    receipt: ForgetReceipt
    taken: RemovedCascade


DEFAULT_SCOPE = "default"

# What links are drawn from: a content hash, a category and tags.
LinkBasis = tuple[bytes, str | None, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing remembered. The first block is given, the second is filled in by the store.

    `at` is when it happened, `stored_at` when it was stored. `id` is empty until it is stored.
    `supersedes` are ids of older facts that `remember` marks as replaced by this one. `superseded_by` are the ids of the facts
    that replaced this one, filled in by `facts` and `portrait`. The store keeps both as edges of the kind supersedes.
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
        """When it happened or, where nobody said, when it was stored."""
        return self.at or self.stored_at

    @property
    def drawn_from(self) -> LinkBasis:
        """What a dream draws its links from: what the fact says, its category and its tags."""
        return self.hash, self.category, frozenset(self.tags)

    @property
    def hash(self) -> bytes:
        """What makes it the same fact: scope, text, subject, speaker, session and the given time.

        >>> Fact("Tea at four.").hash == Fact("Tea at four.", tags=("habit",)).hash
        True
        >>> Fact("Tea at four.").hash == Fact("Tea at four.", session="monday").hash
        False
        """
        given = self.at.isoformat() if self.at else None
        return _hash_parts(self.scope, self.text, self.subject, self.speaker, self.session, given)

    @property
    def reading(self) -> str:
        """The text as search reads it: led by its subject, unless it says it already."""
        if not self.subject or self.text.casefold().startswith(self.subject.casefold()):
            return self.text
        return f"{self.subject}. {self.text}"

    def observed_again(self, again: Fact, now: datetime) -> Self:
        """The same fact told once more: reinforced, back from the archive, with what the new telling adds. What was known stays, but
        for an end or a beginning that the new telling leaves no time for."""
        begins, ends = again.valid_from or self.valid_from, again.valid_until or _drop_past_end(self.valid_until, now)
        if begins and ends and begins >= ends:
            begins, ends = again.valid_from, again.valid_until
        return replace(
            self,
            tags=tuple(sorted({*self.tags, *again.tags})),
            category=self.category or again.category,
            source=self.source or again.source,
            metadata={**self.metadata, **again.metadata},
            valid_from=begins,
            valid_until=ends,
            expires=again.expires or _drop_past_end(self.expires, now),
            reinforced=self.reinforced + 1,
            reinforced_at=now,
            archived=False,
        )


@lru_cache(maxsize=1_024)
def _hash_parts(*parts: str | None) -> bytes:
    """Kept for a while: a fact is asked for its hash again and again on its way into the store, by copies of itself."""
    said = "".join("-" if part is None else f"{len(part)}:{part}" for part in parts)
    return blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _drop_past_end(end: datetime | None, now: datetime) -> datetime | None:
    """An end that has come says nothing of what is told now."""
    return end if end is not None and end > now else None


@dataclass(frozen=True, slots=True)
class FactVersion:
    """A fact as it was until some time, when it was changed."""

    until: datetime
    fact: Fact


@dataclass(frozen=True, slots=True)
class Edge:
    """A stored connection between two facts. A missing weight or confidence was never said.

    `co_access_count` is how often use strengthened it, `strengthened` when it was last strengthened or seen again. They are of its
    life, not of what it says: edges that differ in nothing else are equal.
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
    """An edge as seen from a fact, with what it goes through (a shared name, a session)."""

    via: str | None = None


@dataclass(frozen=True, slots=True)
class FactFilter:
    """Which facts may be seen. Every condition must hold; a condition of several values holds for any of them, tags for all.

    `scopes=None` sees every scope, `whenever` also what has run out or is not valid now, and a scan with `pinned` nothing but
    what is pinned: these are for the keeper of the store.
    Recall always names its scopes.
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
        """Whether it leaves anything out at all, be it by scope, mark or time told."""
        marks = (self.tags, self.categories, self.speakers, self.sessions, self.metadata)
        moments = (self.since, self.until, self.as_of, self.community)
        return self.scopes is not None or any(marks) or any(one is not None for one in moments)

    def admits(self, fact: Fact, community: int | None = None) -> bool:
        """The plain definition of the filter; stores may be cleverer but must agree. `community` is that of the fact."""
        inside = self.community is None or community == self.community
        return inside and self._admits_marks(fact) and self._admits_times(fact)

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
        told, stored = fact.time, fact.stored_at
        return (
            (self.since is None or (told is not None and told >= self.since))
            and (self.until is None or (told is not None and told <= self.until))
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
    """A small named value kept in the store (its model, its settings), with a version that grows by one at each writing."""

    name: str
    value: bytes
    version: int = 0


@dataclass(frozen=True, slots=True)
class NameMention:
    """A name that a fact mentions: in which sentences, and how surely it is meant (a part of a longer name less so)."""

    name: str
    sentences: tuple[int, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class SubjectName:
    """A name that a fact is about, and how strongly."""

    name: str
    strength: float


@dataclass(frozen=True, slots=True)
class FactWrite:
    """A fact on its way into the store, with the words and names it will be found by and its vector, if there is an embedder.

    `perhaps` are names that it mentions only if some fact of its scope is about them, with their sentences. `places` tells for
    each word of the text in which sentences it stands, a bit a sentence. One that is told `again` was known, and is known by its
    words alone.
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
    """An edge on its way into the store, and what to do when it is there already.

    reinforce: confidence grows by a step; update: the new values hold; skip: nothing; error: refuse the change.
    An edge of memory's `own` making is left out silently when one of its facts is gone.
    """

    edge: Edge
    mode: str = "reinforce"
    own: bool = False


@dataclass(frozen=True, slots=True)
class FactDescription:
    """How a fact is described by what it came to be linked with; the text itself stays as it is.

    `counts` are the words of the description; those that the fact says itself lead to it anyway, and a store leaves them out.
    `cites` tells which facts gave which words to it, so that these can go with them.
    """

    fact: str
    text: str
    counts: Mapping[str, int]
    cites: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FactImportance:
    """How central a fact is in the graph, and the community it belongs to."""

    fact: str
    pagerank: float
    community: int


@dataclass(frozen=True, slots=True)
class Change:
    """Everything that one transaction writes: all of it or nothing.

    `recount` names scopes whose words are counted anew, keeping `sample` of their vectors. `vectors` are of the model that is
    moving in; `adopt_vectors` makes them the store's own, and takes the others away if they are of another model. `reach` is how
    many turns back a new fact is linked in its session; `ended` edges go; `mentions` are added to facts by id; `dreamed` facts
    leave the inbox, unless they say something else by now; `importance` replaces all there was in the scopes of its facts. With
    `idle_minutes` the change counts as use of the memory, and the active-hours clock runs on from the last use if that was not
    longer ago. `archive` puts facts out of recall (True) or back; `curation` is what curate, supersede and review write. `pins`
    tells which facts never fade; `put_back` is what was taken by a removal before; `revisions` take the place of the facts with
    their ids, which is noted in the history of these. `lessons` strengthen and weaken edges; `uses` add to how often facts helped
    and hurt; `occasions` are recalls that were judged, one of the same id with what was said of it before. `as_read` are facts
    that the change was thought of with: nothing of it is written, and a `Conflict` raised, where one of them is another by now.
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
    """What became of one fact of a change: its id, and whether it is new."""

    id: str
    fresh: bool


@dataclass(frozen=True, slots=True)
class ScopeSize:
    """How many facts a scope holds, and how many its word statistics were counted over."""

    facts: int
    counted: int


@dataclass(frozen=True, slots=True)
class EdgeCounts:
    """Rows really written, changed and taken away."""

    new: int = 0
    changed: int = 0
    ended: int = 0


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What a change did. `taken` is all that went with removals."""

    facts: tuple[StoredFact, ...] = ()
    removed: int = 0
    edges: EdgeCounts = EdgeCounts()
    sizes: Mapping[str, ScopeSize] = field(default_factory=dict)
    taken: RemovedCascade | None = field(default=None, compare=False)
    put_back: RestoreSummary = field(default_factory=RestoreSummary)
