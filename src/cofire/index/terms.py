"""Words and marks as 64-bit terms, their packed form, and terms under a newer tokenisation."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.array_ops import expand_runs
from cofire.index.columns import find_members
from cofire.model import Fact
from cofire.text.dates import has_time_words
from cofire.text.segmentation import split_sentences
from cofire.text.words import count_occurrences, extract_words, extract_words_and_spellings, map_words_to_sentences

TermArray = NDArray[np.int64]
CountArray = NDArray[np.uint16]

_MAX_COUNT = 65_535
# So many facts are described sooner one by one.
SMALL_BATCH = 64


@dataclass(frozen=True, slots=True)
class PackedTerms:
    """What a fact holds, as bytes: its terms and, aligned with them, how often each occurs (0 for a mark)."""

    terms: bytes
    counts: bytes


def _hash_text(said: str) -> int:
    return int.from_bytes(blake2b(said.encode("utf-8"), digest_size=8).digest(), "little", signed=True)


@lru_cache(maxsize=200_000)
def hash_term(word: str) -> int:
    """A word as a number, the same in every process."""
    return _hash_text(word)


def hash_mark(kind: str, value: str) -> int:
    """A tag, category, speaker or session as a number that no word has."""
    return hash_term(_format_mark(kind, value))


def _format_mark(kind: str, value: str) -> str:
    return f"\x1f{kind}\x1f{value}"


def hash_marks(fact: Fact) -> list[int]:
    """All that a fact can be filtered by, besides scope and time."""
    single = (("category", fact.category), ("speaker", fact.speaker), ("session", fact.session))
    found = [hash_mark("tag", tag) for tag in fact.tags] + [
        hash_mark(kind, value) for kind, value in single if value is not None
    ]
    return [*found, *hash_shapes(fact)]


def is_question(fact: Fact) -> bool:
    """Whether a fact ends in a question."""
    return fact.text.rstrip().endswith("?")


QUESTION_TERM, TIME_TERM = hash_mark("shape", "asks"), hash_mark("shape", "timed")


def hash_shapes(fact: Fact) -> list[int]:
    """What kind of saying a fact is: one that asks, one that speaks of a time."""
    return [
        number
        for number, holds in ((QUESTION_TERM, is_question(fact)), (TIME_TERM, has_time_words(fact.text)))
        if holds
    ]


def pack_terms(counts: Mapping[str, int], marked: Iterable[int]) -> PackedTerms:
    """The words of a fact with their counts, and its marks."""
    return _pack_counts({hash_term(word): min(count, _MAX_COUNT) for word, count in counts.items()}, marked)


def merge_terms(stored: PackedTerms, counts: Mapping[str, int], marked: Iterable[int]) -> tuple[PackedTerms, int]:
    """The stored words of a fact and those of a new telling, each as often as it occurs in either; with what that adds in length."""
    held = {number: count for number, count in _unpack_counts(stored).items() if count}
    before = sum(held.values())
    for word, count in counts.items():
        held[hash_term(word)] = max(held.get(hash_term(word), 0), min(count, _MAX_COUNT))
    return _pack_counts(held, marked), sum(held.values()) - before


def add_missing_words(stored: PackedTerms, counts: Mapping[str, int]) -> tuple[PackedTerms, int]:
    """What a fact holds, with words that it lacks; and what they add to its length."""
    held = _unpack_counts(stored)
    lacking = {
        hash_term(word): min(count, _MAX_COUNT) for word, count in counts.items() if not held.get(hash_term(word))
    }
    return _pack_counts(held | lacking, ()), sum(lacking.values())


def pack_sentence_bits(places: Mapping[str, int]) -> bytes:
    """In which sentences words stand: their numbers, cut to half, then a bit a sentence for each."""
    numbers = np.array([hash_term(word) for word in places], np.int64).astype(np.int32)
    return numbers.tobytes() + np.fromiter(places.values(), np.uint32, len(places)).tobytes()


def find_sentence_bits(stored: Sequence[bytes | None], words: TermArray) -> NDArray[np.int64]:
    """The sentences of these words in facts, a bit each: a row a fact, a column a word; nothing where nothing is stored."""
    halves = words.astype(np.int32).tolist()
    wanted = np.array(sorted(set(halves)), np.int32)
    column = wanted.searchsorted(halves)
    table = np.zeros((len(stored), len(wanted)), np.int64)
    together = np.frombuffer(b"".join([one for one in stored if one]), np.int32)
    if len(together) and len(wanted):
        # Of each fact first the numbers of its words, then as many masks.
        many = np.array([len(one) // 8 if one else 0 for one in stored], np.int64)
        row, at = expand_runs(2 * (np.cumsum(many) - many), many)
        numbers = together[at]
        which = np.minimum(wanted.searchsorted(numbers), len(wanted) - 1)
        found = np.flatnonzero(wanted[which] == numbers)
        table[row[found], which[found]] = together[at[found] + many[row[found]]].view(np.uint32)
    return table[:, column]


@lru_cache(maxsize=100_000)
def hash_description_term(word: str) -> int:
    """A word of a fact's description as a number of its own, so that it can count for less than a word of its text."""
    return _hash_text(_format_mark("described", word))


def drop_own_words(counts: Mapping[str, int], terms: bytes) -> dict[str, int]:
    """Those of these words that are not among the terms of a fact."""
    own = set(array("q", terms))
    return {word: count for word, count in counts.items() if hash_term(word) not in own}


def add_description_terms(stored: PackedTerms, counts: Mapping[str, int]) -> PackedTerms:
    """What a fact holds, with the words of a description beside those of earlier ones."""
    held = _unpack_counts(stored)
    for number, count in zip(map(hash_description_term, counts), counts.values(), strict=True):
        if held.get(number, 0) < count:
            held[number] = min(count, _MAX_COUNT)
    return _pack_counts(held, ())


def add_description_terms_to_all(
    stored: Sequence[PackedTerms], counts: Sequence[Mapping[str, int]], own: Sequence[bytes]
) -> list[PackedTerms]:
    """The same of many facts at once, with the words that are not among their own terms.

    >>> own = [pack_terms({"tea": 1}, ()).terms, b""]
    >>> add_description_terms_to_all([PackedTerms(b"", b"")] * 2, [{"tea": 1, "pot": 2}, {}], own) == [
    ...     add_description_terms(PackedTerms(b"", b""), {"pot": 2}),
    ...     PackedTerms(b"", b""),
    ... ]
    True
    """
    if len(counts) <= SMALL_BATCH or not any(counts):
        return _add_description_terms_to_few(stored, counts, own)
    return [
        new if not before.terms else add_description_terms(before, drop_own_words(said, terms))
        for new, before, said, terms in zip(_pack_first_descriptions(counts, own), stored, counts, own, strict=True)
    ]


def _add_description_terms_to_few(
    stored: Sequence[PackedTerms], counts: Sequence[Mapping[str, int]], own: Sequence[bytes]
) -> list[PackedTerms]:
    """The same of a few. The words that a new fact gives to all that it is linked with are looked up once for them."""
    given = {id(said): said for said in counts}
    numbers = {
        which: list(zip(map(hash_term, said), map(hash_description_term, said), said.values(), strict=True))
        for which, said in given.items()
    }
    found = []
    for before, said, terms in zip(stored, counts, own, strict=True):
        held, known = _unpack_counts(before), set(array("q", terms))
        for number, hinted, count in numbers[id(said)]:
            if number not in known and held.get(hinted, 0) < count:
                held[hinted] = min(count, _MAX_COUNT)
        found.append(_pack_counts(held, ()))
    return found


def _pack_first_descriptions(counts: Sequence[Mapping[str, int]], own: Sequence[bytes]) -> list[PackedTerms]:
    """What facts without a description hold by their first one. By numbers, since a word of many is looked up all over the memory."""
    words = list(chain.from_iterable(counts))
    number = {word: at for at, word in enumerate(dict.fromkeys(words))}
    word = np.fromiter(map(number.__getitem__, words), np.int64, len(words))
    row = np.repeat(np.arange(len(counts)), list(map(len, counts)))
    often = np.fromiter(chain.from_iterable(said.values() for said in counts), np.int64, len(words))
    unsaid_ones = ~find_members(_find_own_words(list(number), own), row * len(number) + word)
    ends = np.cumsum(np.bincount(row[unsaid_ones], minlength=len(counts))).tolist()
    hints = np.array(list(map(hash_description_term, number)), np.int64)[word[unsaid_ones]].tobytes()
    many = np.minimum(often[unsaid_ones], _MAX_COUNT).astype(np.uint16).tobytes()
    return [PackedTerms(hints[8 * a : 8 * b], many[2 * a : 2 * b]) for a, b in pairwise([0, *ends])]


def _find_own_words(words: Sequence[str], own: Sequence[bytes]) -> NDArray[np.int64]:
    """Which facts say which of these words themselves: the row of the fact times their number, and the place of the word."""
    terms = np.array(list(map(hash_term, words)), np.int64)
    order = np.argsort(terms)
    said = np.frombuffer(b"".join(own), np.int64)
    row = np.repeat(np.arange(len(own)), [len(one) // 8 for one in own])
    place = order[np.minimum(np.searchsorted(terms, said, sorter=order), len(terms) - 1)]
    known = terms[place] == said
    return np.asarray(row[known] * len(words) + place[known], np.int64)


def set_description_counts(stored: PackedTerms, counts: Mapping[str, int]) -> tuple[PackedTerms, dict[str, int]]:
    """What a fact holds when words of its descriptions occur as often as this from now on; and how often they did."""
    held = _unpack_counts(stored)
    before = {word: held[hash_description_term(word)] for word in counts if hash_description_term(word) in held}
    for word, count in counts.items():
        held.pop(hash_description_term(word), None)
        if count:
            held[hash_description_term(word)] = min(count, _MAX_COUNT)
    return _pack_counts(held, ()), before


def unpack_terms(stored: Sequence[PackedTerms]) -> tuple[TermArray, CountArray, NDArray[np.int64]]:
    """Terms and counts of many facts, one after the other, with the row that each belongs to."""
    many = [len(one.counts) // 2 for one in stored]
    rows = np.repeat(np.arange(len(stored)), np.array(many, np.int64))
    terms = np.frombuffer(b"".join([one.terms for one in stored]), np.int64)
    return terms, np.frombuffer(b"".join([one.counts for one in stored]), np.uint16), rows


def _unpack_counts(stored: PackedTerms) -> dict[int, int]:
    """What one fact holds: its terms, and how often each occurs. So few are faster without numpy."""
    return dict(zip(array("q", stored.terms), array("H", stored.counts), strict=True))


def _pack_counts(held: Mapping[int, int], marked: Iterable[int]) -> PackedTerms:
    rows = dict.fromkeys(marked, 0)
    rows.update(held)
    # An array is made faster of a list than of anything else.
    return PackedTerms(array("q", list(rows)).tobytes(), array("H", list(rows.values())).tobytes())


# Texts that were read otherwise before elisions and second spellings were known.
_RETOKENISED_CHARACTERS = re.compile("['’ʼ＇äöüøåÄÖÜØÅ\u0308\u030a]")


@dataclass(frozen=True, slots=True)
class RetokenisedFact:
    """The words of a fact as they are stored, with how many were added to its length, and the sentences they stand in."""

    held: PackedTerms
    added: int
    places: bytes
    tokens: tuple[str, ...]


def is_tokenised_differently(*texts: str | None) -> bool:
    return any(text is not None and _RETOKENISED_CHARACTERS.search(text) for text in texts)


def retokenise_fact(
    reading: str, tags: Iterable[str], stored: PackedTerms, stored_places: bytes
) -> RetokenisedFact | None:
    """What a fact is stored with from now on; None where nothing changes. Words that it was found by stay."""
    counts = count_occurrences(extract_words_and_spellings(reading))
    for tag in tags:
        for word in extract_words(tag):
            counts.setdefault(word, 1)
    held, added = add_missing_words(stored, counts)
    if not added:
        return None
    new_places = pack_sentence_bits(map_words_to_sentences(split_sentences(reading))) if stored_places else b""
    return RetokenisedFact(held, added, new_places, tuple(counts))
