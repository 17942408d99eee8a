"""Postings: the facts that hold each term, in sorted segments with a small unsorted tail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.array_ops import expand_runs
from cofire.index.terms import CountArray, TermArray

PositionArray = NDArray[np.int32]
PostingArrays = tuple[TermArray, PositionArray, CountArray]
SegmentBuilder = Callable[[TermArray, PositionArray, CountArray], "PostingSegment"]

TAIL_SIZE = 4_096
MAX_CACHED_TERMS = 256
MAX_CACHED_RUNS = 8
# So many terms are looked for one by one in a tail that has just grown; for more it is worth putting it in order.
MAX_UNSORTED_LOOKUPS = 16
MAX_SEPARATE_LOOKUPS = 16

_NO_POSITIONS, _NO_COUNTS = np.zeros(0, np.int32), np.zeros(0, np.uint16)


@dataclass(frozen=True)
class PostingSegment:
    """Postings sorted by term: those of `terms[i]` stand from `starts[i]` to `starts[i + 1]`."""

    terms: TermArray
    starts: NDArray[np.int64]
    positions: PositionArray
    counts: CountArray

    def find(self, term: int) -> tuple[PositionArray, CountArray]:
        at = int(np.searchsorted(self.terms, term))
        if at == len(self.terms) or self.terms[at] != term:
            return self.positions[:0], self.counts[:0]
        return self.positions[self.starts[at] : self.starts[at + 1]], self.counts[self.starts[at] : self.starts[at + 1]]

    def located(self, terms: TermArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the postings of each of these terms begin, and how many there are."""
        if not len(self.terms):
            return np.zeros_like(terms), np.zeros_like(terms)
        at = np.minimum(self.terms.searchsorted(terms), len(self.terms) - 1)
        first = self.starts[at]
        return first, (self.starts[at + 1] - first) * (self.terms[at] == terms)

    def gathered(
        self, first: NDArray[np.int64], many: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], PositionArray, CountArray]:
        """So many postings each from where they begin, with the place of the run."""
        place, at = expand_runs(first, many)
        return place, self.positions[at], self.counts[at]

    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int64], PositionArray, CountArray]:
        """Its four arrays, in the order in which it is made."""
        return self.terms, self.starts, self.positions, self.counts

    def spelled(self) -> TermArray:
        """The term of every posting."""
        return np.repeat(self.terms, np.diff(self.starts))


class PostingRuns:
    """The postings of some terms, by segment: where those of each term begin, and how many there are.

    Only `run` brings those of a term together. `table` is where compiled code keeps how it reads them.
    """

    def __init__(
        self, terms: int, parts: Sequence[tuple[PostingSegment, NDArray[np.int64], NDArray[np.int64]]]
    ) -> None:
        self.terms, self.parts = terms, parts
        self.table: NDArray[np.int64] | None = None
        self._joined: dict[int, tuple[PositionArray, CountArray]] = {}

    def run(self, term: int) -> tuple[PositionArray, CountArray]:
        """The facts that hold a term, and how often."""
        if term not in self._joined:
            inside = [
                (segment, slice(first.item(term), first.item(term) + sizes.item(term)))
                for segment, first, sizes in self.parts
                if sizes[term]
            ]
            self._joined[term] = (
                (inside[0][0].positions[inside[0][1]], inside[0][0].counts[inside[0][1]])
                if len(inside) == 1
                else (
                    np.concatenate([_NO_POSITIONS, *(segment.positions[run] for segment, run in inside)]),
                    np.concatenate([_NO_COUNTS, *(segment.counts[run] for segment, run in inside)]),
                )
            )
        return self._joined[term]


def merge_counts(
    positions: PositionArray, counts: NDArray[Any], others: PositionArray, more: NDArray[Any]
) -> tuple[PositionArray, NDArray[Any]]:
    """Counts by position, in order, with others added.

    >>> positions, counts = merge_counts(np.array([2, 5]), np.array([1.0, 3.0]), np.array([5, 7]), np.array([0.5, 1.0]))
    >>> positions.tolist(), counts.tolist()
    ([2, 5, 7], [1.0, 3.5, 1.0])
    """
    merged, row = np.unique(np.concatenate([positions, others]), return_inverse=True)
    return merged, np.bincount(row, weights=np.concatenate([counts, more]))


def lookup_counts(wanted: PositionArray, positions: NDArray[np.integer], counts: NDArray[Any]) -> NDArray[Any]:
    """What is counted at each of the wanted positions, out of many that are in order; 0 where nothing is.

    >>> lookup_counts(np.array([7, 2]), np.array([2, 5]), np.array([3, 1])).tolist()
    [0, 3]
    """
    at = np.minimum(positions.searchsorted(wanted), len(positions) - 1)
    return np.asarray(counts[at] * (positions[at] == wanted))


def build_segment(terms: TermArray, positions: PositionArray, counts: CountArray) -> PostingSegment:
    """Sort postings by term, keeping the order of facts within a term."""
    order = np.argsort(terms, kind="stable")
    found, starts = np.unique(terms[order], return_index=True)
    return PostingSegment(found, np.append(starts, len(terms)).astype(np.int64), positions[order], counts[order])


def build_max_segment(terms: TermArray, positions: PositionArray, counts: CountArray) -> PostingSegment:
    """Sort postings by term and position; of those that are told several times only the highest count stays."""
    order = np.lexsort((positions, terms))
    terms, positions = terms[order], positions[order]
    first = np.flatnonzero(np.append(True, (terms[1:] != terms[:-1]) | (positions[1:] != positions[:-1]))[: len(terms)])
    most = np.maximum.reduceat(counts[order], first) if len(first) else counts
    return build_segment(terms[first], positions[first], most)


class PostingTail:
    """The latest postings in the order in which they came. They are put in order only for one who looks up many."""

    def __init__(self, arrange: SegmentBuilder) -> None:
        self.size = 0
        self._arrange = arrange
        # What makes the tail too long is still taken in, and is no longer than the tail itself.
        self._terms: TermArray = np.empty(2 * TAIL_SIZE, np.int64)
        self._positions: PositionArray = np.empty(2 * TAIL_SIZE, np.int32)
        self._counts: CountArray = np.empty(2 * TAIL_SIZE, np.uint16)
        self._sorted: PostingSegment | None = None
        self._looks = 0

    def add(self, terms: TermArray, positions: PositionArray, counts: CountArray) -> None:
        new = slice(self.size, self.size + len(terms))
        self._terms[new], self._positions[new], self._counts[new] = terms, positions, counts
        self.size = new.stop
        self._sorted, self._looks = None, 0

    def find(self, term: int) -> tuple[PositionArray, CountArray]:
        """The positions of the facts that hold a term, and how often."""
        self._looks += 1
        if self._looks > MAX_UNSORTED_LOOKUPS or self._sorted:
            return self.segment().find(term)
        terms, positions, counts = self.joined()
        held = np.flatnonzero(terms == term)
        return positions[held], counts[held]

    def segment(self) -> PostingSegment:
        """All by term."""
        if self._sorted is None:
            self._sorted = self._arrange(*self.joined())
        return self._sorted

    def joined(self) -> PostingArrays:
        """All as three arrays."""
        return self._terms[: self.size], self._positions[: self.size], self._counts[: self.size]


class Postings:
    """All postings of a store. Adding costs microseconds a fact; segments are merged when they come to be of like size."""

    _arrange: SegmentBuilder = staticmethod(build_segment)

    def __init__(self, segments: list[PostingSegment] | None = None) -> None:
        self._segments = segments or []
        self._tail = PostingTail(self._arrange)
        self._found: dict[int, tuple[PositionArray, CountArray]] = {}
        # Those of the last questions.
        self._runs: dict[tuple[int, ...], PostingRuns] = {}

    def add(self, terms: TermArray, positions: PositionArray, counts: CountArray) -> None:
        """Take in the postings of new facts, which come after all that are known: within a term, positions only grow."""
        self._found.clear()
        self._runs.clear()
        if len(terms) > TAIL_SIZE:
            self._settle_tail()
            return self._push(self._arrange(terms, positions, counts))
        self._tail.add(terms, positions, counts)
        if self._tail.size > TAIL_SIZE:
            self._settle_tail()

    def find(self, term: int) -> tuple[PositionArray, CountArray]:
        """The positions of the facts that hold a term, and how often. A recall asks for the same words again and again."""
        if term not in self._found:
            self._keep({term: self._joined(self._parts(term))})
        return self._found[term]

    def find_each(self, terms: Sequence[int]) -> list[tuple[PositionArray, CountArray]]:
        """The same for many terms, which are looked for together."""
        if new := [term for term in dict.fromkeys(terms) if term not in self._found]:
            self._keep({term: self._found[term] for term in terms if term in self._found} | self._sought(new))
        return [self._found[term] for term in terms]

    def runs(self, terms: tuple[int, ...]) -> PostingRuns:
        """The postings of many terms. A recall asks several times for those of its question."""
        if terms not in self._runs:
            if len(self._runs) >= MAX_CACHED_RUNS:
                self._runs.clear()
            self._runs[terms] = self._locate(terms)
        return self._runs[terms]

    def _locate(self, terms: tuple[int, ...]) -> PostingRuns:
        wanted = np.array(terms, np.int64)
        return PostingRuns(len(terms), [(segment, *segment.located(wanted)) for segment in self.segments()])

    def _keep(self, found: dict[int, tuple[PositionArray, CountArray]]) -> None:
        if len(self._found) + len(found) > MAX_CACHED_TERMS:
            self._found.clear()
        self._found |= found

    def holds(self, term: int, wanted: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which of these facts hold a term. For a few, what many facts hold is not brought together."""
        parts = (
            self._parts(term) if len(wanted) <= MAX_SEPARATE_LOOKUPS and term not in self._found else [self.find(term)]
        )
        sought, found = wanted.astype(np.int32), np.zeros(len(wanted), np.bool_)
        for positions, _ in parts:
            if len(positions):
                found |= positions[np.minimum(positions.searchsorted(sought), len(positions) - 1)] == sought
        return found

    def _parts(self, term: int) -> list[tuple[PositionArray, CountArray]]:
        parts = [part.find(term) for part in self._segments]
        late = self._tail.find(term) if self._tail.size else (_NO_POSITIONS, _NO_COUNTS)
        return [*parts, late] if len(late[0]) else parts

    def _sought(self, terms: Sequence[int]) -> dict[int, tuple[PositionArray, CountArray]]:
        """For each of these terms what all segments tell."""
        wanted, found = np.array(terms, np.int64), [list[tuple[PositionArray, CountArray]]() for _ in terms]
        for part in self.segments():
            first, many = part.located(wanted)
            for held, start, end in zip(found, first.tolist(), (first + many).tolist(), strict=True):
                if start < end:
                    held.append((part.positions[start:end], part.counts[start:end]))
        return dict(zip(terms, map(self._joined, found), strict=True))

    def segments(self) -> list[PostingSegment]:
        """Those that were settled, and the tail as one more."""
        return [*self._segments, self._tail.segment()] if self._tail.size else self._segments

    def find_all(
        self, terms: TermArray, most: int
    ) -> tuple[NDArray[np.int64], PositionArray, CountArray, NDArray[np.int64]]:
        """For many terms at once: the place of the term, the position and the count of every posting, and how many each term has.

        Those of a term that has more than `most` are counted only.
        """
        segments = self.segments()
        runs = [part.located(terms) for part in segments]
        sizes = sum((many for _, many in runs), np.zeros(len(terms), np.int64))
        few = sizes <= most
        parts = [part.gathered(first, many * few) for part, (first, many) in zip(segments, runs, strict=True)]
        if len(parts) == 1:
            return *parts[0], sizes
        if not parts:
            return np.zeros(0, np.int64), _NO_POSITIONS, _NO_COUNTS, sizes
        places, positions, counts = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return places, positions, counts, sizes

    def whole(self) -> PostingSegment:
        """Everything as one segment."""
        self._settle_tail()
        if not self._segments:
            return build_segment(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.uint16))
        if len(self._segments) > 1:
            self._segments = [self._merged(self._segments)]
        return self._segments[0]

    def _settle_tail(self) -> None:
        if not self._tail.size:
            return
        added, self._tail = self._tail.joined(), PostingTail(self._arrange)
        self._push(self._arrange(*added))

    def _push(self, new: PostingSegment) -> None:
        """Keep each segment at least twice as large as the next, so that there are few."""
        self._segments.append(new)
        while len(self._segments) > 1 and len(self._segments[-2].positions) < 2 * len(self._segments[-1].positions):
            last, before = self._segments.pop(), self._segments.pop()
            self._segments.append(self._merged([before, last]))

    def _merged(self, parts: Sequence[PostingSegment]) -> PostingSegment:
        """Several segments as one."""
        return self._arrange(
            np.concatenate([part.spelled() for part in parts]),
            np.concatenate([part.positions for part in parts]),
            np.concatenate([part.counts for part in parts]),
        )

    def _joined(self, parts: Sequence[tuple[PositionArray, CountArray]]) -> tuple[PositionArray, CountArray]:
        """What several segments tell of a term, as one."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return _NO_POSITIONS, _NO_COUNTS
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


class DescriptionPostings(Postings):
    """Postings of the words of descriptions. A fact is described again and again: it comes in any order, and the highest count holds."""

    _arrange = staticmethod(build_max_segment)

    def _locate(self, terms: tuple[int, ...]) -> PostingRuns:
        """A fact may stand in several segments: those of a term that does are brought together."""
        runs = super()._locate(terms)
        holding = sum((sizes > 0 for _, _, sizes in runs.parts), np.zeros(len(terms), np.int64))
        if (holding <= 1).all():
            return runs
        found = self.find_each(terms)
        ends = np.cumsum([len(positions) for positions, _ in found])
        sizes = np.diff(ends, prepend=0)
        positions, counts = (np.concatenate(columns) for columns in zip(*found, strict=True))
        together = PostingSegment(np.zeros(0, np.int64), np.zeros(1, np.int64), positions, counts)
        return PostingRuns(len(terms), [(together, ends - sizes, sizes)])

    def _joined(self, parts: Sequence[tuple[PositionArray, CountArray]]) -> tuple[PositionArray, CountArray]:
        positions, counts = super()._joined(parts)
        if (positions[1:] > positions[:-1]).all():
            return positions, counts
        once = build_max_segment(np.zeros(len(positions), np.int64), positions, counts)
        return once.positions, once.counts


def renumber_segment(whole: PostingSegment, moved: NDArray[np.int64]) -> PostingSegment:
    """A segment by the new position of each old one, without those that have none."""
    places = moved[whole.positions]
    kept = places >= 0
    sizes = np.add.reduceat(kept, whole.starts[:-1], dtype=np.int64) if len(whole.terms) else np.zeros(0, np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes[sizes > 0])]).astype(np.int64)
    return PostingSegment(whole.terms[sizes > 0], starts, places[kept].astype(np.int32), whole.counts[kept])
