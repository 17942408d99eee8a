"""What `why` gives back: whether a fact came back, the stage where it was lost, and what would bring it back. Frozen values; no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from cofire import xray
from cofire.model import Fact
from cofire.recollection import Hit

Stage = Literal[
    "returned",
    "not_stored",
    "switched_off",
    "filtered",
    "silent",
    "not_a_candidate",
    "cut_by_inhibition",
    "beyond_expanded",
    "beyond_k",
    "beyond_budget",
    "outranked",
]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A filter that a fact does not pass: what was asked for, and what the fact has."""

    filter: str
    asked: str
    has: str


@dataclass(frozen=True, slots=True)
class Likeness:
    """How like the question a fact is by itself. `cosine` is None where there is no vector to compare."""

    cosine: float | None
    words: tuple[str, ...]
    share: float


@dataclass(frozen=True, slots=True)
class Rival:
    """A fact that came back in its stead."""

    id: str
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change that was really tried, and the place it gave the fact.

    `asked` is what to say to `recall` besides, `query` what to ask instead, `link` what to connect first.
    """

    change: str
    place: int
    asked: Mapping[str, Any] = field(default_factory=dict)
    query: str | None = None
    link: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Why:
    """Why a fact came back, or the first stage where it was lost.

    `place` is among all candidates and `hit` its arithmetic, both None where it was none; `margin` is what it lacks to `last`, the
    last fact that came back. `remedies` come with the smallest change first, `in_vain` is what was tried and did not help.
    """

    question: str
    id: str
    stage: Stage
    explanation: str
    fact: Fact | None = None
    place: int | None = None
    hit: Hit | None = None
    likeness: Likeness | None = None
    refusals: tuple[Refusal, ...] = ()
    rivals: tuple[Rival, ...] = ()
    margin: float | None = None
    last: Hit | None = None
    remedies: tuple[Remedy, ...] = ()
    in_vain: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def returned(self) -> bool:
        return self.stage == "returned"

    def text(self) -> str:
        """All of it as lines of text."""
        lines = [f"{self.stage}: {self.explanation}"]
        lines += xray.hit_lines(self.place, self.hit, self.texts) if self.hit and self.place else []
        lines += [f"above it: {one.score:.3f} {one.id} {xray.shortened(one.text, 80)}" for one in self.rivals]
        lines += [f"remedy: {one.change} (then at place {one.place})" for one in self.remedies]
        lines += [f"in vain: {change}" for change in self.in_vain]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {
            "question": self.question,
            "id": self.id,
            "returned": self.returned,
            "stage": self.stage,
            "explanation": self.explanation,
            "place": self.place,
            "fact": xray.fact_json(self.fact) if self.fact else None,
            "hit": xray.hit_json(self.hit) if self.hit else None,
            "likeness": _likeness_json(self.likeness) if self.likeness else None,
            "refusals": [asdict(one) for one in self.refusals],
            "rivals": [asdict(one) for one in self.rivals],
            "margin": self.margin,
            "remedies": [_remedy_json(one) for one in self.remedies],
            "in_vain": list(self.in_vain),
            "texts": [{"id": id, "text": text} for id, text in self.texts.items()],
        }


def _likeness_json(likeness: Likeness) -> dict[str, Any]:
    return {"cosine": likeness.cosine, "words": list(likeness.words), "share": likeness.share}


def _remedy_json(remedy: Remedy) -> dict[str, Any]:
    link = {"source": remedy.link[0], "target": remedy.link[1]} if remedy.link else None
    return {
        "change": remedy.change,
        "place": remedy.place,
        "asked": dict(remedy.asked),
        "query": remedy.query,
        "link": link,
    }
