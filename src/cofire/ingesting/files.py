"""Files: which ones of a folder are read, and their text. The only place of ingestion that touches a disk."""

from __future__ import annotations

import os
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path

from cofire.errors import InvalidInput, decoded, map_exceptions
from cofire.ingesting.harvest import Skipped

MARKDOWN = (".md", ".markdown", ".mdx")
RST = (".rst",)
TEXT = (".txt", ".text", *RST)
JSON = (".json",)
JSON_LINES = (".jsonl", ".ndjson")
READ = (*MARKDOWN, *TEXT, *JSON, *JSON_LINES)
MARKUP = (".html", ".htm", ".xhtml", ".xml", ".svg", ".rtf", ".pdf")

LARGEST = 100_000_000  # bytes of one file, which is read at once

_DEPENDENCIES = {"node_modules", "__pycache__", "site-packages"}
_OPENINGS = (b"<!doctype", b"<html", b"<?xml", b"{\\rtf", b"%pdf-")
_LOOKED_AT = 1_000
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_MEGABYTE = 1_000_000


def walk(root: Path) -> Iterator[Path | Skipped]:
    """The file itself, or the files of a folder and of those inside it, by name; what is passed over is told."""
    if root.is_dir():
        yield from _inside(root)
    else:
        yield root


def text_of(path: Path, *, largest: int) -> str:
    """A file's text with plain line ends. What is no text, too much of it, or more marks than text is refused."""
    raw = _bytes(path, largest)
    if path.suffix.lower() in MARKUP or _is_marked_up(raw):
        raise InvalidInput(
            "This is HTML, XML, RTF or PDF, whose marks would be stored as text.",
            way_out="Convert it to Markdown or plain text first, for instance with pandoc or pdftotext.",
        )
    return _text(raw)


def _is_marked_up(raw: bytes) -> bool:
    return raw[:_LOOKED_AT].removeprefix(BOM_UTF8).lstrip().lower().startswith(_OPENINGS)


def _text(raw: bytes) -> str:
    if raw.startswith(_UTF_16):
        raise InvalidInput("This is text in UTF-16.", way_out="Save it as UTF-8.")
    if b"\0" in raw:
        raise InvalidInput("This is a binary file.", way_out="Give text, Markdown or JSON.")
    return decoded(raw, "This", InvalidInput).replace("\r\n", "\n").replace("\r", "\n")


def _inside(folder: Path) -> Iterator[Path | Skipped]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield Skipped(folder.as_posix(), f"The folder cannot be opened: {error.strerror}.")
        return
    for entry in entries:
        path = Path(entry.path)
        reason = _reason_to_skip(entry)
        if reason is not None:
            yield Skipped(path.as_posix(), reason)
        elif _is_folder(entry):
            yield from _inside(path)
        else:
            yield path


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder. Of a link that cannot be followed, reading it as a file will say why."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _reason_to_skip(entry: os.DirEntry[str]) -> str | None:
    if entry.name.startswith("."):
        return "It is hidden."
    if _is_folder(entry):
        if entry.name in _DEPENDENCIES:
            return "It holds what others wrote for programs."
        return "It is a link to a folder." if entry.is_symlink() else None
    if not entry.name.lower().endswith(READ):
        return f"Of a folder, only {', '.join(READ)} are read."
    return None


def _bytes(path: Path, largest: int) -> bytes:
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
