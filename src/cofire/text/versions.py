"""Signs that a newer text replaces an older one as the answer to a question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from cofire.text.attributes import asks_count, asks_time, states_count, states_other_attribute, states_time
from cofire.text.words import STOP_WORDS, extract_words

# Longer texts are passages: they hold many facts, and one of these says little about which passage is newer.
MAX_TEXT_LENGTH = 600  # characters
MAX_TOKENS = 60
MAX_VALUE_WORDS = 3  # words of a value that is replaced
MOST_OTHER_WORDS = 2  # words of a name that stands for another thing
ROOT = 5  # letters with which words of one root begin

_TOKEN = re.compile(r"[^\W_](?:[\w'’.:/@+#&-]*[\w+#])?")
_TOKEN_OR_MARK = re.compile(r"[^\W_](?:[\w'’.:/@+#&%-]*[\w+#%])?|[:;,=|]|->")
_POSSESSIVE = re.compile(r"['’]s$")
_OWNER = re.compile(r"([^\W_][\w.-]*)['’]s(?=\s+\w)")
_JOINED = re.compile(r"\w[._/@-]\w")
_CLAUSE_END = re.compile(r"\s*(?:[,:;.!?)–—]|- )")


def _phrases(text: str) -> re.Pattern[str]:
    """A pattern for any of the phrases, separated by | or a line break."""
    phrases = (phrase.strip().replace(" ", r"\s+") for phrase in text.strip().splitlines())
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b", re.IGNORECASE)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem for word in text.split() for stem in extract_words(word))


# A verb or phrase that says that something changed.
_CHANGE_VERBS = r"""
    moved|moves|moving|switch(?:ed|ing)|(?<!the\s)(?<!a\s)switch(?:es)?|called off
    swapped|shifted|migrated|ported|converted|rewritten|rewrote|renamed|traded|transferred
    upgraded|bumped|downgraded|updated|replac(?:ed|es|ing)|chang(?:ed|es)|raised|lowered|cut|reduced|increased|extended|shortened
    doubled|halved|dropped|went (?:up|down)|rose|fell|grew|slipped|delayed|pushed (?:back|to|out)|brought forward|postponed|rescheduled
    took over|taken over|takes over|(?<!-)handed|became|promoted|turned into|appointed|settled|reopened|resumed|gave up
    given up|quit|stopped
    cancell?ed|ended|scrapped|abandoned|ditched|phased out|deprecated|discontinued|lifted|banned|reverted|rolled back|relocated
    supersed(?:ed|es|ing)|in favou?r of|no longer|any ?more|used to|instead|no more|refactored|took up
    (?:scaled|turned) (?:up|down|back|out|off|on)|decreased|shrunk|shrank|trimmed|slashed|tightened|relaxed|expanded|adjusted|amended
    revised|altered|modified|exchanged|adopted|transitioned|reassigned|relicensed|rebranded|repriced|redesigned|rebuilt|restructured
    outgrown|outgrew|overtaken|overtook|resigned|stepped down|succeeded|elected|shelved|axed|suspended|revoked|withdrawn|waived
    repealed|overturned|enabled|disabled
"""
_CHANGE_VERB = _phrases(_CHANGE_VERBS)
# The text says that something changed, by a verb or otherwise.
_CHANGE = _phrases(
    _CHANGE_VERBS.rstrip()
    + r"""
    now|nowadays|these days|lately|recently|finally|after all|as of|formerly|previously|from \w+(?: \w+)? on(?:wards?)?
    (?<!the\s)left(?!-)|joined|retired|sold|split up|broke up|divorced|died|gone|named|departure|effective|correction|turns out|actually
    removed|expired|over|again|rather than|out of|made? way
    """
)
# A start in time, or a word that often comes with a change but proves none.
_TIME = (
    r"(?:(?:today|yesterday|now|week|month|quarter|term|season|year|sprint|release|spring|summer|autumn|fall|winter|holidays|\w+day|january"
    r"|february|march|april|may|june|july|august|september|october|november|december|v?\d[\w.]*)(?:\s+\d{1,4})?)"
)
_CHANGE_HINT = _phrases(
    r"""
    (?:since|as of|from|starting|effective|after|until|by) (?:(?:the|this|last|next|early|late|mid|end of) )*{time}(?: on(?:wards?)?)?
    at last|since|new|newly|today|back|until|off|was|got|has been|have been|started|starting|start|closed|passed|already|by now
    this (?:week|month|quarter|term|season|year)|taken|had to|another|different|other|so
    """.replace("{time}", _TIME)
)
# Followed by the older value, or following it: that value holds no more.
_LEAVING_VERB = _phrases(
    r"""
    from|(?<!the\s)left|leaving|dropp(?:ed|ing)|gave up|given up|replac(?:ed|es|ing)|supersed(?:ed|es|ing)|instead of|rather than|out of
    scrapped|ditched|sold|quit|no longer|stopped|traded|swapped|cancell?ed|no more|not|off|following|after|abandoned|removed|retired|used to
    was|until|formerly|previously|renamed
    """
)
_ENDED = (
    r"(?:renamed|replaced|scrapped|dropped|sold|ended|retired|cancell?ed|discontinued|removed|deprecated|superseded|off|over|gone|closed"
    r"|switched|shut|phased|too)"
)
_LEFT_VALUE = _phrases(
    r"""
    (?:was|were|is|are|has been|have been|got|had) (?:\w+ )?{ended}
    (?<!the\s)left|retired|died|quit|ended|closed|gave way|made way|expired|departure
    """.replace("{ended}", _ENDED)
)
_NEGATION = _phrases(r"not|no|never|nobody|none|cannot|without|stopped|cancell?ed|ended|gave up|dropped|\w+n['’]t")
# A plan, a wish, a guess or what somebody says: not true, or not yet.
_PLAN = _phrases(
    r"""
    plan(?:s|ned|ning)? (?:to|for|is)|thinking (?:about|of)|consider(?:s|ed|ing)?|might
    may (?:be|buy|move|switch|change|have|get|grow|become|soon)|talk(?:ed|ing|s)? (?:about|of)|look(?:ed|s)? (?:at|into)|maybe|perhaps
    could|would|probably|if (?:we|he|she|they|i|you|the)|suggest(?:s|ed|ion)?|propos(?:es|ed|al)|wish(?:es)?|wants? to
    hopes? (?:to|for)|dreams? of|should|ideally|some ?day|one day|eventually|next year|idea|discuss(?:ed|ing)|debat(?:ed|ing)|asked
    ask(?:s|ing)? (?:for|whether|if)|wonder(?:s|ed|ing)?|rumou?rs?|intends?|looking (?:at|into)|tempted|recommend(?:s|ed)|draft
    evaluat(?:es?|ing)|tr(?:y|ying|ied) out|pilot|applied for|joke[ds]?|joking|offer(?:s|ed)?|quoted?|said|says|told|claim(?:s|ed)?
    heard|guess(?:es|ed)?|dream(?:t|ed)|pretend(?:s|ed)?|believes?|thought|thinks|expect(?:s|ed)?|estimated?|in case|what if|whether
    test(?:ed|ing)|experiment(?:s|ed|ing)?|demo(?:ed)?|visit(?:ed|ing|s)?|spent|borrowed|rented|tried|vot(?:ed|ing)|candidate|option
    alternative|competitors?
    """
)
# It holds for a while, or in one case.
_TEMPORARY = _phrases(
    r"""
    until (?:mon|tues|wednes|thurs|fri|satur|sun)day|for a \w+(?: \w+)?|during|stand-?in|stands? in|substitut\w+|covering for
    temporar\w+|for the time being|on holiday|on vacation|on a trip|as a guest|exception\w*|on the day of|only for|just for|for once
    """
)
_ADDITION = _phrases(
    r"""
    also|as well|too(?=\s*(?:[.,;!?]|$))|additionally|in addition|besides|a second|additional|both|on top of that|plus|extra
    alongside|next to|likewise|so (?:has|have|is|are|does|do|did)|same (?:goes|for)|in parallel
    """
)

_PAST = _phrases(
    r"""
    before|previous(?:ly)?|former(?:ly)?|used to|original(?:ly)?|initially|at first|the first(?!-)|earlier|in the past|back then|old|past
    last (?:year|month|week|time|season|spring|summer|autumn|winter)|during|history|had|ago|was|were|did
    """
)
# "After the cache fix the build takes 9 minutes" holds from then on.
_REASON = re.compile(r"\s*(?:since|following|because|due to|thanks to|after (?:the|our|this|that))\b", re.IGNORECASE)
# Somebody does something: a sentence of its own, not the older one with more words.
_TELLS = re.compile(r"\s*(?:I|we|you|he|she|they)(?:['’]\w+)?\s", re.IGNORECASE)
_HOW_OLD = re.compile(r"\bhow old\b", re.IGNORECASE)  # asks for an age
_STATE = re.compile(
    r"\b(?:(?:is|are|was|were|may|can|must|should)(?: not| still)?|(?:has|have) (?=\w+ed\b)) ?([\w-]+)", re.IGNORECASE
)
_PART = re.compile(r"(\w+) of\b")
_DETERMINER = re.compile(r"the|an?|my|our|your|his|her|its|their|this|that|\w+['’]s", re.IGNORECASE)
# "What did we decide?" asks for what holds now.
_DECISION = _phrases(
    r"decided?|choose|chose|agreed?|settled?|pick(?:ed)?|switch(?:ed)?|moved?|changed?|end up|replaced?|upgraded?"
)
_YES_OR_NO = re.compile(r"\s*(?:do|does|is|are|can|has|have|am|will|should|may|must)\b", re.IGNORECASE)

_ASIDES = frozenset("currently still just meanwhile officially fact update fyi note please remember per via by".split())
_CONTRACTIONS = frozenset("it that he she what there who here let where how everyone one today".split())
_DAYS_AND_MONTHS = _stems(
    """january february march april june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday"""
)
# Verbs and attributes of a question. A newer text that lacks one of them says the same in other words; it is not about another thing.
_GENERIC_WORDS = _stems(
    """
    use uses used run runs live lives work works take takes play plays drink drinks eat eats drive drives study studies collect teach
    lead leads own owns maintain sit sits start starts begin end finish host hosted handle handled process processed cost costs call
    called deploy deployed store stored write written build built feed listen weigh read keep kept go goes get gets pay paid need needs
    require required allow allowed want prefer prefers like likes train attend manage managed send sent book booked buy bought sell
    order issue issued sign signed log logged set meet meets happen held hold base based locate located look looks make made commute
    travel fly stay expire expires last lasts launch release released serve served answer reply format test tested review reviewed pick
    picks bring speak tutor supply supplied deliver delivered change changed rotate request requested resize install installed monitor
    monitored back respond notify notified track tracked print publish published render cool cooled support ship shipped open opens
    close closed flag feature site page app rule policy let lets put puts welcome forbid wait ring listed generate generated connect
    schedule scheduled fix apply wear sleep swim ride sing paint cook grow vote version number price address time date day name job
    position post role room limit size plan type kind colour color port url password code key place city country company school club
    team doctor dentist provider supplier vendor tool system software platform service language framework library database engine
    account currency status state stage phase budget salary rate fee amount dose duration length weight height age deadline location
    venue owner head person contact responsible many much often long far old big high people anybody somebody everyone currently now
    still today normally usually default main current project mr mrs ms dr prof professor ceo cto cfo
    """
)

# Words of which one excludes the others: texts that differ by them are about different things.
_ALTERNATIVES = tuple(
    _stems(line)
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


# The words that two texts have in one place, each its own.
DifferingSlot = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class FactWording:
    """What the comparison of two texts looks at.

    `words` are all stemmed words, the speaker's name included. `left_words` are those of a value that
    no longer holds. `tokens` are the stemmed words in order, without stop words and phrases of change;
    `closes` says for each whether a clause ends after it.
    """

    text: str
    words: frozenset[str]
    written: frozenset[str]
    tokens: tuple[str, ...]
    closes: tuple[bool, ...]
    owners: frozenset[str]
    left_words: frozenset[str]
    changes: bool
    has_change_verb: bool
    hints: bool
    negates: bool
    plans: bool
    adds: bool
    temporary: bool


@dataclass(frozen=True, slots=True)
class QuestionWording:
    """A question for the same purpose. `specific` are the words of its names, numbers and identifiers, `written` its words as written."""

    words: frozenset[str]
    specific: frozenset[str]
    specific_tokens: frozenset[str]
    tokens: frozenset[str]
    yes_or_no: bool
    asks_count: bool = False
    asks_time: bool = False


@lru_cache(maxsize=2_048)
def read_wording(text: str, speaker: str | None) -> FactWording | None:
    """The wording of a fact; None for one that is too long to be a version of another."""
    if len(text) > MAX_TEXT_LENGTH:
        return None
    written = frozenset(_POSSESSIVE.sub("", token).casefold() for token in _TOKEN.findall(text))
    if not written or len(written) > MAX_TOKENS:
        return None
    tokens = tuple(_read_tokens(_CHANGE.sub(" ", _CHANGE_HINT.sub(" ", text))))
    return FactWording(
        text=text,
        words=frozenset(extract_words(text)).union(
            extract_words(speaker) if speaker else (), (token for token, _ in tokens)
        ),
        written=written,
        tokens=tuple(token for token, _ in tokens),
        closes=tuple(closes for _, closes in tokens),
        owners=_read_owners(text),
        left_words=_read_left_words(text),
        changes=bool(_CHANGE.search(text)),
        has_change_verb=bool(_CHANGE_VERB.search(text)),
        hints=bool(_CHANGE_HINT.search(text)),
        negates=bool(_NEGATION.search(text)),
        plans=bool(_PLAN.search(text)) or text.rstrip().endswith("?"),
        adds=bool(_ADDITION.search(text)),
        temporary=bool(_TEMPORARY.search(text)),
    )


def _read_tokens(text: str) -> Iterator[tuple[str, bool]]:
    """Each stemmed word that is no stop word, and whether a clause ends after it or after the stop words that follow it."""
    pending: tuple[str, bool] | None = None
    for match in _TOKEN.finditer(text):
        token = _POSSESSIVE.sub("", match.group()).casefold()
        closes = bool(_CLAUSE_END.match(text, match.end()))
        if not _is_letter(match) and (token in STOP_WORDS or token in _ASIDES):
            if pending:
                pending = pending[0], pending[1] or closes
            continue
        if pending:
            yield pending
        pending = (token if _is_letter(match) else _stem(token)), closes
    if pending:
        yield pending


def _is_letter(match: re.Match[str]) -> bool:
    """Whether a token is a letter that names a thing, as in "rack A" or "class b"."""
    token = match.group()
    if len(token) != 1 or not token.isalpha():
        return False
    return token.casefold() not in "aios" or (token.isupper() and token != "I" and match.start() > 0)


def _stem(token: str) -> str:
    """The stem of a word; an identifier or a number as it is.

    >>> _stem("servers"), _stem("web-eu"), _stem("10.2")
    ('server', 'web-eu', '10.2')
    """
    return token if _JOINED.search(token) else next(iter(extract_words(token)), token)


def _read_owners(text: str) -> frozenset[str]:
    """The words before an apostrophe and s.

    >>> sorted(_read_owners("It's Ulrike's laptop."))
    ['ulrik']
    """
    owners = (match.group(1) for match in _OWNER.finditer(text))
    return frozenset(stem for owner in owners if owner.casefold() not in _CONTRACTIONS for stem in extract_words(owner))


def _read_left_words(text: str) -> frozenset[str]:
    """The stemmed words that the text says hold no more: the three after "from", "dropped" and the like, or before "was replaced".

    >>> sorted(_read_left_words("We switched from Redux."))
    ['redux']
    """
    tokens = [(match.start(), _stem(_POSSESSIVE.sub("", match.group()).casefold())) for match in _TOKEN.finditer(text)]
    following = ([stem for start, stem in tokens if start >= match.end()][:3] for match in _LEAVING_VERB.finditer(text))
    preceding = ([stem for start, stem in tokens if start < match.start()][-3:] for match in _LEFT_VALUE.finditer(text))
    return frozenset(stem for stems in (*following, *preceding) for stem in stems)


@lru_cache(maxsize=256)
def read_question_wording(question: str) -> QuestionWording:
    """The wording of a question.

    >>> sorted(read_question_wording("Which port does db-1 use in Berlin?").specific_tokens)
    ['berlin', 'db-1']
    """
    specific = {
        _POSSESSIVE.sub("", match.group())
        for match in _TOKEN.finditer(question)
        if _is_specific(_POSSESSIVE.sub("", match.group()), starts=match.start() == 0)
    }
    return QuestionWording(
        words=frozenset(extract_words(question)),
        specific=frozenset(word for token in specific for word in extract_words(token)) - _GENERIC_WORDS,
        specific_tokens=frozenset(
            token.casefold() for token in specific if _GENERIC_WORDS.isdisjoint(extract_words(token))
        ),
        tokens=frozenset(token for token, _ in _read_tokens(question)),
        yes_or_no=bool(_YES_OR_NO.match(question)),
        asks_count=asks_count(question),
        asks_time=asks_time(question),
    )


def _is_specific(token: str, *, starts: bool) -> bool:
    """Whether a token is a name, a number or an identifier. The first word of a question is written large in any case."""
    if token.casefold() in STOP_WORDS:
        return False
    has_digit = any(letter.isdigit() for letter in token)
    return has_digit or bool(_JOINED.search(token)) or (token[0].isupper() and not starts)


def specific_words(wording: FactWording) -> frozenset[str]:
    """The stemmed names, numbers and identifiers of a text, generic words left out.

    >>> sorted(specific_words(read_wording("Ana reaches db-1 on port 5432.", None)))
    ['5432', 'ana', 'db-1']
    """
    return _specific_words(wording.text)


@lru_cache(maxsize=4_096)
def _specific_words(text: str) -> frozenset[str]:
    tokens = (_POSSESSIVE.sub("", token) for token in _TOKEN.findall(text))
    return frozenset(_stem(token.casefold()) for token in tokens if _is_specific(token, starts=False)) - _GENERIC_WORDS


def find_change(text: str) -> int | None:
    """Where the verb that announces a change begins; None if there is none."""
    change = _CHANGE_VERB.search(text)
    return change.start() if change else None


_QUESTION_WORD = r"\b(?:what|which|who|whose|where|when|why|how)\b"
_JOINED_QUESTIONS = re.compile(
    rf"{_QUESTION_WORD}.*(?:,|;|\?|\band\b|\bor\b)\s*(?:and |or )?{_QUESTION_WORD}", re.IGNORECASE
)


def asks_several_things(question: str) -> bool:
    """Whether two questions are joined. The facts that answer its parts are not versions of one fact.

    >>> asks_several_things("Which database is used, and how is it configured?"), asks_several_things("Where is it?")
    (True, False)
    """
    return bool(_JOINED_QUESTIONS.search(question))


def is_about_past(question: str) -> bool:
    """Whether a question asks for what was true earlier.

    >>> is_about_past("Where did Ana live before?"), is_about_past("What did we decide about the linter?")
    (True, False)
    """
    return bool(_PAST.search(_HOW_OLD.sub(" ", question))) and not _DECISION.search(question)


def is_possible_replacement(question: QuestionWording, older: FactWording, newer: FactWording) -> bool:
    """Whether the newer text can replace the older one as an answer. It cannot

    - if it is a plan, a wish, a report, an addition or an exception,
    - if it lacks a name, a number or an identifier of the question that the older one has,
    - if it says something else of the same thing,
    - if another word stands in the place of a word of the question ("staging" and "production"), or
    - if it says the same of something narrower, or of something that belongs to somebody else.

    Of these, only the first two rule out a text that names the older value as one that holds no more.
    """
    if not is_statement(older, newer) or (older.words & newer.words).isdisjoint(question.words | older.words):
        return False
    if _is_missing_specific_word(question, older, newer):
        return False
    if is_old_value_ended(question, older, newer):
        return True
    if _has_alternative(question, older, newer):
        return False
    lost = (question.words & older.words) - newer.words
    flips = older.negates != newer.negates
    changes = is_change_announced(older, newer)
    if question.yes_or_no and lost and not (flips or changes or (newer.hints and not older.hints)):
        return lost <= _read_states(older.text)
    if flips and changes:
        return True
    if _has_counterpart(question, older, newer) or _has_other_modifier(question, older, newer):
        return False
    if newer.has_change_verb and not older.has_change_verb:
        return True
    if not (flips or changes) and is_other_attribute(question, older, newer):
        return False
    return not newer.owners - older.words - question.words and not is_narrower(older, newer)


def is_other_attribute(question: QuestionWording, older: FactWording, newer: FactWording) -> bool:
    """Whether only the older text has a value of the kind that is asked for, or both have values of two kinds.

    >>> question = read_question_wording("Where is the VPN gateway?")
    >>> older, newer = (
    ...     read_wording(f"The VPN gateway is {rest}.", None) for rest in ("in Zurich", "monitored by Icinga")
    ... )
    >>> is_other_attribute(question, older, newer)
    True
    """
    if question.asks_count and states_count(older.text) and not states_count(newer.text):
        return True
    if question.asks_time and states_time(older.text) and not states_time(newer.text):
        return True
    return states_other_attribute(older.text, newer.text)


def is_statement(older: FactWording, newer: FactWording) -> bool:
    """Whether the newer text states what holds from now on, as far as the older one does."""
    if newer.plans and not older.plans and newer.negates == older.negates:
        return False
    if newer.temporary and not older.temporary and not newer.has_change_verb:
        return False
    return not (newer.adds and not older.adds) or is_change_announced(older, newer)


def is_old_value_ended(question: QuestionWording, older: FactWording, newer: FactWording) -> bool:
    """Whether the newer text says of a word of the older one, which the question does not have, that it holds no more.

    >>> older, newer = (
    ...     read_wording("The app uses Redux.", None),
    ...     read_wording("The app moved from Redux to Zustand.", None),
    ... )
    >>> is_old_value_ended(read_question_wording("What does the app use?"), older, newer)
    True
    """
    old_words = frozenset(older.tokens) - question.words - question.tokens
    return not old_words.isdisjoint(newer.left_words)


def _is_missing_specific_word(question: QuestionWording, older: FactWording, newer: FactWording) -> bool:
    if (question.specific & older.words) - newer.words:
        return True
    return not (question.specific_tokens & older.written) <= newer.written


def _lost_tokens(question: QuestionWording, older: FactWording, newer: FactWording) -> frozenset[str]:
    """Words of the question that only the older text has."""
    return ((question.words | question.tokens) & frozenset(older.tokens)) - frozenset(newer.tokens) - newer.words


def _has_alternative(question: QuestionWording, older: FactWording, newer: FactWording) -> bool:
    """Whether the newer text has an alternative of a word that it lacks."""
    lost = _lost_tokens(question, older, newer)
    new_tokens = frozenset(newer.tokens) - frozenset(older.tokens)
    return any(
        not alternatives.isdisjoint(lost) and not alternatives.isdisjoint(new_tokens) for alternatives in _ALTERNATIVES
    )


def are_alternatives(one: str, other: str) -> bool:
    """Whether one of two different stemmed words excludes the other, unless both are days or months: those are values more often.

    >>> are_alternatives("mr", "ms"), are_alternatives("monday", "friday")
    (True, False)
    """
    if one == other or one in _DAYS_AND_MONTHS:
        return False
    return any(one in alternatives and other in alternatives for alternatives in _ALTERNATIVES)


def differing_slots(older: str, newer: str) -> list[DifferingSlot]:
    """The places where each text has words of its own, with those words. Stop words and marks between them separate two places.

    >>> differing_slots("The museum opens at 10.", "The museum closes at 17:30.")
    [(('opens',), ('closes',)), (('10',), ('17:30',))]
    """
    old, new = split_tokens(older), split_tokens(newer)
    slots = (
        (_content_tokens(old[a:b]), _content_tokens(new[c:d]))
        for tag, a, b, c, d in align_tokens(older, newer)
        if tag == "replace"
    )
    return [slot for slot in slots if slot[0] and slot[1]]


def align_tokens(older: str, newer: str) -> Sequence[tuple[str, int, int, int, int]]:
    """The operations that turn the tokens of one text into those of the other, as difflib names them. Case does not count."""
    old, new = ([token.casefold() for token in split_tokens(text)] for text in (older, newer))
    return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


@lru_cache(maxsize=4_096)
def split_tokens(text: str) -> tuple[str, ...]:
    """The words, numbers and marks of a text."""
    return tuple(_TOKEN_OR_MARK.findall(text))


def _content_tokens(tokens: Sequence[str]) -> tuple[str, ...]:
    return tuple(token for token in tokens if token[0].isalnum() and token.casefold() not in STOP_WORDS)


def _has_counterpart(question: QuestionWording, older: FactWording, newer: FactWording) -> bool:
    """Whether another word stands in the place of a word of the question, and the texts differ elsewhere too.

    "The read timeout is 10 s" and "The handshake timeout is 3 s" are about two timeouts.
    """
    lost = _lost_tokens(question, older, newer) - _GENERIC_WORDS
    if not lost:
        return False
    slots = differing_slots(older.text, newer.text)
    named_slots = slots[:-1]
    for before, after in slots[-1:]:
        # In "grafana 3000" and "prometheus 9090" the value is the last word.
        if len(before) == len(after) and " ".join(before) in older.text:
            named_slots.append((before[:-1], after[:-1]))
    if any(_names_another(before, after, lost, older) for before, after in named_slots):
        return True
    differences = token_differences(older, newer)
    return any(
        tag == "replace"
        and b - a == d - c == 1
        and older.tokens[a] in lost
        and not (newer.closes[c] and d < len(newer.tokens))
        and (not question.yes_or_no or len(differences) > 1 or b < len(older.tokens))
        for tag, a, b, c, d in differences
    )


def _has_other_modifier(question: QuestionWording, older: FactWording, newer: FactWording) -> bool:
    """Whether one word of the question, between an article or the like and a noun, is another one in the newer text.

    >>> older, newer = (read_wording(f"The {name} service is slow.", None) for name in ("orders", "invoices"))
    >>> _has_other_modifier(read_question_wording("Is the orders service slow?"), older, newer)
    True
    """
    old, new = split_tokens(older.text), split_tokens(newer.text)
    modifiers = (
        old[a]
        for tag, a, b, c, d in align_tokens(older.text, newer.text)
        if tag == "replace" and b - a == d - c == 1 and a > 0 and c > 0 and b < len(old) and d < len(new)
        if _DETERMINER.fullmatch(old[a - 1]) and _DETERMINER.fullmatch(new[c - 1]) and old[b].isalpha()
        if old[b].casefold() == new[d].casefold() and old[b].casefold() not in STOP_WORDS
    )
    return any(_stem(modifier.casefold()) in question.words for modifier in modifiers)


def _read_states(text: str) -> frozenset[str]:
    """The stemmed words that say what something is, may or has done. A thing has one state at a time.

    >>> sorted(_read_states("The fridge is empty and the parcel has arrived."))
    ['arriv', 'empti']
    """
    return frozenset(stem for match in _STATE.finditer(text) for stem in extract_words(match.group(1)))


def _names_another(before: Sequence[str], after: Sequence[str], lost: frozenset[str], older: FactWording) -> bool:
    """Whether the words of a slot stand for another thing: not for the same one in other words, nor for what the older text has."""
    if len(before) > MOST_OTHER_WORDS or len(after) > MOST_OTHER_WORDS or _CHANGE_VERB.search(" ".join(after)):
        return False
    old_stems, new_stems = _stems(" ".join(before)), _stems(" ".join(after))
    if old_stems.isdisjoint(lost):
        return False
    return not new_stems <= older.words and not any(_share_root(old, new) for old in old_stems for new in new_stems)


def _share_root(one: str, other: str) -> bool:
    """Whether two stems begin alike.

    >>> _share_root("allerg", "allergi"), _share_root("summer", "winter")
    (True, False)
    """
    return one == other or (one[:ROOT] == other[:ROOT] and len(one) >= ROOT)


def is_narrower(older: FactWording, newer: FactWording) -> bool:
    """Whether the newer text is the older one with another value and more words before it: "On Christmas Eve the clinic opens at 10"."""
    if _REASON.match(newer.text) or (_TELLS.match(newer.text) and not _TELLS.match(older.text)):
        return False
    differences = token_differences(older, newer)
    values = [difference for difference in differences if difference[0] != "insert"]
    if len(values) != 1 or values[0][0] != "replace" or values[0][2] - values[0][1] > MAX_VALUE_WORDS:
        return False
    return any(
        tag == "insert"
        and c < values[0][3]
        and not newer.closes[d - 1]
        and frozenset(newer.tokens[c:d]).isdisjoint(older.tokens)
        and any(_is_qualifier(token, newer) for token in newer.tokens[c:d])
        for tag, _, _, c, d in differences
    )


def _is_qualifier(token: str, newer: FactWording) -> bool:
    """Whether a word says of what more narrowly: no date, and no verb or attribute, unless it is part of something ("the database of")."""
    if token.isdigit() or token in _DAYS_AND_MONTHS:
        return False
    return token not in _GENERIC_WORDS or token in _read_parts(newer.text)


def _read_parts(text: str) -> frozenset[str]:
    """The stemmed words before "of"."""
    return frozenset(_stem(match.group(1).casefold()) for match in _PART.finditer(text))


@lru_cache(maxsize=1_024)
def token_differences(older: FactWording, newer: FactWording) -> tuple[tuple[str, int, int, int, int], ...]:
    """The operations that turn the tokens of the older text into those of the newer one, as difflib names them."""
    matcher = SequenceMatcher(None, older.tokens, newer.tokens, autojunk=False)
    return tuple(difference for difference in matcher.get_opcodes() if difference[0] != "equal")


def is_change_announced(older: FactWording, newer: FactWording) -> bool:
    """Whether only the newer text says that something changed."""
    return newer.changes and not older.changes


def word_coverage(older: FactWording, newer: FactWording) -> float:
    """The share of the older text's words that the newer one has too.

    >>> older, newer = (read_wording(f"The retro is on {day}.", None) for day in ("Monday", "Friday"))
    >>> word_coverage(older, newer)
    0.5
    """
    tokens = frozenset(older.tokens)
    return len(tokens.intersection(newer.tokens)) / max(len(tokens), 1)


def question_coverage(question: QuestionWording, older: FactWording) -> float:
    """The share of the question's words that the older text has."""
    return len(question.words & older.words) / max(len(question.words), 1)


def is_same_kind(older: FactWording, newer: FactWording) -> bool:
    """Whether the words in which two texts differ are numbers on both sides, or names on both sides.

    >>> older, newer = (read_wording(f"We moved to {city}.", None) for city in ("Porto", "Lisbon"))
    >>> is_same_kind(older, newer)
    True
    """
    lost, gained = frozenset(older.tokens) - newer.words, frozenset(newer.tokens) - older.words
    if all(any(character.isdigit() for token in side for character in token) for side in (lost, gained)):
        return True
    return bool(specific_words(older) & lost and specific_words(newer) & gained)
