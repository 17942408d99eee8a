"""Versions of a fact: signs that a newer text replaces an older one as the answer to a question. No I/O."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from cofire.reading.words import STOP_WORDS, words

# Longer texts are passages: they hold many facts, and one of these says little about which passage is newer.
LONGEST = 600  # characters
MOST_TOKENS = 60

_TOKEN = re.compile(r"[^\W_](?:[\w'’.:/@+#&-]*[\w+#])?")
_POSSESSIVE = re.compile(r"['’]s$")
_JOINED = re.compile(r"\w[._/@-]\w")


def _phrases(text: str) -> re.Pattern[str]:
    """A pattern for any of the phrases, one a line."""
    phrases = (phrase.strip().replace(" ", r"\s+") for phrase in text.strip().splitlines())
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b", re.IGNORECASE)


# The newer text says that something changed.
_CHANGE = _phrases(
    r"""
    now|nowadays|these days|today|lately|recently|finally|again|back|after all|instead|since|new|as of|until
    move[sd]?|moving|switch(?:ed|es)?|swapped|shifted|migrated|ported|converted|rewritten|renamed?|settled
    upgraded|bumped|downgraded|updated?|replace[sd]?|chang(?:e[sd]?|ing)|raised|lowered|cut|reduced|increased|extended|improved
    left|joined|took over|take[sn]? over|handed|became|promoted|started|starting|retired|sold|split up|broke up|divorced|died
    postponed|rescheduled|brought forward|reopened|resumed|effective|passed|closed|got|was|has been|have been
    from \w+(?: \w+)? on|used to|formerly|previously|actually|turns out|correction|out of
    cancell?ed|off|ended|over|stopp?(?:ed)?|no longer|not any ?more|any ?more|gave up|given up|dropped|quit
    """
)
_ENDING = _phrases(
    r"cancell?ed|off|ended|over|stopped|no longer|any ?more|gave up|given up|dropped|quit|left|sold|closed"
)
_NEGATION = _phrases(r"not|no|never|nobody|none|cannot|without|stopped|cancell?ed|ended|gave up|dropped|\w+n['’]t")
# The newer text is a plan, a wish or a guess: what it plans is not true yet.
_PLAN = _phrases(
    r"""
    plan(?:s|ned|ning)? (?:to|for|is)|thinking (?:about|of)|consider(?:s|ed|ing)?|might|may be|maybe|perhaps|could|would|probably
    if (?:we|he|she|they|i|you|the)|suggest(?:s|ed|ion)?|propos(?:es|ed|al)|wish(?:es)?|wants? to|hopes? (?:to|for)|dreams? of
    should|ideally|some ?day|one day|eventually|next year|idea|discuss(?:ed|ing)|debat(?:ed|ing)|asked (?:for|whether|if)
    rumou?rs?|intends?|looking (?:at|into)|tempted|recommends?|draft|evaluat(?:es?|ing)|tr(?:y|ying|ied) out|pilot|applied for
    """
)
# The newer text adds to the older one.
_ADDITION = _phrases(r"also|as well|too|another|additionally|in addition|besides|second|additional|both|on top of that")

_PAST = _phrases(
    r"""
    before|previous(?:ly)?|former(?:ly)?|used to|original(?:ly)?|initially|at first|earlier|in the past|back then|until|old|past
    last (?:year|month|week|time|season|spring|summer|autumn|winter)|during|history|had|ago|was|were|did
    """
)
# "What did we decide?" asks for what holds now.
_DECISION = _phrases(
    r"decided?|choose|chose|agreed?|settled?|pick(?:ed)?|switch(?:ed)?|moved?|changed?|end up|replaced?|upgraded?"
)
_YES_OR_NO = re.compile(r"\s*(?:do|does|is|are|can|has|have|am|will|should|may|must)\b", re.IGNORECASE)

# Words of which one excludes the others: texts that differ by them are about different things.
_ALTERNATIVES = tuple(
    frozenset(line.split())
    for line in """
    staging stage test testing dev development qa prod production live preview sandbox local demo
    summer winter spring autumn fall
    elder older oldest younger youngest eldest
    read write connect
    open opens close closes opening closing
    start starts end ends starting ending begin begins finish finishes
    min minimum max maximum resting mean average
    input output
    inbound outbound incoming outgoing
    left right
    upper lower top bottom
    front rear
    north south east west northern southern eastern western
    morning afternoon evening night noon midday
    internal external
    public private
    primary secondary replica main backup
    basic pro premium free standard enterprise plus
    weekday weekdays weekend weekends
    husband wife
    mother father mum dad mom
    son daughter
    brother sister
    grandmother grandfather granny grandpa grandma granddad
    uncle aunt
    boy boys girl girls man men woman women
    male female
    buy sell
    android ios windows linux macos mac
    client server frontend backend
    cpu gpu memory disk
    monday tuesday wednesday thursday friday saturday sunday
    mondays tuesdays wednesdays thursdays fridays saturdays sundays
    january february march april may june july august september october november december
    breakfast lunch dinner
    first second third fourth
    small medium large big
    mr ms mrs
    arrival departure arrives departs
    request response
    upload download
    hot cold
    adult adults child children kids
    monthly yearly weekly daily annual quarterly
    gross net
    """.strip().splitlines()
)


@dataclass(frozen=True, slots=True)
class Wording:
    """What the comparison of two texts looks at. `words` are stemmed, `tokens` as written in small letters."""

    tokens: tuple[str, ...]
    words: frozenset[str]
    changes: bool
    ends: bool
    negates: bool
    plans: bool
    adds: bool


@dataclass(frozen=True, slots=True)
class AskedWording:
    """A question for the same purpose. `specific` are the words of its names, numbers and identifiers."""

    words: frozenset[str]
    specific: frozenset[str]
    specific_tokens: frozenset[str]
    yes_or_no: bool


@lru_cache(maxsize=2_048)
def read_wording(text: str, speaker: str | None) -> Wording | None:
    """The wording of a fact; None for one that is too long to be a version of another."""
    if len(text) > LONGEST:
        return None
    tokens = tuple(token.casefold() for token in _TOKEN.findall(text))
    if not tokens or len(tokens) > MOST_TOKENS:
        return None
    return Wording(
        tokens=tokens,
        words=frozenset(words(text)) | frozenset(words(speaker) if speaker else ()),
        changes=bool(_CHANGE.search(text)),
        ends=bool(_ENDING.search(text)),
        negates=bool(_NEGATION.search(text)),
        plans=bool(_PLAN.search(text)),
        adds=bool(_ADDITION.search(text)),
    )


def read_asked_wording(question: str) -> AskedWording:
    """The wording of a question.

    >>> sorted(read_asked_wording("Which port does db-1 use in Berlin?").specific_tokens)
    ['berlin', 'db-1']
    """
    specific = {
        _POSSESSIVE.sub("", match.group())
        for match in _TOKEN.finditer(question)
        if _is_specific(_POSSESSIVE.sub("", match.group()), starts=match.start() == 0)
    }
    return AskedWording(
        words=frozenset(words(question)),
        specific=frozenset(word for token in specific for word in words(token)),
        specific_tokens=frozenset(token.casefold() for token in specific),
        yes_or_no=bool(_YES_OR_NO.match(question)),
    )


def _is_specific(token: str, *, starts: bool) -> bool:
    """Whether a token is a name, a number or an identifier. The first word of a question is written large in any case."""
    if token.casefold() in STOP_WORDS:
        return False
    has_digit = any(letter.isdigit() for letter in token)
    return has_digit or bool(_JOINED.search(token)) or (token[0].isupper() and not starts)


def asks_about_past(question: str) -> bool:
    """Whether a question asks for what was true earlier.

    >>> asks_about_past("Where did Ana live before?"), asks_about_past("What did we decide about the linter?")
    (True, False)
    """
    return bool(_PAST.search(question)) and not _DECISION.search(question)


def may_replace(question: AskedWording, older: Wording, newer: Wording) -> bool:
    """Whether the newer text can replace the older one as an answer. It cannot

    - if it is a plan, a wish or an addition,
    - if it lacks a name, a number or an identifier of the question that the older one has,
    - if it has an alternative in place of a word of the question ("staging" and "production"), or
    - if both have nothing of the question in common, and it neither announces a change nor shares another word.
    """
    if (newer.plans and not older.plans) or (newer.adds and not older.adds):
        return False
    shared = older.words & newer.words
    if not shared & question.words and not (shared and newer.changes):
        return False
    lost = (question.words & older.words) - newer.words
    ends = newer.ends and bool(shared & question.specific)
    if not ends and _loses_specific(question, older, newer):
        return False
    if not lost:
        return True
    if question.yes_or_no and not newer.changes and newer.negates == older.negates:
        return False
    lost_tokens = {token for token in older.tokens if not lost.isdisjoint(words(token))}
    return not (_has_alternative(older, newer, lost_tokens) or _has_counterpart(older, newer, lost_tokens))


def _loses_specific(question: AskedWording, older: Wording, newer: Wording) -> bool:
    if (question.specific & older.words) - newer.words:
        return True
    tokens = question.specific_tokens & frozenset(older.tokens)
    return not tokens <= frozenset(newer.tokens)


def _has_alternative(older: Wording, newer: Wording, lost_tokens: set[str]) -> bool:
    """Whether the newer text has an alternative of a word that it lacks."""
    new_tokens = frozenset(newer.tokens) - frozenset(older.tokens)
    return any(
        token in alternatives and not alternatives.isdisjoint(new_tokens)
        for alternatives in _ALTERNATIVES
        for token in lost_tokens
    )


def _has_counterpart(older: Wording, newer: Wording, lost_tokens: set[str]) -> bool:
    """Whether another word stands in the place of a word of the question, inside the sentence, and the texts differ elsewhere too.

    "The read timeout is 10 s" and "The handshake timeout is 3 s" are about two timeouts.
    """
    matcher = SequenceMatcher(None, older.tokens, newer.tokens, autojunk=False)
    differences = [
        (older.tokens[a:b], newer.tokens[c:d], b)
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal" and any(token not in STOP_WORDS for token in newer.tokens[c:d])
    ]
    return len(differences) > 1 and any(
        1 <= len(old) <= 2
        and len(new) <= 2
        and end < len(older.tokens)
        and not lost_tokens.isdisjoint(old)
        and not _CHANGE.search(" ".join(new))
        for old, new, end in differences
    )


def count_signs(question: AskedWording, older: Wording, newer: Wording) -> int:
    """How many signs in their wording say that the newer text answers the question in place of the older one.

    One for each: it announces or denies something; it does so with a word of the older text that the question does not have; it has every
    word of the question that the older one has; both have half their tokens, or two words of the question, in common. Minus one for each:
    it lacks two words of the question, the texts are long.

    >>> older, newer = read_wording("Node is pinned to 18.19.", None), read_wording("Node is pinned to 20.11.", None)
    >>> count_signs(read_asked_wording("Which Node version do we use?"), older, newer)
    2
    """
    shared = older.words & newer.words
    lost = (question.words & older.words) - newer.words
    older_tokens, newer_tokens = frozenset(older.tokens), frozenset(newer.tokens)
    tokens = len(older_tokens) + len(newer_tokens)
    signs = (
        newer.changes or newer.negates != older.negates,
        newer.changes and bool(shared - question.words),
        not lost,
        2 * len(older_tokens & newer_tokens) >= 0.5 * tokens,
        len(shared & question.words) >= 2,
    )
    return sum(signs) - (len(lost) >= 2) - (tokens > 40)
