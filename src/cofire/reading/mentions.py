"""Mentions: the names of a fact under all the forms by which they may meet others, bounded. No look at other facts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from cofire.reading.base import BY_RULE, FULL, PARTIAL, Mention, Subject
from cofire.reading.names import Name
from cofire.reading.resolving import forms, normal, parts
from cofire.reading.words import STOP_WORDS

A_SENTENCE = 16
A_FACT = 64

# "World Health Organization (WHO)": the letters in brackets stand for the words before them.
_DEFINED = re.compile(r"\((?:the |an? |or )?[\"“']?([A-Z][A-Za-z0-9&.-]{1,9})[\"”']?\)")
_LOOK_BACK = 120
_READ_OFF = 0.9  # A subject up to this strength was read off the text itself and proves nothing about it.
_LIKE_A_PERSON = range(2, 5)

Called = dict[str, str]


def mentions(
    sentences: Sequence[str], named: Sequence[Sequence[Name]], subjects: Sequence[Subject]
) -> tuple[Mention, ...]:
    """Every name of every sentence, first as written, then as variants, parts and aliases.

    A surname after the full name, and an abbreviation after its definition, mean the thing that was named in full.
    """
    called = surnames([name for each in named for name in each], subjects)
    defined = definitions(sentences)
    found = (
        mention
        for place, each in enumerate(named)
        if each
        for mention in islice(_in_sentence(each, place, called, defined), A_SENTENCE)
    )
    return tuple(islice(found, A_FACT))


def _in_sentence(named: Sequence[Name], place: int, called: Called, defined: Called) -> Iterator[Mention]:
    """Names as written before their variants, so that a bound cuts the less sure ones; each name once."""
    seen: set[str] = set()
    for mention in (*_as_written(named, place, called), *_otherwise(named, place, called, defined)):
        if mention.name not in seen and is_usable(mention.name):
            seen.add(mention.name)
            yield mention


def _as_written(named: Iterable[Name], place: int, called: Called) -> Iterator[Mention]:
    for name in named:
        form = normal(name.surface)
        if name.joined:
            continue
        if form in called:
            yield Mention(called[form], name.surface, name.kind, place, PARTIAL)
        else:
            yield Mention(form, name.surface, name.kind, place, FULL)


def _otherwise(named: Iterable[Name], place: int, called: Called, defined: Called) -> Iterator[Mention]:
    for name in named:
        form = normal(name.surface)
        if name.joined:
            yield Mention(form, name.surface, name.kind, place, PARTIAL)
        if form in called:
            continue
        if form in defined:
            yield Mention(defined[form], name.surface, name.kind, place, BY_RULE)
        for other, sure in forms(name.surface)[1:]:
            yield Mention(other, name.surface, name.kind, place, sure)
        if name.kind == "name":
            for part in parts(form):
                yield Mention(part, name.surface, name.kind, place, PARTIAL)


def is_usable(name: str) -> bool:
    """Long enough to mean something, and not a mere number.

    >>> is_usable("go"), is_usable("x"), is_usable("2023"), is_usable("1.7.2"), is_usable("")
    (True, False, False, True, False)
    """
    return len(name) > 1 and not name.replace(" ", "").isdigit()


def surnames(named: Iterable[Name], subjects: Sequence[Subject]) -> Called:
    """Last words of full names, each with the name it stands for: the subject's, or the only one of the text that ends in it.

    >>> surnames([Name("Jeff Porcaro", "name"), Name("Porcaro", "name"), Name("New York", "name")], [])
    {'porcaro': 'jeff porcaro', 'york': 'new york'}
    >>> surnames([Name("Joe Mank", "name"), Name("Herman Mank", "name")], [])
    {}
    """
    given = _by_last_word(_unbracketed([subject.name for subject in subjects if subject.strength > _READ_OFF]))
    in_text = _by_last_word(normal(name.surface) for name in named if name.kind == "name" and not name.joined)
    found = {last: full[0] for last, full in in_text.items() if len(full) == 1}
    return found | {last: full[0] for last, full in given.items()}


def _unbracketed(names: Sequence[str]) -> list[str]:
    """Without those that go on past another: what follows was in brackets, "brother (pearl jam song)" beside "brother"."""
    return [name for name in names if not any(name.startswith(other + " ") for other in names)]


def _by_last_word(names: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        words = name.split(" ")
        if _is_like_a_person(words) and words[-1].isalpha() and len(words[-1]) > 2:
            found.setdefault(words[-1], []).append(name)
    return found


def _is_like_a_person(words: Sequence[str]) -> bool:
    """ "Oslo" after "University of Oslo" is the town: people have no "of" or "in" among their names."""
    return len(words) in _LIKE_A_PERSON and STOP_WORDS.isdisjoint(words)


def definitions(sentences: Iterable[str]) -> Called:
    """Abbreviations that a text explains, with what they stand for.

    >>> definitions(["The World Health Organization (WHO) is in Geneva (CH)."])
    {'who': 'world health organization'}
    """
    return {
        normal(letters): meant
        for sentence in sentences
        if "(" in sentence
        for found in _DEFINED.finditer(sentence)
        for letters in found.groups()
        if (meant := _words_of(letters, sentence[max(0, found.start() - _LOOK_BACK) : found.start()].split()))
    }


def _words_of(letters: str, before: Sequence[str]) -> str:
    """The last words whose initials the letters are, small words counted or not."""
    wanted = [letter.lower() for letter in letters if letter.isalpha()]
    for width in range(len(wanted), min(len(before), len(wanted) + 3) + 1):
        words = before[-width:]
        initials = [word[0].lower() for word in words]
        large = [word[0].lower() for word in words if word[0].isupper()]
        if wanted in (initials, large) and words[0][0].lower() == wanted[0]:
            return normal(" ".join(words))
    return ""
