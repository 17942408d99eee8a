"""Expanding: the links that leave facts, as arrays; what is followed, how far, and what a link says of itself."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from cofire.model import Edge, EdgeWrite
from cofire.stores.base import ExpansionOptions, LinkExpansion, Store
from tests.stores.making import Pen, everywhere, holding


class Led(NamedTuple):
    """A link by the ids at its ends."""

    source: str
    target: str
    kind: str
    weight: float
    confidence: float


def connect(
    pen: Pen, ends: tuple[str, str], kind: str, weight: Any = 1.0, confidence: Any = 1.0, *, tags: tuple[str, ...] = ()
) -> None:
    pen.write(edges=(EdgeWrite(Edge(*ends, kind, weight, confidence, tags)),))


def conducting(
    kinds: frozenset[str] | None = None, floor: float = 0.0, most: int = 10, **conditions: Any
) -> ExpansionOptions:
    return ExpansionOptions(everywhere(**conditions), kinds, floor, most)


def led(found: LinkExpansion) -> list[Led]:
    columns = (found.source, found.target, found.kind, found.weight, found.confidence)
    return [
        Led(found.ids[source], found.ids[target], kind, float(weight), float(confidence))
        for source, target, kind, weight, confidence in zip(*columns, strict=True)
    ]


def leads(store: Store, id: str, **how: Any) -> list[str]:
    return [one.target for one in led(store.expand_links([id], conducting(**how)))]


@pytest.fixture
def facts(pen: Pen) -> list[str]:
    return [pen.tell(f"fact {number}") for number in range(5)]


def test_the_strongest_links_come_first_of_each_fact_in_the_order_asked_for(
    store: Store, pen: Pen, facts: list[str]
) -> None:
    a, b, c, d, _ = facts
    connect(pen, (a, b), "supports", 0.3, 0.9)
    connect(pen, (a, c), "supports", 0.8, 0.4)
    connect(pen, (d, a), "similar", 0.5, 0.6)
    found = store.expand_links([d, a], conducting())
    assert found.ids == (d, a, c, b)
    assert led(found) == [
        Led(d, a, "similar", 0.5, 0.6),
        Led(a, c, "supports", 0.8, 0.4),
        Led(a, d, "similar", 0.5, 0.6),
        Led(a, b, "supports", 0.3, 0.9),
    ]
    assert found.degree.tolist() == [1, 3]


def test_of_links_as_strong_kind_and_id_decide(store: Store, pen: Pen, facts: list[str]) -> None:
    a, b, c, d, _ = facts
    connect(pen, (a, d), "supports")
    connect(pen, (c, a), "supports")
    connect(pen, (a, b), "outcome")
    assert leads(store, a) == [b, c, d]
    assert leads(store, a, most=2) == [b, c]


def test_only_the_kinds_asked_for_are_followed(store: Store, pen: Pen, facts: list[str]) -> None:
    a, b, c, d, _ = facts
    connect(pen, (a, b), "supports")
    connect(pen, (a, c), "similar", 0.5)
    connect(pen, (a, d), "reminds me of", 0.4)
    assert leads(store, a) == [b, c, d]
    assert leads(store, a, kinds=frozenset({"similar", "reminds me of"})) == [c, d]
    assert leads(store, a, kinds=frozenset()) == []


def test_the_floor_is_for_confidence_and_not_for_what_was_never_said(store: Store, pen: Pen, facts: list[str]) -> None:
    a, b, c, d, _ = facts
    connect(pen, (a, b), "supports", 1.0, 0.5)
    connect(pen, (a, c), "supports", 0.9, 0.49)
    connect(pen, (a, d), "supports", 0.8, None)
    assert leads(store, a, floor=0.5) == [b, d]


def test_a_cause_leads_to_its_effect_and_never_back(store: Store, pen: Pen, facts: list[str]) -> None:
    cause, effect, *_ = facts
    connect(pen, (cause, effect), "causes")
    assert leads(store, cause) == [effect]
    assert leads(store, effect) == []
    assert store.expand_links([effect], conducting()).degree.tolist() == [0]


@pytest.mark.parametrize("kind", ["contradicts", "supersedes"])
def test_what_contradicts_is_never_followed_even_when_asked_for(
    store: Store, pen: Pen, facts: list[str], kind: str
) -> None:
    a, b, *_ = facts
    connect(pen, (a, b), kind)
    for id in (a, b):
        assert leads(store, id) == leads(store, id, kinds=frozenset({kind})) == []
        assert store.expand_links([id], conducting()).degree.tolist() == [0]


def test_the_degree_counts_neighbours_whatever_the_filter_leaves(store: Store, pen: Pen) -> None:
    hub, *others = (pen.tell(f"fact {n}", category="kept" if n == 3 else None) for n in range(5))
    for other in others:
        connect(pen, (hub, other), "supports")
    found = store.expand_links([hub], conducting(categories=frozenset({"kept"}), most=1))
    assert [one.target for one in led(found)] == [others[2]]
    assert found.degree.tolist() == [4]


def test_the_filter_comes_before_the_limit(store: Store, pen: Pen) -> None:
    hub, strong, weak = pen.tell("hub"), pen.tell("strong"), pen.tell("weak", category="kept")
    connect(pen, (hub, strong), "supports", 1.0)
    connect(pen, (hub, weak), "supports", 0.1)
    assert leads(store, hub, most=1, categories=frozenset({"kept"})) == [weak]


def test_archived_facts_are_not_led_to_unless_wanted(store: Store, pen: Pen) -> None:
    a, b = pen.tell("one"), pen.tell("two", archived=True)
    connect(pen, (a, b), "supports")
    assert leads(store, a) == []
    assert leads(store, a, archived=True) == [b]


def test_parallel_links_have_rows_of_their_own_and_are_one_neighbour(store: Store, pen: Pen, facts: list[str]) -> None:
    a, b, *_ = facts
    connect(pen, (a, b), "supports", 0.2)
    connect(pen, (a, b), "causes", 0.7)
    connect(pen, (b, a), "supports", 0.5)
    found = store.expand_links([a], conducting())
    assert [(one.target, one.kind, one.weight) for one in led(found)] == [
        (b, "causes", 0.7),
        (b, "supports", 0.5),
        (b, "supports", 0.2),
    ]
    assert (found.ids, found.degree.tolist()) == ((a, b), [1])


def test_what_was_never_said_is_not_a_number_and_comes_last(store: Store, pen: Pen, facts: list[str]) -> None:
    a, b, c, *_ = facts
    connect(pen, (a, b), "supports", None, None)
    connect(pen, (a, c), "supports", 0.1, 0.2)
    found = store.expand_links([a], conducting())
    assert [found.ids[row] for row in found.target] == [c, b]
    assert np.isnan(found.weight).tolist() == np.isnan(found.confidence).tolist() == [False, True]


def test_a_link_brings_its_tags(store: Store, pen: Pen, facts: list[str]) -> None:
    a, b, c, *_ = facts
    connect(pen, (a, b), "supports", tags=("db", "hot"))
    connect(pen, (a, c), "supports", 0.5)
    assert store.expand_links([a], conducting()).tags == (frozenset({"db", "hot"}), frozenset())


def test_names_lead_both_ways_and_say_through_what(store: Store, pen: Pen) -> None:
    """Two hold the name: from the one that mentions it 0.8 · 1/√2, back half of that, as surely as it is mentioned."""
    written = pen.write(
        holding(pen.new("teller"), {"ana": (0,)}, {}, sure=0.9), holding(pen.new("owner"), {}, {"ana": 0.8})
    )
    teller, owner = (one.id for one in written.facts)
    found = store.expand_links([teller, owner], conducting())
    assert [one[:3] for one in led(found)] == [(teller, owner, "about"), (owner, teller, "about")]
    assert found.weight == pytest.approx([0.8 / np.sqrt(2), 0.4 / np.sqrt(2)])
    assert found.confidence == pytest.approx([0.9, 0.9])
    assert (found.via, found.degree.tolist()) == (("ana", "ana"), [1, 1])
    assert leads(store, teller, kinds=frozenset({"entity"})) == []


def test_stored_links_go_through_no_name(store: Store, pen: Pen, facts: list[str]) -> None:
    a, b, *_ = facts
    connect(pen, (a, b), "supports")
    assert store.expand_links([a], conducting()).via == (None,)


def test_turns_of_a_session_lead_both_ways(store: Store, pen: Pen) -> None:
    ids = [one.id for one in pen.write(*(pen.new(f"turn {n}", session="s") for n in range(3)), reach=1).facts]
    assert leads(store, ids[1]) == [ids[0], ids[2]]


def test_unknown_and_lonely_facts_lead_nowhere(store: Store, pen: Pen, facts: list[str]) -> None:
    a, b, *_ = facts
    connect(pen, (a, b), "supports")
    pen.forget(b)
    found = store.expand_links(["unknown", b, a], conducting())
    assert (found.ids, found.degree.tolist(), len(found.source)) == (("unknown", b, a), [0, 0, 0], 0)
    nothing = store.expand_links([], conducting())
    assert (nothing.ids, len(nothing.degree), nothing.kind) == ((), 0, ())


def test_a_fact_asked_for_twice_is_expanded_once(store: Store, pen: Pen, facts: list[str]) -> None:
    a, b, *_ = facts
    connect(pen, (a, b), "supports")
    found = store.expand_links([a, a], conducting())
    assert (found.ids, found.degree.tolist(), found.source.tolist(), found.target.tolist()) == ((a, b), [1], [0], [1])


def test_facts_are_known_again_by_the_ids_they_were_told_with(store: Store, pen: Pen, facts: list[str]) -> None:
    """Whatever was written in between, and by whomever their ids are spelled."""
    a, b, c, d, _ = facts
    connect(pen, (a, b), "supports", 0.5)
    connect(pen, (b, c), "supports", 0.5)
    found = store.expand_links([a], conducting())
    asked = found.ids[1:]
    assert led(store.expand_links(asked, conducting())) == led(store.expand_links([b], conducting()))
    connect(pen, (b, d), "supports", 0.25)
    assert led(store.expand_links(asked, conducting())) == led(store.expand_links([b], conducting()))
    pen.write(archive={b: True})
    assert led(store.expand_links(asked, conducting())) == led(store.expand_links([b], conducting()))
    pen.write(removals=(b,))
    assert led(store.expand_links(asked, conducting())) == []
    assert list(found.ids) == [a, b]
