"""N-grams: every run of words in a text that could be a known subject's name, however it is written. Bounded; no look at any store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Line:
    """The terms of a sentence, and which of them are small words."""

    terms: list[str]
    small: list[bool]

    @classmethod
    def of(cls, found: list[str]) -> Line:
        return cls(found, [term in STOP_WORDS for term in found])


def ngrams(text: str) -> list[str]:
    """Normal forms of all runs of up to six words of a sentence, to be looked up among known subjects.

    Those that begin and end in a word that means something come first, so that the bound cuts the others. A plural also
    gives its singular, and two words also the one they may be written as ("pg bouncer"); a script without spaces gives
    its runs of letters.

    >>> ngrams("Set the connection pools")  # doctest: +NORMALIZE_WHITESPACE
    ['set', 'connection', 'pools', 'pool', 'connection pools', 'connection pool', 'connectionpools',
     'set the connection', 'set the connection pools', 'set the connection pool', 'set the']
    """
    lines = [Line.of(terms(sentence)) for sentence in sentences(text)]
    found = chain(_addresses(text), _telling(lines), _unspaced(lines), _others(lines))
    return list(islice(dict.fromkeys(found), AT_MOST))


def _addresses(text: str) -> Iterator[str]:
    """Paths, URLs, e-mail and flags, which stay whole."""
    if not _ADDRESS_MARKS.isdisjoint(text):
        yield from (normal(piece.core) for piece in pieces(text) if piece.shape in _WHOLE)


def _telling(lines: Sequence[Line]) -> Iterator[str]:
    for width in range(1, LONGEST + 1):
        for line in lines:
            for at, end in enumerate(range(width, len(line.terms) + 1)):
                if not line.small[at] and not line.small[end - 1]:
                    yield from _spellings(line.terms[at:end])


def _spellings(run: Sequence[str]) -> list[str]:
    name = " ".join(opened(run))
    if len(name) < 2:
        return []
    one = singular(run[-1])
    if one == run[-1]:
        return [name, "".join(run)] if len(run) == 2 else [name]
    singly = name[: len(name) - len(run[-1])] + one
    return [name, singly, "".join(run)] if len(run) == 2 else [name, singly]


def _unspaced(lines: Sequence[Line]) -> Iterator[str]:
    for term in chain.from_iterable(line.terms for line in lines):
        if term[0] >= _UNSPACED_FROM:
            for width in range(2, _LONGEST_UNSPACED + 1):
                yield from (term[at : at + width] for at in range(len(term) - width + 1))


def _others(lines: Sequence[Line]) -> Iterator[str]:
    """Runs that begin or end in a small word, articles aside: "let it be"."""
    for width in range(2, LONGEST + 1):
        for line in lines:
            for at, end in enumerate(range(width, len(line.terms) + 1)):
                first, last = line.small[at], line.small[end - 1]
                if (first or last) and (width > 2 or not (first and last)) and line.terms[at] not in _ARTICLES:
                    yield " ".join(line.terms[at:end])
