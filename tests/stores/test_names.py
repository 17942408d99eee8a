"""Names: those of a question that memory knows, and the paths over names from facts to others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from cofire.index.quantised import READS_BEFORE_CACHING
from cofire.model import FactWrite, NameMention
from cofire.stores import link_rules
from cofire.stores.base import ExpansionOptions, KnownName, Store
from cofire.stores.sqlite import graph_reads
from tests.stores.answers import Step, steps
from tests.stores.making import DAY, NOW, Pen, everywhere, holding

DEFAULT = everywhere(scopes=("default",))


def tell(pen: Pen, text: str, mentions: Any = (), about: Any = (), sure: float = 1.0, **parts: Any) -> str:
    """Names alone stand in the first sentence, and are what a fact is wholly about."""
    mentioned = mentions if isinstance(mentions, dict) else dict.fromkeys(mentions, (0,))
    owned = about if isinstance(about, dict) else dict.fromkeys(about, 1.0)
    return pen.write(holding(pen.new(text, **parts), mentioned, owned, sure)).facts[0].id


def paths(store: Store, *ids: str, where: Any = DEFAULT, common: int = 10, most: int = 10) -> dict[Any, Step]:
    return steps(store.fetch_name_links(ids, where, common, most))


def targets(step: Step) -> list[str]:
    return [target for target, _, _ in step.leads]


def by_content(news: Sequence[FactWrite]) -> list[str]:
    order = sorted(news, key=lambda new: int.from_bytes(new.fact.hash[:8], "little", signed=True))
    return [new.fact.id for new in order]


def test_a_name_is_known_with_those_about_it_and_how_many_mention_it(store: Store, pen: Pen) -> None:
    weak, strong = tell(pen, "one", about={"ana": 0.7}), tell(pen, "two", mentions=["ana"], about={"ana": 0.9})
    tell(pen, "three", mentions=["ana", "ben"])
    (ana,) = store.look_up_names(["ana", "nobody"], DEFAULT, 10)
    assert (ana.name, ana.mentioned, list(ana.about)) == ("ana", 2, [strong, weak])
    assert ana.about == pytest.approx({strong: 0.9, weak: 0.7})
    assert store.look_up_names(["ben"], DEFAULT, 10) == [KnownName("ben", 1, {})]
    assert store.look_up_names([], DEFAULT, 10) == store.look_up_names(["nobody"], DEFAULT, 10) == []


def test_a_name_asked_for_twice_is_known_once(store: Store, pen: Pen) -> None:
    id = tell(pen, "one", about=["ana"])
    assert store.look_up_names(["ana", "ana"], DEFAULT, 10) == [KnownName("ana", 0, {id: 1.0})]


def test_at_most_so_many_are_known_about_a_name_of_equals_by_content(store: Store, pen: Pen) -> None:
    news = [holding(pen.new(f"fact {number}"), {}, {"ana": 0.5}) for number in range(9)]
    pen.write(*news)
    best = tell(pen, "the one", about=["ana"])
    (ana,) = store.look_up_names(["ana"], DEFAULT, 4)
    assert list(ana.about) == [best, *by_content(news)[:3]]


def test_the_filter_leaves_out_who_is_about_a_name_but_not_that_it_is_known(store: Store, pen: Pen) -> None:
    tell(pen, "one", about=["ana"], archived=True)
    tell(pen, "two", mentions=["ana"], archived=True)
    kept = tell(pen, "three", about=["ana"], speaker="Ben")
    tell(pen, "four", about=["ana"])
    assert store.look_up_names(["ana"], everywhere(scopes=("default",), speakers=frozenset({"Ben"})), 10) == [
        KnownName("ana", 1, {kept: 1.0})
    ]


def test_the_same_name_of_two_scopes_is_known_twice(store: Store, pen: Pen) -> None:
    a, b = tell(pen, "one", about=["ana"], scope="a"), tell(pen, "two", about=["ana"], scope="b")
    both = store.look_up_names(["ana"], everywhere(scopes=("a", "b")), 10)
    assert sorted(str(dict(one.about)) for one in both) == sorted(str({id: 1.0}) for id in (a, b))
    assert store.look_up_names(["ana"], everywhere(scopes=("b", "nowhere")), 10) == [KnownName("ana", 0, {b: 1.0})]
    assert store.look_up_names(["ana"], everywhere(scopes=("nowhere",)), 10) == []


def test_a_name_is_forgotten_with_the_last_fact_that_holds_it(store: Store, pen: Pen) -> None:
    owner, teller = tell(pen, "one", about=["ana"]), tell(pen, "two", mentions=["ana"])
    pen.forget(owner)
    assert store.look_up_names(["ana"], DEFAULT, 10) == [KnownName("ana", 1, {})]
    pen.forget(teller)
    assert store.look_up_names(["ana"], DEFAULT, 10) == []


def test_a_path_leads_over_a_name_to_those_about_it_and_those_that_mention_it(store: Store, pen: Pen) -> None:
    seed = tell(pen, "seed", mentions={"ana": (0, 2)}, sure=0.8)
    owner = tell(pen, "owner", mentions={"ana": (1,)}, about={"ana": 0.7})
    teller = tell(pen, "teller", mentions={"ana": (3,)})
    assert paths(store, seed) == {
        (seed, "ana"): Step(
            3, 0b101, 0.0, pytest.approx(0.8), [(owner, pytest.approx(0.7), 0b10), (teller, 0.0, 0b1000)]
        )
    }


def test_a_fact_about_a_name_holds_it_as_surely_as_it_is_about_it(store: Store, pen: Pen) -> None:
    """Sure is the better of the confidence of the mention, 0.5 here, and the strength of being about it, 0.9."""
    both = tell(pen, "both", mentions={"ana": (0,)}, about={"ana": 0.9, "ben": 0.4}, sure=0.5)
    found = paths(store, both)
    assert found[both, "ana"] == Step(1, 1, pytest.approx(0.9), pytest.approx(0.9), [])
    assert found[both, "ben"] == Step(1, 0, pytest.approx(0.4), pytest.approx(0.4), [])
    doubted = tell(pen, "doubted", mentions={"cleo": (0,)}, about={"cleo": 0.2}, sure=0.5)
    assert paths(store, doubted)[doubted, "cleo"].sure == pytest.approx(0.5)


def test_sentences_after_the_last_bit_share_it(store: Store, pen: Pen) -> None:
    a = tell(pen, "one", mentions={"ana": (31, 40, 31)})
    b = tell(pen, "two", mentions={"ana": (0, 99)})
    found = paths(store, a)[a, "ana"]
    assert (found.sentences, found.leads) == (1 << 31, [(b, 0.0, (1 << 31) | 1)])


def test_a_common_name_leads_only_to_those_about_it(store: Store, pen: Pen) -> None:
    seed, teller = tell(pen, "seed", mentions=["ana"]), tell(pen, "teller", mentions=["ana"])
    owner = tell(pen, "owner", mentions=["ana"], about=["ana"])
    assert set(targets(paths(store, seed, common=3)[seed, "ana"])) == {owner, teller}
    assert targets(paths(store, seed, common=2)[seed, "ana"]) == [owner]
    assert paths(store, seed, common=0)[seed, "ana"].count == 3


def test_at_most_so_many_are_led_to_the_strongest_first_then_by_content(store: Store, pen: Pen) -> None:
    seed = tell(pen, "seed", about={"ana": 0.1})
    tellers = [holding(pen.new(f"teller {number}"), {"ana": (0,)}, {}) for number in range(8)]
    owners = [holding(pen.new(f"owner {number}"), {}, {"ana": 0.5}) for number in range(3)]
    pen.write(*tellers, *owners)
    ranked = [*by_content(owners), seed, *by_content(tellers)]
    for most in (2, 3, 6, 20):
        led = targets(paths(store, seed, common=50, most=most)[seed, "ana"])
        assert led == [id for id in ranked[:most] if id != seed]


def test_the_filter_leaves_out_targets_but_neither_seeds_nor_counts(store: Store, pen: Pen) -> None:
    seed = tell(pen, "seed", mentions=["ana"], archived=True)
    tell(pen, "archived", about=["ana"], archived=True)
    owner, other = tell(pen, "owner", about=["ana"], speaker="Ben"), tell(pen, "other", about=["ana"])
    assert paths(store, seed)[seed, "ana"].count == 4
    assert set(targets(paths(store, seed)[seed, "ana"])) == {owner, other}
    ben = everywhere(scopes=("default",), speakers=frozenset({"Ben"}))
    assert targets(paths(store, seed, where=ben)[seed, "ana"]) == [owner]


def test_the_seed_takes_its_place_among_those_led_to(store: Store, pen: Pen) -> None:
    """Of most = 1 the strongest is the seed itself, so nobody else is."""
    seed, _ = tell(pen, "seed", about=["ana"]), tell(pen, "other", about={"ana": 0.5})
    assert paths(store, seed, most=1)[seed, "ana"].leads == []


def test_holders_of_other_scopes_are_neither_led_to_nor_counted(store: Store, pen: Pen) -> None:
    seed = tell(pen, "seed", mentions=["ana"], scope="a")
    tell(pen, "owner", about=["ana"], scope="b")
    assert paths(store, seed, where=everywhere()) == {(seed, "ana"): Step(1, 1, 0.0, 1.0, [])}


def test_seeds_of_two_scopes_hold_names_of_their_own(store: Store, pen: Pen) -> None:
    a, b = (tell(pen, "seed", mentions=["ana"], scope=scope) for scope in "ab")
    a_owner, b_owner = (tell(pen, "owner", about=["ana"], scope=scope) for scope in "ab")
    found = paths(store, a, b, where=everywhere())
    assert targets(found[a, "ana"]) == [a_owner]
    assert targets(found[b, "ana"]) == [b_owner]


def test_removed_facts_are_neither_led_to_nor_counted(store: Store, pen: Pen) -> None:
    seed, owner = tell(pen, "seed", mentions=["ana"]), tell(pen, "owner", about=["ana"])
    assert targets(paths(store, seed)[seed, "ana"]) == [owner]
    pen.forget(owner)
    assert paths(store, seed) == {(seed, "ana"): Step(1, 1, 0.0, 1.0, [])}


def test_a_fact_told_again_holds_what_it_held_once(store: Store, pen: Pen) -> None:
    seed, owner = tell(pen, "seed", mentions=["ana"]), tell(pen, "owner", about={"ana": 0.5})
    for _ in range(3):
        tell(pen, "seed", mentions=["ana", "ben"], tags=("again",))
        tell(pen, "owner", about=["ana"])
    assert paths(store, seed) == {(seed, "ana"): Step(2, 1, 0.0, 1.0, [(owner, 0.5, 0)])}


def test_names_found_later_lead_too(store: Store, pen: Pen) -> None:
    seed, owner = tell(pen, "seed", mentions=["ben"]), tell(pen, "owner", about=["ana"])
    assert set(paths(store, seed)) == {(seed, "ben")}
    pen.write(mentions={seed: (NameMention("ana", (1,), 0.5), NameMention("ben", (4,), 0.1))})
    found = paths(store, seed)
    assert found[seed, "ana"] == Step(2, 0b10, 0.0, 0.5, [(owner, 1.0, 0)])
    assert found[seed, "ben"] == Step(1, 0b1, 0.0, 1.0, [])


def test_ids_are_the_seeds_in_their_order_then_the_others_once_each(store: Store, pen: Pen) -> None:
    a, b = tell(pen, "one", mentions=["ana", "ben"]), tell(pen, "two", mentions=["ana", "ben"], session="s")
    c = tell(pen, "three", mentions=["ana", "ben"], session="s")
    found = store.fetch_name_links([b, "unknown", a, b], DEFAULT, 10, 10)
    assert found.ids == (b, a, c)
    assert found.loose.tolist() == [False, True, False]
    assert {key: sorted(targets(step)) for key, step in steps(found).items()} == {
        (b, "ana"): [a, c],
        (b, "ben"): [a, c],
        (a, "ana"): [b, c],
        (a, "ben"): [b, c],
    }


@pytest.mark.parametrize("most", [graph_reads.MAX_CACHED_NAMES, 5])
def test_names_are_spelled_right_however_often_one_asks(
    store: Store, pen: Pen, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """The first are read as they are met, then all at once if they are not too many, then again those that came since."""
    monkeypatch.setattr(graph_reads, "MAX_CACHED_NAMES", most)
    for told in range(READS_BEFORE_CACHING + 3):
        seed = tell(pen, f"fact {told}", mentions=[f"name {told}", "ana"])
        other = tell(pen, f"about {told}", about=[f"name {told}"])
        assert {name: targets(step) for (_, name), step in paths(store, seed).items() if name != "ana"} == {
            f"name {told}": [other]
        }


@pytest.mark.parametrize("ids", [(), ("unknown",), ("1".zfill(26),)])
def test_where_no_name_is_held_no_path_leads(store: Store, pen: Pen, ids: tuple[str, ...]) -> None:
    pen.tell("nameless")
    tell(pen, "named", about=["ana"])
    found = store.fetch_name_links(ids, DEFAULT, 10, 10)
    assert found.ids == tuple(id for id in ids if id != "unknown")
    assert (found.name, len(found.holder), len(found.step), len(found.target)) == ((), 0, 0, 0)


def test_a_name_that_very_many_are_about_leads_nowhere_and_is_counted(
    store: Store, pen: Pen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_rules, "MAX_WALK_HOLDERS", 3)
    owners = [tell(pen, f"owner {number}", about=["ana"]) for number in range(3)]
    seed = tell(pen, "seed", mentions=["ana"])
    assert set(targets(paths(store, seed)[seed, "ana"])) == set(owners)
    owners.append(tell(pen, "both", mentions=["ana"], about=["ana"]))
    teller = tell(pen, "teller", mentions=["ana"])
    found = paths(store, seed)[seed, "ana"]
    assert (found.count, set(targets(found))) == (6, {teller, owners[-1]})
    pen.forget(*owners[:2])
    assert set(targets(paths(store, seed)[seed, "ana"])) == {teller, *owners[2:]}


def test_a_name_of_few_stays_one_however_often_they_are_told(
    store: Store, pen: Pen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_rules, "MAX_WALK_HOLDERS", 3)
    seed, owner = tell(pen, "seed", mentions=["ana"]), tell(pen, "owner", about=["ana"])
    for days in range(5):
        pen.write(pen.new("owner"), now=NOW + days * DAY)
        assert paths(store, seed)[seed, "ana"] == Step(2, 1, 0.0, 1.0, [(owner, 1.0, 0)])


def speaking(
    store: Store, most: int = 10, anew: bool = False, scope: str = "default", **names: str
) -> dict[str, set[str]]:
    found = store.find_unlinked_mentions(scope, {name: words.split() for name, words in names.items()}, most, anew)
    return {name: set(ids) for name, ids in found.items()}


def test_who_speaks_of_a_name_holds_all_its_words(store: Store, pen: Pen) -> None:
    one, other = tell(pen, "tea pot"), tell(pen, "a pot of green tea")
    tell(pen, "tea")
    assert speaking(store, teapot="tea pot", cup="cup", both="tea cup") == {"teapot": {one, other}}


def test_who_mentions_a_name_already_is_not_told_to_speak_of_it(store: Store, pen: Pen) -> None:
    tell(pen, "tea pot", mentions=["teapot"])
    silent = tell(pen, "another tea pot")
    assert speaking(store, teapot="tea pot") == {"teapot": {silent}}


def test_of_a_name_that_a_fact_is_about_speakers_are_looked_for_only_anew(store: Store, pen: Pen) -> None:
    teller = tell(pen, "tea pot")
    tell(pen, "porcelain", about=["teapot"])
    assert speaking(store, teapot="tea pot") == {}
    assert speaking(store, anew=True, teapot="tea pot") == {"teapot": {teller}}


def test_where_more_than_so_many_hold_the_words_of_a_name_none_is_told(store: Store, pen: Pen) -> None:
    tellers = {tell(pen, f"tea pot {number}") for number in range(3)}
    assert speaking(store, most=2, teapot="tea pot") == {}
    assert speaking(store, most=3, teapot="tea pot") == {"teapot": tellers}


def test_who_speaks_of_a_name_is_of_the_scope_and_still_there(store: Store, pen: Pen) -> None:
    teller, gone = tell(pen, "tea pot", scope="home"), tell(pen, "a tea pot", scope="home")
    pen.forget(gone)
    assert speaking(store, scope="home", teapot="tea pot") == {"teapot": {teller}}
    assert speaking(store, teapot="tea pot") == speaking(store, scope="nowhere", teapot="tea pot") == {}


def test_neighbours_by_name_are_those_that_a_walk_may_take(store: Store, pen: Pen) -> None:
    ids = [tell(pen, f"Note {number}: Redis restarted.", ["redis"]) for number in range(60)]
    walked = store.expand_links([ids[0]], ExpansionOptions(everywhere(), None, 0.0, 100, names=True))
    listed = {link.target if link.source == ids[0] else link.source for link in store.list_links(ids[0], 1_000)}
    assert listed == set(walked.ids[1:])
