"""What a recall gives back: hits with the evidence of every channel, and views of them as prompt text, x-ray and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cofire import xray
from cofire.model import Fact


@dataclass(frozen=True, slots=True)
class Heard:
    """What one channel says of one fact: its place and score there, and what that gives to the fused score."""

    rank: int | None
    score: float
    gives: float


@dataclass(frozen=True, slots=True)
class ChannelReport:
    """How a channel fared: ok, empty, disabled, no_embedder or failed, and why."""

    name: str
    status: str
    heard: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """One fact that came back, with the reasons. `path` is how the graph led to it, empty when it was found directly."""

    fact: Fact
    score: float
    channels: Mapping[str, Heard]
    path: tuple[str, ...] = ()
    confidences: tuple[float, ...] = ()

    @property
    def id(self) -> str:
        return self.fact.id

    @property
    def text(self) -> str:
        return self.fact.text

    @property
    def weakest(self) -> float | None:
        """The confidence of the weakest edge on the path."""
        return min(self.confidences, default=None)


@dataclass(frozen=True)
class Recollection:
    """The answer to a question: hits, best first, and what every channel did. `known` is False, with a reason, when there are none."""

    question: str
    hits: tuple[Hit, ...]
    channels: tuple[ChannelReport, ...]
    scopes: tuple[str, ...]
    reason: str = ""

    @property
    def known(self) -> bool:
        return bool(self.hits)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(hit.id for hit in self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, place: int) -> Hit:
        return self.hits[place]

    def text(self, budget: int | None = None) -> str:
        """The facts as a fenced block for a prompt, as many as fit into the budget of tokens."""
        return xray.prompt_text([hit.fact for hit in self.hits], budget)

    def xray(self) -> str:
        """Every stage as text."""
        return xray.report(self)

    def to_dict(self) -> dict[str, Any]:
        """Every stage as JSON."""
        return xray.as_json(self)
