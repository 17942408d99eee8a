"""Spoken names: runs of words in a text that may be the name of something that a fact is about, capital or not. No look at any store.

Both directions live here and find the same: all that a new fact may speak of, and whether an old one speaks of a new name.
"""

from __future__ import annotations

import string
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from cofire.model import Mentioned
from cofire.reading.failures import attempt
from cofire.reading.resolving import singular, terms
from cofire.reading.sentences import sentences
from cofire.reading.words import STOP_WORDS, words

SHORTEST, LONGEST = 4, 4
_SIGNS = dict.fromkeys(map(ord, string.punctuation + string.whitespace))

Split = Mapping[str, Sequence[str]]


def spoken(lines: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """What sentences may speak of, and in which of them. A single word counts unless it is short.

    >>> list(spoken(["Set the pools"]))
    ['set the pools', 'set the pool', 'pools', 'pool']
    """
    found: dict[str, tuple[int, ...]] = dict.fromkeys(_runs(lines[0]), (0,)) if lines else {}
    for place, sentence in enumerate(lines[1:], start=1):
        for name in dict.fromkeys(_runs(sentence)):
            found[name] = (*found[name], place) if name in found else (place,)
    return found


class Spoken(Mapping[str, tuple[int, ...]]):
    """The same of a fact, but for what it is known to mention, looked for when somebody asks: where no fact is about anything, as in
    mere talk, nobody does.

    >>> dict(Spoken(["Set the pools"], but={"pools"}))
    {'set the pools': (0,), 'set the pool': (0,), 'pool': (0,)}
    """

    __slots__ = ("_but", "_found", "_lines")

    def __init__(self, lines: Sequence[str], *, but: Collection[str]) -> None:
        self._lines, self._but = lines, but
        self._found: dict[str, tuple[int, ...]] | None = None

    def __getitem__(self, name: str) -> tuple[int, ...]:
        return self._looked_for()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._looked_for())

    def __len__(self) -> int:
        return len(self._looked_for())

    def __repr__(self) -> str:
        return repr(self._looked_for())

    def _looked_for(self) -> dict[str, tuple[int, ...]]:
        if self._found is None:
            found: dict[str, tuple[int, ...]] = attempt("spoken", lambda: spoken(self._lines), {})
            for name in self._but:
                found.pop(name, None)
            self._found = found
        return self._found


def _runs(sentence: str) -> list[str]:
    said = list(map(_word, terms(sentence)))
    found: list[str] = []
    for start, (first, one_of_them, begins) in enumerate(said, start=1):
        if not begins:
            continue
        if len(first) >= SHORTEST:
            found += (first, one_of_them)
        run = first
        for word, one, ends in said[start : start + LONGEST - 1]:
            run = f"{run} {word}"
            if ends:
                found.append(run)
                if one != word:
                    found.append(run[: -len(word)] + one)
    return found


@lru_cache(maxsize=20_000)
def _word(word: str) -> tuple[str, str, bool]:
    """A word, the same as one of its kind, and whether a name may begin and end with it."""
    return word, singular(word), word not in STOP_WORDS


def split(names: Collection[str]) -> dict[str, list[str]]:
    """Those of these names that a text may speak of, each with its words."""
    return {name: found for name in names if _may_be_spoken(found := name.split(" "))}


def _may_be_spoken(name: Sequence[str]) -> bool:
    if len(name) == 1:
        return name[0] not in STOP_WORDS
    return len(name) <= LONGEST and name[0] not in STOP_WORDS and name[-1] not in STOP_WORDS


def told_of(text: str, names: Split) -> tuple[Mentioned, ...]:
    """Those of these names, given with their words, that a text speaks of.

    >>> told_of("Drain it. Set the connection pools.", split(["connection pool", "set", "drain set"]))
    (Mentioned(name='connection pool', sentences=(1,), confidence=1.0),)
    """
    possible = _possible(text, names)
    found: dict[str, list[int]] = {}
    for at, sentence in enumerate(sentences(text) if possible else ()):
        near = _possible(sentence, possible)
        line = terms(sentence) if near else []
        for name in near:
            if _holds(line, names[name]):
                found.setdefault(name, []).append(at)
    return tuple(Mentioned(name, tuple(at), 1.0) for name, at in found.items())


def _holds(said: Sequence[str], name: Sequence[str]) -> bool:
    *before, last = name
    for start, word in enumerate(said[len(before) :]):
        is_last = word == last or (word[-1] == "s" and singular(word) == last)
        if is_last and said[start : start + len(before)] == before and (before or len(word) >= SHORTEST):
            return True
    return False


def _possible(text: str, names: Split) -> Split:
    """The names whose letters a text holds, which is told at once and rules out most; a plural may change the last letter.

    >>> names = split(["slow query", "nato treaty", "redis"])
    >>> sorted(_possible("The N.A.T.O. treaty, slow queries", names)), sorted(_possible("red queues", names))
    (['nato treaty', 'slow query'], [])
    """
    if not text.isascii():
        return names
    low = _letters(text.lower())
    telling = {name: [word for word in said if word not in STOP_WORDS] for name, said in names.items()}
    return {name: names[name] for name, said in telling.items() if all(_letters(word)[:-1] in low for word in said)}


def _letters(text: str) -> str:
    return text.translate(_SIGNS)


@lru_cache(maxsize=20_000)
def words_of(name: str) -> tuple[str, ...]:
    """The words that a fact is found by if it speaks of a name.

    >>> words_of("end of the queries")
    ('end', 'queri')
    """
    telling = [word for word in name.split(" ") if word not in STOP_WORDS]
    return tuple(dict.fromkeys(found for word in telling for found in words(word)))
