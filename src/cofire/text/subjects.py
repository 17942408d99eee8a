"""What a fact is about, and how strongly."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cofire.model import Fact
from cofire.text.base import FULL_CONFIDENCE, RULE_CONFIDENCE, FactSubject
from cofire.text.entities import find_abbreviations, list_name_forms, normalise_name
from cofire.text.names import is_quoted_title
from cofire.text.vocabulary import FUNCTION_WORDS, SENTENCE_OPENERS
from cofire.text.words import STOP_WORDS

(
    GIVEN_STRENGTH,
    WITHOUT_BRACKETS_STRENGTH,
    LEAD_STRENGTH,
    BEFORE_COMMA_STRENGTH,
    ALSO_KNOWN_STRENGTH,
    SHORT_NAME_STRENGTH,
) = 1.0, 0.95, 0.9, 0.8, 0.7, 0.7

# How much of its strength a subject has under another form of its name.
VARIANT_SHARE, ALIAS_SHARE = 0.8, 0.5

_MAX_SUBJECTS = 24
_MAX_MIDDLE_NAMES = 3
_BEGINNING_LENGTH = 400
_BRACKETS = re.compile(r"\s*[(\[][^()\[\]]*[)\]]")
_BRACKETS_AHEAD = re.compile(r"(?:\s*\([^()]{0,200}\)|\s*,?\s*(?:Inc|Ltd|LLC|Jr|Sr)\b\.?,?){0,3}")
_VERBS = (
    "is|was|are|were|has|had|refers to|means|stands for|denotes|describes|became|runs|uses|lives|works|belongs|consists"
)
_LEAD = re.compile(rf"\W{{0,4}}((?:[^\s(,;:]+\s+){{0,7}}?[^\s(,;:]+?)(?=\s*[(,]|\s+(?:{_VERBS})\s)")
_STATEMENT_VERB = re.compile(rf"\s*(?:{_VERBS})\b")
_OR_SEPARATOR = re.compile(r"\s+or\s+")
_LATER_STATEMENT_VERB = re.compile(r"(?:,|\s+or\s+)[^.]{0,200}?\b(?:is|was|are|were)\b")
_QUOTED_LEAD = re.compile(rf"[\"“]\s?([^\"“”\n]{{2,80}})[\"”](?=\s*[(,]|\s+(?:{_VERBS})\s)")
_LIFE_YEARS = re.compile(r"\s*\([^()]{0,120}?(?:\b\d{3,4}\b|\bborn\b)")
_NICKNAME = re.compile(r"\s*[\"“]([^\"“”]{2,20})[\"”]")
_DETERMINERS = frozenset("the a an my our your his her their this that these those".split())
_NAME_INNER_WORDS = frozenset(
    "of the a an and in for on at to with by from as no de la le van von der del di da du al el y e &".split()
)
_ALSO_KNOWN_AS = re.compile(
    r"(?:known (?:simply )?(?:as|by (?:his|her|their) \w* ?name)|commonly called|also (?:called|stylized as)|abbreviated(?: as| to)?"
    r"|nicknamed|a\.k\.a\.|aka)\s*(?:the\s+)?[\"“'‘`]{0,2}\s?((?:[A-Z][\w.'’&-]*\s?){1,5})"
)
_ALSO_KNOWN_CUES = ("known", "called", "stylized", "abbreviated", "nicknamed", "a.k.a", "aka")


def find_subjects(fact: Fact, text: str) -> tuple[FactSubject, ...]:
    """What a fact is about, the strongest first. A spoken turn has a speaker; it is about something only if that was given.

    >>> find_subjects(Fact("", subject="Lambert, Margrave of Tuscany"), "Lambert (died after 938) was a margrave.")[:2]
    (FactSubject(name='lambert margrave of tuscany', strength=1.0), FactSubject(name='lambert', strength=0.9))
    """
    found: dict[str, float] = {}
    for surface, strength in _list_surfaces(fact, text):
        for name, sure in list_name_forms(surface):
            if len(name) > 1 and name not in STOP_WORDS:
                found[name] = max(found.get(name, 0.0), round(strength * _form_share(sure), 3))
    strongest = sorted(found.items(), key=lambda pair: -pair[1])
    return tuple(FactSubject(name, strength) for name, strength in strongest[:_MAX_SUBJECTS])


def _form_share(sure: float) -> float:
    if sure == FULL_CONFIDENCE:
        return 1.0
    return ALIAS_SHARE if sure == RULE_CONFIDENCE else VARIANT_SHARE


def _list_surfaces(fact: Fact, text: str) -> Iterator[tuple[str, float]]:
    if fact.subject:
        yield from _list_given_names(fact.subject[:_BEGINNING_LENGTH])
    if fact.speaker:
        return
    beginning = text[:_BEGINNING_LENGTH]
    first = find_lead_name(beginning)
    if first:
        yield first, LEAD_STRENGTH
        yield from ((shorter, SHORT_NAME_STRENGTH) for shorter in _list_short_names(first, beginning))
    if any(map(beginning.__contains__, _ALSO_KNOWN_CUES)):
        yield from ((also, ALSO_KNOWN_STRENGTH) for also in _ALSO_KNOWN_AS.findall(beginning))
    own = {normalise_name(name) for name in (fact.subject, first) if name}
    yield from (
        (letters, ALSO_KNOWN_STRENGTH) for letters, meant in find_abbreviations([beginning]).items() if meant in own
    )


def _list_given_names(subject: str) -> Iterator[tuple[str, float]]:
    """As given, without brackets, and what stands before a comma."""
    yield subject, GIVEN_STRENGTH
    plain = _BRACKETS.sub("", subject).strip() or subject
    if plain != subject:
        yield plain, WITHOUT_BRACKETS_STRENGTH
    before, comma, _ = plain.partition(",")
    if comma:
        yield before, BEFORE_COMMA_STRENGTH


def _list_short_names(name: str, text: str) -> Iterator[str]:
    """How others call a person whose years stand behind the full name: by the first and last of the names, or a nickname.

    >>> list(_list_short_names("Karl Jay Shapiro", "Karl Jay Shapiro (1913-2000) was a poet."))
    ['Karl Shapiro']
    >>> list(_list_short_names('David "Dave" Gilmour', 'David "Dave" Gilmour (born 1946) is a guitarist.'))
    ['David Gilmour', 'Dave Gilmour']
    """
    words = _NICKNAME.sub("", name).split()
    nicknames = _NICKNAME.findall(name)
    middle = words[1:-1]
    has_years = _LIFE_YEARS.match(text[text.find(name) + len(name) :]) is not None
    if not words or not has_years or len(middle) > _MAX_MIDDLE_NAMES or not _are_capitalised_words(middle):
        return
    if middle or (nicknames and len(words) > 1):
        yield f"{words[0]} {words[-1]}"
    yield from (f"{nickname} {words[-1]}" for nickname in nicknames)


def _are_capitalised_words(words: list[str]) -> bool:
    return all(word[0].isupper() and word.isalpha() for word in words)


def find_lead_name(text: str) -> str:
    """The words a statement begins with, if they name what it is about; empty if it is no such statement.

    >>> find_lead_name("The Journal of Physics is a journal."), find_lead_name("Teutberga( died 875) was a queen.")
    ('The Journal of Physics', 'Teutberga')
    >>> (
    ...     find_lead_name("It is late."),
    ...     find_lead_name("However, it rained."),
    ...     find_lead_name("We met Ana, who was late."),
    ... )
    ('', '', '')
    >>> find_lead_name("Postgres  or MySQL was the question.")
    'Postgres'
    >>> find_lead_name('"Love Runs Out" is a song.'), find_lead_name("Dangerously They Live is a film.")
    ('Love Runs Out', 'Dangerously They Live')
    """
    quoted = _QUOTED_LEAD.match(text)
    if quoted and is_quoted_title(quoted[1]) and _is_statement(text[quoted.end() :], named=True):
        return quoted[1].strip(" ,.;")
    found = _LEAD.match(text)
    if not found:
        return ""
    words = _OR_SEPARATOR.split(found[1], maxsplit=1)[0]
    return (
        words if _is_nameable(words) and _is_statement(text[found.end() :], named=_is_capitalised_name(words)) else ""
    )


def _is_statement(rest: str, *, named: bool) -> bool:
    """Whether a verb follows, after brackets or, for a name, after an apposition."""
    bracketed = _BRACKETS_AHEAD.match(rest)
    rest = rest[bracketed.end() :] if bracketed else rest
    return _STATEMENT_VERB.match(rest) is not None or (named and _LATER_STATEMENT_VERB.match(rest) is not None)


def _is_capitalised_name(words: str) -> bool:
    return all(not word[0].islower() or word in _NAME_INNER_WORDS for word in words.split())


def _is_nameable(words: str) -> bool:
    """No pronoun, question, adverb or clause; a command only behind an article, where it is none ("the deploy key")."""
    found = words.lower().split()
    determined = found[0] in _DETERMINERS
    while found and found[0] in _DETERMINERS:
        found = found[1:]
    if (
        not found
        or found[-1] in _NAME_INNER_WORDS
        or found[0].strip("'’") in (FUNCTION_WORDS if determined else SENTENCE_OPENERS)
    ):
        return False
    return all(word in _NAME_INNER_WORDS or word not in FUNCTION_WORDS for word in found[1:]) or _is_headline(words)


def _is_headline(words: str) -> bool:
    """Three capitals or more and no "I": even the small words are part of a title, "Coral Gardens and Their Magic"."""
    capitals = [word for word in words.split() if word[0].isupper()]
    return len(capitals) > 2 and "I" not in capitals and _is_capitalised_name(words)
