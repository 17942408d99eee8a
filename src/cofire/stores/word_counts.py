"""Word statistics of a scope as a store last counted them, and of several scopes together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from cofire.index.terms import TermArray, hash_term
from cofire.stores.base import WordStatistics


@dataclass(frozen=True, slots=True)
class ScopeWordCount:
    """The number of facts of a scope, their length together, and how many facts hold each term (terms in order)."""

    facts: int
    length: int
    terms: TermArray
    holding: NDArray[np.int32]

    def count_holders(self, terms: TermArray) -> NDArray[np.int64]:
        """How many facts hold each of these terms.

        >>> count = ScopeWordCount(3, 12, np.array([5, 9]), np.array([2, 1], np.int32))
        >>> count.count_holders(np.array([9, 7, 5])).tolist()
        [1, 0, 2]
        """
        if not len(self.terms):
            return np.zeros(len(terms), np.int64)
        at = np.minimum(self.terms.searchsorted(terms), len(self.terms) - 1)
        return np.where(self.terms[at] == terms, self.holding[at], 0).astype(np.int64)


def combine_word_counts(
    counts: Sequence[ScopeWordCount],
    words: Sequence[str],
    sample: NDArray[np.floating],
    times: tuple[datetime | None, datetime | None],
) -> WordStatistics:
    """The statistics of several scopes together. `times` are the earliest and the latest that their facts speak of."""
    terms = np.array([hash_term(word) for word in words], np.int64)
    facts = sum(count.facts for count in counts)
    mean_length = sum(count.length for count in counts) / facts if facts else 0.0
    holding = sum((count.count_holders(terms) for count in counts), start=np.zeros(len(words), np.int64))
    return WordStatistics(facts, mean_length, tuple(holding.tolist()), sample, *times)
