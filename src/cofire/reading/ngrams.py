"""N-grams: every run of words in a text that could be a known subject's name, however it is written. Bounded; no look at any store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from cofire.reading.resolving import SHORTENED, normal, opened, singular, terms
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
class Runs:
    """Runs of words by their width: those that begin and end in a word that means something, and those that do not."""

    telling: list[list[str]] = field(default_factory=lambda: [[] for _ in range(LONGEST)])
    others: list[list[str]] = field(default_factory=lambda: [[] for _ in range(LONGEST)])


def ngrams(text: str) -> list[str]:
    """Normal forms of all runs of up to six words of a sentence, to be looked up among known subjects.

    Those that begin and end in a word that means something come first, so that the bound cuts the others. A plural also
    gives its singular, and two words also the one they may be written as ("pg bouncer"); a script without spaces gives
    its runs of letters.

    >>> ngrams("Set the connection pools")  # doctest: +NORMALIZE_WHITESPACE
    ['set', 'connection', 'pools', 'pool', 'connection pools', 'connection pool', 'connectionpools',
     'set the connection', 'set the connection pools', 'set the connection pool', 'set the']
    """
    lines, runs = [terms(sentence) for sentence in sentences(text)], Runs()
    for line in lines:
        _run(line, runs)
    found = chain(_addresses(text), *runs.telling, _unspaced(lines), *runs.others)
    return list(islice(dict.fromkeys(found), AT_MOST))


def _addresses(text: str) -> Iterator[str]:
    """Paths, URLs, e-mail and flags, which stay whole."""
    if not _ADDRESS_MARKS.isdisjoint(text):
        yield from (normal(piece.core) for piece in pieces(text) if piece.shape in _WHOLE)


def _run(line: Sequence[str], runs: Runs) -> None:
    """Add all runs of a line to others. Each begins as the one before it, so that it is that and one word more."""
    small, singly = [term in STOP_WORDS for term in line], list(map(singular, line))
    for at, first in enumerate(line):
        if small[at]:
            _run_from_small(line, small, at, runs.others)
            continue
        name = first
        runs.telling[0] += _spellings(name, first, singly[at])
        for width, end in enumerate(range(at + 1, min(at + LONGEST, len(line))), 1):
            name = f"{name} {line[end]}"
            if small[end]:
                runs.others[width].append(name)
                continue
            spelled = name if first not in SHORTENED else " ".join(opened(line[at : end + 1]))
            runs.telling[width] += _spellings(spelled, line[end], singly[end])
            if width == 1:
                runs.telling[1].append(first + line[end])


def _run_from_small(line: Sequence[str], small: Sequence[bool], at: int, others: Sequence[list[str]]) -> None:
    """Add the runs that begin in a word that means nothing: none in an article, and not two such words alone."""
    if line[at] in _ARTICLES:
        return
    name = line[at]
    for width, end in enumerate(range(at + 1, min(at + LONGEST, len(line))), 1):
        name = f"{name} {line[end]}"
        if width > 1 or not small[end]:
            others[width].append(name)


def _spellings(name: str, last: str, singly: str) -> tuple[str, ...]:
    """A name, and the same with its last word as one of several."""
    if len(name) < 2:
        return ()
    return (name,) if last == singly else (name, name[: len(name) - len(last)] + singly)


def _unspaced(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    for term in chain.from_iterable(lines):
        if term[0] >= _UNSPACED_FROM:
            for width in range(2, _LONGEST_UNSPACED + 1):
                yield from (term[at : at + width] for at in range(len(term) - width + 1))
