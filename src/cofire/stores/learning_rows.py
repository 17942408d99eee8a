"""Values that learning from use reads from a store and writes to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

HEBBIAN_KIND = "hebbian"
USE_ORIGIN = "use"

# Judged recalls that a store keeps; older ones go.
MAX_JUDGED_RECALLS = 10_000


@dataclass(frozen=True, slots=True)
class EdgeAdjustment:
    """An edge between two facts, or the one that leads back, that grows by a step or, if that is negative, shrinks.

    A hebbian edge that is not there is made by the first step that lets it grow; an edge of another kind is never made.
    """

    source: str
    target: str
    kind: str
    step: float

    def turned(self) -> EdgeAdjustment:
        """From the smaller id to the larger, as edges are kept whose ends are alike.

        >>> EdgeAdjustment("b", "a", "hebbian", 0.05).turned().source
        'a'
        """
        return self if self.source < self.target else EdgeAdjustment(self.target, self.source, self.kind, self.step)


@dataclass(frozen=True, slots=True)
class FeedbackCounts:
    """How often a fact helped and hurt, as feedback told."""

    helped: int = 0
    hurt: int = 0

    @property
    def success(self) -> float:
        """The mean of Beta(1 + helped, 1 + hurt): one half where nobody said anything.

        >>> FeedbackCounts().success, FeedbackCounts(helped=2).success
        (0.5, 0.75)
        """
        return (1 + self.helped) / (2 + self.helped + self.hurt)

    def and_again(self, more: FeedbackCounts) -> FeedbackCounts:
        """Both together."""
        return FeedbackCounts(self.helped + more.helped, self.hurt + more.hurt)


@dataclass(frozen=True, slots=True)
class JudgedRecall:
    """A recall that somebody judged: which facts stood at its first places, and which helped and hurt. The question is not among it."""

    id: str
    first: frozenset[str]
    helped: frozenset[str] = frozenset()
    hurt: frozenset[str] = frozenset()


class PathEdge(NamedTuple):
    """An edge on the way to a fact: through a name there is none, and then it is the hebbian one that use could make."""

    source: str
    target: str
    kind: str


@dataclass(frozen=True, slots=True)
class LoggedRecall:
    """What a recall showed: the facts by place, and the ways that led to each. The question is not among it."""

    id: str
    at: datetime
    session: str | None
    ids: tuple[str, ...]
    ways: Mapping[str, tuple[PathEdge, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RecallLogOptions:
    """How much of what was shown is kept, and what exposure alone teaches: `rule` is earned, documented or off."""

    most: int
    rule: str
    idle_minutes: float


@dataclass(frozen=True, slots=True)
class CommunityMembers:
    """A community of a scope: how many facts it has, and the most central of them."""

    scope: str
    number: int
    size: int
    ids: tuple[str, ...]
