"""Writing: what one change does to the tables, inside a transaction that somebody else opened."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import apsw

from cofire.embedders.base import Model, StoredModel
from cofire.errors import Conflict
from cofire.model import Change, Drawn, EdgeCounts, NewFact, Record, ScopeSize, Stored, Written
from cofire.revising import PutBack
from cofire.sheaves import connected
from cofire.stores.base import INCOMING_RECORD, MODEL_RECORD
from cofire.stores.index.moments import stamp_or_none
from cofire.stores.index.terms import Held, joined, marks
from cofire.stores.refusing import refuse_forgotten, refuse_overtaken, still_true
from cofire.stores.sqlite import citing, curating, edge_writing, learning, metadata_values, revising, rows, taking
from cofire.stores.sqlite import graph_writing as graph
from cofire.stores.sqlite.noting import News, Notes, notes_of

# How many versions back it is still told which facts were removed; an index that is older than that is loaded anew.
KEPT_REMOVALS = 10_000


@dataclass
class Ledger:
    """What a transaction has touched so far. `ends` are the keys and scopes of new facts by their ids."""

    version: int
    epoch: str
    now: datetime
    notes: Notes
    ends: dict[str, tuple[int, int]] = field(default_factory=dict)
    scopes: dict[str, int] = field(default_factory=dict)
    positions: dict[tuple[int, str], int] = field(default_factory=dict)
    followed: int = 0


def apply(connection: apsw.Connection, change: Change, expects: Mapping[str, int]) -> tuple[Written, News | None]:
    """Write everything but recounts, which need the index. Returns also what that is to an index, where it need not be read."""
    change = _checked(connection, change, expects)
    version, epoch = connection.execute("UPDATE state SET version = version + 1 RETURNING version, epoch").get
    ledger = Ledger(version, epoch, change.now, notes_of(change))
    model = model_of(connection, MODEL_RECORD) if change.adopt_vectors else None
    write_records(connection, change.records)
    hours = None if change.idle_minutes is None else graph.run_clock(connection, change.now, change.idle_minutes)
    stored = _write_facts(connection, change, ledger, hours or 0.0)
    taken = taking.taken(connection, change.removals) if change.removals else None
    removed = _remove_facts(connection, change.removals, ledger)
    citing.scrub(connection, taken.rows.get(taking.CITED, ()) if taken else (), version)
    put_back = _put_back(connection, change, ledger)
    if change.pins:
        _pin(connection, change.pins, ledger)
    for revised in change.revisions:
        revising.revise(connection, revised, change.now, version)
    if change.vectors:
        _write_incoming(connection, change)
    if change.adopt_vectors:
        _adopt(connection, model)
    edges = _write_graph(connection, change, ledger)
    faded = curating.write_curation(connection, change, version)
    learned = learning.write_learning(connection, change, version)
    for scope in change.recount:
        ledger.scopes.setdefault(scope, scope_key(connection, scope))
    sizes = {name: size(connection, key) for name, key in ledger.scopes.items()}
    new, changed = edges.new + ledger.followed + learned.new, edges.changed + faded.changed + learned.changed
    written = Written(stored, removed, EdgeCounts(new, changed, edges.ended + faded.ended), sizes, taken, put_back)
    return written, ledger.notes.news(epoch, version) if ledger.notes.whole else None


def _checked(connection: apsw.Connection, change: Change, expects: Mapping[str, int]) -> Change:
    """A change as far as it still holds; refused where it rests on what others have changed."""
    check_expectations(connection, expects)
    if change.as_read:
        refuse_overtaken(change.as_read, rows.facts(connection, change.as_read))
    return still_true(change, _drawn_from(connection, change.dreamed)) if change.dreamed else change


def _drawn_from(connection: apsw.Connection, ids: Iterable[str]) -> dict[str, Drawn]:
    found: Any = connection.execute(_DRAWN_FROM, (apsw.carray(tuple(ids)),))
    return {id: (hash, category, frozenset(rows.listed(tags))) for id, hash, category, tags in found}


_DRAWN_FROM = """
SELECT f.id, f.hash, f.category, (SELECT json_group_array(tag) FROM tags WHERE fact = f.key)
FROM carray(?) c CROSS JOIN facts f ON f.id = c.value
"""


def _pin(connection: apsw.Connection, pins: Mapping[str, bool], ledger: Ledger) -> None:
    connection.executemany(
        "UPDATE facts SET pinned = ?1, version = ?2 WHERE id = ?3 AND pinned <> ?1",
        [(int(pinned), ledger.version, id) for id, pinned in pins.items()],
    )


def _put_back(connection: apsw.Connection, change: Change, ledger: Ledger) -> PutBack:
    if change.put_back is None or not change.put_back.rows:
        return PutBack()
    back = taking.put_back(connection, change.put_back.rows, ledger.version)
    for row in change.put_back.rows[taking.FACTS]:
        ledger.scopes[row["scope"]] = scope_key(connection, row["scope"])
    return back


def _write_graph(connection: apsw.Connection, change: Change, ledger: Ledger) -> EdgeCounts:
    version = ledger.version
    graph.add_mentions(connection, change.mentions, version)
    known = graph.so_far(connection, {one.fact for one in change.descriptions})
    ends = ledger.ends | {id: (one.key, one.scope) for id, one in known.items()}
    ends |= edge_writing.ends_of(connection, _connected(change) - ends.keys())
    ledger.notes.hints = graph.write_descriptions(
        connection, change.descriptions, known, ends, version=version, now=change.now
    )
    if change.dreamed:
        graph.mark_dreamed(connection, change.dreamed)
    if change.importance is not None:
        graph.write_importance(connection, change.importance)
    return edge_writing.write_edges(
        connection, change.edges, change.ended, version, change.now, ends=ends, fresh=ledger.ends
    )


def _connected(change: Change) -> set[str]:
    """The facts that new edges and descriptions connect."""
    ids = connected(change.edges)
    for one in change.descriptions:
        ids.add(one.fact)
        ids.update(one.cites)
    return ids


def check_expectations(connection: apsw.Connection, expects: Mapping[str, int]) -> None:
    for name, version in expects.items():
        found = connection.execute("SELECT version FROM records WHERE name = ?", (name,)).get or 0
        if found != version:
            raise Conflict(
                f"The record {name} is at version {found}, not {version}: somebody else wrote in between.",
                way_out="Read it again and try once more.",
            )


def write_records(connection: apsw.Connection, records: tuple[Record, ...]) -> None:
    for record in records:
        before = record_value(connection, record.name)
        if record.name == INCOMING_RECORD and before != record.value:
            connection.execute("DELETE FROM vectors_incoming")
        if record.name == MODEL_RECORD and before != record.value:
            new_epoch(connection)
        connection.execute(
            "INSERT INTO records(name, version, value) VALUES (?, 1, ?) "
            "ON CONFLICT(name) DO UPDATE SET version = version + 1, value = excluded.value",
            (record.name, record.value),
        )


def record_value(connection: apsw.Connection, name: str) -> bytes | None:
    found: bytes | None = connection.execute("SELECT value FROM records WHERE name = ?", (name,)).get
    return found


def model_of(connection: apsw.Connection, name: str) -> Model | None:
    """The model that a record names."""
    value = record_value(connection, name)
    return StoredModel.decode(value).model if value else None


def scope_key(connection: apsw.Connection, name: str) -> int:
    found = connection.execute("SELECT key FROM scopes WHERE name = ?", (name,)).get
    if found is None:
        found = connection.execute("INSERT INTO scopes(name) VALUES (?) RETURNING key", (name,)).get
    return int(found)


def size(connection: apsw.Connection, scope: int) -> ScopeSize:
    row = connection.execute(
        "SELECT s.facts, coalesce(w.facts, 0) FROM scopes s LEFT JOIN word_statistics w ON w.scope = s.key WHERE s.key = ?",
        (scope,),
    ).get
    return ScopeSize(row[0], row[1])


def new_epoch(connection: apsw.Connection) -> None:
    """Everybody's index must be read anew."""
    connection.execute("UPDATE state SET epoch = ?", (secrets.token_hex(8),))


def _write_facts(connection: apsw.Connection, change: Change, ledger: Ledger, hours: float) -> tuple[Stored, ...]:
    hashes = [new.fact.hash for new in change.facts]
    known = set(recognised(connection, hashes))
    stored, fresh = [], list[tuple[int, NewFact]]()
    for new, hash in zip(change.facts, hashes, strict=True):
        if hash in known:
            stored.append(_reinforce(connection, new, ledger, hours))
            ledger.notes.whole = False
        else:
            refuse_forgotten(new)
            fresh.append((_insert(connection, new, hash, ledger, hours), new))
            stored.append(Stored(new.fact.id, fresh=True))
            known.add(hash)
    if fresh:
        _furnish(connection, fresh, ledger)
        _wire(connection, change, fresh, ledger)
    return tuple(stored)


def _furnish(connection: apsw.Connection, fresh: Sequence[tuple[int, NewFact]], ledger: Ledger) -> None:
    """What new facts have in tables of their own, and their number in each scope."""
    _write_tags(connection, [(key, tag) for key, new in fresh for tag in new.fact.tags])
    metadata_values.write(connection, [(key, new.fact.metadata) for key, new in fresh])
    vectors = [(key, new.vector) for key, new in fresh if new.vector is not None]
    if vectors:
        connection.executemany("INSERT INTO vectors(fact, vector) VALUES (?, ?)", vectors)
    for scope, count in Counter(new.fact.scope for _, new in fresh).items():
        connection.execute("UPDATE scopes SET facts = facts + ? WHERE key = ?", (count, ledger.scopes[scope]))


def _wire(connection: apsw.Connection, change: Change, fresh: Sequence[tuple[int, NewFact]], ledger: Ledger) -> None:
    """What new facts bring to the graph by themselves: names, and the turns they follow."""
    for scope in {new.fact.scope for _, new in fresh}:
        some = [pair for pair in fresh if pair[1].fact.scope == scope]
        told = graph.write_names(connection, ledger.scopes[scope], some)
        if ledger.notes.whole:
            ledger.notes.names(*told)
    turns = [key for key, new in fresh if new.fact.session is not None]
    if change.reach and turns:
        ledger.followed += edge_writing.write_follows(connection, turns, change.reach, ledger.version, change.now)


def recognised(connection: apsw.Connection, hashes: Sequence[bytes]) -> dict[bytes, str]:
    """The ids of the facts that have these content hashes."""
    if not hashes:
        return {}
    if len(hashes) == 1:
        found: Any = connection.execute("SELECT hash, id FROM facts WHERE hash = ?", hashes)
    else:
        sql = "SELECT f.hash, f.id FROM carray(?) c JOIN facts f ON f.hash = c.value"
        found = connection.execute(sql, (apsw.carray(tuple(hashes)),))
    return dict(found)


def _insert(connection: apsw.Connection, new: NewFact, hash: bytes, ledger: Ledger, hours: float) -> int:
    scope = ledger.scopes.get(new.fact.scope) or scope_key(connection, new.fact.scope)
    ledger.scopes[new.fact.scope] = scope
    position = _next_position(connection, scope, new.fact.session, ledger)
    told = rows.insertion(new, hash, scope, position, hours=hours, version=ledger.version)
    connection.execute(rows.INSERT, told)
    key = int(connection.last_insert_rowid())
    ledger.ends[new.fact.id] = key, scope
    if ledger.notes.whole:
        ledger.notes.rows.append(rows.inserted_row(key, told, new.vector))
    return key


def _reinforce(connection: apsw.Connection, new: NewFact, ledger: Ledger, hours: float) -> Stored:
    known = connection.execute(rows.SELECT + " WHERE f.hash = ?", (new.fact.hash,)).get
    before = rows.fact(known)
    after = before.observed_again(new.fact, ledger.now)
    stored = connection.execute("SELECT terms, counts FROM facts WHERE key = ?", (known[0],)).get
    held, added = joined(Held(*stored), new.counts, marks(after))
    connection.execute(
        rows.REINFORCE,
        (
            after.category,
            after.source,
            rows.metadata(after),
            stamp_or_none(after.valid_from),
            stamp_or_none(after.valid_until),
            stamp_or_none(after.expires),
            after.reinforced,
            stamp_or_none(after.reinforced_at),
            held.terms,
            held.counts,
            added,
            hours,
            ledger.version,
            known[0],
        ),
    )
    _write_tags(connection, [(known[0], tag) for tag in after.tags])
    if after.metadata != before.metadata:
        metadata_values.rewrite(connection, known[0], after.metadata)
    ledger.scopes[before.scope] = scope_key(connection, before.scope)
    return Stored(before.id, fresh=False)


def _next_position(connection: apsw.Connection, scope: int, session: str | None, ledger: Ledger) -> int | None:
    if session is None:
        return None
    if (scope, session) not in ledger.positions:
        last = connection.execute(_LAST_POSITION, (scope, session)).get
        ledger.positions[scope, session] = -1 if last is None else int(last)
    ledger.positions[scope, session] += 1
    return ledger.positions[scope, session]


# Not max(): that would walk the whole session.
_LAST_POSITION = "SELECT position FROM facts WHERE scope = ? AND session = ? ORDER BY position DESC LIMIT 1"


def _write_tags(connection: apsw.Connection, tags: Sequence[tuple[int, str]]) -> None:
    if tags:
        connection.executemany("INSERT OR IGNORE INTO tags(fact, tag) VALUES (?, ?)", tags)


def _remove_facts(connection: apsw.Connection, ids: Sequence[str], ledger: Ledger) -> int:
    if not ids:
        return 0
    removed = sum(_remove_fact(connection, id, ledger) for id in ids)
    connection.execute(_PRUNE, (ledger.version - KEPT_REMOVALS,))
    return removed


# What a snapshot does not know of yet stays noted for those who will load it, the latest for those who have the store open.
_PRUNE = "DELETE FROM removed WHERE version <= min(?1, coalesce((SELECT version FROM snapshots), ?1))"


def _remove_fact(connection: apsw.Connection, id: str, ledger: Ledger) -> int:
    found = connection.execute(
        "SELECT f.key, f.scope, s.name FROM facts f JOIN scopes s ON s.key = f.scope WHERE f.id = ?", (id,)
    ).fetchone()
    if found is None:
        return 0
    key, scope, name = found
    connection.execute("DELETE FROM facts WHERE key = ?", (key,))
    connection.execute("INSERT INTO removed(version, fact) VALUES (?, ?)", (ledger.version, key))
    connection.execute("UPDATE scopes SET facts = facts - 1 WHERE key = ?", (scope,))
    ledger.scopes[name] = scope
    ledger.ends.pop(id, None)
    return 1


def _write_incoming(connection: apsw.Connection, change: Change) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO vectors_incoming(fact, vector) SELECT key, ? FROM facts WHERE id = ?",
        ((vector, id) for id, vector in change.vectors.items()),
    )


def _adopt(connection: apsw.Connection, before: Model | None) -> None:
    """The vectors that were moving in become the store's own, if they are of its model; those of another model go.

    A fact with a vector where there was none can be compared anew, so it waits for a dream again.
    """
    after = model_of(connection, MODEL_RECORD)
    if before is not None and before != after:
        connection.execute("DELETE FROM vectors; UPDATE word_statistics SET sample = x'', version = version + 1")
    if model_of(connection, INCOMING_RECORD) == after:
        connection.execute(
            "UPDATE facts SET inbox = 1 WHERE key IN (SELECT fact FROM vectors_incoming) "
            "AND key NOT IN (SELECT fact FROM vectors)"
        )
        connection.execute("INSERT OR REPLACE INTO vectors(fact, vector) SELECT fact, vector FROM vectors_incoming")
    connection.execute("DELETE FROM vectors_incoming")
    connection.execute("DELETE FROM records WHERE name = ?", (INCOMING_RECORD,))
    new_epoch(connection)
