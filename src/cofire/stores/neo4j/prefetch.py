"""Prefetched rows of one call: facts, turns and judged recalls that later steps reuse.

A prefetch belongs to one verb call, so no row is older than the call. A write of the call clears it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cofire.index.terms import PackedTerms
from cofire.model import Fact, StoreRecord
from cofire.stores.learning_rows import JudgedRecall
from cofire.stores.neo4j.cypher import Row, decode_fact
from cofire.stores.recall_log import make_judged_recall

# Judged recalls to prefetch at most. Beyond that they are fetched when they are needed.
MAX_PREFETCHED_JUDGEMENTS = 100


@dataclass(frozen=True, slots=True)
class PrefetchedFact:
    """What is prefetched of a requested fact only: the turns around it, the sentences of its words,
    and its whole row."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    places: bytes
    row: Row

    def around(self, reach: int) -> list[str | None]:
        """The turns before it, the nearest first, then those after it; None where there is none."""
        return [*_pad_turns(self.before, reach), *_pad_turns(self.after, reach)]


@dataclass(frozen=True, slots=True)
class PrefetchedTurn:
    """A fact with features, or a turn around one. `stored` is its vector; far turns have none."""

    told: int
    speaker: str | None
    length: int
    held: PackedTerms
    stored: bytes | None
    whole: PrefetchedFact | None

    def is_fuller_than(self, other: PrefetchedTurn | None) -> bool:
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
    """The rows prefetched in one verb call.

    `around` says with how many turns features were fetched, and how many of these have vectors;
    `dimension` is that of the vectors. `statistics` are those of scopes, for all words. `assumed` are
    records that were read optimistically and are not confirmed yet.
    """

    around: tuple[int, int] | None = None
    dimension: int | None = None
    turns: dict[str, PrefetchedTurn] = field(default_factory=dict)
    judged: dict[str, PrefetchedJudgement] = field(default_factory=dict)
    all_judged: bool = True
    statistics: dict[tuple[str, ...], Any] = field(default_factory=dict)
    assumed: dict[str, StoreRecord | None] = field(default_factory=dict)

    def clear_rows(self) -> None:
        """Drop all rows after a write, except the records to confirm."""
        self.around = self.dimension = None
        self.turns.clear()
        self.judged.clear()
        self.all_judged = True
        self.statistics.clear()

    def weigh_with(self, reach: int, near: int) -> None:
        """Fetch features with so many turns around; rows fetched otherwise are dropped."""
        if self.around != (reach, near):
            self.turns.clear()
            self.around = reach, near

    @property
    def weighed(self) -> list[str]:
        """Facts whose features need not be fetched again."""
        return [id for id, turn in self.turns.items() if turn.whole is not None]

    def whole(self, id: str) -> PrefetchedFact | None:
        turn = self.turns.get(id)
        return turn.whole if turn else None

    def lacking(self, ids: Iterable[str]) -> list[str]:
        """The facts without features yet, each once."""
        return [id for id in dict.fromkeys(ids) if self.whole(id) is None]

    def keep(self, turns: Sequence[Row], judged: Sequence[Row]) -> None:
        """Keep fetched rows. Of two rows of one turn the fuller one stays."""
        for row in turns:
            turn = _decode_turn(row)
            if turn.is_fuller_than(self.turns.get(row[0])):
                self.turns[row[0]] = turn
        self.judged |= {id: PrefetchedJudgement(number, make_judged_recall(id, said)) for id, number, said in judged}
        self.all_judged = self.all_judged and len(judged) < MAX_PREFETCHED_JUDGEMENTS

    def facts(self, ids: Iterable[str]) -> dict[str, Fact]:
        """Those of these facts that are prefetched."""
        return {id: decode_fact(whole.row) for id in dict.fromkeys(ids) if (whole := self.whole(id)) is not None}

    def occasions(self, ids: Sequence[str], limit: int) -> list[JudgedRecall] | None:
        """Judged recalls with several of these facts among their first results; None if some were not
        prefetched."""
        if not self.all_judged or self.lacking(ids):
            return None
        alike = [(len(one.occasion.first.intersection(ids)), one) for one in self.judged.values()]
        wanted = [(-shared, -one.number, one.occasion.id, one.occasion) for shared, one in alike if shared > 1]
        return [one for *_, one in sorted(wanted, key=lambda one: one[:3])[:limit]]


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
