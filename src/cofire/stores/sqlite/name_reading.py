"""Reading names: those that a question holds, those that lead from fact to fact, and the sentences that words stand in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from cofire.stores.base import Known, NamePaths
from cofire.stores.index import looking
from cofire.stores.index.columns import Mask
from cofire.stores.index.index import Index
from cofire.stores.index.terms import places_of, term

_KNOWN = """
SELECT n.key, n.name, n.mentioned FROM scopes s JOIN carray(?1) c CROSS JOIN names n ON n.scope = s.key AND n.name = c.value
WHERE s.name IN (SELECT value FROM json_each(?2))
"""


def known(
    connection: apsw.Connection,
    index: Index,
    admitted: Mask,
    names: Sequence[str],
    scopes: Sequence[str] | None,
    most: int,
) -> list[Known]:
    """Names that facts of these scopes hold, with the facts about each. The same name of two scopes is two names."""
    if not names:
        return []
    found = connection.execute(_KNOWN, (apsw.carray(tuple(names)), json.dumps(scopes))).fetchall()
    return [_known(index, admitted, key, name, mentioned, most) for key, name, mentioned in sorted(found)]


def _known(index: Index, admitted: Mask, key: int, name: str, mentioned: int, most: int) -> Known:
    positions, strengths = looking.owners(index, key, admitted, most)
    return Known(name, mentioned, dict(zip(looking.ids_of(index, positions), strengths.tolist(), strict=True)))


def named(
    connection: apsw.Connection, index: Index, seeds: NDArray[np.int64], found: looking.Paths
) -> tuple[NamePaths, NDArray[np.int64]]:
    """Paths with ids for positions and words for names, and the positions of all facts on them."""
    others = np.setdiff1d(found.target, seeds)
    positions = np.concatenate([seeds, others])
    order = np.argsort(positions)
    target = order[np.searchsorted(positions[order], found.target)] if len(found.target) else found.target
    paths = NamePaths(
        ids=looking.ids_of(index, positions),
        loose=index.columns["session"][positions] == 0,
        name=_spelled(connection, found.name),
        holder=found.holder,
        count=found.count,
        sentences=found.sentences,
        own=found.own,
        sure=found.sure,
        step=found.step,
        target=target,
        strength=found.strength,
        there=found.there,
    )
    return paths, positions


def _spelled(connection: apsw.Connection, keys: NDArray[np.int64]) -> tuple[str, ...]:
    if not len(keys):
        return ()
    sql = "SELECT n.key, n.name FROM carray(?) c CROSS JOIN names n ON n.key = c.value"
    names: dict[Any, Any] = dict(connection.execute(sql, (apsw.carray(np.unique(keys)),)).fetchall())
    return tuple(names.get(key, "") for key in keys.tolist())


def places(connection: apsw.Connection, ids: Sequence[str], words: Sequence[str]) -> NDArray[np.int64]:
    """In which sentences of these facts the words stand, a bit a sentence."""
    sql = "SELECT f.id, f.places FROM carray(?) c CROSS JOIN facts f ON f.id = c.value"
    stored: dict[Any, Any] = dict(connection.execute(sql, (apsw.carray(tuple(ids)),)).fetchall()) if ids else {}
    terms = np.array([term(word) for word in words], np.int64)
    nothing = np.zeros(len(words), np.int64)
    table = [places_of(stored[id], terms) if id in stored else nothing for id in ids]
    return np.array(table, np.int64).reshape(len(ids), len(words))
