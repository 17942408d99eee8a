"""What curation asks of a store and what it writes there: fading edges, unused facts, facts that give way to others. Values only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

# Edges of these kinds say that two facts are alike; the weak ones are pruned.
SIMILARITY = ("semantic", "similar")


@dataclass(frozen=True, slots=True)
class Fade:
    """How edges fade that nobody strengthens: `by` weight or by confidence, from `grace` days on, in days of the `clock` (use or
    calendar). A weight loses `rate` a day and ends below the floor; a confidence loses `rate` a `period`, down to the floor."""

    by: str
    grace: float
    rate: float
    period: float
    floor: float
    clock: str


@dataclass(frozen=True, slots=True)
class Superseding:
    """A newer fact takes the place of an older one, whose validity ends then."""

    old: str
    new: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Review:
    """Two facts that seem to disagree, and why; open, accepted, dismissed, or applied by curate."""

    old: str
    new: str
    why: str
    state: str = "open"


@dataclass(frozen=True, slots=True)
class Curation:
    """What curation writes, besides what every change may. `fades` are applied; similarity edges lighter than `prune` end; `because`
    says of archived facts why they were. Of `reviews`, an open one is only written where the pair is not known yet. `restored` facts
    are valid again as they were before they were superseded by those they are paired with."""

    fades: tuple[Fade, ...] = ()
    prune: float | None = None
    because: Mapping[str, str] = field(default_factory=dict)
    superseded: tuple[Superseding, ...] = ()
    restored: tuple[tuple[str, str], ...] = ()
    reviews: tuple[Review, ...] = ()


NO_CURATION = Curation()


@dataclass(frozen=True, slots=True)
class FadedEdge:
    """What becomes of an edge: its weight or confidence before and after; None after where it ends."""

    source: str
    target: str
    kind: str
    before: float
    after: float | None


@dataclass(frozen=True, slots=True)
class Fading:
    """How many edges change and how many end, with some examples of either."""

    changed: int
    ended: int
    examples: tuple[FadedEdge, ...]


@dataclass(frozen=True, slots=True)
class Usage:
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
class Health:
    """Facts that nothing links with another, and rows that refer to what is not there."""

    orphans: int
    dangling: int


class Curable(Protocol):
    """What a store answers to curation."""

    def fading(self, fade: Fade, now: datetime, examples: int) -> Fading:
        """What the writing of this fade would do now."""

    def weak(self, threshold: float, examples: int) -> Fading:
        """The similarity edges below a weight that pruning would end."""

    def usage(self) -> list[Usage]:
        """How the facts that are in recall were used."""

    def active_days(self) -> list[int]:
        """The days since 1970 on which the memory was in use, in order."""

    def health(self) -> Health:
        """What is not as it should be."""

    def changed_facts(self, since: datetime | None) -> list[str]:
        """The ids of the facts in recall that were stored, observed again or updated since a moment, in order; all of them for None."""

    def reviews(self, open_only: bool) -> list[Review]:
        """What was proposed for review, the oldest facts first."""

    def archived_because(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Why these facts were archived, where it is known."""
