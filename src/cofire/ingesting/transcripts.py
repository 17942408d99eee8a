"""Transcripts: plain lines of "Name: what was said", with a time before the name or none. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cofire.ingesting.moments import plain_moment
from cofire.ingesting.turns import EMPTY, ROLES, Turn, Unsaid, clean

_LINE = re.compile(
    r"(?:[\[(]?(?P<stamp>\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\d{1,2}:\d\d(?::\d\d)?)[\])]?"
    r"\s*[-–]?\s*)?"
    r"(?P<name>[^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,3}):(?:\s+(?P<text>.*))?"
)
_LOG_LEVELS = {"trace", "debug", "info", "notice", "warn", "warning", "error", "critical", "fatal"}


def is_transcript(text: str) -> bool:
    """Whether lines are turns of a talk: it opens with one, and roles take turns or half of its lines are by names that come again.

    >>> is_transcript("Ana: Hi!\\nBen: Hello.\\nAna: Tea?"), is_transcript("Title: Tea\\nAuthor: Ana")
    (True, False)
    """
    lines = [_opening(line) for line in text.split("\n") if line.strip()]
    turns = [found for found in lines if found]
    if not turns or lines[0] is None:
        return False
    if _by_roles(turns):
        return True
    names = {found["name"] for found in turns}
    return len(turns) * 2 >= len(lines) and (len(names) < len(turns) or bool(turns[0]["stamp"]))


def turns(text: str) -> Iterator[Turn | Unsaid]:
    """What was said, turn by turn. A line that opens none goes on with the one before."""
    openings = [_opening(line) for line in text.split("\n")]
    only_roles = _by_roles([found for found in openings if found])
    opened: re.Match[str] | None = None
    lines: list[str] = []
    for line, found in zip(text.split("\n"), openings, strict=True):
        if found is None or (only_roles and _role(found) is None):
            lines.append(line)
            continue
        if opened is not None:
            yield _turn(opened, lines)
        opened, lines = found, [found["text"] or ""]
    if opened is not None:
        yield _turn(opened, lines)


def _opening(line: str) -> re.Match[str] | None:
    found = _LINE.fullmatch(line.rstrip())
    return None if found is None or found["name"].casefold() in _LOG_LEVELS else found


def _by_roles(turns: list[re.Match[str]]) -> bool:
    """Whether a user and an assistant talk; then a line such as "Note: …" in an answer is no turn."""
    return bool(turns) and _role(turns[0]) is not None and len({role for one in turns if (role := _role(one))}) >= 2


def _role(found: re.Match[str]) -> str | None:
    return ROLES.get(found["name"].casefold())


def _turn(opened: re.Match[str], lines: list[str]) -> Turn | Unsaid:
    text, role = clean("\n".join(lines)), _role(opened)
    if not text:
        return Unsaid(EMPTY)
    return Turn(text, role or opened["name"], role, plain_moment(opened["stamp"] or ""), None)
