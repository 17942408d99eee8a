"""Reading names: those that a question holds, those that lead from fact to fact, and the sentences that words stand in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from cofire.kernels.names import Paths
from cofire.stores.base import Known, NamePaths
from cofire.stores.index import looking
from cofire.stores.index.columns import Mask
from cofire.stores.index.index import Index
from cofire.stores.index.names import Spellings
from cofire.stores.index.terms import places_of, term
from cofire.stores.index.warm_vectors import ASKED_BEFORE

MOST_KNOWN = 100_000
# Facts whose sentences are kept at hand: some 500 bytes each if they are long.
MOST_PLACED = 10_000

_KNOWN = """
SELECT n.key, n.name, n.mentioned FROM carray(?1) c CROSS JOIN names n ON n.scope = ?2 AND n.name = c.value
"""


def known(
    connection: apsw.Connection,
    index: Index,
    admitted: Mask,
    names: Sequence[str],
    *,
    scopes: Sequence[int],
    most: int,
) -> list[Known]:
    """Names that facts of these scopes, which are given by key, hold, with the facts about each. The same name of two scopes is two
    names."""
    if not names:
        return []
    each = tuple(dict.fromkeys(names))
    found: list[Any] = []
    for scope in dict.fromkeys(scopes):
        found += connection.execute(_KNOWN, (apsw.carray(each), scope))
    found.sort()
    about = looking.owners(index, [key for key, _, _ in found], admitted, most)
    return [Known(name, mentioned, owners) for (_, name, mentioned), owners in zip(found, about, strict=True)]


_HELD = """
SELECT n.name, n.key, n.about FROM carray(?1) c CROSS JOIN names n ON n.scope = ?2 AND n.name = c.value
"""


def speaking(
    connection: apsw.Connection,
    index: Index,
    scope: str,
    names: Mapping[str, Sequence[str]],
    most: int,
    *,
    anew: bool,
) -> dict[str, list[str]]:
    """Facts of a scope that hold all the words of a name and do not mention it."""
    within = connection.execute("SELECT key FROM scopes WHERE name = ?", (scope,)).get
    if within is None or not names:
        return {}
    rows: Any = connection.execute(_HELD, (apsw.carray(tuple(names)), within))
    held = {name: (key, about) for name, key, about in rows}
    found = {}
    for name, words in names.items():
        key, about = held.get(name, (None, 0))
        if anew or not about:
            positions = looking.holding_all(index, within, list(map(term, words)), besides=key)
            if 0 < len(positions) <= most:
                found[name] = list(looking.ids_of(index, positions))
    return found


def named(connection: apsw.Connection, index: Index, found: Paths, known: Spellings) -> NamePaths:
    """Paths with ids for positions and words for names. `known` are names met before."""
    return NamePaths(
        ids=index.columns.spelled(found.positions),
        loose=index.columns["session"][found.positions] == 0,
        name=spelled(connection, found.name, known),
        holder=found.holder,
        count=found.count,
        sentences=found.sentences,
        own=found.own,
        sure=found.sure,
        step=found.step,
        target=found.target,
        strength=found.strength,
        there=found.there,
    )


def spelled(connection: apsw.Connection, keys: NDArray[np.int64], known: Spellings) -> tuple[str, ...]:
    """Names by key; a key is never given to another name, so those met before need not be read again."""
    listed = keys.tolist()
    try:
        return tuple(map(known.__getitem__, listed))
    except KeyError:
        return _newly_spelled(connection, listed, known)


def _newly_spelled(connection: apsw.Connection, listed: list[int], known: Spellings) -> tuple[str, ...]:
    known.missed += 1
    if known.missed == ASKED_BEFORE and connection.execute("SELECT coalesce(max(key), 0) FROM names").get <= MOST_KNOWN:
        everything: Any = connection.execute("SELECT key, name FROM names")
        known.update(everything)
    new = sorted([key for key in set(listed) if key not in known])
    if len(known) + len(new) > MOST_KNOWN:
        known.clear()
        new = sorted(set(listed))
    known.update(_read(connection, np.array(new, np.int64)))
    return tuple([known.get(key, "") for key in listed])


def _read(connection: apsw.Connection, keys: NDArray[np.int64]) -> dict[int, str]:
    if not len(keys):
        return {}
    sql = "SELECT n.key, n.name FROM carray(?) c CROSS JOIN names n ON n.key = c.value"
    found: list[Any] = connection.execute(sql, (apsw.carray(keys),)).fetchall()
    return dict(found)


def places(
    connection: apsw.Connection, keys: NDArray[np.int64], words: Sequence[str], known: dict[int, Any]
) -> NDArray[np.int64]:
    """In which sentences of these facts the words stand, a bit a sentence; all that nobody cut into sentences stands in every one.
    Nobody has the key 0. `known` is what was read since the last change."""
    wanted = keys.tolist()
    if unknown := [key for key in wanted if key not in known]:
        if len(known) + len(unknown) > MOST_PLACED:
            known.clear()
            unknown = wanted
        read: Any = connection.execute(_PLACES, (apsw.carray(np.array(unknown, np.int64)),))
        known.update(zip(unknown, read, strict=True))
    terms = np.array(list(map(term, words)), np.int64)
    cut, whole = zip(*map(known.__getitem__, wanted), strict=True) if wanted else ((), ())
    table = places_of(cut, terms)
    for row, held in enumerate(whole):
        if held is not None:
            table[row] = np.where(np.isin(terms, np.frombuffer(held, np.int64)), -1, 0)
    return table


_PLACES = """
SELECT f.places, CASE WHEN f.places = x'' THEN f.terms END FROM carray(?) c LEFT JOIN facts f ON f.key = c.value
"""


_TAGS = """
SELECT c.value FROM carray(?1) c WHERE EXISTS (SELECT 1 FROM tags t JOIN facts f ON f.key = t.fact JOIN scopes s ON s.key = f.scope
  WHERE t.tag = c.value AND s.name IN (SELECT value FROM json_each(?2)))
"""


def tags(connection: apsw.Connection, scopes: Sequence[str], names: Sequence[str]) -> frozenset[str]:
    """Those of these names that are tags of facts in these scopes."""
    if not names:
        return frozenset()
    found: Any = connection.execute(_TAGS, (apsw.carray(tuple(names)), json.dumps(list(scopes))))
    return frozenset(tag for (tag,) in found)
