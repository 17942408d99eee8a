"""Blocks: what a document is built of, as Markdown and plain text mark it: headings, paragraphs, code, lists, tables. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["heading", "paragraph", "code", "list", "table"]


@dataclass(frozen=True, slots=True)
class Entry:
    """An item of a list or a row of a table, and the line it starts at."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """A block and the line it starts at. A list has its items, a table its rows under the header that is its text."""

    kind: Kind
    line: int
    text: str
    level: int = 0
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under one heading, with the headings that lead there."""

    trail: tuple[str, ...]
    blocks: tuple[Block, ...]


def sections(blocks: Iterable[Block]) -> Iterator[Section]:
    """Blocks by the heading they stand under; a heading with nothing under it is only a step of the trail."""
    trail: list[tuple[int, str]] = []
    under: list[Block] = []
    for block in blocks:
        if block.kind != "heading":
            under.append(block)
            continue
        yield from _section(trail, under)
        trail = [*((level, title) for level, title in trail if level < block.level), (block.level, block.text)]
        under = []
    yield from _section(trail, under)


def _section(trail: list[tuple[int, str]], under: list[Block]) -> Iterator[Section]:
    if under:
        yield Section(tuple(title for _, title in trail), tuple(under))
