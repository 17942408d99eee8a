"""Facts from documents, by heading, with the data of their front matter."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cofire.ingest import blocks, markdown, rst
from cofire.ingest.blocks import BlockEntry, DocumentBlock, DocumentSection, group_sections
from cofire.ingest.facts import build_fact, parse_iso_time
from cofire.ingest.text_pieces import (
    CODE_BREAKS,
    MAX_CODE_LENGTH,
    MAX_GROUP_LENGTH,
    MAX_PIECE_LENGTH,
    find_last_sentence,
    group_parts,
    split_at_breaks,
    split_text,
)
from cofire.model import Fact

_YAML = re.compile(r"---[ \t]*\n(?P<inside>(?:.*\n)*?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_TOML = re.compile(r"\+{3}[ \t]*\n(?P<inside>(?:.*\n)*?)\+{3}[ \t]*(?:\n|\Z)")
_FIELD = re.compile(r"(?P<label>title|date|tags|keywords)[ \t]*:[ \t]*(?P<value>.*?)[ \t]*", re.IGNORECASE)
_LIST_ITEM = re.compile(r"[ \t]*-[ \t]+(?P<value>.*?)[ \t]*")
_ANY_FIELD = re.compile(r"[\"']?[\w.-]+(?: [\w.-]+){0,2}[\"']?[ \t]*:(?:[ \t].*)?")
_OTHER_LINE = re.compile(r"(?:[\s#\]}]|-(?:[ \t]|$)).*|")
_FOLDED_VALUE = re.compile(r"[|>][+-]?\d?[+-]?")

FrontMatterFields = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The metadata at the top of a document, and its number of lines."""

    title: str | None = None
    at: datetime | None = None
    tags: tuple[str, ...] = ()
    lines: int = 0


def parse_front_matter(text: str) -> FrontMatter:
    """The front matter of a text, empty if it has none.

    >>> front = parse_front_matter("---\\ntitle: Tea\\ndate: 2024-05-01\\ntags: [habit, home]\\n---\\nTea at four.")
    >>> front.title, front.at.date().isoformat(), front.tags, front.lines
    ('Tea', '2024-05-01', ('habit', 'home'), 5)
    """
    yaml = _YAML.match(text)
    if yaml:
        lines = yaml["inside"].split("\n")
        if _is_yaml(lines):
            return _make_front_matter(_parse_yaml_fields(lines), yaml[0])
    toml = _TOML.match(text)
    if toml:
        fields = _parse_toml_fields(toml["inside"])
        if fields is not None:
            return _make_front_matter(fields, toml[0])
    return FrontMatter()


def _make_front_matter(fields: FrontMatterFields, whole: str) -> FrontMatter:
    return FrontMatter(
        title=" ".join(fields.get("title", ())) or None,
        at=parse_iso_time(" ".join(fields.get("date", ()))),
        tags=tuple(tag for label in ("tags", "keywords") for tag in fields.get(label, ())),
        lines=whole.count("\n"),
    )


def _is_yaml(lines: list[str]) -> bool:
    """Whether the lines are YAML fields. Other text between rules must not be lost."""
    return _ANY_FIELD.fullmatch(lines[0]) is not None and all(
        _ANY_FIELD.fullmatch(line) or _OTHER_LINE.fullmatch(line) for line in lines
    )


def _parse_yaml_fields(lines: list[str]) -> FrontMatterFields:
    """The relevant fields with their values, which may continue on the lines below.

    >>> _parse_yaml_fields(["title: >-", "  Tea", "  at home", "tags:", "- habit"])
    {'title': ['Tea', 'at home'], 'tags': ['habit']}
    """
    fields: FrontMatterFields = {}
    label: str | None = None
    for line in lines:
        field, listed = _FIELD.fullmatch(line), _LIST_ITEM.fullmatch(line)
        if field is not None:
            label = field["label"].lower()
            fields[label] = [] if _FOLDED_VALUE.fullmatch(field["value"]) else _split_values(label, field["value"])
        elif _ANY_FIELD.fullmatch(line):
            label = None
        elif listed is not None and label is not None:
            fields[label].append(_strip_quotes(listed["value"]))
        elif line[:1].isspace() and label is not None:
            fields[label] += _split_values(label, line)
    return {label: [value for value in values if value] for label, values in fields.items()}


def _parse_toml_fields(inside: str) -> FrontMatterFields | None:
    """The relevant fields of TOML. None if it is not TOML.

    >>> _parse_toml_fields('title = "Tea"\\ntags = ["habit", "home"]')
    {'title': ['Tea'], 'tags': ['habit', 'home']}
    """
    try:
        content = tomllib.loads(inside)
    except (ValueError, RecursionError):
        return None
    fields: FrontMatterFields = {}
    for label in ("title", "date", "tags", "keywords"):
        if label in content:
            value = content[label]
            fields[label] = [str(item) for item in value] if isinstance(value, list) else [str(value)]
    return fields


def _split_values(label: str, text: str) -> list[str]:
    """Each tag of a line of tags; for other fields the single value."""
    if label in ("tags", "keywords"):
        return [_strip_quotes(part) for part in text.strip(" \t[]").split(",")]
    return [_strip_quotes(text)]


def _strip_quotes(text: str) -> str:
    """Without quotes, and a tag without its #."""
    return text.strip().strip("\"'").removeprefix("#").strip()


_MAX_SUBJECT_LENGTH = 200


def read_markdown(text: str, about: Fact) -> Iterator[Fact]:
    """Facts from Markdown, with the title, date and tags of its front matter."""
    front = parse_front_matter(text)
    body = "\n".join(text.split("\n")[front.lines :])
    return _build_facts(markdown.parse_markdown(body, first_line=front.lines + 1), front, about)


def read_rst(text: str, about: Fact) -> Iterator[Fact]:
    """Facts from reStructuredText."""
    return _build_facts(rst.parse_rst(text), FrontMatter(), about)


def read_plain_text(text: str, about: Fact) -> Iterator[Fact]:
    """Facts from text without Markdown."""
    return _build_facts(blocks.parse_plain_text(text), FrontMatter(), about)


def _build_facts(blocks: Iterable[DocumentBlock], front: FrontMatter, about: Fact) -> Iterator[Fact]:
    for section in group_sections(blocks):
        for piece in _split_section(section):
            yield build_fact(
                about,
                piece.text,
                subject=_section_subject(section, front),
                speaker=None,
                session=None,
                at=front.at,
                tags=front.tags,
                metadata=_section_metadata(section, front, piece.line),
            )


def _section_subject(section: DocumentSection, front: FrontMatter) -> str | None:
    """The last heading or, above the first one, the title of the document."""
    subject = section.trail[-1] if section.trail else front.title
    return subject[:_MAX_SUBJECT_LENGTH] if subject else None


def _section_metadata(section: DocumentSection, front: FrontMatter, line: int) -> dict[str, Any]:
    notes = {"trail": list(section.trail), "title": front.title, "line": line}
    return {label: value for label, value in notes.items() if value}


def _split_section(section: DocumentSection) -> Iterator[BlockEntry]:
    """The texts under a heading. A paragraph may introduce the block after it."""
    waiting: DocumentBlock | None = None
    for block in section.blocks:
        if block.kind == "paragraph":
            if waiting is not None and _is_introduction(waiting, block):
                waiting = DocumentBlock("paragraph", waiting.line, f"{waiting.text}\n\n{block.text}")
            else:
                yield from _split_prose(waiting)
                waiting = block
        elif block.kind == "code":
            yield from _split_code(waiting, block)
            waiting = None
        else:
            yield from _split_listing(waiting, block)
            waiting = None
    yield from _split_prose(waiting)


def _is_introduction(block: DocumentBlock, following: DocumentBlock) -> bool:
    return block.text.endswith((":", "：")) and len(block.text) + len(following.text) <= MAX_PIECE_LENGTH


def _split_prose(block: DocumentBlock | None) -> Iterator[BlockEntry]:
    if block is not None:
        for part in split_text(block.text, longest=MAX_PIECE_LENGTH):
            yield BlockEntry(block.line, part)


def _split_code(lead: DocumentBlock | None, block: DocumentBlock) -> Iterator[BlockEntry]:
    """Code with the last piece of the paragraph above it."""
    *before, last = split_text(lead.text, longest=MAX_PIECE_LENGTH) if lead else [""]
    first, *rest = split_at_breaks(block.text, longest=MAX_CODE_LENGTH, ends=CODE_BREAKS)
    line = lead.line if lead else block.line
    for part in before:
        yield BlockEntry(line, part)
    yield BlockEntry(line, f"{last}\n\n{first}" if last else first)
    for part in rest:
        yield BlockEntry(block.line, part)


def _split_listing(lead: DocumentBlock | None, block: DocumentBlock) -> Iterator[BlockEntry]:
    """Items or rows, short ones in groups, each below the introducing sentence and the table header."""
    opening = find_last_sentence(lead.text) if lead and lead.text.endswith((":", "：")) else ""
    if lead is not None and opening != lead.text.strip():
        yield from _split_prose(lead)
    above = "\n".join(part for part in (opening, block.text) if part)
    entries = [part for entry in block.entries for part in _split_entry(entry)]
    if not entries and above:
        yield BlockEntry(block.line, above)
    at = 0
    for group in group_parts([entry.text for entry in entries], longest=MAX_GROUP_LENGTH, glue=1):
        yield BlockEntry(entries[at].line, "\n".join(part for part in (above, *group) if part))
        at += len(group)


def _split_entry(entry: BlockEntry) -> Iterator[BlockEntry]:
    for part in split_text(entry.text, longest=MAX_PIECE_LENGTH):
        yield BlockEntry(entry.line, part)
