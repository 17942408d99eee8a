"""Marking: tags and a category for a fact that was given none. By its phrases and by what it sounds like."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from cofire.reading.resolving import singular
from cofire.reading.shapes import Line
from cofire.reading.vocabulary import COMMANDS

TAGS = 5
CATEGORIES = ("preference", "event", "decision", "instruction", "question", "knowledge")

# Each pattern is tried only on texts with one of the words beside it.
_LIKING = frozenset(
    """like likes love loves enjoy enjoys hate hates dislike dislikes prefer prefers preferred adore adores favorite favourite
    favorites favourites rather stand fond fan preference preferences""".split()
)
_WHO = r"(?:\b(?:I|we|you|he|she|they|users?|team|who)|\b(?!Sounds|Looks|Feels|Seems|Just|Much|Would)[A-Z]\w+)"
_SOMEHOW = (
    r"(?:\s+(?:really|always|also|still|just|usually|generally|strongly|both|all|absolutely|truly|never|don['’]t|doesn['’]t"
    r"|do not|does not))*"
)
_PREFERENCE = re.compile(
    rf"{_WHO}{_SOMEHOW}\s+(?:likes?|loves?|enjoys?|hates?|dislikes?|prefers?|preferred|adores?)\b"
    r"(?!\s+(?:it\s+)?(?:that|this|if|when)\b)"
    r"|\bfavou?rites?\b|\bwould rather\b|\bcan['’]t stand\b|\bfond of\b|\b(?:big|huge) fan of\b|\bpreferences?\b"
)
_DECIDING = frozenset(
    "decided agreed settled opted chose chosen resolved signed go going decision decisions we'll we will".split()
)
_DECISION = re.compile(
    r"\b(?:decided|agreed (?:to|on|that)|settled on|opted (?:for|to)|we chose|chosen to|resolved to|signed off on|going with|go with)\b"
    r"|\bdecisions?(?:\s*:|\s+(?:is|was|to)\b)"
    r"|\bwe(?:['’]ll| will| are going to|['’]re going to) (?:use|adopt|switch|migrate|move|drop|keep|stay|go)\b",
    re.I,
)
_ORDERING = frozenset("must should shouldn't mustn't needs has sure don't not".split())
_ORDER = re.compile(
    r"(?<!\bI )\bshould(?: not|n['’]t)?\s+(?!have\b)[a-z]{2,}\b|\b(?:needs|has) to be\b|^(?:make|be) sure\b"
    r"|(?<!\bI )(?<!\bit )(?<!\bthat )(?<!\bthis )(?<!\byou )(?<!he )(?<!hey )\bmust(?: not|n['’]t)?\s+(?!have\b)[a-z]{2,}\b"
    r"|^(?:do not|don['’]t)\s+(?!worry|know|think|care|mind|you\b|we\b|get me|even)[a-z]{2,}\b",
    re.I,
)
_BEFORE_COMMAND = frozenset("please always never first then".split())
_PERSONAL = frozenset("i we my our me us i'm i've i'd i'll we've we're we'll".split())
_DEFINING = re.compile(r"\b(?:is|are|was|were)\s+(?:an?|the|one of)\b|\b(?:refers to|means|stands for|denotes)\b")
_HAPPENED = frozenset(
    """went met visited attended happened launched released deployed shipped failed broke crashed won lost moved married graduated
    joined left started finished bought sold celebrated traveled travelled arrived saw took gave called signed hired fired opened
    closed rolled merged fixed upgraded migrated received announced completed began ended came got did had was were ran said
    told""".split()
)
_AHEAD = frozenset("will going gonna plan plans planning scheduled due i'll we'll he'll she'll they'll".split())
_SHORT = 2
_HEAD = 3  # Sentences that say what kind of text it is.


def tags(phrases: Sequence[str]) -> tuple[str, ...]:
    """Up to five tags from the best phrases: their last two words, the last of them as one.

    >>> tags(["drops idle connections", "connection pool"])
    ('idle connection', 'connection pool')
    >>> tags(["vue.js"])
    ('vue.js',)
    """
    return tuple(dict.fromkeys(_tag(phrase.split(" ")) for phrase in phrases[:TAGS]))


def _tag(words: list[str]) -> str:
    last = words[-1] if "." in words[-1] else singular(words[-1])
    return " ".join((*words[-2:-1], last))


def category(sentences: Sequence[str], lines: Sequence[Line], *, timed: bool, spoken: bool) -> str:
    """The kind of fact a text sounds like, by the first rule that fits. `timed` says that it speaks of a time, `spoken` that
    it is a turn of a conversation, where "Take care" tells nobody what to do.

    >>> from cofire.reading.shapes import pieces
    >>> def sounds_like(text: str, timed: bool = False) -> str:
    ...     return category([text], [pieces(text)], timed=timed, spoken=False)
    >>> sounds_like("I prefer tea."), sounds_like("Ana moved to Oslo.", timed=True), sounds_like("Use tabs.")
    ('preference', 'event', 'instruction')
    >>> sounds_like("Is it up?"), sounds_like("We decided to wait."), sounds_like("Oslo is the capital of Norway.")
    ('question', 'decision', 'knowledge')
    """
    if not sentences:
        return "knowledge"
    if sentences[-1].rstrip(" \"”')").endswith("?"):
        return "question"
    defining = _DEFINING.search(sentences[0]) is not None and _PERSONAL.isdisjoint(piece.low for piece in lines[0])
    head, lines = sentences[: 1 if defining else _HEAD], lines[:_HEAD]
    words = {piece.low for line in lines for piece in line}
    if _says(head, words, _DECIDING, _DECISION):
        return "decision"
    if _says(head, words, _LIKING, _PREFERENCE):
        return "preference"
    if defining:
        return "knowledge"
    if _says(head, words, _ORDERING, _ORDER) or (not spoken and any(map(_is_command, head, lines))):
        return "instruction"
    return "event" if _is_event(words, timed=timed) else "knowledge"


def _says(sentences: Iterable[str], words: set[str], cues: frozenset[str], pattern: re.Pattern[str]) -> bool:
    return not words.isdisjoint(cues) and any(pattern.search(sentence) for sentence in sentences)


def _is_command(sentence: str, line: Line) -> bool:
    """It begins with a verb that tells what to do; a short exclamation ("Take care!") tells nothing to keep."""
    first = next((piece.low for piece in line if piece.low not in _BEFORE_COMMAND), "")
    return first in COMMANDS and len(line) >= _SHORT and sentence[-1] != "!"


def _is_event(words: set[str], *, timed: bool) -> bool:
    """Something happened or will: told of oneself, or with its time."""
    if timed:
        return (
            not words.isdisjoint(_HAPPENED)
            or not words.isdisjoint(_AHEAD)
            or any(word.endswith("ed") for word in words)
        )
    return not words.isdisjoint(_PERSONAL) and not words.isdisjoint(_HAPPENED)
