"""The constants of the default ranking, read from ranking.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from cofire.algorithms.session_context import SessionContext


@dataclass(frozen=True, slots=True)
class TermLendingLimits:
    """Which words turns lend each other: not those that more than `most` facts hold and more than a share of all."""

    most: int
    share: float


@dataclass(frozen=True, slots=True)
class DirectWeights:
    """What a fact is worth for itself, beside words and meaning."""

    speaker: float
    first_speaker: float
    asks: float
    timed: float
    length: float
    besides: float
    assistant: float
    assistant_asked: float


@dataclass(frozen=True, slots=True)
class SeedConstants:
    """Where the walk starts, and how soft the starting weights are, at first and when it starts again."""

    warmth: float
    again: float


@dataclass(frozen=True, slots=True)
class NameWalkConstants:
    """How a walk goes over names."""

    few: int
    share: float
    most: int
    short: float
    in_question: float
    nearness: float
    room: float


@dataclass(frozen=True, slots=True)
class LinkBounds:
    """The bounds of what a link over names gives a fact: at most a share of what the better of its two facts is worth, at least a share
    of what the fact itself is."""

    most: float
    least: float


@dataclass(frozen=True, slots=True)
class EdgeConstants:
    """What stored edges carry: by kind, and less the more of them a fact has."""

    fan: float
    kinds: dict[str, float]


@dataclass(frozen=True, slots=True)
class VersionConstants:
    """When a newer fact counts as a version of an older one, so that it takes its place."""

    score: float
    meaning: float
    unknown_meaning: float
    coverage: float
    question_coverage: float
    announces_change: float
    names_old_value: float
    least: float


@dataclass(frozen=True, slots=True)
class ContradictionConstants:
    """When two facts cannot both hold: a weight for each sign of `reading/contradictions.py`, and the evidence that is needed."""

    nearest: float
    distant: float
    similarity: float
    unknown_similarity: float
    coverage: float
    similar_coverage: float
    rarest_shared: float
    announces_change: float
    replaceable: float
    same_kind: float
    is_plan: float
    length: float
    shares_names_only: float
    shares_little: float
    only_adds: float
    two_differences: float
    allows_several: float
    least: float
    least_clear: float


@dataclass(frozen=True, slots=True)
class RankingConstants:
    """All of it together."""

    words: SessionContext
    lending: TermLendingLimits
    vectors: SessionContext
    direct: DirectWeights
    seeds: SeedConstants
    names: NameWalkConstants
    links: LinkBounds
    edges: EdgeConstants
    versions: VersionConstants
    contradictions: ContradictionConstants
    features: dict[str, float]


_ACTIVE_CONSTANTS: ContextVar[RankingConstants | None] = ContextVar("ranking in use", default=None)


def current_constants() -> RankingConstants:
    """The constants in use: those shipped, unless others are tried just now."""
    return _ACTIVE_CONSTANTS.get() or default_constants()


@contextmanager
def override_constants(changed: RankingConstants) -> Iterator[RankingConstants]:
    """Rank by other constants for a while, here and in what is begun from here; for measuring."""
    token = _ACTIVE_CONSTANTS.set(changed)
    try:
        yield changed
    finally:
        _ACTIVE_CONSTANTS.reset(token)


@cache
def default_constants() -> RankingConstants:
    """The constants of the file."""
    return parse_constants(tomllib.loads(files("cofire.settings").joinpath("ranking.toml").read_text(encoding="utf-8")))


def parse_constants(tables: dict[str, dict[str, Any]]) -> RankingConstants:
    """Constants from the tables of the file."""
    words = dict(tables["words"])
    lending = TermLendingLimits(words.pop("most"), words.pop("share"))
    return RankingConstants(
        words=SessionContext(**words),
        lending=lending,
        vectors=SessionContext(**tables["vectors"]),
        direct=DirectWeights(**tables["direct"]),
        seeds=SeedConstants(**tables["seeds"]),
        names=NameWalkConstants(**tables["names"]),
        links=LinkBounds(**tables["links"]),
        edges=EdgeConstants(**tables["edges"]),
        versions=VersionConstants(**tables["versions"]),
        contradictions=ContradictionConstants(**tables["contradictions"]),
        features=tables["features"],
    )
