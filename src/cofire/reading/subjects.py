"""Subjects: what a fact is about, and how strongly. Names in the normal form of mentions; no look at other facts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cofire.model import Fact
from cofire.reading.base import Subject
from cofire.reading.mentions import definitions
from cofire.reading.resolving import forms, normal
from cofire.reading.vocabulary import OPENERS
from cofire.reading.words import STOP_WORDS

GIVEN, WITHOUT_BRACKETS, LEAD, BEFORE_COMMA, ALSO = 1.0, 0.95, 0.9, 0.8, 0.7
A_VARIANT = 0.8

_AT_MOST = 24
_BRACKETS = re.compile(r"\s*[(\[][^()\[\]]*[)\]]")
_BEGINNING = 400
_LONGEST_LEAD = 8
_VERB = re.compile(
    r"\s*(?:is|was|are|were|has been|refers to|means|stands for|denotes|describes|became|has|had|runs|uses|lives|works|belongs|consists)\b"
)
_LEAD = re.compile(r"\W{0,4}((?:[^\s(,;:]+\s+){0,7}?[^\s(,;:]+?)\s*(\(|,|\s(?=(?:is|was|are|were|has|had|refers|means|stands|denotes|describes|became|runs|uses|lives|works|belongs|consists)\s))")
_ALSO = re.compile(
    r"(?:known (?:simply )?(?:as|by (?:his|her|their) \w* ?name)|commonly called|also (?:called|stylized as)|abbreviated(?: as| to)?|nicknamed"
    r"|a\.k\.a\.|aka)\s*(?:the\s+)?[\"“'‘`]{0,2}\s?((?:[A-Z][\w.'’&-]*\s?){1,5})"
)
_ALSO_CUES = ("known", "called", "stylized", "abbreviated", "nicknamed", "a.k.a", "aka")
_DETERMINERS = frozenset("the a an my our your his her their this that these those".split())


def subjects(fact: Fact, text: str) -> tuple[Subject, ...]:
    """What a fact is about, the strongest first. A spoken turn has a speaker; it is about something only if that was given.

    >>> subjects(Fact("", subject="Lambert, Margrave of Tuscany"), "Lambert (died after 938) was a margrave.")[:2]
    (Subject(name='lambert margrave of tuscany', strength=1.0), Subject(name='lambert', strength=0.9))
    """
    found: dict[str, float] = {}
    for surface, strength in _surfaces(fact, text):
        for name, sure in forms(surface):
            if is_subject(name):
                found[name] = max(found.get(name, 0.0), strength if sure == 1.0 else A_VARIANT * strength * sure / ALSO)
    ordered = sorted(found.items(), key=lambda pair: -pair[1])
    return tuple(Subject(name, round(strength, 3)) for name, strength in ordered[:_AT_MOST])


def _surfaces(fact: Fact, text: str) -> Iterator[tuple[str, float]]:
    if fact.subject:
        yield from _given(fact.subject)
    if fact.speaker:
        return
    beginning = text[:_BEGINNING]
    if first := lead(beginning):
        yield first, LEAD
    if any(cue in beginning for cue in _ALSO_CUES):
        yield from ((also, ALSO) for also in _ALSO.findall(beginning))
    yield from ((letters, ALSO) for letters in _abbreviations(fact, first, beginning))


def _given(subject: str) -> Iterator[tuple[str, float]]:
    yield subject, GIVEN
    plain = _BRACKETS.sub("", subject).strip() or subject
    yield plain, WITHOUT_BRACKETS
    before, comma, _ = plain.partition(",")
    if comma:
        yield before, BEFORE_COMMA


def _abbreviations(fact: Fact, first: str, beginning: str) -> Iterator[str]:
    """Letters that the text defines for its own subject."""
    own = {normal(name) for name in (fact.subject, first) if name}
    yield from (letters for letters, meant in definitions([beginning]).items() if meant in own)


def lead(text: str) -> str:
    """The words a statement begins with, if they name what it is about; empty if it is no such statement.

    >>> lead("The Journal of Physics is a journal."), lead("Teutberga( died 875) was a queen.")
    ('The Journal of Physics', 'Teutberga')
    >>> lead("It is late."), lead("However, it rained."), lead("We met Ana, who was late.")
    ('', '', '')
    """
    found = _LEAD.match(text)
    if not found:
        return ""
    words, mark = found[1].partition(" or ")[0], found[2]
    if not _is_nameable(words):
        return ""
    if mark.strip() and not _states(text[found.end(1) :], is_name=_has_capital(words)):
        return ""
    return words


def _states(after: str, *, is_name: bool) -> bool:
    """Whether a verb follows the brackets or the apposition."""
    rest = _BRACKETS.sub("", after, count=1) if after.lstrip()[:1] == "(" else after
    if rest.lstrip()[:1] == ",":
        return (is_name and re.search(r",\s*(?:is|was|are|were|has|had)\b", rest) is not None) or bool(is_name and _clause(rest))
    return _VERB.match(rest) is not None


def _clause(rest: str) -> bool:
    sentence = rest.partition(". ")[0]
    return re.search(r"\b(?:is|was|are|were)\b", sentence) is not None


def _has_capital(words: str) -> bool:
    return any(word[:1].isupper() for word in words.split() if word.lower() not in OPENERS)


def _is_nameable(words: str) -> bool:
    """Not a pronoun, a question or an adverb, and more than small words."""
    found = words.split()
    while found and found[0].lower() in _DETERMINERS:
        found = found[1:]
    if not found or found[0].lower().strip("'’") in OPENERS or len(" ".join(found)) < 2:
        return False
    return not all(word.lower() in STOP_WORDS for word in found)


def is_subject(name: str) -> bool:
    return len(name) > 1 and name not in STOP_WORDS
