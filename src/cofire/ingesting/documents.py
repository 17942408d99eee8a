"""Documents: sections of a text become facts, led by their headings. Code, lists and tables keep what introduces them. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from cofire.ingesting import markdown, plain_text, rst
from cofire.ingesting.blocks import Block, Entry, Section, sections
from cofire.ingesting.cutting import CODE, GROUP, LONGEST, WHOLE, cut, groups, last_sentence, pieces
from cofire.ingesting.front_matter import FrontMatter, front_matter
from cofire.ingesting.harvest import told
from cofire.model import Fact

_LONGEST_SUBJECT = 200


def read_markdown(text: str, about: Fact) -> Iterator[Fact]:
    """Facts from Markdown, with the title, date and tags of its front matter."""
    front = front_matter(text)
    body = "\n".join(text.split("\n")[front.lines :])
    return _facts(markdown.blocks(body, first_line=front.lines + 1), front, about)


def read_rst(text: str, about: Fact) -> Iterator[Fact]:
    """Facts from reStructuredText."""
    return _facts(rst.blocks(text), FrontMatter(), about)


def read_plain_text(text: str, about: Fact) -> Iterator[Fact]:
    """Facts from a text without marks, or with others than Markdown's."""
    return _facts(plain_text.blocks(text), FrontMatter(), about)


def _facts(blocks: Iterable[Block], front: FrontMatter, about: Fact) -> Iterator[Fact]:
    for section in sections(blocks):
        for piece in _pieces(section):
            yield told(
                about,
                piece.text,
                subject=_subject(section, front),
                speaker=None,
                session=None,
                at=front.at,
                tags=front.tags,
                metadata=_notes(section, front, piece.line),
            )


def _subject(section: Section, front: FrontMatter) -> str | None:
    """The last heading or, above the first one, the document's title."""
    subject = section.trail[-1] if section.trail else front.title
    return subject[:_LONGEST_SUBJECT] if subject else None


def _notes(section: Section, front: FrontMatter, line: int) -> dict[str, Any]:
    notes = {"trail": list(section.trail), "title": front.title, "line": line}
    return {label: value for label, value in notes.items() if value}


def _pieces(section: Section) -> Iterator[Entry]:
    """The texts under a heading. A paragraph waits for what follows: it may introduce it."""
    waiting: Block | None = None
    for block in section.blocks:
        if block.kind == "paragraph":
            if waiting is not None and _introduces(waiting, block):
                waiting = Block("paragraph", waiting.line, f"{waiting.text}\n\n{block.text}")
            else:
                yield from _prose(waiting)
                waiting = block
        elif block.kind == "code":
            yield from _code(waiting, block)
            waiting = None
        else:
            yield from _listing(waiting, block)
            waiting = None
    yield from _prose(waiting)


def _introduces(block: Block, following: Block) -> bool:
    return block.text.endswith((":", "：")) and len(block.text) + len(following.text) <= LONGEST


def _prose(block: Block | None) -> Iterator[Entry]:
    if block is not None:
        for part in pieces(block.text, longest=LONGEST):
            yield Entry(block.line, part)


def _code(lead: Block | None, block: Block) -> Iterator[Entry]:
    """Code with the paragraph above it; of a long one the last piece leads."""
    *before, last = pieces(lead.text, longest=LONGEST) if lead else [""]
    first, *rest = cut(block.text, longest=WHOLE, ends=CODE)
    line = lead.line if lead else block.line
    for part in before:
        yield Entry(line, part)
    yield Entry(line, f"{last}\n\n{first}" if last else first)
    for part in rest:
        yield Entry(block.line, part)


def _listing(lead: Block | None, block: Block) -> Iterator[Entry]:
    """Items or rows, short ones in groups, each under the sentence that leads them in and the header of its table."""
    opening = last_sentence(lead.text) if lead and lead.text.endswith((":", "：")) else ""
    if lead is not None and opening != lead.text.strip():
        yield from _prose(lead)
    above = "\n".join(part for part in (opening, block.text) if part)
    entries = [part for entry in block.entries for part in _short_enough(entry)]
    if not entries and above:
        yield Entry(block.line, above)
    at = 0
    for group in groups([entry.text for entry in entries], longest=GROUP, glue=1):
        yield Entry(entries[at].line, "\n".join(part for part in (above, *group) if part))
        at += len(group)


def _short_enough(entry: Entry) -> Iterator[Entry]:
    for part in pieces(entry.text, longest=LONGEST):
        yield Entry(entry.line, part)
