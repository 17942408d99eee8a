"""What kind of value a sentence states of its subject: a place, a time, a count, a state, a thing it has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import takewhile

from cofire.text.words import STOP_WORDS, extract_words

_TOKEN = re.compile(r"[^\W_](?:[\w'’.:/@+#&%-]*[\w+#%])?")
_POSSESSIVE = re.compile(r"['’]s$")
_CLOCK = re.compile(
    r"\d{1,2}[:h]\d{2}|\d{1,2}(?:[ap]m|h)|\d{4}-\d\d(?:-\d\d)?|\d{1,2}/\d{1,2}(?:/\d{2,4})?|\d{1,2}\.\d{1,2}\.(?:\d{2,4})?"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_DAY = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|tue|wed|thu|fri|sat|sun)|january|february|march|april|may|june|july|august"
    r"|september|october|november|december|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)|noon|midday|midnight|mornings?|afternoons?"
    r"|evenings?|nights?|weekends?|weekdays?|today|tonight|tomorrow|spring|summer|autumn|winter|easter|christmas"
    r"|\d{1,2}(?:st|nd|rd|th)|weeks?|months?|quarter|years?|terms?|semester|sprint|holidays?|lunch|lunchtime|dawn|dusk|q[1-4]|yesterday|daily|weekly|monthly|yearly|hourly|nightly"
)
_NUMBER_WORDS = frozenset(
    """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
    twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion half dozen once twice couple
    zero weekly daily monthly yearly hourly nightly quarter""".split()
)
_NONE = frozenset("no none nobody nothing unlimited".split())
_TIME_PREPOSITIONS = frozenset("at on in until till by since from before after".split())
_PLACE_PREPOSITIONS = frozenset(
    "in at on behind under near beside above below inside outside opposite next between onto into".split()
)
_COPULAS = frozenset("is are was were be been being am will it's that's".split())
_HAVING = frozenset("has have had got".split())
_ADVERBS = frozenset(
    "now currently still just already usually always mostly only also not about around roughly".split()
)
# What follows says since when, or why, and not what.
_CLAUSE_WORDS = frozenset("since as because after although while so".split())
_UNITS = {
    stem: dimension
    for dimension, units in {
        "duration": "second seconds sec s ms minute minutes min hour hours h day days week weeks month months year years",
        "bytes": "byte bytes kb mb gb tb kib mib gib tib",
        "money": "euro euros eur dollar dollars usd pound pounds gbp franc francs chf cent cents",
        "length": "m cm mm km metre metres meter meters mile miles foot feet inch inches",
        "weight": "g kg gram grams kilo kilos ton tons tonnes",
        "share": "percent %",
    }.items()
    for stem in units.split()
}
# Kinds of which a value can be the same attribute in other words: "in review" and "published", "Darjeeling" and "sencha".
_LIKE_KINDS = {
    "state": frozenset(["place", "name"]),
    "place": frozenset(["state", "has"]),
    "has": frozenset(["place"]),
    "time": frozenset(["count"]),
    "count": frozenset(["time"]),
    "name": frozenset(["state", "thing"]),
    "thing": frozenset(["name"]),
}
# Verbs and participles of one attribute each.
_VERB_FAMILIES = {
    verb: family
    for family, verbs in enumerate(
        """
        born
        studied studies study graduated
        lives live resides living
        works work working teaches employed
        opens opening
        closes closing
        starts begins began started
        ends ended expires expired
        costs cost priced
        taxed
        insured
        written programmed
        deployed
        maintained
        monitored
        tested
        built made
        bought
        weighs
        called named
        """.strip().splitlines()
    )
    for verb in verbs.split()
}
_ASKS_COUNT = re.compile(
    r"\bhow (?:many|much|long|old|big|large|tall|high|far|heavy|wide|deep)\b|\bwhat\b.*\bcosts?\b|\bwh(?:at|ich) port\b",
    re.IGNORECASE,
)
_ASKS_TIME = re.compile(r"^\s*(?:when|(?:at |on )?(?:what|which) (?:time|day|date))\b", re.IGNORECASE)


def states_other_attribute(older: str, newer: str) -> bool:
    """Whether two sentences with one subject state values of different kinds of it.

    >>> states_other_attribute("The car is a Panda.", "The car had a dent.")
    True
    >>> states_other_attribute("The car is in Oslo.", "The car is in Rome.")
    False
    """
    predicates = differing_predicates(older, newer)
    if predicates is None:
        return False
    old_verb, new_verb = (_read_verb_family(predicate) for predicate in predicates)
    if old_verb != new_verb and None not in (old_verb, new_verb):
        return True
    old, new = (list(_read_value_kinds(predicate)) for predicate in predicates)
    return bool(old and new) and not (_can_replace_kind(old[0], new) or _can_replace_kind(new[0], old))


@lru_cache(maxsize=2_048)
def differing_predicates(older: str, newer: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """What follows the words with which both texts begin, small words before it included; None if they share no subject."""
    old, new = _TOKEN.findall(older), _TOKEN.findall(newer)
    equal = (one.casefold() == other.casefold() for one, other in zip(old, new, strict=False))
    shared = sum(takewhile(bool, equal))
    while shared and old[shared - 1].casefold() in STOP_WORDS:
        shared -= 1
    if not shared:
        return None
    return tuple(old[shared:]), tuple(new[shared:])


def _can_replace_kind(kind: str, kinds: Sequence[str]) -> bool:
    """Whether a value of this kind can take the place of one of those."""
    if kind in _LIKE_KINDS and not _LIKE_KINDS[kind].isdisjoint(kinds):
        return True
    if kind.startswith("count"):
        return any(other == kind or (other.startswith("count") and "count" in (kind, other)) for other in kinds)
    return kind in kinds


def _read_verb_family(predicate: Sequence[str]) -> int | None:
    """The family of the verb at the beginning of a predicate."""
    families = (_VERB_FAMILIES.get(token.casefold()) for token in predicate[:3])
    return next((family for family in families if family is not None), None)


def _read_value_kinds(predicate: Sequence[str]) -> Iterator[str]:
    """The kinds of the values of a predicate, in order."""
    words = [_POSSESSIVE.sub("", token).casefold() for token in predicate]
    words = list(takewhile(lambda word: word not in _CLAUSE_WORDS, words))
    start = _skip_copula(words)
    if start < len(words) and words[start] in _HAVING and not _is_number(words[start + 1 : start + 2]):
        yield "has"
    elif 0 < start < len(words) and not _is_time(words, start):
        yield from _read_complement_kind(predicate[start : len(words)], words[start:])
    if "name" in words[start:]:
        yield "name"
    for place in range(start, len(words)):
        yield from _read_kind_at(words, place)


def _skip_copula(words: Sequence[str]) -> int:
    """Where the words after "is now", "has been" or the "has" of "has arrived" begin.

    >>> _skip_copula(["is", "now", "blue"]), _skip_copula(["has", "arrived"]), _skip_copula(["has", "wheels"])
    (2, 1, 0)
    """
    start = 0
    while start < len(words):
        following = words[start + 1] if start + 1 < len(words) else ""
        is_auxiliary = words[start] in _HAVING and (following in _COPULAS or following.endswith("ed"))
        if not (is_auxiliary or words[start] in _COPULAS or words[start] in _ADVERBS):
            break
        start += 1
    return start


def _read_complement_kind(tokens: Sequence[str], words: Sequence[str]) -> Iterator[str]:
    """The kind of what follows a copula: a thing ("a nurse"), a name, or a state ("broken"); none where somebody acts."""
    if words[0] in ("a", "an"):
        yield "thing"
    elif words[0] in ("the", "called", "named") or tokens[0][0].isupper():
        yield "name"
    elif words[0] in STOP_WORDS:
        return
    elif tokens[0].islower() and not (_is_number(words[:1]) or words[0].endswith("ing") or "by" in words):
        yield "state"


def _read_kind_at(words: Sequence[str], place: int) -> Iterator[str]:
    """The kind of the value that begins with a word: a time, a count, a place, an agent ("by") or an origin ("from")."""
    word = words[place]
    follows_number = place > 0 and _is_number([words[place - 1]])
    if _is_time(words, place):
        yield "time"
    elif _is_number([word]) and not follows_number:
        yield _read_count_kind(words, place)
    elif _is_time_after(words, place):
        return
    elif word in _PLACE_PREPOSITIONS or words[place : place + 2] == ["by", "the"]:
        yield "place"
    elif word in ("by", "from"):
        yield word


def have_things(older: str, newer: str) -> bool:
    """Whether both sentences say of one subject what it has, and not how many.

    >>> have_things("The hotel has a pool.", "The hotel has a sauna.")
    True
    >>> have_things("The hotel has 20 rooms.", "The hotel has 30 rooms.")
    False
    """
    predicates = differing_predicates(older, newer)
    if predicates is None:
        return False
    kinds = [next(_read_value_kinds(predicate), None) for predicate in predicates]
    return kinds == ["has", "has"]


def _is_number(words: Sequence[str]) -> bool:
    return any(word[0].isdecimal() or word in _NUMBER_WORDS for word in words)


def _is_time(words: Sequence[str], place: int) -> bool:
    word = words[place]
    if _CLOCK.fullmatch(word) or _DAY.fullmatch(word):
        return True
    if not word.isdecimal():
        return False
    if place + 1 < len(words) and _DAY.fullmatch(words[place + 1]):
        return True
    previous = words[place - 1] if place else ""
    if _YEAR.fullmatch(word):
        return previous in _TIME_PREPOSITIONS or bool(_DAY.fullmatch(previous))
    return int(word) <= 31 and (previous in ("at", "until", "till", "since") or bool(_DAY.fullmatch(previous)))


def _is_time_after(words: Sequence[str], place: int) -> bool:
    following = range(place + 1, min(place + 6, len(words)))
    return words[place] in _TIME_PREPOSITIONS and any(_is_time(words, other) for other in following)


def _read_count_kind(words: Sequence[str], place: int) -> str:
    """ "count" and the unit that follows: "48 ports". Without a unit "count" alone."""
    for word in words[place + 1 : place + 3]:
        if _is_number([word]):
            continue
        if word in STOP_WORDS or not word.isalpha():
            return _UNITS.get(word, "count")
        return f"count {_UNITS.get(word) or next(iter(extract_words(word)), word)}"
    return "count"


def are_counts(texts: Sequence[str]) -> bool:
    """Whether each text has a number.

    >>> are_counts(["four rooms", "3"]), are_counts(["four rooms", "a pool"])
    (True, False)
    """
    return all(_is_number([token.casefold() for token in _TOKEN.findall(text)]) for text in texts)


def are_times(words: Sequence[str]) -> bool:
    """Whether all words are parts of a date or a time of day."""
    lowered = [word.casefold() for word in words]
    return all(
        _CLOCK.fullmatch(word) or _DAY.fullmatch(word) or (word.isdecimal() and int(word) <= 31) for word in lowered
    )


def asks_count(question: str) -> bool:
    """Whether a question asks for a number."""
    return bool(_ASKS_COUNT.search(question))


def asks_time(question: str) -> bool:
    """Whether a question asks for a time."""
    return bool(_ASKS_TIME.search(question))


def states_count(text: str) -> bool:
    """Whether a text has a number, or says that there is none."""
    words = [token.casefold() for token in _TOKEN.findall(text)]
    return _is_number(words) or not _NONE.isdisjoint(words)


def states_time(text: str) -> bool:
    """Whether a text has a time or a number."""
    words = [token.casefold() for token in _TOKEN.findall(text)]
    return any(_is_time(words, place) or word[0].isdecimal() for place, word in enumerate(words))
