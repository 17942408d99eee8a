"""Prefetched rows of one call: facts, turns and judged recalls that later steps reuse.

It is that verb's alone and goes with it, so nothing in it is older than the verb; when the verb writes, it is let go at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cofire.index.terms import PackedTerms
from cofire.model import Fact, StoreRecord
from cofire.stores.learning_rows import JudgedRecall
from cofire.stores.neo4j.cypher import Row, decode_fact

# Judged recalls that come along at most; where there are more, they are asked for when they are wanted.
MAX_PREFETCHED_JUDGEMENTS = 100


@dataclass(frozen=True, slots=True)
class PrefetchedFact:
    """What only a fact that was asked for brings: those around it, the sentences of its words, and all of itself as a row."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    places: bytes
    row: Row

    def around(self, reach: int) -> list[str | None]:
        """Those before it, the nearest first, then those after it; None where there is none."""
        return [*_pad_turns(self.before, reach), *_pad_turns(self.after, reach)]


@dataclass(frozen=True, slots=True)
class PrefetchedTurn:
    """A fact that was weighed, or one that stands around such a fact. `stored` is its vector; far ones come without."""

    told: int
    speaker: str | None
    length: int
    held: PackedTerms
    stored: bytes | None
    whole: PrefetchedFact | None

    def tells_more_than(self, other: PrefetchedTurn | None) -> bool:
        if other is None or self.whole is not None:
            return True
        return other.whole is None and self.stored is not None


@dataclass(frozen=True, slots=True)
class PrefetchedJudgement:
    """A judged recall, with the number by which the newest comes first."""

    number: int
    occasion: JudgedRecall


@dataclass
class Prefetch:
    """What a verb has at hand.

    `around` is how facts were weighed: with so many turns before and after, so many of them with vectors; `dimension` is how many
    numbers those have. `statistics` are those of scopes, whatever the words. `assumed` are records that were answered as they were
    last seen, and not confirmed yet.
    """

    around: tuple[int, int] | None = None
    dimension: int | None = None
    turns: dict[str, PrefetchedTurn] = field(default_factory=dict)
    judged: dict[str, PrefetchedJudgement] = field(default_factory=dict)
    all_judged: bool = True
    statistics: dict[tuple[str, ...], Any] = field(default_factory=dict)
    assumed: dict[str, StoreRecord | None] = field(default_factory=dict)

    def let_go(self) -> None:
        """Forget all but what is still to be confirmed: something was written."""
        self.around = self.dimension = None
        self.turns.clear()
        self.judged.clear()
        self.all_judged = True
        self.statistics.clear()

    def weigh_with(self, reach: int, near: int) -> None:
        """From now on with so many turns around; what was weighed otherwise is of no use."""
        if self.around != (reach, near):
            self.turns.clear()
            self.around = reach, near

    @property
    def weighed(self) -> list[str]:
        """Facts that need not be weighed again."""
        return [id for id, turn in self.turns.items() if turn.whole is not None]

    def whole(self, id: str) -> PrefetchedFact | None:
        turn = self.turns.get(id)
        return turn.whole if turn else None

    def lacking(self, ids: Iterable[str]) -> list[str]:
        """Those that were not weighed yet, each once."""
        return [id for id in dict.fromkeys(ids) if self.whole(id) is None]

    def keep(self, turns: Sequence[Row], judged: Sequence[Row]) -> None:
        """Keep rows of `WEIGHED`. Of two of the same turn the one holds that tells more."""
        for row in turns:
            turn = _decode_turn(row)
            if turn.tells_more_than(self.turns.get(row[0])):
                self.turns[row[0]] = turn
        self.judged |= {id: PrefetchedJudgement(number, build_judged_recall(id, said)) for id, number, said in judged}
        self.all_judged = self.all_judged and len(judged) < MAX_PREFETCHED_JUDGEMENTS

    def facts(self, ids: Iterable[str]) -> dict[str, Fact]:
        """Those of these facts that are at hand."""
        return {id: decode_fact(whole.row) for id in dict.fromkeys(ids) if (whole := self.whole(id)) is not None}

    def occasions(self, ids: Sequence[str], limit: int) -> list[JudgedRecall] | None:
        """Judged recalls that had several of these facts at their first places; None where not all of them are at hand."""
        if not self.all_judged or self.lacking(ids):
            return None
        alike = [(len(one.occasion.first.intersection(ids)), one) for one in self.judged.values()]
        wanted = [(-shared, -one.number, one.occasion.id, one.occasion) for shared, one in alike if shared > 1]
        return [one for *_, one in sorted(wanted, key=lambda one: one[:3])[:limit]]


def build_judged_recall(id: str, said: Iterable[Row]) -> JudgedRecall:
    """A judged recall from rows of fact, place and verdict."""
    told = list(said)
    return JudgedRecall(
        id,
        frozenset(fact for fact, first, _ in told if first),
        frozenset(fact for fact, _, verdict in told if verdict > 0),
        frozenset(fact for fact, _, verdict in told if verdict < 0),
    )


def _decode_turn(row: Row) -> PrefetchedTurn:
    _, told, speaker, length, terms, counts, stored, whole = row
    vector = None if stored is None else bytes(stored)
    return PrefetchedTurn(
        told, speaker, length, PackedTerms(bytes(terms), bytes(counts)), vector, _decode_prefetched_fact(whole)
    )


def _decode_prefetched_fact(row: Row | None) -> PrefetchedFact | None:
    if row is None:
        return None
    before, after, places, said = row
    return PrefetchedFact(tuple(before.split()), tuple(after.split()), bytes(places or b""), said)


def _pad_turns(turns: Sequence[str], reach: int) -> list[str | None]:
    return [*turns, *[None] * (reach - len(turns))]
