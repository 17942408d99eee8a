"""Facts from messages, a file or a folder: which files are read, in which format."""

from __future__ import annotations

import os
import stat
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from cofire.errors import InvalidInput, decode_utf8, map_exceptions
from cofire.ingest import chat_exports
from cofire.ingest.conversations import (
    ConversationItem,
    build_item_facts,
    build_turn_facts,
    is_like_json,
    number_items,
    parse_json_items,
)
from cofire.ingest.documents import read_markdown, read_plain_text, read_rst
from cofire.ingest.facts import IngestItem, OpenedFile, SkippedInput
from cofire.model import Fact

MARKDOWN_SUFFIXES = (".md", ".markdown", ".mdx")
RST_SUFFIXES = (".rst",)
TEXT_SUFFIXES = (".txt", ".text", *RST_SUFFIXES)
JSON_SUFFIXES = (".json",)
JSON_LINES_SUFFIXES = (".jsonl", ".ndjson")
INGESTED_SUFFIXES = (*MARKDOWN_SUFFIXES, *TEXT_SUFFIXES, *JSON_SUFFIXES, *JSON_LINES_SUFFIXES)
MARKUP_SUFFIXES = (".html", ".htm", ".xhtml", ".xml", ".svg", ".rtf", ".pdf")

MAX_FILE_BYTES = 100_000_000  # bytes of one file, which is read at once

_DEPENDENCY_FOLDERS = {"node_modules", "__pycache__", "site-packages"}
_MARKUP_OPENINGS = (b"<!doctype", b"<html", b"<?xml", b"{\\rtf", b"%pdf-")
_INSPECTED_BYTES = 1_000
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_MEGABYTE = 1_000_000


def list_files(root: Path) -> Iterator[Path | SkippedInput]:
    """The file itself, or the files of a folder and of those inside it, by name; what is passed over is told."""
    if root.is_dir():
        yield from _list_folder(root)
    else:
        yield root


def read_file_text(path: Path, *, largest: int) -> str:
    """A file's text with plain line ends. What is no text, too much of it, or more marks than text is refused."""
    raw = _read_bytes(path, largest)
    if path.suffix.lower() in MARKUP_SUFFIXES or _is_markup(raw):
        raise InvalidInput(
            "This is HTML, XML, RTF or PDF, whose marks would be stored as text.",
            way_out="Convert it to Markdown or plain text first, for instance with pandoc or pdftotext.",
        )
    return _decode_text(raw)


def _is_markup(raw: bytes) -> bool:
    return raw[:_INSPECTED_BYTES].removeprefix(BOM_UTF8).lstrip().lower().startswith(_MARKUP_OPENINGS)


def _decode_text(raw: bytes) -> str:
    if raw.startswith(_UTF_16):
        raise InvalidInput("This is text in UTF-16.", way_out="Save it as UTF-8.")
    if b"\0" in raw:
        raise InvalidInput("This is a binary file.", way_out="Give text, Markdown or JSON.")
    return decode_utf8(raw, "This", InvalidInput).replace("\r\n", "\n").replace("\r", "\n")


def _list_folder(folder: Path) -> Iterator[Path | SkippedInput]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield SkippedInput(folder.as_posix(), f"The folder cannot be opened: {error.strerror}.")
        return
    for entry in entries:
        path = Path(entry.path)
        reason = _find_skip_reason(entry)
        if reason is not None:
            yield SkippedInput(path.as_posix(), reason)
        elif _is_folder(entry):
            yield from _list_folder(path)
        else:
            yield path


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder. Of a link that cannot be followed, reading it as a file will say why."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _find_skip_reason(entry: os.DirEntry[str]) -> str | None:
    if entry.name.startswith("."):
        return "It is hidden."
    if _is_folder(entry):
        if entry.name in _DEPENDENCY_FOLDERS:
            return "It holds what others wrote for programs."
        return "It is a link to a folder." if entry.is_symlink() else None
    if not entry.name.lower().endswith(INGESTED_SUFFIXES):
        return f"Of a folder, only {', '.join(INGESTED_SUFFIXES)} are read."
    return None


def _read_bytes(path: Path, largest: int) -> bytes:
    with map_exceptions(
        {OSError: InvalidInput}, problem="It cannot be read: {error}.", way_out="Check its name and its permissions."
    ):
        if not stat.S_ISREG(path.stat().st_mode):
            raise InvalidInput("This is no ordinary file.", way_out="Give a file or a folder.")
        with path.open("rb") as file:
            raw = file.read(largest + 1)
    if len(raw) > largest:
        raise InvalidInput(
            f"It is larger than {largest / _MEGABYTE:g} MB.", way_out="Split it into several files, and ingest these."
        )
    return raw


def read_file_facts(
    text: str, about: Fact, *, suffix: str, stem: str, where: str, system: bool
) -> Iterator[Fact | SkippedInput]:
    """The facts of a text. A document without a title is known by its file's stem; a chat has no such subject."""
    if suffix in (*JSON_SUFFIXES, *JSON_LINES_SUFFIXES):
        return build_item_facts(
            parse_json_items(text, by_line=suffix in JSON_LINES_SUFFIXES), about, where=where, system=system
        )
    if suffix in MARKDOWN_SUFFIXES:
        return read_markdown(text, _with_title(about, stem))
    if suffix in RST_SUFFIXES:
        return read_rst(text, _with_title(about, stem))
    if is_like_json(text) and _is_json(text):
        return build_item_facts(parse_json_items(text, by_line=False), about, where=where, system=system)
    if chat_exports.is_whatsapp(text):
        return build_turn_facts(chat_exports.read_whatsapp(text), about, where=where, system=system)
    if chat_exports.is_transcript(text):
        return build_turn_facts(chat_exports.read_transcript(text), about, where=where, system=system)
    return read_plain_text(text, _with_title(about, stem))


def _with_title(about: Fact, stem: str) -> Fact:
    return replace(about, subject=about.subject or stem)


def _is_json(text: str) -> bool:
    """Whether a text that is not named so is JSON all the same: a WhatsApp line opens with a bracket too."""
    try:
        return any(parse_json_items(text, by_line=False))
    except InvalidInput:
        return False


Messages = Iterable[Mapping[str, Any]] | Mapping[str, Any]
FactCheck = Callable[[Fact], Fact]

MESSAGES_SOURCE = "messages"
NO_TEXT_REASON = "It holds no text."


def read_source(given: object, about: Fact, *, system: bool, largest: int, accept: FactCheck) -> Iterator[IngestItem]:
    """Everything there is to tell. `about` holds for each fact that does not say otherwise; `accept` checks it."""
    if isinstance(given, str | PathLike):
        return _read_path(_check_path(os.fsdecode(given)), about, system=system, largest=largest, accept=accept)
    if isinstance(given, Mapping):
        return _read_items([ConversationItem("The mapping", given)], about, system=system, accept=accept)
    if isinstance(given, Iterable) and not isinstance(given, bytes | bytearray):
        return _read_items(number_items(given), about, system=system, accept=accept)
    raise InvalidInput(
        f"Nothing can be ingested from {type(given).__name__}.",
        way_out="Give a list of messages, or the path of a file or folder.",
    )


def _read_items(
    items: Iterable[ConversationItem], about: Fact, *, system: bool, accept: FactCheck
) -> Iterator[IngestItem]:
    for found in build_item_facts(items, about, where=MESSAGES_SOURCE, system=system):
        yield accept(found) if isinstance(found, Fact) else found


def _read_path(root: Path, about: Fact, *, system: bool, largest: int, accept: FactCheck) -> Iterator[IngestItem]:
    for path in list_files(root):
        if isinstance(path, SkippedInput):
            yield path
            continue
        name = path.as_posix()
        try:
            found = _read_file(path, about, system=system, largest=largest, accept=accept)
        except InvalidInput as error:
            if path == root:
                raise InvalidInput(f"{name} cannot be ingested. {error.problem}", way_out=error.way_out) from error
            yield SkippedInput(name, error.problem)
        else:
            yield from found


def _read_file(path: Path, about: Fact, *, system: bool, largest: int, accept: FactCheck) -> list[IngestItem]:
    """All that a file tells, or nothing of it: it is read to its end before anything is remembered."""
    name = path.as_posix()
    text = read_file_text(path, largest=largest)
    if not text.strip():
        return [SkippedInput(name, NO_TEXT_REASON)]
    known = replace(about, source=about.source or name, session=about.session or name)
    pieces = read_file_facts(text, known, suffix=path.suffix.lower(), stem=path.stem, where=name, system=system)
    found = [accept(piece) if isinstance(piece, Fact) else piece for piece in pieces]
    return [OpenedFile(name), *found] if found else [SkippedInput(name, NO_TEXT_REASON)]


def _check_path(path: str) -> Path:
    if path.strip() and os.path.exists(path):
        return Path(path)
    shown = f"{path[:80]}…" if len(path) > 80 else path
    raise InvalidInput(
        f"There is no file or folder {shown!r}.",
        way_out="Check the path; a text itself is kept with remember.",
    )
