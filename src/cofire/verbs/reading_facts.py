"""Reading facts: what their texts mention and are about, in the form in which it is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache, partial

from cofire.asks import Asking, Now, Recorded, Understand, Write, again_on_conflict
from cofire.graph_settings import ENTITY_EDGES, MULTI_GRAPH, PROPOSE_TAGS
from cofire.model import About, Change, Fact, Mentioned, NewFact, Record
from cofire.reading.base import Reading
from cofire.reading.failures import READING_FAILURES, ReadingFailures, attempt
from cofire.reading.spoken import Spoken
from cofire.reading.words import all_spellings, counted, places, words
from cofire.settings import Settings

TRIES = 5


def understood(facts: Sequence[Fact], vectors: Mapping[str, bytes], settings: Settings) -> Asking[list[NewFact]]:
    """Facts with their words and vectors, and with the names in them unless the graph is switched off."""
    readings: Sequence[Reading] = yield Understand(facts, wanted="all" if settings[PROPOSE_TAGS] else "names")
    failed: dict[str, list[str]] = {}
    new: list[NewFact] = []
    for fact, reading in zip(facts, readings, strict=True):
        failures = list(reading.failed)
        new.append(_new_fact_or_bare(fact, reading, vectors.get(fact.id), settings, failures))
        if failures:
            failed[fact.id] = failures
    if failed:
        yield from again_on_conflict(partial(_count_failures, failed), tries=TRIES)
    return new


def _new_fact_or_bare(
    fact: Fact, reading: Reading, vector: bytes | None, settings: Settings, failures: list[str]
) -> NewFact:
    """A fact as it will be stored; with its plain words alone where its reading cannot be used."""
    plain_words = counted(fact.reading.casefold().split())
    bare = NewFact(fact, plain_words, vector)
    return attempt("words", lambda: new_fact(fact, reading, vector, settings), bare, failures)


def _count_failures(failed: Mapping[str, Sequence[str]]) -> Asking[None]:
    """Add facts whose reading failed to the count that the store keeps."""
    now: datetime = yield Now()
    record: Record | None = yield Recorded(READING_FAILURES)
    failures = ReadingFailures.decode(record.value if record else None)
    for id, rules in failed.items():
        failures = failures.with_fact(id, rules)
    expected = {READING_FAILURES: record.version if record else 0}
    yield Write(Change(now=now, records=(Record(READING_FAILURES, failures.encode()),)), expected)


def new_fact(fact: Fact, reading: Reading, vector: bytes | None, settings: Settings) -> NewFact:
    """A fact as it will be stored, the gaps in what was said of it filled from its text."""
    marked = replace(
        fact,
        category=fact.category or reading.category,
        tags=fact.tags or (tuple(sorted(reading.tags)) if settings[PROPOSE_TAGS] else ()),
    )
    if not (settings[MULTI_GRAPH] and settings[ENTITY_EDGES]):
        return NewFact(marked, word_counts(marked), vector)
    mentions = mentioned(reading)
    perhaps = Spoken(reading.sentences, but=[one.name for one in mentions])
    said = all_spellings(marked.reading)
    # Most facts are one sentence, whose words need not be looked for again.
    placed = dict.fromkeys(said, 1) if reading.sentences == (marked.reading.strip(),) else places(reading.sentences)
    return NewFact(marked, _counted(said, marked.tags), vector, mentions, about(reading), perhaps, placed)


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
    return _counted(all_spellings(fact.reading), fact.tags)


def _counted(said: Sequence[str], tags: Sequence[str]) -> dict[str, int]:
    found = counted(said)
    for tag in tags:
        for word in tag_words(tag):
            found.setdefault(word, 1)
    return found


@lru_cache(maxsize=10_000)
def tag_words(tag: str) -> tuple[str, ...]:
    """The words of a tag, which many facts share."""
    return tuple(words(tag))
