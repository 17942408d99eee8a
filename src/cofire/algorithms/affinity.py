"""Affinity of two facts: similarity, tags, category and session in one score."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.array_ops import expand_runs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class AffinityWeights:
    """Weights of the signals. Their sum is 1, so that the score stays in [0, 1]."""

    cosine: float
    tags: float
    category: float
    temporal: float


def jaccard_similarity(a: Iterable[str], b: Iterable[str]) -> float:
    """The share of common tags: |A ∩ B| / |A ∪ B|, ignoring case; 0 without any tags (002 §5).

    >>> round(jaccard_similarity(["async", "Python"], ["Async", "database"]), 4), jaccard_similarity([], [])
    (0.3333, 0.0)
    """
    first = {tag.casefold() for tag in a}
    second = {tag.casefold() for tag in b}
    union = first | second
    return len(first & second) / len(union) if union else 0.0


def jaccard_similarities(tags: Sequence[Collection[str]], left: Ints, right: Ints) -> Floats:
    """`jaccard_similarity` of many pairs of rows.

    >>> jaccard_similarities(
    ...     [["async", "Python"], ["Async", "database"], []], np.array([0, 1]), np.array([1, 2])
    ... ).round(4).tolist()
    [0.3333, 0.0]
    """
    tag_numbers = defaultdict[str, int](count().__next__)
    row_tags = [{tag_numbers[tag.casefold()] for tag in tag_names} for tag_names in tags]
    counts = np.array([len(numbers) for numbers in row_tags], np.int64)
    similarities = np.zeros(len(left))
    tagged = np.flatnonzero((counts[left] > 0) & (counts[right] > 0))
    if not len(tagged):
        return similarities
    starts = np.cumsum(counts) - counts
    flat_tags = np.fromiter(chain.from_iterable(row_tags), np.int64, int(counts.sum()))
    # A row and its tag make one key, so that the tags of all pairs are looked up at once.
    keys = np.sort(np.repeat(np.arange(len(tags)), counts) * len(tag_numbers) + flat_tags)
    pair, position = expand_runs(starts[left[tagged]], counts[left[tagged]])
    wanted_keys = right[tagged][pair] * len(tag_numbers) + flat_tags[position]
    nearest = np.minimum(np.searchsorted(keys, wanted_keys), len(keys) - 1)
    is_common = keys[nearest] == wanted_keys
    common = np.bincount(pair[is_common], minlength=len(tagged))
    similarities[tagged] = common / (counts[left[tagged]] + counts[right[tagged]] - common)
    return similarities


def temporal_proximity(hours_a: float, hours_b: float, *, sigma: float) -> float:
    """How close in time two facts were stored: exp(−Δh² / 2σ²), in hours of use (002 §5).

    >>> round(temporal_proximity(0.0, 8.0, sigma=8.0), 4), round(temporal_proximity(24.0, 0.0, sigma=8.0), 4)
    (0.6065, 0.0111)
    """
    apart = hours_a - hours_b
    return math.exp(-(apart * apart) / (2 * sigma * sigma))


def temporal_proximities(hours_a: Floats, hours_b: Floats, *, sigma: float) -> Floats:
    """`temporal_proximity` of many pairs.

    >>> temporal_proximities(np.array([0.0, 24.0]), np.array([8.0, 0.0]), sigma=8.0).round(4).tolist()
    [0.6065, 0.0111]
    """
    apart = hours_a - hours_b
    return np.exp(-(apart * apart) / (2 * sigma * sigma))


def category_match(a: str, b: str, *, cross: float) -> float:
    """1 within a category, `cross` between two. `cross` is above 0, so that category alone does not decide (002 §5).

    >>> category_match("fact", "fact", cross=0.3), category_match("fact", "preference", cross=0.3)
    (1.0, 0.3)
    """
    return 1.0 if a == b else cross


def category_matches(a: Ints, b: Ints, *, cross: float) -> Floats:
    """`category_match` of many pairs, categories being numbers.

    >>> category_matches(np.array([0, 0]), np.array([0, 1]), cross=0.3).tolist()
    [1.0, 0.3]
    """
    return np.where(a == b, 1.0, cross)


def composite_score(
    *, cosine: float, tags: float, category: float, temporal: float, weights: AffinityWeights, guard: float
) -> float:
    """The score of an edge: Σ weight · signal, 0 where the cosine is under the guard (002 §2, §6).

    The guard is needed because two unrelated facts of one session and category already score .25. Cosines
    are clipped to [0, 1]. .55 · .78 + .20 + .15 + .10 is

    >>> weights = AffinityWeights(cosine=0.55, tags=0.20, category=0.15, temporal=0.10)
    >>> round(composite_score(cosine=0.78, tags=1.0, category=1.0, temporal=1.0, weights=weights, guard=0.3), 3)
    0.879
    >>> composite_score(cosine=0.28, tags=1.0, category=1.0, temporal=1.0, weights=weights, guard=0.3)
    0.0
    """
    clipped = min(max(cosine, 0.0), 1.0)
    if clipped < guard:
        return 0.0
    return weights.cosine * clipped + weights.tags * tags + weights.category * category + weights.temporal * temporal


def composite_scores(
    *, cosine: Floats, tags: Floats, category: Floats, temporal: Floats, weights: AffinityWeights, guard: float
) -> Floats:
    """`composite_score` of many pairs.

    >>> both, weights = np.ones(2), AffinityWeights(cosine=0.55, tags=0.20, category=0.15, temporal=0.10)
    >>> cosine = np.array([0.78, 0.28])
    >>> composite_scores(cosine=cosine, tags=both, category=both, temporal=both, weights=weights, guard=0.3).round(
    ...     3
    ... ).tolist()
    [0.879, 0.0]
    """
    clipped = np.clip(cosine, 0.0, 1.0)
    score = weights.cosine * clipped + weights.tags * tags + weights.category * category + weights.temporal * temporal
    return np.where(clipped < guard, 0.0, score)
