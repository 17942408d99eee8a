"""What curation asks of a store, and the values it reads and writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

# Edges of these kinds say that two facts are alike; the weak ones are pruned.
SIMILARITY_KINDS = ("semantic", "similar")


@dataclass(frozen=True, slots=True)
class DecayRule:
    """How edges fade that nobody strengthens: `by` weight or by confidence, from `grace` days on, in days of the `clock` (use or
    calendar). A weight loses `rate` a day and ends below the floor; a confidence loses `rate` a `period`, down to the floor."""

    by: str
    grace: float
    rate: float
    period: float
    floor: float
    clock: str


@dataclass(frozen=True, slots=True)
class Supersession:
    """A newer fact takes the place of an older one, whose validity ends then."""

    old: str
    new: str
    until: datetime


@dataclass(frozen=True, slots=True)
class ContradictionReview:
    """Two facts that seem to disagree, and why; open, accepted, dismissed, or applied by curate."""

    old: str
    new: str
    why: str
    state: str = "open"


@dataclass(frozen=True, slots=True)
class CurationChange:
    """What curation writes, besides what every change may. `fades` are applied; similarity edges lighter than `prune` end; `because`
    says of archived facts why they were. Of `reviews`, an open one is only written where the pair is not known yet. `restored` facts
    are valid again as they were before they were superseded by those they are paired with."""

    fades: tuple[DecayRule, ...] = ()
    prune: float | None = None
    because: Mapping[str, str] = field(default_factory=dict)
    superseded: tuple[Supersession, ...] = ()
    restored: tuple[tuple[str, str], ...] = ()
    reviews: tuple[ContradictionReview, ...] = ()


NO_CURATION = CurationChange()


@dataclass(frozen=True, slots=True)
class DecayedEdge:
    """What becomes of an edge: its weight or confidence before and after; None after where it ends."""

    source: str
    target: str
    kind: str
    before: float
    after: float | None


@dataclass(frozen=True, slots=True)
class DecaySummary:
    """How many edges change and how many end, with some examples of either."""

    changed: int
    ended: int
    examples: tuple[DecayedEdge, ...]


@dataclass(frozen=True, slots=True)
class FactUsage:
    """How a fact was used. `used_at` is when it was last told, recalled or restored; `success` from 0 to 1, 0.5 where nobody said;
    `bytes` those of its text and vector."""

    id: str
    category: str | None
    pinned: bool
    stored_at: datetime
    used_at: datetime
    importance: float
    success: float
    bytes: int


@dataclass(frozen=True, slots=True)
class GraphHealth:
    """Facts that nothing links with another, and rows that refer to what is not there."""

    orphans: int
    dangling: int


class SupportsCuration(Protocol):
    """What a store answers to curation."""

    def preview_decay(self, fade: DecayRule, now: datetime, examples: int) -> DecaySummary:
        """What the writing of this fade would do now."""

    def preview_pruning(self, threshold: float, examples: int) -> DecaySummary:
        """The similarity edges below a weight that pruning would end."""

    def list_usage(self) -> list[FactUsage]:
        """How the facts that are in recall were used."""

    def list_active_days(self) -> list[int]:
        """The days since 1970 on which the memory was in use, in order."""

    def check_graph(self) -> GraphHealth:
        """What is not as it should be."""

    def list_changed_ids(self, since: datetime | None) -> list[str]:
        """The ids of the facts in recall that were stored, observed again or updated since a moment, in order; all of them for None."""

    def list_reviews(self, open_only: bool) -> list[ContradictionReview]:
        """What was proposed for review, the oldest facts first."""

    def read_archive_reasons(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Why these facts were archived, where it is known."""
