"""Look up names, tags and sentences that a query or a graph walk needs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from cofire.index import lookup
from cofire.index.columns import Mask
from cofire.index.fact_index import FactIndex
from cofire.index.lookup import NamePathColumns
from cofire.index.names import NameTexts
from cofire.index.quantised import READS_BEFORE_CACHING
from cofire.index.terms import find_sentence_bits, hash_term
from cofire.stores.base import KnownName, NameLinkTable

MAX_CACHED_NAMES = 100_000
# Facts whose sentences are kept at hand: some 500 bytes each if they are long.
MAX_CACHED_SENTENCES = 10_000

_SELECT_KNOWN_NAMES = """
SELECT n.key, n.name, n.mentioned FROM carray(?1) c CROSS JOIN names n ON n.scope = ?2 AND n.name = c.value
"""


def find_known_names(
    connection: apsw.Connection,
    index: FactIndex,
    admitted: Mask,
    names: Sequence[str],
    *,
    scopes: Sequence[int],
    most: int,
) -> list[KnownName]:
    """Names that facts of these scopes, which are given by key, hold, with the facts about each. The same name of two scopes is two
    names."""
    if not names:
        return []
    each = tuple(dict.fromkeys(names))
    found: list[Any] = []
    for scope in dict.fromkeys(scopes):
        found += connection.execute(_SELECT_KNOWN_NAMES, (apsw.carray(each), scope))
    found.sort()
    about = lookup.find_name_owners(index, [key for key, _, _ in found], admitted, most)
    return [KnownName(name, mentioned, owners) for (_, name, mentioned), owners in zip(found, about, strict=True)]


_SELECT_NAME_KEYS = """
SELECT n.name, n.key, n.about FROM carray(?1) c CROSS JOIN names n ON n.scope = ?2 AND n.name = c.value
"""


def find_unmarked_mentions(
    connection: apsw.Connection,
    index: FactIndex,
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
    rows: Any = connection.execute(_SELECT_NAME_KEYS, (apsw.carray(tuple(names)), within))
    held = {name: (key, about) for name, key, about in rows}
    found = {}
    for name, words in names.items():
        key, about = held.get(name, (None, 0))
        if anew or not about:
            positions = lookup.find_facts_with_terms(index, within, list(map(hash_term, words)), besides=key)
            if 0 < len(positions) <= most:
                found[name] = list(lookup.list_ids(index, positions))
    return found


def decode_name_links(
    connection: apsw.Connection, index: FactIndex, found: NamePathColumns, known: NameTexts
) -> NameLinkTable:
    """Paths with ids for positions and words for names. `find_known_names` are names met before."""
    return NameLinkTable(
        ids=index.columns.spelled(found.positions),
        loose=index.columns["session"][found.positions] == 0,
        name=decode_names(connection, found.name, known),
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


def decode_names(connection: apsw.Connection, keys: NDArray[np.int64], known: NameTexts) -> tuple[str, ...]:
    """Names by key; a key is never given to another name, so those met before need not be read again."""
    listed = keys.tolist()
    try:
        return tuple(map(known.__getitem__, listed))
    except KeyError:
        return _load_names(connection, listed, known)


def _load_names(connection: apsw.Connection, listed: list[int], known: NameTexts) -> tuple[str, ...]:
    known.missed += 1
    if (
        known.missed == READS_BEFORE_CACHING
        and connection.execute("SELECT coalesce(max(key), 0) FROM names").get <= MAX_CACHED_NAMES
    ):
        everything: Any = connection.execute("SELECT key, name FROM names")
        known.update(everything)
    new = sorted([key for key in set(listed) if key not in known])
    if len(known) + len(new) > MAX_CACHED_NAMES:
        known.clear()
        new = sorted(set(listed))
    known.update(_fetch_names(connection, np.array(new, np.int64)))
    return tuple([known.get(key, "") for key in listed])


def _fetch_names(connection: apsw.Connection, keys: NDArray[np.int64]) -> dict[int, str]:
    if not len(keys):
        return {}
    sql = "SELECT n.key, n.name FROM carray(?) c CROSS JOIN names n ON n.key = c.value"
    found: list[Any] = connection.execute(sql, (apsw.carray(keys),)).fetchall()
    return dict(found)


def fetch_sentence_bits(
    connection: apsw.Connection, keys: NDArray[np.int64], words: Sequence[str], known: dict[int, Any]
) -> NDArray[np.int64]:
    """In which sentences of these facts the words stand, a bit a sentence; all that nobody cut into sentences stands in every one.
    Nobody has the key 0. `find_known_names` is what was read since the last change."""
    wanted = keys.tolist()
    if unknown := [key for key in wanted if key not in known]:
        if len(known) + len(unknown) > MAX_CACHED_SENTENCES:
            known.clear()
            unknown = wanted
        read: Any = connection.execute(_SELECT_SENTENCES, (apsw.carray(np.array(unknown, np.int64)),))
        known.update(zip(unknown, read, strict=True))
    terms = np.array(list(map(hash_term, words)), np.int64)
    cut, whole = zip(*map(known.__getitem__, wanted), strict=True) if wanted else ((), ())
    table = find_sentence_bits(cut, terms)
    for row, held in enumerate(whole):
        if held is not None:
            table[row] = np.where(np.isin(terms, np.frombuffer(held, np.int64)), -1, 0)
    return table


_SELECT_SENTENCES = """
SELECT f.places, CASE WHEN f.places = x'' THEN f.terms END FROM carray(?) c LEFT JOIN facts f ON f.key = c.value
"""


_SELECT_EXISTING_TAGS = """
SELECT c.value FROM carray(?1) c WHERE EXISTS (SELECT 1 FROM tags t JOIN facts f ON f.key = t.fact JOIN scopes s ON s.key = f.scope
  WHERE t.tag = c.value AND s.name IN (SELECT value FROM json_each(?2)))
"""


def find_existing_tags(connection: apsw.Connection, scopes: Sequence[str], names: Sequence[str]) -> frozenset[str]:
    """Those of these names that are tags of facts in these scopes."""
    if not names:
        return frozenset()
    found: Any = connection.execute(_SELECT_EXISTING_TAGS, (apsw.carray(tuple(names)), json.dumps(list(scopes))))
    return frozenset(tag for (tag,) in found)
