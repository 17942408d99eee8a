"""Walking over names: what a step is worth, and the best one to each fact, against a double loop."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from cofire.algorithms.name_walk import (
    BestNameSteps,
    NameSteps,
    choose_best_steps,
    max_facts_per_name,
    name_rarity,
    score_rare_links,
    weigh_seeds,
    weigh_similarity,
)

amounts = some.sampled_from([0.25, 0.5, 1.0, 3.0])


@some.composite
def walks(draw: some.DrawFn) -> tuple[list[tuple[int, int, int, float]], list[float], list[float], int]:
    """Steps as (seed, name, fact, draws), the weights of seeds and names, and how many facts there are. A name has one holder."""
    seeds = draw(some.lists(amounts, min_size=1, max_size=3))
    names = draw(some.lists(amounts, min_size=1, max_size=5))
    facts = draw(some.integers(1, 5))
    owner = [draw(some.integers(0, len(seeds) - 1)) for _ in names]
    pairs = some.tuples(some.integers(0, len(names) - 1), some.integers(0, facts - 1))
    steps = [
        (owner[name], name, fact, draw(amounts)) for name, fact in draw(some.lists(pairs, unique=True, max_size=9))
    ]
    return steps, seeds, names, facts


def arrays(steps: list[tuple[int, int, int, float]]) -> NameSteps:
    seed, name, fact, draws = zip(*steps, strict=True) if steps else ((), (), (), ())
    whole = [np.array(column, np.int64) for column in (seed, name, fact)]
    return NameSteps(*whole, np.array(draws, np.float64), 10 + np.arange(len(steps)))


def worth(steps: Any, seeds: Any, names: Any) -> list[float]:
    """p(seed) · p(name | seed) · p(fact | name), each share taken over all steps."""
    found = []
    for seed, name, _, draws in steps:
        rivals = {other: names[other] for holder, other, _, _ in steps if holder == seed}
        drawn = sum(other for _, held, _, other in steps if held == name)
        found.append(seeds[seed] * names[name] / sum(rivals.values()) * draws / drawn)
    return found


@given(walks())
def test_the_best_step_to_each_fact_is_found(walk: Any) -> None:
    steps, seeds, names, facts = walk
    values = worth(steps, seeds, names)
    found = choose_best_steps(arrays(steps), np.array(seeds), np.array(names), facts=facts)
    for fact in range(facts):
        leading = {10 + at: values[at] for at, step in enumerate(steps) if step[2] == fact}
        assert found.value[fact] == pytest.approx(max(leading.values(), default=0.0))
        assert leading.get(int(found.step[fact]), 0.0) == pytest.approx(found.value[fact])
        assert (found.step[fact] == -1) == (not leading)


@given(walks())
def test_what_a_seed_gives_is_shared_among_its_steps(walk: Any) -> None:
    steps, seeds, names, _ = walk
    values = worth(steps, seeds, names)
    for seed in {step[0] for step in steps}:
        given_away = sum(value for value, step in zip(values, steps, strict=True) if step[0] == seed)
        assert given_away == pytest.approx(seeds[seed])


def test_of_steps_worth_the_same_the_first_is_kept() -> None:
    steps = NameSteps(np.array([0, 1]), np.array([0, 1]), np.array([0, 0]), np.ones(2), np.array([7, 4]))
    assert choose_best_steps(steps, np.ones(2), np.ones(2), facts=1).step.tolist() == [7]


def test_a_name_that_leads_nowhere_takes_nothing_from_the_others() -> None:
    """The seed holds two names, but only the first leads on: it has the whole of the seed."""
    steps = NameSteps(np.array([0]), np.array([0]), np.array([1]), np.ones(1), np.array([0]))
    found = choose_best_steps(steps, np.array([0.5]), np.array([1.0, 9.0]), facts=2)
    assert found.value.tolist() == pytest.approx([0.0, 0.5])
    assert found.step.tolist() == [-1, 0]


def test_without_steps_nothing_is_led_to() -> None:
    found = choose_best_steps(arrays([]), np.zeros(0), np.zeros(0), facts=2)
    assert isinstance(found, BestNameSteps)
    assert (found.value.tolist(), found.step.tolist()) == ([0.0, 0.0], [-1, -1])


def test_what_draws_nothing_is_worth_nothing() -> None:
    steps = NameSteps(np.array([0]), np.array([0]), np.array([0]), np.zeros(1), np.array([0]))
    assert choose_best_steps(steps, np.ones(1), np.ones(1), facts=1).value.tolist() == [0.0]


@given(some.lists(some.floats(-5, 5), max_size=6), some.sampled_from([0.1, 0.3, 1.0]))
def test_the_best_seed_is_warmest_and_others_fall_off(scores: list[float], softness: float) -> None:
    found = weigh_seeds(np.array(scores, np.float64), softness=softness).tolist()
    assert found == pytest.approx([math.exp((score - max(scores)) / softness) for score in scores])
    assert max(found, default=1.0) == 1.0


def test_a_fact_draws_the_more_the_further_it_stands_out_beside_the_most() -> None:
    """Of softness 1.2 a fact that stands out 1.2 less than the best draws e⁻¹ of it."""
    found = weigh_similarity(np.array([0.6, 3.0, 1.8]), softness=1.2)
    assert (found / found.max()).tolist() == pytest.approx([math.exp(-2), 1.0, math.exp(-1)])


def test_where_all_stand_out_alike_each_draws_the_same() -> None:
    assert len({*weigh_similarity(np.array([0.5, 0.5, 0.5]), softness=0.5).tolist()}) == 1


def test_a_name_held_by_none_counts_as_one_held_once() -> None:
    assert name_rarity(10, np.array([0, 1, 10])).tolist() == pytest.approx([math.log(11), math.log(11), math.log(2)])


def test_a_rare_name_tells_as_much_as_the_fact_that_mentions_it_is_worth() -> None:
    told = score_rare_links(np.array([1, 1, 20]), np.array([1.5, 0.5, 1.5]), most=6.0)
    assert told[0] == pytest.approx(3 * told[1])
    assert told[2] < told[0]


def test_a_fact_that_speaks_against_itself_lets_no_name_tell_anything() -> None:
    assert score_rare_links(np.array([1, 1_000]), np.array([-0.4, 0.0]), most=6.0).tolist() == [0.0, 0.0]


@given(some.integers(0, 10**6))
def test_the_more_facts_there_are_the_more_may_hold_a_name_that_says_something(facts: int) -> None:
    few = max_facts_per_name(facts, fewest=10, share=0.5)
    assert few >= 10
    assert few == 10 or abs(few - math.sqrt(facts) / 2) <= 0.5
    assert few <= max_facts_per_name(facts + 100, fewest=10, share=0.5)
