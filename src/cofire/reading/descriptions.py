"""Descriptions: how facts are described by the gists of what they are linked with, and what is left when a gist goes."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cache, lru_cache

from cofire.model import Description, Fact
from cofire.reading.failures import attempt
from cofire.reading.phrases import phrases
from cofire.reading.sentences import sentences
from cofire.reading.words import all_spellings, counted

LONGEST_DESCRIPTION = 400
LEAD, BETWEEN = "Goes with: ", "; "

# Words, each with how often it occurs.
Words = tuple[tuple[str, int], ...]


def extended(before: str, newer: Sequence[str]) -> str:
    """A description with the gists of new connections added, each once, the latest kept when it grows too long.

    >>> extended("Goes with: transaction mode", ["PgBouncer"])
    'Goes with: transaction mode; PgBouncer'
    """
    gists = list(dict.fromkeys([*_gists(before), *newer])) if before or len(newer) > 1 else newer
    return LEAD + BETWEEN.join(_latest(gists))


def _latest(gists: Sequence[str]) -> Sequence[str]:
    """The last gists that are together short enough, and one at least."""
    if sum(map(len, gists)) <= LONGEST_DESCRIPTION:
        return gists
    room, kept = LONGEST_DESCRIPTION, list[str]()
    for one in reversed(gists):
        room -= len(one)
        if room < 0 and kept:
            break
        kept.append(one)
    return kept[::-1]


def renewed(one: Description, last: str, there: Container[str]) -> Description | None:
    """A description as it must be written: on from the last one that is stored, and of facts that are there. Others may have forgotten
    some, or described the fact too, since it was made. None where nothing is left of it; one that cites nobody stands as it is.

    >>> made = Description("a", "Goes with: tea; pot", {"tea": 1, "pot": 1}, {"b": "pot"})
    >>> renewed(made, "Goes with: tea", {"b"}) is made
    True
    >>> renewed(made, "", {"b"}).text, renewed(made, "", {"b"}).counts, renewed(made, "", {})
    ('Goes with: pot', {'pot': 1}, None)
    """
    if not one.cites:
        return one
    whole = all(map(there.__contains__, one.cites))
    cites = one.cites if whole else {id: gist for id, gist in one.cites.items() if id in there}
    text = extended(last, list(cites.values()))
    if text == one.text and whole:
        return one
    return replace(one, text=text, counts=said_by(text), cites=cites) if cites else None


def gist(fact: Fact) -> str:
    """What a fact is about in a few words: its subject, else its key phrases."""
    if fact.subject:
        return fact.subject.replace(BETWEEN, ", ")
    found = attempt("phrases", lambda: phrases(sentences(fact.text)), ())
    said = ", ".join(found[:3]) if found else " ".join(fact.text.split()[:6])
    return said.replace(BETWEEN, ", ")


def without(description: str, gone: AbstractSet[str]) -> str:
    """A description without some gists; nothing where none is left.

    >>> without("Goes with: tea; pot; tea leaves", {"tea"}), without("Goes with: tea", {"tea"})
    ('Goes with: pot; tea leaves', '')
    """
    gists = _gists(description)
    kept = [one for one in gists if one not in gone]
    if len(kept) == len(gists):
        return description
    return LEAD + BETWEEN.join(kept) if kept else ""


def left(history: Iterable[str], gone: AbstractSet[str]) -> list[str | None]:
    """Descriptions over time without some gists; None for one of which nothing is left, or only what was said before.

    >>> left(["Goes with: tea", "Goes with: tea; pot", "Goes with: tea; pot; cup"], {"pot"})
    ['Goes with: tea', None, 'Goes with: tea; cup']
    """
    found: list[str | None] = []
    last = ""
    for one in history:
        text = without(one, gone)
        found.append(text if text and text != last else None)
        last = text or last
    return found


def said_by(description: str) -> dict[str, int]:
    """How often each word stands in the gists of a description.

    >>> said_by("Goes with: tea leaves; green tea")
    {'tea': 2, 'leav': 1, 'green': 1}
    """
    return _said(description, _words_of)


def all_said_by(descriptions: Iterable[str]) -> dict[str, dict[str, int]]:
    """The same of many, by what they are. One gist describes many facts, and is read once for all of them.

    >>> all_said_by(["Goes with: green tea", "Goes with: tea pot"])
    {'Goes with: green tea': {'green': 1, 'tea': 1}, 'Goes with: tea pot': {'tea': 1, 'pot': 1}}
    """
    words_of = cache(_words_of.__wrapped__)
    return {one: _said(one, words_of) for one in descriptions}


def _said(description: str, words_of: Callable[[str], Words]) -> dict[str, int]:
    often: dict[str, int] = {}
    for one in _gists(description):
        for word, count in words_of(one):
            often[word] = often.get(word, 0) + count
    return often


@lru_cache(maxsize=4_096)
def _words_of(gist: str) -> Words:
    return tuple(counted(all_spellings(gist)).items())


def hint_counts(history: Iterable[str]) -> dict[str, int]:
    """The words of descriptions, each as often as in the one that holds it most."""
    found: dict[str, int] = {}
    for text in history:
        for word, count in said_by(text).items():
            found[word] = max(count, found.get(word, 0))
    return found


def hints_after(before: Sequence[str], after: Sequence[str]) -> dict[str, int]:
    """The words that descriptions hold less often than before, and how often they do now.

    >>> hints_after(["Goes with: tea; pot", "Goes with: pot"], ["Goes with: pot"])
    {'tea': 0}
    """
    now = hint_counts(after)
    return {word: now.get(word, 0) for word, count in hint_counts(before).items() if now.get(word, 0) < count}


def _gists(description: str) -> list[str]:
    return [part for part in description.removeprefix(LEAD).split(BETWEEN) if part]
