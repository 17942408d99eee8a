"""What goes with facts that are forgotten, and what came back of it. Frozen values; no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Radius:
    """All that hangs on some facts and goes with them: rows of each kind, and the other facts whose descriptions cite them.

    `words` are entries of the word index.
    """

    facts: int = 0
    edges: int = 0
    mentions: int = 0
    subjects: int = 0
    vectors: int = 0
    words: int = 0
    descriptions: int = 0
    cited: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    """Facts with all that hangs on them. The rows are in the store's own words: it alone can put them back."""

    radius: Radius = Radius()
    rows: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, order=True)
class Skipped:
    """Something that could not be put back, and why."""

    what: str
    id: str
    why: str


@dataclass(frozen=True, slots=True)
class PutBack:
    """What came back of what was taken: facts by id, how many edges, and what did not."""

    facts: tuple[str, ...] = ()
    edges: int = 0
    skipped: tuple[Skipped, ...] = ()


def other_model(id: str) -> Skipped:
    """Of a fact whose vector is of a model that the store no longer has."""
    return Skipped("vector", id, "the store holds another model's vectors by now; give it one with: cofire reembed")


@dataclass(frozen=True, slots=True)
class Receipt:
    """Where something forgotten is kept, until when it can be brought back, and when it last was. `path` is empty where that is this
    process."""

    id: str
    path: str
    made: datetime
    expires: datetime
    ids: tuple[str, ...]
    scopes: frozenset[str] = frozenset()
    undone: datetime | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """A receipt with what it is for."""

    receipt: Receipt
    taken: Taken
