"""Reading facts: what their texts mention and are about, in the form in which it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from cofire.asks import Asking, Understand
from cofire.graph_settings import ENTITY_EDGES, MULTI_GRAPH, PROPOSE_TAGS
from cofire.model import About, Fact, Mentioned, NewFact
from cofire.reading.base import Reading
from cofire.reading.resolving import singular, terms
from cofire.reading.words import STOP_WORDS, counts, words
from cofire.settings import Settings

SHORTEST_SPOKEN, LONGEST_SPOKEN = 4, 4
LAST_SENTENCE = 31


def understood(facts: Sequence[Fact], settings: Settings) -> Asking[list[NewFact]]:
    """Facts with their words, and with the names in them unless the graph is switched off."""
    readings: Sequence[Reading] = yield Understand(facts, closely=settings[PROPOSE_TAGS])
    return [new_fact(fact, reading, settings) for fact, reading in zip(facts, readings, strict=True)]


def new_fact(fact: Fact, reading: Reading, settings: Settings) -> NewFact:
    """A fact as it will be stored, the gaps in what was said of it filled from its text."""
    marked = replace(
        fact,
        category=fact.category or reading.category,
        tags=fact.tags or (tuple(sorted(reading.tags)) if settings[PROPOSE_TAGS] else ()),
    )
    if not (settings[MULTI_GRAPH] and settings[ENTITY_EDGES]):
        return NewFact(marked, word_counts(marked))
    mentions = mentioned(reading)
    known = {one.name for one in mentions}
    perhaps = {name: at for name, at in spoken(reading.sentences).items() if name not in known}
    counted = word_counts(marked)
    return NewFact(marked, counted, None, mentions, about(reading), perhaps, places(reading.sentences))


def places(sentences: Sequence[str]) -> dict[str, int]:
    """In which sentences each word stands, a bit a sentence; the last bit is for all that come after.

    >>> places(["The pool is full.", "Drain the pool."])
    {'pool': 3, 'full': 1, 'drain': 2}
    """
    found: dict[str, int] = {}
    for place, sentence in enumerate(sentences):
        bit = 1 << min(place, LAST_SENTENCE)
        for word in words(sentence):
            found[word] = found.get(word, 0) | bit
    return found


def spoken(sentences: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Short runs of words that may be the name of something that a fact is about, capital or not, with their sentences.

    >>> list(spoken(["Set the connection pools"]))
    ['set the connection', 'set the connection pools', 'set the connection pool', 'connection', 'connection pools', \
'connection pool', 'pools', 'pool']
    """
    found: dict[str, tuple[int, ...]] = {}
    for place, sentence in enumerate(sentences):
        for name in _runs(sentence):
            found[name] = (*found[name], place) if name in found else (place,)
    return found


def _runs(sentence: str) -> list[str]:
    said = list(map(_spoken_word, terms(sentence)))
    found: list[str] = []
    for start, (_, _, begins) in enumerate(said):
        before = ""
        for word, one, ends in said[start : start + LONGEST_SPOKEN] if begins else ():
            if ends and (before or len(word) >= SHORTEST_SPOKEN):
                found.append(before + word)
                if one != word:
                    found.append(before + one)
            before += word + " "
    return found


@lru_cache(maxsize=20_000)
def _spoken_word(word: str) -> tuple[str, str, bool]:
    """A word, the same as one of its kind, and whether a name may begin and end with it."""
    return word, singular(word), word not in STOP_WORDS


def mentioned(reading: Reading) -> tuple[Mentioned, ...]:
    """Each name once, with all its sentences and its best confidence."""
    found: dict[str, tuple[set[int], float]] = {}
    for one in reading.mentions:
        sentences, confidence = found.get(one.name, (set(), 0.0))
        found[one.name] = sentences | {one.sentence}, max(confidence, one.confidence)
    return tuple(Mentioned(name, tuple(sorted(at)), confidence) for name, (at, confidence) in found.items())


def about(reading: Reading) -> tuple[About, ...]:
    strongest: dict[str, float] = {}
    for one in reading.subjects:
        strongest[one.name] = max(strongest.get(one.name, 0.0), one.strength)
    return tuple(About(name, strength) for name, strength in strongest.items())


def word_counts(fact: Fact) -> dict[str, int]:
    """The words a fact is found by: its subject's, its text's and its tags'."""
    found = dict(counts(fact.reading))
    for tag in fact.tags:
        for word in tag_words(tag):
            found.setdefault(word, 1)
    return found


@lru_cache(maxsize=10_000)
def tag_words(tag: str) -> tuple[str, ...]:
    """The words of a tag, which many facts share."""
    return tuple(words(tag))
