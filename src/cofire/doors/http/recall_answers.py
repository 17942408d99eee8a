"""What the API answers to questions: recall, why, explore and feedback, as models for OpenAPI."""

from __future__ import annotations

from typing import Any

from cofire.doors.http.answers import Answer, FactShape, Told


class Hop(Answer):
    """A link along which activation came."""

    source: str
    target: str
    kind: str
    weight: float | None
    confidence: float | None
    via: str | None
    energy: float


class Heard(Answer):
    rank: int | None
    score: float
    gives: float


class Hit(FactShape):
    """A fact that came back, and why."""

    score: float
    channels: dict[str, Heard]
    parts: dict[str, float]
    path: list[str]
    confidences: list[float]
    weakest: float | None
    hops: list[Hop]
    bridge: list[Hop]


class Plan(Answer):
    mode: str
    mode_reason: str
    strategy: str
    strategy_reason: str
    dynamics: str | None
    fusion: str


class Channel(Answer):
    name: str
    status: str
    heard: int
    note: str


class Judgement(Answer):
    known: bool
    evidence: float | None
    threshold: float | None
    reason: str


class Seed(Answer):
    id: str
    activation: float


class Step(Seed):
    inhibited: bool
    gated: bool


class Pass(Answer):
    seeds: list[Seed]
    links: list[Hop]


class Round(Answer):
    round: int
    facts: list[Step]


class Spread(Answer):
    """How activation spread, for a replay."""

    passes: list[Pass]
    rounds: list[Round]


class Recollection(Answer):
    """What memory knows about a question, and every stage on the way."""

    id: str | None
    question: str
    known: bool
    reason: str
    scopes: list[str]
    plan: Plan | None
    channels: list[Channel]
    judgement: Judgement | None
    hits: list[Hit]
    guesses: list[Hit]
    texts: list[Told]
    candidates: int
    spread: Spread | None


class Likeness(Answer):
    cosine: float | None
    words: list[str]
    share: float


class FilterRefusal(Answer):
    filter: str
    asked: str
    has: str


class Rival(Told):
    score: float


class ProposedLink(Answer):
    source: str
    target: str


class Remedy(Answer):
    change: str
    place: int
    asked: dict[str, Any]
    query: str | None
    link: ProposedLink | None


class Why(Answer):
    """Why a fact comes back for a question, or where it is lost."""

    question: str
    id: str
    returned: bool
    stage: str | None
    explanation: str
    place: int | None
    fact: FactShape | None
    hit: Hit | None
    likeness: Likeness | None
    refusals: list[FilterRefusal]
    rivals: list[Rival]
    margin: float | None
    remedies: list[Remedy]
    in_vain: list[str]
    texts: list[Told]


class Path(Answer):
    ids: list[str]
    energies: list[float]
    links: list[Hop]
    end: str


class SeedExplored(Answer):
    seed: str
    energy: float
    status: str
    reason: str
    paths: list[Path]


class Energised(Told):
    energy: float


class Exploration(Answer):
    """What was explored, seed by seed."""

    seeds: list[SeedExplored]
    facts: list[Energised]
    reason: str


class Learned(Answer):
    helped: list[str]
    hurt: list[str]
    made: int
    changed: int
