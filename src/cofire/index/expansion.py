"""Links that leave facts: stored edges and links through names, as one expansion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from itertools import count as counting
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.array_ops import expand_runs
from cofire.index.adjacency import (
    ABOUT_KIND,
    ENTITY_KIND,
    NAME_LINK_KINDS,
    WEIGHT_BITS,
    WEIGHT_SCALE,
    Adjacency,
    HalfEdges,
    LinkFilter,
    from_millionths,
    share_to_millionths,
)
from cofire.index.columns import Mask
from cofire.index.fact_index import FactIndex
from cofire.index.names import NameIndex
from cofire.stores.base import ExpansionOptions, LinkExpansion
from cofire.stores.lazy_ids import CodedSequence, LazyIds
from cofire.stores.link_rules import BACKWARD_FACTOR, MAX_LINKS_PER_NAME, MAX_NAME_HOLDERS, SHARED_NAME_FACTOR

Int64Array = NDArray[np.int64]
FloatArray = NDArray[np.float64]
NameLookup = Callable[[Int64Array], Sequence[str]]


# One more than may be led to, since a fact is not led to itself.
HOLDERS_PER_NAME = MAX_LINKS_PER_NAME + 1
# The ways of a link, in the order in which the first of equals is kept: from a name that is mentioned to those about it and to
# those that mention it, from a name that a fact is about to those that mention it and to those about it.
MENTION_TO_SUBJECT, MENTION_TO_MENTION, SUBJECT_TO_MENTION, SUBJECT_TO_SUBJECT = range(4)


@dataclass(frozen=True, slots=True)
class NameLinkColumns:
    """A row a link: `row` is a place among the facts asked for, `target` a position, `via` a place among names."""

    row: Int64Array
    target: Int64Array
    way: Int64Array
    weight: FloatArray
    confidence: FloatArray
    via: Int64Array

    @property
    def kind(self) -> Int64Array:
        return np.where(self.way & 1, ENTITY_KIND, ABOUT_KIND)

    def at(self, rows: Any) -> NameLinkColumns:
        return NameLinkColumns(*(column[rows] for column in self.columns))

    @property
    def columns(self) -> tuple[Any, ...]:
        return self.row, self.target, self.way, self.weight, self.confidence, self.via


@dataclass(frozen=True, slots=True)
class _SeedNames:
    """Names that the facts asked for hold one way: whose, which (a place among names), and how strongly."""

    row: Int64Array
    which: Int64Array
    by: FloatArray


@dataclass(frozen=True, slots=True)
class _HoldersByName:
    """Who holds each name one way, of those that are not archived the foremost: of name n from `starts[n]` to `starts[n + 1]`;
    `count` is of all."""

    count: Int64Array
    starts: Int64Array
    position: Int64Array
    by: FloatArray


def find_name_links(index: FactIndex, asked: Int64Array, spell: NameLookup) -> tuple[NameLinkColumns, Sequence[str]]:
    """The best link through names from each of these facts to each other one, and the names."""
    found = [kind.held_by(asked) for kind in (index.mentions, index.subjects)]
    names = np.unique(np.concatenate([held.name for held in found]))
    if not len(names):
        return _NO_NAME_LINKS, ()
    spelled = spell(names)
    mentioned, subjects = (_SeedNames(held.owner, np.searchsorted(names, held.name), held.strength) for held in found)
    own = np.bincount(subjects.which, minlength=len(names)) > 0
    about = _find_holders(index, index.subjects, names, np.ones(len(names), np.bool_))
    tellers = _find_holders(index, index.mentions, names, own)
    links = _build_name_links(asked, mentioned, subjects, about, tellers)
    letters = np.zeros(len(names), np.int64)
    letters[sorted(range(len(names)), key=spelled.__getitem__)] = np.arange(len(names))
    return _select_best_links(links, letters), spelled


def _find_holders(index: FactIndex, kind: NameIndex, names: Int64Array, wanted: NDArray[np.bool_]) -> _HoldersByName:
    """Who holds these names. Of a common name they are looked for only if wanted."""
    alive = index.columns["alive"]
    places, positions, by, sizes = kind.all_holders(names, MAX_NAME_HOLDERS)
    kept = alive[positions]
    parts = [(places[kept], positions[kept].astype(np.int64), by[kept])]
    count = np.bincount(parts[0][0], minlength=len(names))
    for at in np.flatnonzero(sizes > MAX_NAME_HOLDERS).tolist():
        crowd = _get_common_name_holders(index, kind, int(names[at]))
        count[at] = crowd.count
        if wanted[at] or crowd.count <= MAX_NAME_HOLDERS:
            position, strength = crowd.foremost()
            parts.append((np.full(len(position), at), position, strength))
    where, who, strengths = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _HoldersByName(count, *_select_foremost_by_name(index, where, who, strengths, len(names)))


class _CommonNameHolders:
    """Those who hold a common name one way; looked through when need be, and once as long as nothing changes."""

    def __init__(self, index: FactIndex, position: Int64Array, by: FloatArray) -> None:
        self.count = len(position)
        self._found = partial(_select_foremost, index, position, by)
        self._ahead: tuple[Int64Array, FloatArray] | None = None

    def foremost(self) -> tuple[Int64Array, FloatArray]:
        if self._ahead is None:
            self._ahead = self._found()
        return self._ahead


def _get_common_name_holders(index: FactIndex, kind: NameIndex, name: int) -> _CommonNameHolders:
    which = kind is index.subjects, name
    if which not in index.crowds:
        positions, by = kind.holders(name)
        alive = index.columns["alive"][positions]
        index.crowds[which] = _CommonNameHolders(index, positions[alive].astype(np.int64), by[alive])
    found: _CommonNameHolders = index.crowds[which]
    return found


def _select_foremost(index: FactIndex, position: Int64Array, by: FloatArray) -> tuple[Int64Array, FloatArray]:
    """The foremost of many, without putting all in order: those that hold it more strongly than the last, then by content."""
    standing = index.columns.standing()[position]
    position, by = position[standing], by[standing]
    if len(position) <= HOLDERS_PER_NAME:
        return position, by
    least = np.partition(by, len(by) - HOLDERS_PER_NAME)[len(by) - HOLDERS_PER_NAME]
    equals = np.flatnonzero(by == least)
    content = index.columns["hash"][position[equals]]
    room = HOLDERS_PER_NAME - np.count_nonzero(by > least)
    kept = np.concatenate([np.flatnonzero(by > least), equals[np.argpartition(content, room - 1)[:room]]])
    return position[kept], by[kept]


def _select_foremost_by_name(
    index: FactIndex, places: Int64Array, positions: Int64Array, by: FloatArray, names: int
) -> tuple[Int64Array, Int64Array, FloatArray]:
    """Of each name the foremost, in the order of names."""
    standing = index.columns.standing()[positions]
    places, positions, by = places[standing], positions[standing], by[standing]
    order = np.lexsort((index.columns["hash"][positions], -by, places))
    places = places[order]
    few = np.arange(len(places)) - np.searchsorted(places, places) < HOLDERS_PER_NAME
    kept = order[few]
    return np.searchsorted(places[few], np.arange(names + 1)), positions[kept], by[kept]


def _build_name_links(
    asked: Int64Array, mentioned: _SeedNames, subjects: _SeedNames, about: _HoldersByName, tellers: _HoldersByName
) -> NameLinkColumns:
    count = about.count + tellers.count
    spread = 1 / np.sqrt(np.maximum(1, count))
    rare = _select_names(mentioned, count <= MAX_NAME_HOLDERS)
    ways = (
        (MENTION_TO_SUBJECT, mentioned, about),
        (MENTION_TO_MENTION, rare, tellers),
        (SUBJECT_TO_MENTION, subjects, tellers),
        (SUBJECT_TO_SUBJECT, subjects, about),
    )
    parts = []
    for way, ones, others in ways:
        step, link = _pair_with_holders(asked, ones, others)
        which = ones.which[step]
        carried = _compute_link_values(way, spread[which], ones.by[step], others.by[link])
        parts.append((ones.row[step], others.position[link], np.full(len(step), way), *carried, which))
    return NameLinkColumns(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _select_names(held: _SeedNames, names: NDArray[np.bool_]) -> _SeedNames:
    kept = names[held.which]
    return _SeedNames(held.row[kept], held.which[kept], held.by[kept])


def _compute_link_values(
    way: int, spread: FloatArray, by: FloatArray, there: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Weight and confidence, as `linking.through_names` has them."""
    if way == MENTION_TO_SUBJECT:
        return spread * there, by
    if way == MENTION_TO_MENTION:
        return SHARED_NAME_FACTOR * spread, np.minimum(by, there)
    if way == SUBJECT_TO_MENTION:
        return BACKWARD_FACTOR * spread * by, there
    return SHARED_NAME_FACTOR * spread * by * there, np.ones(len(by))


def _pair_with_holders(asked: Int64Array, held: _SeedNames, holders: _HoldersByName) -> tuple[Int64Array, Int64Array]:
    """Each name that is held with those it leads to, but for the fact itself."""
    first = holders.starts[held.which]
    step, link = expand_runs(first, holders.starts[held.which + 1] - first)
    away = holders.position[link] != asked[held.row[step]]
    step, link = step[away], link[away]
    few = np.arange(len(step)) - np.searchsorted(step, step) < MAX_LINKS_PER_NAME
    return step[few], link[few]


def _select_best_links(links: NameLinkColumns, letters: Int64Array) -> NameLinkColumns:
    """Of several links between two facts the one that carries most; of equals the first, names in the order of letters."""
    pair = links.row << 32 | links.target
    turn = ((links.way >> 1) * len(letters) + letters[links.via]) * 2 + (links.way & 1)
    order = np.lexsort((turn, -links.weight * links.confidence, pair))
    pair = pair[order]
    first = np.concatenate([np.ones(min(1, len(pair)), np.bool_), pair[1:] != pair[:-1]])
    return links.at(order[first])


_NO_POSITIONS = np.zeros(0, np.int64)
_NO_NAME_LINKS = NameLinkColumns(_NO_POSITIONS, _NO_POSITIONS, _NO_POSITIONS, np.zeros(0), np.zeros(0), _NO_POSITIONS)


PositionArray = NDArray[np.int64]


RowArray = NDArray[np.int64]
NO_NAME = -1
KIND_BITS = 24
_NO_NAMES: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class LinkColumns:
    """A row a link: `row` is a place among the facts asked for, `target` a position; `via` is a place among names."""

    row: NDArray[np.integer]
    target: NDArray[np.integer]
    code: NDArray[np.integer]
    weight: NDArray[np.float64]
    confidence: NDArray[np.float64]
    tags: NDArray[np.int32]
    via: RowArray

    def at(self, rows: Any) -> LinkColumns:
        return LinkColumns(*(column[rows] for column in self.columns))

    @property
    def columns(self) -> tuple[Any, ...]:
        return self.row, self.target, self.code, self.weight, self.confidence, self.tags, self.via


@dataclass(frozen=True)
class ExpansionSeeds:
    """Facts to expand: their ids, each once, and the positions of those that are there, with their rows among the ids."""

    ids: Sequence[str]
    rows: RowArray
    positions: RowArray

    @classmethod
    def standing(cls, ids: LazyIds) -> ExpansionSeeds:
        """Those that stand where an index told of them."""
        return cls(ids, np.arange(len(ids)), np.ascontiguousarray(ids.places))

    @classmethod
    def among(cls, ids: Sequence[str], places: Sequence[int | None]) -> ExpansionSeeds:
        """Of places, those of unknown ids are None."""
        rows = [row for row, place in enumerate(places) if place is not None]
        return cls(ids, np.array(rows, np.int64), np.array([places[row] for row in rows], np.int64))


class LinkExpander:
    """Expands facts of one moment. `spell` tells names by key."""

    def __init__(self, index: FactIndex, adjacency: Adjacency, admitted: Mask, spell: NameLookup) -> None:
        self._index, self._adjacency, self._admitted, self._spell = index, adjacency, admitted, spell

    def expand(self, asked: ExpansionSeeds, conducting: ExpansionOptions) -> LinkExpansion:
        """The links that leave these facts."""
        kinds = self._adjacency.numbers_of(conducting)
        if not conducting.names and kinds is not None and not self._may_follow(kinds):
            return _build_empty_expansion(asked)
        keys = self._index.columns["key"][asked.positions]
        through = conducting.names and (kinds is None or kinds[[ABOUT_KIND, ENTITY_KIND]].any())
        stored, in_order = self._stored(keys, kinds, conducting)
        degree = self._adjacency.degrees(keys, kinds)
        links, names = stored, _NO_NAMES
        if through:
            found, spelled = find_name_links(self._index, asked.positions, self._spell)
            if kinds is not None:
                found = found.at(kinds[found.kind])
            degree = degree + self._strangers(keys, kinds, found)
            links, names = _join_links(stored, self._admissible(found, conducting)), spelled
            in_order = in_order and not len(found.row)
        if not in_order:
            links = self._strongest(links, conducting.most)
        return self._expansion(asked, links, names, degree)

    def _may_follow(self, kinds: Mask) -> bool:
        """Whether any stored edge can be of these kinds."""
        return self._adjacency.keeps_named or bool(kinds[len(NAME_LINK_KINDS) :].any())

    def _stored(self, keys: RowArray, kinds: Mask | None, conducting: ExpansionOptions) -> tuple[LinkColumns, bool]:
        """Links by stored edges; and whether they are in order, and no more than wanted."""
        sieve = self._sieve(kinds, conducting)
        found, in_order = self._adjacency.strongest(keys, sieve)
        return _half_edges_to_links(found, sieve.places), in_order

    def _sieve(self, kinds: Mask | None, conducting: ExpansionOptions) -> LinkFilter:
        places = self._index.columns.places(self._adjacency.room)
        return LinkFilter(places, self._admitted, kinds, share_to_millionths(conducting.floor), conducting.most)

    def _admissible(self, found: NameLinkColumns, conducting: ExpansionOptions) -> NameLinkColumns:
        return found.at(self._admitted[found.target] & (found.confidence >= conducting.floor))

    def _strangers(self, keys: RowArray, kinds: Mask | None, found: NameLinkColumns) -> RowArray:
        """How many of those that names lead to are no neighbours by stored edges, for each fact."""
        if not len(found.row):
            return np.zeros(len(keys), np.int64)
        pairs = found.row << 32 | self._index.columns["key"][found.target]
        return np.bincount(found.row[~self._adjacency.has(keys, pairs, kinds)], minlength=len(keys))

    def _strongest(self, links: LinkColumns, most: int) -> LinkColumns:
        """At most so many a fact, the strongest first; of equals by kind, then by content."""
        kinds = self._adjacency.kinds.ranks()[links.code >> 1]
        weak = WEIGHT_SCALE - np.rint(np.fmin(np.fmax(links.weight, 0.0), 1.0) * WEIGHT_SCALE).astype(np.int64)
        parallel = (links.code & 1) - 2.0 * WEIGHT_SCALE * np.fmax(links.confidence, 0.0)
        first = (links.row.astype(np.int64) << WEIGHT_BITS | weak) << KIND_BITS | kinds
        order = np.lexsort((parallel, self._index.columns["hash"][links.target], first))
        row = links.row[order]
        return links.at(order[np.arange(len(row)) - np.searchsorted(row, row) < most])

    def _expansion(
        self, asked: ExpansionSeeds, links: LinkColumns, names: Sequence[str], degree: RowArray
    ) -> LinkExpansion:
        target, others = self._numbered(asked, links.target)
        degrees = np.zeros(len(asked.ids), np.int64)
        degrees[asked.rows] = degree
        return LinkExpansion(
            ids=self._ids(asked, others),
            source=asked.rows[links.row],
            target=target,
            kind=CodedSequence(self._adjacency.kinds.words, links.code >> 1),
            weight=links.weight,
            confidence=links.confidence,
            tags=self._adjacency.tags(links.tags),
            via=CodedSequence([*names, None], links.via),
            degree=degrees,
        )

    def _ids(self, asked: ExpansionSeeds, others: RowArray) -> Sequence[str]:
        """Those asked for, and after them others. Unless one is unknown, all of them are spelled later, if at all."""
        columns = self._index.columns
        if len(asked.rows) < len(asked.ids):
            return (*asked.ids, *columns.ids(others))
        return LazyIds(columns.ground, np.concatenate([asked.positions, others]))

    def _numbered(self, asked: ExpansionSeeds, targets: NDArray[np.integer]) -> tuple[RowArray, RowArray]:
        """Positions that links lead to as rows, and those that were not asked for: they get the next rows as they are met."""
        led = targets.tolist()
        facts = dict.fromkeys([*asked.positions.tolist(), *led])
        row_of = dict(zip(facts, chain(asked.rows.tolist(), counting(len(asked.ids))), strict=False))
        others = np.array(list(facts)[len(asked.rows) :], np.int64)
        return np.array([row_of[place] for place in led], np.int64), others


def _build_empty_expansion(asked: ExpansionSeeds) -> LinkExpansion:
    """Where no stored edge is of a kind that may be followed."""
    none, never = np.zeros(0, np.int64), np.zeros(0)
    return LinkExpansion(asked.ids, none, none, (), never, never, (), (), np.zeros(len(asked.ids), np.int64))


def _half_edges_to_links(found: HalfEdges, places: NDArray[np.int32]) -> LinkColumns:
    return LinkColumns(
        found.owner,
        places[found.neighbour],
        found.code,
        from_millionths(found.weight),
        from_millionths(found.confidence),
        found.tags,
        np.full(len(found.owner), NO_NAME),
    )


def _join_links(stored: LinkColumns, found: NameLinkColumns) -> LinkColumns:
    if not len(found.row):
        return stored
    nothing = np.zeros(len(found.row), np.int32)
    named = LinkColumns(found.row, found.target, found.kind << 1, found.weight, found.confidence, nothing, found.via)
    return LinkColumns(*(np.concatenate(column) for column in zip(stored.columns, named.columns, strict=True)))
