"""Counting: the word statistics of a scope, read back for a question's words. They are made in `recounting`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.stores.base import MODEL_RECORD, Floats, WordStatistics
from cofire.stores.index.moments import moment
from cofire.stores.index.terms import Terms, term
from cofire.stores.neo4j.bringing import Brought
from cofire.stores.neo4j.querying import Query, Querying, Row, both


@dataclass(frozen=True)
class Count:
    """The word statistics of one scope as they were counted last."""

    version: str
    facts: int
    length: int
    terms: Terms
    holding: NDArray[np.int32]
    sample: bytes

    def of(self, asked: Terms) -> NDArray[np.int64]:
        """How many facts hold each of these terms."""
        if not len(self.terms):
            return np.zeros(len(asked), np.int64)
        at = np.minimum(np.searchsorted(self.terms, asked), len(self.terms) - 1)
        return np.where(self.terms[at] == asked, self.holding[at], 0).astype(np.int64)


@dataclass
class Counts:
    """Word statistics, kept in memory as long as nobody counts anew."""

    kept: dict[str, Count] = field(default_factory=dict)

    def version(self, scope: str) -> str:
        return self.kept[scope].version if scope in self.kept else ""

    def learn(self, row: Row) -> Count:
        """What the server says of a scope; only the version, where that is known already."""
        scope, version, facts, length, terms, holding, sample = row
        if terms is not None:
            arrays = np.frombuffer(terms, np.int64), np.frombuffer(holding, np.int32)
            self.kept[scope] = Count(version, facts, length, *arrays, bytes(sample))
        return self.kept[scope]


def statistics(
    brought: Brought, counts: Counts, scopes: Sequence[str], words: Sequence[str]
) -> Querying[WordStatistics]:
    """The statistics of several scopes together, and the times that their facts speak of."""
    within = tuple(sorted(set(scopes)))
    if within not in brought.statistics:
        brought.statistics[within] = yield from both(_counted(counts, within), _times(within), model_size())
    counted, times, dimension = brought.statistics[within]
    asked = np.array([term(word) for word in words], np.int64)
    facts = sum(count.facts for count in counted)
    mean = sum(count.length for count in counted) / facts if facts else 0.0
    holding = sum((count.of(asked) for count in counted), start=np.zeros(len(words), np.int64))
    sample = _rows(b"".join(count.sample for count in counted), dimension)
    return WordStatistics(facts, mean, tuple(holding.tolist()), sample, *times)


def _counted(counts: Counts, scopes: Sequence[str]) -> Querying[list[Count]]:
    asked = [{"scope": scope, "known": counts.version(scope)} for scope in scopes]
    found = yield Query(_COUNTED, {"asked": asked})
    return [counts.learn(row) for row in found]


_COUNTED = """
UNWIND $asked AS one MATCH (c:WordCount {scope: one.scope})
WITH c, c.version <> one.known AS other ORDER BY c.scope
RETURN [c.scope, c.version, c.facts, c.length, CASE WHEN other THEN c.terms END, CASE WHEN other THEN c.holding END,
  CASE WHEN other THEN c.sample END] AS row
"""


def _times(scopes: Sequence[str]) -> Querying[tuple[Any, Any]]:
    """The first and the last moment, each found at its end of the index."""
    found = yield Query(_TIMES, {"scopes": list(scopes)})
    told = [one for pair in found for one in pair if one is not None]
    return moment(min(told, default=None)), moment(max(told, default=None))


_TIMES = """
UNWIND $scopes AS scope
CALL (scope) {
  MATCH (f:Fact) USING INDEX SEEK f:Fact(scope, told) WHERE f.scope = scope AND f.told IS NOT NULL
  RETURN f.told AS first ORDER BY f.scope, f.told LIMIT 1
}
CALL (scope) {
  MATCH (f:Fact) USING INDEX SEEK f:Fact(scope, told) WHERE f.scope = scope AND f.told IS NOT NULL
  RETURN f.told AS last ORDER BY f.scope DESC, f.told DESC LIMIT 1
}
RETURN [first, last] AS row
"""


def model_size() -> Querying[int]:
    """How many numbers a vector of the store has; 0 without a model."""
    found = yield Query("MATCH (r:Record {name: $name}) RETURN [size(r.mean)] AS row", {"name": MODEL_RECORD})
    return int(found[0][0]) if found else 0


def _rows(stored: bytes, dimension: int) -> Floats:
    vectors = np.frombuffer(stored, np.float16).astype(np.float32).reshape(-1, dimension or 1)
    return vectors[:, :dimension]
