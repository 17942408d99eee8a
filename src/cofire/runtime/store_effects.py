"""Effects on a store's graph, feedback history and curation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cofire.model import FactFilter
from cofire.runtime.effects import RunContext
from cofire.stores.base import EdgeFilter, ExpansionOptions
from cofire.stores.curation_protocol import DecayRule
from cofire.stores.learning_protocol import LoggedRecall, PathEdge, RecallLogOptions


@dataclass(frozen=True, slots=True)
class FetchEdges:
    """Stored edges."""

    wanted: EdgeFilter
    limit: int

    def put(self, world: RunContext) -> Any:
        return world.store.edges(self.wanted, self.limit)


@dataclass(frozen=True, slots=True)
class FetchLinks:
    """All that a fact is linked with, and what the links go through."""

    id: str
    limit: int

    def put(self, world: RunContext) -> Any:
        return world.store.links(self.id, self.limit)


@dataclass(frozen=True, slots=True)
class ExpandLinks:
    """The links that leave these facts."""

    ids: Sequence[str]
    conducting: ExpansionOptions

    def put(self, world: RunContext) -> Any:
        return world.store.expand(self.ids, self.conducting)


@dataclass(frozen=True, slots=True)
class LookUpNames:
    """Which of these names does memory know, and who is about them?"""

    names: Sequence[str]
    where: FactFilter
    most: int

    def put(self, world: RunContext) -> Any:
        return world.store.known(self.names, self.where, self.most)


@dataclass(frozen=True, slots=True)
class FindUnlinkedMentions:
    """Which facts hold all the words of a name, and do not mention it? With `anew` also of names that a fact is about already."""

    scope: str
    names: Mapping[str, Sequence[str]]
    most: int
    anew: bool

    def put(self, world: RunContext) -> Any:
        return world.store.speaking(self.scope, self.names, self.most, self.anew)


@dataclass(frozen=True, slots=True)
class SearchTimes:
    """Which facts are of these times?"""

    spans: Sequence[tuple[datetime, datetime]]
    k: int
    where: FactFilter

    def put(self, world: RunContext) -> Any:
        return world.store.timely(self.spans, self.k, self.where)


@dataclass(frozen=True, slots=True)
class FilterVisible:
    """Which of these facts may be seen?"""

    ids: Sequence[str]
    where: FactFilter

    def put(self, world: RunContext) -> Any:
        return world.store.admitted(self.ids, self.where)


@dataclass(frozen=True, slots=True)
class MatchSpeakers:
    """Which speakers do these words name?"""

    scopes: Sequence[str]
    words: Sequence[str]

    def put(self, world: RunContext) -> Any:
        return world.store.voices(self.scopes, self.words)


@dataclass(frozen=True, slots=True)
class MatchTags:
    """Which of these are tags in these scopes?"""

    scopes: Sequence[str]
    names: Sequence[str]

    def put(self, world: RunContext) -> Any:
        return world.store.tags(self.scopes, self.names)


@dataclass(frozen=True, slots=True)
class FetchNameLinks:
    """Where do the names of these facts lead?"""

    ids: Sequence[str]
    where: FactFilter
    common: int
    most: int

    def put(self, world: RunContext) -> Any:
        return world.store.paths(self.ids, self.where, self.common, self.most)


@dataclass(frozen=True, slots=True)
class LocateWords:
    """In which sentences of these facts do these words stand?"""

    ids: Sequence[str]
    words: Sequence[str]

    def put(self, world: RunContext) -> Any:
        return world.store.places(self.ids, self.words)


@dataclass(frozen=True, slots=True)
class FetchInbox:
    """Facts that wait in the inbox for a dream."""

    scopes: Sequence[str] | None
    limit: int

    def put(self, world: RunContext) -> Any:
        return world.store.waiting(self.scopes, self.limit)


@dataclass(frozen=True, slots=True)
class FindNeighbourCandidates:
    """Pairs of facts that may belong together."""

    ids: Sequence[str]
    k: int
    sharing: int

    def put(self, world: RunContext) -> Any:
        return world.store.kin(self.ids, self.k, self.sharing)


@dataclass(frozen=True, slots=True)
class FetchProfiles:
    """What the edge score looks at in facts, in one reading."""

    ids: Sequence[str]

    def put(self, world: RunContext) -> Any:
        return world.store.profiles(self.ids)


@dataclass(frozen=True, slots=True)
class FetchNetwork:
    """The graph of a scope as arrays."""

    scope: str

    def put(self, world: RunContext) -> Any:
        return world.store.network(self.scope)


@dataclass(frozen=True, slots=True)
class FetchActiveHours:
    """How long has the memory been in use?"""

    def put(self, world: RunContext) -> Any:
        return world.store.active_hours()


@dataclass(frozen=True, slots=True)
class FetchImportance:
    """PageRank and community of facts."""

    ids: Sequence[str]

    def put(self, world: RunContext) -> Any:
        return world.store.importance(self.ids)


@dataclass(frozen=True, slots=True)
class FetchDescriptions:
    """How a fact was described over time."""

    id: str

    def put(self, world: RunContext) -> Any:
        return world.store.descriptions(self.id)


@dataclass(frozen=True, slots=True)
class LogRecall:
    """Note what a recall shows now, in the session that is going on. The answer is the id by which it can be named."""

    ids: tuple[str, ...]
    ways: Mapping[str, tuple[PathEdge, ...]]
    keeping: RecallLogOptions

    def put(self, world: RunContext) -> str:
        now = world.clock()
        [id] = world.mint(now, 1)
        world.store.log(LoggedRecall(id, now, world.session, self.ids, self.ways), self.keeping)
        return id


@dataclass(frozen=True, slots=True)
class FetchLoggedRecall:
    """What did the recall with this id show?"""

    id: str

    def put(self, world: RunContext) -> Any:
        return world.store.shown(self.id)


@dataclass(frozen=True, slots=True)
class FetchFeedbackCounts:
    """How often did these facts help and hurt?"""

    ids: Sequence[str]

    def put(self, world: RunContext) -> Any:
        return world.store.uses(self.ids)


@dataclass(frozen=True, slots=True)
class FetchJudgedRecalls:
    """Which judged recalls had several of these facts at their first places?"""

    ids: Sequence[str]
    limit: int

    def put(self, world: RunContext) -> Any:
        return world.store.occasions(self.ids, self.limit)


@dataclass(frozen=True, slots=True)
class FetchCommunities:
    """Which communities are there, the largest first, with the most central facts of each?"""

    scopes: Sequence[str] | None
    limit: int
    most: int

    def put(self, world: RunContext) -> Any:
        return world.store.groups(self.scopes, self.limit, self.most)


@dataclass(frozen=True, slots=True)
class PreviewDecay:
    """What would a fade do now?"""

    fade: DecayRule
    now: datetime
    examples: int

    def put(self, world: RunContext) -> Any:
        return world.store.fading(self.fade, self.now, self.examples)


@dataclass(frozen=True, slots=True)
class PreviewPruning:
    """Which similarity edges are below a weight?"""

    threshold: float
    examples: int

    def put(self, world: RunContext) -> Any:
        return world.store.weak(self.threshold, self.examples)


@dataclass(frozen=True, slots=True)
class FetchFactUsage:
    """How were the facts used?"""

    def put(self, world: RunContext) -> Any:
        return world.store.usage()


@dataclass(frozen=True, slots=True)
class FetchActiveDays:
    """On which days was the memory in use?"""

    def put(self, world: RunContext) -> Any:
        return world.store.active_days()


@dataclass(frozen=True, slots=True)
class CheckGraphHealth:
    """What is not as it should be?"""

    def put(self, world: RunContext) -> Any:
        return world.store.health()


@dataclass(frozen=True, slots=True)
class FetchChangedFactIds:
    """The ids of facts that were stored, observed again or updated since a moment."""

    since: datetime | None

    def put(self, world: RunContext) -> Any:
        return world.store.changed_facts(self.since)


@dataclass(frozen=True, slots=True)
class FetchReviews:
    """What was proposed for review?"""

    open_only: bool = True

    def put(self, world: RunContext) -> Any:
        return world.store.reviews(self.open_only)


@dataclass(frozen=True, slots=True)
class FetchArchiveReasons:
    """Why were these facts archived?"""

    ids: Sequence[str]

    def put(self, world: RunContext) -> Any:
        return world.store.archived_because(self.ids)
