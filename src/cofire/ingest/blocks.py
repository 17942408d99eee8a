"""Blocks and sections of a document, and the blocks of plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

BlockKind = Literal["heading", "paragraph", "code", "list", "table"]


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """An item of a list or a row of a table, and the line it starts at."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class DocumentBlock:
    """A block and the line it starts at. A list has its items, a table its rows under the header that is its text."""

    kind: BlockKind
    line: int
    text: str
    level: int = 0
    entries: tuple[BlockEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentSection:
    """What stands under one heading, with the headings that lead there."""

    trail: tuple[str, ...]
    blocks: tuple[DocumentBlock, ...]


def group_sections(blocks: Iterable[DocumentBlock]) -> Iterator[DocumentSection]:
    """Blocks by the heading they stand under. A heading with nothing under it, not even another, is said itself under those above."""
    trail: list[DocumentBlock] = []
    under: list[DocumentBlock] = []
    for block in blocks:
        if block.kind != "heading":
            under.append(block)
            continue
        above = [heading for heading in trail if heading.level < block.level]
        yield from _make_section(trail, under, ends=above != trail)
        trail, under = [*above, block], []
    yield from _make_section(trail, under, ends=True)


def _make_section(trail: list[DocumentBlock], under: list[DocumentBlock], *, ends: bool) -> Iterator[DocumentSection]:
    """What stands under the last heading or, where it ends with nothing under it, the heading itself."""
    if under:
        yield DocumentSection(tuple(heading.text for heading in trail), tuple(under))
    elif trail and ends:
        *above, last = trail
        yield DocumentSection(
            tuple(heading.text for heading in above), (DocumentBlock("paragraph", last.line, last.text),)
        )


_TITLE_UNDERLINE = re.compile(r"([=\-~^\"'`#*+])\1{2,}\s*")


def parse_plain_text(text: str) -> Iterator[DocumentBlock]:
    """The blocks of a text. Titles are ranked by the order in which their underlines first appear."""
    ranks: dict[str, int] = {}
    for line, lines in _split_runs(text.split("\n")):
        title = _find_title(lines)
        body = 0 if title is None else title + 2
        if title is not None:
            level = ranks.setdefault(lines[title + 1][0], len(ranks) + 1)
            yield DocumentBlock("heading", line + title, lines[title].strip(), level=level)
        if any(letter.isalnum() for each in lines[body:] for letter in each):
            yield DocumentBlock("paragraph", line + body, "\n".join(each.rstrip() for each in lines[body:]))


def _split_runs(lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
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


def _find_title(lines: list[str]) -> int | None:
    """Which line of a run is an underlined title: the first, or the second under a line above."""
    at = 1 if _TITLE_UNDERLINE.fullmatch(lines[0]) else 0
    if len(lines) < at + 2 or not _TITLE_UNDERLINE.fullmatch(lines[at + 1]):
        return None
    return at if len(lines[at + 1].rstrip()) >= len(lines[at].strip()) else None
