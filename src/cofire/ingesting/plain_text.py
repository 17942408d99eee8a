"""Plain text: paragraphs between blank lines, and titles that are underlined, as in reStructuredText. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cofire.ingesting.blocks import Block

_UNDERLINE = re.compile(r"([=\-~^\"'`#*+])\1{2,}\s*")


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a text. Titles are ranked by the order in which their underlines first appear."""
    ranks: dict[str, int] = {}
    for line, lines in _runs(text.split("\n")):
        title = _title(lines)
        body = 0 if title is None else title + 2
        if title is not None:
            level = ranks.setdefault(lines[title + 1][0], len(ranks) + 1)
            yield Block("heading", line + title, lines[title].strip(), level=level)
        if any(letter.isalnum() for each in lines[body:] for letter in each):
            yield Block("paragraph", line + body, "\n".join(each.rstrip() for each in lines[body:]))


def _runs(lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Lines without a blank one between them, and the number of the first."""
    run: list[str] = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            run.append(line)
        elif run:
            yield number - len(run), run
            run = []
    if run:
        yield len(lines) - len(run) + 1, run


def _title(lines: list[str]) -> int | None:
    """Which line of a run is an underlined title: the first, or the second under a line above."""
    at = 1 if _UNDERLINE.fullmatch(lines[0]) else 0
    if len(lines) < at + 2 or not _UNDERLINE.fullmatch(lines[at + 1]):
        return None
    return at if len(lines[at + 1].rstrip()) >= len(lines[at].strip()) else None
