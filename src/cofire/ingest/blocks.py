"""Blocks and sections of a document, and the blocks of plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

BlockKind = Literal["heading", "paragraph", "code", "list", "table"]


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """An item of a list or a row of a table, and its first line."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class DocumentBlock:
    """A block and its first line. A list has items; a table has rows, and its header as text."""

    kind: BlockKind
    line: int
    text: str
    level: int = 0
    entries: tuple[BlockEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentSection:
    """The blocks under a heading, and the headings above them."""

    trail: tuple[str, ...]
    blocks: tuple[DocumentBlock, ...]


def group_sections(blocks: Iterable[DocumentBlock]) -> Iterator[DocumentSection]:
    """Group blocks by heading. A heading with nothing below it becomes a paragraph."""
    trail: list[DocumentBlock] = []
    content: list[DocumentBlock] = []
    for block in blocks:
        if block.kind != "heading":
            content.append(block)
            continue
        parents = [heading for heading in trail if heading.level < block.level]
        yield from _make_section(trail, content, ends=parents != trail)
        trail, content = [*parents, block], []
    yield from _make_section(trail, content, ends=True)


def _make_section(trail: list[DocumentBlock], content: list[DocumentBlock], *, ends: bool) -> Iterator[DocumentSection]:
    """The blocks under the last heading, or the heading itself if the section ends empty."""
    if content:
        yield DocumentSection(tuple(heading.text for heading in trail), tuple(content))
    elif trail and ends:
        *parents, last = trail
        yield DocumentSection(
            tuple(heading.text for heading in parents), (DocumentBlock("paragraph", last.line, last.text),)
        )


_TITLE_UNDERLINE = re.compile(r"([=\-~^\"'`#*+])\1{2,}\s*")


def parse_plain_text(text: str) -> Iterator[DocumentBlock]:
    """The blocks of a text. The level of a title depends on when its underline first appears."""
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
    """Runs of lines between blank lines, with the number of their first line."""
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
    """The index of an underlined title in a run: the first line, or the second below an overline."""
    at = 1 if _TITLE_UNDERLINE.fullmatch(lines[0]) else 0
    if len(lines) < at + 2 or not _TITLE_UNDERLINE.fullmatch(lines[at + 1]):
        return None
    return at if len(lines[at + 1].rstrip()) >= len(lines[at].strip()) else None
