"""Descriptions of facts by summary phrases of the facts they are linked to."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cache, lru_cache

from cofire.model import Fact, FactDescription
from cofire.text.base import run_reading_rule
from cofire.text.categories import extract_key_phrases
from cofire.text.segmentation import split_sentences
from cofire.text.words import count_occurrences, extract_words_and_spellings

MAX_DESCRIPTION_LENGTH = 400
DESCRIPTION_PREFIX, PHRASE_SEPARATOR = "Goes with: ", "; "

# Words with their number of occurrences.
TermCounts = tuple[tuple[str, int], ...]


def extend_description(description: str, new_phrases: Sequence[str]) -> str:
    """A description with new phrases added, each once. The latest are kept if it gets too long.

    >>> extend_description("Goes with: transaction mode", ["PgBouncer"])
    'Goes with: transaction mode; PgBouncer'
    """
    phrases = (
        list(dict.fromkeys([*_split_phrases(description), *new_phrases]))
        if description or len(new_phrases) > 1
        else new_phrases
    )
    return DESCRIPTION_PREFIX + PHRASE_SEPARATOR.join(_keep_latest_phrases(phrases))


def _keep_latest_phrases(phrases: Sequence[str]) -> Sequence[str]:
    """The last phrases within the maximum length, at least one."""
    remaining = MAX_DESCRIPTION_LENGTH
    for number, phrase in enumerate(reversed(phrases)):
        remaining -= len(phrase)
        if remaining < 0 and number:
            return phrases[-number:]
    return phrases


def refresh_description(
    description: FactDescription, stored_text: str, existing: Container[str]
) -> FactDescription | None:
    """A description updated to what is stored now: the last description, and the facts that exist.

    Other processes may have deleted cited facts or changed the description meanwhile. None if nothing
    is left. A description that cites no facts stays as it is.

    >>> made = FactDescription("a", "Goes with: tea; pot", {"tea": 1, "pot": 1}, {"b": "pot"})
    >>> refresh_description(made, "Goes with: tea", {"b"}) is made
    True
    >>> (
    ...     refresh_description(made, "", {"b"}).text,
    ...     refresh_description(made, "", {"b"}).counts,
    ...     refresh_description(made, "", {}),
    ... )
    ('Goes with: pot', {'pot': 1}, None)
    """
    if not description.cites:
        return description
    all_exist = all(map(existing.__contains__, description.cites))
    cites = (
        description.cites if all_exist else {id: phrase for id, phrase in description.cites.items() if id in existing}
    )
    text = extend_description(stored_text, list(cites.values()))
    if text == description.text and all_exist:
        return description
    return replace(description, text=text, counts=count_description_terms(text), cites=cites) if cites else None


def make_summary_phrase(fact: Fact) -> str:
    """A short phrase for a fact: its subject, or its key phrases."""
    if fact.subject:
        return fact.subject.replace(PHRASE_SEPARATOR, ", ")
    key_phrases = run_reading_rule("phrases", lambda: extract_key_phrases(split_sentences(fact.text)), ())
    phrase = ", ".join(key_phrases[:3]) if key_phrases else " ".join(fact.text.split()[:6])
    return phrase.replace(PHRASE_SEPARATOR, ", ")


def remove_phrases(description: str, removed: AbstractSet[str]) -> str:
    """A description without some phrases, "" if none is left.

    >>> remove_phrases("Goes with: tea; pot; tea leaves", {"tea"}), remove_phrases("Goes with: tea", {"tea"})
    ('Goes with: pot; tea leaves', '')
    """
    phrases = _split_phrases(description)
    remaining = [phrase for phrase in phrases if phrase not in removed]
    if len(remaining) == len(phrases):
        return description
    return DESCRIPTION_PREFIX + PHRASE_SEPARATOR.join(remaining) if remaining else ""


def remove_phrases_from_history(history: Iterable[str], removed: AbstractSet[str]) -> list[str | None]:
    """A history of descriptions without some phrases. None for those that become empty or repeat the one before.

    >>> remove_phrases_from_history(["Goes with: tea", "Goes with: tea; pot", "Goes with: tea; pot; cup"], {"pot"})
    ['Goes with: tea', None, 'Goes with: tea; cup']
    """
    cleaned: list[str | None] = []
    last = ""
    for description in history:
        text = remove_phrases(description, removed)
        cleaned.append(text if text and text != last else None)
        last = text or last
    return cleaned


def count_description_terms(description: str) -> dict[str, int]:
    """Term frequencies of the phrases of a description.

    >>> count_description_terms("Goes with: tea leaves; green tea")
    {'tea': 2, 'leav': 1, 'green': 1}
    """
    return _count_terms(description, _count_phrase_terms)


def count_terms_of_descriptions(descriptions: Iterable[str]) -> dict[str, dict[str, int]]:
    """Term frequencies of many descriptions. Each distinct phrase is parsed once.

    >>> count_terms_of_descriptions(["Goes with: green tea", "Goes with: tea pot"])
    {'Goes with: green tea': {'green': 1, 'tea': 1}, 'Goes with: tea pot': {'tea': 1, 'pot': 1}}
    """
    words_of = cache(_count_phrase_terms.__wrapped__)
    return {description: _count_terms(description, words_of) for description in descriptions}


def _count_terms(description: str, words_of: Callable[[str], TermCounts]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for phrase in _split_phrases(description):
        for word, count in words_of(phrase):
            counts[word] = counts.get(word, 0) + count
    return counts


@lru_cache(maxsize=4_096)
def _count_phrase_terms(phrase: str) -> TermCounts:
    return tuple(count_occurrences(extract_words_and_spellings(phrase)).items())


def max_term_counts(history: Iterable[str]) -> dict[str, int]:
    """For each word, its highest frequency in any of the descriptions."""
    highest: dict[str, int] = {}
    for text in history:
        for word, count in count_description_terms(text).items():
            highest[word] = max(count, highest.get(word, 0))
    return highest


def find_lowered_term_counts(before: Sequence[str], after: Sequence[str]) -> dict[str, int]:
    """The words with a lower maximum frequency than before, and the new one.

    >>> find_lowered_term_counts(["Goes with: tea; pot", "Goes with: pot"], ["Goes with: pot"])
    {'tea': 0}
    """
    now = max_term_counts(after)
    return {word: now.get(word, 0) for word, count in max_term_counts(before).items() if now.get(word, 0) < count}


def _split_phrases(description: str) -> list[str]:
    return [part for part in description.removeprefix(DESCRIPTION_PREFIX).split(PHRASE_SEPARATOR) if part]
