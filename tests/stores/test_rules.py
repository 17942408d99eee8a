"""Every store changes its rows as stores/rules.py and link_rules.py say, in Python or in its query language."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest

from cofire.model import Edge, EdgeWrite
from cofire.stores.base import EdgeFilter, Store
from cofire.stores.curation_rows import CurationChange, DecayRule, Supersession
from cofire.stores.edge_batch import EdgeBatch
from cofire.stores.learning_rows import EdgeAdjustment
from cofire.stores.link_rules import NameHolders, build_name_links
from cofire.stores.rules import (
    adjust_edge,
    latest_end,
    make_follows_edge,
    merge_edge,
    normalise_edge,
    reopen_edge,
)
from tests.stores.making import DAY, NOW, Pen, holding

LATER = NOW + timedelta(hours=1)
EVERY = EdgeFilter()


def values(edge: Edge) -> tuple[object, ...]:
    """Everything that a store keeps of an edge."""
    use = (edge.co_access_count, edge.strengthened)
    return (edge.source, edge.target, edge.kind, edge.weight, edge.confidence, edge.tags, edge.origin, *use)


def stored(store: Store) -> dict[tuple[str, str], Edge]:
    return {(edge.source, edge.target): edge for edge in store.list_edges(EVERY, 1_000)}


def some_edges(source: str, target: str) -> list[Edge]:
    plain = Edge(source, target, "supports", 0.25, 0.5, ("tea",), "me")
    return [
        plain,
        replace(plain, weight=None, confidence=None, tags=()),
        replace(plain, weight=0.75, confidence=0.99, tags=("pot", "cup"), origin="user", co_access_count=3),
        replace(plain, strengthened=NOW - DAY, co_access_count=1),
    ]


@pytest.mark.parametrize("mode", ["reinforce", "update", "skip"])
@pytest.mark.parametrize("ended", [False, True])
def test_an_edge_that_is_written_again_is_merged_by_the_rule(store: Store, pen: Pen, mode: str, ended: bool) -> None:
    hub = pen.tell("hub")
    cases = {}
    for number, (old, new) in enumerate(product(range(4), range(4))):
        end = pen.tell(f"fact {number}")
        cases[end] = some_edges(hub, end)[old], some_edges(hub, end)[new]
    pen.write(edges=[EdgeWrite(old) for old, _ in cases.values()])
    before = stored(store)
    if ended:
        pen.write(ended=tuple(before.values()))
    written = pen.write(edges=EdgeBatch.of([EdgeWrite(new, mode) for _, new in cases.values()]), now=LATER)
    expected = []
    changed = 0
    for end, (_, new) in cases.items():
        old = before[hub, end]
        merged = reopen_edge(old, new, LATER) if ended else merge_edge(old, new, mode, LATER)
        changed += merged is not old
        expected.append(values(merged))
    assert [values(edge) for edge in sorted(stored(store).values(), key=lambda edge: edge.target)] == expected
    assert (written.edges.new, written.edges.changed) == ((len(cases), 0) if ended else (0, changed))


def test_a_new_edge_is_stored_as_it_is_with_its_tags_in_order(store: Store, pen: Pen) -> None:
    hub = pen.tell("hub")
    new = [some_edges(hub, pen.tell(f"fact {number}"))[number] for number in range(4)]
    pen.write(edges=[EdgeWrite(edge) for edge in new])
    found = sorted(stored(store).values(), key=lambda edge: edge.target)
    assert [values(edge) for edge in found] == [values(normalise_edge(edge)) for edge in new]


@pytest.mark.parametrize("step", [0.05, -0.05])
def test_a_lesson_changes_an_edge_by_the_rule(store: Store, pen: Pen, step: float) -> None:
    hub = pen.tell("hub")
    ends = [pen.tell(f"fact {number}") for number in range(4)]
    pen.write(edges=[EdgeWrite(some_edges(hub, end)[number]) for number, end in enumerate(ends)])
    before = stored(store)
    pen.write(lessons=tuple(EdgeAdjustment(end, hub, "supports", step) for end in ends), now=LATER)
    expected = {key: values(adjust_edge(edge, step, LATER)) for key, edge in before.items()}
    assert {key: values(edge) for key, edge in stored(store).items()} == expected


def test_turns_follow_each_other_by_the_rule(store: Store, pen: Pen) -> None:
    turns = [pen.new(f"turn {at}", session="s", tags=tags) for at, tags in enumerate([("tea", "pot"), (), ("tea",)])]
    pen.write(*turns, reach=2)
    first, second, third = (turn.fact.id for turn in turns)
    expected = [
        make_follows_edge(first, second, 1, (), NOW).edge,
        make_follows_edge(second, third, 1, (), NOW).edge,
        make_follows_edge(first, third, 2, ("tea",), NOW).edge,
    ]
    assert {key: values(edge) for key, edge in stored(store).items()} == {
        (edge.source, edge.target): values(edge) for edge in expected
    }


def test_names_link_facts_by_the_rule(store: Store, pen: Pen) -> None:
    about, other, mentioning, again = (
        pen.write(holding(pen.new(text), mentions, subjects, 0.8)).facts[0].id
        for text, mentions, subjects in (
            ("about ana", {}, {"ana": 0.9}),
            ("more about ana", {}, {"ana": 0.4}),
            ("mentions ana", {"ana": [0]}, {}),
            ("mentions ana again", {"ana": [1]}, {}),
        )
    )
    name = NameHolders("ana", 0.8, 4, ((about, 0.9), (other, 0.4)), ((again, 0.8),))
    expected = {(link.source, link.target, link.kind): link for link in build_name_links(mentioning, [name], [])}
    subject = NameHolders("ana", 0.9, 4, ((other, 0.4),), ((mentioning, 0.8), (again, 0.8)))
    for id, links in ((mentioning, expected.values()), (about, build_name_links(about, [], [subject]))):
        found = {(link.source, link.target): link for link in store.list_links(id, 10)}
        assert found.keys() == {(link.source, link.target) for link in links}
        for link in links:
            same = found[link.source, link.target]
            assert (same.kind, same.via) == (link.kind, link.via)
            assert (same.weight, same.confidence) == pytest.approx((link.weight, link.confidence))


def test_a_fact_is_valid_again_until_the_latest_of_its_ends(store: Store, pen: Pen) -> None:
    old, first, second = pen.tell("old", valid_until=NOW + 9 * DAY), pen.tell("first"), pen.tell("second")
    for new, until in ((first, NOW + DAY), (second, NOW + 2 * DAY)):
        pen.write(curation=CurationChange(superseded=(Supersession(old, new, until),)))
    [fact] = store.read_facts([old])
    assert fact is not None
    assert fact.valid_until == NOW + DAY
    pen.write(curation=CurationChange(restored=((old, first),)))
    [fact] = store.read_facts([old])
    assert fact is not None
    assert fact.valid_until == latest_end([NOW + 9 * DAY, NOW + 9 * DAY])


def test_edges_decay_by_the_same_rule_in_every_store(store: Store, pen: Pen) -> None:
    hub, near, far, pinned = (pen.tell(text) for text in ("hub", "near", "far", "pinned"))
    pen.write(
        edges=(
            EdgeWrite(Edge(hub, near, "hebbian", 0.5)),
            EdgeWrite(Edge(hub, far, "hebbian", 0.051)),
            EdgeWrite(Edge(hub, pinned, "hebbian", 0.5)),
            EdgeWrite(Edge(near, far, "hebbian", 0.5, origin="user")),
        ),
        pins={pinned: True},
    )
    rule = DecayRule(by="weight", grace=2.0, rate=0.02, period=1.0, floor=0.05, clock="calendar")
    counts = pen.write(curation=CurationChange(fades=(rule,)), now=NOW + 12 * DAY).edges
    assert (counts.changed, counts.ended) == (1, 1)
    weights = {key: edge.weight for key, edge in stored(store).items()}
    assert weights.keys() == {(hub, near), (hub, pinned), (near, far)}
    assert weights[hub, near] < 0.5
    assert weights[hub, pinned] == weights[near, far] == 0.5
