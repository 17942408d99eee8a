"""Read facts and questions line by line from files and standard input."""

from __future__ import annotations

import json
import sys
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cofire.cli.terminal import show_note
from cofire.errors import InvalidFact, InvalidInput, decode_utf8, map_exceptions

JSON_LINES_SUFFIXES = (".jsonl", ".ndjson")
STREAM_PATH = "-"
_INPUT_NAME = "The input"
TYPING_HINT = "Type what to remember; end with Ctrl-D on a line of its own."


@dataclass(frozen=True, slots=True)
class InputLine:
    """One line of a file that holds something, as its bytes."""

    number: int
    origin: str
    raw: bytes
    as_json: bool

    def given(self) -> str | dict[str, Any]:
        """What the line says: a text, or the fields of a fact."""
        text = decode_utf8(self.raw, _INPUT_NAME, InvalidFact).strip()
        return _parse_json_line(text) if self.as_json else text


def read_standard_input() -> str:
    """All of standard input as one text, without the line end that closes it."""
    return decode_utf8(read_input_bytes(TYPING_HINT), _INPUT_NAME, InvalidFact).removesuffix("\n").removesuffix("\r")


def is_stream(path: Path) -> bool:
    """Whether standard input or output is meant, not a file."""
    return str(path) == STREAM_PATH


def describe_origin(path: Path) -> str:
    """Where lines come from, for people to read."""
    return "standard input" if is_stream(path) else str(path)


def read_lines(path: Path, *, as_json: bool) -> list[InputLine]:
    """The lines of a file that are not blank."""
    if path.suffix.lower() == ".json" and not as_json:
        raise InvalidInput(
            f"{path} is one JSON document; --file takes a fact a line.",
            way_out="Write an object a line into a .jsonl file, or say --jsonl if it is that. For chats: cofire ingest FILE",
        )
    raw = read_input_bytes(TYPING_HINT) if is_stream(path) else _read_file(path)
    json_inside = as_json or path.suffix.lower() in JSON_LINES_SUFFIXES
    return [
        InputLine(number, describe_origin(path), line, json_inside)
        for number, line in enumerate(raw.split(b"\n"), start=1)
        if line.strip()
    ]


def refuse_unreadable_file(path: Path) -> None:
    """Say at once that a file cannot be read, before anything is made for what it holds."""
    with _translate_read_errors(path), path.open("rb"):
        pass


def read_input_bytes(invitation: str) -> bytes:
    """Everything on standard input; nothing where it is closed. Whoever sits at a terminal is told what to type."""
    if sys.stdin is None:
        return b""
    if sys.stdin.isatty():
        show_note(invitation)
    return sys.stdin.buffer.read()


def _read_file(path: Path) -> bytes:
    with _translate_read_errors(path):
        return path.read_bytes()


def _translate_read_errors(path: Path) -> AbstractContextManager[None]:
    return map_exceptions(
        {OSError: InvalidInput, ValueError: InvalidInput},
        problem=f"The file {path} cannot be read: {{error}}.",
        way_out="Check its name and its permissions.",
    )


def _parse_json_line(text: str) -> str | dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidFact(
            f"This is not JSON: {error}.", way_out='A line is an object as in {"text": "Tea at four."}'
        ) from error
    if not isinstance(found, str | dict):
        raise InvalidFact(
            f"A fact cannot be made of {type(found).__name__}.",
            way_out='A line is an object as in {"text": "Tea at four."}',
        )
    return found
