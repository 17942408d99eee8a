"""Causes: where a text says that one thing brought about another, cause before effect. By cue words; no knowledge of the world."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cofire.reading.base import Cause
from cofire.reading.vocabulary import MONTHS, WEEKDAYS

AT_MOST = 8
EXPLICIT, PLAIN, WEAK = 1.0, 0.9, 0.6


@dataclass(frozen=True, slots=True, eq=False)
class Cue:
    """Words that join a cause and an effect.

    `letters` are those without which the pattern need not be tried. `forward` is a cue whose cause stands before it.
    It means something else where the text before it ends in `unless_before`, that after it begins with `unless_after`, or the
    effect has fewer words than `least`.
    """

    letters: tuple[str, ...]
    pattern: re.Pattern[str]
    forward: bool
    strength: float
    unless_before: re.Pattern[str] | None = None
    unless_after: re.Pattern[str] | None = None
    least: int = 1


_MOST_SENTENCES = 200
_LONGEST = 300
_TAIL = 40
_TELLING = 2
_NEGATED = re.compile(
    r"(?:\b(?:not|never|neither|nor|hardly|without|rather than|regardless of)|n['’]t)(?:\s+(?!only)\w+ly)?\s*$", re.I
)
_STANDS_FOR_BEFORE = re.compile(
    r"(?:and |but |all )?(?:this|that|it|which|these|those|they|all of this|this all)", re.I
)
_CONJUNCTION = re.compile(r"(?:and|but|or|so|that|then|yet|which|who)\b[,\s]*", re.I)
_CLAUSE_END = re.compile(r";|,\s+(?:but|so|although|though|while|whereas)\b|\s[-–—]+\s|\.\s")
_AROUND = ' \t\n,;:.!—–-…"“”'

_TIME_AFTER_SINCE = (
    rf"\s*(?:\d|(?:then|yesterday|today|last|this|early|late|mid|childhood|birth|inception|launch|its|{'|'.join((*MONTHS, *WEEKDAYS))})\b"
    r"|the\s+(?:\d|(?:early|late|mid|beginning|start|end|day|age|first|last|war|launch|\w+\s+of)\b)"
    r"|\w+ing\b|\w+\s+(?:last|first)\b|\w+\s+(?:was|were)\s+(?:a\s+(?:kid|child|boy|girl|teen\w*|baby)|young|little|born|small|\d))"
)
_PERFECT = re.compile(
    r"\b(?:has|have|had|hasn['’]t|haven['’]t|hadn['’]t|been)\b|['’]ve\b|['’]s (?:happened|changed)\b", re.I
)
_LASTING = re.compile(r"\bit(?:['’]?s| has) been\b", re.I)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|isn['’]t|aren['’]t|wasn['’]t|weren['’]t|has|have|had|do|does|did|don['’]t|doesn['’]t|didn['’]t|can|can['’]t|cannot"
    r"|could|couldn['’]t|will|won['’]t|would|needs?|wants?|knows?|uses?|requires?|supports?|lacks?|costs?|runs?|works?|likes?|loves?"
    r"|prefers?|lives?|\w+ed)\b|['’](?:s|re|m)\b",
    re.I,
)
_SCHEDULED = (
    r"\s*(?:be|arrive|expire|start|begin|launch|open|close|end|finish|meet|speak|leave|return|come|go|give|receive|renew|retire"
    r"|land|depart|appear|take|happen|ship|release|graduate|move)\b"
)
_NOUN_BEFORE = (
    r"(?:\b(?:the|a|an|root|main|common|other|possible|probable|natural|just|good|noble|worthy|many|these|those|of|its|his|her|their|our|two|three"
    r"|several|likely|leading|no|any|what|different|multiple|test|search|query|final|early|and|for|to|in|social|charitable)|['’]s)\s*$"
)
_NO_OBJECT = r"\s*(?:[.,;!?]|(?:I|we|they|that|which|you|and|like)\b|$)"
_ROADS = r"\b(?:road|path|door|stairs|steps|street|trail|corridor|stairway|staircase|tunnel|gate|bridge|way|lane|hallway|link|page)\s*$"
_THANKING = r"\b(?:many|special|my|big|huge|our|sincere|and|no|say|said|sends?)\s*$"
_NOT_SO = r"(?:that|far|much|many|on|as|long|what|to speak|forth|called|be it|is|are|was|am|do|did|does|will|would|can|have|has)\b"
_ACTED = (
    r"(?:we|I|they|he|she|it|the \w+)\s+(?:now|had to|have to|decided|switched|moved|went|chose|started|stopped|rolled|made|got|took"
    r"|put|set|\w+ed)\b"
)


def _cue(
    letters: str,
    pattern: str,
    strength: float,
    *,
    forward: bool,
    before: str | None = None,
    after: str | None = None,
    least: int = 1,
) -> Cue:
    unless_before, unless_after = (re.compile(part, re.I) if part else None for part in (before, after))
    compiled = re.compile(pattern, re.I)
    return Cue(tuple(letters.split("|")), compiled, forward, strength, unless_before, unless_after, least)


_OPENING = r"(?:^|[,;—–-]\s*(?:and\s+)?|\band\s+)"
_CUES = (
    _cue("because", r"\bbecause(?:\s+of)?\b", EXPLICIT, forward=False, least=2),
    _cue("cause", r"(?<!\w)['’]cause\b", EXPLICIT, forward=False),
    _cue("due to", r"\bdue to\b(?:\s+the fact that\b)?", EXPLICIT, forward=False, after=_SCHEDULED),
    _cue("owing to", r"\bowing to\b", EXPLICIT, forward=False),
    _cue("result of", r"\bas an?\s+(?:\w+\s+)?result of\b", EXPLICIT, forward=False),
    _cue("consequence of", r"\bas an?\s+(?:\w+\s+)?consequence of\b", EXPLICIT, forward=False),
    _cue("account of", r"\bon account of\b", EXPLICIT, forward=False),
    _cue("caused by", r"\b(?:(?:is|are|was|were|been|being)\s+)?(?:\w+ly\s+)?caused by\b", EXPLICIT, forward=False),
    _cue("triggered by", r"\b(?:(?:is|are|was|were|been)\s+)?triggered by\b", PLAIN, forward=False),
    _cue("results from|resulted from|resulting from", r"\bresult(?:s|ed|ing) from\b", PLAIN, forward=False),
    _cue("stem", r"\bstem(?:s|med) from\b", PLAIN, forward=False),
    _cue("thanks to", r"\bthanks to\b", PLAIN, forward=False, before=_THANKING, least=2),
    _cue("given that", r"\bgiven that\b", WEAK, forward=False),
    _cue("since", r"(?<!ever )\bsince\b", WEAK, forward=False, after=_TIME_AFTER_SINCE, least=2),
    _cue("caused", r"\bcaused\b(?!\s+by\b)", EXPLICIT, forward=True),
    _cue("causes", r"\bcauses\b(?!\s+of\b)", EXPLICIT, forward=True, before=_NOUN_BEFORE, after=_NO_OBJECT),
    _cue(
        "cause",
        r"\b(?:can|could|may|might|will|would)\s+cause\b|(?<=[^ius]s )cause\b(?!\s+of\b)",
        EXPLICIT,
        forward=True,
    ),
    _cue("causing", r",\s*causing\b", EXPLICIT, forward=True),
    _cue(
        "led to|leads to|leading to|lead to",
        r"\b(?:led|leads|leading|(?:can|could|may|might|will|would)\s+lead)\s+to\b",
        PLAIN,
        forward=True,
        before=_ROADS,
    ),
    _cue(
        "result in|results in|resulted in|resulting in",
        r"\bresult(?:s|ed|ing)?\s+in\b",
        PLAIN,
        forward=True,
        before=_NOUN_BEFORE,
    ),
    _cue(
        "triggered",
        r"\btriggered\b(?!\s+by\b)",
        PLAIN,
        forward=True,
        before=r"\b(?:is|are|was|were|been|get|gets|got)\s*$",
    ),
    _cue("brought about", r"\bbrought about\b", PLAIN, forward=True),
    _cue("rise to", r"\b(?:gave|gives|give) rise to\b", PLAIN, forward=True),
    _cue("is why", r"(?:,\s*)?\bwhich is why\b", EXPLICIT, forward=True),
    _cue("why", rf"{_OPENING}(?:that|this)(?:['’]s| is| was)\s+(?:exactly\s+|partly\s+)?why\b", PLAIN, forward=True),
    _cue("therefore", rf"{_OPENING}therefore\b,?", PLAIN, forward=True),
    _cue("consequently", rf"{_OPENING}consequently\b,?", PLAIN, forward=True),
    _cue("as a result", rf"{_OPENING}as a (?:direct )?result\b(?! of\b),?", PLAIN, forward=True),
    _cue("reason", rf"{_OPENING}for (?:this|that) reason\b,?", PLAIN, forward=True),
    _cue("hence", rf"{_OPENING}hence\b,?", WEAK, forward=True),
    _cue("thus", rf"{_OPENING}thus\b(?! far\b),?", WEAK, forward=True),
    _cue(", so|; so|, and so", rf"[,;]\s*(?:and\s+)?so\s+(?!{_NOT_SO})", WEAK, forward=True, least=2),
    _cue(
        "reason",
        r"^(?:the|one|a) (?:\w+ )?reason (?:why |that |for )?(?P<effect>.{3,200}?) (?:is|was) that\b",
        PLAIN,
        forward=False,
    ),
    _cue("so we|so i|so they|so he|so she|so it|so the|so, ", rf"^so,?\s+(?={_ACTED})", WEAK, forward=True),
)
_BY_LETTERS = tuple((letters, cue) for cue in _CUES for letters in cue.letters)


def causes(sentences: Sequence[str]) -> tuple[Cause, ...]:
    """What a text says brought about what, in its order. Questions and denials say nothing.

    >>> causes(["The deploy failed because the disk was full."])
    (Cause(cause='the disk was full', effect='The deploy failed', cue='because', strength=1.0),)
    >>> causes(["Traffic doubled.", "Therefore, we added a replica."])
    (Cause(cause='Traffic doubled', effect='we added a replica', cue='therefore', strength=0.9),)
    >>> causes(["It was not due to load.", "He has lived here since 2019."])
    ()
    """
    low = "\n".join(sentences).lower()
    worth_trying = [pair for pair in _BY_LETTERS if pair[0] in low]
    if not worth_trying:
        return ()
    found = [
        cause
        for at, sentence in enumerate(sentences[:_MOST_SENTENCES])
        for cause in _in_sentence(sentence, sentences[at - 1] if at else "", worth_trying)
    ]
    return tuple(found[:AT_MOST])


def _in_sentence(sentence: str, previous: str, cues: Sequence[tuple[str, Cue]]) -> list[Cause]:
    low = sentence.lower()
    here = dict.fromkeys(cue for letters, cue in cues if letters in low)
    if not here or sentence.rstrip(" \"”')").endswith("?"):
        return []
    found = [pair for cue in here for pair in _by_cue(cue, sentence, previous)]
    found.sort(key=lambda pair: pair[0])
    return [cause for _, cause in found]


def _by_cue(cue: Cue, sentence: str, previous: str) -> Iterator[tuple[int, Cause]]:
    """One cause for each time the cue stands in the sentence and means it."""
    for match in cue.pattern.finditer(sentence):
        before = match.groupdict().get("effect") or sentence[: match.start()]
        after = sentence[match.end() : match.end() + 2 * _LONGEST]
        if _means_something_else(cue, before[-_TAIL:], after):
            continue
        sides = _forward(before, after, previous) if cue.forward else _backward(before, after, previous)
        if sides is None or len(sides[1].split()) < cue.least:
            continue
        if cue.letters == ("since",) and not _is_reason(*sides):
            continue
        yield match.start(), Cause(*sides, cue=_name(match), strength=cue.strength)
        return


def _means_something_else(cue: Cue, tail: str, after: str) -> bool:
    if _NEGATED.search(tail):
        return True
    if cue.unless_before is not None and cue.unless_before.search(tail):
        return True
    return cue.unless_after is not None and cue.unless_after.match(after) is not None


def _forward(before: str, after: str, previous: str) -> tuple[str, str] | None:
    """Cause before the cue, effect after it."""
    return _sides(_last_clause(before), _first_clause(after), previous)


def _backward(before: str, after: str, previous: str) -> tuple[str, str] | None:
    """Effect before the cue, cause after it; where the cue comes first, a comma parts them."""
    if _trimmed(before):
        return _sides(_first_clause(after), _last_clause(before), previous)
    cause, comma, effect = after.partition(",")
    return _sides(cause, effect, previous) if comma else None


def _sides(cause: str, effect: str, previous: str) -> tuple[str, str] | None:
    """Both sides tidied; "this" and an empty cause stand for the sentence before."""
    cause, effect = _trimmed(cause), _trimmed(effect)
    if not cause or _STANDS_FOR_BEFORE.fullmatch(cause):
        cause = _trimmed(previous[-_LONGEST:]) if len(previous.split()) >= _TELLING else ""
    if len(cause) < 3 or len(effect) < 3:
        return None
    return cause[:_LONGEST], effect[-_LONGEST:]


def _last_clause(before: str) -> str:
    """What stands between the last break of thought and the cue."""
    ends = [match.end() for match in _CLAUSE_END.finditer(before, max(0, len(before) - _LONGEST))]
    return before[ends[-1] :] if ends else before[-_LONGEST:]


def _first_clause(after: str) -> str:
    end = _CLAUSE_END.search(after)
    return after[: end.start()] if end else after


def _trimmed(clause: str) -> str:
    """Without marks at its ends and without the conjunction it begins with."""
    clause = clause.strip(_AROUND)
    conjunction = _CONJUNCTION.match(clause)
    return clause[conjunction.end() :].strip(_AROUND) if conjunction else clause


def _is_reason(cause: str, effect: str) -> bool:
    """Whether "since" gives a reason: a clause of its own, and not how long something has been so."""
    if _PERFECT.search(effect) or _LASTING.search(cause):
        return False
    return _FINITE.search(cause) is not None and len(cause.split()) > 2


def _name(match: re.Match[str]) -> str:
    """The words of the cue, without what stands inside them."""
    words = match.group().replace(match.groupdict().get("effect") or "\0", "…")
    return " ".join(words.strip(_AROUND).lower().split())
