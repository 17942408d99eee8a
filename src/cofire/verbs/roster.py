"""Roster: the facts that activation has met, a row each in that order; by their ids, or by where they stand in a store's index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics.conductance import Ints
from cofire.kernels.library import LIBRARY
from cofire.kernels.terrain import MetInC
from cofire.late import Ground, LateIds

# Comes after every id, so that nobody is ahead of no fact.
NOBODY = "\U0010ffff"


class Roster(Protocol):
    """A row that was given is never given to another, so that all who hold a roster may go on from it. Some rows are nobody's."""

    @property
    def ids(self) -> Sequence[str]:
        """The id of each row."""

    def __len__(self) -> int: ...

    def at(self, rows: Ints) -> Sequence[str]:
        """The ids of some rows, to ask for them."""

    def in_order(self, rows: Ints) -> Ints:
        """The order in which the ids of some rows stand."""

    def spelled(self, rows: Ints) -> list[str]:
        """The ids of some rows as text."""

    def with_places(self, ids: Sequence[str], rows: Ints) -> Roster:
        """The same rows as a roster that may meet these facts, of which the first have these rows: by where they stand if the store told
        that of all that were met, else by their ids."""

    def met(self, ids: Sequence[str], rows: Ints) -> Ints:
        """The rows of these facts, of which the first have these; of a roster `with_places` of them."""


class ById:
    """Facts by their ids."""

    def __init__(self, ids: Iterable[str]) -> None:
        self.ids: list[str] = list(ids)
        self._row = dict(zip(self.ids, range(len(self.ids)), strict=True))

    def __len__(self) -> int:
        return len(self.ids)

    def at(self, rows: Ints) -> list[str]:
        return self.spelled(rows)

    def in_order(self, rows: Ints) -> Ints:
        return np.array(sorted(range(len(rows)), key=self.spelled(rows).__getitem__), np.int64)

    def spelled(self, rows: Ints) -> list[str]:
        return [self.ids[row] for row in rows.tolist()]

    def with_places(self, ids: Sequence[str], rows: Ints) -> Roster:
        if not isinstance(ids, LateIds) or len(rows) < len(self.ids):
            return self
        places = np.empty(len(rows), np.int64)
        places[rows] = ids.places[: len(rows)]
        return ByPlace(ids.ground, places)

    def met(self, ids: Sequence[str], rows: Ints) -> Ints:
        return np.concatenate([rows, self._numbered(ids[len(rows) :])])

    def _numbered(self, ids: Sequence[str]) -> Ints:
        """Each is offered the next row; that of an id which was met before has its row, so that nobody takes it."""
        offered = range(len(self.ids), len(self.ids) + len(ids))
        rows = np.fromiter(map(self._row.setdefault, ids, offered), np.int64, len(ids))
        self.ids += ids
        for declined in (rows != np.arange(offered.start, offered.stop)).nonzero()[0].tolist():
            self.ids[offered[declined]] = NOBODY
        return rows


class ByPlace:
    """Facts by where they stand. Where they do so no more, they are known by their ids again."""

    def __init__(self, ground: Ground, places: Ints) -> None:
        self.ground = ground
        self.known: MetInC | MetInPython = MetInPython() if LIBRARY is None else MetInC()
        self.known.meet(places)
        self._ids = LateIds(ground, self.known.places)

    @property
    def ids(self) -> LateIds:
        if len(self._ids.places) < len(self.known):
            self._ids = LateIds(self.ground, self.known.places)
        return self._ids

    def __len__(self) -> int:
        return len(self.known)

    def at(self, rows: Ints) -> LateIds:
        return LateIds(self.ground, self.known.places[rows])

    def in_order(self, rows: Ints) -> Ints:
        return np.argsort(self.ground.table[self.known.places[rows]])

    def spelled(self, rows: Ints) -> list[str]:
        return self.ground.ids(self.known.places[rows])

    def with_places(self, ids: Sequence[str], rows: Ints) -> Roster:
        stands = isinstance(ids, LateIds) and ids.ground is self.ground
        return self if stands else ById(self.ids).with_places(ids, rows)

    def met(self, ids: Sequence[str], rows: Ints) -> Ints:
        return self.known.meet(cast(LateIds, ids).places)


class MetInPython:
    """Places that were met, a row each in that order, where there is no compiled code."""

    def __init__(self) -> None:
        self._row: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._row)

    @property
    def places(self) -> NDArray[np.int64]:
        return np.fromiter(self._row, np.int64, len(self._row))

    def meet(self, places: NDArray[np.int64]) -> Ints:
        return np.array([self._row.setdefault(place, len(self._row)) for place in places.tolist()], np.int64)
