"""Strategies: what kind of answer a question wants, by rules for English. Which channels that favours is decided elsewhere.

A question is multi_hop if its answer goes by way of something it does not name ("the wife of the director of …"), asks what
two things have to do with each other, or compares two; opinion if it asks what somebody likes or thinks; temporal if it asks
when, or of a time; entity if it asks for all about one thing; factual if a word, a name or a number would answer it; general
otherwise. The first of these that fits has it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cofire.reading.vocabulary import MONTHS, WEEKDAYS

LONGEST = 400  # Letters of a question that are looked at: the rest of a pasted log says nothing about what is asked.


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern that decides for a strategy. Without one of the words in `cues` it need not be tried; none means always."""

    strategy: str
    cues: frozenset[str]
    pattern: re.Pattern[str]


def _rule(strategy: str, cues: str, *patterns: str) -> Rule:
    return Rule(strategy, frozenset(cues.split()), re.compile("|".join(patterns)))


def strategy_of(question: str) -> str:
    """The strategy whose rule is the first to fit.

    >>> [strategy_of(asked) for asked in ("What relates to X?", "Who is the wife of the director of Jaws?")]
    ['multi_hop', 'multi_hop']
    >>> [strategy_of(asked) for asked in ("When did Ana join?", "What do we know about PgBouncer?", "Who is Ana?")]
    ['temporal', 'entity', 'entity']
    >>> [strategy_of(asked) for asked in ("What is the default timeout?", "Does Ana like jazz?", "How do I deploy?")]
    ['factual', 'opinion', 'general']
    """
    asked = _plain(question)
    low = asked.lower()
    present = set(_WORD.findall(low))
    for rule in _RULES:
        if (not rule.cues or not rule.cues.isdisjoint(present)) and rule.pattern.search(low):
            return rule.strategy
    return "entity" if _BARE_NAME.match(asked) and present.isdisjoint(_ASKING) else "general"


def _plain(question: str) -> str:
    plain = " ".join(question[:LONGEST].replace("’", "'").split())
    polite = _POLITE.match(plain)
    return plain[polite.end() :] if polite else plain


_WORD = re.compile(r"[^\W\d_]+|\d")
_POLITE = re.compile(r"(?i)(?:(?:please|hey|hi|hello|so|and|ok|okay|well|btw)\b[,!]?\s+)+")
_BARE_NAME = re.compile(r"[A-Z][\w.+-]*(?: (?:of |the |and )?[A-Z0-9][\w.+-]*){0,4}\??$")
_ASKING = frozenset("what who whom whose which where when why how".split())

_PERSON = (
    "wife|husband|spouse|partner|father|mother|parents?|sons?|daughters?|child|children|brothers?|sisters?|siblings?|uncle|aunt"
    "|cousin|nephew|niece|boyfriend|girlfriend|fianc[eé]e?|grand(?:father|mother|son|daughter|parents?|child)|friends?"
    "|neighbou?rs?|landlord|landlady|tenant|boss|manager|employer|supervisor|advisor|mentor|teacher|coach|doctor|therapist"
    "|colleagues?|roommate|assistant"
)
_MAKER = (
    "directors?|authors?|writers?|screenwriter|lyricist|actors?|actress|composers?|performers?|singers?|artists?|painter|sculptor|architect"
    "|founders?|inventors?|discoverer|creators?|producers?|editors?|publishers?|owners?|maintainers?|developers?|designers?"
    "|manufacturer|ceo|cto|president|king|queen|emperor|ruler|mayor|governor|captain|leader|winner|successor|predecessor|star"
    "|rival|parent company|vendor|supplier"
)
_ROLE = rf"(?:{_PERSON}|{_MAKER})"
_BE = r"(?:'s| is| was| are| were)"
_WHOSE = r"(?:my|our|your|his|her|its|their|[\w-]+'s)"
_DO = "(?:do|does|did|would|will|might|could)"
_UNIT = (
    "(?:week|weekend|month|quarter|year|decade|spring|summer|autumn|fall|winter|night|morning|"
    + "|".join(WEEKDAYS)
    + ")"
)
_MONTH = "(?:" + "|".join(MONTHS) + ")"
# Nouns that ask for much to be gathered, where others ask for one thing.
_MUCH = (
    r"(?:configuration|setup|plans?|steps?|options?|issues?|problems?|advice|tips?|things?|lessons?|ideas?|progress|details"
    "|notes|reasons?|arguments?|feedback|concerns?|challenges|difficulties|changes|ways?|rules|decisions?|approach|strategy"
    "|thoughts|else|all|about|if|happened|happens|should|could|would|can|to|next)"
)
_WEEKDAY = "(?:" + "|".join(WEEKDAYS) + ")"
_VERB = "do|does|did|is|are|was|were|has|have|had|will"
_AT = "(?:(?:in|on|at|to|from|for|by|with|of|under|into|through) )?"
_YOU = "(?:(?:can|could|would|will) you )?"
_ALL = "(?:info|information|facts|everything|anything|all|details|background)"
_GRAND = "grandfather grandmother grandson granddaughter grandparent grandparents grandchild grandchildren law"
_COMPARED = (
    r"(?:first|earlier|later|older|younger|longer|shorter|taller|larger|bigger|higher|smaller|more|most recently|born|died|released"
    r"|founded)"
)
_CLAUSE = r"(?:[\w-]+,? ){1,6}?(?:that|which|who|whose|where|in which|behind) [\w-]+ \w"
_ON_THE_WAY = (
    r"(?:in |on |at |from |for )?(?:what|which|who|where|when)\b.*?"
    r"\b(?!is |are |was |were |about |think |say )[\w-]+(?<!'s) (?:the|an?)"
)
# What follows "who is" or "what is" where no name does.
_NO_NAME = (
    "(?:an?|my|our|your|his|her|its|their|it|this|that|there|on|in|at|for|to|responsible|older|behind|going|wrong|new|up|happening"
    "|next|left|due|missing)"
)
_UP_TO_FOUR_WORDS = r"(?:the )?[\w.+#-]+(?: (?!(?:of|for|in|on|at|to|with|about)\b)[\w.+#-]+){0,3}"

_RULES = (
    _rule(
        "multi_hop",
        """relate relates related relation relations relationship connect connects connected connection connections link links
        linked between association associated tie ties tied""",
        r"\brelate[sd]? to\b|\bconnects\b|\blinks\b",
        r"\b(?:is|are|was|were)\b.* (?:related|connected|linked|associated|tied)\b",
        r"\b(?:connections?|links?|relations?|relationships?|dependenc(?:y|ies)|association|ties)\b.* (?:between|with)\b",
        r"\bhow (?:do|does|did) .*\b(?:relate|connect|link|tie)\b",
    ),
    _rule(
        "multi_hop",
        """depend depends depended depending dependencies dependency dependents affect affects affected influence influences impact
        impacts break fail led lead leads common chain path trace someone anyone somebody""",
        r"\bdepend(?:s|ed|ing)? on\b|\bdependenc(?:y|ies)|\bdependents\b|\bwould (?:break|fail|be affected)\b",
        r"^how .*(?<!'s) (?:affect|influence|impact)s?\b|\b(?:led|leads?) to\b",
        r"\bin common\b|\bchain of\b|\bpath from\b|^trace\b|\bknows? (?:someone|anyone|somebody) (?:at|in|who|from)\b",
    ),
    _rule(
        "multi_hop",
        "same both",
        r"^(?:is|are|was|were|do|does|did|have|has)\b.* and .*\b(?:the same|both)\b|\bboth\b.* and .*\bsame\b",
    ),
    _rule("multi_hop", "or", rf"^(?:who|which)\b.*\b{_COMPARED}\b.* or \w"),
    _rule("multi_hop", "of", rf"\bof (?:the|an?|{_WHOSE}) (?:\w+ )?{_ROLE} (?:of|for|behind|who|that)\b"),
    _rule("multi_hop", _GRAND, r"\b(?:grand[a-z]+|\w+-in-law) of\b"),
    # "Who is the director of Jaws?" stops at the director; whatever else is asked goes on from there.
    _rule(
        "multi_hop",
        "of",
        rf"^(?!(?:who|what|which){_BE} (?:currently )?(?:the |an? )?(?:[\w-]+ )?{_ROLE} of\b)"
        rf".*\b(?:the|an?) (?:[\w-]+ )?{_ROLE} of (?!my |our )",
    ),
    _rule(
        "multi_hop",
        "s",
        rf"^(?!who{_BE} )(?!.*\b(?:name|called|named)\b).*(?:\w's|s') {_ROLE}\b(?:'s \w| [\w-])",
        rf"(?:\b(?:of|for|to|with) |^(?:what|which) \w+ (?:is|was) )(?:[\w-]+ ){{0,3}}[\w-]+'s {_ROLE}\W*$",
    ),
    # The thing that the answer goes through has no name, only a clause: "the company that published …".
    _rule(
        "multi_hop", "that which who whose where behind", rf"^(?:the|when (?:is|was|were) the|{_ON_THE_WAY}) {_CLAUSE}"
    ),
    # A statement with a clause, its question at the end: "… is a song of a singer who was born in what city?".
    _rule(
        "multi_hop",
        "that which who whose where",
        r"^(?!(?:what|which|who|whose|where|when|why|how|is|are|was|were|do|does|did|has|have|can)\b)"
        r".* (?:that|which|who|whose|where) \w+.* (?:(?:by|of|in|from|for|to|at|with|on) (?:what|which)|what \w+|where)\b",
    ),
    _rule(
        "opinion",
        """think thinks thoughts prefer prefers preferred preference preferences favorite favourite favorites favourites opinion
        opinions view views take feel feels feelings believe stance impression rather fond fan satisfied impressed recommend
        recommended recommendation recommendations suggest worth attitude""",
        rf"\b{_DO}(?:n't)? .*\b(?:think|feel|believe)\b|\bthinks?\b|\bprefer|\bfavou?rites?\b|\brecommend|\b(?:you|would) suggest\b",
        r"\bopinions?\b|\bviews? (?:on|of|about)\b|\bin \w+ view\b|\btake on\b|\bfeel(?:s|ings)? about\b|\bthoughts (?:on|about)\b",
        r"\bstance\b|\battitude\b|\bimpression of\b|\brather\b|\bfond of\b|\ba (?:big |huge )?fan of\b|\bsatisfied\b|\bimpressed\b",
        r"\bworth\b",
    ),
    _rule(
        "opinion",
        """like likes liked love loves loved enjoy enjoys enjoyed hate hates hated dislike dislikes adore adores mind want
        wants""",
        rf"\b{_DO}(?:n't)? .*\b(?:(?<!look )(?<!sound )(?<!feel )like|love|enjoy|hate|dislike|mind|adore)\b(?! (?:this|that)\W*$)",
        r"\bwould .* want\b|\bwants? to be\b|\b(?:likes|loves|enjoys|enjoyed|hates|hated|loved|liked|dislikes|adores)\b",
    ),
    _rule(
        "opinion",
        "better best nicer prettier worst should nicest good",
        r"\bbetter\b.*\b(?:than|or)\b|\bthe (?:best|worst|nicest)\b(?! (?:way|practice))|\b(?:like|goes|works|fits|suits) best\b",
        r"\b(?:nicer|prettier|nicest)\b|\bshould (?:we|i|you|one)\b.* or \w|\bany good\b",
    ),
    _rule(
        "temporal",
        "when",
        r"^(?:(?:since|by|until|till|from) )?when(?:'s|'d)? (?:is|are|was|were|do|does|did|will|would|has|have|had|must|should|can)\b",
        r"^when's\b|\b(?:tell me|remind me|know|remember|recall|say|said|sure|since|until|by) when\b",
    ),
    _rule(
        "temporal",
        """year month date day time long often weekday decade century season soon recently early late seconds minutes hours days
        weeks months years""",
        r"^(?:in |on |at |by |from |until )?(?:what|which) (?:exact )?(?:year|month|date|day|time|weekday|decade|century|season)\b",
        r"\bhow (?:long|often|soon|recently|early|late)\b",
        r"\bhow (?:many|much) (?:seconds|minutes|hours|days|weeks|months|years|time)\b",
        rf"\bwhat{_BE} the (?:\w+ )?(?:date|day|time)\b|\b(?:last|first) time\b|\bat th(?:at|e) time\b",
    ),
    _rule(
        "temporal",
        """yesterday today tomorrow tonight ago recently lately latest newest recent earliest last next this past beginning start
        end middle upcoming coming previous nowadays""",
        r"\b(?:yesterday|today|tomorrow|tonight|ago|recently|lately|latest|newest|earliest|recent|nowadays)\b",
        rf"\b(?:last|next|this|past|previous|coming|upcoming) (?:(?:few|couple of|\w+) )?{_UNIT}s?\b",
        r"\b(?:beginning|start|end|middle) of (?:the|this|last|next) (?:day|week|month|quarter|year)\b",
    ),
    _rule(
        "temporal",
        "0 1 2 3 4 5 6 7 8 9",
        r"\b(?:in|since|before|after|until|by|during|of|from|around) (?:early |late |mid-?)?(?:1[5-9]|20)\d\d\b(?! \w+s\b)",
        r"\bq[1-4]\b|\b(?:19|20)\d\d-?[01]\d(?:-?[0-3]\d)?\b|\bthe (?:19|20)?\d0s\b",
    ),
    _rule(
        "temporal",
        " ".join((*MONTHS, *WEEKDAYS)),
        rf"\b(?:in|on|since|before|after|until|by|during|of|last|next|early|late|mid) {_MONTH}\b",
        rf"\b{_MONTH} \d|\d(?:st|nd|rd|th)? (?:of )?{_MONTH}\b",
        rf"\b(?:on|since|before|after|until|by|last|next|this) {_WEEKDAY}s?\b",
    ),
    _rule(
        "temporal",
        "before after since during until happened prior",
        r"^(?!how (?:do|to|can|should)\b|why\b).*(?<!look )(?<!named )\b(?:before|after|since|during|until|prior to)\b",
        r"\bhappened (?:first|next|then|later)\b",
    ),
    _rule(
        "entity",
        "about on of",
        rf"^{_YOU}(?:tell|inform|brief|teach) (?:me|us)\b.* (?:about|on|of)\b",
        rf"^{_YOU}(?:give|show|find|get) (?:me|us) .*\b{_ALL}\b|^{_ALL}\b.* (?:about|on|of)\b|^what about \w+\W*$",
        r"^what (?:do|does|did|can|could) (?:we|you|i|they|memory|anyone) (?:know|remember|recall|tell me|have|hold|got|say)"
        r" (?:\w+ )?(?:about|on|of)\b",
        r"^what (?:have|did) (?:i|we) (?:told|tell|said|say|shared?|mentioned?|saved?|stored?)(?: (?:to )?you)? about\b",
        r"^(?:a )?(?:short )?(?:profile|summary|biography|bio|portrait|description) of (?!(?:the|our|my) (?:discussion|meeting|talk))",
    ),
    _rule(
        "entity",
        "know remember heard describe introduce",
        r"\b(?:know|remember) (?:anything|something|everything|much|\w+ \w+) about\b|\bheard (?:of|about)\b|^(?:describe|introduce)\b",
        r"\bdo you (?:remember|know) [\w.-]+(?: [\w.-]+)?\W*$",
    ),
    _rule(
        "entity",
        "who",
        r"^(?:(?:remind|tell) (?:me|us) |do you know )who (?:[\w.-]+ ){1,3}(?:is|was|are|were)\W*$|^who(?:'re| are) the \w+\W*$",
        rf"^who{_BE} (?!{_NO_NAME}\b|\w+ing\b|the [\w-]+ ?\?){_UP_TO_FOUR_WORDS}\W*$",
    ),
    _rule("entity", "what", rf"^what{_BE} (?:an? )?(?!{_NO_NAME}\b|the\b|[a-z]{{3,}}ed\b){_UP_TO_FOUR_WORDS}\W*$"),
    _rule(
        "factual",
        "who whom whose which where what",
        rf"^{_AT}(?:who|whom|whose|which|where)\b|^tell me where\b|^what are (?:the|my|our|\w+'s) (?:names?|numbers?)\b",
        rf"^{_AT}what(?:'s| is| was) (?:the|{_WHOSE}) (?!{_MUCH}\b)",
        rf"^{_AT}what (?!(?:{_VERB}|{_MUCH})\b)[\w-]+(?: [\w-]+){{0,3}}? (?:{_VERB}|can|should|must)\b",
        r"^what do(?:es)? .*\b(?:do|mean|stand for|return|contain|cost|weigh|measure|say)\W*$",
    ),
    _rule("factual", "what which whom", r"[\w,] (?:by|of|in|from|for|to|at|with|on) (?:what|which|whom)\b(?: \w|\W*$)"),
    _rule(
        "factual",
        "how",
        r"^how (?:many|much|old|tall|far|big|large|high|deep|wide|heavy|fast|hot|cold|expensive|small|strong|thick)\b",
    ),
    _rule(
        "factual",
        "is are was were do does did has have had can will could am",
        r"^(?:(?:is|are|was|were|am|does|did|has|had)|(?:do|have|can|will|could) (?!you\b))\b",
    ),
)
