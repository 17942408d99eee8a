"""BM25 scores from the postings, with session context and pruning of common words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms import bm25
from cofire.algorithms.session_context import SessionContext, borrowing_factors
from cofire.index.columns import Columns, Mask
from cofire.index.native_words import Bm25ParametersStruct, NativePostings, NativeQueryTerms
from cofire.index.postings import DescriptionPostings, Postings, lookup_counts
from cofire.index.sessions import SessionTurns
from cofire.index.terms import hash_description_term, hash_term
from cofire.stores.base import KeywordQuery

ScoreArray = NDArray[np.float64]
PositionArray = NDArray[np.integer]
# Whole ones as they are stored, broken ones where some are lent.
WordCountArray = NDArray[Any]
TurnLookup = Callable[[PositionArray], NDArray[np.int32]]

# Of a word that more facts hold, only those are looked at that may still be among the best.
COMMON_WORD_LIMIT = 2_048
# Scores are told apart to the sixth decimal, so that a difference below this decides nothing.
SCORE_TOLERANCE = 2e-6

_NO_CONTEXT_WEIGHTS = np.zeros(0)


@dataclass(frozen=True, slots=True)
class _QueryWord:
    """A word of the question: its weight, who holds it, and how much; if turns lend it, who stands around each of them."""

    weight: float
    positions: PositionArray
    counts: WordCountArray
    around: NDArray[np.int32] | None = None


class WordScores:
    """Adds up what the words of one question give each fact, the heaviest word first."""

    def __init__(
        self, columns: Columns, postings: Postings, hints: DescriptionPostings, turns: SessionTurns, cue: KeywordQuery
    ) -> None:
        self._columns, self._cue = columns, cue
        told = zip(cue.weights, _find_word_holders(postings, hints, cue), strict=True)
        words = [_QueryWord(weight, *held) for weight, held in told]
        if cue.lent and cue.context is not None and turns.known:
            words = _add_turns(words, cue.lent, columns["alive"], partial(turns.around, reach=cue.context.reach))
        self._words = sorted(words, key=lambda word: -word.weight)
        self._total = sum(cue.weights) or 1.0
        self._scores = np.zeros(columns.size)
        # What facts hold themselves and what others lend them, of the word at hand; one place more for turns that are not there.
        self._own = self._lent = np.zeros(0)

    def best(self, among: Mask, k: int) -> tuple[NDArray[np.int64], ScoreArray]:
        """Positions of the k best above 0 with their scores, best first, and of all that equal the last of them."""
        left = self._total
        for at, word in enumerate(self._words):
            positions, counts = word.positions, word.counts
            if len(positions) > COMMON_WORD_LIMIT and all(other.around is None for other in self._words[at:]):
                rivals = self._rivals(among, k, left)
                if rivals is not None:
                    self._add_for(rivals, self._words[at:])
                    return _select_best(rivals, self._scores[rivals] / self._total, k)
            if word.around is not None and self._cue.context is not None:
                positions, counts = self._with_lent(word, word.around.ravel(), self._cue.context)
            self._add(word, positions, counts)
            left -= word.weight
        held = self._held(among)
        return _select_best(held, self._scores[held] / self._total, k)

    def _add(self, word: _QueryWord, positions: PositionArray, counts: WordCountArray) -> None:
        cue = self._cue
        lengths = self._columns["length"][positions]
        resisting = bm25.length_normalisation(lengths, k1=cue.k1, b=cue.b, mean_length=cue.mean_length)
        # A position that stands here twice has the same count both times, so that it is added once.
        self._scores[positions] += word.weight * bm25.term_saturation(counts, resisting)

    def _with_lent(
        self, word: _QueryWord, around: NDArray[np.int32], context: SessionContext
    ) -> tuple[PositionArray, WordCountArray]:
        """What facts hold of a word when its turns lend it to those around them; some positions stand there more than once."""
        positions, counts, others = word.positions, word.counts, around[around >= 0]
        if not len(others):
            return positions, counts
        self._make_room()
        np.add.at(self._lent, around, np.multiply.outer(counts, context.lends()).ravel())
        self._own[positions] = counts
        found = np.concatenate([positions, others])
        held = self._own[found] + self._lent[found] * borrowing_factors(
            self._columns["length"][found], short=context.short
        )
        self._own[positions] = self._lent[around] = 0.0
        return found, held

    def _make_room(self) -> None:
        if not len(self._own):
            self._own, self._lent = np.zeros((2, self._columns.size + 1))

    def _held(self, among: Mask) -> NDArray[np.int64]:
        """Those that have a score so far."""
        # To find places in a mask is ten times as fast as in numbers.
        return np.flatnonzero((self._scores > 0) & among)

    def _rivals(self, among: Mask, k: int, left: float) -> NDArray[np.int64] | None:
        """Those that can still be among the k best, where nobody else can by the words that are left; else None."""
        ahead = self._scores[(self._scores > left) & among]
        if len(ahead) < k:
            return None
        least = float(np.partition(ahead, len(ahead) - k)[len(ahead) - k]) - SCORE_TOLERANCE * self._total
        return np.flatnonzero((self._scores >= least - left) & among) if least > left else None

    def _add_for(self, rivals: NDArray[np.int64], words: list[_QueryWord]) -> None:
        """What common words give a few facts."""
        wanted = rivals.astype(np.int32)
        for word in words:
            if len(word.positions):
                self._add(word, rivals, lookup_counts(wanted, word.positions, word.counts))


def find_best_by_words(
    holdings: NativePostings, cue: KeywordQuery, among: Mask, k: int
) -> tuple[NDArray[np.int64], ScoreArray]:
    """The same as `WordScores.best`, by compiled code, in any order."""
    order = sorted(range(len(cue.words)), key=lambda at: -cue.weights[at])
    spelled = [cue.words[at] for at in order]
    asked = NativeQueryTerms(
        tuple(map(hash_term, spelled)),
        tuple(map(hash_description_term, spelled)),
        tuple([cue.weights[at] for at in order]),
        tuple([cue.lent[at] for at in order]) if cue.lent and cue.context is not None else (),
    )
    return holdings.best(
        asked, build_bm25_parameters(cue), cue.context.lends() if cue.context else _NO_CONTEXT_WEIGHTS, among, k
    )


def build_bm25_parameters(cue: KeywordQuery) -> Bm25ParametersStruct:
    """The constants of a question for compiled code, for which facts are as long as they are."""
    short, total = cue.context.short if cue.context else 1.0, sum(cue.weights) or 1.0
    return Bm25ParametersStruct(cue.hint_weight, cue.k1, cue.b, cue.mean_length, short, usual=1.0, total=total)


def _find_word_holders(
    postings: Postings, hints: DescriptionPostings, cue: KeywordQuery
) -> list[tuple[PositionArray, WordCountArray]]:
    """Who holds each word, in the text or in a description, and how much."""
    told = postings.find_each(list(map(hash_term, cue.words)))
    if not cue.hint_weight:
        return [*told]
    hinted = hints.find_each(list(map(hash_description_term, cue.words)))
    return [
        _merge_counts(*held, more, cue.hint_weight * counts) if len(more) else held
        for held, (more, counts) in zip(told, hinted, strict=True)
    ]


def _add_turns(words: Sequence[_QueryWord], lent: Sequence[bool], alive: Mask, turns: TurnLookup) -> list[_QueryWord]:
    """Words with the turns around those who hold the lent ones, looked up for all at once. The dead lend nothing."""
    living = [_drop_dead(word, alive) if is_lent else word for word, is_lent in zip(words, lent, strict=True)]
    holders = [word.positions for word, is_lent in zip(living, lent, strict=True) if is_lent]
    if not holders:
        return living
    parts = iter(np.split(turns(np.concatenate(holders)), np.cumsum([len(one) for one in holders[:-1]])))
    return [replace(word, around=next(parts)) if is_lent else word for word, is_lent in zip(living, lent, strict=True)]


def _drop_dead(word: _QueryWord, alive: Mask) -> _QueryWord:
    held = alive[word.positions]
    return replace(word, positions=word.positions[held], counts=word.counts[held])


def _merge_counts(
    positions: PositionArray, counts: WordCountArray, others: PositionArray, more: WordCountArray
) -> tuple[PositionArray, WordCountArray]:
    """Counts of positions in order, and those of others."""
    both = np.concatenate([positions, others])
    order = both.argsort(kind="stable")
    both, held = both[order], np.concatenate([counts, more])[order]
    again = both[1:] == both[:-1]
    held[:-1][again] += held[1:][again]
    once = np.ones(len(both), np.bool_)
    once[1:] = ~again
    return both[once], held[once]


def _select_best(positions: NDArray[np.int64], scores: ScoreArray, k: int) -> tuple[NDArray[np.int64], ScoreArray]:
    if len(positions) > k:
        kept = scores >= np.partition(scores, len(scores) - k)[len(scores) - k] - SCORE_TOLERANCE
        positions, scores = positions[kept], scores[kept]
    order = np.argsort(-scores, kind="stable")
    return positions[order], scores[order]
