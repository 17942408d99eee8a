"""The degree cap: on both sides, with displacement (002 §10, Degree cap; §16, eviction order)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cofire.algorithms.degree_cap import CandidateEdges, UndirectedEdge, apply_degree_cap

ORDER = ("similar", "co_occurs")


@dataclass(frozen=True)
class Capping:
    """What changes, all of it as ties."""

    written: tuple[UndirectedEdge, ...]
    refreshed: tuple[UndirectedEdge, ...]
    displaced: tuple[UndirectedEdge, ...]


def similar(ends: str, weight: float) -> UndirectedEdge:
    return UndirectedEdge("similar", (ord(ends[0]), ord(ends[1])), weight)


def tie(kind: str, ends: str, weight: float) -> UndirectedEdge:
    return replace(similar(ends, weight), kind=kind)


def change(held: list[UndirectedEdge], candidates: list[UndirectedEdge], cap: int) -> Capping:
    ends = np.array([tie.pair for tie in candidates], np.int64).reshape(-1, 2)
    offers = CandidateEdges.of("similar", (ends[:, 0], ends[:, 1]), np.array([tie.weight for tie in candidates]))
    found = apply_degree_cap(held, offers, cap=cap, displaceable=ORDER)
    pairs = zip(found.written.one.tolist(), found.written.other.tolist(), strict=True)
    written = zip(pairs, found.written.weight.tolist(), strict=True)
    return Capping(tuple(UndirectedEdge("similar", *one) for one in written), found.refreshed, found.displaced)


def applied(held: list[UndirectedEdge], result: Capping) -> list[UndirectedEdge]:
    """What a store holds after a change."""
    touched = {(tie.pair, tie.kind) for tie in (*result.refreshed, *result.displaced)}
    return [*(tie for tie in held if (tie.pair, tie.kind) not in touched), *result.refreshed, *result.written]


def degrees(ties: list[UndirectedEdge]) -> Counter[int]:
    return Counter(node for tie in ties for node in tie.pair)


pairs = st.sampled_from([(a, b) for a in range(6) for b in range(6) if a < b])
weights = st.sampled_from([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
kinds = st.sampled_from(["similar", "similar", "co_occurs", "supports"])
held_ties = st.lists(
    st.builds(UndirectedEdge, kinds, pairs, weights, st.sampled_from([False, False, False, True])),
    max_size=20,
    unique_by=lambda tie: (tie.pair, tie.kind),
)
offers = st.lists(
    st.builds(UndirectedEdge, st.just("similar"), pairs, weights),
    max_size=15,
    unique_by=lambda tie: (tie.pair, tie.kind),
)
caps = st.integers(0, 5)


def test_a_free_place_is_taken() -> None:
    assert change([], [similar("ab", 0.5)], 1) == Capping((similar("ab", 0.5),), (), ())


def test_the_best_candidates_get_the_places() -> None:
    result = change([], [similar("ab", 0.4), similar("ac", 0.6), similar("ad", 0.5)], 2)
    assert result.written == (similar("ac", 0.6), similar("ad", 0.5))


def test_of_equal_candidates_the_smaller_ends_win() -> None:
    assert change([], [similar("bd", 0.5), similar("bc", 0.5)], 1).written == (similar("bc", 0.5),)


def test_the_cap_holds_at_the_other_end_too() -> None:
    """b has room, a has none for anything lighter."""
    held = [similar("ac", 0.6)]
    assert change(held, [similar("ab", 0.5)], 1) == Capping((), (), ())


def test_a_better_candidate_displaces_the_lightest() -> None:
    held = [similar("ab", 0.5), similar("ac", 0.4)]
    assert change(held, [similar("ad", 0.6)], 2) == Capping((similar("ad", 0.6),), (), (similar("ac", 0.4),))


def test_an_equal_candidate_displaces_nothing() -> None:
    assert change([similar("ab", 0.5)], [similar("ac", 0.5)], 1) == Capping((), (), ())


def test_a_candidate_may_displace_at_both_ends() -> None:
    held = [similar("ac", 0.2), similar("bd", 0.3)]
    assert change(held, [similar("ab", 0.5)], 1) == Capping((similar("ab", 0.5),), (), tuple(held))


def test_nothing_is_displaced_where_the_other_end_refuses() -> None:
    held = [similar("ac", 0.2), similar("bd", 0.9)]
    assert change(held, [similar("ab", 0.5)], 1) == Capping((), (), ())


def test_similar_gives_way_before_co_occurs() -> None:
    seen_together = tie("co_occurs", "ab", 0.1)
    held = [seen_together, similar("ac", 0.4)]
    assert change(held, [similar("ad", 0.5)], 2).displaced == (similar("ac", 0.4),)
    assert change(held, [similar("ad", 0.3)], 2).displaced == (seen_together,)


def test_other_kinds_count_but_stay() -> None:
    held = [tie("supports", "ab", 0.0), tie("contradicts", "ac", 0.0)]
    assert change(held, [similar("ad", 0.9)], 2) == Capping((), (), ())


def test_what_somebody_made_stays_as_it_is() -> None:
    held = [replace(similar("ab", 0.1), lasting=True)]
    assert change(held, [similar("ab", 0.9), similar("ac", 0.8)], 1) == Capping((), (), ())


def test_a_held_edge_takes_its_new_weight_and_no_new_place() -> None:
    held = [similar("ab", 0.5), similar("ac", 0.6)]
    assert change(held, [similar("ab", 0.4)], 2) == Capping((), (similar("ab", 0.4),), ())


def test_a_weight_that_stays_is_no_change() -> None:
    assert change([similar("ab", 0.5)], [similar("ab", 0.5)], 1) == Capping((), (), ())


def test_a_held_edge_that_scores_less_now_may_give_way() -> None:
    held = [similar("ab", 0.9)]
    assert change(held, [similar("ab", 0.3), similar("ac", 0.5)], 1) == Capping((similar("ac", 0.5),), (), (held[0],))


def test_a_held_edge_that_gave_way_tries_again_by_its_own_weight() -> None:
    """d takes the place of b, being similar; b then takes that of c, which only co-occurs."""
    held = [similar("ab", 0.3), tie("co_occurs", "ac", 0.1)]
    result = change(held, [similar("ab", 0.2), similar("ad", 0.6)], 2)
    assert result == Capping((similar("ad", 0.6),), (similar("ab", 0.2),), (held[1],))


def test_a_node_over_the_cap_comes_down_to_it_or_takes_nothing() -> None:
    held = [similar("ab", 0.2), similar("ac", 0.3), similar("ad", 0.6)]
    assert change(held, [similar("ae", 0.5)], 2).displaced == (similar("ab", 0.2), similar("ac", 0.3))
    assert change(held, [similar("ae", 0.5)], 1) == Capping((), (), ())


def test_ends_may_come_in_any_order() -> None:
    assert change([similar("ab", 0.5)], [similar("ba", 0.6)], 1).refreshed == (similar("ab", 0.6),)


def test_nothing_is_similar_to_itself() -> None:
    assert change([], [similar("aa", 1.0)], 5) == Capping((), (), ())


@given(held_ties, offers, caps)
def test_no_node_gets_over_the_cap(held: list[UndirectedEdge], candidates: list[UndirectedEdge], cap: int) -> None:
    result = change(held, candidates, cap)
    before, after = degrees(held), degrees(applied(held, result))
    assert all(count <= max(cap, before[node]) for node, count in after.items())
    assert all(after[node] <= cap for tie in result.written for node in tie.pair)


@given(held_ties, offers, caps)
def test_doing_it_again_changes_nothing(held: list[UndirectedEdge], candidates: list[UndirectedEdge], cap: int) -> None:
    once = applied(held, change(held, candidates, cap))
    assert change(once, candidates, cap) == Capping((), (), ())


@given(held_ties, offers, caps, st.randoms(use_true_random=False))
def test_order_of_input_does_not_matter(
    held: list[UndirectedEdge], candidates: list[UndirectedEdge], cap: int, random: Random
) -> None:
    shuffled = change(random.sample(held, len(held)), random.sample(candidates, len(candidates)), cap)
    assert shuffled == change(held, candidates, cap)


@given(held_ties, offers, caps)
def test_only_the_displaceable_gives_way_and_only_to_the_better(
    held: list[UndirectedEdge], candidates: list[UndirectedEdge], cap: int
) -> None:
    result = change(held, candidates, cap)
    offered = {tie.pair: tie.weight for tie in candidates}
    best = max((tie.weight for tie in result.written), default=0.0)
    for tie in result.displaced:
        assert tie.kind in ORDER
        assert not tie.lasting
        assert (offered.get(tie.pair, tie.weight) if tie.kind == "similar" else tie.weight) < best


@given(held_ties, offers, caps)
def test_a_refused_candidate_has_an_end_that_is_full_of_better(
    held: list[UndirectedEdge], candidates: list[UndirectedEdge], cap: int
) -> None:
    after = applied(held, change(held, candidates, cap))
    places = {(tie.pair, tie.kind) for tie in after}
    for offer in candidates:
        if (offer.pair, offer.kind) in places:
            continue
        weaker = Counter(
            n for t in after for n in t.pair if t.kind in ORDER and not t.lasting and t.weight < offer.weight
        )
        assert any(degrees(after)[node] - weaker[node] >= cap for node in offer.pair)
