"""Weights of the walk over names from facts that match to facts about what they mention.

The value of a step is p(seed) · p(name | seed) · p(fact | name): a name counts by its rarity, a fact by its likeness to the
question, and each is shared among its rivals, which is the fan effect (Anderson 1974). Of all steps to a fact the best is kept.
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
    """Steps over names, a row each: the seed's row, the name's row, the fact's row, what p(fact | name) grows with, and a number
    by which the step is known."""

    seed: Rows
    name: Rows
    fact: Rows
    draws: Floats
    number: Rows

    def only(self, wanted: NDArray[np.bool_]) -> NameSteps:
        """The wanted ones, by their old numbers."""
        return NameSteps(
            self.seed[wanted], self.name[wanted], self.fact[wanted], self.draws[wanted], self.number[wanted]
        )


@dataclass(frozen=True)
class BestNameSteps:
    """The best step to each fact: its value, 0 where none leads, and its number, -1 there."""

    value: Floats
    step: Rows


def weigh_seeds(scores: Floats, *, softness: float) -> Floats:
    """How much each seed counts beside the best one: e^((score − best) / softness).

    >>> weigh_seeds(np.array([1.0, 0.7]), softness=0.3).round(3).tolist()
    [1.0, 0.368]
    """
    return np.exp((scores - scores.max(initial=-np.inf)) / softness) if len(scores) else scores


def weigh_similarity(standing: Floats, *, softness: float) -> Floats:
    """How much a fact draws the walk by how far its likeness to the question stands out from chance: e^(z / softness).

    >>> weigh_similarity(np.array([2.4, 0.0]), softness=1.2).round(3).tolist()
    [7.389, 1.0]
    """
    return np.exp(np.minimum(np.maximum(standing, -20.0), 20.0) / softness)


def name_rarity(facts: int, holding: Rows) -> Floats:
    """What a name says that so many facts hold: ln(1 + n / held).

    >>> name_rarity(100, np.array([1, 100])).round(3).tolist()
    [4.615, 0.693]
    """
    return np.log1p(facts / np.maximum(1, holding))


def score_rare_links(holding: Rows, source: Floats, *, most: float) -> Floats:
    """What a link says by the rarity of its name: (most − ln held) · max(0, score of the fact it comes from).

    The more a memory holds, the more namesakes there are of what facts mention that hardly answer the question; a rare name
    counts as much as the fact that mentions it.

    >>> score_rare_links(np.array([1, 1, 7]), np.array([2.0, -0.5, 2.0]), most=6.0).round(2).tolist()
    [12.0, 0.0, 8.11]
    """
    return (most - np.log(np.maximum(1, holding))) * np.maximum(0.0, source)


def remaining_question_share(said: Floats, *, enough: float) -> Floats:
    """How far a fact can be asked to add something to the share of the question that its seed says: min(1, (1 − said) / enough).

    Where the seed says it all, as for a question of one word, a fact that says the same has done what it could.

    >>> remaining_question_share(np.array([1.0, 0.95, 0.4]), enough=0.1).round(2).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.asarray(np.clip((1.0 - said) / enough, 0.0, 1.0))


def link_bound_factors(given: Floats, source: Floats, own: Floats, *, most: float, least: float) -> Floats:
    """The share of what links would give that they give: no more than a share of what the better of the two facts is worth, and no less
    than a share of what the one it leads to is: clip(given, least · max(0, own), most · max(0, own, source)) / given.

    >>> given, worth = np.array([1.4, 0.5, -0.4]), np.array([1.0, 1.0, 1.0])
    >>> link_bound_factors(given, worth, worth, most=0.7, least=-0.1).tolist()
    [0.5, 1.0, 0.25]
    """
    own = np.maximum(0.0, own)
    # Where nothing is worth anything, a bound of infinity is none.
    with np.errstate(invalid="ignore"):
        lowest, highest = least * own, most * np.maximum(own, source)
    held = np.where(given > highest, highest, np.where(given < lowest, lowest, given))
    return np.divide(held, given, out=np.ones(len(given)), where=given != 0)


def max_facts_per_name(facts: int, *, fewest: int, share: float) -> int:
    """By how many facts a name may be held for it to say something that two of them mention it: max(fewest, share · √n).

    >>> max_facts_per_name(100, fewest=10, share=0.5), max_facts_per_name(10_000, fewest=10, share=0.5)
    (10, 50)
    """
    return max(fewest, round(share * math.sqrt(facts)))


def choose_best_steps(steps: NameSteps, seeds: Floats, names: Floats, *, facts: int) -> BestNameSteps:
    """The best step to each of `facts`, of equals the one given first; `seeds` and `names` are the weights of their rows.

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
    drawn = np.bincount(steps.name, steps.draws, minlength=len(names))
    worth = (
        seeds[steps.seed]
        * names[steps.name]
        / np.maximum(rivals[steps.seed], 1e-12)
        * steps.draws
        / (drawn[steps.name] + 1e-12)
    )
    # What is written last stays: the best, and of equals the one given first.
    order = np.argsort(-worth, kind="stable")[::-1]
    value[steps.fact[order]], step[steps.fact[order]] = worth[order], steps.number[order]
    return BestNameSteps(value, step)
