"""Descriptions of facts by summary phrases of what they are linked with."""

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

# Words, each with how often it occurs.
TermCounts = tuple[tuple[str, int], ...]


def extend_description(before: str, newer: Sequence[str]) -> str:
    """A description with the gists of new connections added, each once, the latest kept when it grows too long.

    >>> extend_description("Goes with: transaction mode", ["PgBouncer"])
    'Goes with: transaction mode; PgBouncer'
    """
    gists = list(dict.fromkeys([*_split_phrases(before), *newer])) if before or len(newer) > 1 else newer
    return DESCRIPTION_PREFIX + PHRASE_SEPARATOR.join(_keep_latest_phrases(gists))


def _keep_latest_phrases(gists: Sequence[str]) -> Sequence[str]:
    """The last gists that are together short enough, and one at least."""
    if sum(map(len, gists)) <= MAX_DESCRIPTION_LENGTH:
        return gists
    room, kept = MAX_DESCRIPTION_LENGTH, list[str]()
    for one in reversed(gists):
        room -= len(one)
        if room < 0 and kept:
            break
        kept.append(one)
    return kept[::-1]


def refresh_description(one: FactDescription, last: str, there: Container[str]) -> FactDescription | None:
    """A description as it must be written: on from the last one that is stored, and of facts that are there. Others may have forgotten
    some, or described the fact too, since it was made. None where nothing is left of it; one that cites nobody stands as it is.

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
    if not one.cites:
        return one
    whole = all(map(there.__contains__, one.cites))
    cites = one.cites if whole else {id: gist for id, gist in one.cites.items() if id in there}
    text = extend_description(last, list(cites.values()))
    if text == one.text and whole:
        return one
    return replace(one, text=text, counts=count_description_terms(text), cites=cites) if cites else None


def make_summary_phrase(fact: Fact) -> str:
    """What a fact is about in a few words: its subject, else its key phrases."""
    if fact.subject:
        return fact.subject.replace(PHRASE_SEPARATOR, ", ")
    found = run_reading_rule("phrases", lambda: extract_key_phrases(split_sentences(fact.text)), ())
    said = ", ".join(found[:3]) if found else " ".join(fact.text.split()[:6])
    return said.replace(PHRASE_SEPARATOR, ", ")


def remove_phrases(description: str, gone: AbstractSet[str]) -> str:
    """A description without some gists; nothing where none is left.

    >>> remove_phrases("Goes with: tea; pot; tea leaves", {"tea"}), remove_phrases("Goes with: tea", {"tea"})
    ('Goes with: pot; tea leaves', '')
    """
    gists = _split_phrases(description)
    kept = [one for one in gists if one not in gone]
    if len(kept) == len(gists):
        return description
    return DESCRIPTION_PREFIX + PHRASE_SEPARATOR.join(kept) if kept else ""


def remove_phrases_from_history(history: Iterable[str], gone: AbstractSet[str]) -> list[str | None]:
    """Descriptions over time without some gists; None for one of which nothing is left, or only what was said before.

    >>> remove_phrases_from_history(["Goes with: tea", "Goes with: tea; pot", "Goes with: tea; pot; cup"], {"pot"})
    ['Goes with: tea', None, 'Goes with: tea; cup']
    """
    found: list[str | None] = []
    last = ""
    for one in history:
        text = remove_phrases(one, gone)
        found.append(text if text and text != last else None)
        last = text or last
    return found


def count_description_terms(description: str) -> dict[str, int]:
    """How often each word stands in the gists of a description.

    >>> count_description_terms("Goes with: tea leaves; green tea")
    {'tea': 2, 'leav': 1, 'green': 1}
    """
    return _count_terms(description, _count_phrase_terms)


def count_terms_of_descriptions(descriptions: Iterable[str]) -> dict[str, dict[str, int]]:
    """The same of many, by what they are. One gist describes many facts, and is read once for all of them.

    >>> count_terms_of_descriptions(["Goes with: green tea", "Goes with: tea pot"])
    {'Goes with: green tea': {'green': 1, 'tea': 1}, 'Goes with: tea pot': {'tea': 1, 'pot': 1}}
    """
    words_of = cache(_count_phrase_terms.__wrapped__)
    return {one: _count_terms(one, words_of) for one in descriptions}


def _count_terms(description: str, words_of: Callable[[str], TermCounts]) -> dict[str, int]:
    often: dict[str, int] = {}
    for one in _split_phrases(description):
        for word, count in words_of(one):
            often[word] = often.get(word, 0) + count
    return often


@lru_cache(maxsize=4_096)
def _count_phrase_terms(gist: str) -> TermCounts:
    return tuple(count_occurrences(extract_words_and_spellings(gist)).items())


def max_term_counts(history: Iterable[str]) -> dict[str, int]:
    """The words of descriptions, each as often as in the one that holds it most."""
    found: dict[str, int] = {}
    for text in history:
        for word, count in count_description_terms(text).items():
            found[word] = max(count, found.get(word, 0))
    return found


def find_lowered_term_counts(before: Sequence[str], after: Sequence[str]) -> dict[str, int]:
    """The words that descriptions hold less often than before, and how often they do now.

    >>> find_lowered_term_counts(["Goes with: tea; pot", "Goes with: pot"], ["Goes with: pot"])
    {'tea': 0}
    """
    now = max_term_counts(after)
    return {word: now.get(word, 0) for word, count in max_term_counts(before).items() if now.get(word, 0) < count}


def _split_phrases(description: str) -> list[str]:
    return [part for part in description.removeprefix(DESCRIPTION_PREFIX).split(PHRASE_SEPARATOR) if part]
