"""A memory is copied from store to store and stays the same to the last byte, even when the copy is stopped on its way."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cofire import Memory
from cofire.embedders.base import StoredModel
from cofire.errors import Conflict, OtherModel
from cofire.model import Change, StoreRecord
from cofire.stores.base import INCOMING_RECORD, MODEL_RECORD, Store
from cofire.stores.curation_rows import ContradictionReview, CurationChange
from cofire.stores.neo4j import transfer_format
from cofire.stores.neo4j.store import Neo4jStore
from cofire.stores.sqlite.store import SqliteStore
from cofire.stores.transfer_format import TRANSFER_COLUMNS, TransferableStore, TransferBatch
from cofire.verbs import transfer
from cofire.verbs.remember import Progress
from cofire.verbs.transfer import CopyResult
from scripts.house import ROOT
from tests.conftest import START, Clock, HashedWords, Lent, sqlite_store
from tests.neo4j_server import empty, empty_store, in_turn

NOW = datetime(2026, 9, 1, tzinfo=UTC)
QUESTIONS = [
    "Who moved to Porto?",
    "green tea in Porto on day 5",
    "the pool of connections",
    "PgBouncer transaction mode",
    "nothing of this",
]


def make_store(folder: Path, name: str) -> SqliteStore:
    (folder / name).mkdir()
    return sqlite_store(folder / name)


@pytest.fixture
def source(tmp_path: Path) -> Iterator[SqliteStore]:
    """A file with a memory that has been used in every way there is."""
    store = make_store(tmp_path, "source")
    live(store)
    yield store
    store.close()


@pytest.fixture
def target(tmp_path: Path) -> Iterator[SqliteStore]:
    store = make_store(tmp_path, "target")
    yield store
    store.close()


@pytest.fixture
def server(neo4j_url: str) -> Iterator[Neo4jStore]:
    store = empty_store()
    yield store
    store.close()


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "COPY_BATCH", 4)


def live(store: Store) -> None:
    """Facts of two scopes: connected, dreamed, changed, judged, archived, superseded, half moved to another model."""
    clock = Clock()
    memory = Memory(Lent(store), embedder=HashedWords(), clock=clock, settings={"auto_link.threshold": 0.7})
    memory.configure("recall.k", 7)
    told: dict[str, Any] = {"session": "talk", "tags": ["home", "green tea"]}
    ids = memory.remember([f"Ana drank green tea in Porto on day {day}." for day in range(9)], **told)
    moved = memory.remember("Ana moved to Porto & <loves> it.", at=START, speaker="Ana", metadata={"n": [1, "ü"]})
    pool = memory.remember("PgBouncer needs transaction mode.", subject="Connection pool", category="how-to")
    memory.remember("Elsewhere Ana sleeps.", scope="other", valid_until=NOW, expires=NOW + timedelta(days=900))
    memory.remember("Ana drank green tea in Porto on day 3.", **told)
    memory.dream()
    memory.connect(moved, pool, kind="causes", weight=1, confidence=0.6, tags=["move"])
    memory.connect(moved, ids[0], kind="reminds of", weight=0.25)
    memory.update(ids[1], text="Ana drank black tea in Braga.", tags=["braga"])
    memory.archive(ids[2])
    memory.pin(pool)
    memory.supersede(ids[3], ids[4])
    for session in ("one", "two"):
        with Memory(Lent(store), embedder=HashedWords(), clock=clock, session=session) as other:
            found = other.recall("green tea in Porto on day 5")
            other.feedback(found, helped=found.ids[0], hurt=found.ids[-1])
        clock.now += timedelta(days=1)
    reviews = (
        ContradictionReview(ids[5], ids[6], "they disagree"),
        ContradictionReview(ids[6], ids[7], "so do these", "dismissed"),
    )
    store.write(Change(now=clock(), curation=CurationChange(reviews=reviews)), {})
    move_in_halfway(store, ids)
    memory.remember("Told after words were counted, and not dreamed of.", session="talk")
    [edge] = [edge for edge in memory.edges() if edge.kind == "reminds of"]
    store.write(Change(now=clock(), ended=(edge,)), {})


def move_in_halfway(store: Store, ids: list[str]) -> None:
    """Vectors of another model are on their way in."""
    record = store.read_record(MODEL_RECORD)
    assert record is not None
    stored = StoredModel.decode(record.value)
    incoming = StoredModel(HashedWords("newer").model, stored.mean, stored.resting, stored.silent_below)
    store.write(Change(now=NOW, records=(StoreRecord(INCOMING_RECORD, incoming.encode()),)), {})
    store.write(Change(now=NOW, vectors={ids[0]: bytes(range(64)), ids[1]: bytes(64)}), {})


def run(source: TransferableStore, target: TransferableStore) -> CopyResult:
    return transfer.copy(source, target, now=NOW, advance=lambda step: None)


def answers(store: Any) -> list[list[tuple[str, float]]]:
    """What recall finds, with scores, in modes that use every part of the graph."""
    memory = Memory(Lent(store), embedder=HashedWords(), clock=lambda: NOW)
    return [
        [(hit.id, hit.score) for hit in memory.recall(question, mode=mode, scope=["default", "other"])]
        for question in QUESTIONS
        for mode in ("full", "graph")
    ]


class Stopping(Lent):
    """A store that takes in so many batches, and then is out of reach."""

    def __init__(self, store: Any, batches: int) -> None:
        super().__init__(store)
        self.batches = batches

    def import_facts(self, batch: TransferBatch, now: datetime) -> None:
        if self.batches == 0:
            raise ConnectionResetError
        self.batches -= 1
        super().__getattr__("import_facts")(batch, now)


def test_the_life_of_the_source_leaves_no_kind_of_row_out(source: SqliteStore, target: SqliteStore) -> None:
    assert [table for table, rows in run(source, target).tally.rows.items() if not rows] == []


def test_a_copy_in_a_file_is_the_same_and_answers_the_same(source: SqliteStore, target: SqliteStore) -> None:
    done = run(source, target)
    assert (done.copied, done.there) == (13, 0)
    assert done.tally.scopes == {"default": 12, "other": 1}
    assert target.check() == []
    assert answers(target) == answers(source)
    assert sum(map(bool, answers(source))) >= 6
    assert all(target.read_history(id) == source.read_history(id) for id in transfer.read_hashes(source))


@in_turn
def test_a_copy_on_a_server_and_back_is_the_same(source: SqliteStore, target: SqliteStore, server: Neo4jStore) -> None:
    there, back = run(source, server), run(server, target)
    assert there.tally.checksum == back.tally.checksum
    assert server.check() == target.check() == []
    assert answers(server) == answers(source) == answers(target)


@in_turn
def test_a_copy_on_a_server_is_found_by_the_same_words_as_if_it_was_told_there(
    source: SqliteStore, server: Neo4jStore, neo4j_url: str
) -> None:
    live(server)
    told = looked_up_by(server)
    empty(neo4j_url)
    run(source, server)
    assert looked_up_by(server) == told
    assert any(hinted for _, hinted, _ in told.values())


def looked_up_by(server: Neo4jStore) -> dict[str, tuple[set[str], ...]]:
    """What the full-text index reads of each fact: its words, those of its descriptions, its marks."""
    nodes = server.collect_cascade(list(transfer.read_hashes(server))).rows["facts"]
    return {
        node["text"]: tuple({*node.get(name, "").split()} for name in ("tokens", "hinted", "marks")) for node in nodes
    }


@in_turn
def test_every_part_of_a_node_is_carried_or_follows_from_the_rest(server: Neo4jStore) -> None:
    live(server)
    rows = server.collect_cascade(list(transfer.read_hashes(server))).rows
    carried = {*TRANSFER_COLUMNS["facts"], "tags", "hours", "descriptions", "descriptions_made", "history"}
    carried |= {name for parts in transfer_format.PROPERTY_TABLES.values() for name in parts.values()}
    follows, behind = (
        {"content", "number", "told", "tokens", "hinted", "marks", "metadata_values"},
        {"SHOWED", "JUDGED"},
    )
    assert {name for node in rows["facts"] for name in node} <= carried | follows
    assert set(rows) - {"facts", "cited", "models"} == {*transfer_format.RELATIONSHIP_TABLES} | behind


@in_turn
def test_what_is_told_to_a_copy_on_a_server_joins_what_was_copied(source: SqliteStore, server: Neo4jStore) -> None:
    run(source, server)
    memory = Memory(Lent(server), embedder=HashedWords(), clock=Clock(NOW))
    before = memory.remember("Ana drank green tea in Porto on day 5.", session="talk", tags=["home"])
    new = memory.remember("Ana spilled green tea.", session="talk")
    last = max(fact.position or 0 for fact in memory.facts(session="talk") if fact.id != new)
    again, spilled = server.read_facts([before, new])
    assert again
    assert spilled
    assert (again.reinforced, spilled.position) == (1, last + 1)
    memory.dream()
    assert server.check() == []


@in_turn
def test_a_copy_to_a_server_goes_on_where_it_was_stopped(source: SqliteStore, server: Neo4jStore) -> None:
    with pytest.raises(ConnectionResetError):
        run(source, Stopping(server, batches=2))
    done = run(source, server)
    assert (done.copied, done.there) == (5, 8)
    assert server.check() == []


def test_a_killed_copy_goes_on_where_it_was(source: SqliteStore, target: SqliteStore) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, source.path, target.path], cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGKILL
    done = run(source, target)
    assert (done.copied, done.there) == (5, 8)
    assert answers(target) == answers(source)


KILLED = f"""
import os, sys
from cofire import copying
from cofire.verbs import transfer as verb

def advance(step):
    if step.done == 8:
        os.kill(os.getpid(), {signal.SIGKILL:d})

verb.COPY_BATCH = 4
copying.copy(sys.argv[1], sys.argv[2], advance=advance)
"""


def test_a_second_copy_changes_nothing(source: SqliteStore, target: SqliteStore) -> None:
    first = run(source, target)
    version = target.read_record(MODEL_RECORD)
    second = run(source, target)
    assert (second.copied, second.there) == (0, 13)
    assert second.tally == first.tally
    assert target.read_record(MODEL_RECORD) == version


def test_what_the_source_learned_since_is_brought_after(source: SqliteStore, target: SqliteStore) -> None:
    run(source, target)
    store = Memory(Lent(source), embedder=HashedWords(), clock=Clock(NOW))
    store.remember("Ana bought a kettle.")
    assert run(source, target).copied == 1


def test_progress_is_told_up_to_the_end(source: SqliteStore, target: SqliteStore) -> None:
    told: list[Progress] = []
    transfer.copy(source, target, now=NOW, advance=told.append)
    assert [step.done for step in told if step.doing == "copying"] == [4, 8, 12, 13]
    assert [(step.done, step.total) for step in told][-1] == (26, 26)


def test_a_target_with_facts_of_its_own_is_refused_untouched(source: SqliteStore, target: SqliteStore) -> None:
    own = Memory(Lent(target), embedder=None).remember("Something else.")
    with pytest.raises(Conflict, match=f"not in the source: 1, the first of them {own}"):
        run(source, target)
    assert list(transfer.read_hashes(target)) == [own]


def test_a_target_where_a_fact_says_something_else_is_refused(source: SqliteStore, target: SqliteStore) -> None:
    run(source, target)
    changed = next(iter(transfer.read_hashes(target)))
    Memory(Lent(target), embedder=HashedWords()).update(changed, text="Ana never drank anything.")
    with pytest.raises(Conflict, match=f"differ from those of the source: 1, the first of them {changed}"):
        run(source, target)


def test_a_target_of_another_model_is_refused(source: SqliteStore, target: SqliteStore) -> None:
    other = Memory(Lent(target), embedder=HashedWords("other", 16))
    other.forget(other.remember("Gone soon."))
    with pytest.raises(OtherModel, match=r"vectors of other \(16 dimensions\), the source has vectors of hashed-words"):
        run(source, target)
    assert transfer.read_hashes(target) == {}


def test_a_difference_is_named(source: SqliteStore, target: SqliteStore) -> None:
    run(source, target)
    [edge] = [edge for edge in Memory(Lent(target), embedder=None).edges() if edge.kind == "causes"]
    target.write(Change(now=NOW, ended=(edge,), pins={edge.source: True}), {})
    with pytest.raises(Conflict, match=rf"differ in facts \(1, the first of {edge.source}\), edges \(1, the first of"):
        transfer.compare(source, target, advance=lambda step: None)


def test_a_changed_vector_is_noticed(source: SqliteStore, target: SqliteStore) -> None:
    run(source, target)
    id = next(iter(transfer.read_hashes(source)))
    record = StoreRecord(
        INCOMING_RECORD, b"" if (found := source.read_record(INCOMING_RECORD)) is None else found.value
    )
    target.write(Change(now=NOW, records=(record,), vectors={id: bytes(range(1, 65))}), {})
    with pytest.raises(Conflict, match=rf"differ in incoming \(1, the first of {id}\)\."):
        transfer.compare(source, target, advance=lambda step: None)


def test_every_table_of_facts_is_carried_or_known_to_stay_behind(source: SqliteStore) -> None:
    tables = set(source.collect_cascade(list(transfer.read_hashes(source))).rows)
    carried = {"facts", "tags", "vectors", "vectors_incoming", "mentions", "subjects", "graph_edges"}
    carried |= {"association_edges", "fact_importance", "fact_use", "descriptions", "citations", "fact_history"}
    carried |= {"archived_because", "superseded", "reviews", "exposures"}
    behind, told_apart = {"recall_log_facts", "occasion_facts"}, {"cited", "models"}
    follows = {"metadata_values"}  # from the metadata of a fact
    assert tables == carried | behind | told_apart | follows
