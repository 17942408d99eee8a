"""Adjacency: the stored edges of a store in memory, a row a fact with its strongest links first. Follows changes, edge by edge."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics.runs import stretched
from cofire.kernels.links import StoredLinks
from cofire.kinds import kind_of
from cofire.late import Late, Told
from cofire.stores.base import Conducting
from cofire.stores.index.base_links import Base, Sieve
from cofire.stores.index.columns import Columns, Mask
from cofire.stores.index.halves import (
    Halves,
    Numbered,
    Numbers,
    Places,
    StoredEdge,
    content_ranks,
    in_millionths,
    in_rows,
    joined,
    kept_numbers,
    same,
    table,
    taken_in,
)
from cofire.stores.index.key_arrays import CROWDED, among, counted_by_owner, different, marked

NO_TAGS: frozenset[str] = frozenset()
KINDS_THROUGH_NAMES = ("about", "entity")
ARRAYS: Mapping[str, Any] = {
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
MOST_CHANGED = 1_024
# More edges than this, and than a hundredth of all, are taken in at once rather than one by one.
MANY = 256


class Adjacency:
    """A base that is in order, and an overlay of what came or changed since; what it replaces in the base is dead.

    `taken` counts the edges that were taken in one by one since it was made, `compactions` how often all was put in order anew.
    """

    _base: Base
    _degree: Numbers

    def __init__(self, columns: Columns, edges: Iterable[StoredEdge] = ()) -> None:
        self.kinds = Numbered(KINDS_THROUGH_NAMES)
        self.tag_texts = Numbered([""])
        self.taken = self.compactions = 0
        self._compiled: StoredLinks | None = None
        self._settle(taken_in(edges, self.kinds, self.tag_texts)[0], columns)

    @property
    def size(self) -> int:
        """How many links there are, seen from either end."""
        return len(self._base.neighbour) - self._dead + self._late

    @property
    def room(self) -> int:
        """How many keys there are rows for."""
        return len(self._degree)

    def change(self, edges: Iterable[StoredEdge], gone: Sequence[int], columns: Columns) -> None:
        """Take in edges that came, changed or ended, and let go of those of removed facts."""
        rest, few = iter(edges), MANY + self.size // 128
        some = list(islice(rest, few + 1))
        if len(some) > few:
            return self._merge(chain(some, rest), columns)
        self.make_room(columns)
        self.taken += len(some)
        for edge in some:
            self._take(edge)
        if gone:
            self._leave(np.array(gone, np.int32))
        if self._dead + self._late > MOST_CHANGED + len(self._base.neighbour) // 8:
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

    def strongest(self, keys: Places, sieve: Sieve) -> tuple[Halves, bool]:
        """Of each of these facts the strongest links that pass, at most so many of the base and all that are newer; and whether
        they are in order, since none is. `owner` is a place among the keys."""
        first, last = self._base.starts[keys], self._base.starts[keys + 1]
        row, at = stretched(first, np.minimum(last - first, sieve.most))
        passing = self._passing(at, sieve)
        if np.count_nonzero(passing) < len(passing):
            row, at = self._more(first, last, row[passing], at[passing], sieve)
        found = self._base.halves_at(row.astype(np.int32), at)
        late = self._newer(keys)
        if late is None:
            return found, True
        return joined([found, late.at(sieve.passing(late.neighbour, late.code, late.confidence))]), False

    def compiled(self) -> StoredLinks:
        """The base as compiled code reads it; made anew with the base."""
        if self._compiled is None or self._compiled.base is not self._base:
            self._compiled = StoredLinks(self._base, self._degree, self._alive)
        return self._compiled

    @property
    def has_newer(self) -> bool:
        """Whether any fact may have links that the base does not know."""
        return bool(self._overlay)

    def newer(self, keys: Sequence[int]) -> Numbers | None:
        """Links of these facts that the base does not know, as rows of halves; None where there are none."""
        if not self._overlay:
            return None
        rows = [
            (place, *where, *said)
            for place, key in enumerate(keys)
            for where, said in self._overlay.get(key, {}).items()
        ]
        return np.array(rows, np.int32) if rows else None

    def _newer(self, keys: Places) -> Halves | None:
        found = self.newer(keys.tolist()) if self._overlay else None
        return None if found is None else Halves(*found.T)

    def degrees(self, keys: Places, kinds: Mask | None) -> NDArray[np.int64]:
        """How many neighbours these facts have, by links of these kinds."""
        if kinds is None:
            return self._degree[keys].astype(np.int64)
        pairs, crowded = self._pairs(keys, kinds)
        degrees = counted_by_owner(pairs, len(keys))
        for place in crowded:
            degrees[place] = different(self.neighbours(int(keys[place]), kinds))
        return degrees

    def has(self, keys: Places, pairs: Places, kinds: Mask | None) -> Mask:
        """Which of these pairs are linked by these kinds; a pair is a place among the keys and the key of another fact."""
        stored, crowded = self._pairs(keys, kinds)
        found = among(stored, pairs)
        for place in crowded:
            mine = pairs >> 32 == place
            found[mine] = marked(self.neighbours(int(keys[place]), kinds), pairs[mine] & 0xFFFFFFFF)
        return found

    def _pairs(self, keys: Places, kinds: Mask | None) -> tuple[Places, list[int]]:
        """Pairs that are linked by these kinds, some more than once; and the places of facts with so many links that they are left out."""
        first = self._base.starts[keys]
        many = self._base.starts[keys + 1] - first
        row, at = stretched(first, np.where(many > CROWDED, 0, many))
        kept = self._standing(at, kinds)
        stored = row[kept] << 32 | self._base.neighbour[at[kept]]
        newer = self._newer(keys)
        if newer is not None:
            stored = np.concatenate([stored, newer.pairs[slice(None) if kinds is None else kinds[newer.code >> 1]]])
        return stored, np.flatnonzero(many > CROWDED).tolist()

    def neighbours(self, key: int, kinds: Mask | None) -> Numbers:
        """The keys of those that a fact is linked with, by links of these kinds, as often as it is."""
        inside = slice(*self._base.starts[key : key + 2].tolist())
        found = self._base.neighbour[inside]
        if self._dead or kinds is not None:
            found = found[self._standing(inside, kinds)]
        late = self._overlay.get(key, {})
        newer = [other for other, code in late if kinds is None or kinds[code >> 1]]
        return np.concatenate([found, np.array(newer, np.int32)]) if newer else found

    def tags_at(self, at: Places) -> Sequence[frozenset[str]]:
        """The tags of links by where they stand in the base; newer ones tell the number of theirs, as -1 - number."""
        if len(self.tag_texts.words) == 1:
            return (NO_TAGS,) * len(at)
        return self.tags(np.where(at < 0, -1 - at, self._base.tags_at(at)))

    def tags(self, numbers: NDArray[np.integer]) -> Sequence[frozenset[str]]:
        """Tags by their numbers."""
        if len(self.tag_texts.words) == 1 or not numbers.any():
            return (NO_TAGS,) * len(numbers)
        return Told(TagSets(self.tag_texts.words), numbers)

    def numbers_of(self, conducting: Conducting) -> Mask | None:
        """A mask over the numbers of the kinds that may be followed; None for all."""
        if conducting.kinds is None and not conducting.without:
            return None
        return np.array([conducting.wants(kind) for kind in self.kinds.words], np.bool_)

    def arrays(self, columns: Columns) -> dict[str, NDArray[Any]]:
        """All of it as arrays, for a snapshot."""
        if self._dead or self._late:
            self.compact(columns)
        self._forget_unused()
        base, kinds = self._base, [[kind, kind_of(kind).conducts] for kind in self.kinds.words]
        links = base.neighbour, base.code, base.weight, base.confidence
        order = (base.starts, *links, self._degree, base.tagged, base.tags)
        texts = (np.frombuffer(json.dumps(said).encode("ascii"), np.uint8) for said in (kinds, self.tag_texts.words))
        return dict(zip(ARRAYS, (*order, *texts), strict=True))

    def _forget_unused(self) -> None:
        """Kinds and tags that no link bears any more may be words that were forgotten."""
        base = self._base
        kinds = kept_numbers(base.code >> 1, self.kinds, len(KINDS_THROUGH_NAMES))
        tags = kept_numbers(base.tags, self.tag_texts, 1)
        self.kinds, self.tag_texts = (
            Numbered(known.words[number] for number in kept.tolist())
            for known, kept in ((self.kinds, kinds), (self.tag_texts, tags))
        )
        code = 2 * np.searchsorted(kinds, base.code >> 1) + (base.code & 1)
        tagged = np.searchsorted(tags, base.tags)
        self._base = replace(base, code=code.astype(base.code.dtype), tags=tagged.astype(base.tags.dtype))

    @classmethod
    def from_arrays(cls, columns: Columns, arrays: Mapping[str, NDArray[Any]]) -> Adjacency:
        """The adjacency of a snapshot that `is_whole`."""
        made = cls(columns)
        made.kinds = Numbered(kind for kind, _ in json.loads(arrays["kinds"].tobytes()))
        made.tag_texts = Numbered(json.loads(arrays["tag_sets"].tobytes()))
        names = ("starts", "neighbours", "codes", "weights", "confidences", "tagged", "tags")
        made._begin(Base(*(arrays[name] for name in names)), arrays["degrees"].copy())
        return made

    def _settle(self, found: Halves, columns: Columns) -> None:
        keys = (columns["key"], found.owner, found.neighbour)
        ranks = content_ranks(columns, 1 + max(int(some.max(initial=0)) for some in keys))
        found = in_rows(found, ranks, self.kinds.ranks())
        starts = np.concatenate([[0], np.cumsum(np.bincount(found.owner, minlength=len(ranks)))]).astype(np.int64)
        tagged = np.flatnonzero(found.tags)
        base = Base(starts, found.neighbour, found.code, found.weight, found.confidence, tagged, found.tags[tagged])
        self._begin(base, counted_by_owner(found.pairs, len(ranks)).astype(np.int32))

    def _merge(self, edges: Iterable[StoredEdge], columns: Columns) -> None:
        """Take in many edges at once. Links of facts that are gone go by themselves when all is put in order."""
        fresh, ended = taken_in(edges, self.kinds, self.tag_texts)
        named, known = joined([fresh, ended]), self._everything()
        kept = ~among(named.pairs, known.pairs)
        kept[~kept] = ~same(known.at(~kept), named)
        self._settle(joined([known.at(kept), fresh]), columns)
        self.compactions += 1

    def _begin(self, base: Base, degree: Numbers) -> None:
        self._base, self._degree = base, degree
        self._alive = np.ones(len(base.neighbour), np.bool_)
        self._dead = self._late = 0
        # Whether somebody stored an edge of a kind that links through names have.
        self.keeps_named = bool((base.code < 2 * len(KINDS_THROUGH_NAMES)).any())
        # For each fact its newer links, by neighbour and code: weight, confidence, tags.
        self._overlay: dict[int, dict[tuple[int, int], tuple[int, int, int]]] = {}

    def _everything(self) -> Halves:
        base = self._base
        owner = np.repeat(np.arange(len(base.starts) - 1, dtype=np.int32), np.diff(base.starts))
        kept = np.flatnonzero(self._alive)
        newer = [(key, *where, *said) for key, row in self._overlay.items() for where, said in row.items()]
        return joined([base.halves_at(owner[kept], kept), table(newer)])

    def _standing(self, at: Any, kinds: Mask | None) -> Mask:
        """Which links of the base are still there, and of these kinds."""
        alive = self._alive[at]
        return alive if kinds is None else np.asarray(alive & kinds[self._base.code[at] >> 1])

    def _passing(self, at: Places, sieve: Sieve) -> Mask:
        passing = sieve.passing(self._base.neighbour[at], self._base.code[at], self._base.confidence[at])
        return passing & self._alive[at] if self._dead else passing

    def _more(self, first: Places, last: Places, row: Places, at: Places, sieve: Sieve) -> tuple[Places, Places]:
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

    def _next(self, first: int, last: int, wanted: int, sieve: Sieve) -> Places:
        """The next links that pass, looked for in ever larger steps."""
        parts, step = [np.zeros(0, np.int64)], 4 * wanted
        while first < last and wanted > 0:
            at = np.arange(first, min(last, first + step))
            parts.append(at[self._passing(at, sieve)][:wanted])
            wanted, first, step = wanted - len(parts[-1]), first + step, 2 * step
        return np.concatenate(parts)

    def _take(self, edge: StoredEdge) -> None:
        """An edge as it is now, in the place of what was known of it."""
        code, conducts = 2 * self.kinds.number(edge.kind), kind_of(edge.kind).conducts
        self.keeps_named |= code < 2 * len(KINDS_THROUGH_NAMES)
        shares = in_millionths(edge.weight), in_millionths(edge.confidence)
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

    def _leave(self, gone: Numbers) -> None:
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


class TagSets(Late[frozenset[str]]):
    """Tags by number, read out of their texts when somebody looks at them; each once."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts, self._read = texts, {0: NO_TAGS}

    def __getitem__(self, number: Any) -> Any:
        if number not in self._read:
            self._read[number] = frozenset(json.loads(self._texts[number]))
        return self._read[number]

    def __len__(self) -> int:
        return len(self._texts)


def is_whole(arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Whether a snapshot has all that this version of cofire looks for, and kinds conduct as they did."""
    if set(arrays) != set(ARRAYS) or any(arrays[name].dtype != kind for name, kind in ARRAYS.items()):
        return False
    return all(kind_of(kind).conducts == conducts for kind, conducts in json.loads(arrays["kinds"].tobytes()))
