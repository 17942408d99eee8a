"""N-grams: every run of words in a text that could be a known subject's name, however it is written. Bounded; no look at any store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice

from cofire.reading.resolving import normal, opened, singular, terms
from cofire.reading.sentences import sentences
from cofire.reading.shapes import pieces
from cofire.reading.words import STOP_WORDS

LONGEST = 6
AT_MOST = 400

_WHOLE = frozenset(("path", "url", "email", "flag"))
_ADDRESS_MARKS = frozenset("/@-.\\")
_ARTICLES = frozenset(("the", "a", "an"))
_UNSPACED_FROM = "\u0e00"
_LONGEST_UNSPACED = 8


def ngrams(text: str) -> list[str]:
    """Normal forms of all runs of up to six words of a sentence, to be looked up among known subjects.

    Those that begin and end in a word that means something come first, so that the bound cuts the others. A plural also
    gives its singular, and two words also the one they may be written as ("pg bouncer"); a script without spaces gives
    its runs of letters.

    >>> ngrams("Set the connection pools")  # doctest: +NORMALIZE_WHITESPACE
    ['set', 'connection', 'pools', 'pool', 'connection pools', 'connection pool', 'connectionpools',
     'set the connection', 'set the connection pools', 'set the connection pool', 'set the']
    """
    lines = [terms(sentence) for sentence in sentences(text)]
    found = chain(_addresses(text), _telling(lines), _unspaced(lines), _others(lines))
    return list(islice(dict.fromkeys(found), AT_MOST))


def _addresses(text: str) -> Iterator[str]:
    """Paths, URLs, e-mail and flags, which stay whole."""
    if not _ADDRESS_MARKS.isdisjoint(text):
        yield from (normal(piece.core) for piece in pieces(text) if piece.shape in _WHOLE)


def _telling(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    for width in range(1, LONGEST + 1):
        for line in lines:
            for at in range(len(line) - width + 1):
                if line[at] not in STOP_WORDS and line[at + width - 1] not in STOP_WORDS:
                    yield from _spellings(line[at : at + width])


def _spellings(run: Sequence[str]) -> Iterator[str]:
    name = " ".join(opened(run))
    if len(name) < 2:
        return
    yield name
    one = singular(run[-1])
    if one != run[-1]:
        yield name[: len(name) - len(run[-1])] + one
    if len(run) == 2:
        yield "".join(run)


def _unspaced(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    for term in chain.from_iterable(lines):
        if term[0] >= _UNSPACED_FROM:
            for width in range(2, _LONGEST_UNSPACED + 1):
                yield from (term[at : at + width] for at in range(len(term) - width + 1))


def _others(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """Runs that begin or end in a small word, articles aside: "let it be"."""
    for width in range(2, LONGEST + 1):
        for line in lines:
            for at in range(len(line) - width + 1):
                small = line[at] in STOP_WORDS, line[at + width - 1] in STOP_WORDS
                if any(small) and line[at] not in _ARTICLES and (width > 2 or not all(small)):
                    yield " ".join(line[at : at + width])
