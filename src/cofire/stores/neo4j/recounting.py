"""Recounting: the word statistics of a scope, made and kept on a node. What was counted before is not read again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.stores.index.terms import Held, Terms, unpacked
from cofire.stores.neo4j.querying import Query, Querying, Row

# Facts whose words are read together.
PORTION = 5_000

# What a statement that changes the words of facts `f` ends with: the counts of their scopes do not follow from what is told anew.
COUNTED_OTHERWISE = "WITH DISTINCT f.scope AS scope MATCH (c:WordCount {scope: scope}) SET c.stale = true"

Words = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tally:
    """How many facts there are, how long they are together, and how many of them hold each term."""

    facts: int
    length: int
    terms: Terms
    holding: NDArray[np.int64]

    @classmethod
    def of(cls, held: Sequence[tuple[Held, int]]) -> Tally:
        """Of facts by their words and lengths."""
        terms, often, _ = unpacked([words for words, _ in held])
        return cls(len(held), sum(length for _, length in held), *np.unique(terms[often > 0], return_counts=True))

    def plus(self, other: Tally, *, times: int) -> Tally:
        """With all of another, or without it; what nobody holds any more is left out."""
        terms, place = np.unique(np.concatenate([self.terms, other.terms]), return_inverse=True)
        holding = np.bincount(place, np.concatenate([self.holding, times * other.holding]), len(terms)).astype(np.int64)
        held = holding > 0
        facts, length = self.facts + times * other.facts, self.length + times * other.length
        return Tally(facts, length, terms[held], holding[held])


@dataclass(frozen=True, slots=True)
class Kept:
    """The count of a scope as it is kept, up to which number, and how many vectors its sample has at most."""

    scope: str
    tally: Tally
    up_to: int
    sampled: int
    stale: bool


NOTHING = Tally.of(())


def recount(scope: str, sample: int) -> Querying[None]:
    """Count the words of a scope, and keep some of its vectors as a sample, chosen by content and not by age."""
    [[told]] = (yield Query(_TOLD, {"scope": scope})) or [[0]]
    kept = yield from _kept([scope])
    sound = next((one for one in kept if not one.stale), Kept(scope, NOTHING, 0, sample, stale=False))
    yield from _keep(scope, (yield from _counted_on(sound, told)), told, sample)


_TOLD = "MATCH (s:Scope {scope: $scope}) RETURN [s.told] AS row"


def count_again(scopes: Iterable[str], gone: Sequence[Words], back: Sequence[Words]) -> Querying[None]:
    """Count what was counted, when some of it went or came back; what was told since is left for the next count."""
    for kept in (yield from _kept(scopes)):
        if kept.stale:
            whole = yield from _counted_on(Kept(kept.scope, NOTHING, 0, 0, stale=False), kept.up_to)
            yield from _keep(kept.scope, whole, kept.up_to, kept.sampled)
            continue
        fewer, more = _within(kept, gone), _within(kept, back)
        if fewer.facts or more.facts:
            tally = kept.tally.plus(fewer, times=-1).plus(more, times=1)
            yield from _keep(kept.scope, tally, kept.up_to, kept.sampled)


def _within(kept: Kept, facts: Sequence[Words]) -> Tally:
    """Those of these facts that were counted."""
    counted = [one for one in facts if one["scope"] == kept.scope and 0 < one["number"] <= kept.up_to]
    return Tally.of([(Held(bytes(one["terms"]), bytes(one["counts"])), int(one["length"])) for one in counted])


def _kept(scopes: Iterable[str]) -> Querying[list[Kept]]:
    return [_kept_row(row) for row in (yield Query(_KEPT, {"scopes": sorted(set(scopes))}))]


_KEPT = """
UNWIND $scopes AS scope MATCH (c:WordCount {scope: scope})
RETURN [scope, c.facts, c.length, c.terms, c.holding, c.counted_to, c.sampled, coalesce(c.stale, false)] AS row
"""


def _kept_row(row: Row) -> Kept:
    scope, facts, length, terms, holding, up_to, sampled, stale = row
    numbers = np.frombuffer(holding, np.int32).astype(np.int64)
    return Kept(scope, Tally(facts, length, np.frombuffer(terms, np.int64), numbers), up_to, sampled, stale)


def _counted_on(kept: Kept, up_to: int) -> Querying[Tally]:
    """What was counted, and all that was told since."""
    tally = kept.tally
    for after in range(kept.up_to, up_to, PORTION):
        rows = yield Query(_WORDS, {"scope": kept.scope, "after": after, "to": min(up_to, after + PORTION)})
        held = [(Held(bytes(terms), bytes(counts)), length) for terms, counts, length in rows]
        tally = tally.plus(Tally.of(held), times=1)
    return tally


_WORDS = """
MATCH (f:Fact) USING INDEX SEEK f:Fact(scope, number) WHERE f.scope = $scope AND f.number > $after AND f.number <= $to
RETURN [f.terms, f.counts, f.length] AS row
"""


def _keep(scope: str, tally: Tally, up_to: int, sample: int) -> Querying[None]:
    sampled = yield Query(_SAMPLE, {"scope": scope, "to": up_to, "sample": sample})
    yield Query(
        _KEEP,
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


_SAMPLE = """
MATCH (f:Fact) USING INDEX SEEK f:Fact(scope, hash)
WHERE f.scope = $scope AND f.hash IS NOT NULL AND f.number <= $to AND f.stored IS NOT NULL
RETURN [f.stored] AS row ORDER BY f.scope, f.hash LIMIT $sample
"""
_KEEP = """
MERGE (c:WordCount {scope: $scope})
SET c.version = randomUUID(), c.facts = $facts, c.length = $length, c.terms = $terms, c.holding = $holding,
  c.sample = $sample, c.counted_to = $counted_to, c.sampled = $sampled, c.stale = null
"""
