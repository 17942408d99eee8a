"""Writing sheaves: very many edges that memory made for itself, as columns, inside somebody else's transaction."""

from __future__ import annotations

import json
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import repeat
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from cofire.dynamics.ordering import first_of_each, in_order
from cofire.errors import InvalidInput
from cofire.kinds import kind_of
from cofire.model import NewEdge
from cofire.sheaves import Ints, Sheaf
from cofire.stores.index.moments import stamp
from cofire.stores.sqlite.in_bulk import trusted, write_rows

Place = tuple[int, int, str]
Placed = tuple[Place, NewEdge]
# Facts by id: their keys and scopes.
Ends = Mapping[str, tuple[int, int]]
NOWHERE = (-1, -1)

SEEN = {"graph_edges": "observed", "association_edges": "strengthened"}
INSERT = {
    table: f"""
INSERT INTO {table}(source, target, kind, weight, confidence, tags, origin, co_access_count, {seen}, created, version)
VALUES {{}}
ON CONFLICT(source, target, kind) DO NOTHING
"""
    for table, seen in SEEN.items()
}
_PLACES = """
SELECT source, target, kind FROM {} WHERE source IN (SELECT value FROM carray(?)) AND kind IN (SELECT value FROM carray(?))
"""


@dataclass(frozen=True, slots=True)
class Swath:
    """Edges of some sheaves in the order in which the file keeps them: which sheaf and row each is of, and the keys of its ends."""

    sheaves: Sequence[Sheaf]
    sheaf: Ints
    row: Ints
    source: Ints
    target: Ints

    def at(self, which: Any) -> Swath:
        return Swath(self.sheaves, self.sheaf[which], self.row[which], self.source[which], self.target[which])

    def places(self) -> Iterator[Place]:
        return zip(self.source.tolist(), self.target.tolist(), self.kinds(), strict=True)

    def kinds(self) -> list[str]:
        return [self.sheaves[number].kind for number in self.sheaf.tolist()]


def write_sheaves(
    connection: apsw.Connection, sheaves: Sequence[Sheaf], version: int, now: datetime, *, ends: Ends
) -> tuple[int, list[Placed]]:
    """Write those edges that are new. Returns how many these are, and those that are there already. Edges of facts that are gone are
    left out."""
    written, met = 0, list[Placed]()
    for table in sorted({kind_of(sheaf.kind).table for sheaf in sheaves}):
        swath = _in_order([sheaf for sheaf in sheaves if kind_of(sheaf.kind).table == table], ends)
        known = _are_known(connection, table, swath)
        new, old, before = swath.at(~known), swath.at(known), connection.total_changes()
        with trusted(connection):
            write_rows(connection, INSERT[table], _rows(new, stamp(now), version))
        written += connection.total_changes() - before
        at = zip(old.places(), old.sheaf.tolist(), old.row.tolist(), strict=True)
        met += [(place, old.sheaves[number].edge(row)) for place, number, row in at]
    return written, met


def _in_order(sheaves: Sequence[Sheaf], ends: Ends) -> Swath:
    """So that the pages of the file are filled one after the other."""
    sheaves = sorted(sheaves, key=lambda sheaf: sheaf.kind)
    laid = [_laid(sheaf, ends) for sheaf in sheaves]
    sheaf = np.repeat(np.arange(len(sheaves)), [len(rows) for rows, _, _ in laid])
    row, source, target = (np.concatenate(column) for column in zip(*laid, strict=True))
    return Swath(sheaves, sheaf, row, source, target).at(in_order(source, target, sheaf))


def _laid(sheaf: Sheaf, ends: Ends) -> tuple[Ints, Ints, Ints]:
    """The rows of a sheaf whose facts are there, and the keys of these."""
    keys, scopes = np.array([ends.get(id, NOWHERE) for id in sheaf.ids], np.int64).reshape(-1, 2).T
    rows = np.flatnonzero((keys[sheaf.source] >= 0) & (keys[sheaf.target] >= 0))
    source, target = sheaf.source[rows], sheaf.target[rows]
    if (scopes[source] != scopes[target]).any():
        raise InvalidInput("The two facts are of different scopes.", way_out="Connect facts of one scope.")
    return rows, keys[source], keys[target]


def _are_known(connection: apsw.Connection, table: str, swath: Swath) -> NDArray[np.bool_]:
    kinds = {sheaf.kind for sheaf in swath.sheaves}
    known = known_places(connection, table, swath.source[first_of_each(swath.source)].tolist(), kinds)
    if not known:
        return np.zeros(len(swath.row), np.bool_)
    return np.array([place in known for place in swath.places()], np.bool_)


def known_places(connection: apsw.Connection, table: str, sources: Iterable[int], kinds: Collection[str]) -> set[Place]:
    """The places of edges that are there already, from these facts and of these kinds."""
    keys = array("q", sorted(sources))
    if not keys:
        return set()
    found: Any = connection.execute(_PLACES.format(table), (apsw.carray(keys), apsw.carray(tuple(kinds))))
    return set(found)


def _rows(swath: Swath, made: int, version: int) -> Iterator[tuple[Any, ...]]:
    """As INSERT takes them, made one by one as they are written."""
    begins = np.cumsum([0, *map(len, swath.sheaves)])
    at = begins[swath.sheaf] + swath.row
    weight, confidence = (
        np.concatenate([getattr(sheaf, name) for sheaf in swath.sheaves])[at].tolist()
        for name in ("weight", "confidence")
    )
    tags = {
        first + row: tags
        for first, sheaf in zip(begins.tolist(), swath.sheaves, strict=False)
        for row, tags in sheaf.tags.items()
    }
    told = (told_tags(tags[one]) if one in tags else None for one in at.tolist())
    origins = (swath.sheaves[number].origin for number in swath.sheaf.tolist())
    constant = (repeat(0), repeat(None), repeat(made), repeat(version))
    return zip(
        swath.source.tolist(),
        swath.target.tolist(),
        swath.kinds(),
        weight,
        confidence,
        told,
        origins,
        *constant,
        strict=False,
    )


def told_tags(tags: Collection[str]) -> str | None:
    """Tags as the file keeps them."""
    return json.dumps(sorted(tags)) if tags else None
