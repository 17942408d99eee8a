"""Terms: words and marks as 64-bit numbers, and the bytes in which a fact keeps its own. No word is spelled out in an index."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics.runs import stretched
from cofire.kernels.library import LIBRARY
from cofire.kernels.words import sentences
from cofire.model import Fact
from cofire.reading.timewords import speaks_of_time
from cofire.stores.index.key_arrays import among

Terms = NDArray[np.int64]
Counts = NDArray[np.uint16]

_MOST = 65_535
# So many facts are described sooner one by one.
FEW = 64


@dataclass(frozen=True, slots=True)
class Held:
    """What a fact holds, as bytes: its terms and, aligned with them, how often each occurs (0 for a mark)."""

    terms: bytes
    counts: bytes


def _number(said: str) -> int:
    return int.from_bytes(blake2b(said.encode("utf-8"), digest_size=8).digest(), "little", signed=True)


@lru_cache(maxsize=200_000)
def term(word: str) -> int:
    """A word as a number, the same in every process."""
    return _number(word)


def mark(kind: str, value: str) -> int:
    """A tag, category, speaker or session as a number that no word has."""
    return term(_marked(kind, value))


def _marked(kind: str, value: str) -> str:
    return f"\x1f{kind}\x1f{value}"


def marks(fact: Fact) -> list[int]:
    """All that a fact can be filtered by, besides scope and time."""
    single = (("category", fact.category), ("speaker", fact.speaker), ("session", fact.session))
    found = [mark("tag", tag) for tag in fact.tags] + [mark(kind, value) for kind, value in single if value is not None]
    return [*found, *shapes(fact)]


def asks(fact: Fact) -> bool:
    """Whether a fact ends in a question."""
    return fact.text.rstrip().endswith("?")


ASKS, TIMED = mark("shape", "asks"), mark("shape", "timed")


def shapes(fact: Fact) -> list[int]:
    """What kind of saying a fact is: one that asks, one that speaks of a time."""
    return [number for number, holds in ((ASKS, asks(fact)), (TIMED, speaks_of_time(fact.text))) if holds]


def packed(counts: Mapping[str, int], marked: Iterable[int]) -> Held:
    """The words of a fact with their counts, and its marks."""
    return _packed({term(word): min(count, _MOST) for word, count in counts.items()}, marked)


def joined(stored: Held, counts: Mapping[str, int], marked: Iterable[int]) -> tuple[Held, int]:
    """The stored words of a fact and those of a new telling, each as often as it occurs in either; with what that adds in length."""
    held = {number: count for number, count in _opened(stored).items() if count}
    before = sum(held.values())
    for word, count in counts.items():
        held[term(word)] = max(held.get(term(word), 0), min(count, _MOST))
    return _packed(held, marked), sum(held.values()) - before


def with_words(stored: Held, counts: Mapping[str, int]) -> tuple[Held, int]:
    """What a fact holds, with words that it lacks; and what they add to its length."""
    held = _opened(stored)
    lacking = {term(word): min(count, _MOST) for word, count in counts.items() if not held.get(term(word))}
    return _packed(held | lacking, ()), sum(lacking.values())


def packed_places(places: Mapping[str, int]) -> bytes:
    """In which sentences words stand: their numbers, cut to half, then a bit a sentence for each."""
    numbers = np.array([term(word) for word in places], np.int64).astype(np.int32)
    return numbers.tobytes() + np.fromiter(places.values(), np.uint32, len(places)).tobytes()


def places_of(stored: Sequence[bytes | None], words: Terms) -> NDArray[np.int64]:
    """The sentences of these words in facts, a bit each: a row a fact, a column a word; nothing where nothing is stored."""
    if LIBRARY is not None:
        return sentences(stored, words.astype(np.int32))
    halves = words.astype(np.int32).tolist()
    wanted = np.array(sorted(set(halves)), np.int32)
    column = wanted.searchsorted(halves)
    table = np.zeros((len(stored), len(wanted)), np.int64)
    together = np.frombuffer(b"".join([one for one in stored if one]), np.int32)
    if len(together) and len(wanted):
        # Of each fact first the numbers of its words, then as many masks.
        many = np.array([len(one) // 8 if one else 0 for one in stored], np.int64)
        row, at = stretched(2 * (np.cumsum(many) - many), many)
        numbers = together[at]
        which = np.minimum(wanted.searchsorted(numbers), len(wanted) - 1)
        found = np.flatnonzero(wanted[which] == numbers)
        table[row[found], which[found]] = together[at[found] + many[row[found]]].view(np.uint32)
    return table[:, column]


@lru_cache(maxsize=100_000)
def hint(word: str) -> int:
    """A word of a fact's description as a number of its own, so that it can count for less than a word of its text."""
    return _number(_marked("described", word))


def unsaid(counts: Mapping[str, int], terms: bytes) -> dict[str, int]:
    """Those of these words that are not among the terms of a fact."""
    own = set(array("q", terms))
    return {word: count for word, count in counts.items() if term(word) not in own}


def described(stored: Held, counts: Mapping[str, int]) -> Held:
    """What a fact holds, with the words of a description beside those of earlier ones."""
    held = _opened(stored)
    for number, count in zip(map(hint, counts), counts.values(), strict=True):
        if held.get(number, 0) < count:
            held[number] = min(count, _MOST)
    return _packed(held, ())


def all_described(stored: Sequence[Held], counts: Sequence[Mapping[str, int]], own: Sequence[bytes]) -> list[Held]:
    """The same of many facts at once, with the words that are not among their own terms.

    >>> own = [packed({"tea": 1}, ()).terms, b""]
    >>> all_described([Held(b"", b"")] * 2, [{"tea": 1, "pot": 2}, {}], own) == [
    ...     described(Held(b"", b""), {"pot": 2}),
    ...     Held(b"", b""),
    ... ]
    True
    """
    if len(counts) <= FEW or not any(counts):
        return _few_described(stored, counts, own)
    return [
        new if not before.terms else described(before, unsaid(said, terms))
        for new, before, said, terms in zip(_hinted(counts, own), stored, counts, own, strict=True)
    ]


def _few_described(stored: Sequence[Held], counts: Sequence[Mapping[str, int]], own: Sequence[bytes]) -> list[Held]:
    """The same of a few. The words that a new fact gives to all that it is linked with are looked up once for them."""
    given = {id(said): said for said in counts}
    numbers = {
        which: list(zip(map(term, said), map(hint, said), said.values(), strict=True)) for which, said in given.items()
    }
    found = []
    for before, said, terms in zip(stored, counts, own, strict=True):
        held, known = _opened(before), set(array("q", terms))
        for number, hinted, count in numbers[id(said)]:
            if number not in known and held.get(hinted, 0) < count:
                held[hinted] = min(count, _MOST)
        found.append(_packed(held, ()))
    return found


def _hinted(counts: Sequence[Mapping[str, int]], own: Sequence[bytes]) -> list[Held]:
    """What facts without a description hold by their first one. By numbers, since a word of many is looked up all over the memory."""
    words = list(chain.from_iterable(counts))
    number = {word: at for at, word in enumerate(dict.fromkeys(words))}
    word = np.fromiter(map(number.__getitem__, words), np.int64, len(words))
    row = np.repeat(np.arange(len(counts)), list(map(len, counts)))
    often = np.fromiter(chain.from_iterable(said.values() for said in counts), np.int64, len(words))
    unsaid_ones = ~among(_own_words(list(number), own), row * len(number) + word)
    ends = np.cumsum(np.bincount(row[unsaid_ones], minlength=len(counts))).tolist()
    hints = np.array(list(map(hint, number)), np.int64)[word[unsaid_ones]].tobytes()
    many = np.minimum(often[unsaid_ones], _MOST).astype(np.uint16).tobytes()
    return [Held(hints[8 * a : 8 * b], many[2 * a : 2 * b]) for a, b in pairwise([0, *ends])]


def _own_words(words: Sequence[str], own: Sequence[bytes]) -> NDArray[np.int64]:
    """Which facts say which of these words themselves: the row of the fact times their number, and the place of the word."""
    terms = np.array(list(map(term, words)), np.int64)
    order = np.argsort(terms)
    said = np.frombuffer(b"".join(own), np.int64)
    row = np.repeat(np.arange(len(own)), [len(one) // 8 for one in own])
    place = order[np.minimum(np.searchsorted(terms, said, sorter=order), len(terms) - 1)]
    known = terms[place] == said
    return np.asarray(row[known] * len(words) + place[known], np.int64)


def redescribed(stored: Held, counts: Mapping[str, int]) -> tuple[Held, dict[str, int]]:
    """What a fact holds when words of its descriptions occur as often as this from now on; and how often they did."""
    held = _opened(stored)
    before = {word: held[hint(word)] for word in counts if hint(word) in held}
    for word, count in counts.items():
        held.pop(hint(word), None)
        if count:
            held[hint(word)] = min(count, _MOST)
    return _packed(held, ()), before


def unpacked(stored: Sequence[Held]) -> tuple[Terms, Counts, NDArray[np.int64]]:
    """Terms and counts of many facts, one after the other, with the row that each belongs to."""
    many = [len(one.counts) // 2 for one in stored]
    rows = np.repeat(np.arange(len(stored)), np.array(many, np.int64))
    terms = np.frombuffer(b"".join([one.terms for one in stored]), np.int64)
    return terms, np.frombuffer(b"".join([one.counts for one in stored]), np.uint16), rows


def _opened(stored: Held) -> dict[int, int]:
    """What one fact holds: its terms, and how often each occurs. So few are faster without numpy."""
    return dict(zip(array("q", stored.terms), array("H", stored.counts), strict=True))


def _packed(held: Mapping[int, int], marked: Iterable[int]) -> Held:
    rows = dict.fromkeys(marked, 0)
    rows.update(held)
    # An array is made faster of a list than of anything else.
    return Held(array("q", list(rows)).tobytes(), array("H", list(rows.values())).tobytes())
