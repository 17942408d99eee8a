"""The constants of the default ranking, read from ranking.toml, which explains each of them."""

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
    """Words that turns do not borrow: those in more than `most` facts and more than a `share` of all."""

    most: int
    share: float


@dataclass(frozen=True, slots=True)
class DirectWeights:
    """Weights of a fact's own features, beside the keyword and semantic channels."""

    speaker: float
    first_speaker: float
    asks: float
    timed: float
    length: float
    besides: float
    assistant: float
    assistant_asked: float


@dataclass(frozen=True, slots=True)
class TimeConstants:
    """Decay of the temporal score with the distance from the time asked about, in days."""

    later_days: float
    earlier_days: float
    earlier_share: float
    beyond_days: float


@dataclass(frozen=True, slots=True)
class SeedConstants:
    """Softness of the seed weights, in the first and in the second pass of the walk."""

    warmth: float
    again: float


@dataclass(frozen=True, slots=True)
class NameWalkConstants:
    """How the walk follows shared names."""

    few: int
    share: float
    most: int
    short: float
    in_question: float
    nearness: float
    room: float
    rare: float


@dataclass(frozen=True, slots=True)
class LinkBounds:
    """Bounds of the score that a link through a name gives a fact.

    At most a share of the score of the better of the two facts; at least a share of the fact's own.
    """

    most: float
    least: float


@dataclass(frozen=True, slots=True)
class EdgeConstants:
    """Strength of stored edges by kind, and how it falls with the degree of a fact."""

    fan: float
    kinds: dict[str, float]


@dataclass(frozen=True, slots=True)
class VersionConstants:
    """When a newer fact counts as a version of an older one and ranks before it."""

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
    """When two facts contradict each other: the weights of text/contradictions.py and its thresholds."""

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
    length: float
    only_adds: float
    side_by_side: float
    other_attribute: float
    no_statement: float
    least: float
    least_clear: float


@dataclass(frozen=True, slots=True)
class RankingConstants:
    """All tables of ranking.toml."""

    words: SessionContext
    lending: TermLendingLimits
    vectors: SessionContext
    direct: DirectWeights
    times: TimeConstants
    seeds: SeedConstants
    names: NameWalkConstants
    links: LinkBounds
    edges: EdgeConstants
    versions: VersionConstants
    contradictions: ContradictionConstants
    features: dict[str, float]


_ACTIVE_CONSTANTS: ContextVar[RankingConstants | None] = ContextVar("ranking in use", default=None)


def current_constants() -> RankingConstants:
    """The constants in use: the defaults, unless `override_constants` is active."""
    return _ACTIVE_CONSTANTS.get() or default_constants()


@contextmanager
def override_constants(changed: RankingConstants) -> Iterator[RankingConstants]:
    """Use other constants inside this block and in tasks started from it. For measurements."""
    token = _ACTIVE_CONSTANTS.set(changed)
    try:
        yield changed
    finally:
        _ACTIVE_CONSTANTS.reset(token)


@cache
def default_constants() -> RankingConstants:
    """The constants of ranking.toml."""
    text = files("cofire.settings").joinpath("ranking.toml").read_text(encoding="utf-8")
    return parse_constants(tomllib.loads(text))


def parse_constants(tables: dict[str, dict[str, Any]]) -> RankingConstants:
    """Build the constants from the tables of ranking.toml."""
    words = dict(tables["words"])
    lending = TermLendingLimits(words.pop("most"), words.pop("share"))
    return RankingConstants(
        words=SessionContext(**words),
        lending=lending,
        vectors=SessionContext(**tables["vectors"]),
        direct=DirectWeights(**tables["direct"]),
        times=TimeConstants(**tables["times"]),
        seeds=SeedConstants(**tables["seeds"]),
        names=NameWalkConstants(**tables["names"]),
        links=LinkBounds(**tables["links"]),
        edges=EdgeConstants(**tables["edges"]),
        versions=VersionConstants(**tables["versions"]),
        contradictions=ContradictionConstants(**tables["contradictions"]),
        features=tables["features"],
    )
