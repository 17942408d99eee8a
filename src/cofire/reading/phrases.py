"""Phrases: the runs of telling words in a text, best first, after RAKE (Rose et al. 2010). No dictionary of topics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain

from cofire.reading.shapes import chunks, look
from cofire.reading.vocabulary import SMALL, TIME_WORDS
from cofire.reading.words import STOP_WORDS

AT_MOST = 8
LONGEST = 3

_VAGUE = frozenset(
    """also back bit came come day days even everything feel feeling felt find found gave get getting give go goes going gonna
    gone good got great guess happen happened hear heard hope keep kept kind knew know known last let like little look looked
    looking looks lot lots made make makes making mean means might much need needed needs new nice one people pretty put really
    right said saw say says see seem seems seen sort start started stuff sure take taken takes taking tell thing things think
    thought time times told took tried try trying turn turned use used uses using want wanted wants way week weeks went work
    worked works year years yes yesterday able become became better best big image photo shares shared""".split()
)
_CUT = STOP_WORDS | SMALL | _VAGUE | TIME_WORDS
_TELLING = frozenset(("word", "capital", "acronym", "camel", "code"))


def phrases(said: Iterable[str]) -> tuple[str, ...]:
    """Runs of words between stop words and marks, at most three words each, by the sum of their words' degree / frequency.

    A run that is longer keeps its end, where English has its heads. `said` are sentences, beyond which no run goes.

    >>> phrases(["The idle connections of the new staging database time out, connections and all."])
    ('staging database', 'idle connections', 'connections')
    """
    runs = [run for sentence in said for run in _runs(sentence)]
    return tuple(" ".join(run) for run in _best_first(runs)[:AT_MOST])


def _runs(sentence: str) -> list[tuple[str, ...]]:
    runs, run = list[tuple[str, ...]](), list[str]()
    for word, opened, closed in map(_told, chunks(sentence)):
        if run and (opened or not word):
            runs.append(tuple(run[-LONGEST:]))
            run = []
        if word:
            run.append(word)
            if closed:
                runs.append(tuple(run[-LONGEST:]))
                run = []
    return [*runs, tuple(run[-LONGEST:])] if run else runs


@lru_cache(maxsize=100_000)
def _told(chunk: str) -> tuple[str, str, str]:
    """The word of a chunk if it is a telling one, else nothing; with the punctuation before and after it."""
    piece = look(chunk)
    telling = piece.low not in _CUT and piece.shape in _TELLING and _is_telling(piece.low)
    return piece.low if telling else "", piece.opened, piece.closed


def _is_telling(low: str) -> bool:
    return len(low) > 2 and low[-2:] != "ly" and "'" not in low


def _best_first(runs: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Each run once. Where no word comes twice, as in most texts, a run of n words scores n², so that the longest is the best."""
    words = list(chain.from_iterable(runs))
    if len(set(words)) == len(words):
        return sorted(runs, key=len, reverse=True)
    scores = _scores(runs)
    return sorted(dict.fromkeys(runs), key=lambda run: -sum([scores[word] for word in run]))


def _scores(runs: Sequence[tuple[str, ...]]) -> dict[str, float]:
    """Degree / frequency of each word: how long the runs are that it stands in, on average.

    >>> _scores([("idle", "connections"), ("connections",)])
    {'idle': 2.0, 'connections': 1.5}
    """
    frequency: dict[str, int] = {}
    degree: dict[str, int] = {}
    for run in runs:
        for word in run:
            frequency[word] = frequency.get(word, 0) + 1
            degree[word] = degree.get(word, 0) + len(run)
    return {word: degree[word] / count for word, count in frequency.items()}
