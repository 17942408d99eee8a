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
    """Blocks by the heading they stand under. A heading with nothing under it, not even another, is said itself under those above."""
    trail: list[Block] = []
    under: list[Block] = []
    for block in blocks:
        if block.kind != "heading":
            under.append(block)
            continue
        above = [heading for heading in trail if heading.level < block.level]
        yield from _section(trail, under, ends=above != trail)
        trail, under = [*above, block], []
    yield from _section(trail, under, ends=True)


def _section(trail: list[Block], under: list[Block], *, ends: bool) -> Iterator[Section]:
    """What stands under the last heading or, where it ends with nothing under it, the heading itself."""
    if under:
        yield Section(tuple(heading.text for heading in trail), tuple(under))
    elif trail and ends:
        *above, last = trail
        yield Section(tuple(heading.text for heading in above), (Block("paragraph", last.line, last.text),))
