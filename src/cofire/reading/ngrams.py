"""N-grams: every run of words in a text that could be a known subject's name, however it is written. Bounded; no look at any store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice

from cofire.reading.resolving import normal, opened, singular, terms
from cofire.reading.sentences import sentences
from cofire.reading.shapes import Shape, pieces
from cofire.reading.words import STOP_WORDS

LONGEST = 6
AT_MOST = 400

_WHOLE = frozenset((Shape.PATH, Shape.URL, Shape.EMAIL, Shape.FLAG))


def ngrams(text: str) -> list[str]:
    """Normal forms of all runs of up to six words of a sentence: look them up among known subjects.

    Those that begin and end in a word that means something come first, so that the bound cuts the others. A plural also
    gives its singular, and two words also give the one they may be written as ("pg bouncer").

    >>> ngrams("Set the connection pools")
    ['set', 'connection', 'pools', 'pool', 'connection pools', 'connection pool', 'connectionpools', 'set the connection', 'set the connection pools']
    """
    lines = [terms(sentence) for sentence in sentences(text)]
    found = chain(_whole(text), _runs(lines, telling=True), _runs(lines, telling=False))
    return list(islice(dict.fromkeys(found), AT_MOST))
