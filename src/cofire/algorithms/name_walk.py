"""Weights of the walk over names from facts that match to facts about what they mention.

The value of a step is p(seed) · p(name | seed) · p(fact | name). A name counts by its rarity, a fact by its
similarity to the question, and each is a share among its rivals (the fan effect, Anderson 1974). Of all
steps to a fact the best one counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class NameSteps:
    """Steps over names, a row each: the rows of seed, name and fact, the weight of the fact, and the step's number.

    p(fact | name) is the fact's share of the weights (`draws`) of all facts of the name.
    """

    seed: Rows
    name: Rows
    fact: Rows
    draws: Floats
    number: Rows

    def only(self, wanted: NDArray[np.bool_]) -> NameSteps:
        """The marked steps. They keep their numbers."""
        return NameSteps(
            self.seed[wanted], self.name[wanted], self.fact[wanted], self.draws[wanted], self.number[wanted]
        )


@dataclass(frozen=True)
class BestNameSteps:
    """The value and number of the best step to each fact; 0 and -1 without a step."""

    value: Floats
    step: Rows


def weigh_seeds(scores: Floats, *, softness: float) -> Floats:
    """The weight of each seed relative to the best one: e^((score − best) / softness).

    >>> weigh_seeds(np.array([1.0, 0.7]), softness=0.3).round(3).tolist()
    [1.0, 0.368]
    """
    return np.exp((scores - scores.max(initial=-np.inf)) / softness) if len(scores) else scores


def weigh_similarity(standing: Floats, *, softness: float) -> Floats:
    """The weight of a fact by its similarity to the question in deviations above chance: e^(z / softness).

    >>> weigh_similarity(np.array([2.4, 0.0]), softness=1.2).round(3).tolist()
    [7.389, 1.0]
    """
    return np.exp(np.minimum(np.maximum(standing, -20.0), 20.0) / softness)


def name_rarity(facts: int, holding: Rows) -> Floats:
    """The rarity of a name that `holding` of n facts hold: ln(1 + n / holding).

    >>> name_rarity(100, np.array([1, 100])).round(3).tolist()
    [4.615, 0.693]
    """
    return np.log1p(facts / np.maximum(1, holding))


def score_rare_links(holding: Rows, source: Floats, *, most: float) -> Floats:
    """The score of a link by the rarity of its name: (most − ln holding) · max(0, score of its source fact).

    In a large memory many facts share a common name without answering the question. A rare name counts as
    much as the fact that mentions it.

    >>> score_rare_links(np.array([1, 1, 7]), np.array([2.0, -0.5, 2.0]), most=6.0).round(2).tolist()
    [12.0, 0.0, 8.11]
    """
    return (most - np.log(np.maximum(1, holding))) * np.maximum(0.0, source)


def remaining_question_share(said: Floats, *, enough: float) -> Floats:
    """How much of the question its seed leaves to a fact: min(1, (1 − said) / enough), `said` the seed's share.

    If the seed covers the whole question, as for a question of one word, a fact cannot add to it.

    >>> remaining_question_share(np.array([1.0, 0.95, 0.4]), enough=0.1).round(2).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.asarray(np.clip((1.0 - said) / enough, 0.0, 1.0))


def link_bound_factors(given: Floats, source: Floats, own: Floats, *, most: float, least: float) -> Floats:
    """Factors that bound the contribution of links by the scores of their facts.

    clip(given, least · max(0, own), most · max(0, own, source)) / given, with `given` the contribution,
    `own` the score of the target fact and `source` that of the source fact.

    >>> given, worth = np.array([1.4, 0.5, -0.4]), np.array([1.0, 1.0, 1.0])
    >>> link_bound_factors(given, worth, worth, most=0.7, least=-0.1).tolist()
    [0.5, 1.0, 0.25]
    """
    own = np.maximum(0.0, own)
    # An infinite bound times a score of 0 is NaN, which bounds nothing.
    with np.errstate(invalid="ignore"):
        lowest, highest = least * own, most * np.maximum(own, source)
    bounded = np.where(given > highest, highest, np.where(given < lowest, lowest, given))
    return np.divide(bounded, given, out=np.ones(len(given)), where=given != 0)


def max_facts_per_name(facts: int, *, fewest: int, share: float) -> int:
    """The highest number of facts per name at which the name is evidence of a link: max(fewest, share · √n).

    >>> max_facts_per_name(100, fewest=10, share=0.5), max_facts_per_name(10_000, fewest=10, share=0.5)
    (10, 50)
    """
    return max(fewest, round(share * math.sqrt(facts)))


def choose_best_steps(steps: NameSteps, seeds: Floats, names: Floats, *, facts: int) -> BestNameSteps:
    """The best step to each fact, of equals the first. `seeds` and `names` are the weights of their rows.

    Two seeds of weight 1 and ½; the first has one name that leads to facts 0 and 1, the second one that leads to fact 1.

    >>> seed, name, fact = np.array([0, 0, 1]), np.array([0, 0, 1]), np.array([0, 1, 1])
    >>> steps = NameSteps(seed, name, fact, np.array([3.0, 1.0, 1.0]), np.arange(3))
    >>> choose_best_steps(steps, np.array([1.0, 0.5]), np.array([2.0, 2.0]), facts=2)
    BestNameSteps(value=array([0.75, 0.5 ]), step=array([0, 2]))
    """
    value, step = np.zeros(facts), np.full(facts, -1, np.int64)
    if not len(steps.seed):
        return BestNameSteps(value, step)
    used = np.zeros(len(names), np.bool_)
    used[steps.name] = True
    owner = np.zeros(len(names), np.int64)
    owner[steps.name] = steps.seed
    rivals = np.bincount(owner[used], names[used], minlength=len(seeds))
    total_draws = np.bincount(steps.name, steps.draws, minlength=len(names))
    step_values = (
        seeds[steps.seed]
        * names[steps.name]
        / np.maximum(rivals[steps.seed], 1e-12)
        * steps.draws
        / (total_draws[steps.name] + 1e-12)
    )
    # Of several assignments to a fact the last one stays: the best step, of equals the first.
    order = np.argsort(-step_values, kind="stable")[::-1]
    ordered_facts = steps.fact[order]
    value[ordered_facts] = step_values[order]
    step[ordered_facts] = steps.number[order]
    return BestNameSteps(value, step)
