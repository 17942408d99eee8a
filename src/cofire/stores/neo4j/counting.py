"""Counting: the word statistics of a scope, kept on a node and read back for a question's words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.stores.base import MODEL_RECORD, Floats, WordStatistics
from cofire.stores.index.moments import moment
from cofire.stores.index.terms import Held, Terms, term, unpacked
from cofire.stores.neo4j.querying import Query, Querying, Row, both

# Facts whose words are read together when a scope is counted.
PORTION = 5_000


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


def statistics(counts: Counts, scopes: Sequence[str], words: Sequence[str]) -> Querying[WordStatistics]:
    """The statistics of several scopes together, and the times that their facts speak of."""
    counted, times, dimension = yield from both(_counted(counts, scopes), _times(scopes), model_size())
    asked = np.array([term(word) for word in words], np.int64)
    facts = sum(count.facts for count in counted)
    mean = sum(count.length for count in counted) / facts if facts else 0.0
    holding = sum((count.of(asked) for count in counted), start=np.zeros(len(words), np.int64))
    sample = _rows(b"".join(count.sample for count in counted), dimension)
    return WordStatistics(facts, mean, tuple(holding.tolist()), sample, *times)


def _counted(counts: Counts, scopes: Sequence[str]) -> Querying[list[Count]]:
    asked = [{"scope": scope, "known": counts.version(scope)} for scope in sorted(set(scopes))]
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
    found = yield Query(_TIMES, {"scopes": sorted(set(scopes))})
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


def recount(scope: str, sample: int) -> Querying[None]:
    """Count the words of a scope, and keep some of its vectors as a sample, chosen by content and not by age."""
    found = yield Query("MATCH (s:Scope {scope: $scope}) RETURN [s.told] AS row", {"scope": scope})
    yield from _count(scope, int(found[0][0]) if found else 0, sample)


def count_again(scopes: Iterable[str]) -> Querying[None]:
    """Count what was counted, when some of it went or came back; what was told since is left for the next count."""
    asked = {"scopes": sorted(set(scopes))}
    found = yield Query(
        "MATCH (c:WordCount) WHERE c.scope IN $scopes RETURN [c.scope, c.counted_to, c.sampled] AS row", asked
    )
    for scope, up_to, sampled in found:
        yield from _count(scope, up_to, sampled)


def _count(scope: str, up_to: int, sample: int) -> Querying[None]:
    facts = length = 0
    numbers: list[Terms] = []
    for after in range(0, up_to, PORTION):
        rows = yield Query(_WORDS, {"scope": scope, "after": after, "to": min(up_to, after + PORTION)})
        terms, often, _ = unpacked([Held(bytes(row[0]), bytes(row[1])) for row in rows])
        numbers.append(terms[often > 0])
        facts, length = facts + len(rows), length + sum(row[2] for row in rows)
    known, holding = np.unique(np.concatenate([np.zeros(0, np.int64), *numbers]), return_counts=True)
    sampled = yield Query(_SAMPLE, {"scope": scope, "to": up_to, "sample": sample})
    yield Query(
        _KEEP,
        {
            "scope": scope,
            "facts": facts,
            "length": length,
            "terms": known.tobytes(),
            "holding": holding.astype(np.int32).tobytes(),
            "sample": b"".join(bytes(vector) for (vector,) in sampled),
            "counted_to": up_to,
            "sampled": sample,
        },
    )


_WORDS = """
MATCH (f:Fact) WHERE f.scope = $scope AND f.number > $after AND f.number <= $to RETURN [f.terms, f.counts, f.length] AS row
"""
_SAMPLE = """
MATCH (f:Fact) WHERE f.scope = $scope AND f.hash IS NOT NULL AND f.number <= $to AND f.stored IS NOT NULL
RETURN [f.stored] AS row ORDER BY f.scope, f.hash LIMIT $sample
"""
_KEEP = """
MERGE (c:WordCount {scope: $scope})
SET c.version = randomUUID(), c.facts = $facts, c.length = $length, c.terms = $terms, c.holding = $holding,
  c.sample = $sample, c.counted_to = $counted_to, c.sampled = $sampled
"""
