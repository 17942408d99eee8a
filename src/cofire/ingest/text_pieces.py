"""Split long texts at paragraphs, sentences, lines or words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

MAX_PIECE_LENGTH = 1_200  # characters of a piece: about 300 tokens, which an embedder reads whole
MAX_GROUP_LENGTH = 600  # characters up to which list items and table rows share a piece
MAX_CODE_LENGTH = 8_000  # characters up to which a block of code stays in one piece

_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+(?=[^\sa-z])|(?<=[。！？])")
_LINE_END = re.compile(r"\n")
_SPACE = re.compile(r"\s+")
_LIST_MARKER = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+")
_FENCE = re.compile(r"^\s*(?P<fence>`{3,}|~{3,})(?P<rest>.*)$")

PROSE_BREAKS = (_SENTENCE_END, _LINE_END, _SPACE)
CODE_BREAKS = (_LINE_END, _SPACE)


def split_text(text: str, *, longest: int) -> list[str]:
    """A text whole if it is short, otherwise by paragraphs, several to a piece where they fit."""
    if len(text) <= longest:
        return [text]
    parts = [part for paragraph in split_paragraphs(text) for part in split_block(paragraph, longest=longest)]
    return join_parts(parts, longest=longest, glue="\n\n")


def split_paragraphs(text: str) -> list[str]:
    """What blank lines part; fenced code is a paragraph of its own.

    >>> split_paragraphs("One:\\n```\\na\\n\\nb\\n```\\n\\nTwo.")
    ['One:', '```\\na\\n\\nb\\n```', 'Two.']
    """
    found: list[list[str]] = [[]]
    fence: str | None = None
    for line in text.split("\n"):
        after = update_fence(strip_list_marker(line) if fence is None else line, fence)
        if fence is None and (after is not None or not line.strip()):
            found.append([])
        if fence is not None or line.strip():
            found[-1].append(line)
        if fence is not None and after is None:
            found.append([])
        fence = after
    return ["\n".join(lines) for lines in found if lines]


def strip_list_marker(text: str) -> str:
    """What stands behind the marks of a list's item, where code may open.

    >>> strip_list_marker("1. ```sh"), strip_list_marker("make")
    ('```sh', 'make')
    """
    found = _LIST_MARKER.match(text)
    return text[found.end() :] if found else text


def update_fence(line: str, fence: str | None) -> str | None:
    """The fence that stands open after a line, given the one that stood open before.

    >>> update_fence("```python", None), update_fence("~~~", "```"), update_fence("```", "```")
    ('```', '```', None)
    """
    found = _FENCE.match(line)
    if found is None:
        return fence
    marks, rest = found["fence"], found["rest"]
    if fence is None:
        return None if marks[0] == "`" and "`" in rest else marks
    closes = marks[0] == fence[0] and len(marks) >= len(fence) and not rest.strip()
    return None if closes else fence


def split_block(text: str, *, longest: int) -> list[str]:
    """A paragraph at its sentence ends; a block of code stays whole, unless it is longer than any reader wants."""
    if _FENCE.match(strip_list_marker(text)):
        return split_at_breaks(text, longest=MAX_CODE_LENGTH, ends=CODE_BREAKS)
    return split_at_breaks(text, longest=longest, ends=PROSE_BREAKS)


def split_at_breaks(text: str, *, longest: int, ends: tuple[re.Pattern[str], ...]) -> list[str]:
    """Pieces of at most so many characters, each up to the last end within reach of the first kind that is found.

    >>> split_at_breaks("One. Two and three. Four.", longest=12, ends=PROSE_BREAKS)
    ['One.', 'Two and', 'three. Four.']
    """
    if len(text) <= longest:
        return [text]
    edges = "\n" if ends == CODE_BREAKS else None  # what indents code is part of it
    found: list[str] = []
    start = 0
    while len(text) - start > longest:
        end = _find_last_break(text, start, start + longest, ends)
        found.append(text[start:end].strip(edges))
        start = end
    return [part for part in (*found, text[start:].strip(edges)) if part.strip()]


def _find_last_break(text: str, start: int, limit: int, ends: tuple[re.Pattern[str], ...]) -> int:
    """Where the longest good piece ends; an end in its first quarter would leave a crumb, so the next kind is tried."""
    least = start + (limit - start) // 4
    for kind in ends:
        reached = [match.end() for match in kind.finditer(text, start, limit + 1) if match.start() <= limit]
        if reached and reached[-1] > least:
            return reached[-1]
    return limit


def find_last_sentence(text: str) -> str:
    """The sentence a paragraph ends with.

    >>> find_last_sentence("Install it first. Then do these:")
    'Then do these:'
    """
    return _SENTENCE_END.split(text.strip())[-1].strip()


def join_parts(parts: Iterable[str], *, longest: int, glue: str) -> list[str]:
    """Neighbours together while they fit.

    >>> join_parts(["a", "b", "long"], longest=4, glue="-")
    ['a-b', 'long']
    """
    return [glue.join(group) for group in group_parts(parts, longest=longest, glue=len(glue))]


def group_parts(parts: Iterable[str], *, longest: int, glue: int) -> Iterator[list[str]]:
    """Runs of neighbours whose characters, with so many between two, stay within a length; a longer part is alone."""
    group: list[str] = []
    length = 0
    for part in parts:
        if group and length + glue + len(part) > longest:
            yield group
            group, length = [], 0
        length += len(part) + (glue if group else 0)
        group.append(part)
    if group:
        yield group
