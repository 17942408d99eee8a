"""Subjects: what a fact is about, and how strongly. Names in the normal form of mentions; no look at other facts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cofire.model import Fact
from cofire.reading.base import BY_RULE, FULL, Subject
from cofire.reading.mentions import definitions
from cofire.reading.names import is_title
from cofire.reading.resolving import forms, normal
from cofire.reading.vocabulary import OPENERS, SMALL
from cofire.reading.words import STOP_WORDS

GIVEN, WITHOUT_BRACKETS, LEAD, BEFORE_COMMA, ALSO, SHORTER = 1.0, 0.95, 0.9, 0.8, 0.7, 0.7

# How much of its strength a subject has under another form of its name.
A_VARIANT, AN_ALIAS = 0.8, 0.5

_AT_MOST = 24
_MOST_MIDDLE = 3
_BEGINNING = 400
_BRACKETS = re.compile(r"\s*[(\[][^()\[\]]*[)\]]")
_BRACKETS_AHEAD = re.compile(r"(?:\s*\([^()]{0,200}\)|\s*,?\s*(?:Inc|Ltd|LLC|Jr|Sr)\b\.?,?){0,3}")
_VERBS = (
    "is|was|are|were|has|had|refers to|means|stands for|denotes|describes|became|runs|uses|lives|works|belongs|consists"
)
_LEAD = re.compile(rf"\W{{0,4}}((?:[^\s(,;:]+\s+){{0,7}}?[^\s(,;:]+?)(?=\s*[(,]|\s+(?:{_VERBS})\s)")
_STATES = re.compile(rf"\s*(?:{_VERBS})\b")
_OR = re.compile(r"\s+or\s+")
_STATES_LATER = re.compile(r"(?:,|\s+or\s+)[^.]{0,200}?\b(?:is|was|are|were)\b")
_QUOTED_LEAD = re.compile(rf"[\"“]\s?([^\"“”\n]{{2,80}})[\"”](?=\s*[(,]|\s+(?:{_VERBS})\s)")
_LIVED = re.compile(r"\s*\([^()]{0,120}?(?:\b\d{3,4}\b|\bborn\b)")
_NICKNAME = re.compile(r"\s*[\"“]([^\"“”]{2,20})[\"”]")
_DETERMINERS = frozenset("the a an my our your his her their this that these those".split())
_INSIDE = frozenset(
    "of the a an and in for on at to with by from as no de la le van von der del di da du al el y e &".split()
)
_ALSO = re.compile(
    r"(?:known (?:simply )?(?:as|by (?:his|her|their) \w* ?name)|commonly called|also (?:called|stylized as)|abbreviated(?: as| to)?"
    r"|nicknamed|a\.k\.a\.|aka)\s*(?:the\s+)?[\"“'‘`]{0,2}\s?((?:[A-Z][\w.'’&-]*\s?){1,5})"
)
_ALSO_CUES = ("known", "called", "stylized", "abbreviated", "nicknamed", "a.k.a", "aka")


def subjects(fact: Fact, text: str) -> tuple[Subject, ...]:
    """What a fact is about, the strongest first. A spoken turn has a speaker; it is about something only if that was given.

    >>> subjects(Fact("", subject="Lambert, Margrave of Tuscany"), "Lambert (died after 938) was a margrave.")[:2]
    (Subject(name='lambert margrave of tuscany', strength=1.0), Subject(name='lambert', strength=0.9))
    """
    found: dict[str, float] = {}
    for surface, strength in _surfaces(fact, text):
        for name, sure in forms(surface):
            if len(name) > 1 and name not in STOP_WORDS:
                found[name] = max(found.get(name, 0.0), round(strength * _share(sure), 3))
    strongest = sorted(found.items(), key=lambda pair: -pair[1])
    return tuple(Subject(name, strength) for name, strength in strongest[:_AT_MOST])


def _share(sure: float) -> float:
    if sure == FULL:
        return 1.0
    return AN_ALIAS if sure == BY_RULE else A_VARIANT


def _surfaces(fact: Fact, text: str) -> Iterator[tuple[str, float]]:
    if fact.subject:
        yield from _given(fact.subject[:_BEGINNING])
    if fact.speaker:
        return
    beginning = text[:_BEGINNING]
    first = lead(beginning)
    if first:
        yield first, LEAD
        yield from ((shorter, SHORTER) for shorter in _shorter(first, beginning))
    if any(map(beginning.__contains__, _ALSO_CUES)):
        yield from ((also, ALSO) for also in _ALSO.findall(beginning))
    own = {normal(name) for name in (fact.subject, first) if name}
    yield from ((letters, ALSO) for letters, meant in definitions([beginning]).items() if meant in own)


def _given(subject: str) -> Iterator[tuple[str, float]]:
    """As given, without brackets, and what stands before a comma."""
    yield subject, GIVEN
    plain = _BRACKETS.sub("", subject).strip() or subject
    if plain != subject:
        yield plain, WITHOUT_BRACKETS
    before, comma, _ = plain.partition(",")
    if comma:
        yield before, BEFORE_COMMA


def _shorter(name: str, text: str) -> Iterator[str]:
    """How others call a person whose years stand behind the full name: by the first and last of the names, or a nickname.

    >>> list(_shorter("Karl Jay Shapiro", "Karl Jay Shapiro (1913-2000) was a poet."))
    ['Karl Shapiro']
    >>> list(_shorter('David "Dave" Gilmour', 'David "Dave" Gilmour (born 1946) is a guitarist.'))
    ['David Gilmour', 'Dave Gilmour']
    """
    words = _NICKNAME.sub("", name).split()
    nicknames = _NICKNAME.findall(name)
    middle = words[1:-1]
    has_years = _LIVED.match(text[text.find(name) + len(name) :]) is not None
    if not words or not has_years or len(middle) > _MOST_MIDDLE or not _are_names(middle):
        return
    if middle or (nicknames and len(words) > 1):
        yield f"{words[0]} {words[-1]}"
    yield from (f"{nickname} {words[-1]}" for nickname in nicknames)


def _are_names(words: list[str]) -> bool:
    return all(word[0].isupper() and word.isalpha() for word in words)


def lead(text: str) -> str:
    """The words a statement begins with, if they name what it is about; empty if it is no such statement.

    >>> lead("The Journal of Physics is a journal."), lead("Teutberga( died 875) was a queen.")
    ('The Journal of Physics', 'Teutberga')
    >>> lead("It is late."), lead("However, it rained."), lead("We met Ana, who was late.")
    ('', '', '')
    >>> lead("Postgres  or MySQL was the question.")
    'Postgres'
    >>> lead('"Love Runs Out" is a song.'), lead("Dangerously They Live is a film.")
    ('Love Runs Out', 'Dangerously They Live')
    """
    quoted = _QUOTED_LEAD.match(text)
    if quoted and is_title(quoted[1]) and _states(text[quoted.end() :], named=True):
        return quoted[1].strip(" ,.;")
    found = _LEAD.match(text)
    if not found:
        return ""
    words = _OR.split(found[1], maxsplit=1)[0]
    return words if _is_nameable(words) and _states(text[found.end() :], named=_is_name(words)) else ""


def _states(rest: str, *, named: bool) -> bool:
    """Whether a verb follows, after brackets or, for a name, after an apposition."""
    bracketed = _BRACKETS_AHEAD.match(rest)
    rest = rest[bracketed.end() :] if bracketed else rest
    return _STATES.match(rest) is not None or (named and _STATES_LATER.match(rest) is not None)


def _is_name(words: str) -> bool:
    return all(not word[0].islower() or word in _INSIDE for word in words.split())


def _is_nameable(words: str) -> bool:
    """No pronoun, question, adverb or clause; a command only behind an article, where it is none ("the deploy key")."""
    found = words.lower().split()
    determined = found[0] in _DETERMINERS
    while found and found[0] in _DETERMINERS:
        found = found[1:]
    if not found or found[-1] in _INSIDE or found[0].strip("'’") in (SMALL if determined else OPENERS):
        return False
    return all(word in _INSIDE or word not in SMALL for word in found[1:]) or _is_headline(words)


def _is_headline(words: str) -> bool:
    """Three capitals or more and no "I": even the small words are part of a title, "Coral Gardens and Their Magic"."""
    capitals = [word for word in words.split() if word[0].isupper()]
    return len(capitals) > 2 and "I" not in capitals and _is_name(words)
