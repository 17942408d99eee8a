"""Word statistics of a scope: count, store, cache and read them for a query's words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.index.terms import PackedTerms, TermArray, unpack_terms
from cofire.index.timestamps import from_microseconds
from cofire.stores.base import MODEL_RECORD, Floats, WordStatistics
from cofire.stores.neo4j.cypher import CypherQuery, QuerySteps, Row, run_together
from cofire.stores.neo4j.prefetch import Prefetch
from cofire.stores.word_counts import ScopeWordCount, combine_word_counts


@dataclass(frozen=True)
class Neo4jCountedScope:
    """The word count of a scope, its version, and its sample of vectors as bytes."""

    version: str
    count: ScopeWordCount
    sample: bytes


@dataclass
class Neo4jStatisticsCache:
    """Word statistics, kept in memory until the scope is counted again."""

    by_scope: dict[str, Neo4jCountedScope] = field(default_factory=dict)

    def version(self, scope: str) -> str:
        return self.by_scope[scope].version if scope in self.by_scope else ""

    def update(self, row: Row) -> Neo4jCountedScope:
        """Take a row of the server, which has only the version where that is known already."""
        scope, version, facts, length, terms, holding, sample = row
        if terms is not None:
            arrays = np.frombuffer(terms, np.int64), np.frombuffer(holding, np.int32)
            self.by_scope[scope] = Neo4jCountedScope(version, ScopeWordCount(facts, length, *arrays), bytes(sample))
        return self.by_scope[scope]


def fetch_word_statistics(
    brought: Prefetch, cache: Neo4jStatisticsCache, scopes: Sequence[str], words: Sequence[str]
) -> QuerySteps[WordStatistics]:
    """The statistics of several scopes together, and the times that their facts speak of."""
    within = tuple(sorted(set(scopes)))
    if within not in brought.statistics:
        brought.statistics[within] = yield from run_together(
            _fetch_scope_statistics(cache, within), _fetch_time_range(within), fetch_dimension()
        )
    counted, times, dimension = brought.statistics[within]
    sample = _decode_vectors(b"".join(scope.sample for scope in counted), dimension)
    return combine_word_counts([scope.count for scope in counted], words, sample, times)


def _fetch_scope_statistics(cache: Neo4jStatisticsCache, scopes: Sequence[str]) -> QuerySteps[list[Neo4jCountedScope]]:
    asked = [{"scope": scope, "known": cache.version(scope)} for scope in scopes]
    rows = yield CypherQuery(_FETCH_SCOPE_STATISTICS, {"asked": asked})
    return [cache.update(row) for row in rows]


_FETCH_SCOPE_STATISTICS = """
UNWIND $asked AS one MATCH (c:WordCount {scope: one.scope})
WITH c, c.version <> one.known AS other ORDER BY c.scope
RETURN [c.scope, c.version, c.facts, c.length, CASE WHEN other THEN c.terms END, CASE WHEN other THEN c.holding END,
  CASE WHEN other THEN c.sample END] AS row
"""


def _fetch_time_range(scopes: Sequence[str]) -> QuerySteps[tuple[Any, Any]]:
    """The first and the last moment, each found at its end of the index."""
    found = yield CypherQuery(_FETCH_TIME_RANGE, {"scopes": list(scopes)})
    told = [one for pair in found for one in pair if one is not None]
    return from_microseconds(min(told, default=None)), from_microseconds(max(told, default=None))


_FETCH_TIME_RANGE = """
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


def fetch_dimension() -> QuerySteps[int]:
    """How many numbers a vector of the store has; 0 without a model."""
    found = yield CypherQuery("MATCH (r:Record {name: $name}) RETURN [size(r.mean)] AS row", {"name": MODEL_RECORD})
    return int(found[0][0]) if found else 0


def _decode_vectors(stored: bytes, dimension: int) -> Floats:
    vectors = np.frombuffer(stored, np.float16).astype(np.float32).reshape(-1, dimension or 1)
    return vectors[:, :dimension]


# Facts whose words are read together.
COUNT_BATCH_SIZE = 5_000

# What a statement that changes the words of facts `f` ends with: the counts of their scopes do not follow from what is told anew.
MARK_STATISTICS_STALE = "WITH DISTINCT f.scope AS scope MATCH (c:WordCount {scope: scope}) SET c.stale = true"

FactWords = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class WordTally:
    """How many facts there are, how long they are together, and how many of them hold each term."""

    facts: int
    length: int
    terms: TermArray
    holding: NDArray[np.int64]

    @classmethod
    def of(cls, held: Sequence[tuple[PackedTerms, int]]) -> WordTally:
        """Of facts by their words and lengths."""
        terms, often, _ = unpack_terms([words for words, _ in held])
        return cls(len(held), sum(length for _, length in held), *np.unique(terms[often > 0], return_counts=True))

    def plus(self, other: WordTally, *, times: int) -> WordTally:
        """With all of another, or without it; what nobody holds any more is left out."""
        terms, place = np.unique(np.concatenate([self.terms, other.terms]), return_inverse=True)
        holding = np.bincount(place, np.concatenate([self.holding, times * other.holding]), len(terms)).astype(np.int64)
        held = holding > 0
        facts, length = self.facts + times * other.facts, self.length + times * other.length
        return WordTally(facts, length, terms[held], holding[held])


@dataclass(frozen=True, slots=True)
class StoredTally:
    """The count of a scope as it is kept, up to which number, and how many vectors its sample has at most."""

    scope: str
    tally: WordTally
    up_to: int
    sampled: int
    stale: bool


EMPTY_TALLY = WordTally.of(())


def recount_scope(scope: str, sample: int) -> QuerySteps[None]:
    """Count the words of a scope, and keep some of its vectors as a sample, chosen by content and not by age."""
    [[told]] = (yield CypherQuery(_FETCH_LAST_NUMBER, {"scope": scope})) or [[0]]
    kept = yield from _fetch_tallies([scope])
    sound = next((one for one in kept if not one.stale), StoredTally(scope, EMPTY_TALLY, 0, sample, stale=False))
    yield from _write_tally(scope, (yield from _extend_tally(sound, told)), told, sample)


_FETCH_LAST_NUMBER = "MATCH (s:Scope {scope: $scope}) RETURN [s.told] AS row"


def adjust_statistics(scopes: Iterable[str], gone: Sequence[FactWords], back: Sequence[FactWords]) -> QuerySteps[None]:
    """Count what was counted, when some of it went or came back; what was told since is left for the next count."""
    for kept in (yield from _fetch_tallies(scopes)):
        if kept.stale:
            whole = yield from _extend_tally(StoredTally(kept.scope, EMPTY_TALLY, 0, 0, stale=False), kept.up_to)
            yield from _write_tally(kept.scope, whole, kept.up_to, kept.sampled)
            continue
        fewer, more = _tally_counted_facts(kept, gone), _tally_counted_facts(kept, back)
        if fewer.facts or more.facts:
            tally = kept.tally.plus(fewer, times=-1).plus(more, times=1)
            yield from _write_tally(kept.scope, tally, kept.up_to, kept.sampled)


def _tally_counted_facts(kept: StoredTally, facts: Sequence[FactWords]) -> WordTally:
    """Those of these facts that were counted."""
    counted = [one for one in facts if one["scope"] == kept.scope and 0 < one["number"] <= kept.up_to]
    return WordTally.of(
        [(PackedTerms(bytes(one["terms"]), bytes(one["counts"])), int(one["length"])) for one in counted]
    )


def _fetch_tallies(scopes: Iterable[str]) -> QuerySteps[list[StoredTally]]:
    return [_decode_tally(row) for row in (yield CypherQuery(_FETCH_TALLIES, {"scopes": sorted(set(scopes))}))]


_FETCH_TALLIES = """
UNWIND $scopes AS scope MATCH (c:WordCount {scope: scope})
RETURN [scope, c.facts, c.length, c.terms, c.holding, c.counted_to, c.sampled, coalesce(c.stale, false)] AS row
"""


def _decode_tally(row: Row) -> StoredTally:
    scope, facts, length, terms, holding, up_to, sampled, stale = row
    numbers = np.frombuffer(holding, np.int32).astype(np.int64)
    return StoredTally(scope, WordTally(facts, length, np.frombuffer(terms, np.int64), numbers), up_to, sampled, stale)


def _extend_tally(kept: StoredTally, up_to: int) -> QuerySteps[WordTally]:
    """What was counted, and all that was told since."""
    tally = kept.tally
    for after in range(kept.up_to, up_to, COUNT_BATCH_SIZE):
        rows = yield CypherQuery(
            _FETCH_WORDS, {"scope": kept.scope, "after": after, "to": min(up_to, after + COUNT_BATCH_SIZE)}
        )
        held = [(PackedTerms(bytes(terms), bytes(counts)), length) for terms, counts, length in rows]
        tally = tally.plus(WordTally.of(held), times=1)
    return tally


_FETCH_WORDS = """
MATCH (f:Fact) USING INDEX SEEK f:Fact(scope, number) WHERE f.scope = $scope AND f.number > $after AND f.number <= $to
RETURN [f.terms, f.counts, f.length] AS row
"""


def _write_tally(scope: str, tally: WordTally, up_to: int, sample: int) -> QuerySteps[None]:
    sampled = yield CypherQuery(_FETCH_SAMPLE, {"scope": scope, "to": up_to, "sample": sample})
    yield CypherQuery(
        _WRITE_TALLY,
        {
            "scope": scope,
            "facts": tally.facts,
            "length": tally.length,
            "terms": tally.terms.tobytes(),
            "holding": tally.holding.astype(np.int32).tobytes(),
            "sample": b"".join(bytes(vector) for (vector,) in sampled),
            "counted_to": up_to,
            "sampled": sample,
        },
    )


_FETCH_SAMPLE = """
MATCH (f:Fact) USING INDEX SEEK f:Fact(scope, hash)
WHERE f.scope = $scope AND f.hash IS NOT NULL AND f.number <= $to AND f.stored IS NOT NULL
RETURN [f.stored] AS row ORDER BY f.scope, f.hash LIMIT $sample
"""
_WRITE_TALLY = """
MERGE (c:WordCount {scope: $scope})
SET c.version = randomUUID(), c.facts = $facts, c.length = $length, c.terms = $terms, c.holding = $holding,
  c.sample = $sample, c.counted_to = $counted_to, c.sampled = $sampled, c.stale = null
"""
