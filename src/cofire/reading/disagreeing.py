"""Disagreeing: whether two texts say otherwise of the same thing, by their structure alone. Cautious: it proposes, it does not know."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import lru_cache

from cofire.reading.words import STOP_WORDS, fold

Words = tuple[str, ...]
Difference = tuple[Words, Words]

LEAST_SHARED = 0.5
LONGEST = 60
LONGEST_VALUE = 4

_WORD = re.compile(r"\d[\w.,:/%-]*\w|\d|[^\W\d_][\w'+#./@-]*[\w+#]|[^\W\d_]|[$€£%]")

# Words that say when or how surely, and may stand on one side alone.
_ASIDES = frozenset(
    """now currently today already still just recently lately meanwhile instead actually finally again officially a an the its their
    his her our my as of since from then in fact it turns out that is update correction""".split()
)
_CONTRACTED = {
    short: (short[:-3], "not")
    for short in "isn't aren't wasn't weren't doesn't don't haven't hasn't shouldn't mustn't".split()
} | {"can't": ("can", "not"), "cannot": ("can", "not"), "won't": ("will", "not")}
_DOES_NOT = re.compile(r"\bdoes not (\w+)", re.IGNORECASE)
_DO_NOT = re.compile(r"\bdo not\b", re.IGNORECASE)
_NEGATIONS = frozenset(
    "not never no longer isn't aren't doesn't don't wasn't won't cannot can't didn't anymore".split()
)
# What may be true of several things at once, or happened more than once: another value says nothing against the first.
_MANY = frozenset(
    """like likes liked love loves loved enjoy enjoys hate hates know knows speak speaks play plays own owns include includes contain
    contains support supports need needs want wants contact contacts serve serves collect collects eats drinks reads teaches covers
    has have provides offers handles accepts allows requires also another too""".split()
)
_EVENTS = frozenset(
    """visited bought met ate read saw wrote asked said told called sent went came fixed repaired merged deployed released opened closed
    found lost won sold gave took made built tested reviewed attended watched finished started joined left discussed reported paid
    happened failed crashed spent ordered cooked presented learned completed added removed ran created received borrowed""".split()
)
_STATES = frozenset(
    """is are was were be uses use runs run lives live works work prefers prefer stays costs cost reports belongs owns earns weighs
    measures named called set listens starts begins ends opens closes defaults points lasts takes stands sits costs expires renews
    leads manages hosted deployed stored written located based scheduled due allowed limited moved equals changed became""".split()
)
_MONTHS = frozenset(
    """january february march april may june july august september october november december monday tuesday wednesday thursday
    friday saturday sunday tomorrow yesterday tonight noon midnight""".split()
)
_NUMBERS = frozenset(
    """one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty hundred thousand once twice
    daily weekly monthly yearly hourly""".split()
)


def disagreement(old: str, new: str) -> str | None:
    """What two texts seem to disagree about, in words; None where they do not.

    They must say nearly the same, of a thing that can be only one way at a time, but for one value: a number, a date, a name, or a
    plain word after a verb of state; or one of them denies it.

    >>> disagreement("Ana lives in Porto.", "Ana lives in Lisbon now.")
    'Porto or Lisbon'
    >>> disagreement("Ana visited Porto.", "Ana visited Lisbon.") is None
    True
    """
    if old.rstrip().endswith("?") or new.rstrip().endswith("?"):
        return None
    first, second = _said(old), _said(new)
    if not first or not second or max(len(first), len(second)) > LONGEST:
        return None
    shared, differences = _compared(first, second)
    if not _are_near(shared, first, second):
        return None
    return _of_value(shared, differences) or _denied(shared, differences)


@lru_cache(maxsize=4_096)
def _said(text: str) -> Words:
    """The words as written, without a closing full stop, and what is denied as it would be said."""
    words = (word.rstrip(".,:/-") for word in _WORD.findall(fold(text)))
    return _plainly_denied(part for word in words for part in _CONTRACTED.get(word.casefold(), (word,)))


def _plainly_denied(words: Iterable[str]) -> Words:
    """Words with a denial that differs from what it denies by nothing but "not".

    >>> " ".join(_plainly_denied("Ana does not live in Berlin".split()))
    'Ana not lives in Berlin'
    """
    plain = _DOES_NOT.sub(lambda denied: f"not {_third_person(denied[1])}", " ".join(words))
    return tuple(_DO_NOT.sub("not", plain).split())


def _third_person(verb: str) -> str:
    """
    >>> [_third_person(verb) for verb in ("live", "carry", "pass", "have")]
    ['lives', 'carries', 'passes', 'has']
    """
    if verb == "have":
        return "has"
    if verb.endswith("y") and verb[-2:-1] not in set("aeiou"):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else f"{verb}s"


def _compared(first: Words, second: Words) -> tuple[Words, list[Difference]]:
    """What both say in the same order, and where they differ."""
    match = SequenceMatcher(None, _small(first), _small(second), autojunk=False)
    shared: list[str] = []
    differences: list[Difference] = []
    for tag, a, b, c, d in match.get_opcodes():
        if tag == "equal":
            shared += _small(first[a:b])
        else:
            differences.append((first[a:b], second[c:d]))
    return tuple(shared), [one for one in differences if not _is_aside(one)]


def _small(words: Words) -> Words:
    return tuple(word.casefold() for word in words)


def _is_aside(difference: Difference) -> bool:
    return all(word in _ASIDES for side in difference for word in _small(side))


def _are_near(shared: Words, first: Words, second: Words) -> bool:
    """Most of what the shorter one says is said by both, and something of it has a meaning of its own."""
    counted = [len([word for word in _small(said) if word not in _ASIDES]) for said in (first, second)]
    common = len([word for word in shared if word not in _ASIDES])
    telling = [word for word in shared if word not in STOP_WORDS and word not in _STATES]
    return bool(telling) and common >= LEAST_SHARED * max(*counted, 1)


def _of_value(shared: Words, differences: list[Difference]) -> str | None:
    if len(differences) != 1:
        return None
    mine, yours = (_without_asides(side) for side in differences[0])
    if (
        not mine
        or not yours
        or max(len(mine), len(yours)) > LONGEST_VALUE
        or _NEGATIONS & {*_small(mine), *_small(yours)}
    ):
        return None
    # What is not so can be not so of many values.
    kinds = _kind(mine), _kind(yours)
    if {"not", "never"} & set(shared) or _EVENTS & set(shared) or kinds[0] != kinds[1]:
        return None
    if _MANY & {*shared, *_small(mine), *_small(yours)} and kinds[0] != "number":
        return None
    if not _STATES & set(shared) and kinds[0] not in {"number", "date"}:
        return None
    if kinds[0] == "word" and not _is_attribute(shared):
        return None
    return f"{' '.join(mine)} or {' '.join(yours)}"


def _without_asides(words: Words) -> Words:
    return tuple(word for word in words if word.casefold() not in _ASIDES)


def _kind(value: Words) -> str:
    small = set(_small(value))
    if small & _MONTHS:
        return "date"
    if small & _NUMBERS or any(letter.isdigit() for letter in "".join(value)):
        return "number"
    return "name" if any(word[:1].isupper() for word in value) else "word"


def _is_attribute(shared: Words) -> bool:
    """Whether a plain word is the value of something that has one: of a verb other than to be, or of somebody's or the such-and-such."""
    return bool((_STATES - {"is", "are", "was", "were", "be"}) & set(shared)) or any(
        word.endswith("'s") for word in shared
    )


def _denied(shared: Words, differences: list[Difference]) -> str | None:
    """One of them says that it is not so."""
    said = [side for one in differences for side in one if side]
    if len(said) != 1 or not set(_small(said[0])) <= _NEGATIONS | _ASIDES or _EVENTS & set(shared):
        return None
    return f"one says: {' '.join(said[0])}"
