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
    """The text if it is short, else its paragraphs, several per piece while they fit."""
    if len(text) <= longest:
        return [text]
    parts = [part for paragraph in split_paragraphs(text) for part in split_block(paragraph, longest=longest)]
    return join_parts(parts, longest=longest, glue="\n\n")


def split_paragraphs(text: str) -> list[str]:
    """Split at blank lines. Fenced code is a paragraph of its own.

    >>> split_paragraphs("One:\\n```\\na\\n\\nb\\n```\\n\\nTwo.")
    ['One:', '```\\na\\n\\nb\\n```', 'Two.']
    """
    paragraphs: list[list[str]] = [[]]
    fence: str | None = None
    for line in text.split("\n"):
        next_fence = update_fence(strip_list_marker(line) if fence is None else line, fence)
        if fence is None and (next_fence is not None or not line.strip()):
            paragraphs.append([])
        if fence is not None or line.strip():
            paragraphs[-1].append(line)
        if fence is not None and next_fence is None:
            paragraphs.append([])
        fence = next_fence
    return ["\n".join(lines) for lines in paragraphs if lines]


def strip_list_marker(text: str) -> str:
    """The text after the marker of a list item, where code may open.

    >>> strip_list_marker("1. ```sh"), strip_list_marker("make")
    ('```sh', 'make')
    """
    marker = _LIST_MARKER.match(text)
    return text[marker.end() :] if marker else text


def update_fence(line: str, fence: str | None) -> str | None:
    """The fence that is open after a line, given the one open before it.

    >>> update_fence("```python", None), update_fence("~~~", "```"), update_fence("```", "```")
    ('```', '```', None)
    """
    match = _FENCE.match(line)
    if match is None:
        return fence
    marks, rest = match["fence"], match["rest"]
    if fence is None:
        return None if marks[0] == "`" and "`" in rest else marks
    closes = marks[0] == fence[0] and len(marks) >= len(fence) and not rest.strip()
    return None if closes else fence


def split_block(text: str, *, longest: int) -> list[str]:
    """A paragraph split at sentence ends. Code stays whole up to `MAX_CODE_LENGTH`."""
    if _FENCE.match(strip_list_marker(text)):
        return split_at_breaks(text, longest=MAX_CODE_LENGTH, ends=CODE_BREAKS)
    return split_at_breaks(text, longest=longest, ends=PROSE_BREAKS)


def split_at_breaks(text: str, *, longest: int, ends: tuple[re.Pattern[str], ...]) -> list[str]:
    """Pieces of at most `longest` characters, split at the first kind of break that is found.

    >>> split_at_breaks("One. Two and three. Four.", longest=12, ends=PROSE_BREAKS)
    ['One.', 'Two and', 'three. Four.']
    """
    if len(text) <= longest:
        return [text]
    edges = "\n" if ends == CODE_BREAKS else None  # keep the indentation of code
    pieces: list[str] = []
    start = 0
    while len(text) - start > longest:
        end = _find_last_break(text, start, start + longest, ends)
        pieces.append(text[start:end].strip(edges))
        start = end
    return [part for part in (*pieces, text[start:].strip(edges)) if part.strip()]


def _find_last_break(text: str, start: int, limit: int, ends: tuple[re.Pattern[str], ...]) -> int:
    """The end of the longest good piece. A break in the first quarter is ignored."""
    least = start + (limit - start) // 4
    for kind in ends:
        reached = [match.end() for match in kind.finditer(text, start, limit + 1) if match.start() <= limit]
        if reached and reached[-1] > least:
            return reached[-1]
    return limit


def find_last_sentence(text: str) -> str:
    """The last sentence of a paragraph.

    >>> find_last_sentence("Install it first. Then do these:")
    'Then do these:'
    """
    return _SENTENCE_END.split(text.strip())[-1].strip()


def join_parts(parts: Iterable[str], *, longest: int, glue: str) -> list[str]:
    """Join neighbours while they fit.

    >>> join_parts(["a", "b", "long"], longest=4, glue="-")
    ['a-b', 'long']
    """
    return [glue.join(group) for group in group_parts(parts, longest=longest, glue=len(glue))]


def group_parts(parts: Iterable[str], *, longest: int, glue: int) -> Iterator[list[str]]:
    """Runs of neighbours whose total length, with `glue` characters between, stays within `longest`."""
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
