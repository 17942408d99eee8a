"""Undo: what was forgotten comes back as it was, or as far as there is a place for it."""

from __future__ import annotations

import gzip
import json
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from cofire import Memory
from cofire.errors import CofireError, InvalidInput, NotFound, StoreError
from cofire.model import Change
from cofire.stores.base import Store
from tests.conftest import EVERY_STORE, STORES, Clock, HashedWords, Lent, Opening
from tests.reference_store.store import ReferenceStore

TELLINGS: list[dict[str, Any]] = [
    {"text": "PgBouncer runs in transaction mode for serverless.", "subject": "PgBouncer", "tags": ["db"]},
    {"text": "PgBouncer pools sessions for serverless functions.", "subject": "PgBouncer", "tags": ["db", "pool"]},
    {"text": "Ana Lopez set max_connections to 500 because PgBouncer ran out.", "session": "s", "speaker": "Ana"},
    {"text": "Ben asked Ana Lopez about the pool?", "session": "s", "speaker": "Ben", "at": "2026-02-01"},
    {"text": "The pool was doubled after that.", "session": "s", "speaker": "Ana", "metadata": {"page": 3}},
    {"text": "PgBouncer sessions for serverless run in transaction mode.", "category": "note"},
    {"text": "Ana Lopez lives in Porto.", "subject": "Ana Lopez", "valid_from": "2020-01-01"},
    {"text": "Porto has a bridge of iron.", "subject": "Porto", "scope": "default"},
    {"text": "The kettle boils loudly.", "scope": "other", "tags": ["tea"]},
    {"text": "The kettle boils loudly and fast.", "scope": "other"},
    {"text": "Serverless functions share a pool.", "expires": "2030-01-01"},
]
QUESTIONS = ("Which mode does PgBouncer run in?", "Where does Ana Lopez live?", "Who doubled the pool?", "kettle")


def filled(store: Store, clock: Clock, **values: Any) -> tuple[Memory, list[str]]:
    """A memory with facts, edges of all kinds and descriptions."""
    own = {"auto_link.threshold": 0.3, **values}
    memory = Memory(Lent(store), embedder=HashedWords(), clock=clock, settings=own)
    ids = [memory.remember(one) for one in TELLINGS]
    memory.connect(ids[0], ids[7], kind="supports", weight=0.5)
    memory.connect(ids[6], ids[3], kind="my own", confidence=0.4, tags=["x"])
    memory.dream()
    ids.append(memory.remember("One more thing about PgBouncer and the pool."))
    return memory, ids


def whole(memory: Memory, ids: list[str], place: Path) -> dict[str, Any]:
    """All that can be seen of a memory."""
    memory.export(place)
    known = [fact.id for fact in memory.facts(limit=100)]
    found = [memory.recall(question, scope=["default", "other"]) for question in QUESTIONS]
    size = memory.stats().size
    return {
        "export": place.read_text(encoding="utf-8"),
        "portraits": [memory.portrait(id) for id in ids if id in known],
        "answers": [[(hit.id, hit.score) for hit in one] for one in found],
        "sizes": (size.facts, size.edges, size.mentions, size.waiting, size.embedded, dict(size.scopes)),
    }


STEPS = some.lists(
    some.one_of(some.sets(some.integers(0, len(TELLINGS)), min_size=1, max_size=5), some.integers(0, 3)),
    min_size=1,
    max_size=6,
)


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVERY_STORE)
@given(steps=STEPS, order=some.permutations(range(6)))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_undone_forgetting_leaves_memory_as_it_was(
    kind: str,
    steps: list[set[int] | int],
    order: list[int],
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> None:
    """Whatever is forgotten and undone in turn, and in whatever order the rest is undone at last."""
    if kind == "neo4j":
        request.getfixturevalue("neo4j_url")
    folder = tmp_path_factory.mktemp("undone")
    store = STORES[kind](folder)
    memory, ids = filled(store, Clock())
    before = whole(memory, ids, folder / "before.jsonl")
    left, receipts = set(range(len(ids))), list[tuple[set[int], Any]]()
    for step in steps:
        if isinstance(step, set) and step & left:
            receipts.append((step & left, memory.forget([ids[one] for one in sorted(step & left)])))
            left -= step
        elif isinstance(step, int) and receipts:
            back, receipt = receipts.pop(step % len(receipts))
            assert memory.undo(receipt).ids == tuple(sorted(receipt.ids))
            left |= back
    for place in order:
        if place < len(receipts):
            assert memory.undo(receipts[place][1]).ids == tuple(sorted(receipts[place][1].ids))
    assert whole(memory, ids, folder / "after.jsonl") == before
    store.close()


@pytest.mark.parametrize("chosen", [[{0, 6}, {1}, {2, 7}], [{3}, {0, 1, 5}]])
def test_the_latest_undone_first_brings_back_all_that_went_with_it(
    store: Store, clock: Clock, chosen: list[set[int]]
) -> None:
    memory, ids = filled(store, clock)
    gone = [memory.forget([ids[one] for one in sorted(some)]) for some in chosen]
    for receipt in reversed(gone):
        back = memory.undo(receipt)
        assert (back.ids, back.edges, back.skipped) == (tuple(sorted(receipt.ids)), receipt.radius.edges, ())


def test_receipt_may_be_named_by_object_id_or_path(memory: Memory, store: Store) -> None:
    receipt = memory.forget(memory.remember("Tea at four.")).receipt
    assert receipt is not None
    assert isinstance(store, ReferenceStore) != bool(receipt.path)
    named: list[Any] = [receipt, receipt.id, *([receipt.path, Path(receipt.path)] if receipt.path else [])]
    for name in named:
        assert memory.undo(name).ids == receipt.ids
        gone = memory.forget(receipt.ids)
        assert memory.undo(gone).ids == receipt.ids
        memory.forget(receipt.ids)


def test_undoing_twice_changes_nothing(memory: Memory, store: Store) -> None:
    a, b = memory.remember(["Tea at four.", "Tea at five."])
    memory.connect(a, b, kind="supports")
    gone = memory.forget(a)
    assert memory.undo(gone).edges >= 1
    before = (memory.facts(), memory.edges(), memory.portrait(a), memory.portrait(b), store.read_size().mentions)
    again = memory.undo(gone)
    assert (again.facts, again.edges) == ((), 0)
    assert [(one.what, one.id, one.why) for one in again.skipped] == [("fact", a, "it is there already")]
    assert (
        memory.facts(),
        memory.edges(),
        memory.portrait(a),
        memory.portrait(b),
        store.read_size().mentions,
    ) == before


def test_edge_to_a_fact_that_is_gone_too_is_told(memory: Memory) -> None:
    a, b = memory.remember(["Ana likes jazz.", "Water boils."])
    memory.connect(a, b, kind="supports")
    gone = memory.forget(a)
    memory.forget(b)
    back = memory.undo(gone)
    assert (back.ids, back.edges) == ((a,), 0)
    assert [(one.what, one.id, one.why) for one in back.skipped] == [
        ("edge", f"{a} supports {b}", f"the fact {b} is gone")
    ]


def test_edge_that_had_ended_is_not_missed(memory: Memory) -> None:
    a, b = memory.remember(["Redis listens on port 1.", "Redis listens on port 2."])
    memory.supersede(a, b)
    memory.unsupersede(a, b)
    gone = memory.forget(a)
    memory.forget(b)
    assert memory.undo(gone).skipped == ()


def test_fact_that_was_told_again_is_left_as_it_is_now(memory: Memory) -> None:
    gone = memory.forget(memory.remember("Tea at four.", tags=["old"]))
    new = memory.remember("Tea at four.", tags=["new"])
    back = memory.undo(gone)
    assert back.facts == ()
    assert [one.why for one in back.skipped] == [f"the same was told again as {new}"]
    assert [fact.tags for fact in memory.facts()] == [("new",)]


def test_fact_comes_back_without_the_vector_of_another_model(open_memory: Opening) -> None:
    memory = open_memory()
    id, _ = memory.remember(["Tea at four.", "Coffee at ten."])
    gone = memory.forget(id)
    memory.close()
    other = open_memory(HashedWords("another", 16), reembedding=True)
    other.reembed()
    assert gone.receipt is not None
    back = other.undo(gone.receipt.path or gone.receipt.id) if gone.receipt.path else None
    if back is not None:
        assert [one.what for one in back.skipped] == ["vector"]
        assert other.reembed() == 1
        assert other.recall("tea").ids[0] == id


def test_receipt_runs_out(memory: Memory, clock: Clock) -> None:
    gone = memory.forget(memory.remember("Tea at four."))
    clock.now += timedelta(days=31)
    with pytest.raises(NotFound, match=r"ran out|has run out"):
        memory.undo(gone)


def test_receipt_that_ran_out_is_removed_by_the_next_forgetting(tmp_path: Path, clock: Clock) -> None:
    with Memory(tmp_path / "m.db", embedder=None, clock=clock) as memory:
        first = memory.forget(memory.remember("Tea at four."))
        clock.now += timedelta(days=31)
        second = memory.forget(memory.remember("Tea at five."))
        assert first.receipt is not None
        assert second.receipt is not None
        assert [path.name for path in (tmp_path / "m.db.receipts").iterdir()] == [Path(second.receipt.path).name]
        with pytest.raises(NotFound, match="There is no receipt"):
            memory.undo(first.receipt.id)


def test_receipt_that_ran_out_is_removed_when_memory_opens(tmp_path: Path, clock: Clock) -> None:
    with Memory(tmp_path / "m.db", embedder=None, clock=clock) as memory:
        memory.forget(memory.remember("Tea at four."))
    clock.now += timedelta(days=31)
    with Memory(tmp_path / "m.db", embedder=None, clock=clock):
        assert list((tmp_path / "m.db.receipts").iterdir()) == []


def test_receipt_outlives_the_process(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        gone = memory.forget(memory.remember("Tea at four."))
    assert gone.receipt is not None
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        assert memory.undo(gone.receipt.id).ids == gone.ids
        assert memory.recall("tea").ids == gone.ids


def test_purge_keeps_no_receipt_and_strikes_the_fact_from_others(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        secret, plain = memory.remember(["Zanzibar is the word.", "Tea at four."])
        both = memory.forget([secret, plain])
        memory.undo(both)
        gone = memory.forget(secret, purge=True)
        assert gone.receipt is None
        with pytest.raises(InvalidInput, match="without a receipt"):
            memory.undo(gone)
        memory.forget(plain)
        assert memory.undo(both).ids == (plain,)
        memory.forget(plain, purge=True)
        assert list((tmp_path / "m.db.receipts").iterdir()) == []


def test_with_no_days_no_receipt_is_written(open_memory: Opening) -> None:
    memory = open_memory(settings={"forget.undo_days": 0})
    assert memory.forget(memory.remember("Tea.")).receipt is None


@pytest.mark.parametrize("given", ["unknown", "no/such/file.json.gz", "../x", "*", "01ABC"])
def test_unknown_receipt_is_an_error(memory: Memory, given: str) -> None:
    with pytest.raises(NotFound, match="There is no receipt"):
        memory.undo(given)


def test_receipt_of_two_scopes_is_none_to_who_may_see_one(memory: Memory) -> None:
    ids = [memory.remember("Tea at four.", scope="team"), memory.remember("Tea at five.", scope="home")]
    gone = memory.forget(ids)
    with pytest.raises(NotFound, match="There is no receipt"):
        memory.undo(gone, scope="team")
    assert set(memory.undo(gone, scope=["team", "home"]).ids) == set(ids)


@pytest.mark.parametrize("given", [7, None, "", "  ", "a\x00b", b"x", []])
def test_what_cannot_be_a_receipt_is_refused(memory: Memory, given: Any) -> None:
    with pytest.raises(InvalidInput):
        memory.undo(given)


@pytest.mark.parametrize("content", [b"", b"not gzip", b"\x1f\x8b\x08\x00broken"])
def test_file_that_is_no_receipt_is_refused(memory: Memory, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "odd.json.gz").write_bytes(content)
    with pytest.raises(CofireError, match=r"odd\.json\.gz"):
        memory.undo(tmp_path / "odd.json.gz")


def test_nothing_is_forgotten_when_no_receipt_can_be_kept(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        id = memory.remember("Tea at four.")
        (tmp_path / "m.db.receipts").write_text("in the way", encoding="utf-8")
        with pytest.raises(StoreError, match="receipts"):
            memory.forget(id)
        assert memory.facts(id)
        memory.forget(id, purge=True)


def test_receipt_is_for_the_owner_alone(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        gone = memory.forget(memory.remember("Tea at four."))
    assert gone.receipt is not None
    assert Path(gone.receipt.path).stat().st_mode & 0o077 == 0


def test_a_receipt_that_cannot_be_read_hinders_no_other(
    tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    with Memory(tmp_path / "m.db", embedder=HashedWords(), clock=clock) as memory:
        tea, pot = memory.remember(["Tea at four.", "A pot at five."])
        broken, gone = memory.forget(tea).receipt, memory.forget(pot)
        assert broken is not None
        Path(broken.path).write_bytes(b"no receipt")
        assert memory.undo(gone).ids == (pot,)
    assert "A receipt was left aside" in caplog.text


def test_a_receipt_that_was_undone_before_brings_nothing_to_a_later_one(open_memory: Opening) -> None:
    memory = open_memory(settings={"auto_link.threshold": 0.05})
    tea, other = memory.remember("Tea is served at four in the garden house."), memory.remember("Rockets fly.")
    memory.remember("Tea in the garden house is served by Otto.", subject="samovar")
    memory.undo(memory.forget([tea, other]))
    memory.remember("Tea in the garden house is poured by Anna.", subject="kettle")
    before = memory.portrait(tea)
    assert memory.undo(memory.forget(tea)).skipped == ()
    assert memory.portrait(tea) == before
    assert {hit.id: hit for hit in memory.recall("kettle")}[tea].channels["keyword"].score > 0


def a_pair(memory: Memory) -> tuple[str, str]:
    """Two facts, the first of which is described by the second."""
    tea = memory.remember("Tea is served at four in the garden house.")
    return tea, memory.remember("Tea in the garden house is served by Otto.", subject="samovar")


@pytest.mark.parametrize("together", [True, False])
def test_what_is_purged_is_in_the_receipts_of_others_no_more(open_memory: Opening, together: bool) -> None:
    memory = open_memory(settings={"auto_link.threshold": 0.05})
    tea, otto = a_pair(memory)
    gone = memory.forget([tea, otto] if together else tea).receipt
    assert gone is not None
    if together:
        memory.undo(gone)
        memory.forget(otto, purge=True)
        memory.forget(tea, purge=True)
    else:
        memory.forget(otto, purge=True)
        back = memory.undo(gone)
        assert (back.ids, memory.portrait(tea).descriptions) == ((tea,), ())
        assert "samovar" not in repr(memory.recall("samovar").guesses)
    with pytest.raises(NotFound) if together else nullcontext():
        memory.undo(gone)


def test_where_a_receipt_cannot_be_read_nothing_is_purged_by_half(tmp_path: Path, clock: Clock) -> None:
    with Memory(tmp_path / "m.db", embedder=HashedWords(), clock=clock) as memory:
        tea = memory.remember("Tea at four.")
        broken = memory.forget(memory.remember("A pot at five.")).receipt
        assert broken is not None
        whole_file = Path(broken.path).read_bytes()
        for damaged in (
            b"junk",
            whole_file[:30] + b"\xff\xff" + whole_file[32:],
            gzip.compress(b'{"is": "cofire receipt"}'),
        ):
            Path(broken.path).write_bytes(damaged)
            with pytest.raises(InvalidInput, match="not a receipt that can be read") as refused:
                memory.forget(tea, purge=True)
            assert broken.path in refused.value.problem
            assert "Remove this file" in refused.value.way_out
            assert [fact.id for fact in memory.facts()] == [tea]
        Path(broken.path).unlink()
        assert memory.forget(tea, purge=True).ids == (tea,)


def rewritten(path: str, **said: Any) -> None:
    """Let a receipt say something else."""
    held = json.loads(gzip.decompress(Path(path).read_bytes()))
    Path(path).write_bytes(gzip.compress(json.dumps(held | said).encode()))


ODD_ROWS: list[Any] = [5, [], {"facts": 5}, {"facts": [], "cited": []}, {"facts": [7], "cited": [], "models": {}}]
ODD_ROWS += [{"facts": [], "cited": [{}], "models": {}}, {"facts": [], "cited": [], "models": {}, "LINKS": {"a": 1}}]


@pytest.mark.parametrize(
    "said",
    [*({"rows": rows} for rows in ODD_ROWS), {"facts": "abc"}, {"id": 5}, {"expires": "2026-09-01"}, {"scopes": [5]}],
)
def test_a_receipt_of_another_form_is_refused_and_hinders_no_other(
    tmp_path: Path, clock: Clock, said: dict[str, Any]
) -> None:
    with Memory(tmp_path / "m.db", embedder=None, clock=clock) as memory:
        tea, pot = memory.remember(["Tea at four.", "A pot at five."])
        odd, gone = memory.forget(tea).receipt, memory.forget(pot)
        assert odd is not None
        rewritten(odd.path, **said)
        assert memory.undo(gone).ids == (pot,)
        with pytest.raises(InvalidInput, match="not a receipt that can be read"):
            memory.undo(odd.path)
        with pytest.raises(InvalidInput, match="Remove this file"):
            memory.forget(pot, purge=True)


def test_a_receipt_that_keeps_nothing_hinders_no_other(tmp_path: Path, clock: Clock) -> None:
    with Memory(tmp_path / "m.db", embedder=None, clock=clock) as memory:
        tea, pot = memory.remember(["Tea at four.", "A pot at five."])
        bare, gone = memory.forget(tea).receipt, memory.forget(pot)
        assert bare is not None
        rewritten(bare.path, rows={})
        assert memory.undo(bare).facts == ()
        assert memory.undo(gone).ids == (pot,)
        assert memory.forget(pot, purge=True).ids == (pot,)


def test_a_receipt_of_a_store_of_another_kind_is_refused(tmp_path: Path, clock: Clock) -> None:
    with Memory(tmp_path / "m.db", embedder=None, clock=clock) as memory:
        receipt = memory.forget(memory.remember("Tea at four.")).receipt
        assert receipt is not None
        rewritten(receipt.path, rows={"facts": [], "cited": [], "models": {"stored": None, "incoming": None}})
        with pytest.raises(InvalidInput, match="a store of another kind"):
            memory.undo(receipt)


def test_nothing_is_purged_where_the_receipts_cannot_be_looked_through(tmp_path: Path, clock: Clock) -> None:
    denied = patch.object(Path, "iterdir", side_effect=PermissionError(13, "Permission denied"))
    with denied, Memory(tmp_path / "m.db", embedder=None, clock=clock) as memory:
        tea = memory.remember("Tea at four.")
        with pytest.raises(StoreError, match=r"m\.db\.receipts cannot be used"):
            memory.forget(tea, purge=True)
        with pytest.raises(StoreError, match=r"m\.db\.receipts cannot be used"):
            memory.undo("01ABC")
        assert memory.facts(tea)


def test_a_receipt_that_may_not_be_looked_at_is_told(memory: Memory, tmp_path: Path) -> None:
    denied = patch.object(Path, "is_file", side_effect=PermissionError(13, "Permission denied"))
    with denied, pytest.raises(StoreError, match="Permission denied"):
        memory.undo(tmp_path / "some.json.gz")


@pytest.mark.parametrize("kind", ["reference", "sqlite"])
def test_what_another_forgets_meanwhile_is_described_no_more(kind: str, tmp_path: Path, clock: Clock) -> None:
    store = STORES[kind](tmp_path)
    memory = Memory(Lent(store), embedder=HashedWords(), clock=clock, settings={"auto_link.threshold": 0.05})
    other = Memory(Lent(store), embedder=HashedWords(), clock=clock)
    tea, otto = a_pair(memory)
    write, raced = store.write, []

    def late(change: Change, expects: Any) -> Any:
        if change.facts and not raced:
            raced.append(other.forget(otto, purge=True).ids)
        return write(change, expects)

    with patch.object(store, "write", late):
        memory.remember("Tea in the garden house is poured by Anna.", subject="kettle")
    assert raced == [(otto,)]
    assert memory.portrait(tea).descriptions == ("Goes with: kettle",)
    assert memory.recall("samovar").known is False


def test_no_scope_at_all_is_not_every_scope(memory: Memory) -> None:
    gone = memory.forget(memory.remember("Tea at four."))
    with pytest.raises(InvalidInput, match="No scope is named"):
        memory.undo(gone, scope=[])
    assert memory.facts() == []
