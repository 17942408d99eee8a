"""Facts from messages, a file or a folder: which files are read, in which format."""

from __future__ import annotations

import json
import os
import stat
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from cofire.errors import InvalidInput, decode_utf8, map_exceptions
from cofire.ingest import chat_exports
from cofire.ingest.chat_exports import ParsedTurn, parse_item
from cofire.ingest.documents import read_markdown, read_plain_text, read_rst
from cofire.ingest.facts import IngestItem, OpenedFile, SkippedInput, build_fact
from cofire.ingest.messages import SYSTEM_REASON, ChatTurn, SkippedTurn
from cofire.ingest.text_pieces import MAX_PIECE_LENGTH, split_text
from cofire.model import Fact

MARKDOWN_SUFFIXES = (".md", ".markdown", ".mdx")
RST_SUFFIXES = (".rst",)
TEXT_SUFFIXES = (".txt", ".text", *RST_SUFFIXES)
JSON_SUFFIXES = (".json",)
JSON_LINES_SUFFIXES = (".jsonl", ".ndjson")
INGESTED_SUFFIXES = (*MARKDOWN_SUFFIXES, *TEXT_SUFFIXES, *JSON_SUFFIXES, *JSON_LINES_SUFFIXES)
MARKUP_SUFFIXES = (".html", ".htm", ".xhtml", ".xml", ".svg", ".rtf", ".pdf")

MAX_FILE_BYTES = 100_000_000  # a file is read into memory at once

_DEPENDENCY_FOLDERS = {"node_modules", "__pycache__", "site-packages"}
_MARKUP_OPENINGS = (b"<!doctype", b"<html", b"<?xml", b"{\\rtf", b"%pdf-")
_INSPECTED_BYTES = 1_000
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_MEGABYTE = 1_000_000


def list_files(root: Path) -> Iterator[Path | SkippedInput]:
    """The file itself, or all files below a folder by name, with reasons for those that are skipped."""
    if root.is_dir():
        yield from _list_folder(root)
    else:
        yield root


def read_file_text(path: Path, *, largest: int) -> str:
    """The text of a file with Unix line ends. Raises if it is binary, too large, or markup."""
    raw = _read_bytes(path, largest)
    if path.suffix.lower() in MARKUP_SUFFIXES or _is_markup(raw):
        raise InvalidInput(
            "This is HTML, XML, RTF or PDF, whose markup would be stored as text.",
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
    """Whether an entry is a folder. A broken link counts as a file: reading it reports the error."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _find_skip_reason(entry: os.DirEntry[str]) -> str | None:
    if entry.name.startswith("."):
        return "It is hidden."
    if _is_folder(entry):
        if entry.name in _DEPENDENCY_FOLDERS:
            return "It is a folder of installed packages."
        return "It is a link to a folder." if entry.is_symlink() else None
    if not entry.name.lower().endswith(INGESTED_SUFFIXES):
        return f"Only {', '.join(INGESTED_SUFFIXES)} are read from a folder."
    return None


def _read_bytes(path: Path, largest: int) -> bytes:
    with map_exceptions(
        {OSError: InvalidInput}, problem="It cannot be read: {error}.", way_out="Check its name and its permissions."
    ):
        if not stat.S_ISREG(path.stat().st_mode):
            raise InvalidInput("This is not a regular file.", way_out="Give a file or a folder.")
        with path.open("rb") as file:
            raw = file.read(largest + 1)
    if len(raw) > largest:
        raise InvalidInput(
            f"It is larger than {largest / _MEGABYTE:g} MB.", way_out="Split it into several files, and ingest those."
        )
    return raw


def read_file_facts(
    text: str, about: Fact, *, suffix: str, stem: str, where: str, system: bool
) -> Iterator[Fact | SkippedInput]:
    """The facts of a text. The default subject of a document is the name of its file."""
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
    """Whether a text is JSON. A WhatsApp line starts with a bracket as well."""
    try:
        return any(parse_json_items(text, by_line=False))
    except InvalidInput:
        return False


Messages = Iterable[Mapping[str, Any]] | Mapping[str, Any]
FactCheck = Callable[[Fact], Fact]

MESSAGES_SOURCE = "messages"
NO_TEXT_REASON = "It has no text."


def read_source(source: object, about: Fact, *, system: bool, largest: int, accept: FactCheck) -> Iterator[IngestItem]:
    """All facts of a source. `about` supplies default values, `accept` validates each fact."""
    if isinstance(source, str | PathLike):
        return _read_path(_check_path(os.fsdecode(source)), about, system=system, largest=largest, accept=accept)
    if isinstance(source, Mapping):
        return _read_items([ConversationItem("The mapping", source)], about, system=system, accept=accept)
    if isinstance(source, Iterable) and not isinstance(source, bytes | bytearray):
        return _read_items(number_items(source), about, system=system, accept=accept)
    raise InvalidInput(
        f"Nothing can be ingested from {type(source).__name__}.",
        way_out="Give a list of messages, or the path of a file or folder.",
    )


def _read_items(
    items: Iterable[ConversationItem], about: Fact, *, system: bool, accept: FactCheck
) -> Iterator[IngestItem]:
    for item in build_item_facts(items, about, where=MESSAGES_SOURCE, system=system):
        yield accept(item) if isinstance(item, Fact) else item


def _read_path(root: Path, about: Fact, *, system: bool, largest: int, accept: FactCheck) -> Iterator[IngestItem]:
    for path in list_files(root):
        if isinstance(path, SkippedInput):
            yield path
            continue
        name = path.as_posix()
        try:
            items = _read_file(path, about, system=system, largest=largest, accept=accept)
        except InvalidInput as error:
            if path == root:
                raise InvalidInput(f"{name} cannot be ingested. {error.problem}", way_out=error.way_out) from error
            yield SkippedInput(name, error.problem)
        else:
            yield from items


def _read_file(path: Path, about: Fact, *, system: bool, largest: int, accept: FactCheck) -> list[IngestItem]:
    """All facts of a file, or none: it is parsed to the end before a fact is remembered."""
    name = path.as_posix()
    text = read_file_text(path, largest=largest)
    if not text.strip():
        return [SkippedInput(name, NO_TEXT_REASON)]
    file_about = replace(about, source=about.source or name, session=about.session or name)
    pieces = read_file_facts(text, file_about, suffix=path.suffix.lower(), stem=path.stem, where=name, system=system)
    items = [accept(piece) if isinstance(piece, Fact) else piece for piece in pieces]
    return [OpenedFile(name), *items] if items else [SkippedInput(name, NO_TEXT_REASON)]


def _check_path(path: str) -> Path:
    if path.strip() and os.path.exists(path):
        return Path(path)
    shown = f"{path[:80]}…" if len(path) > 80 else path
    raise InvalidInput(
        f"There is no file or folder {shown!r}.",
        way_out="Check the path. To store a text, use remember.",
    )


@dataclass(frozen=True, slots=True)
class ConversationItem:
    """A message or conversation, its place for messages ("Line 3"), and its number among several."""

    place: str
    value: object
    number: int | None = None


def number_items(values: Iterable[object]) -> Iterator[ConversationItem]:
    """Number a sequence of messages or conversations."""
    return (ConversationItem(f"Message {number}", value, number) for number, value in enumerate(values, start=1))


def build_item_facts(
    items: Iterable[ConversationItem], about: Fact, *, where: str, system: bool
) -> Iterator[Fact | SkippedInput]:
    """Facts from messages in any known format."""
    for item in items:
        yield from build_turn_facts(_parse_item_turns(item, about), about, where=where, system=system)


def build_turn_facts(
    turns: Iterable[ParsedTurn], about: Fact, *, where: str, system: bool
) -> Iterator[Fact | SkippedInput]:
    """Facts from turns. Empty turns are skipped, as are system messages unless `system` is set."""
    for turn in turns:
        if isinstance(turn, SkippedTurn):
            yield SkippedInput(where, turn.reason)
        elif turn.role == "system" and not system:
            yield SkippedInput(where, SYSTEM_REASON)
        else:
            yield from _split_turn(turn, about)


def _parse_item_turns(item: ConversationItem, about: Fact) -> Iterator[ParsedTurn]:
    """The turns of an item. A conversation without a name is named by its number."""
    try:
        parsed = parse_item(item.value)
        session_prefix = about.session if parsed.whole and item.number is not None else None
        for turn in parsed.turns:
            if session_prefix is None or isinstance(turn, SkippedTurn) or turn.session:
                yield turn
            else:
                yield replace(turn, session=f"{session_prefix}#{item.number}")
    except InvalidInput as error:
        raise InvalidInput(f"{item.place}: {error.problem}", way_out=error.way_out) from error


def _split_turn(turn: ChatTurn, about: Fact) -> Iterator[Fact]:
    parts = split_text(turn.text, longest=MAX_PIECE_LENGTH)
    for number, part in enumerate(parts, start=1):
        metadata = _turn_metadata(turn)
        if len(parts) > 1:
            metadata |= {"part": number, "parts": len(parts)}
        yield build_fact(
            about,
            part,
            subject=None,
            speaker=turn.speaker,
            session=turn.session,
            at=turn.at,
            tags=(),
            metadata=metadata,
        )


def _turn_metadata(turn: ChatTurn) -> dict[str, Any]:
    """The role, unless it is the speaker's name, and the title of the conversation."""
    notes = {"role": turn.role if turn.role != turn.speaker else None, "title": turn.title}
    return {label: value for label, value in notes.items() if value}


_JSON_WAY_OUT = "Correct the file, or export it again."


def is_like_json(text: str) -> bool:
    """Whether a text starts like a JSON object or list."""
    return text.lstrip().startswith(("{", "["))


def parse_json_items(text: str, *, by_line: bool) -> Iterator[ConversationItem]:
    """The elements of a list, the values of JSON Lines, or the single object."""
    if by_line:
        return _parse_json_lines(text)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg != "Extra data":
            raise _make_json_error(error, error.lineno) from error
        return _parse_json_lines(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"This is not JSON: {error}.", way_out=_JSON_WAY_OUT) from error
    return _list_elements(value)


def _list_elements(value: Any) -> Iterator[ConversationItem]:
    if not isinstance(value, list):
        return iter([ConversationItem("The file", value)])
    return (ConversationItem(f"Element {number}", element, number) for number, element in enumerate(value, start=1))


def _parse_json_lines(text: str) -> Iterator[ConversationItem]:
    """One value per line. Only newlines separate lines: JSON strings may contain other separators."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield ConversationItem(f"Line {number}", _parse_json_line(line, number), number)


def _parse_json_line(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _make_json_error(error, number) from error


def _make_json_error(error: Exception, line: int) -> InvalidInput:
    reason = f"{error.msg}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
    return InvalidInput(f"Line {line} is not JSON: {reason}.", way_out=_JSON_WAY_OUT)
