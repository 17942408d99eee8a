"""Phrases: the runs of telling words in a text, best first, after RAKE (Rose et al. 2010). No dictionary of topics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cofire.reading.shapes import Line
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


def phrases(lines: Iterable[Line]) -> tuple[str, ...]:
    """Runs of words between stop words and marks, at most three words each, by the sum of their words' degree / frequency.

    A run that is longer keeps its end, where English has its heads.

    >>> from cofire.reading.shapes import pieces
    >>> phrases([pieces("The idle connections of the new staging database time out, connections and all.")])
    ('staging database', 'idle connections', 'connections')
    """
    runs = [run for line in lines for run in _runs(line)]
    scores = _scores(runs)
    best = sorted(dict.fromkeys(runs), key=lambda run: -sum([scores[word] for word in run]))
    return tuple(" ".join(run) for run in best[:AT_MOST])


def _runs(line: Line) -> Iterator[tuple[str, ...]]:
    run: list[str] = []
    for piece in line:
        telling = piece.low not in _CUT and piece.shape in _TELLING and _is_telling(piece.low)
        if run and (piece.opened or not telling):
            yield tuple(run[-LONGEST:])
            run = []
        if telling:
            run.append(piece.low)
            if piece.closed:
                yield tuple(run[-LONGEST:])
                run = []
    if run:
        yield tuple(run[-LONGEST:])


def _is_telling(low: str) -> bool:
    return len(low) > 2 and low[-2:] != "ly" and "'" not in low


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
