"""Cause and effect pairs stated in a text, found by cue words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cofire.text.base import CausalRelation
from cofire.text.vocabulary import MONTHS, WEEKDAYS

MAX_CAUSES = 8
EXPLICIT_STRENGTH, PLAIN_STRENGTH, WEAK_STRENGTH = 1.0, 0.9, 0.6


@dataclass(frozen=True, slots=True, eq=False)
class CausePattern:
    """Words that join a cause and an effect.

    The pattern is tried only if one of `letters` is in the text. `forward` means that the cause precedes
    the cue. No match if the text before the cue ends with `unless_before`, the text after it starts with
    `unless_after`, or the effect has fewer than `least` words.
    """

    letters: tuple[str, ...]
    pattern: re.Pattern[str]
    forward: bool
    strength: float
    unless_before: re.Pattern[str] | None = None
    unless_after: re.Pattern[str] | None = None
    least: int = 1


_MAX_SENTENCES = 200
_MAX_CLAUSE_LENGTH = 300
_CONTEXT_LENGTH = 40
_MIN_REFERENT_WORDS = 2
_NEGATED = re.compile(
    r"(?:\b(?:not|never|neither|nor|hardly|without|rather than|regardless of)|n['’]t)(?:\s+(?!only)\w+ly)?\s*$", re.I
)
_BACK_REFERENCE = re.compile(r"(?:and |but |all )?(?:this|that|it|which|these|those|they|all of this|this all)", re.I)
_CONJUNCTION = re.compile(r"(?:and|but|or|so|that|then|yet|which|who)\b[,\s]*", re.I)
_CLAUSE_END = re.compile(r";|,\s+(?:but|so|although|though|while|whereas)\b|\s[-–—]+\s|\.\s")
_CLAUSE_MARKS = ' \t\n,;:.!—–-…"“”'

_TIME_AFTER_SINCE = (
    rf"\s*(?:\d|(?:then|yesterday|today|last|this|early|late|mid|childhood|birth|inception|launch|its|{'|'.join((*MONTHS, *WEEKDAYS))})\b"
    r"|the\s+(?:\d|(?:early|late|mid|beginning|start|end|day|age|first|last|war|launch|\w+\s+of)\b)"
    r"|\w+ing\b|\w+\s+(?:last|first)\b|\w+\s+(?:was|were)\s+(?:a\s+(?:kid|child|boy|girl|teen\w*|baby)|young|little|born|small|\d))"
)
_PERFECT_TENSE = re.compile(
    r"\b(?:has|have|had|hasn['’]t|haven['’]t|hadn['’]t|been)\b|['’]ve\b|['’]s (?:happened|changed)\b", re.I
)
_DURATION_CLAUSE = re.compile(r"\bit(?:['’]?s| has) been\b", re.I)
_FINITE_VERB = re.compile(
    r"\b(?:is|are|was|were|isn['’]t|aren['’]t|wasn['’]t|weren['’]t|has|have|had|do|does|did|don['’]t|doesn['’]t|didn['’]t|can|can['’]t|cannot"
    r"|could|couldn['’]t|will|won['’]t|would|needs?|wants?|knows?|uses?|requires?|supports?|lacks?|costs?|runs?|works?|likes?|loves?"
    r"|prefers?|lives?|\w+ed)\b|['’](?:s|re|m)\b",
    re.I,
)
_SCHEDULED_VERBS = (
    r"\s*(?:be|arrive|expire|start|begin|launch|open|close|end|finish|meet|speak|leave|return|come|go|give|receive|renew|retire"
    r"|land|depart|appear|take|happen|ship|release|graduate|move)\b"
)
_NOUN_BEFORE = (
    r"(?:\b(?:the|a|an|root|main|common|other|possible|probable|natural|just|good|noble|worthy|many|these|those|of|its|his|her|their|our|two|three"
    r"|several|likely|leading|no|any|what|different|multiple|test|search|query|final|early|and|for|to|in|social|charitable)|['’]s)\s*$"
)
_NO_OBJECT = r"\s*(?:[.,;!?]|(?:I|we|they|that|which|you|and|like)\b|$)"
_ROAD_NOUNS = (
    r"\b(?:road|path|door|stairs|steps|street|trail|corridor|stairway|staircase|tunnel|gate|bridge|way|lane"
    r"|hallway|link|page)\s*$"
)
_THANKING_WORDS = r"\b(?:many|special|my|big|huge|our|sincere|and|no|say|said|sends?)\s*$"
_SO_EXCEPTIONS = r"(?:that|far|much|many|on|as|long|what|to speak|forth|called|be it|is|are|was|am|do|did|does|will|would|can|have|has)\b"
_ACTION_CLAUSE = (
    r"(?:we|I|they|he|she|it|the \w+)\s+(?:now|had to|have to|decided|switched|moved|went|chose|started|stopped|rolled|made|got|took"
    r"|put|set|\w+ed)\b"
)


def _make_pattern(
    letters: str,
    pattern: str,
    strength: float,
    *,
    forward: bool,
    before: str | None = None,
    after: str | None = None,
    least: int = 1,
) -> CausePattern:
    unless_before, unless_after = (re.compile(part, re.I) if part else None for part in (before, after))
    compiled = re.compile(pattern, re.I)
    return CausePattern(tuple(letters.split("|")), compiled, forward, strength, unless_before, unless_after, least)


_CLAUSE_OPENING = r"(?:^|[,;—–-]\s*(?:and\s+)?|\band\s+)"
_CAUSE_PATTERNS = (
    _make_pattern("because", r"\bbecause(?:\s+of)?\b", EXPLICIT_STRENGTH, forward=False, least=2),
    _make_pattern("cause", r"(?<!\w)['’]cause\b", EXPLICIT_STRENGTH, forward=False),
    _make_pattern(
        "due to", r"\bdue to\b(?:\s+the fact that\b)?", EXPLICIT_STRENGTH, forward=False, after=_SCHEDULED_VERBS
    ),
    _make_pattern("owing to", r"\bowing to\b", EXPLICIT_STRENGTH, forward=False),
    _make_pattern("result of", r"\bas an?\s+(?:\w+\s+)?result of\b", EXPLICIT_STRENGTH, forward=False),
    _make_pattern("consequence of", r"\bas an?\s+(?:\w+\s+)?consequence of\b", EXPLICIT_STRENGTH, forward=False),
    _make_pattern("account of", r"\bon account of\b", EXPLICIT_STRENGTH, forward=False),
    _make_pattern(
        "caused by",
        r"\b(?:(?:is|are|was|were|been|being)\s+)?(?:\w+ly\s+)?caused by\b",
        EXPLICIT_STRENGTH,
        forward=False,
    ),
    _make_pattern("triggered by", r"\b(?:(?:is|are|was|were|been)\s+)?triggered by\b", PLAIN_STRENGTH, forward=False),
    _make_pattern(
        "results from|resulted from|resulting from", r"\bresult(?:s|ed|ing) from\b", PLAIN_STRENGTH, forward=False
    ),
    _make_pattern("stem", r"\bstem(?:s|med) from\b", PLAIN_STRENGTH, forward=False),
    _make_pattern("thanks to", r"\bthanks to\b", PLAIN_STRENGTH, forward=False, before=_THANKING_WORDS, least=2),
    _make_pattern("given that", r"\bgiven that\b", WEAK_STRENGTH, forward=False),
    _make_pattern("since", r"(?<!ever )\bsince\b", WEAK_STRENGTH, forward=False, after=_TIME_AFTER_SINCE, least=2),
    _make_pattern("caused", r"\bcaused\b(?!\s+by\b)", EXPLICIT_STRENGTH, forward=True),
    _make_pattern(
        "causes", r"\bcauses\b(?!\s+of\b)", EXPLICIT_STRENGTH, forward=True, before=_NOUN_BEFORE, after=_NO_OBJECT
    ),
    _make_pattern(
        "cause",
        r"\b(?:can|could|may|might|will|would)\s+cause\b|(?<=[^ius]s )cause\b(?!\s+of\b)",
        EXPLICIT_STRENGTH,
        forward=True,
    ),
    _make_pattern("causing", r",\s*causing\b", EXPLICIT_STRENGTH, forward=True),
    _make_pattern(
        "led to|leads to|leading to|lead to",
        r"\b(?:led|leads|leading|(?:can|could|may|might|will|would)\s+lead)\s+to\b",
        PLAIN_STRENGTH,
        forward=True,
        before=_ROAD_NOUNS,
    ),
    _make_pattern(
        "result in|results in|resulted in|resulting in",
        r"\bresult(?:s|ed|ing)?\s+in\b",
        PLAIN_STRENGTH,
        forward=True,
        before=_NOUN_BEFORE,
    ),
    _make_pattern(
        "triggered",
        r"\btriggered\b(?!\s+by\b)",
        PLAIN_STRENGTH,
        forward=True,
        before=r"\b(?:is|are|was|were|been|get|gets|got)\s*$",
    ),
    _make_pattern("brought about", r"\bbrought about\b", PLAIN_STRENGTH, forward=True),
    _make_pattern("rise to", r"\b(?:gave|gives|give) rise to\b", PLAIN_STRENGTH, forward=True),
    _make_pattern("is why", r"(?:,\s*)?\bwhich is why\b", EXPLICIT_STRENGTH, forward=True),
    _make_pattern(
        "why",
        rf"{_CLAUSE_OPENING}(?:that|this)(?:['’]s| is| was)\s+(?:exactly\s+|partly\s+)?why\b",
        PLAIN_STRENGTH,
        forward=True,
    ),
    _make_pattern("therefore", rf"{_CLAUSE_OPENING}therefore\b,?", PLAIN_STRENGTH, forward=True),
    _make_pattern("consequently", rf"{_CLAUSE_OPENING}consequently\b,?", PLAIN_STRENGTH, forward=True),
    _make_pattern(
        "as a result", rf"{_CLAUSE_OPENING}as a (?:direct )?result\b(?! of\b),?", PLAIN_STRENGTH, forward=True
    ),
    _make_pattern("reason", rf"{_CLAUSE_OPENING}for (?:this|that) reason\b,?", PLAIN_STRENGTH, forward=True),
    _make_pattern("hence", rf"{_CLAUSE_OPENING}hence\b,?", WEAK_STRENGTH, forward=True),
    _make_pattern("thus", rf"{_CLAUSE_OPENING}thus\b(?! far\b),?", WEAK_STRENGTH, forward=True),
    _make_pattern(
        ", so|; so|, and so", rf"[,;]\s*(?:and\s+)?so\s+(?!{_SO_EXCEPTIONS})", WEAK_STRENGTH, forward=True, least=2
    ),
    _make_pattern(
        "reason",
        r"^(?:the|one|a) (?:\w+ )?reason (?:why |that |for )?(?P<effect>.{3,200}?) (?:is|was) that\b",
        PLAIN_STRENGTH,
        forward=False,
    ),
    _make_pattern(
        "so we|so i|so they|so he|so she|so it|so the|so, ",
        rf"^so,?\s+(?={_ACTION_CLAUSE})",
        WEAK_STRENGTH,
        forward=True,
    ),
)
_PATTERNS_BY_LETTERS = tuple((letters, cue) for cue in _CAUSE_PATTERNS for letters in cue.letters)


def extract_causes(sentences: Sequence[str]) -> tuple[CausalRelation, ...]:
    """The causal relations that a text states, in order. Questions and negations are left out.

    >>> extract_causes(["The deploy failed because the disk was full."])
    (CausalRelation(cause='the disk was full', effect='The deploy failed', cue='because', strength=1.0),)
    >>> extract_causes(["Traffic doubled.", "Therefore, we added a replica."])
    (CausalRelation(cause='Traffic doubled', effect='we added a replica', cue='therefore', strength=0.9),)
    >>> extract_causes(["It was not due to load.", "He has lived here since 2019."])
    ()
    """
    low = "\n".join(sentences).lower()
    patterns = [pair for pair in _PATTERNS_BY_LETTERS if pair[0] in low]
    if not patterns:
        return ()
    causes: list[CausalRelation] = []
    previous = ""
    for sentence in sentences[:_MAX_SENTENCES]:
        causes += _extract_sentence_causes(sentence, previous, patterns)
        previous = sentence
    return tuple(causes[:MAX_CAUSES])


def _extract_sentence_causes(
    sentence: str, previous: str, cues: Sequence[tuple[str, CausePattern]]
) -> list[CausalRelation]:
    low = sentence.lower()
    possible = dict.fromkeys(cue for letters, cue in cues if letters in low)
    if not possible or sentence.rstrip(" \"”')").endswith("?"):
        return []
    causes = [pair for cue in possible for pair in _match_pattern(cue, sentence, previous)]
    causes.sort(key=lambda pair: pair[0])
    return [cause for _, cause in causes]


def _match_pattern(cue: CausePattern, sentence: str, previous: str) -> Iterator[tuple[int, CausalRelation]]:
    """The first causal relation with this cue in the sentence."""
    for match in cue.pattern.finditer(sentence):
        before = match.groupdict().get("effect") or sentence[: match.start()]
        after = sentence[match.end() : match.end() + 2 * _MAX_CLAUSE_LENGTH]
        if _is_excluded(cue, before[-_CONTEXT_LENGTH:], after):
            continue
        split = _split_cause_first if cue.forward else _split_effect_first
        sides = split(before, after, previous)
        if sides is None or len(sides[1].split()) < cue.least:
            continue
        if cue.letters == ("since",) and not _is_causal_since(*sides):
            continue
        yield match.start(), CausalRelation(*sides, cue=_format_cue(match), strength=cue.strength)
        return


def _is_excluded(cue: CausePattern, tail: str, after: str) -> bool:
    if _NEGATED.search(tail):
        return True
    if cue.unless_before is not None and cue.unless_before.search(tail):
        return True
    return cue.unless_after is not None and cue.unless_after.match(after) is not None


def _split_cause_first(before: str, after: str, previous: str) -> tuple[str, str] | None:
    """Cause before the cue, effect after it."""
    return _clean_sides(_find_last_clause(before), _find_first_clause(after), previous)


def _split_effect_first(before: str, after: str, previous: str) -> tuple[str, str] | None:
    """Effect before the cue, cause after it. If the cue comes first, a comma separates them."""
    if _trim_clause(before):
        return _clean_sides(_find_first_clause(after), _find_last_clause(before), previous)
    cause, comma, effect = after.partition(",")
    return _clean_sides(cause, effect, previous) if comma else None


def _clean_sides(cause: str, effect: str, previous: str) -> tuple[str, str] | None:
    """Both sides trimmed. "this" or an empty cause stands for the previous sentence."""
    cause, effect = _trim_clause(cause), _trim_clause(effect)
    if not cause or _BACK_REFERENCE.fullmatch(cause):
        cause = _trim_clause(previous[-_MAX_CLAUSE_LENGTH:]) if len(previous.split()) >= _MIN_REFERENT_WORDS else ""
    if len(cause) < 3 or len(effect) < 3:
        return None
    return cause[:_MAX_CLAUSE_LENGTH], effect[-_MAX_CLAUSE_LENGTH:]


def _find_last_clause(before: str) -> str:
    """The clause directly before the cue."""
    ends = [match.end() for match in _CLAUSE_END.finditer(before, max(0, len(before) - _MAX_CLAUSE_LENGTH))]
    return before[ends[-1] :] if ends else before[-_MAX_CLAUSE_LENGTH:]


def _find_first_clause(after: str) -> str:
    end = _CLAUSE_END.search(after)
    return after[: end.start()] if end else after


def _trim_clause(clause: str) -> str:
    """Without punctuation at the ends and without a leading conjunction."""
    clause = clause.strip(_CLAUSE_MARKS)
    conjunction = _CONJUNCTION.match(clause)
    return clause[conjunction.end() :].strip(_CLAUSE_MARKS) if conjunction else clause


def _is_causal_since(cause: str, effect: str) -> bool:
    """Whether "since" gives a reason: it has a clause of its own and states no duration."""
    if _PERFECT_TENSE.search(effect) or _DURATION_CLAUSE.search(cause):
        return False
    return _FINITE_VERB.search(cause) is not None and len(cause.split()) > 2


def _format_cue(match: re.Match[str]) -> str:
    """The words of the cue, without the effect inside them."""
    words = match.group().replace(match.groupdict().get("effect") or "\0", "…")
    return " ".join(words.strip(_CLAUSE_MARKS).lower().split())
