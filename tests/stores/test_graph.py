"""The graph part of the store contract: names, edges, inbox, kin, importance, descriptions and the active-hours clock."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from cofire.errors import InvalidInput, NotFound
from cofire.model import Edge, EdgeWrite, FactDescription, FactImportance, FactWrite, NameMention, SubjectName
from cofire.stores.base import EdgeFilter, InboxSelection, Store
from cofire.stores.edge_batch import EdgeBatch, EdgeLabel
from tests.stores.making import NOW, Pen, cue, everywhere, vector

EVERY = EdgeFilter()


def named(pen: Pen, text: str, *, mentions: tuple[str, ...] = (), about: tuple[str, ...] = (), **parts) -> FactWrite:
    plain = pen.new(text, **parts)
    return FactWrite(
        plain.fact,
        plain.counts,
        None,
        tuple(NameMention(name, (0,), 1.0) for name in mentions),
        tuple(SubjectName(name, 1.0) for name in about),
    )


def between(store: Store, *kinds: str) -> list[tuple[str, str]]:
    return [(edge.source, edge.target) for edge in store.list_edges(EdgeFilter(kinds=frozenset(kinds)), 100)]


def test_turns_of_a_session_are_linked_by_distance(store: Store, pen: Pen) -> None:
    first, second, third, fourth = (
        pen.write(pen.new(f"turn {number}", session="s"), reach=2).facts[0].id for number in range(4)
    )
    weights = {(edge.source, edge.target): edge.weight for edge in store.list_edges(EVERY, 100)}
    assert weights == {
        (first, second): 1.0,
        (second, third): 1.0,
        (third, fourth): 1.0,
        (first, third): 0.5,
        (second, fourth): 0.5,
    }


def test_turns_of_one_change_are_linked_too(store: Store, pen: Pen) -> None:
    written = pen.write(pen.new("one", session="s"), pen.new("two", session="s"), reach=3)
    assert between(store, "follows") == [(written.facts[0].id, written.facts[1].id)]
    assert written.edges.new == 1


def test_another_session_or_scope_is_not_followed(store: Store, pen: Pen) -> None:
    pen.write(
        pen.new("one", session="s"), pen.new("two", session="t"), pen.new("three", session="s", scope="x"), reach=3
    )
    assert store.list_edges(EVERY, 100) == []


def test_following_edges_carry_the_tags_both_turns_have(store: Store, pen: Pen) -> None:
    pen.write(pen.new("one", session="s", tags=("a", "b")), pen.new("two", session="s", tags=("b", "c")), reach=1)
    assert store.list_edges(EVERY, 1)[0].tags == ("b",)


def test_the_same_fact_again_writes_no_edge_again(store: Store, pen: Pen) -> None:
    pen.write(pen.new("one", session="s"), pen.new("two", session="s"), reach=3)
    again = pen.write(pen.new("one", session="s"), pen.new("two", session="s"), reach=3)
    assert again.edges.new == 0
    assert len(store.list_edges(EVERY, 100)) == 1


def test_a_mention_leads_to_the_fact_about_it_whichever_came_first(store: Store, pen: Pen) -> None:
    early = pen.write(named(pen, "PgBouncer is used", mentions=("pgbouncer",))).facts[0].id
    about = pen.write(named(pen, "a pooler", about=("pgbouncer",))).facts[0].id
    late = pen.write(named(pen, "PgBouncer restarted", mentions=("pgbouncer",))).facts[0].id
    for teller in (early, late):
        link = next(one for one in store.list_links(teller, 10) if one.target == about)
        assert (link.kind, link.via, link.source) == ("about", "pgbouncer", teller)
        assert link.weight == pytest.approx(1 / np.sqrt(3))


def test_the_way_back_from_a_subject_is_half_as_strong(store: Store, pen: Pen) -> None:
    teller = pen.write(named(pen, "one", mentions=("x",))).facts[0].id
    about = pen.write(named(pen, "two", about=("x",))).facts[0].id
    there = next(one for one in store.list_links(teller, 10) if one.target == about).weight
    back = next(one for one in store.list_links(about, 10) if one.source == teller).weight
    assert back == pytest.approx(there / 2)


def test_three_hundred_facts_on_one_name_are_three_hundred_mentions_and_no_clique(store: Store, pen: Pen) -> None:
    pen.write(*(named(pen, f"fact {number}", mentions=("hub",)) for number in range(300)))
    about = pen.write(named(pen, "the hub", about=("hub",), mentions=())).facts[0].id
    size = store.read_size()
    assert (size.mentions, size.edges) == (300, 0)
    teller = pen.all()[-1].id
    assert [link.target for link in store.list_links(teller, 1_000)] == [about]
    assert len(store.list_links(about, 1_000)) == 30


def test_a_rare_name_links_more_strongly_than_a_common_one(store: Store, pen: Pen) -> None:
    teller = pen.write(named(pen, "both", mentions=("rare", "common"))).facts[0].id
    pen.write(*(named(pen, f"c{number}", mentions=("common",)) for number in range(8)))
    pen.write(named(pen, "r", about=("rare",)), named(pen, "c", about=("common",)))
    weights = {link.via: link.weight for link in store.list_links(teller, 100) if link.kind == "about"}
    assert weights["rare"] > 2 * weights["common"]


def test_names_of_another_scope_do_not_link(store: Store, pen: Pen) -> None:
    teller = pen.write(named(pen, "one", mentions=("x",))).facts[0].id
    pen.write(named(pen, "two", about=("x",), scope="elsewhere"))
    assert store.list_links(teller, 10) == []


def test_perhaps_a_name_is_mentioned_if_somebody_is_about_it(store: Store, pen: Pen) -> None:
    about = pen.write(named(pen, "pooling guide", about=("connection pooling",))).facts[0].id
    plain = pen.new("we rely on connection pooling here")
    told = {"connection pooling": (0,), "nobody knows this": (0,)}
    perhaps = FactWrite(plain.fact, plain.counts, perhaps=told)
    teller = pen.write(perhaps).facts[0].id
    assert [(link.target, link.via) for link in store.list_links(teller, 10)] == [(about, "connection pooling")]
    assert store.read_size().mentions == 1


def test_where_no_fact_is_about_anything_nothing_is_mentioned_perhaps(store: Store, pen: Pen) -> None:
    plain = pen.new("we rely on connection pooling here")
    pen.write(FactWrite(plain.fact, plain.counts, perhaps={"connection pooling": (0,)}))
    assert store.read_size().mentions == 0


def test_perhaps_a_name_is_mentioned_if_one_told_beside_it_is_about_it(store: Store, pen: Pen) -> None:
    plain = pen.new("we rely on connection pooling here")
    perhaps = FactWrite(plain.fact, plain.counts, perhaps={"connection pooling": (0,)})
    teller, about = (one.id for one in pen.write(perhaps, named(pen, "guide", about=("connection pooling",))).facts)
    assert [(link.target, link.via) for link in store.list_links(teller, 10)] == [(about, "connection pooling")]


def test_mentions_found_later_are_added_to_facts_that_are_there(store: Store, pen: Pen) -> None:
    teller = pen.tell("speaks of x")
    about = pen.write(named(pen, "two", about=("x",))).facts[0].id
    pen.write(mentions={teller: (NameMention("x", (), 1.0),), "unknown": (NameMention("x", (), 1.0),)})
    assert [link.target for link in store.list_links(teller, 10)] == [about]


def test_forgetting_a_fact_takes_its_names_and_edges_away(store: Store, pen: Pen) -> None:
    kept = pen.write(named(pen, "one", mentions=("x",))).facts[0].id
    gone = pen.write(named(pen, "two", about=("x",))).facts[0].id
    pen.write(edges=(EdgeWrite(Edge(kept, gone, "supports")),))
    pen.forget(gone)
    assert store.list_links(kept, 10) == []
    assert (store.read_size().edges, store.read_size().mentions) == (0, 1)


@pytest.mark.parametrize(
    ("mode", "met"),
    [("reinforce", (0.5, 0.65, 0, 1)), ("update", (0.9, 0.9, 0, 1)), ("skip", (0.5, 0.6, 0, 0))],
)
def test_an_edge_that_is_there_already_meets_its_mode(
    store: Store, pen: Pen, mode: str, met: tuple[float, ...]
) -> None:
    a, b = pen.tell("one"), pen.tell("two")
    pen.write(edges=(EdgeWrite(Edge(a, b, "supports", 0.5, 0.6)),))
    written = pen.write(edges=(EdgeWrite(Edge(a, b, "supports", 0.9, 0.9), mode),))
    (edge,) = store.list_edges(EVERY, 10)
    assert (edge.weight, edge.confidence, written.edges.new, written.edges.changed) == pytest.approx(met)


def test_in_a_crowd_of_new_edges_each_one_meets_what_is_there(store: Store, pen: Pen) -> None:
    ids = [written.id for written in pen.write(*(pen.new(f"fact {number}") for number in range(36))).facts]
    (a, b, c, d, *_), crowd = ids, [(one, other) for one in ids for other in ids if one != other]
    there = [Edge(a, b, "supports", 0.5, 0.6), Edge(a, c, "supports", 0.5, 0.6), Edge(a, d, "similar", 0.5, 0.6)]
    pen.write(edges=tuple(map(EdgeWrite, there)))
    pen.write(ended=(Edge(a, d, "similar"),))
    written = pen.write(
        edges=(
            *(EdgeWrite(Edge(one, other, "causes", 0.3, 0.4)) for one, other in crowd),
            EdgeWrite(Edge(a, b, "supports", 0.9, 0.9), "update"),
            EdgeWrite(Edge(a, c, "supports", 0.9, 0.9), "skip"),
            EdgeWrite(Edge(a, d, "similar", 0.7, 0.8)),
            EdgeWrite(Edge(b, c, "causes", 0.9, 0.9)),
            EdgeWrite(Edge(a, "nobody", "similar"), own=True),
        )
    )
    assert (written.edges.new, written.edges.changed) == (len(crowd) + 1, 2)
    held = {
        (edge.source, edge.target, edge.kind): (edge.weight, edge.confidence) for edge in store.list_edges(EVERY, 2_000)
    }
    assert len(held) == len(crowd) + 3
    assert held[a, b, "supports"] == (0.9, 0.9)
    assert held[a, c, "supports"] == (0.5, 0.6)
    assert held[a, d, "similar"] == (0.7, 0.8)
    assert held[b, c, "causes"] == pytest.approx((0.3, 0.45))


def batch_of(ids: list[str], kind: str, mode: str = "update", *, weight: float = 0.3) -> EdgeBatch:
    """Each with each later one."""
    source, target = np.triu_indices(len(ids), 1)
    weights = np.full(len(source), weight)
    return EdgeBatch.of_one_label(
        EdgeLabel(kind, "similarity", mode, own=True),
        ids,
        source,
        target,
        weight=weights,
        confidence=weights + 0.1,
        tags={0: ("pump", "tea")} if len(source) else {},
    )


def test_a_batch_is_written_as_its_edges_would_be(store: Store, pen: Pen) -> None:
    ids = [written.id for written in pen.write(*(pen.new(f"fact {number}") for number in range(48))).facts]
    a, b, c, d, *_ = ids
    there = [
        Edge(a, b, "similar", 0.5, 0.6),
        Edge(a, c, "similar", 0.3, 0.4, (), "similarity"),
        Edge(c, d, "auto_link"),
    ]
    pen.write(edges=tuple(map(EdgeWrite, [*there, Edge(a, d, "similar", 0.5, 0.6)])))
    pen.write(ended=(Edge(a, d, "similar"),))
    batch = EdgeBatch.concatenate(
        [
            batch_of([*ids, "nobody"], "similar"),
            batch_of(ids[:4], "auto_link", "skip"),
            EdgeBatch.of([EdgeWrite(Edge(b, a, "causes", 0.9))]),
        ]
    )
    written = pen.write(edges=batch)
    many = len(ids) * (len(ids) - 1) // 2
    assert (written.edges.new, written.edges.changed) == (many - 2 + 5 + 1, 1)
    held = {(edge.source, edge.target, edge.kind): edge for edge in store.list_edges(EVERY, 2_000)}
    assert len(held) == many + 6 + 1
    assert held[a, b, "similar"] == Edge(a, b, "similar", 0.3, 0.4, ("pump", "tea"), "similarity")
    assert held[a, d, "similar"] == Edge(a, d, "similar", 0.3, 0.4, (), "similarity")
    assert held[c, d, "auto_link"].weight is None


def test_a_batch_may_be_empty_or_of_facts_that_are_gone(store: Store, pen: Pen) -> None:
    ids = [written.id for written in pen.write(*(pen.new(f"fact {number}") for number in range(48))).facts]
    nobody = [f"{number:026}" for number in range(48)]
    assert (
        pen.write(edges=EdgeBatch.concatenate([batch_of(ids, "similar"), batch_of([], "auto_link")])).edges.new
        == 48 * 47 // 2
    )
    assert (
        pen.write(edges=EdgeBatch.concatenate([batch_of(nobody, "similar"), batch_of(ids, "auto_link")])).edges.new
        == 48 * 47 // 2
    )
    assert pen.write(edges=batch_of(nobody, "auto_link")).edges.new == 0


def test_a_small_batch_is_written_too(store: Store, pen: Pen) -> None:
    ids = [written.id for written in pen.write(*(pen.new(f"fact {number}") for number in range(3))).facts]
    assert pen.write(edges=batch_of(ids, "similar")).edges.new == 3
    assert between(store, "similar") == [(ids[0], ids[1]), (ids[0], ids[2]), (ids[1], ids[2])]


def test_a_batch_does_not_cross_scopes(store: Store, pen: Pen) -> None:
    ids = [written.id for written in pen.write(*(pen.new(f"fact {number}") for number in range(46))).facts]
    with pytest.raises(InvalidInput):
        pen.write(edges=batch_of([*ids, pen.tell("two", scope="elsewhere")], "similar"))
    assert store.list_edges(EVERY, 10) == []


def test_a_batch_reads_as_a_sequence_of_edges() -> None:
    columns, single = batch_of(["a", "b", "c"], "similar"), EdgeWrite(Edge("c", "a", "causes"))
    edges = EdgeBatch.concatenate([columns, EdgeBatch.of([single])])
    first = EdgeWrite(Edge("a", "b", "similar", 0.3, 0.4, ("pump", "tea"), "similarity"), "update", own=True)
    assert (len(edges), edges[0], edges[-1], list(edges[1:])) == (4, first, single, list(edges)[1:])
    assert edges.connected_ids() == {"a", "b", "c"}


def test_a_crowd_of_which_one_is_refused_is_refused(store: Store, pen: Pen) -> None:
    ids = [written.id for written in pen.write(*(pen.new(f"fact {number}") for number in range(36))).facts]
    crowd = tuple(EdgeWrite(Edge(one, other, "causes"), "error") for one in ids for other in ids if one != other)
    with pytest.raises(InvalidInput, match="already connected by causes"):
        pen.write(edges=(*crowd, crowd[7]))
    assert store.list_edges(EVERY, 10) == []


def test_confidence_grows_to_one_and_no_further(store: Store, pen: Pen) -> None:
    a, b = pen.tell("one"), pen.tell("two")
    for _ in range(3):
        pen.write(edges=(EdgeWrite(Edge(a, b, "supports", 0.5, 0.95)),))
    assert store.list_edges(EVERY, 10)[0].confidence == 1.0


def test_mode_error_refuses_the_whole_change(store: Store, pen: Pen) -> None:
    a, b, c = pen.tell("one"), pen.tell("two"), pen.tell("three")
    pen.write(edges=(EdgeWrite(Edge(a, b, "supports")),))
    with pytest.raises(InvalidInput):
        pen.write(edges=(EdgeWrite(Edge(a, c, "supports")), EdgeWrite(Edge(a, b, "supports"), "error")))
    assert between(store, "supports") == [(a, b)]


def test_an_edge_to_an_unknown_fact_is_refused_unless_it_is_memorys_own(store: Store, pen: Pen) -> None:
    a = pen.tell("one")
    with pytest.raises(NotFound):
        pen.write(edges=(EdgeWrite(Edge(a, "nobody", "supports")),))
    assert pen.write(edges=(EdgeWrite(Edge(a, "nobody", "similar"), own=True),)).edges.new == 0


def test_edges_do_not_cross_scopes(store: Store, pen: Pen) -> None:
    a, b = pen.tell("one"), pen.tell("two", scope="elsewhere")
    with pytest.raises(InvalidInput):
        pen.write(edges=(EdgeWrite(Edge(a, b, "supports")),))


def test_edges_are_listed_by_scope_kind_fact_and_origin_strongest_first(store: Store, pen: Pen) -> None:
    a, b, c = pen.tell("one"), pen.tell("two"), pen.tell("three")
    x, y = pen.tell("four", scope="x"), pen.tell("five", scope="x")
    weak, strong = Edge(a, b, "supports", 0.2, origin="me"), Edge(b, c, "similar", 0.8)
    other = Edge(x, y, "supports", 0.5)
    pen.write(edges=tuple(EdgeWrite(edge) for edge in (weak, strong, other)))
    assert [edge.weight for edge in store.list_edges(EVERY, 10)] == [0.8, 0.5, 0.2]
    assert store.list_edges(EVERY, 1) == [strong]
    assert store.list_edges(EdgeFilter(scopes=("x",)), 10) == [other]
    assert store.list_edges(EdgeFilter(kinds=frozenset(["supports"]), scopes=("default",)), 10) == [weak]
    assert store.list_edges(EdgeFilter(ids=frozenset([c])), 10) == [strong]
    assert store.list_edges(EdgeFilter(origin="me"), 10) == [weak]
    assert store.list_edges(EdgeFilter(ids=frozenset()), 10) == []


def test_ended_edges_are_gone_and_counted(store: Store, pen: Pen) -> None:
    a, b = pen.tell("one"), pen.tell("two")
    pen.write(edges=(EdgeWrite(Edge(a, b, "similar", 0.5)),))
    written = pen.write(ended=(Edge(a, b, "similar"), Edge(b, a, "similar")))
    assert written.edges.ended == 1
    assert store.list_edges(EVERY, 10) == []


def test_facts_wait_in_the_inbox_until_they_are_dreamed(store: Store, pen: Pen) -> None:
    first, second, third = pen.tell("one"), pen.tell("two", scope="x"), pen.tell("three")
    assert [fact.id for fact in store.list_facts(InboxSelection(), 10)] == [first, second, third]
    assert [fact.id for fact in store.list_facts(InboxSelection(("x",)), 10)] == [second]
    assert [fact.id for fact in store.list_facts(InboxSelection(), 2)] == [first, second]
    told = {fact.id: fact.drawn_from for fact in store.list_facts(InboxSelection(), 10)}
    hash, category, _ = told[second]
    other = (hash, category, frozenset(["tagged"]))
    pen.write(dreamed={first: told[first], second: other, third: told[third], "unknown": told[third]})
    assert [fact.id for fact in store.list_facts(InboxSelection(), 10)] == [second], (
        "one that says something else by now waits on"
    )
    assert store.read_size().waiting == 1


def test_kin_are_the_nearest_of_the_scope(store: Store, pen: Pen) -> None:
    pen.settle()
    near, nearer = pen.tell("a", vector(0.9, 1, 0.5, 0)), pen.tell("b", vector(0.9, 1, 0.1, 0))
    pen.tell("far", vector(0.9, -1, 0, 0))
    pen.tell("elsewhere", vector(0.9, 1, 0, 0), scope="x")
    pen.tell("bare")
    me = pen.tell("me", vector(0.9, 1, 0, 0))
    kin = store.find_neighbours([me], 2, 0)
    found = {kin.ids[right]: float(cosine) for right, cosine in zip(kin.right, kin.cosines, strict=True)}
    assert {kin.ids[left] for left in kin.left} == {me}
    assert set(found) == {near, nearer}
    assert found[nearer] > found[near]


def test_facts_with_a_rare_tag_in_common_are_kin_at_any_distance(store: Store, pen: Pen) -> None:
    pen.settle()
    far = pen.tell("far", vector(0.9, -1, 0, 0), tags=("t",))
    pen.tell("near", vector(0.9, 1, 0.1, 0))
    me = pen.tell("me", vector(0.9, 1, 0, 0), tags=("t",))
    kin = store.find_neighbours([me], 1, 1)
    assert far in {kin.ids[right] for right in kin.right}
    assert far not in {
        store.find_neighbours([me], 1, 0).ids[right] for right in store.find_neighbours([me], 1, 0).right
    }


def test_there_are_no_kin_without_a_model(store: Store, pen: Pen) -> None:
    assert len(store.find_neighbours([pen.tell("one")], 3, 3).left) == 0


def test_profiles_tell_tags_category_and_the_hour_of_the_last_telling(store: Store, pen: Pen) -> None:
    early = pen.write(pen.new("one", tags=("b", "a"), category="event"), now=NOW, idle_minutes=30.0).facts[0].id
    late = pen.write(pen.new("two"), now=NOW + timedelta(minutes=15), idle_minutes=30.0).facts[0].id
    profiles = {one.id: one for one in store.fetch_profiles([early, late, "unknown"]).profiles}
    assert set(profiles) == {early, late}
    assert (profiles[early].tags, profiles[early].category) == (frozenset("ab"), "event")
    assert (profiles[early].hours, profiles[late].hours) == (0.0, pytest.approx(0.25))


def test_the_clock_runs_only_while_the_memory_is_used(store: Store, pen: Pen) -> None:
    for minutes in (0, 20, 40, 5_000, 5_010):
        pen.write(now=NOW + timedelta(minutes=minutes), idle_minutes=30.0)
    assert store.fetch_profiles([]).active_hours == pytest.approx(50 / 60)
    pen.write(now=NOW + timedelta(days=400))
    assert store.fetch_profiles([]).active_hours == pytest.approx(50 / 60)


def test_the_network_holds_what_conducts_in_its_directions(store: Store, pen: Pen) -> None:
    a, b, c, d = (pen.tell(text) for text in ("one", "two", "three", "four"))
    pen.write(
        edges=(
            EdgeWrite(Edge(a, b, "supports", 0.5, 0.5)),
            EdgeWrite(Edge(b, c, "causes", 1.0, 0.5)),
            EdgeWrite(Edge(c, d, "contradicts", 1.0, 1.0)),
        )
    )
    network = store.fetch_scope_graph("default")
    pairs = {
        (network.ids[source], network.ids[target]): float(weight)
        for source, target, weight in zip(network.source, network.target, network.weight, strict=True)
    }
    assert pairs == {(a, b): 0.25, (b, a): 0.25, (b, c): 0.5}


def test_the_network_knows_who_mentions_whom(store: Store, pen: Pen) -> None:
    teller = pen.write(named(pen, "one", mentions=("x",))).facts[0].id
    about = pen.write(named(pen, "two", about=("x",))).facts[0].id
    network = store.fetch_scope_graph("default")
    pairs = {
        (network.ids[source], network.ids[target]): float(weight)
        for source, target, weight in zip(network.source, network.target, network.weight, strict=True)
    }
    assert pairs[(teller, about)] == pytest.approx(2 * pairs[(about, teller)])


def test_importance_is_replaced_scope_by_scope(store: Store, pen: Pen) -> None:
    a, b, x = pen.tell("one"), pen.tell("two"), pen.tell("three", scope="x")
    pen.write(importance=(FactImportance(a, 0.6, 0), FactImportance(b, 0.4, 1)))
    pen.write(importance=(FactImportance(x, 1.0, 0),))
    pen.write(importance=(FactImportance(a, 1.0, 5),))
    assert store.fetch_importance([a, b, x]) == {a: FactImportance(a, 1.0, 5), x: FactImportance(x, 1.0, 0)}


def test_descriptions_are_kept_as_history_and_lead_to_the_fact_by_words(store: Store, pen: Pen) -> None:
    id = pen.tell("the pool")
    pen.write(descriptions=(FactDescription(id, "Goes with: serverless", {"serverless": 1}),))
    pen.write(
        descriptions=(FactDescription(id, "Goes with: lambda", {"lambda": 1}), FactDescription("nobody", "x", {"x": 1}))
    )
    assert store.read_history(id).descriptions == ("Goes with: serverless", "Goes with: lambda")
    asked = cue("lambda")
    hinted = type(asked)(asked.words, asked.weights, asked.mean_length, asked.k1, asked.b, 0.3)
    assert store.search_words(hinted, 5, everywhere()) == [id]
    assert store.search_words(asked, 5, everywhere()) == []
    evidence = store.fetch_features([id], ["lambda", "pool"], 0, 0)
    assert evidence.hints.tolist() == [[1.0, 0.0]]


def test_words_of_a_description_that_the_fact_says_itself_do_not_lead_to_it_twice(store: Store, pen: Pen) -> None:
    id = pen.tell("the pool", tags=("water",))
    pen.write(descriptions=(FactDescription(id, "Goes with: pool; water lily", {"pool": 1, "water": 1, "lili": 1}),))
    assert store.fetch_features([id], ["pool", "water", "lili"], 0, 0).hints.tolist() == [[0.0, 0.0, 1.0]]
