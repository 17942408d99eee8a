"""What a question asks for: its strategy, whether it is about the assistant, and its times.

The strategy is that of the first rule that matches:

multi_hop   the answer goes through something the question does not name ("the wife of the director
            of …"), or the question compares or connects two things
opinion     asks what a person likes or thinks
temporal    asks when, or for a time
entity      asks for everything about one thing
factual     a word, a name or a number answers it
general     all others

In a fact, a date without a year is the nearest one (dates.py). A question refers to all of memory:
there such a date is one in every year of memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cofire.text import dates
from cofire.text.base import TimeSpan
from cofire.text.dates import Period, extract_time_spans, replace_case_variants
from cofire.text.vocabulary import MONTHS, WEEKDAYS

# Speakers that are assistants. All others are people.
ASSISTANT_SPEAKERS = frozenset("assistant ai bot model agent".split())

_PAST_SPEECH_VERBS = (
    "said|told|suggested|recommended|mentioned|gave|listed|explained|provided|shared|described|proposed|advised|wrote"
)
_SPEECH_VERBS = "say|tell|suggest|recommend|mention|give|list|explain|provide|share|describe|propose|advise|write|warn"
_ADVICE_NOUNS = "advice|suggestions?|recommendations?|list|answer|tips?|plan|explanation|reply"

_ASSISTANT_QUESTION = re.compile(
    rf"\byou (?:had |also |once |just |earlier )*(?:{_PAST_SPEECH_VERBS}|came up with)\b"
    rf"|\b(?:did|had|have) you (?:\w+ )?(?:{_SPEECH_VERBS}|{_PAST_SPEECH_VERBS})\b"
    rf"|\byour (?:{_ADVICE_NOUNS})\b|\bthe assistant\b",
    re.IGNORECASE,
)


def is_about_assistant(question: str) -> bool:
    """Whether the question is about what the assistant said, not about what the user did.

    >>> is_about_assistant("What was the name of the trail you suggested?")
    True
    >>> is_about_assistant("Can you recommend a restaurant that I would like?")
    False
    """
    return bool(_ASSISTANT_QUESTION.search(question))


# Characters of a question that are classified: the rest of a pasted log does not matter.
MAX_STRATEGY_QUESTION_LENGTH = 400


@dataclass(frozen=True, slots=True)
class StrategyRule:
    """A pattern for a strategy. It is tried only if the question has one of the `cues`, or always if
    there are none.
    """

    strategy: str
    cues: frozenset[str]
    pattern: re.Pattern[str]


def _make_rule(strategy: str, cues: str, *patterns: str) -> StrategyRule:
    return StrategyRule(strategy, frozenset(cues.split()), re.compile("|".join(patterns)))


def classify_strategy(question: str) -> str:
    """The strategy of the first rule that matches.

    >>> [classify_strategy(asked) for asked in ("What relates to X?", "Who is the wife of the director of Jaws?")]
    ['multi_hop', 'multi_hop']
    >>> [
    ...     classify_strategy(asked)
    ...     for asked in ("When did Ana join?", "What do we know about PgBouncer?", "Who is Ana?")
    ... ]
    ['temporal', 'entity', 'entity']
    >>> [
    ...     classify_strategy(asked)
    ...     for asked in ("What is the default timeout?", "Does Ana like jazz?", "How do I deploy?")
    ... ]
    ['factual', 'opinion', 'general']
    """
    question_text = _clean_question(question)
    low = question_text.lower()
    present = set(_QUESTION_WORD.findall(low))
    for rule in _STRATEGY_RULES:
        if (not rule.cues or not rule.cues.isdisjoint(present)) and rule.pattern.search(low):
            return rule.strategy
    return "entity" if _BARE_NAME.match(question_text) and present.isdisjoint(_QUESTION_PRONOUNS) else "general"


def _clean_question(question: str) -> str:
    plain = " ".join(question[:MAX_STRATEGY_QUESTION_LENGTH].replace("’", "'").split())
    greeting = _POLITE_OPENING.match(plain)
    return plain[greeting.end() :] if greeting else plain


_QUESTION_WORD = re.compile(r"[^\W\d_]+|\d")
_POLITE_OPENING = re.compile(r"(?i)(?:(?:please|hey|hi|hello|so|and|ok|okay|well|btw)\b[,!]?\s+)+")
_BARE_NAME = re.compile(r"[A-Z][\w.+-]*(?: (?:of |the |and )?[A-Z0-9][\w.+-]*){0,4}\??$")
_QUESTION_PRONOUNS = frozenset("what who whom whose which where when why how".split())

_PERSON_NOUNS = (
    "wife|husband|spouse|partner|father|mother|parents?|sons?|daughters?|child|children|brothers?|sisters?|siblings?|uncle|aunt"
    "|cousin|nephew|niece|boyfriend|girlfriend|fianc[eé]e?|grand(?:father|mother|son|daughter|parents?|child)|friends?"
    "|neighbou?rs?|landlord|landlady|tenant|boss|manager|employer|supervisor|advisor|mentor|teacher|coach|doctor|therapist"
    "|colleagues?|roommate|assistant"
)
_MAKER_NOUNS = (
    "directors?|authors?|writers?|screenwriter|lyricist|actors?|actress|composers?|performers?|singers?|artists?|painter|sculptor|architect"
    "|founders?|inventors?|discoverer|creators?|producers?|editors?|publishers?|owners?|maintainers?|developers?|designers?"
    "|manufacturer|ceo|cto|president|king|queen|emperor|ruler|mayor|governor|captain|leader|winner|successor|predecessor|star"
    "|rival|parent company|vendor|supplier"
)
_ROLE_NOUNS = rf"(?:{_PERSON_NOUNS}|{_MAKER_NOUNS})"
_BE_FORMS = r"(?:'s| is| was| are| were)"
_POSSESSIVES = r"(?:my|our|your|his|her|its|their|[\w-]+'s)"
_AUXILIARIES = "(?:do|does|did|would|will|might|could)"
_TIME_UNITS = (
    "(?:week|weekend|month|quarter|year|decade|spring|summer|autumn|fall|winter|night|morning|"
    + "|".join(WEEKDAYS)
    + ")"
)
_MONTH_NAMES = "(?:" + "|".join(MONTHS) + ")"
# Nouns that ask for a collection rather than one thing.
_COLLECTIVE_NOUNS = (
    r"(?:configuration|setup|plans?|steps?|options?|issues?|problems?|advice|tips?|things?|lessons?|ideas?|progress|details"
    "|notes|reasons?|arguments?|feedback|concerns?|challenges|difficulties|changes|ways?|rules|decisions?|approach|strategy"
    "|thoughts|else|all|about|if|happened|happens|should|could|would|can|to|next)"
)
_WEEKDAY_NAMES = "(?:" + "|".join(WEEKDAYS) + ")"
_VERB_FORMS = "do|does|did|is|are|was|were|has|have|had|will"
_OPTIONAL_PREPOSITION = "(?:(?:in|on|at|to|from|for|by|with|of|under|into|through) )?"
_OPTIONAL_CAN_YOU = "(?:(?:can|could|would|will) you )?"
_EVERYTHING_WORDS = "(?:info|information|facts|everything|anything|all|details|background)"
_KINSHIP_WORDS = "grandfather grandmother grandson granddaughter grandparent grandparents grandchild grandchildren law"
_COMPARISON_WORDS = (
    r"(?:first|earlier|later|older|younger|longer|shorter|taller|larger|bigger|higher|smaller|more|most recently|born|died|released"
    r"|founded)"
)
_RELATIVE_CLAUSE = r"(?:[\w-]+,? ){1,6}?(?:that|which|who|whose|where|in which|behind) [\w-]+ \w"
_QUESTION_LEAD = (
    r"(?:in |on |at |from |for )?(?:what|which|who|where|when)\b.*?"
    r"\b(?!is |are |was |were |about |think |say )[\w-]+(?<!'s) (?:the|an?)"
)
# What follows "who is" or "what is" instead of a name.
_NON_NAME_WORDS = (
    "(?:an?|my|our|your|his|her|its|their|it|this|that|there|on|in|at|for|to|responsible|older|behind|going|wrong|new|up|happening"
    "|next|left|due|missing)"
)
_UP_TO_FOUR_WORDS = r"(?:the )?[\w.+#-]+(?: (?!(?:of|for|in|on|at|to|with|about)\b)[\w.+#-]+){0,3}"

_STRATEGY_RULES = (
    _make_rule(
        "multi_hop",
        """relate relates related relation relations relationship connect connects connected connection connections link links
        linked between association associated tie ties tied""",
        r"\brelate[sd]? to\b|\bconnects\b|\blinks\b",
        r"\b(?:is|are|was|were)\b.* (?:related|connected|linked|associated|tied)\b",
        r"\b(?:connections?|links?|relations?|relationships?|dependenc(?:y|ies)|association|ties)\b.* (?:between|with)\b",
        r"\bhow (?:do|does|did) .*\b(?:relate|connect|link|tie)\b",
    ),
    _make_rule(
        "multi_hop",
        """depend depends depended depending dependencies dependency dependents affect affects affected influence influences impact
        impacts break fail led lead leads common chain path trace someone anyone somebody""",
        r"\bdepend(?:s|ed|ing)? on\b|\bdependenc(?:y|ies)|\bdependents\b|\bwould (?:break|fail|be affected)\b",
        r"^how .*(?<!'s) (?:affect|influence|impact)s?\b|\b(?:led|leads?) to\b",
        r"\bin common\b|\bchain of\b|\bpath from\b|^trace\b|\bknows? (?:someone|anyone|somebody) (?:at|in|who|from)\b",
    ),
    _make_rule(
        "multi_hop",
        "same both",
        r"^(?:is|are|was|were|do|does|did|have|has)\b.* and .*\b(?:the same|both)\b|\bboth\b.* and .*\bsame\b",
    ),
    _make_rule("multi_hop", "or", rf"^(?:who|which)\b.*\b{_COMPARISON_WORDS}\b.* or \w"),
    _make_rule(
        "multi_hop", "of", rf"\bof (?:the|an?|{_POSSESSIVES}) (?:\w+ )?{_ROLE_NOUNS} (?:of|for|behind|who|that)\b"
    ),
    _make_rule("multi_hop", _KINSHIP_WORDS, r"\b(?:grand[a-z]+|\w+-in-law) of\b"),
    # "Who is the director of Jaws?" ends at the director. Other questions continue from there.
    _make_rule(
        "multi_hop",
        "of",
        rf"^(?!(?:who|what|which){_BE_FORMS} (?:currently )?(?:the |an? )?(?:[\w-]+ )?{_ROLE_NOUNS} of\b)"
        rf".*\b(?:the|an?) (?:[\w-]+ )?{_ROLE_NOUNS} of (?!my |our )",
    ),
    _make_rule(
        "multi_hop",
        "s",
        rf"^(?!who{_BE_FORMS} )(?!.*\b(?:name|called|named)\b).*(?:\w's|s') {_ROLE_NOUNS}\b(?:'s \w| [\w-])",
        rf"(?:\b(?:of|for|to|with) |^(?:what|which) \w+ (?:is|was) )(?:[\w-]+ ){{0,3}}[\w-]+'s {_ROLE_NOUNS}\W*$",
    ),
    # The intermediate thing has no name, only a clause: "the company that published …".
    _make_rule(
        "multi_hop",
        "that which who whose where behind",
        rf"^(?:the|when (?:is|was|were) the|{_QUESTION_LEAD}) {_RELATIVE_CLAUSE}",
    ),
    # A statement with a clause and the question at its end: "… is a song of a singer who was born in
    # what city?".
    _make_rule(
        "multi_hop",
        "that which who whose where",
        r"^(?!(?:what|which|who|whose|where|when|why|how|is|are|was|were|do|does|did|has|have|can)\b)"
        r".* (?:that|which|who|whose|where) \w+.* (?:(?:by|of|in|from|for|to|at|with|on) (?:what|which)|what \w+|where)\b",
    ),
    _make_rule(
        "opinion",
        """think thinks thoughts prefer prefers preferred preference preferences favorite favourite favorites favourites opinion
        opinions view views take feel feels feelings believe stance impression rather fond fan satisfied impressed recommend
        recommended recommendation recommendations suggest worth attitude""",
        rf"\b{_AUXILIARIES}(?:n't)? .*\b(?:think|feel|believe)\b|\bthinks?\b"
        r"|\bprefer|\bfavou?rites?\b|\brecommend|\b(?:you|would) suggest\b",
        r"\bopinions?\b|\bviews? (?:on|of|about)\b|\bin \w+ view\b|\btake on\b|\bfeel(?:s|ings)? about\b|\bthoughts (?:on|about)\b",
        r"\bstance\b|\battitude\b|\bimpression of\b|\brather\b|\bfond of\b|\ba (?:big |huge )?fan of\b|\bsatisfied\b|\bimpressed\b",
        r"\bworth\b",
    ),
    _make_rule(
        "opinion",
        """like likes liked love loves loved enjoy enjoys enjoyed hate hates hated dislike dislikes adore adores mind want
        wants""",
        rf"\b{_AUXILIARIES}(?:n't)? .*\b(?:(?<!look )(?<!sound )(?<!feel )like|love|enjoy|hate|dislike|mind|adore)\b(?! (?:this|that)\W*$)",
        r"\bwould .* want\b|\bwants? to be\b|\b(?:likes|loves|enjoys|enjoyed|hates|hated|loved|liked|dislikes|adores)\b",
    ),
    _make_rule(
        "opinion",
        "better best nicer prettier worst should nicest good",
        r"\bbetter\b.*\b(?:than|or)\b|\bthe (?:best|worst|nicest)\b(?! (?:way|practice))|\b(?:like|goes|works|fits|suits) best\b",
        r"\b(?:nicer|prettier|nicest)\b|\bshould (?:we|i|you|one)\b.* or \w|\bany good\b",
    ),
    _make_rule(
        "temporal",
        "when",
        r"^(?:(?:since|by|until|till|from) )?when(?:'s|'d)? (?:is|are|was|were|do|does|did|will|would|has|have|had|must|should|can)\b",
        r"^when's\b|\b(?:tell me|remind me|know|remember|recall|say|said|sure|since|until|by) when\b",
    ),
    _make_rule(
        "temporal",
        """year month date day time long often weekday decade century season soon recently early late seconds minutes hours days
        weeks months years""",
        r"^(?:in |on |at |by |from |until )?(?:what|which) (?:exact )?(?:year|month|date|day|time|weekday|decade|century|season)\b",
        r"\bhow (?:long|often|soon|recently|early|late)\b",
        r"\bhow (?:many|much) (?:seconds|minutes|hours|days|weeks|months|years|time)\b",
        rf"\bwhat{_BE_FORMS} the (?:\w+ )?(?:date|day|time)\b|\b(?:last|first) time\b|\bat th(?:at|e) time\b",
    ),
    _make_rule(
        "temporal",
        """yesterday today tomorrow tonight ago recently lately latest newest recent earliest last next this past beginning start
        end middle upcoming coming previous nowadays""",
        r"\b(?:yesterday|today|tomorrow|tonight|ago|recently|lately|latest|newest|earliest|recent|nowadays)\b",
        rf"\b(?:last|next|this|past|previous|coming|upcoming) (?:(?:few|couple of|\w+) )?{_TIME_UNITS}s?\b",
        r"\b(?:beginning|start|end|middle) of (?:the|this|last|next) (?:day|week|month|quarter|year)\b",
    ),
    _make_rule(
        "temporal",
        "0 1 2 3 4 5 6 7 8 9",
        r"\b(?:in|since|before|after|until|by|during|of|from|around) (?:early |late |mid-?)?(?:1[5-9]|20)\d\d\b(?! \w+s\b)",
        r"\bq[1-4]\b|\b(?:19|20)\d\d-?[01]\d(?:-?[0-3]\d)?\b|\bthe (?:19|20)?\d0s\b",
    ),
    _make_rule(
        "temporal",
        " ".join((*MONTHS, *WEEKDAYS)),
        rf"\b(?:in|on|since|before|after|until|by|during|of|last|next|early|late|mid) {_MONTH_NAMES}\b",
        rf"\b{_MONTH_NAMES} \d|\d(?:st|nd|rd|th)? (?:of )?{_MONTH_NAMES}\b",
        rf"\b(?:on|since|before|after|until|by|last|next|this) {_WEEKDAY_NAMES}s?\b",
    ),
    _make_rule(
        "temporal",
        "before after since during until happened prior",
        r"^(?!how (?:do|to|can|should)\b|why\b).*(?<!look )(?<!named )\b(?:before|after|since|during|until|prior to)\b",
        r"\bhappened (?:first|next|then|later)\b",
    ),
    _make_rule(
        "entity",
        "about on of",
        rf"^{_OPTIONAL_CAN_YOU}(?:tell|inform|brief|teach) (?:me|us)\b.* (?:about|on|of)\b",
        rf"^{_OPTIONAL_CAN_YOU}(?:give|show|find|get) (?:me|us) .*\b{_EVERYTHING_WORDS}\b"
        rf"|^{_EVERYTHING_WORDS}\b.* (?:about|on|of)\b|^what about \w+\W*$",
        r"^what (?:do|does|did|can|could) (?:we|you|i|they|memory|anyone) (?:know|remember|recall|tell me|have|hold|got|say)"
        r" (?:\w+ )?(?:about|on|of)\b",
        r"^what (?:have|did) (?:i|we) (?:told|tell|said|say|shared?|mentioned?|saved?|stored?)(?: (?:to )?you)? about\b",
        r"^(?:a )?(?:short )?(?:profile|summary|biography|bio|portrait|description) of (?!(?:the|our|my) (?:discussion|meeting|talk))",
    ),
    _make_rule(
        "entity",
        "know remember heard describe introduce",
        r"\b(?:know|remember) (?:anything|something|everything|much|\w+ \w+) about\b|\bheard (?:of|about)\b|^(?:describe|introduce)\b",
        r"\bdo you (?:remember|know) [\w.-]+(?: [\w.-]+)?\W*$",
    ),
    _make_rule(
        "entity",
        "who",
        r"^(?:(?:remind|tell) (?:me|us) |do you know )who (?:[\w.-]+ ){1,3}(?:is|was|are|were)\W*$|^who(?:'re| are) the \w+\W*$",
        rf"^who{_BE_FORMS} (?!{_NON_NAME_WORDS}\b|\w+ing\b|the [\w-]+ ?\?){_UP_TO_FOUR_WORDS}\W*$",
    ),
    _make_rule(
        "entity",
        "what",
        rf"^what{_BE_FORMS} (?:an? )?(?!{_NON_NAME_WORDS}\b|the\b|[a-z]{{3,}}ed\b){_UP_TO_FOUR_WORDS}\W*$",
    ),
    _make_rule(
        "factual",
        "who whom whose which where what",
        rf"^{_OPTIONAL_PREPOSITION}(?:who|whom|whose|which|where)\b|^tell me where\b|^what are (?:the|my|our|\w+'s) (?:names?|numbers?)\b",
        rf"^{_OPTIONAL_PREPOSITION}what(?:'s| is| was) (?:the|{_POSSESSIVES}) (?!{_COLLECTIVE_NOUNS}\b)",
        rf"^{_OPTIONAL_PREPOSITION}what (?!(?:{_VERB_FORMS}|{_COLLECTIVE_NOUNS})\b)[\w-]+(?: [\w-]+){{0,3}}? "
        rf"(?:{_VERB_FORMS}|can|should|must)\b",
        r"^what do(?:es)? .*\b(?:do|mean|stand for|return|contain|cost|weigh|measure|say)\W*$",
    ),
    _make_rule(
        "factual", "what which whom", r"[\w,] (?:by|of|in|from|for|to|at|with|on) (?:what|which|whom)\b(?: \w|\W*$)"
    ),
    _make_rule(
        "factual",
        "how",
        r"^how (?:many|much|old|tall|far|big|large|high|deep|wide|heavy|fast|hot|cold|expensive|small|strong|thick)\b",
    ),
    _make_rule(
        "factual",
        "is are was were do does did has have had can will could am",
        r"^(?:(?:is|are|was|were|am|does|did|has|had)|(?:do|have|can|will|could) (?!you\b))\b",
    ),
)


Floats = NDArray[np.float64]
TimeRelation = Literal["in", "before", "after"]
# A period and its position in the text.
LocatedSpan = tuple[int, TimeSpan]

MAX_YEARS = 8
MAX_TIME_QUESTION_LENGTH = 400  # characters
_SECONDS_PER_DAY = 86_400.0
_ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class QuestionTimeSpan:
    """A period from `start` up to but not including `end`, and its relation to what is asked.

    `relation`: the question asks for the period itself ("in"), the time before or after it. `from_now`:
    the period is relative to the time of the question.
    """

    start: datetime
    end: datetime
    surface: str
    relation: TimeRelation
    from_now: bool = False


def extract_question_times(
    text: str, *, now: datetime, earliest: datetime | None, latest: datetime | None
) -> tuple[QuestionTimeSpan, ...]:
    """The times a question asks for, in order. `earliest` and `latest` are the bounds of memory; the
    default is the year of `now`.

    >>> now, first = datetime(2024, 6, 15, tzinfo=UTC), datetime(2022, 3, 1, tzinfo=UTC)
    >>> asked = "Where did we eat on 3 July, before last week?"
    >>> [
    ...     (str(span.start.date()), str(span.end.date()), span.surface, span.relation)
    ...     for span in extract_question_times(asked, now=now, earliest=first, latest=now)
    ... ]  # doctest: +NORMALIZE_WHITESPACE
    [('2022-07-03', '2022-07-04', '3 July', 'in'), ('2023-07-03', '2023-07-04', '3 July', 'in'),
     ('2024-07-03', '2024-07-04', '3 July', 'in'), ('2024-06-03', '2024-06-10', 'last week', 'before')]
    >>> extract_question_times("May I ask whether 3.11 took a second?", now=now, earliest=first, latest=now)
    ()
    """
    text = replace_case_variants(text[:MAX_TIME_QUESTION_LENGTH])
    now = _ensure_timezone(now)
    yearless: list[LocatedSpan] = []
    if _has_part_of_year(text):
        years = _list_memory_years(now, earliest, latest)
        yearless = list(_find_yearless_spans(text, now, years))
    taken = [(start, start + len(span.surface)) for start, span in yearless]
    stated, from_now = _find_stated_spans(text, now)
    others = [(start, span) for start, span in stated if not _overlaps_taken_span(start, span, taken)]
    from_now = from_now.intersection(others)
    located = sorted([*yearless, *others], key=lambda pair: (pair[0], pair[1].start))
    return tuple(
        QuestionTimeSpan(span.start, span.end, span.surface, relation, (start, span) in from_now)
        for start, span in _join_ranges(text, located)
        for relation in _read_relations(text[:start])
    )


def score_time_closeness(
    spans: Sequence[QuestionTimeSpan],
    moments: Floats,
    *,
    later_days: float,
    earlier_days: float,
    earlier_share: float,
    beyond_days: float,
) -> Floats:
    """Score of moments (POSIX seconds) in [0, 1] by their distance from the times asked for.

    The best span counts; NaN scores 0. For relation "in" the score is 1 inside the span, e^(−d/later_days)
    d days after it, and earlier_share · e^(−d/earlier_days) d days before it. For "before" it is
    e^(−d/beyond_days) d days before the start and 0 elsewhere; for "after" the same from the end on.
    For day 10, at days 7, 10.5, 17 and 41:

    >>> fading = {"later_days": 6.0, "earlier_days": 3.0, "earlier_share": 0.7, "beyond_days": 30.0}
    >>> start, end = datetime(1970, 1, 11, tzinfo=UTC), datetime(1970, 1, 12, tzinfo=UTC)
    >>> moments = np.array([7.0, 10.5, 17.0, 41.0]) * 86_400
    >>> score_time_closeness([QuestionTimeSpan(start, end, "", "in")], moments, **fading).round(4).tolist()
    [0.2575, 1.0, 0.3679, 0.0067]
    >>> score_time_closeness([QuestionTimeSpan(start, end, "", "before")], moments, **fading).round(4).tolist()
    [0.9048, 0.0, 0.0, 0.0]
    >>> score_time_closeness([QuestionTimeSpan(start, end, "", "after")], moments, **fading).round(4).tolist()
    [0.0, 0.0, 0.8187, 0.3679]
    """
    best = np.zeros(len(moments))
    for span in spans:
        before = (span.start.timestamp() - moments) / _SECONDS_PER_DAY
        after = (moments - span.end.timestamp()) / _SECONDS_PER_DAY
        if span.relation == "before":
            fit = _decay_over_days(before, beyond_days)
        elif span.relation == "after":
            fit = _decay_over_days(after, beyond_days)
        else:
            around = np.maximum(
                _decay_over_days(after, later_days), earlier_share * _decay_over_days(before, earlier_days)
            )
            fit = np.where((before <= 0) & (after < 0), 1.0, around)
        best = np.maximum(best, fit)
    return best


def _decay_over_days(days: Floats, scale: float) -> Floats:
    """e^(−days/scale), and 0 for negative days."""
    return np.where(days >= 0, np.exp(-np.maximum(days, 0.0) / scale), 0.0)


def _ensure_timezone(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _list_memory_years(now: datetime, earliest: datetime | None, latest: datetime | None) -> range:
    """The years of memory in the time zone of now, at most the latest eight."""
    zone = now.tzinfo
    last = _ensure_timezone(latest).astimezone(zone).year if latest else now.year
    first = _ensure_timezone(earliest).astimezone(zone).year if earliest else last
    return range(max(first, last - MAX_YEARS + 1), last + 1)


def _find_stated_spans(text: str, now: datetime) -> tuple[list[LocatedSpan], frozenset[LocatedSpan]]:
    """The spans of `extract_time_spans`, and those of them that are relative to now.

    Next to a full date a relative time has a second reading, relative to that date: "the Sunday before
    25 October 2022", as opposed to "what I said yesterday about the meeting of 25 October 2022".
    """
    spans = _locate_spans(text, extract_time_spans(text, now))
    if not spans:
        return [], frozenset()
    absolute_surfaces = {span.surface for span in extract_time_spans(text, None)}
    absolute: list[LocatedSpan] = []
    from_now: list[LocatedSpan] = []
    for start, span in spans:
        if span.surface in absolute_surfaces:
            absolute.append((start, span))
        elif not _is_in_quoted_title(text, start, span):
            from_now.append((start, span))
    days = [span for _, span in absolute if span.end - span.start <= _ONE_DAY and span.start <= now]
    if not days or not from_now:
        return [*absolute, *from_now], frozenset(from_now)
    noon = days[0].start + (days[0].end - days[0].start) / 2
    starts = {start for start, _ in from_now}
    from_date = [
        (start, span)
        for start, span in _locate_spans(text, extract_time_spans(text, noon))
        if start in starts and (start, span) not in from_now
    ]
    return [*absolute, *from_now, *from_date], frozenset(from_now)


def _locate_spans(text: str, spans: Sequence[TimeSpan]) -> list[LocatedSpan]:
    """Spans with their positions, in the order of the text."""
    located: list[LocatedSpan] = []
    position = 0
    for span in spans:
        start = max(text.find(span.surface, position), 0)
        position = start + len(span.surface)
        located.append((start, span))
    return located


def _overlaps_taken_span(start: int, span: TimeSpan, taken: Sequence[tuple[int, int]]) -> bool:
    return any(start < until and since < start + len(span.surface) for since, until in taken)


def _is_in_quoted_title(text: str, start: int, span: TimeSpan) -> bool:
    """Whether a span is inside a quoted title, unless the whole text is quoted."""
    end = start + len(span.surface)
    for title in _QUOTED_TITLE.finditer(text):
        is_whole_text = title.group() == text.strip()
        if not is_whole_text and title.start() < start and end < title.end():
            return True
    return False


def _has_part_of_year(text: str) -> bool:
    """Whether the text contains a month or season. A cheap check before the search for dates."""
    low = text.lower()
    return any(part in low for part in _PARTS_OF_YEAR)


def _find_yearless_spans(text: str, now: datetime, years: range) -> Iterator[tuple[int, TimeSpan]]:
    """Dates without a year, in every year of memory that has them."""
    end = 0
    for match in _YEARLESS_DATE.finditer(text):
        if _is_time_expression(match, since=end):
            end = match.end()
            for year in years:
                period = _resolve_in_year(match, now, year)
                if period is not None:
                    yield match.start(), TimeSpan(*period, surface=match.group())


def _is_time_expression(match: re.Match[str], *, since: int) -> bool:
    """Whether a match is a time.

    A day of a month always is. A bare month or season is one if the words before it say so, or if it
    continues a list of such.
    """
    if match["day"] or match["later"]:
        return True
    before = match.string[: match.start()]
    if match["season"]:
        return bool(_BEFORE_SEASON.search(before))
    joined = since > 0 and _LIST_SEPARATOR.fullmatch(before, since)
    capital = match.group()[0].isupper() and _BEFORE_CAPITAL.search(before)
    return bool(joined or capital or _BEFORE_MONTH.search(before))


def _join_ranges(text: str, located: Sequence[tuple[int, TimeSpan]]) -> list[tuple[int, TimeSpan]]:
    """Join two times inside "between … and" or "from … to" into the shortest period they allow."""
    spans_at: dict[int, list[TimeSpan]] = {}
    for start, span in located:
        spans_at.setdefault(start, []).append(span)
    for first, last in pairwise(list(spans_at)):
        begins = spans_at[first]
        between = text[first + len(begins[0].surface) : last] if begins else ""
        if _RANGE_START.search(text[:first]) and _RANGE_MIDDLE.fullmatch(between):
            surface = text[first : last + len(spans_at[last][0].surface)]
            spans_at[first] = list(_make_range_spans(begins, spans_at[last], surface))
            spans_at[last] = []
    return [(start, span) for start, spans in spans_at.items() for span in spans]


def _make_range_spans(begins: Sequence[TimeSpan], ends: Sequence[TimeSpan], surface: str) -> Iterator[TimeSpan]:
    for end in ends:
        starts = [begin.start for begin in begins if begin.start <= end.start]
        if starts:
            yield TimeSpan(max(starts), end.end, surface)


def _resolve_in_year(match: re.Match[str], now: datetime, year: int) -> Period | None:
    """The period in a year, or None if it does not exist there (29 February)."""
    try:
        if match["season"]:
            return dates.season_period(now, year, match["season"])
        month = dates.month_period(now, year, _month_number(match["of"] or match["with"] or match["month"]))
        day = match["day"] or match["later"]
        return dates.day_period(month[0].replace(day=int(day)), 0) if day else month
    except (ValueError, OverflowError):
        return None


def _month_number(month: str) -> int:
    return next(number for number, name in enumerate(MONTHS, 1) if name.startswith(month[:3].lower()))


def _read_relations(before: str) -> tuple[TimeRelation, ...]:
    """The relations stated before a time: "since May" is in May and after it."""
    match = _RELATION_WORD.search(before)
    return _RELATIONS_BY_WORD[match["word"].lower()] if match else ("in",)


_RELATIONS_BY_WORD: dict[str, tuple[TimeRelation, ...]] = {
    **dict.fromkeys(("before", "until", "till", "prior to", "earlier than"), ("before",)),
    **dict.fromkeys(("after", "following", "later than"), ("after",)),
    "since": ("in", "after"),
    "by": ("in", "before"),
}
_LOOSE_GAP = r"(?:\s+(?:the|about|around|early|late|mid|end of|start of|beginning of|month of|year|on))*[\s-]+"
_RELATION_WORD = re.compile(rf"(?i)\b(?P<word>{'|'.join(_RELATIONS_BY_WORD)}){_LOOSE_GAP}$")

# Capitals distinguish May, March and August from words. After "in" there is no doubt.
_CAPITALISED_MONTH = (
    "[Jj]anuary|[Ff]ebruary|March|[Aa]pril|May|[Jj]une|[Jj]uly|August|[Ss]eptember|[Oo]ctober|[Nn]ovember|[Dd]ecember"
    "|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\\b"
)
_ANY_MONTH = f"(?i:{'|'.join(MONTHS)})|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\\b"
_PARTS_OF_YEAR = (*(month[:3].lower() for month in MONTHS), "spring", "summer", "autumn", "fall", "winter")
_ORDINAL_SUFFIX = "(?:st|nd|rd|th)?"
_NO_YEAR = (
    r"(?!\w|[.:/-]\d|\.?,?\s+(?:of\s+)?(?:1\d|20)\d\d\b|\s+(?:people|users|items|times|points|rows|miles|km)\b|\s?%)"
)
_YEARLESS_DATE = re.compile(
    rf"(?<![\w.])(?:(?P<day>\d{{1,2}}){_ORDINAL_SUFFIX}(?:\s+of)?\s+(?P<of>{_CAPITALISED_MONTH})|(?P<with>{_CAPITALISED_MONTH})\.?\s+(?:the\s+)?(?P<later>\d{{1,2}}){_ORDINAL_SUFFIX}"
    rf"|(?P<month>{_ANY_MONTH})(?!\s+(?:on|\d))|(?P<season>spring|summer|autumn|fall|winter)(?!\s+(?:of|back|on|in)\b)){_NO_YEAR}"
)
_PART_OF_PERIOD = r"(?:(?:early|late|mid|the month of|the (?:beginning|start|middle|end) of)[\s-]+)?"
_BEFORE_MONTH = re.compile(rf"\b(?i:in|during|since|until|till|early|late|mid)[\s-]+{_PART_OF_PERIOD}$")
_BEFORE_CAPITAL = re.compile(rf"\b(?i:before|after|by|from|through|of|around|between|the)\s+{_PART_OF_PERIOD}$")
_BEFORE_SEASON = re.compile(rf"\b(?i:in|during|since|until|before|after|of)\s+(?:the\s+)?{_PART_OF_PERIOD}$")
# An inch sign is no quotation mark.
_QUOTED_TITLE = re.compile(r'(?<!\w)"[^"?]*"|“[^”?]*”')
_RANGE_START = re.compile(r"(?i)\b(?:between|from)\s+(?:the\s+)?$")
_RANGE_MIDDLE = re.compile(r"(?i)\s*,?\s+(?:and|to|until|till|through)\s+(?:the\s+)?")
_LIST_SEPARATOR = re.compile(r"\s*(?:,|,?\s+(?:and|or|to|through))\s+")
