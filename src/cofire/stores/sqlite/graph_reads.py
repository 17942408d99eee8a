"""Read edges, links, names, tags, sentences, the inbox and scope graphs; edges also as of an earlier time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.conductance import MISSING_CONFIDENCE, MISSING_WEIGHT
from cofire.index import lookup
from cofire.index.columns import Mask
from cofire.index.fact_index import FactIndex
from cofire.index.lookup import NamePathColumns
from cofire.index.names import NameTexts
from cofire.index.quantised import READS_BEFORE_CACHING
from cofire.index.terms import find_sentence_bits, hash_term
from cofire.index.timestamps import to_microseconds
from cofire.model import Edge, FactImportance, Link
from cofire.stores.base import (
    EdgeFilter,
    ExpansionOptions,
    FactProfile,
    FactProfiles,
    KnownName,
    LinkExpansion,
    NameLinkTable,
    ScopeGraph,
)
from cofire.stores.edge_kinds import EDGE_KINDS
from cofire.stores.link_rules import (
    BACKWARD_FACTOR,
    MAX_LINKS_PER_NAME,
    MAX_NAME_HOLDERS,
    NameHolders,
    build_expansion,
    build_name_links,
    edge_to_link,
    get_other_end,
    link_order,
)
from cofire.stores.sqlite import fact_sql
from cofire.stores.sqlite.edge_writes import decode_edge
from cofire.stores.sqlite.live_index import LiveIndex

# Every fact has its scope; the join is a LEFT one so that SQLite leaves it out where no scope is asked for.
_EDGE_COLUMNS = "source, target, kind, weight, confidence, tags, origin, co_access_count"
_SELECT_EDGES = f"""
SELECT a.id, b.id, e.kind, e.weight, e.confidence, e.tags, e.origin, e.co_access_count, e.seen FROM
  (SELECT {_EDGE_COLUMNS}, observed AS seen FROM graph_edges WHERE {{0}} UNION ALL
   SELECT {_EDGE_COLUMNS}, strengthened AS seen FROM association_edges WHERE {{0}}) e
JOIN facts a ON a.key = e.source JOIN facts b ON b.key = e.target LEFT JOIN scopes s ON s.key = a.scope
"""
_CURRENT_EDGES = "ended IS NULL"
_EDGES_AS_OF = "created <= {0} AND (ended IS NULL OR ended > {0})"
_KEYS_OF_IDS = "(SELECT f.key FROM carray(?1) c CROSS JOIN facts f ON f.id = c.value)"
# A plus keeps from looking up edges fact by fact.
_TOUCHING_FACTS = f"({{0}}source IN {_KEYS_OF_IDS} OR {{0}}target IN {_KEYS_OF_IDS})"
_ESTIMATE_EDGES = """
SELECT coalesce((SELECT max(key) FROM graph_edges), 0) + coalesce((SELECT max(key) FROM association_edges), 0)
"""
# So many edges are gone over in the time in which those of one fact are looked up.
EDGES_SCANNED_PER_LOOKUP = 20


def fetch_edges(
    connection: apsw.Connection, wanted: EdgeFilter, limit: int, as_of: datetime | None = None
) -> list[Edge]:
    """Stored edges that pass a filter, the strongest first; those of now, or with `as_of` those of then."""
    if wanted.ids is not None and not wanted.ids:
        return []
    held = [_CURRENT_EDGES if as_of is None else _EDGES_AS_OF.format(to_microseconds(as_of))]
    if wanted.kinds:
        held.append("kind IN (SELECT value FROM json_each(?2))")
    if wanted.origin is not None:
        held.append("origin = ?3")
    if wanted.ids is not None:
        held.append(_TOUCHING_FACTS.format("+" if _is_scan_cheaper(connection, len(wanted.ids)) else ""))
    within = "" if wanted.scopes is None else "WHERE s.name IN (SELECT value FROM json_each(?4))"
    order = "ORDER BY coalesce(e.weight, 0) DESC, a.id, b.id, e.kind LIMIT ?5"
    ids = None if wanted.ids is None else apsw.carray(tuple(wanted.ids))
    kinds, scopes = json.dumps(sorted(wanted.kinds or ())), json.dumps(wanted.scopes)
    sql = f"{_SELECT_EDGES.format(' AND '.join(held))} {within} {order}"
    return [decode_edge(row) for row in connection.execute(sql, (ids, kinds, wanted.origin, scopes, limit))]


def _is_scan_cheaper(connection: apsw.Connection, ids: int) -> bool:
    """Whether so many facts are asked for that going over all edges is quicker than looking up those of each."""
    edges = connection.execute(_ESTIMATE_EDGES).get
    return bool(ids * EDGES_SCANNED_PER_LOOKUP >= edges)


def fetch_links(connection: apsw.Connection, id: str, limit: int, as_of: datetime | None = None) -> list[Link]:
    """Stored edges and links through names, seen from one fact; with `as_of` by the edges of then."""
    found = list(map(edge_to_link, fetch_edges(connection, EdgeFilter(ids=frozenset([id])), limit, as_of)))
    found += build_name_links(
        id,
        [
            _fetch_name_holders(connection, id, row, common=False)
            for row in connection.execute(_SELECT_MENTIONED_NAMES, (id,))
        ],
        [
            _fetch_name_holders(connection, id, row, common=True)
            for row in connection.execute(_SELECT_SUBJECT_NAMES, (id,))
        ],
    )
    return sorted(found, key=link_order)[:limit]


_SELECT_MENTIONED_NAMES = """
SELECT n.key, n.name, m.confidence, n.mentioned + n.about FROM facts f JOIN mentions m ON m.fact = f.key
JOIN names n ON n.key = m.name WHERE f.id = ? ORDER BY n.name
"""
_SELECT_SUBJECT_NAMES = """
SELECT n.key, n.name, s.strength, n.mentioned + n.about FROM facts f JOIN subjects s ON s.fact = f.key
JOIN names n ON n.key = s.name WHERE f.id = ? ORDER BY n.name
"""
# The first eight bytes of a hash as `content_order` reads them: a number with its sign, whose last byte counts most.
_ORDER_BY_CONTENT = "hex(substr(f.hash, 8, 1)) < '80', " + " || ".join(
    f"hex(substr(f.hash, {at}, 1))" for at in range(8, 0, -1)
)
_SELECT_HOLDERS = """
SELECT f.id, h.{1} FROM {0} h JOIN facts f ON f.key = h.fact
WHERE h.name = ? AND f.id <> ? AND NOT f.archived ORDER BY h.{1} DESC, {2} LIMIT ?
"""


def _fetch_name_holders(connection: apsw.Connection, id: str, row: Any, *, common: bool) -> NameHolders:
    """A name with the others that hold it. Those that merely mention it count where it is rare, or where the fact is about it."""
    key, name, by, count = row
    about: Any = connection.execute(
        _SELECT_HOLDERS.format("subjects", "strength", _ORDER_BY_CONTENT), (key, id, MAX_LINKS_PER_NAME)
    )
    if not common and count > MAX_NAME_HOLDERS:
        return NameHolders(name, by, count, tuple(about), ())
    mentioning: Any = connection.execute(
        _SELECT_HOLDERS.format("mentions", "confidence", _ORDER_BY_CONTENT), (key, id, MAX_LINKS_PER_NAME)
    )
    return NameHolders(name, by, count, tuple(about), tuple(mentioning))


def fetch_profiles(connection: apsw.Connection, ids: Sequence[str]) -> FactProfiles:
    """What the edge score looks at, with the active-hours clock."""
    sql = """
    SELECT f.id, s.name, f.category, f.active_hours, (SELECT json_group_array(tag) FROM tags WHERE fact = f.key)
    FROM carray(?) c CROSS JOIN facts f ON f.id = c.value JOIN scopes s ON s.key = f.scope
    """
    rows = connection.execute(sql, (apsw.carray(tuple(ids)),)) if ids else ()
    profiles = [
        FactProfile(str(id), str(scope), frozenset(fact_sql.decode_tags(str(tags))), category, float(hours))
        for id, scope, category, hours, tags in rows
    ]
    return FactProfiles(tuple(profiles), fetch_active_hours(connection))


def fetch_scope_graph(connection: apsw.Connection, scope: str) -> ScopeGraph:
    """The graph of a scope: stored edges that conduct, and who mentions whom."""
    keys = fact_sql.fetch_scope_fact_keys(
        connection, connection.execute("SELECT key FROM scopes WHERE name = ?", (scope,)).get
    )
    facts: list[Any] = sorted(connection.execute(_SELECT_ACTIVE_FACTS, (apsw.carray(keys),))) if len(keys) else []
    stored = _fetch_link_array(connection, _SELECT_CONDUCTING_EDGES, (scope,))
    named = _fetch_link_array(connection, _SELECT_ABOUT_LINKS, (scope, MAX_NAME_HOLDERS))
    back = named[:, [1, 0, 2, 3]] * np.array([1, 1, BACKWARD_FACTOR, 1])
    pairs = np.concatenate([stored, stored[stored[:, 3] == 0][:, [1, 0, 2, 3]], named, back])
    source, target, weight = _keys_to_rows(np.array([key for _, key in facts], np.int64), pairs)
    return ScopeGraph(tuple(id for id, _ in facts), source, target, weight)


_SELECT_ACTIVE_FACTS = "SELECT f.id, f.key FROM carray(?) c CROSS JOIN facts f ON f.key = c.value WHERE NOT f.archived"


def _fetch_link_array(connection: apsw.Connection, sql: str, bound: tuple[Any, ...]) -> NDArray[np.float64]:
    """A row a link: source, target, weight, and 1 where it conducts one way only. A million of them are no objects of their own."""
    found: Any = connection.execute(sql, bound)
    return np.fromiter(chain.from_iterable(found), np.float64).reshape(-1, 4)


def _keys_to_rows(keys: NDArray[np.int64], pairs: NDArray[np.float64]) -> tuple[Any, Any, Any]:
    """Pairs of keys as pairs of rows, without those whose ends are not among the keys."""
    place = np.full(int(max(keys.max(initial=0), pairs[:, :2].max(initial=0))) + 1, -1, np.int64)
    place[keys] = np.arange(len(keys))
    source, target = place[pairs[:, 0].astype(np.int64)], place[pairs[:, 1].astype(np.int64)]
    known = (source >= 0) & (target >= 0)
    return source[known], target[known], pairs[known, 2].astype(np.float32)


def _format_kinds_sql(how: str) -> str:
    return ", ".join(f"'{name}'" for name, kind in EDGE_KINDS.items() if kind.conducts == how)


# The plus keeps from looking up edges fact by fact: it is quicker to go over all of them.
_SELECT_CONDUCTING_EDGES = f"""
SELECT source, target, coalesce(weight, {MISSING_WEIGHT}) * coalesce(confidence, {MISSING_CONFIDENCE}),
  kind IN ({_format_kinds_sql("forward")}) FROM
  (SELECT source, target, kind, weight, confidence FROM graph_edges WHERE ended IS NULL UNION ALL
   SELECT source, target, kind, weight, confidence FROM association_edges WHERE ended IS NULL)
WHERE kind NOT IN ({_format_kinds_sql("never")})
  AND +source IN (SELECT key FROM facts WHERE scope = (SELECT key FROM scopes WHERE name = ?))
"""
_SELECT_ABOUT_LINKS = """
SELECT m.fact, a.fact, a.strength * m.confidence / sqrt(n.mentioned + n.about), 0 FROM names n
JOIN scopes s ON s.key = n.scope JOIN subjects a ON a.name = n.key JOIN mentions m ON m.name = n.key AND m.fact <> a.fact
WHERE s.name = ? AND n.mentioned + n.about <= ?
"""


def fetch_importance(connection: apsw.Connection, ids: Sequence[str]) -> dict[str, FactImportance]:
    if not ids:
        return {}
    sql = """
    SELECT f.id, i.pagerank, i.community FROM carray(?) c CROSS JOIN facts f ON f.id = c.value
    JOIN fact_importance i ON i.fact = f.key
    """
    found = connection.execute(sql, (apsw.carray(tuple(ids)),))
    return {str(id): FactImportance(str(id), float(rank), int(community)) for id, rank, community in found}


def fetch_active_hours(connection: apsw.Connection) -> float:
    found = connection.execute(
        "SELECT hours_before + (ended - begun) / 3600000000.0 FROM active_spans ORDER BY ended DESC LIMIT 1"
    ).get
    return float(found or 0.0)


UNLIMITED_LINKS = 1_000_000


def expand_as_of(
    connection: apsw.Connection, live: LiveIndex, index: FactIndex, ids: Sequence[str], conducting: ExpansionOptions
) -> LinkExpansion:
    """The links that left these facts at the moment of the filter, over edges that had come by then and had not ended."""
    wanted = tuple(dict.fromkeys(ids))
    links = {id: fetch_links(connection, id, UNLIMITED_LINKS, conducting.where.as_of) for id in wanted}
    near = list(dict.fromkeys(get_other_end(id, link) for id, found in links.items() for link in found))
    positions = live.positions(connection, near)
    seen = positions[live.admitted(connection, conducting.where)[positions]]
    order = index.columns["hash"][seen].tolist()
    return build_expansion(wanted, links, conducting, dict(zip(lookup.list_ids(index, seen), order, strict=True)))


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
    """The links with ids for positions and texts for names. `known` holds the texts that were read before."""
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
    """The sentences of these facts that hold each word, one bit a sentence. All bits are set if a text was not split.

    No fact has the key 0. `known` holds what was read since the last change.
    """
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
