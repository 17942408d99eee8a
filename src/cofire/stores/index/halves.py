"""Halves: stored edges as seen from each end that they conduct from, in arrays; and their order in rows. Knows nothing of SQL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cofire.kinds import kind_of
from cofire.stores.index.columns import Columns
from cofire.stores.index.key_arrays import among

Numbers = NDArray[np.int32]
Places = NDArray[np.int64]

# Weights and confidences are whole millionths, so that 0.6 comes back as 0.6; what was never said is below 0.
MILLION = 1_000_000
UNSAID = -1
WEIGHT_BITS = 20
# So many stored edges become halves at once.
TOGETHER = 4_096
# Kinds that links through names have; they are known in every store.
ABOUT, ENTITY = 0, 1


class StoredEdge(NamedTuple):
    """An edge as the store tells of it: the keys of its facts, and its tags as they are stored."""

    source: int
    target: int
    kind: str
    weight: float | None
    confidence: float | None
    tags: str | None
    ended: bool


class Numbered:
    """Words under small numbers, in the order in which they came."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = list(words)
        self._numbers = {word: number for number, word in enumerate(self.words)}
        self._ranks = np.zeros(0, np.int32)

    def number(self, word: str) -> int:
        if word not in self._numbers:
            self._numbers[word] = len(self.words)
            self.words.append(word)
        return self._numbers[word]

    def ranks(self) -> Numbers:
        """For each number the place of its word in the order of words."""
        if len(self._ranks) != len(self.words):
            self._ranks = np.argsort(np.argsort(np.array(self.words))).astype(np.int32)
        return self._ranks


def kept_numbers(used: Numbers, known: Numbered, always: int) -> Numbers:
    """The numbers of words that are in use, in growing order, and of the first few whether or not they are."""
    needed = np.zeros(len(known.words), np.bool_)
    needed[:always] = True
    needed[used] = True
    return np.flatnonzero(needed).astype(np.int32)


@dataclass(frozen=True, slots=True)
class Halves:
    """A row each: whose it is and where it leads, both by key; `code` is twice the number of its kind, one more if it comes in."""

    owner: Numbers
    neighbour: Numbers
    code: Numbers
    weight: Numbers
    confidence: Numbers
    tags: Numbers

    def at(self, rows: Any) -> Halves:
        return Halves(*(column[rows] for column in self.columns))

    @property
    def pairs(self) -> NDArray[np.int64]:
        """Owner and neighbour in one number."""
        return self.owner.astype(np.int64) << 32 | self.neighbour

    @property
    def columns(self) -> tuple[Numbers, ...]:
        return self.owner, self.neighbour, self.code, self.weight, self.confidence, self.tags


def joined(parts: Sequence[Halves]) -> Halves:
    return Halves(*(np.concatenate(column) for column in zip(*(part.columns for part in parts), strict=True)))


def same(ones: Halves, others: Halves) -> NDArray[np.bool_]:
    """Which of the ones are halves of the same edges as some of the others."""
    # Mostly the ones are few and the others are many, of which hardly any is between the same facts.
    others = others.at(among(ones.pairs, others.pairs))
    known = set(zip(others.pairs.tolist(), others.code.tolist(), strict=True))
    return np.array([one in known for one in zip(ones.pairs.tolist(), ones.code.tolist(), strict=True)], np.bool_)


def table(rows: Sequence[Sequence[int]]) -> Halves:
    """Rows of numbers as halves."""
    return Halves(*np.array(rows, np.int32).reshape(-1, 6).T)


def taken_in(edges: Iterable[StoredEdge], kinds: Numbered, tags: Numbered) -> tuple[Halves, Halves]:
    """The halves of edges that stand, and of those that have ended. Some thousand are looked at together, so that of very many none
    is an object for long."""
    rest, standing, ended = iter(edges), [table([])], [table([])]
    while some := list(islice(rest, TOGETHER)):
        gone = [edge for edge in some if edge.ended]
        standing.append(_halves([edge for edge in some if not edge.ended] if gone else some, kinds, tags))
        if gone:
            ended.append(_halves(gone, kinds, tags))
    return joined(standing), joined(ended)


def _halves(edges: Sequence[StoredEdge], kinds: Numbered, tags: Numbered) -> Halves:
    """Edges from the ends that they conduct from: from both, from the source, or from none. One to itself is there once."""
    columns: list[Any] = list(zip(*edges, strict=True)) if edges else [()] * len(StoredEdge._fields)
    number = _numbers(columns[2], kinds)
    away = Halves(
        np.array(columns[0], np.int32),
        np.array(columns[1], np.int32),
        2 * number,
        millionths(np.array(columns[3], np.float64)),
        millionths(np.array(columns[4], np.float64)),
        _numbers(columns[5], tags),
    )
    conducts = np.array([kind_of(kind).conducts for kind in kinds.words])
    back = away.at((conducts == "both")[number] & (away.owner != away.neighbour))
    turned = Halves(back.neighbour, back.owner, back.code + 1, back.weight, back.confidence, back.tags)
    return joined([away.at((conducts != "never")[number]), turned])


def _numbers(said: Sequence[str | None], known: Numbered) -> Numbers:
    """The numbers of words, of which most come again and again."""
    number = {word: known.number(word or "") for word in dict.fromkeys(said)}
    return np.fromiter(map(number.__getitem__, said), np.int32, len(said))


def millionths(shares: NDArray[np.float64]) -> Numbers:
    """Shares as whole millionths, those never said as such.

    >>> millionths(np.array([0.6, 1 / 3, np.nan])).tolist()
    [600000, 333333, -1]
    """
    return np.where(np.isnan(shares), UNSAID, np.rint(np.nan_to_num(shares) * MILLION)).astype(np.int32)


def in_millionths(share: float | None) -> int:
    """The same for one."""
    return UNSAID if share is None else round(share * MILLION)


def shares(numbers: Numbers) -> NDArray[np.float64]:
    """The way back."""
    found = numbers / MILLION
    found[numbers < 0] = np.nan
    return np.asarray(found)


def strength(weight: Numbers) -> Numbers:
    """A weight as it counts in the order of links: as much as it may conduct."""
    return np.clip(weight, 0, MILLION)


def content_ranks(columns: Columns, room: int) -> Numbers:
    """For each of so many keys the place of its fact in the order of contents; -1 where there is none."""
    there = np.flatnonzero(columns["alive"])
    ranks = np.full(room, -1, np.int32)
    ranks[columns["key"][there][np.argsort(columns["hash"][there])]] = np.arange(len(there), dtype=np.int32)
    return ranks


def in_rows(found: Halves, ranks: Numbers, kinds: Numbers) -> Halves:
    """Halves by owner, the strongest first; of equals by kind, then by content. Those of facts that are gone are left out."""
    found = found.at((ranks[found.owner] >= 0) & (ranks[found.neighbour] >= 0))
    bits = [int(size).bit_length() for size in (len(ranks), len(kinds), len(ranks))]
    columns = (found.owner, MILLION - strength(found.weight), kinds[found.code >> 1], ranks[found.neighbour])
    if sum(bits) + WEIGHT_BITS > 64:
        return found.at(np.lexsort((*_parallel(found), *columns[::-1])))
    packed = np.zeros(len(found.owner), np.uint64)
    for column, room in zip(columns, (bits[0], WEIGHT_BITS, bits[1], bits[2]), strict=True):
        packed = packed << np.uint64(room) | column.astype(np.uint64)
    order = np.argsort(packed)
    return found.at(_apart(order, packed[order], found))


def _apart(order: Places, packed: NDArray[np.uint64], found: Halves) -> Places:
    """Links of one kind and weight between one pair, which the packed order takes for the same, in an order of their own."""
    same = packed[1:] == packed[:-1]
    if not same.any():
        return order
    tied = np.flatnonzero(np.concatenate([same, [False]]) | np.concatenate([[False], same]))
    some = found.at(order[tied])
    order[tied] = order[tied][np.lexsort((*_parallel(some), packed[tied]))]
    return order


def _parallel(found: Halves) -> tuple[Numbers, Numbers]:
    """What tells parallel links apart, the last first: the surer, then the one that goes out."""
    return found.code & 1, -np.maximum(found.confidence, 0)
