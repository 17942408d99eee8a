"""What comparing recalls gives back: question by question, and what many shadow recalls came to. Frozen values; no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from cofire.dynamics.comparing import Comparison, Move

Configuration = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Compared:
    """One question under two configurations: how alike the two lists are, and which facts moved."""

    question: str
    comparison: Comparison

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {"question": self.question, **comparison_json(self.comparison)}


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Many questions under configurations `a` and `b`, each told by what it sets: the figures of each, and their means."""

    k: int
    a: Configuration
    b: Configuration
    questions: tuple[Compared, ...]
    overlap: float
    tau: float
    same: int

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {
            "k": self.k,
            "a": dict(self.a),
            "b": dict(self.b),
            "overlap": self.overlap,
            "tau": self.tau,
            "same": self.same,
            "questions": [one.to_dict() for one in self.questions],
        }


@dataclass(frozen=True, slots=True)
class Moved:
    """A fact that a shadow recall moved, and how often."""

    id: str
    text: str
    times: int


@dataclass(frozen=True, slots=True)
class Failed:
    """Why shadow recalls failed, and how often."""

    reason: str
    times: int


@dataclass(frozen=True, slots=True)
class ShadowReport:
    """What the shadow recalls that are kept came to. The means are None where there is none that succeeded.

    `place` is the folder where they are kept, empty where that is this process alone.
    """

    count: int
    overlap: float | None
    tau: float | None
    same: int
    promoted: tuple[Moved, ...]
    demoted: tuple[Moved, ...]
    failures: int
    reasons: tuple[Failed, ...]
    place: str

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON."""
        plain = asdict(self)
        return {**plain, **{name: list(plain[name]) for name in ("promoted", "demoted", "reasons")}}


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """A comparison as plain values."""
    return {
        "k": comparison.k,
        "overlap": comparison.overlap,
        "tau": comparison.tau,
        "promoted": [_move_json(move) for move in comparison.promoted],
        "demoted": [_move_json(move) for move in comparison.demoted],
    }


def _move_json(move: Move) -> dict[str, Any]:
    return {"id": move.id, "before": move.before, "after": move.after}
