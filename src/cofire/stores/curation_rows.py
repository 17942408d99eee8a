"""Values that curation reads from a store and writes to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

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


def join_summaries(parts: Sequence[DecaySummary]) -> DecaySummary:
    """What several decay rules and pruning do, the examples of each in turn."""
    return DecaySummary(
        sum(part.changed for part in parts),
        sum(part.ended for part in parts),
        tuple(example for part in parts for example in part.examples),
    )


@dataclass(frozen=True, slots=True)
class FactUsage:
    """How a fact was used. `used_at` is when it was observed, recalled or restored last. `success` is from 0 to 1,
    0.5 without feedback; `bytes` are those of text and vector."""

    id: str
    category: str | None
    pinned: bool
    stored_at: datetime
    used_at: datetime
    importance: float
    success: float
    bytes: int


@dataclass(frozen=True, slots=True)
class UsageReport:
    """How the facts in recall were used, in the order of their ids, and the days since 1970 on which the memory was in use."""

    facts: tuple[FactUsage, ...]
    active_days: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GraphHealth:
    """Facts that nothing links with another, and rows that refer to what is not there."""

    orphans: int
    dangling: int
