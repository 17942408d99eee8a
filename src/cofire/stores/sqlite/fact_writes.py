"""Apply a change: insert, reinforce, revise and remove facts. The caller owns the transaction."""

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
from cofire.index.terms import PackedTerms, hash_marks, merge_terms, pack_sentence_bits, pack_terms
from cofire.index.timestamps import to_microseconds, to_microseconds_or_none
from cofire.model import (
    Change,
    EdgeCounts,
    EdgeWrite,
    Fact,
    FactWrite,
    LinkBasis,
    RestoreSummary,
    ScopeSize,
    StoredFact,
    StoreRecord,
    WriteResult,
)
from cofire.stores.base import INCOMING_RECORD, MODEL_RECORD
from cofire.stores.edge_batch import to_edge_batch
from cofire.stores.fact_rows import past_to_json
from cofire.stores.rules import (
    drop_stale_dream_results,
    reject_duplicate_text,
    reject_forgotten_fact,
    reject_stale_facts,
)
from cofire.stores.sqlite import cascade, curation, edge_writes, fact_sql, learning
from cofire.stores.sqlite import graph_writes as graph
from cofire.stores.sqlite.index_changes import IndexChanges, PendingIndexChanges, begin_index_changes

_UPDATE_FACT = """
UPDATE facts SET hash = ?, text = ?, subject = ?, category = ?, at = ?, valid_from = ?, valid_until = ?, expires = ?,
  metadata = ?, terms = ?, counts = ?, length = ?, places = ?, inbox = 1, version = ? WHERE key = ?
"""
# What a fact has by what it says: its names, its vectors, its descriptions and those it gave words to.
_DELETE_DERIVED_ROWS = (
    "DELETE FROM mentions WHERE fact = ?",
    "DELETE FROM subjects WHERE fact = ?",
    "DELETE FROM vectors WHERE fact = ?",
    "DELETE FROM vectors_incoming WHERE fact = ?",
    "DELETE FROM descriptions WHERE fact = ?",
    "DELETE FROM citations WHERE fact = ?1 OR cited = ?1",
)


def revise_fact(connection: apsw.Connection, new: FactWrite, now: datetime, version: int) -> None:
    """Put a fact in the place of the one with its id. One that is gone meanwhile stays so."""
    found = connection.execute(fact_sql.SELECT_FACTS + " WHERE f.id = ?", (new.fact.id,)).get
    if found is None:
        return
    key, before, after = int(found[0]), fact_sql.decode_fact(found), new.fact
    reject_duplicate_text(connection.execute("SELECT id FROM facts WHERE hash = ?", (after.hash,)).get, after.id)
    connection.execute(
        "INSERT INTO fact_history(fact, until, said) VALUES (?, ?, ?)",
        (key, to_microseconds(now), past_to_json(before)),
    )
    if before.valid_until != after.valid_until:
        # An end that is given holds also where the fact comes back from those that took its place.
        connection.execute(
            "UPDATE superseded SET valid_until = ? WHERE old = ?", (to_microseconds_or_none(after.valid_until), key)
        )
    anew = before.reading != after.reading
    connection.execute(_UPDATE_FACT, (*_encode_revised_values(after), *_encode_search_columns(new), version, key))
    connection.execute("DELETE FROM tags WHERE fact = ?", (key,))
    connection.executemany("INSERT INTO tags(fact, tag) VALUES (?, ?)", [(key, tag) for tag in after.tags])
    fact_sql.replace_metadata(connection, key, after.metadata)
    if anew:
        _reset_derived_rows(connection, key, new, version)


def _reset_derived_rows(connection: apsw.Connection, key: int, new: FactWrite, version: int) -> None:
    """What hung on the old text goes, the words it gave to descriptions of others included."""
    cascade.remove_citations(connection, cascade.find_cited_descriptions(connection, [key]), version)
    for statement in _DELETE_DERIVED_ROWS:
        connection.execute(statement, (key,))
    scope = connection.execute("SELECT scope FROM facts WHERE key = ?", (key,)).get
    graph.write_names(connection, scope, [(key, new)])
    if new.vector is not None:
        connection.execute("INSERT INTO vectors(fact, vector) VALUES (?, ?)", (key, new.vector))


def _encode_revised_values(after: Fact) -> tuple[Any, ...]:
    moments = (after.at, after.valid_from, after.valid_until, after.expires)
    times = [to_microseconds_or_none(moment) for moment in moments]
    return after.hash, after.text, after.subject, after.category, *times, fact_sql.encode_metadata(after)


def _encode_search_columns(new: FactWrite) -> tuple[bytes, bytes, int, bytes]:
    """What search looks at."""
    held = pack_terms(new.counts, hash_marks(new.fact))
    return held.terms, held.counts, sum(new.counts.values()), pack_sentence_bits(new.places)


# How many versions back it is still told which facts were removed; an index that is older than that is loaded anew.
MAX_REMOVAL_VERSIONS = 10_000


@dataclass
class WriteTransactionState:
    """What a transaction has touched so far. `ends` are the keys and scopes of new facts by their ids."""

    version: int
    epoch: str
    now: datetime
    notes: PendingIndexChanges
    ends: dict[str, tuple[int, int]] = field(default_factory=dict)
    scopes: dict[str, int] = field(default_factory=dict)
    positions: dict[tuple[int, str], int] = field(default_factory=dict)
    follows: list[EdgeWrite] = field(default_factory=list)


def apply_change(
    connection: apsw.Connection, change: Change, expects: Mapping[str, int]
) -> tuple[WriteResult, IndexChanges | None]:
    """Write everything but recounts, which need the index. Returns also what that is to an index, where it need not be read."""
    change = _check_change(connection, change, expects)
    version, epoch = connection.execute("UPDATE state SET version = version + 1 RETURNING version, epoch").get
    ledger = WriteTransactionState(version, epoch, change.now, begin_index_changes(change))
    model = read_model(connection, MODEL_RECORD) if change.adopt_vectors else None
    write_records(connection, change.records)
    hours = None if change.idle_minutes is None else graph.advance_clock(connection, change.now, change.idle_minutes)
    stored = _write_facts(connection, change, ledger, hours or 0.0)
    taken = cascade.collect_cascade(connection, change.removals) if change.removals else None
    removed = _remove_facts(connection, change.removals, ledger)
    cascade.remove_citations(connection, taken.rows.get(cascade.CITED_KEY, ()) if taken else (), version)
    put_back = _restore_removed(connection, change, ledger)
    if change.pins:
        _pin_facts(connection, change.pins, ledger)
    for revised in change.revisions:
        revise_fact(connection, revised, change.now, version)
    if change.vectors:
        _write_incoming_vectors(connection, change)
    if change.adopt_vectors:
        _adopt_vectors(connection, model)
    edges = _write_graph(connection, change, ledger)
    faded = curation.write_curation(connection, change, version)
    learned = learning.write_learning(connection, change, version)
    for scope in change.recount:
        ledger.scopes.setdefault(scope, ensure_scope_key(connection, scope))
    sizes = {name: read_scope_size(connection, key) for name, key in ledger.scopes.items()}
    written = WriteResult(stored, removed, edges + faded + learned, sizes, taken, put_back)
    return written, ledger.notes.news(epoch, version) if ledger.notes.whole else None


def _check_change(connection: apsw.Connection, change: Change, expects: Mapping[str, int]) -> Change:
    """A change as far as it still holds; refused where it rests on what others have changed."""
    check_record_versions(connection, expects)
    if change.as_read:
        reject_stale_facts(change.as_read, fact_sql.fetch_facts(connection, change.as_read))
    return (
        drop_stale_dream_results(change, _fetch_dream_inputs(connection, change.dreamed)) if change.dreamed else change
    )


def _fetch_dream_inputs(connection: apsw.Connection, ids: Iterable[str]) -> dict[str, LinkBasis]:
    found: Any = connection.execute(_SELECT_DREAM_INPUTS, (apsw.carray(tuple(ids)),))
    return {id: (hash, category, frozenset(fact_sql.decode_tags(tags))) for id, hash, category, tags in found}


_SELECT_DREAM_INPUTS = """
SELECT f.id, f.hash, f.category, (SELECT json_group_array(tag) FROM tags WHERE fact = f.key)
FROM carray(?) c CROSS JOIN facts f ON f.id = c.value
"""


def _pin_facts(connection: apsw.Connection, pins: Mapping[str, bool], ledger: WriteTransactionState) -> None:
    connection.executemany(
        "UPDATE facts SET pinned = ?1, version = ?2 WHERE id = ?3 AND pinned <> ?1",
        [(int(pinned), ledger.version, id) for id, pinned in pins.items()],
    )


def _restore_removed(connection: apsw.Connection, change: Change, ledger: WriteTransactionState) -> RestoreSummary:
    if change.put_back is None or not change.put_back.rows:
        return RestoreSummary()
    back = cascade.restore_rows(connection, change.put_back.rows, ledger.version)
    for row in change.put_back.rows[cascade.FACTS_TABLE]:
        ledger.scopes[row["scope"]] = ensure_scope_key(connection, row["scope"])
    return back


def _write_graph(connection: apsw.Connection, change: Change, ledger: WriteTransactionState) -> EdgeCounts:
    version = ledger.version
    graph.add_mentions(connection, change.mentions, version)
    batch = to_edge_batch([*ledger.follows, *change.edges] if ledger.follows else change.edges)
    known = graph.read_description_states(connection, {one.fact for one in change.descriptions})
    ends = ledger.ends | {id: (one.key, one.scope) for id, one in known.items()}
    connected = batch.connected_ids().union(*((one.fact, *one.cites) for one in change.descriptions))
    ends |= edge_writes.fetch_keys_and_scopes(connection, connected - ends.keys())
    ledger.notes.hints = graph.write_descriptions(
        connection, change.descriptions, known, ends, version=version, now=change.now
    )
    if change.dreamed:
        graph.mark_dreamed(connection, change.dreamed)
    if change.importance is not None:
        graph.write_importance(connection, change.importance)
    ended = edge_writes.end_edges(connection, change.ended, version, change.now)
    written = edge_writes.write_edges(connection, batch, version, change.now, facts=ends)
    return written + EdgeCounts(ended=ended)


def check_record_versions(connection: apsw.Connection, expects: Mapping[str, int]) -> None:
    for name, version in expects.items():
        found = connection.execute("SELECT version FROM records WHERE name = ?", (name,)).get or 0
        if found != version:
            raise Conflict(
                f"The record {name} is at version {found}, not {version}: somebody else wrote in between.",
                way_out="Read it again and try once more.",
            )


def write_records(connection: apsw.Connection, records: tuple[StoreRecord, ...]) -> None:
    for record in records:
        before = read_record_value(connection, record.name)
        if record.name == INCOMING_RECORD and before != record.value:
            connection.execute("DELETE FROM vectors_incoming")
        if record.name == MODEL_RECORD and before != record.value:
            start_new_epoch(connection)
        connection.execute(
            "INSERT INTO records(name, version, value) VALUES (?, 1, ?) "
            "ON CONFLICT(name) DO UPDATE SET version = version + 1, value = excluded.value",
            (record.name, record.value),
        )


def read_record_value(connection: apsw.Connection, name: str) -> bytes | None:
    found: bytes | None = connection.execute("SELECT value FROM records WHERE name = ?", (name,)).get
    return found


def read_model(connection: apsw.Connection, name: str) -> Model | None:
    """The model that a record names."""
    value = read_record_value(connection, name)
    return StoredModel.decode(value).model if value else None


def ensure_scope_key(connection: apsw.Connection, name: str) -> int:
    found = connection.execute("SELECT key FROM scopes WHERE name = ?", (name,)).get
    if found is None:
        found = connection.execute("INSERT INTO scopes(name) VALUES (?) RETURNING key", (name,)).get
    return int(found)


def read_scope_size(connection: apsw.Connection, scope: int) -> ScopeSize:
    row = connection.execute(
        "SELECT s.facts, coalesce(w.facts, 0) FROM scopes s LEFT JOIN word_statistics w ON w.scope = s.key WHERE s.key = ?",
        (scope,),
    ).get
    return ScopeSize(row[0], row[1])


def start_new_epoch(connection: apsw.Connection) -> None:
    """Everybody's index must be read anew."""
    connection.execute("UPDATE state SET epoch = ?", (secrets.token_hex(8),))


def _write_facts(
    connection: apsw.Connection, change: Change, ledger: WriteTransactionState, hours: float
) -> tuple[StoredFact, ...]:
    hashes = [new.fact.hash for new in change.facts]
    known = set(find_ids_by_hash(connection, hashes))
    stored, fresh = [], list[tuple[int, FactWrite]]()
    for new, hash in zip(change.facts, hashes, strict=True):
        if hash in known:
            stored.append(_reinforce_fact(connection, new, ledger, hours))
            ledger.notes.whole = False
        else:
            reject_forgotten_fact(new)
            fresh.append((_insert_fact(connection, new, hash, ledger, hours), new))
            stored.append(StoredFact(new.fact.id, fresh=True))
            known.add(hash)
    if fresh:
        _write_fact_details(connection, fresh, ledger)
        _write_fact_links(connection, change, fresh, ledger)
    return tuple(stored)


def _write_fact_details(
    connection: apsw.Connection, fresh: Sequence[tuple[int, FactWrite]], ledger: WriteTransactionState
) -> None:
    """What new facts have in tables of their own, and their number in each scope."""
    _write_tags(connection, [(key, tag) for key, new in fresh for tag in new.fact.tags])
    fact_sql.insert_metadata(connection, [(key, new.fact.metadata) for key, new in fresh])
    vectors = [(key, new.vector) for key, new in fresh if new.vector is not None]
    if vectors:
        connection.executemany("INSERT INTO vectors(fact, vector) VALUES (?, ?)", vectors)
    for scope, count in Counter(new.fact.scope for _, new in fresh).items():
        connection.execute("UPDATE scopes SET facts = facts + ? WHERE key = ?", (count, ledger.scopes[scope]))


def _write_fact_links(
    connection: apsw.Connection, change: Change, fresh: Sequence[tuple[int, FactWrite]], ledger: WriteTransactionState
) -> None:
    """What new facts bring to the graph by themselves: names, and the turns they follow."""
    for scope in {new.fact.scope for _, new in fresh}:
        some = [pair for pair in fresh if pair[1].fact.scope == scope]
        told = graph.write_names(connection, ledger.scopes[scope], some)
        if ledger.notes.whole:
            ledger.notes.names(*told)
    turns = [key for key, new in fresh if new.fact.session is not None]
    if change.reach and turns:
        ledger.follows = edge_writes.find_follows_edges(connection, turns, change.reach, change.now)


def find_ids_by_hash(connection: apsw.Connection, hashes: Sequence[bytes]) -> dict[bytes, str]:
    """The ids of the facts that have these content hashes."""
    if not hashes:
        return {}
    if len(hashes) == 1:
        found: Any = connection.execute("SELECT hash, id FROM facts WHERE hash = ?", hashes)
    else:
        sql = "SELECT f.hash, f.id FROM carray(?) c JOIN facts f ON f.hash = c.value"
        found = connection.execute(sql, (apsw.carray(tuple(hashes)),))
    return dict(found)


def _insert_fact(
    connection: apsw.Connection, new: FactWrite, hash: bytes, ledger: WriteTransactionState, hours: float
) -> int:
    scope = ledger.scopes.get(new.fact.scope) or ensure_scope_key(connection, new.fact.scope)
    ledger.scopes[new.fact.scope] = scope
    position = _next_position(connection, scope, new.fact.session, ledger)
    told = fact_sql.encode_insert_values(new, hash, scope, position, hours=hours, version=ledger.version)
    connection.execute(fact_sql.INSERT_FACT, told)
    key = int(connection.last_insert_rowid())
    ledger.ends[new.fact.id] = key, scope
    if ledger.notes.whole:
        ledger.notes.rows.append(fact_sql.build_index_row(key, told, new.vector))
    return key


def _reinforce_fact(
    connection: apsw.Connection, new: FactWrite, ledger: WriteTransactionState, hours: float
) -> StoredFact:
    known = connection.execute(fact_sql.SELECT_FACTS + " WHERE f.hash = ?", (new.fact.hash,)).get
    before = fact_sql.decode_fact(known)
    after = before.observed_again(new.fact, ledger.now)
    stored = connection.execute("SELECT terms, counts FROM facts WHERE key = ?", (known[0],)).get
    held, added = merge_terms(PackedTerms(*stored), new.counts, hash_marks(after))
    connection.execute(
        fact_sql.REINFORCE_FACT,
        (
            after.category,
            after.source,
            fact_sql.encode_metadata(after),
            to_microseconds_or_none(after.valid_from),
            to_microseconds_or_none(after.valid_until),
            to_microseconds_or_none(after.expires),
            after.reinforced,
            to_microseconds_or_none(after.reinforced_at),
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
        fact_sql.replace_metadata(connection, known[0], after.metadata)
    ledger.scopes[before.scope] = ensure_scope_key(connection, before.scope)
    return StoredFact(before.id, fresh=False)


def _next_position(
    connection: apsw.Connection, scope: int, session: str | None, ledger: WriteTransactionState
) -> int | None:
    if session is None:
        return None
    if (scope, session) not in ledger.positions:
        last = connection.execute(_SELECT_LAST_POSITION, (scope, session)).get
        ledger.positions[scope, session] = -1 if last is None else int(last)
    ledger.positions[scope, session] += 1
    return ledger.positions[scope, session]


# Not max(): that would walk the whole session.
_SELECT_LAST_POSITION = "SELECT position FROM facts WHERE scope = ? AND session = ? ORDER BY position DESC LIMIT 1"


def _write_tags(connection: apsw.Connection, tags: Sequence[tuple[int, str]]) -> None:
    if tags:
        connection.executemany("INSERT OR IGNORE INTO tags(fact, tag) VALUES (?, ?)", tags)


def _remove_facts(connection: apsw.Connection, ids: Sequence[str], ledger: WriteTransactionState) -> int:
    if not ids:
        return 0
    removed = sum(_remove_fact(connection, id, ledger) for id in ids)
    connection.execute(_DELETE_OLD_REMOVALS, (ledger.version - MAX_REMOVAL_VERSIONS,))
    return removed


# What a snapshot does not know of yet stays noted for those who will load it, the latest for those who have the store open.
_DELETE_OLD_REMOVALS = "DELETE FROM removed WHERE version <= min(?1, coalesce((SELECT version FROM snapshots), ?1))"


def _remove_fact(connection: apsw.Connection, id: str, ledger: WriteTransactionState) -> int:
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


def _write_incoming_vectors(connection: apsw.Connection, change: Change) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO vectors_incoming(fact, vector) SELECT key, ? FROM facts WHERE id = ?",
        ((vector, id) for id, vector in change.vectors.items()),
    )


def _adopt_vectors(connection: apsw.Connection, before: Model | None) -> None:
    """The vectors that were moving in become the store's own, if they are of its model; those of another model go.

    A fact with a vector where there was none can be compared anew, so it waits for a dream again.
    """
    after = read_model(connection, MODEL_RECORD)
    if before is not None and before != after:
        connection.execute("DELETE FROM vectors; UPDATE word_statistics SET sample = x'', version = version + 1")
    if read_model(connection, INCOMING_RECORD) == after:
        connection.execute(
            "UPDATE facts SET inbox = 1 WHERE key IN (SELECT fact FROM vectors_incoming) "
            "AND key NOT IN (SELECT fact FROM vectors)"
        )
        connection.execute("INSERT OR REPLACE INTO vectors(fact, vector) SELECT fact, vector FROM vectors_incoming")
    connection.execute("DELETE FROM vectors_incoming")
    connection.execute("DELETE FROM records WHERE name = ?", (INCOMING_RECORD,))
    start_new_epoch(connection)
