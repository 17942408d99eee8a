"""Links through names, from arrays: the same as `stores.linking` tells fact by fact, for many facts at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics.runs import stretched
from cofire.stores.index.halves import ABOUT, ENTITY
from cofire.stores.index.index import Index
from cofire.stores.index.names import Names
from cofire.stores.linking import BACKWARD, MOST_LINKED, MOST_NAMED, SHARED

Places = NDArray[np.int64]
Shares = NDArray[np.float64]
Spell = Callable[[Places], Sequence[str]]


# One more than may be led to, since a fact is not led to itself.
FOREMOST = MOST_LINKED + 1
# The ways of a link, in the order in which the first of equals is kept: from a name that is mentioned to those about it and to
# those that mention it, from a name that a fact is about to those that mention it and to those about it.
ONWARD, SHARING, BACK, ALIKE = range(4)


@dataclass(frozen=True, slots=True)
class NameLinks:
    """A row a link: `row` is a place among the facts asked for, `target` a position, `via` a place among names."""

    row: Places
    target: Places
    way: Places
    weight: Shares
    confidence: Shares
    via: Places

    @property
    def kind(self) -> Places:
        return np.where(self.way & 1, ENTITY, ABOUT)

    def at(self, rows: Any) -> NameLinks:
        return NameLinks(*(column[rows] for column in self.columns))

    @property
    def columns(self) -> tuple[Any, ...]:
        return self.row, self.target, self.way, self.weight, self.confidence, self.via


@dataclass(frozen=True, slots=True)
class _Held:
    """Names that the facts asked for hold one way: whose, which (a place among names), and how strongly."""

    row: Places
    which: Places
    by: Shares


@dataclass(frozen=True, slots=True)
class _Holders:
    """Who holds each name one way, of those that are not archived the foremost: of name n from `starts[n]` to `starts[n + 1]`;
    `count` is of all."""

    count: Places
    starts: Places
    position: Places
    by: Shares


def through_names(index: Index, asked: Places, spell: Spell) -> tuple[NameLinks, Sequence[str]]:
    """The best link through names from each of these facts to each other one, and the names."""
    found = [kind.held_by(asked) for kind in (index.mentions, index.subjects)]
    names = np.unique(np.concatenate([held.name for held in found]))
    if not len(names):
        return _NONE, ()
    spelled = spell(names)
    mentioned, subjects = (_Held(held.owner, np.searchsorted(names, held.name), held.strength) for held in found)
    own = np.bincount(subjects.which, minlength=len(names)) > 0
    about = _holders(index, index.subjects, names, np.ones(len(names), np.bool_))
    tellers = _holders(index, index.mentions, names, own)
    links = _links(asked, mentioned, subjects, about, tellers)
    letters = np.zeros(len(names), np.int64)
    letters[sorted(range(len(names)), key=spelled.__getitem__)] = np.arange(len(names))
    return _best(links, letters), spelled


def _holders(index: Index, kind: Names, names: Places, wanted: NDArray[np.bool_]) -> _Holders:
    """Who holds these names. Of a common name they are looked for only if wanted."""
    alive = index.columns["alive"]
    places, positions, by, sizes = kind.all_holders(names, MOST_NAMED)
    kept = alive[positions]
    parts = [(places[kept], positions[kept].astype(np.int64), by[kept])]
    count = np.bincount(parts[0][0], minlength=len(names))
    for at in np.flatnonzero(sizes > MOST_NAMED).tolist():
        crowd = _crowd(index, kind, int(names[at]))
        count[at] = crowd.count
        if wanted[at] or crowd.count <= MOST_NAMED:
            position, strength = crowd.foremost()
            parts.append((np.full(len(position), at), position, strength))
    where, who, strengths = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _Holders(count, *_foremost(index, where, who, strengths, len(names)))


class _Crowd:
    """Those who hold a common name one way; looked through when need be, and once as long as nothing changes."""

    def __init__(self, index: Index, position: Places, by: Shares) -> None:
        self.count = len(position)
        self._found = partial(_ahead, index, position, by)
        self._ahead: tuple[Places, Shares] | None = None

    def foremost(self) -> tuple[Places, Shares]:
        if self._ahead is None:
            self._ahead = self._found()
        return self._ahead


def _crowd(index: Index, kind: Names, name: int) -> _Crowd:
    which = kind is index.subjects, name
    if which not in index.crowds:
        positions, by = kind.holders(name)
        alive = index.columns["alive"][positions]
        index.crowds[which] = _Crowd(index, positions[alive].astype(np.int64), by[alive])
    found: _Crowd = index.crowds[which]
    return found


def _ahead(index: Index, position: Places, by: Shares) -> tuple[Places, Shares]:
    """The foremost of many, without putting all in order: those that hold it more strongly than the last, then by content."""
    standing = index.columns.standing()[position]
    position, by = position[standing], by[standing]
    if len(position) <= FOREMOST:
        return position, by
    least = np.partition(by, len(by) - FOREMOST)[len(by) - FOREMOST]
    equals = np.flatnonzero(by == least)
    content = index.columns["hash"][position[equals]]
    room = FOREMOST - np.count_nonzero(by > least)
    kept = np.concatenate([np.flatnonzero(by > least), equals[np.argpartition(content, room - 1)[:room]]])
    return position[kept], by[kept]


def _foremost(index: Index, places: Places, positions: Places, by: Shares, names: int) -> tuple[Places, Places, Shares]:
    """Of each name the foremost, in the order of names."""
    standing = index.columns.standing()[positions]
    places, positions, by = places[standing], positions[standing], by[standing]
    order = np.lexsort((index.columns["hash"][positions], -by, places))
    places = places[order]
    few = np.arange(len(places)) - np.searchsorted(places, places) < FOREMOST
    kept = order[few]
    return np.searchsorted(places[few], np.arange(names + 1)), positions[kept], by[kept]


def _links(asked: Places, mentioned: _Held, subjects: _Held, about: _Holders, tellers: _Holders) -> NameLinks:
    count = about.count + tellers.count
    spread = 1 / np.sqrt(np.maximum(1, count))
    rare = _only(mentioned, count <= MOST_NAMED)
    ways = ((ONWARD, mentioned, about), (SHARING, rare, tellers), (BACK, subjects, tellers), (ALIKE, subjects, about))
    parts = []
    for way, ones, others in ways:
        step, link = _paired(asked, ones, others)
        which = ones.which[step]
        carried = _carried(way, spread[which], ones.by[step], others.by[link])
        parts.append((ones.row[step], others.position[link], np.full(len(step), way), *carried, which))
    return NameLinks(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _only(held: _Held, names: NDArray[np.bool_]) -> _Held:
    kept = names[held.which]
    return _Held(held.row[kept], held.which[kept], held.by[kept])


def _carried(way: int, spread: Shares, by: Shares, there: Shares) -> tuple[Shares, Shares]:
    """Weight and confidence, as `linking.through_names` has them."""
    if way == ONWARD:
        return spread * there, by
    if way == SHARING:
        return SHARED * spread, np.minimum(by, there)
    if way == BACK:
        return BACKWARD * spread * by, there
    return SHARED * spread * by * there, np.ones(len(by))


def _paired(asked: Places, held: _Held, holders: _Holders) -> tuple[Places, Places]:
    """Each name that is held with those it leads to, but for the fact itself."""
    first = holders.starts[held.which]
    step, link = stretched(first, holders.starts[held.which + 1] - first)
    away = holders.position[link] != asked[held.row[step]]
    step, link = step[away], link[away]
    few = np.arange(len(step)) - np.searchsorted(step, step) < MOST_LINKED
    return step[few], link[few]


def _best(links: NameLinks, letters: Places) -> NameLinks:
    """Of several links between two facts the one that carries most; of equals the first, names in the order of letters."""
    pair = links.row << 32 | links.target
    turn = ((links.way >> 1) * len(letters) + letters[links.via]) * 2 + (links.way & 1)
    order = np.lexsort((turn, -links.weight * links.confidence, pair))
    pair = pair[order]
    first = np.concatenate([np.ones(min(1, len(pair)), np.bool_), pair[1:] != pair[:-1]])
    return links.at(order[first])


_NOWHERE = np.zeros(0, np.int64)
_NONE = NameLinks(_NOWHERE, _NOWHERE, _NOWHERE, np.zeros(0), np.zeros(0), _NOWHERE)
