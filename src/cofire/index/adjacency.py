"""Stored edges in memory: half-edges sorted by fact, with an overlay of later changes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.array_ops import expand_runs
from cofire.index.columns import (
    MASK_THRESHOLD,
    Columns,
    Mask,
    count_distinct,
    count_neighbours,
    find_members,
    find_members_by_mask,
)
from cofire.stores.base import ExpansionOptions
from cofire.stores.edge_kinds import get_edge_kind
from cofire.stores.lazy_ids import CodedSequence, LazySequence

Int32Array = NDArray[np.int32]
Int64Array = NDArray[np.int64]

# Weights and confidences are whole millionths, so that 0.6 comes back as 0.6; what was never said is below 0.
WEIGHT_SCALE = 1_000_000
NO_VALUE = -1
WEIGHT_BITS = 20
# So many stored edges become halves at once.
EDGES_PER_BATCH = 4_096
# Kinds that links through names have; they are known in every store.
ABOUT_KIND, ENTITY_KIND = 0, 1


class IndexedEdge(NamedTuple):
    """An edge as the store tells of it: the keys of its facts, and its tags as they are stored."""

    source: int
    target: int
    kind: str
    weight: float | None
    confidence: float | None
    tags: str | None
    ended: bool


class StringTable:
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

    def ranks(self) -> Int32Array:
        """For each number the place of its word in the order of words."""
        if len(self._ranks) != len(self.words):
            self._ranks = np.argsort(np.argsort(np.array(self.words))).astype(np.int32)
        return self._ranks


def select_used_numbers(used: Int32Array, known: StringTable, always: int) -> Int32Array:
    """The numbers of words that are in use, in growing order, and of the first few whether or not they are."""
    needed = np.zeros(len(known.words), np.bool_)
    needed[:always] = True
    needed[used] = True
    return np.flatnonzero(needed).astype(np.int32)


@dataclass(frozen=True, slots=True)
class HalfEdges:
    """A row each: whose it is and where it leads, both by key; `code` is twice the number of its kind, one more if it comes in."""

    owner: Int32Array
    neighbour: Int32Array
    code: Int32Array
    weight: Int32Array
    confidence: Int32Array
    tags: Int32Array

    def at(self, rows: Any) -> HalfEdges:
        return HalfEdges(*(column[rows] for column in self.columns))

    @property
    def pairs(self) -> NDArray[np.int64]:
        """Owner and neighbour in one number."""
        return self.owner.astype(np.int64) << 32 | self.neighbour

    @property
    def columns(self) -> tuple[Int32Array, ...]:
        return self.owner, self.neighbour, self.code, self.weight, self.confidence, self.tags


def join_half_edges(parts: Sequence[HalfEdges]) -> HalfEdges:
    return HalfEdges(*(np.concatenate(column) for column in zip(*(part.columns for part in parts), strict=True)))


def find_same_edges(ones: HalfEdges, others: HalfEdges) -> NDArray[np.bool_]:
    """Which of the ones are halves of the same edges as some of the others."""
    # Mostly the ones are few and the others are many, of which hardly any is between the same facts.
    others = others.at(find_members(ones.pairs, others.pairs))
    known = set(zip(others.pairs.tolist(), others.code.tolist(), strict=True))
    return np.array([one in known for one in zip(ones.pairs.tolist(), ones.code.tolist(), strict=True)], np.bool_)


def build_half_edges(rows: Sequence[Sequence[int]]) -> HalfEdges:
    """Rows of numbers as halves."""
    return HalfEdges(*np.array(rows, np.int32).reshape(-1, 6).T)


def split_edges(edges: Iterable[IndexedEdge], kinds: StringTable, tags: StringTable) -> tuple[HalfEdges, HalfEdges]:
    """The halves of edges that stand, and of those that have ended. Some thousand are looked at together, so that of very many none
    is an object for long."""
    rest, standing, ended = iter(edges), [build_half_edges([])], [build_half_edges([])]
    while some := list(islice(rest, EDGES_PER_BATCH)):
        gone = [edge for edge in some if edge.ended]
        standing.append(_split_edge_batch([edge for edge in some if not edge.ended] if gone else some, kinds, tags))
        if gone:
            ended.append(_split_edge_batch(gone, kinds, tags))
    return join_half_edges(standing), join_half_edges(ended)


def _split_edge_batch(edges: Sequence[IndexedEdge], kinds: StringTable, tags: StringTable) -> HalfEdges:
    """Edges from the ends that they conduct from: from both, from the source, or from none. One to itself is there once."""
    columns: list[Any] = list(zip(*edges, strict=True)) if edges else [()] * len(IndexedEdge._fields)
    number = _number_strings(columns[2], kinds)
    away = HalfEdges(
        np.array(columns[0], np.int32),
        np.array(columns[1], np.int32),
        2 * number,
        to_millionths(np.array(columns[3], np.float64)),
        to_millionths(np.array(columns[4], np.float64)),
        _number_strings(columns[5], tags),
    )
    conducts = np.array([get_edge_kind(kind).conducts for kind in kinds.words])
    back = away.at((conducts == "both")[number] & (away.owner != away.neighbour))
    turned = HalfEdges(back.neighbour, back.owner, back.code + 1, back.weight, back.confidence, back.tags)
    return join_half_edges([away.at((conducts != "never")[number]), turned])


def _number_strings(said: Sequence[str | None], known: StringTable) -> Int32Array:
    """The numbers of words, of which most come again and again."""
    number = {word: known.number(word or "") for word in dict.fromkeys(said)}
    return np.fromiter(map(number.__getitem__, said), np.int32, len(said))


def to_millionths(shares: NDArray[np.float64]) -> Int32Array:
    """Shares as whole millionths, those never said as such.

    >>> to_millionths(np.array([0.6, 1 / 3, np.nan])).tolist()
    [600000, 333333, -1]
    """
    return np.where(np.isnan(shares), NO_VALUE, np.rint(np.nan_to_num(shares) * WEIGHT_SCALE)).astype(np.int32)


def share_to_millionths(share: float | None) -> int:
    """The same for one."""
    return NO_VALUE if share is None else round(share * WEIGHT_SCALE)


def from_millionths(numbers: Int32Array) -> NDArray[np.float64]:
    """The way back."""
    found = numbers / WEIGHT_SCALE
    found[numbers < 0] = np.nan
    return np.asarray(found)


def clip_weights(weight: Int32Array) -> Int32Array:
    """A weight as it counts in the order of links: as much as it may conduct."""
    return np.clip(weight, 0, WEIGHT_SCALE)


def rank_by_content(columns: Columns, room: int) -> Int32Array:
    """For each of so many keys the place of its fact in the order of contents; -1 where there is none."""
    there = np.flatnonzero(columns["alive"])
    ranks = np.full(room, -1, np.int32)
    ranks[columns["key"][there][np.argsort(columns["hash"][there])]] = np.arange(len(there), dtype=np.int32)
    return ranks


def sort_half_edges(found: HalfEdges, ranks: Int32Array, kinds: Int32Array) -> HalfEdges:
    """Halves by owner, the strongest first; of equals by kind, then by content. Those of facts that are gone are left out."""
    found = found.at((ranks[found.owner] >= 0) & (ranks[found.neighbour] >= 0))
    bits = [int(size).bit_length() for size in (len(ranks), len(kinds), len(ranks))]
    columns = (found.owner, WEIGHT_SCALE - clip_weights(found.weight), kinds[found.code >> 1], ranks[found.neighbour])
    if sum(bits) + WEIGHT_BITS > 64:
        return found.at(np.lexsort((*_parallel_sort_keys(found), *columns[::-1])))
    packed = np.zeros(len(found.owner), np.uint64)
    for column, room in zip(columns, (bits[0], WEIGHT_BITS, bits[1], bits[2]), strict=True):
        packed = packed << np.uint64(room) | column.astype(np.uint64)
    order = np.argsort(packed)
    return found.at(_separate_parallel_links(order, packed[order], found))


def _separate_parallel_links(order: Int64Array, packed: NDArray[np.uint64], found: HalfEdges) -> Int64Array:
    """Links of one kind and weight between one pair, which the packed order takes for the same, in an order of their own."""
    same = packed[1:] == packed[:-1]
    if not same.any():
        return order
    tied = np.flatnonzero(np.concatenate([same, [False]]) | np.concatenate([[False], same]))
    some = found.at(order[tied])
    order[tied] = order[tied][np.lexsort((*_parallel_sort_keys(some), packed[tied]))]
    return order


def _parallel_sort_keys(found: HalfEdges) -> tuple[Int32Array, Int32Array]:
    """What tells parallel links apart, the last first: the surer, then the one that goes out."""
    return found.code & 1, -np.maximum(found.confidence, 0)


@dataclass(frozen=True, slots=True)
class LinkFilter:
    """Which links are wanted: to facts that are admitted, of kinds by number (None for all), of at least so many millionths of
    confidence where any was said, and at most so many a fact. `places` are the positions of facts by key."""

    places: Int32Array
    admitted: Mask
    kinds: Mask | None
    floor: int
    most: int

    def passing(self, neighbour: Int32Array, code: Int32Array, confidence: Int32Array) -> Mask:
        passing = self.admitted[self.places[neighbour]]
        if self.floor > 0:
            passing &= (confidence < 0) | (confidence >= self.floor)
        if self.kinds is not None:
            passing &= self.kinds[code >> 1]
        return passing


@dataclass(frozen=True, slots=True)
class BaseLinks:
    """All links as of some moment: those of a fact stand from `starts[key]` to `starts[key + 1]`. Few have tags: `tagged` says
    which, `tags` which ones."""

    starts: Int64Array
    neighbour: Int32Array
    code: Int32Array
    weight: Int32Array
    confidence: Int32Array
    tagged: Int64Array
    tags: Int32Array

    def tags_at(self, rows: Int64Array) -> Int32Array:
        if not len(self.tagged):
            return np.zeros(len(rows), np.int32)
        at = np.minimum(np.searchsorted(self.tagged, rows), len(self.tagged) - 1)
        return np.where(self.tagged[at] == rows, self.tags[at], 0).astype(np.int32)

    def halves_at(self, owner: Int32Array, rows: Int64Array) -> HalfEdges:
        said = self.weight[rows], self.confidence[rows], self.tags_at(rows)
        return HalfEdges(owner, self.neighbour[rows], self.code[rows], *said)


NO_TAGS: frozenset[str] = frozenset()
NAME_LINK_KINDS = ("about", "entity")
SNAPSHOT_ARRAYS: Mapping[str, Any] = {
    "starts": np.int64,
    "neighbours": np.int32,
    "codes": np.int32,
    "weights": np.int32,
    "confidences": np.int32,
    "degrees": np.int32,
    "tagged": np.int64,
    "tags": np.int32,
    "kinds": np.uint8,
    "tag_sets": np.uint8,
}

# With more changes than this, and than an eighth of all, it is worth putting everything in order anew.
MAX_OVERLAY_LINKS = 1_024
# More edges than this, and than a hundredth of all, are taken in at once rather than one by one.
MAX_SINGLE_EDGES = 256


class Adjacency:
    """A base that is in order, and an overlay of what came or changed since; what it replaces in the base is dead.

    `taken` counts the edges that were taken in one by one since it was made, `compactions` how often all was put in order anew.
    """

    _base: BaseLinks
    _degree: Int32Array

    def __init__(self, columns: Columns, edges: Iterable[IndexedEdge] = ()) -> None:
        self.kinds = StringTable(NAME_LINK_KINDS)
        self.tag_texts = StringTable([""])
        self.taken = self.compactions = 0
        self._settle(split_edges(edges, self.kinds, self.tag_texts)[0], columns)

    @property
    def size(self) -> int:
        """How many links there are, seen from either end."""
        return len(self._base.neighbour) - self._dead + self._late

    @property
    def room(self) -> int:
        """How many keys there are rows for."""
        return len(self._degree)

    def change(self, edges: Iterable[IndexedEdge], gone: Sequence[int], columns: Columns) -> None:
        """Take in edges that came, changed or ended, and let go of those of removed facts."""
        rest, few = iter(edges), MAX_SINGLE_EDGES + self.size // 128
        some = list(islice(rest, few + 1))
        if len(some) > few:
            return self._merge(chain(some, rest), columns)
        self.make_room(columns)
        self.taken += len(some)
        for edge in some:
            self._take(edge)
        if gone:
            self._leave(np.array(gone, np.int32))
        if self._dead + self._late > MAX_OVERLAY_LINKS + len(self._base.neighbour) // 8:
            self.compact(columns)

    def make_room(self, columns: Columns) -> None:
        """Facts that came after the base have rows too, empty ones."""
        more = columns.highest + 1 - self.room
        if more <= 0:
            return
        more = max(more, 1_024, self.room // 8)
        starts = np.concatenate([self._base.starts, np.full(more, self._base.starts[-1])])
        self._base = replace(self._base, starts=starts)
        self._degree = np.concatenate([self._degree, np.zeros(more, np.int32)])

    def compact(self, columns: Columns) -> None:
        """Put everything in order anew."""
        self._settle(self._everything(), columns)
        self.compactions += 1

    def strongest(self, keys: Int64Array, sieve: LinkFilter) -> tuple[HalfEdges, bool]:
        """Of each of these facts the strongest links that pass, at most so many of the base and all that are newer; and whether
        they are in order, since none is. `owner` is a place among the keys."""
        first, last = self._base.starts[keys], self._base.starts[keys + 1]
        row, at = expand_runs(first, np.minimum(last - first, sieve.most))
        passing = self._passing(at, sieve)
        if np.count_nonzero(passing) < len(passing):
            row, at = self._more(first, last, row[passing], at[passing], sieve)
        found = self._base.halves_at(row.astype(np.int32), at)
        late = self._newer(keys)
        if late is None:
            return found, True
        return join_half_edges([found, late.at(sieve.passing(late.neighbour, late.code, late.confidence))]), False

    def newer(self, keys: Sequence[int]) -> Int32Array | None:
        """Links of these facts that the base does not know, as rows of halves; None where there are none."""
        if not self._overlay:
            return None
        rows = [
            (place, *where, *said)
            for place, key in enumerate(keys)
            for where, said in self._overlay.get(key, {}).items()
        ]
        return np.array(rows, np.int32) if rows else None

    def _newer(self, keys: Int64Array) -> HalfEdges | None:
        found = self.newer(keys.tolist()) if self._overlay else None
        return None if found is None else HalfEdges(*found.T)

    def degrees(self, keys: Int64Array, kinds: Mask | None) -> NDArray[np.int64]:
        """How many neighbours these facts have, by links of these kinds."""
        if kinds is None:
            return self._degree[keys].astype(np.int64)
        pairs, crowded = self._pairs(keys, kinds)
        degrees = count_neighbours(pairs, len(keys))
        for place in crowded:
            degrees[place] = count_distinct(self.neighbours(int(keys[place]), kinds))
        return degrees

    def has(self, keys: Int64Array, pairs: Int64Array, kinds: Mask | None) -> Mask:
        """Which of these pairs are linked by these kinds; a pair is a place among the keys and the key of another fact."""
        stored, crowded = self._pairs(keys, kinds)
        found = find_members(stored, pairs)
        for place in crowded:
            mine = pairs >> 32 == place
            found[mine] = find_members_by_mask(self.neighbours(int(keys[place]), kinds), pairs[mine] & 0xFFFFFFFF)
        return found

    def _pairs(self, keys: Int64Array, kinds: Mask | None) -> tuple[Int64Array, list[int]]:
        """Pairs that are linked by these kinds, some more than once; and the places of facts with so many links that they are left out."""
        first = self._base.starts[keys]
        many = self._base.starts[keys + 1] - first
        row, at = expand_runs(first, np.where(many > MASK_THRESHOLD, 0, many))
        kept = self._standing(at, kinds)
        stored = row[kept] << 32 | self._base.neighbour[at[kept]]
        newer = self._newer(keys)
        if newer is not None:
            stored = np.concatenate([stored, newer.pairs[slice(None) if kinds is None else kinds[newer.code >> 1]]])
        return stored, np.flatnonzero(many > MASK_THRESHOLD).tolist()

    def neighbours(self, key: int, kinds: Mask | None) -> Int32Array:
        """The keys of those that a fact is linked with, by links of these kinds, as often as it is."""
        inside = slice(*self._base.starts[key : key + 2].tolist())
        found = self._base.neighbour[inside]
        if self._dead or kinds is not None:
            found = found[self._standing(inside, kinds)]
        late = self._overlay.get(key, {})
        newer = [other for other, code in late if kinds is None or kinds[code >> 1]]
        return np.concatenate([found, np.array(newer, np.int32)]) if newer else found

    def tags(self, numbers: NDArray[np.integer]) -> Sequence[frozenset[str]]:
        """Tags by their numbers."""
        if len(self.tag_texts.words) == 1 or not numbers.any():
            return (NO_TAGS,) * len(numbers)
        return CodedSequence(TagSets(self.tag_texts.words), numbers)

    def numbers_of(self, conducting: ExpansionOptions) -> Mask | None:
        """A mask over the numbers of the kinds that may be followed; None for all."""
        if conducting.kinds is None and not conducting.without:
            return None
        return np.array([conducting.wants(kind) for kind in self.kinds.words], np.bool_)

    def arrays(self, columns: Columns) -> dict[str, NDArray[Any]]:
        """All of it as arrays, for a snapshot."""
        if self._dead or self._late:
            self.compact(columns)
        self._forget_unused()
        base, kinds = self._base, [[kind, get_edge_kind(kind).conducts] for kind in self.kinds.words]
        links = base.neighbour, base.code, base.weight, base.confidence
        order = (base.starts, *links, self._degree, base.tagged, base.tags)
        texts = (np.frombuffer(json.dumps(said).encode("ascii"), np.uint8) for said in (kinds, self.tag_texts.words))
        return dict(zip(SNAPSHOT_ARRAYS, (*order, *texts), strict=True))

    def _forget_unused(self) -> None:
        """Kinds and tags that no link bears any more may be words that were forgotten."""
        base = self._base
        kinds = select_used_numbers(base.code >> 1, self.kinds, len(NAME_LINK_KINDS))
        tags = select_used_numbers(base.tags, self.tag_texts, 1)
        self.kinds, self.tag_texts = (
            StringTable(known.words[number] for number in kept.tolist())
            for known, kept in ((self.kinds, kinds), (self.tag_texts, tags))
        )
        code = 2 * np.searchsorted(kinds, base.code >> 1) + (base.code & 1)
        tagged = np.searchsorted(tags, base.tags)
        self._base = replace(base, code=code.astype(base.code.dtype), tags=tagged.astype(base.tags.dtype))

    @classmethod
    def from_arrays(cls, columns: Columns, arrays: Mapping[str, NDArray[Any]]) -> Adjacency:
        """The adjacency of a snapshot that `is_complete_adjacency_snapshot`."""
        made = cls(columns)
        made.kinds = StringTable(kind for kind, _ in json.loads(arrays["kinds"].tobytes()))
        made.tag_texts = StringTable(json.loads(arrays["tag_sets"].tobytes()))
        names = ("starts", "neighbours", "codes", "weights", "confidences", "tagged", "tags")
        made._begin(BaseLinks(*(arrays[name] for name in names)), arrays["degrees"].copy())
        return made

    def _settle(self, found: HalfEdges, columns: Columns) -> None:
        keys = (columns["key"], found.owner, found.neighbour)
        ranks = rank_by_content(columns, 1 + max(int(some.max(initial=0)) for some in keys))
        found = sort_half_edges(found, ranks, self.kinds.ranks())
        starts = np.concatenate([[0], np.cumsum(np.bincount(found.owner, minlength=len(ranks)))]).astype(np.int64)
        tagged = np.flatnonzero(found.tags)
        base = BaseLinks(
            starts, found.neighbour, found.code, found.weight, found.confidence, tagged, found.tags[tagged]
        )
        self._begin(base, count_neighbours(found.pairs, len(ranks)).astype(np.int32))

    def _merge(self, edges: Iterable[IndexedEdge], columns: Columns) -> None:
        """Take in many edges at once. Links of facts that are gone go by themselves when all is put in order."""
        fresh, ended = split_edges(edges, self.kinds, self.tag_texts)
        named, known = join_half_edges([fresh, ended]), self._everything()
        kept = ~find_members(named.pairs, known.pairs)
        kept[~kept] = ~find_same_edges(known.at(~kept), named)
        self._settle(join_half_edges([known.at(kept), fresh]), columns)
        self.compactions += 1

    def _begin(self, base: BaseLinks, degree: Int32Array) -> None:
        self._base, self._degree = base, degree
        self._alive = np.ones(len(base.neighbour), np.bool_)
        self._dead = self._late = 0
        # Whether somebody stored an edge of a kind that links through names have.
        self.keeps_named = bool((base.code < 2 * len(NAME_LINK_KINDS)).any())
        # For each fact its newer links, by neighbour and code: weight, confidence, tags.
        self._overlay: dict[int, dict[tuple[int, int], tuple[int, int, int]]] = {}

    def _everything(self) -> HalfEdges:
        base = self._base
        owner = np.repeat(np.arange(len(base.starts) - 1, dtype=np.int32), np.diff(base.starts))
        kept = np.flatnonzero(self._alive)
        newer = [(key, *where, *said) for key, row in self._overlay.items() for where, said in row.items()]
        return join_half_edges([base.halves_at(owner[kept], kept), build_half_edges(newer)])

    def _standing(self, at: Any, kinds: Mask | None) -> Mask:
        """Which links of the base are still there, and of these kinds."""
        alive = self._alive[at]
        return alive if kinds is None else np.asarray(alive & kinds[self._base.code[at] >> 1])

    def _passing(self, at: Int64Array, sieve: LinkFilter) -> Mask:
        passing = sieve.passing(self._base.neighbour[at], self._base.code[at], self._base.confidence[at])
        return passing & self._alive[at] if self._dead else passing

    def _more(
        self, first: Int64Array, last: Int64Array, row: Int64Array, at: Int64Array, sieve: LinkFilter
    ) -> tuple[Int64Array, Int64Array]:
        """Go on where a fact has more links and some of the strongest did not pass."""
        most = sieve.most
        lacking = most - np.bincount(row, minlength=len(first))
        parts = [(row, at)]
        for place in np.flatnonzero((last - first > most) & (lacking > 0)).tolist():
            found = self._next(int(first[place]) + most, int(last[place]), int(lacking[place]), sieve)
            parts.append((np.full(len(found), place), found))
        row, at = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(row, kind="stable")
        return row[order], at[order]

    def _next(self, first: int, last: int, wanted: int, sieve: LinkFilter) -> Int64Array:
        """The next links that pass, looked for in ever larger steps."""
        parts, step = [np.zeros(0, np.int64)], 4 * wanted
        while first < last and wanted > 0:
            at = np.arange(first, min(last, first + step))
            parts.append(at[self._passing(at, sieve)][:wanted])
            wanted, first, step = wanted - len(parts[-1]), first + step, 2 * step
        return np.concatenate(parts)

    def _take(self, edge: IndexedEdge) -> None:
        """An edge as it is now, in the place of what was known of it."""
        code, conducts = 2 * self.kinds.number(edge.kind), get_edge_kind(edge.kind).conducts
        self.keeps_named |= code < 2 * len(NAME_LINK_KINDS)
        shares = share_to_millionths(edge.weight), share_to_millionths(edge.confidence)
        said = None if edge.ended else (*shares, self.tag_texts.number(edge.tags or ""))
        if conducts != "never":
            self._replace(edge.source, edge.target, code, said)
        if conducts == "both" and edge.source != edge.target:
            self._replace(edge.target, edge.source, code + 1, said)

    def _replace(self, owner: int, neighbour: int, code: int, said: tuple[int, int, int] | None) -> None:
        row = self._overlay.setdefault(owner, {})
        there = self._between(owner, neighbour)
        linked = bool(there) or any(other == neighbour for other, _ in row)
        for at in [at for at in there if self._base.code[at] == code]:
            self._alive[at] = False
            self._dead += 1
            there.remove(at)
        self._late += (said is not None) - (row.pop((neighbour, code), None) is not None)
        if said is not None:
            row[neighbour, code] = said
        links = bool(there) or any(other == neighbour for other, _ in row)
        self._degree[owner] += links - linked

    def _between(self, owner: int, neighbour: int) -> list[int]:
        """Where the base has links of one fact with another that are still there."""
        first, last = self._base.starts[owner : owner + 2].tolist()
        found = np.flatnonzero(self._base.neighbour[first:last] == neighbour)
        return [first + at for at in found.tolist() if self._alive[first + at]]

    def _leave(self, gone: Int32Array) -> None:
        """Facts are gone, and so are all links to them."""
        at = np.flatnonzero(np.isin(self._base.neighbour, gone) & self._alive)
        owner = np.searchsorted(self._base.starts, at, side="right") - 1
        pairs = set(zip(owner.tolist(), self._base.neighbour[at].tolist(), strict=True))
        self._alive[at] = False
        self._dead += len(at)
        removed = set(gone.tolist())
        for key, row in self._overlay.items():
            dying = [where for where in row if where[0] in removed or key in removed]
            pairs.update((key, neighbour) for neighbour, _ in dying)
            self._late -= len(dying)
            for where in dying:
                del row[where]
        np.subtract.at(self._degree, np.array([owner for owner, _ in pairs], np.int64), 1)


class TagSets(LazySequence[frozenset[str]]):
    """Tags by number, read out of their texts when somebody looks at them; each once."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts, self._read = texts, {0: NO_TAGS}

    def __getitem__(self, number: Any) -> Any:
        if number not in self._read:
            self._read[number] = frozenset(json.loads(self._texts[number]))
        return self._read[number]

    def __len__(self) -> int:
        return len(self._texts)


def is_complete_adjacency_snapshot(arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Whether a snapshot has all that this version of cofire looks for, and kinds conduct as they did."""
    if set(arrays) != set(SNAPSHOT_ARRAYS) or any(arrays[name].dtype != kind for name, kind in SNAPSHOT_ARRAYS.items()):
        return False
    return all(get_edge_kind(kind).conducts == conducts for kind, conducts in json.loads(arrays["kinds"].tobytes()))
