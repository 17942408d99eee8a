"""Kinds: what a file's text is, by its shape: a chat in JSON, a WhatsApp export, a transcript or a document. No I/O."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cofire.errors import InvalidInput
from cofire.ingesting import transcripts, whatsapp
from cofire.ingesting.conversations import read_items, read_turns
from cofire.ingesting.documents import read_markdown, read_plain_text, read_rst
from cofire.ingesting.files import JSON, JSON_LINES, MARKDOWN, RST
from cofire.ingesting.harvest import Skipped
from cofire.ingesting.json_items import items, looks_like_json
from cofire.model import Fact


def read(text: str, about: Fact, *, suffix: str, stem: str, where: str, system: bool) -> Iterator[Fact | Skipped]:
    """The facts of a text. A document without a title is known by its file's stem; a chat has no such subject."""
    if suffix in (*JSON, *JSON_LINES):
        return read_items(items(text, by_line=suffix in JSON_LINES), about, where=where, system=system)
    if suffix in MARKDOWN:
        return read_markdown(text, _titled(about, stem))
    if suffix in RST:
        return read_rst(text, _titled(about, stem))
    if looks_like_json(text) and _is_json(text):
        return read_items(items(text, by_line=False), about, where=where, system=system)
    if whatsapp.is_whatsapp(text):
        return read_turns(whatsapp.turns(text), about, where=where, system=system)
    if transcripts.is_transcript(text):
        return read_turns(transcripts.turns(text), about, where=where, system=system)
    return read_plain_text(text, _titled(about, stem))


def _titled(about: Fact, stem: str) -> Fact:
    return replace(about, subject=about.subject or stem)


def _is_json(text: str) -> bool:
    """Whether a text that is not named so is JSON all the same: a WhatsApp line opens with a bracket too."""
    try:
        return any(items(text, by_line=False))
    except InvalidInput:
        return False
