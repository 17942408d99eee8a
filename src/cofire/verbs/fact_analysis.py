"""Analyse facts before they are stored: words, names, subjects, and mentions in stored facts.

A fact mentions a name if some fact of its scope has the name as a subject. When a fact is stored,
facts that were stored earlier are searched for its subjects. The mentions therefore do not depend
on the order in which facts are stored.
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
# More stored facts may contain the words of a new name than a call has time to check. Above these
# numbers, the next dream checks them. A call that stores a single fact checks fewer.
MAX_CHECKED_FACTS = 5_000
MAX_CHECKED_FOR_ONE = 200
NO_LIMIT = 100_000_000

MentionsByFact = dict[str, tuple[NameMention, ...]]


def analyse_facts(facts: Sequence[Fact], vectors: Mapping[str, bytes], settings: Settings) -> Steps[list[FactWrite]]:
    """The facts with their words and vectors, and with their names if the graph is enabled."""
    readings: Sequence[FactReading] = yield AnalyseFacts(facts, wanted="all" if settings[READING_TAGS] else "names")
    failed_rules: dict[str, list[str]] = {}
    fact_writes: list[FactWrite] = []
    for fact, reading in zip(facts, readings, strict=True):
        failures = list(reading.failed)
        vector = vectors.get(fact.id)
        fact_writes.append(_make_write_or_bare(fact, reading, vector, settings, failures))
        if failures:
            failed_rules[fact.id] = failures
    if failed_rules:
        yield from retry_on_conflict(partial(_count_failures, failed_rules), tries=FAILURE_COUNT_TRIES)
    return fact_writes


def _make_write_or_bare(
    fact: Fact, reading: FactReading, vector: bytes | None, settings: Settings, failures: list[str]
) -> FactWrite:
    """The fact as it is stored; with its plain words alone if a rule fails on its reading."""
    plain_words = count_occurrences(fact.reading.casefold().split())
    bare = FactWrite(fact, plain_words, vector)
    return run_reading_rule("words", lambda: _make_fact_write(fact, reading, vector, settings), bare, failures)


def _count_failures(failed_rules: Mapping[str, Sequence[str]]) -> Steps[None]:
    """Add facts on which reading rules failed to the counts in the store."""
    now: datetime = yield ReadClock()
    record = yield from store.read_record(FAILURES_RECORD)
    failures = ReadingFailures.decode(record.value if record else None)
    for id, rules in failed_rules.items():
        failures = failures.with_fact(id, rules)
    new_record = StoreRecord(FAILURES_RECORD, failures.encode())
    expected_versions = {FAILURES_RECORD: record.version if record else 0}
    yield from store.write(Change(now=now, records=(new_record,)), expected_versions)


def _make_fact_write(fact: Fact, reading: FactReading, vector: bytes | None, settings: Settings) -> FactWrite:
    """The fact as it is stored. A missing category and missing tags are filled from the text."""
    read_tags = tuple(sorted(reading.tags)) if settings[READING_TAGS] else ()
    tagged = replace(fact, category=fact.category or reading.category, tags=fact.tags or read_tags)
    words = extract_words_and_spellings(tagged.reading)
    counts = _count_words(words, tagged.tags)
    if not (settings[MULTI_GRAPH_ENABLED] and settings[MULTI_GRAPH_ENTITY]):
        return FactWrite(tagged, counts, vector)
    mentions = _merge_mentions(reading)
    # Most facts are one sentence, whose words need not be extracted again.
    is_one_sentence = reading.sentences == (tagged.reading.strip(),)
    places = dict.fromkeys(words, 1) if is_one_sentence else map_words_to_sentences(reading.sentences)
    return FactWrite(
        tagged,
        counts,
        vector,
        mentions,
        subjects=_merge_subjects(reading),
        perhaps=SpokenNames(reading.sentences, but=[mention.name for mention in mentions]),
        places=places,
    )


def _merge_mentions(reading: FactReading) -> tuple[NameMention, ...]:
    """One mention per name, with all its sentences and its highest confidence."""
    sentences_by_name: dict[str, set[int]] = {}
    confidence_by_name: dict[str, float] = {}
    for mention in reading.mentions:
        name = mention.name
        sentences_by_name.setdefault(name, set()).add(mention.sentence)
        confidence_by_name[name] = max(confidence_by_name.get(name, 0.0), mention.confidence)
    return tuple(
        NameMention(name, tuple(sorted(sentences)), confidence_by_name[name])
        for name, sentences in sentences_by_name.items()
    )


def _merge_subjects(reading: FactReading) -> tuple[SubjectName, ...]:
    """One subject per name, with its highest strength."""
    strength_by_name: dict[str, float] = {}
    for subject in reading.subjects:
        strength_by_name[subject.name] = max(strength_by_name.get(subject.name, 0.0), subject.strength)
    return tuple(SubjectName(name, strength) for name, strength in strength_by_name.items())


def count_fact_words(fact: Fact) -> dict[str, int]:
    """The search words of a fact with their counts: those of its subject, text and tags."""
    return _count_words(extract_words_and_spellings(fact.reading), fact.tags)


def _count_words(words: Sequence[str], tags: Sequence[str]) -> dict[str, int]:
    counts = count_occurrences(words)
    for tag in tags:
        for word in split_tag(tag):
            counts.setdefault(word, 1)
    return counts


@lru_cache(maxsize=10_000)
def split_tag(tag: str) -> tuple[str, ...]:
    """The words of a tag. Cached, because many facts share a tag."""
    return tuple(extract_words(tag))


def find_earlier_mentions(fact_writes: Sequence[FactWrite], settings: Settings) -> Steps[MentionsByFact]:
    """Mentions of the new facts' subjects in stored facts, by the id of the stored fact.

    Names that already are subjects in their scope are skipped: their mentions are stored.
    """
    subjects = [(new.fact.scope, subject.name) for new in fact_writes for subject in new.subjects]
    most = MAX_CHECKED_FACTS if len(fact_writes) > 1 else MAX_CHECKED_FOR_ONE
    return (yield from _find_mentions(subjects, settings, most=most, anew=False))


def find_missing_mentions(subjects: Iterable[tuple[str, str]], settings: Settings) -> Steps[MentionsByFact]:
    """Mentions of subjects that are not stored yet.

    They are missing if too many facts had to be checked, or if the facts were stored in one call.
    """
    return (yield from _find_mentions(subjects, settings, most=NO_LIMIT, anew=True))


def _find_mentions(
    subjects: Iterable[tuple[str, str]], settings: Settings, *, most: int, anew: bool
) -> Steps[MentionsByFact]:
    """Mentions of pairs of scope and name, by the id of the fact that contains the name."""
    if not (settings[MULTI_GRAPH_ENABLED] and settings[MULTI_GRAPH_ENTITY]):
        return {}
    mentions: MentionsByFact = {}
    for scope, words_by_name in _group_by_scope(subjects).items():
        search_words = {name: search_words_of_name(name) for name in words_by_name}
        searchable = {name: words for name, words in search_words.items() if words}
        ids_by_name = yield from store.find_unlinked_mentions(scope, searchable, most, anew)
        names_by_id = _group_by_fact(ids_by_name)
        if not names_by_id:
            continue
        facts = yield from store.read_facts(list(names_by_id))
        for fact in facts:
            if fact is not None:
                names = {name: words_by_name[name] for name in names_by_id[fact.id]}
                mentions[fact.id] = run_reading_rule("spoken", partial(_read_mentions, fact, names), ())
    return {id: fact_mentions for id, fact_mentions in mentions.items() if fact_mentions}


def _read_mentions(fact: Fact, words_by_name: Mapping[str, Sequence[str]]) -> tuple[NameMention, ...]:
    return find_known_names(strip_speaker(fact), words_by_name)


def _group_by_scope(subjects: Iterable[tuple[str, str]]) -> dict[str, dict[str, list[str]]]:
    """By scope, the names that may occur in a text, each with its words."""
    names_by_scope: dict[str, dict[str, None]] = {}
    for scope, name in subjects:
        names_by_scope.setdefault(scope, {})[name] = None
    words_by_scope = {scope: split_names(names) for scope, names in names_by_scope.items()}
    return {scope: words_by_name for scope, words_by_name in words_by_scope.items() if words_by_name}


def _group_by_fact(ids_by_name: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    names_by_id: dict[str, list[str]] = {}
    for name, ids in ids_by_name.items():
        for id in ids:
            names_by_id.setdefault(id, []).append(name)
    return names_by_id
