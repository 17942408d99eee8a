"""Expanding from arrays: always what the plain form says, whatever was written, by whomever, in whatever order."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as some
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from cofire.errors import CofireError
from cofire.index import adjacency, expansion
from cofire.model import Change, Edge, EdgeWrite
from cofire.stores.base import ExpansionOptions, LinkExpansion, Store
from cofire.stores.sqlite import live_index
from cofire.stores.sqlite.store import SqliteStore
from tests.conftest import sqlite_store
from tests.reference_store import graph
from tests.reference_store.store import ReferenceStore
from tests.stores.making import NOW, Pen, everywhere, holding

KINDS = ("similar", "causes", "supports", "contradicts", "auto_link", "my own", "about")
NAMES = ("ana lopez", "porto", "kettle")
SHARES = (0.0, 0.2, 0.5, 1 / 3, 1.0)

# Bounds so small that a few facts go beyond them.
SMALL = (
    (live_index, "MIN_SNAPSHOT_FACTS", 4),
    (adjacency, "MAX_OVERLAY_LINKS", 6),
    (adjacency, "MAX_SINGLE_EDGES", 4),
    (adjacency, "EDGES_PER_BATCH", 3),
    (adjacency, "MASK_THRESHOLD", 3),
    *((module, "MAX_NAME_HOLDERS", 5) for module in (expansion, graph)),
    *((module, "MAX_LINKS_PER_NAME", 2) for module in (expansion, graph)),
    (expansion, "HOLDERS_PER_NAME", 3),
)

shares = some.sampled_from(SHARES)
held = some.dictionaries(some.sampled_from(NAMES), some.sampled_from([0.2, 0.5, 1.0]), max_size=3)
choices = some.integers(0, 1_000)
wanted = some.fixed_dictionaries(
    {
        "kinds": some.none() | some.frozensets(some.sampled_from([*KINDS, "entity", "follows", "unheard of"])),
        "floor": shares,
        "most": some.sampled_from([1, 2, 3, 1_000]),
        "names": some.booleans(),
    }
)
filters = some.sampled_from([{}, {"archived": True}, {"scopes": ("a",)}, {"tags": frozenset({"kept"})}])


def led(found: LinkExpansion) -> Any:
    """Each link by the ids at its ends."""
    weight, confidence = (np.nan_to_num(column, nan=-1.0).tolist() for column in (found.weight, found.confidence))
    columns = (found.source.tolist(), found.target.tolist(), found.kind, weight, confidence, found.tags, found.via)
    return [(found.ids[a], found.ids[b], *rest) for a, b, *rest in zip(*columns, strict=True)]


def assert_same(one: LinkExpansion, other: LinkExpansion) -> None:
    assert (one.ids, one.degree.tolist()) == (other.ids, other.degree.tolist())
    for here, there in zip(led(one), led(other), strict=True):
        assert here[:3] == there[:3]
        assert here[3:5] == pytest.approx(there[3:5], abs=1e-6)
        assert here[5:] == there[5:]


class TwoGraphs(RuleBasedStateMachine):
    """Writes everything into the reference and into a file, which is opened twice."""

    def __init__(self) -> None:
        super().__init__()
        self.exit = ExitStack()
        self.folder = Path(self.exit.enter_context(TemporaryDirectory()))
        for module, bound, small in SMALL:
            self.exit.enter_context(patch.object(module, bound, small))
        self.reference = ReferenceStore()
        self.sqlite, self.onlooker = sqlite_store(self.folder), sqlite_store(self.folder)
        self.pen = Pen(self.reference)
        self.ids: list[str] = []
        self.conducting = ExpansionOptions(everywhere(), None, 0.0, 10)

    def write(self, **parts: Any) -> None:
        """What is refused is refused by both."""
        outcomes = [outcome(store, Change(now=NOW, **parts)) for store in (self.reference, self.sqlite)]
        assert outcomes[0] == outcomes[1]

    def known(self, choice: int) -> str:
        facts = [fact for fact in self.reference.read_facts(self.ids) if fact]
        return facts[choice % len(facts)].id

    @rule(
        tellings=some.lists(some.tuples(held, held, some.booleans(), some.booleans()), min_size=1, max_size=6),
        scope=some.sampled_from("ab"),
        session=some.none() | some.just("s"),
    )
    def remember(self, tellings: list[Any], scope: str, session: str | None) -> None:
        news = []
        for mentions, about, archived, kept in tellings:
            text = f"fact {len(self.ids)}"
            new = self.pen.new(text, scope=scope, session=session, archived=archived, tags=("kept",) if kept else ())
            named = holding(new, dict.fromkeys(mentions, (0,)), about)
            sure = tuple(replace(one, confidence=mentions[one.name]) for one in named.mentions)
            news.append(replace(named, mentions=sure))
            self.ids.append(new.fact.id)
        self.write(facts=tuple(news), reach=2)

    @precondition(lambda self: self.reference.read_size().facts)
    @rule(
        pairs=some.lists(some.tuples(choices, choices, some.sampled_from(KINDS)), min_size=1, max_size=8),
        said=some.tuples(some.none() | shares, some.none() | shares, some.sampled_from([(), ("db",), ("db", "hot")])),
        mode=some.sampled_from(["reinforce", "update", "end"]),
    )
    def connect(self, pairs: Any, said: Any, mode: Any) -> None:
        drawn = tuple(Edge(self.known(a), self.known(b), kind, *said) for a, b, kind in pairs)
        if mode == "end":
            self.write(ended=drawn)
        else:
            self.write(edges=tuple(EdgeWrite(edge, mode) for edge in drawn))

    @precondition(lambda self: self.reference.read_size().facts)
    @rule(chosen=some.lists(choices, min_size=1, max_size=3))
    def forget(self, chosen: list[int]) -> None:
        self.write(removals=tuple(self.known(choice) for choice in chosen))

    @rule()
    def recount(self) -> None:
        """Which may bring a snapshot."""
        self.write(recount=("a", "b"), sample=0)

    @rule()
    def reopen(self) -> None:
        self.sqlite.close()
        self.sqlite = sqlite_store(self.folder)

    @rule(how=wanted, where=filters)
    def look_elsewhere(self, how: dict[str, Any], where: dict[str, Any]) -> None:
        self.conducting = ExpansionOptions(everywhere(**where), **how)

    @invariant()
    def both_expand_alike(self) -> None:
        asked = [*self.ids[-5:], "unknown", *self.ids[:3]]
        expected = self.reference.expand_links(asked, self.conducting)
        for store in (self.sqlite, self.onlooker):
            assert_same(store.expand_links(asked, self.conducting), expected)

    def teardown(self) -> None:
        for store in (self.sqlite, self.onlooker):
            store.close()
        self.exit.close()


def outcome(store: Store, change: Change) -> Any:
    try:
        return store.write(change, {})
    except CofireError as error:
        return type(error)


TestTwoGraphs = TwoGraphs.TestCase
TestTwoGraphs.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)


PLAIN = ExpansionOptions(everywhere(), None, 0.0, 10)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = sqlite_store(tmp_path)
    yield opened
    opened.close()


def connected(pen: Pen, count: int) -> list[str]:
    """So many facts, each connected with the first."""
    ids = [one.id for one in pen.write(*(pen.new(f"fact {number}") for number in range(count))).facts]
    pen.write(edges=tuple(EdgeWrite(Edge(ids[0], other, "supports", 0.5, 1.0)) for other in ids[1:]))
    return ids


def edges_of(store: SqliteStore) -> adjacency.Adjacency:
    with store._reading() as connection, store._live.at(connection):
        return store._live.adjacency(connection)


def leads(store: Store, id: str) -> set[str]:
    found = store.expand_links([id], PLAIN)
    return {found.ids[row] for row in found.target.tolist()}


def test_one_edge_more_is_taken_in_and_nothing_is_built_anew(store: SqliteStore, pen: Pen) -> None:
    ids = connected(pen, 400)
    store.expand_links(ids[:1], PLAIN)
    before, taken = edges_of(store), edges_of(store).taken
    pen.write(edges=(EdgeWrite(Edge(ids[0], pen.tell("one more"), "supports", 0.9, 1.0)),))
    assert store.expand_links(ids[:1], PLAIN).degree.tolist() == [400]
    assert edges_of(store) is before
    assert (before.taken - taken, before.compactions) == (1, 0)


def test_changes_are_put_in_order_when_there_are_many(
    store: SqliteStore, pen: Pen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adjacency, "MAX_OVERLAY_LINKS", 8)
    ids = connected(pen, 20)
    store.expand_links(ids[:1], PLAIN)
    for number in range(1, 15):
        pen.write(edges=(EdgeWrite(Edge(ids[0], ids[number], "supports", 0.6, 1.0), "update"),))
        assert store.expand_links(ids[:1], PLAIN).degree.tolist() == [19]
    assert 1 <= edges_of(store).compactions <= 3


def test_edges_are_read_only_when_something_is_expanded(store: SqliteStore, pen: Pen) -> None:
    connected(pen, 5)
    store.filter_visible(["unknown"], everywhere())
    assert store._live._adjacency is None


def test_a_hub_gives_its_strongest_and_its_whole_degree(store: SqliteStore, pen: Pen) -> None:
    ids = [one.id for one in pen.write(*(pen.new(f"fact {number}") for number in range(3_001))).facts]
    pen.write(
        edges=tuple(
            EdgeWrite(Edge(ids[0], other, "supports", number / 3_001, 1.0)) for number, other in enumerate(ids[1:])
        )
    )
    found = store.expand_links(ids[:1], PLAIN)
    assert found.ids[1:] == tuple(ids[:-11:-1])
    assert found.degree.tolist() == [3_000]
    assert store.expand_links(ids[:1], replace(PLAIN, kinds=frozenset({"supports"}))).degree.tolist() == [3_000]


def test_a_snapshot_keeps_the_edges_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_index, "MIN_SNAPSHOT_FACTS", 5)
    first = sqlite_store(tmp_path)
    ids = connected(Pen(first), 20)
    first.write(Change(now=NOW, recount=("default",)), {})
    later = EdgeWrite(Edge(ids[1], ids[2], "supports", 1.0, 1.0, ("db",)))
    first.write(Change(now=NOW, edges=(later,)), {})
    expected = first.expand_links(ids[:3], PLAIN)
    first.close()
    second = sqlite_store(tmp_path)
    assert_same(second.expand_links(ids[:3], PLAIN), expected)
    assert edges_of(second).taken == 1
    second.close()


def test_many_new_edges_bring_a_new_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dream writes edges to facts that are there already, and counts the words at its end."""
    monkeypatch.setattr(live_index, "MIN_SNAPSHOT_FACTS", 5)
    store = sqlite_store(tmp_path)
    pen = Pen(store)
    ids = [pen.tell(f"fact {number}") for number in range(20)]
    pen.recount("default")
    pen.write(edges=tuple(EdgeWrite(Edge(ids[0], other, "similar", 0.5)) for other in ids[1:]), importance=())
    pen.recount("default")
    store.close()
    again = sqlite_store(tmp_path)
    assert again.expand_links(ids[:1], PLAIN).degree.tolist() == [19]
    assert edges_of(again).taken == 0
    again.close()


WRITE = """
import sys
from tests.conftest import sqlite_store
from tests.stores.making import NOW
from cofire.model import Change, Edge, EdgeWrite
from pathlib import Path
store = sqlite_store(Path(sys.argv[1]))
for line in sys.stdin:
    what, source, target = line.split()
    edge = Edge(source, target, "supports", 0.5, 1.0)
    change = {"connect": {"edges": (EdgeWrite(edge),)}, "end": {"ended": (edge,)}, "forget": {"removals": (target,)}}[what]
    store.write(Change(now=NOW, **change), {})
    print("done", flush=True)
"""


def test_what_another_process_writes_is_expanded_at_once(store: SqliteStore, pen: Pen, tmp_path: Path) -> None:
    a, b, c, d = (pen.tell(f"fact {number}") for number in range(4))
    command = [sys.executable, "-c", WRITE, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        for what, target, expected in (
            ("connect", b, {b}),
            ("connect", c, {b, c}),
            ("end", b, {c}),
            ("connect", d, {c, d}),
            ("forget", c, {d}),
            ("connect", b, {b, d}),
        ):
            other.stdin.write(f"{what} {a} {target}\n")
            other.stdin.flush()
            assert other.stdout.readline() == "done\n"
            assert leads(store, a) == expected
        other.stdin.close()
