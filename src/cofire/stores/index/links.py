"""Links that leave facts, from arrays: stored ones and those through names, brought into one Expansion. Knows nothing of SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from itertools import count as counting
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics.conductance import MISSING_WEIGHT, NEARLY
from cofire.kernels.library import LIBRARY
from cofire.late import LateIds, Told
from cofire.stores.base import Conducting, Expansion
from cofire.stores.index.adjacency import KINDS_THROUGH_NAMES, Adjacency
from cofire.stores.index.base_links import Sieve
from cofire.stores.index.columns import Mask
from cofire.stores.index.halves import ABOUT, ENTITY, MILLION, WEIGHT_BITS, Halves, in_millionths, shares
from cofire.stores.index.index import Index
from cofire.stores.index.name_links import NameLinks, Spell, through_names
from cofire.stores.index.onward import followed, newest_links

Places = NDArray[np.int64]
Shares = NDArray[np.float64]
NO_NAME = -1
KIND_BITS = 24
_NO_NAMES: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Links:
    """A row a link: `row` is a place among the facts asked for, `target` a position; `via` is a place among names."""

    row: NDArray[np.integer]
    target: NDArray[np.integer]
    code: NDArray[np.integer]
    weight: NDArray[np.float64]
    confidence: NDArray[np.float64]
    tags: NDArray[np.int32]
    via: Places

    def at(self, rows: Any) -> Links:
        return Links(*(column[rows] for column in self.columns))

    @property
    def columns(self) -> tuple[Any, ...]:
        return self.row, self.target, self.code, self.weight, self.confidence, self.tags, self.via


@dataclass(frozen=True)
class Asked:
    """Facts to expand: their ids, each once, and the positions of those that are there, with their rows among the ids."""

    ids: Sequence[str]
    rows: Places
    positions: Places

    @classmethod
    def standing(cls, ids: LateIds) -> Asked:
        """Those that stand where an index told of them."""
        return cls(ids, np.arange(len(ids)), np.ascontiguousarray(ids.places))

    @classmethod
    def among(cls, ids: Sequence[str], places: Sequence[int | None]) -> Asked:
        """Of places, those of unknown ids are None."""
        rows = [row for row, place in enumerate(places) if place is not None]
        return cls(ids, np.array(rows, np.int64), np.array([places[row] for row in rows], np.int64))


class Expander:
    """Expands facts of one moment. `spell` tells names by key."""

    def __init__(self, index: Index, adjacency: Adjacency, admitted: Mask, spell: Spell) -> None:
        self._index, self._adjacency, self._admitted, self._spell = index, adjacency, admitted, spell

    def expand(self, asked: Asked, conducting: Conducting, least: Shares | None) -> Expansion:
        """The links that leave these facts and conduct as much as is of use, `least` for each of the ids."""
        kinds = self._adjacency.numbers_of(conducting)
        if not conducting.names and kinds is not None and not self._may_follow(kinds):
            return _nowhere(asked)
        keys = self._index.columns["key"][asked.positions]
        through = conducting.names and (kinds is None or kinds[[ABOUT, ENTITY]].any())
        if LIBRARY is not None and not through:
            return self._compiled(asked, keys, kinds, conducting, least)
        stored, in_order = self._stored(keys, kinds, conducting)
        degree = self._adjacency.degrees(keys, kinds)
        links, names = stored, _NO_NAMES
        if through:
            found, spelled = through_names(self._index, asked.positions, self._spell)
            if kinds is not None:
                found = found.at(kinds[found.kind])
            degree = degree + self._strangers(keys, kinds, found)
            links, names = _joined(stored, self._admissible(found, conducting)), spelled
            in_order = in_order and not len(found.row)
        if not in_order:
            links = self._strongest(links, conducting.most)
        if least is not None:
            links = links.at(_is_of_use(links.weight, _least_weights(least[asked.rows], degree)[links.row]))
        return self._expansion(asked, links, names, degree, told=kinds is None)

    def _compiled(
        self, asked: Asked, keys: Places, kinds: Mask | None, conducting: Conducting, least: Shares | None
    ) -> Expansion:
        """The same by compiled code, along stored edges; and onward, where that is told."""
        sieve = self._sieve(kinds, conducting)
        if conducting.onward is not None and len(asked.rows) == len(asked.ids) == len(conducting.onward.active):
            return followed(self._index, self._adjacency, sieve, asked.positions, conducting.onward)
        late = newest_links(self._index, self._adjacency, keys.tolist())
        places = keys, asked.positions, asked.rows
        links = self._adjacency.compiled().expand(places, sieve, late, ids=len(asked.ids), least=least)
        return Expansion(
            ids=self._ids(asked, links.others),
            source=links.source,
            target=links.target,
            kind=Told(self._adjacency.kinds.words, links.code >> 1),
            weight=links.weight,
            confidence=links.confidence,
            tags=self._adjacency.tags_at(links.at),
            via=(None,) * len(links.at),
            degree=links.degree,
            around=links.around if kinds is None else None,
        )

    def _may_follow(self, kinds: Mask) -> bool:
        """Whether any stored edge can be of these kinds."""
        return self._adjacency.keeps_named or bool(kinds[len(KINDS_THROUGH_NAMES) :].any())

    def _stored(self, keys: Places, kinds: Mask | None, conducting: Conducting) -> tuple[Links, bool]:
        """Links by stored edges; and whether they are in order, and no more than wanted."""
        sieve = self._sieve(kinds, conducting)
        found, in_order = self._adjacency.strongest(keys, sieve)
        return _of_halves(found, sieve.places), in_order

    def _sieve(self, kinds: Mask | None, conducting: Conducting) -> Sieve:
        places = self._index.columns.places(self._adjacency.room)
        return Sieve(places, self._admitted, kinds, in_millionths(conducting.floor), conducting.most)

    def _admissible(self, found: NameLinks, conducting: Conducting) -> NameLinks:
        return found.at(self._admitted[found.target] & (found.confidence >= conducting.floor))

    def _strangers(self, keys: Places, kinds: Mask | None, found: NameLinks) -> Places:
        """How many of those that names lead to are no neighbours by stored edges, for each fact."""
        if not len(found.row):
            return np.zeros(len(keys), np.int64)
        pairs = found.row << 32 | self._index.columns["key"][found.target]
        return np.bincount(found.row[~self._adjacency.has(keys, pairs, kinds)], minlength=len(keys))

    def _strongest(self, links: Links, most: int) -> Links:
        """At most so many a fact, the strongest first; of equals by kind, then by content."""
        kinds = self._adjacency.kinds.ranks()[links.code >> 1]
        weak = MILLION - np.rint(np.fmin(np.fmax(links.weight, 0.0), 1.0) * MILLION).astype(np.int64)
        parallel = (links.code & 1) - 2.0 * MILLION * np.fmax(links.confidence, 0.0)
        first = (links.row.astype(np.int64) << WEIGHT_BITS | weak) << KIND_BITS | kinds
        order = np.lexsort((parallel, self._index.columns["hash"][links.target], first))
        row = links.row[order]
        return links.at(order[np.arange(len(row)) - np.searchsorted(row, row) < most])

    def _expansion(self, asked: Asked, links: Links, names: Sequence[str], degree: Places, *, told: bool) -> Expansion:
        """How many neighbours those have who were not asked for, by stored edges of all kinds, is told where all kinds are wanted."""
        target, others = self._numbered(asked, links.target)
        degrees = np.zeros(len(asked.ids), np.int64)
        degrees[asked.rows] = degree
        return Expansion(
            ids=self._ids(asked, others),
            source=asked.rows[links.row],
            target=target,
            kind=Told(self._adjacency.kinds.words, links.code >> 1),
            weight=links.weight,
            confidence=links.confidence,
            tags=self._adjacency.tags(links.tags),
            via=Told([*names, None], links.via),
            degree=degrees,
            around=self._adjacency.degrees(self._index.columns["key"][others], None) if told else None,
        )

    def _ids(self, asked: Asked, others: Places) -> Sequence[str]:
        """Those asked for, and after them others. Unless one is unknown, all of them are spelled later, if at all."""
        columns = self._index.columns
        if len(asked.rows) < len(asked.ids):
            return (*asked.ids, *columns.ids(others))
        return LateIds(columns.ground, np.concatenate([asked.positions, others]))

    def _numbered(self, asked: Asked, targets: NDArray[np.integer]) -> tuple[Places, Places]:
        """Positions that links lead to as rows, and those that were not asked for: they get the next rows as they are met."""
        if LIBRARY is not None:
            where = {"facts": self._index.columns.size, "ids": len(asked.ids)}
            return self._adjacency.compiled().numbered(asked.positions, asked.rows, targets, **where)
        led = targets.tolist()
        facts = dict.fromkeys([*asked.positions.tolist(), *led])
        row_of = dict(zip(facts, chain(asked.rows.tolist(), counting(len(asked.ids))), strict=False))
        others = np.array(list(facts)[len(asked.rows) :], np.int64)
        return np.array([row_of[place] for place in led], np.int64), others


def _nowhere(asked: Asked) -> Expansion:
    """Where no stored edge is of a kind that may be followed."""
    none, never = np.zeros(0, np.int64), np.zeros(0)
    return Expansion(asked.ids, none, none, (), never, never, (), (), np.zeros(len(asked.ids), np.int64))


def _least_weights(least: Shares, degree: Places) -> Shares:
    """The weight from which on a link of each fact is of use, 0 for all; rather too little, however it is rounded. Where what a link
    without a weight conducts is of use, all are.

    >>> _least_weights(np.array([0.1, 0.1, 0.001]), np.array([4, 0, 4])).round(6).tolist()
    [0.2, 0.1, 0.0]
    """
    weights = least * np.sqrt(np.maximum(degree, 1)) * NEARLY
    return np.where(weights > MISSING_WEIGHT, weights, 0.0)


def _is_of_use(weight: Shares, least: Shares) -> Mask:
    return np.asarray((least == 0) | (weight >= least))


def _of_halves(found: Halves, places: NDArray[np.int32]) -> Links:
    return Links(
        found.owner,
        places[found.neighbour],
        found.code,
        shares(found.weight),
        shares(found.confidence),
        found.tags,
        np.full(len(found.owner), NO_NAME),
    )


def _joined(stored: Links, found: NameLinks) -> Links:
    if not len(found.row):
        return stored
    nothing = np.zeros(len(found.row), np.int32)
    named = Links(found.row, found.target, found.kind << 1, found.weight, found.confidence, nothing, found.via)
    return Links(*(np.concatenate(column) for column in zip(stored.columns, named.columns, strict=True)))
