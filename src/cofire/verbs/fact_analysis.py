"""Analysis of facts before they are stored: words, names, subjects, and mentions in other facts.

A fact that arrives later is linked when it is stored, if somebody is about what it speaks of. So the same facts come to mention
the same names, in whatever order they are told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache, partial

from cofire.model import Change, Fact, FactWrite, NameMention, StoreRecord, SubjectName
from cofire.runtime.effects import AnalyseFacts, ReadClock, Steps
from cofire.runtime.retries import retry_on_conflict
from cofire.runtime.store_proxy import store
from cofire.settings.table import MULTI_GRAPH_ENABLED, MULTI_GRAPH_ENTITY, READING_TAGS, Settings
from cofire.text.base import FAILURES_RECORD, FactReading, ReadingFailures, run_reading_rule
from cofire.text.segmentation import strip_speaker
from cofire.text.subjects import SpokenNames, find_known_names, search_words_of_name, split_names
from cofire.text.words import count_occurrences, extract_words, extract_words_and_spellings, map_words_to_sentences

FAILURE_COUNT_TRIES = 5


def analyse_facts(facts: Sequence[Fact], vectors: Mapping[str, bytes], settings: Settings) -> Steps[list[FactWrite]]:
    """Facts with their words and vectors, and with the names in them unless the graph is switched off."""
    readings: Sequence[FactReading] = yield AnalyseFacts(facts, wanted="all" if settings[READING_TAGS] else "names")
    failed: dict[str, list[str]] = {}
    new: list[FactWrite] = []
    for fact, reading in zip(facts, readings, strict=True):
        failures = list(reading.failed)
        new.append(_make_new_fact_or_bare(fact, reading, vectors.get(fact.id), settings, failures))
        if failures:
            failed[fact.id] = failures
    if failed:
        yield from retry_on_conflict(partial(_count_failures, failed), tries=FAILURE_COUNT_TRIES)
    return new


def _make_new_fact_or_bare(
    fact: Fact, reading: FactReading, vector: bytes | None, settings: Settings, failures: list[str]
) -> FactWrite:
    """A fact as it will be stored; with its plain words alone where its reading cannot be used."""
    plain_words = count_occurrences(fact.reading.casefold().split())
    bare = FactWrite(fact, plain_words, vector)
    return run_reading_rule("words", lambda: make_new_fact(fact, reading, vector, settings), bare, failures)


def _count_failures(failed: Mapping[str, Sequence[str]]) -> Steps[None]:
    """Add facts whose reading failed to the count that the store keeps."""
    now: datetime = yield ReadClock()
    record = yield from store.read_record(FAILURES_RECORD)
    failures = ReadingFailures.decode(record.value if record else None)
    for id, rules in failed.items():
        failures = failures.with_fact(id, rules)
    expected = {FAILURES_RECORD: record.version if record else 0}
    yield from store.write(Change(now=now, records=(StoreRecord(FAILURES_RECORD, failures.encode()),)), expected)


def make_new_fact(fact: Fact, reading: FactReading, vector: bytes | None, settings: Settings) -> FactWrite:
    """A fact as it will be stored, the gaps in what was said of it filled from its text."""
    marked = replace(
        fact,
        category=fact.category or reading.category,
        tags=fact.tags or (tuple(sorted(reading.tags)) if settings[READING_TAGS] else ()),
    )
    if not (settings[MULTI_GRAPH_ENABLED] and settings[MULTI_GRAPH_ENTITY]):
        return FactWrite(marked, count_fact_words(marked), vector)
    mentions = merge_mentions(reading)
    perhaps = SpokenNames(reading.sentences, but=[one.name for one in mentions])
    said = extract_words_and_spellings(marked.reading)
    # Most facts are one sentence, whose words need not be looked for again.
    placed = (
        dict.fromkeys(said, 1)
        if reading.sentences == (marked.reading.strip(),)
        else map_words_to_sentences(reading.sentences)
    )
    return FactWrite(
        marked, _count_words(said, marked.tags), vector, mentions, merge_subjects(reading), perhaps, placed
    )


def merge_mentions(reading: FactReading) -> tuple[NameMention, ...]:
    """Each name once, with all its sentences and its best confidence."""
    found: dict[str, tuple[set[int], float]] = {}
    for one in reading.mentions:
        sentences, confidence = found.get(one.name, (set(), 0.0))
        found[one.name] = sentences | {one.sentence}, max(confidence, one.confidence)
    return tuple(NameMention(name, tuple(sorted(at)), confidence) for name, (at, confidence) in found.items())


def merge_subjects(reading: FactReading) -> tuple[SubjectName, ...]:
    strongest: dict[str, float] = {}
    for one in reading.subjects:
        strongest[one.name] = max(strongest.get(one.name, 0.0), one.strength)
    return tuple(SubjectName(name, strength) for name, strength in strongest.items())


def count_fact_words(fact: Fact) -> dict[str, int]:
    """The words a fact is found by: its subject's, its text's and its tags'."""
    return _count_words(extract_words_and_spellings(fact.reading), fact.tags)


def _count_words(said: Sequence[str], tags: Sequence[str]) -> dict[str, int]:
    found = count_occurrences(said)
    for tag in tags:
        for word in split_tag(tag):
            found.setdefault(word, 1)
    return found


@lru_cache(maxsize=10_000)
def split_tag(tag: str) -> tuple[str, ...]:
    """The words of a tag, which many facts share."""
    return tuple(extract_words(tag))


# If more facts hold the words of a new name, looking at them all would keep somebody waiting: that is for a dream. Who tells a single
# fact waits for less than who tells many.
MAX_CHECKED_FACTS, MAX_CHECKED_FOR_ONE = 5_000, 200
NO_LIMIT = 100_000_000

MentionsByFact = dict[str, tuple[NameMention, ...]]


def find_earlier_mentions(new: Sequence[FactWrite], settings: Settings) -> Steps[MentionsByFact]:
    """Mentions that become visible now that somebody is about their name, by the id of the fact that makes them.

    `new` are facts that are about to be stored; names that somebody is about already are passed over.
    """
    subjects = ((one.fact.scope, name.name) for one in new for name in one.subjects)
    return (
        yield from _find_mentions(
            subjects, settings, most=MAX_CHECKED_FACTS if len(new) > 1 else MAX_CHECKED_FOR_ONE, anew=False
        )
    )


def find_missing_mentions(subjects: Iterable[tuple[str, str]], settings: Settings) -> Steps[MentionsByFact]:
    """Mentions that are missing, of names that facts are about: what would have kept somebody waiting, or was told at once."""
    return (yield from _find_mentions(subjects, settings, most=NO_LIMIT, anew=True))


def _find_mentions(
    subjects: Iterable[tuple[str, str]], settings: Settings, *, most: int, anew: bool
) -> Steps[MentionsByFact]:
    if not (settings[MULTI_GRAPH_ENABLED] and settings[MULTI_GRAPH_ENTITY]):
        return {}
    found: MentionsByFact = {}
    for scope, names in _group_by_scope(subjects).items():
        wanted = {name: held for name in names if (held := search_words_of_name(name))}
        holding = yield from store.find_unlinked_mentions(scope, wanted, most, anew)
        asked = _group_by_fact(holding)
        read: list[Fact | None] = (yield from store.read_facts(list(asked))) if asked else []
        facts = [fact for fact in read if fact is not None]
        for fact in facts:
            split_names = {name: names[name] for name in asked[fact.id]}
            found[fact.id] = run_reading_rule("spoken", partial(_read_mentions, fact, split_names), ())
    return {id: mentions for id, mentions in found.items() if mentions}


def _read_mentions(fact: Fact, split_names: Mapping[str, Sequence[str]]) -> tuple[NameMention, ...]:
    return find_known_names(strip_speaker(fact), split_names)


def _group_by_scope(subjects: Iterable[tuple[str, str]]) -> dict[str, dict[str, list[str]]]:
    """The names of each scope that a fact may speak of, each with its words."""
    found: dict[str, dict[str, None]] = {}
    for scope, name in subjects:
        found.setdefault(scope, {})[name] = None
    told = {scope: split_names(names) for scope, names in found.items()}
    return {scope: names for scope, names in told.items() if names}


def _group_by_fact(holding: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, ids in holding.items():
        for id in ids:
            found.setdefault(id, []).append(name)
    return found
