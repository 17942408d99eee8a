"""The constants of the default ranking, read once from `ranking.toml`, where each stands with its reason."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from cofire.dynamics.context import Context


@dataclass(frozen=True, slots=True)
class Lending:
    """Which words turns lend each other: not those that more than `most` facts hold and more than a share of all."""

    most: int
    share: float


@dataclass(frozen=True, slots=True)
class Direct:
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
class Seeds:
    """Where the walk starts, and how soft the starting weights are, at first and when it starts again."""

    warmth: float
    again: float


@dataclass(frozen=True, slots=True)
class NameWalk:
    """How a walk goes over names."""

    few: int
    share: float
    most: int
    short: float
    in_question: float
    nearness: float
    room: float


@dataclass(frozen=True, slots=True)
class Links:
    """The bounds of what a link over names gives a fact: at most a share of what the better of its two facts is worth, at least a share
    of what the fact itself is."""

    most: float
    least: float


@dataclass(frozen=True, slots=True)
class Edges:
    """What stored edges carry: by kind, and less the more of them a fact has."""

    fan: float
    kinds: dict[str, float]


@dataclass(frozen=True, slots=True)
class Versions:
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
class Contradictions:
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
class Ranking:
    """All of it together."""

    words: Context
    lending: Lending
    vectors: Context
    direct: Direct
    seeds: Seeds
    names: NameWalk
    links: Links
    edges: Edges
    versions: Versions
    contradictions: Contradictions
    features: dict[str, float]


_IN_USE: ContextVar[Ranking | None] = ContextVar("ranking in use", default=None)


def ranking() -> Ranking:
    """The constants in use: those shipped, unless others are tried just now."""
    return _IN_USE.get() or shipped()


@contextmanager
def using(changed: Ranking) -> Iterator[Ranking]:
    """Rank by other constants for a while, here and in what is begun from here; for measuring."""
    token = _IN_USE.set(changed)
    try:
        yield changed
    finally:
        _IN_USE.reset(token)


@cache
def shipped() -> Ranking:
    """The constants of the file."""
    return read(tomllib.loads(files("cofire").joinpath("ranking.toml").read_text(encoding="utf-8")))


def read(tables: dict[str, dict[str, Any]]) -> Ranking:
    """Constants from the tables of the file."""
    words = dict(tables["words"])
    lending = Lending(words.pop("most"), words.pop("share"))
    return Ranking(
        words=Context(**words),
        lending=lending,
        vectors=Context(**tables["vectors"]),
        direct=Direct(**tables["direct"]),
        seeds=Seeds(**tables["seeds"]),
        names=NameWalk(**tables["names"]),
        links=Links(**tables["links"]),
        edges=Edges(**tables["edges"]),
        versions=Versions(**tables["versions"]),
        contradictions=Contradictions(**tables["contradictions"]),
        features=tables["features"],
    )
