"""Incoming: facts from standard input and from files, line by line. What cannot be read is said with its place."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cofire.doors.cli.screen import note
from cofire.errors import InvalidFact, InvalidInput, map_exceptions

JSON_LINES = (".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file that holds something, as its bytes."""

    number: int
    origin: str
    raw: bytes
    as_json: bool

    def given(self) -> str | dict[str, Any]:
        """What the line says: a text, or the fields of a fact."""
        text = decoded(self.raw).strip()
        return _from_json(text) if self.as_json else text


def standard_input() -> str:
    """All of standard input as one text, without the line end that closes it."""
    return decoded(_all_input()).removesuffix("\n").removesuffix("\r")


def lines(path: Path, *, as_json: bool) -> list[Line]:
    """The lines of a file that are not blank."""
    origin = "standard input" if str(path) == "-" else str(path)
    raw = _all_input() if str(path) == "-" else _read(path)
    json_inside = as_json or path.suffix.lower() in JSON_LINES
    return [
        Line(number, origin, line, json_inside) for number, line in enumerate(raw.split(b"\n"), start=1) if line.strip()
    ]


def decoded(raw: bytes) -> str:
    """Bytes as text, which they must be."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidFact(
            f"The input is not text in UTF-8: byte {error.start + 1} is 0x{raw[error.start]:02x}.",
            way_out="Convert it to UTF-8 first, for instance with iconv.",
        ) from error


def _all_input() -> bytes:
    """Everything on standard input; nothing where it is closed."""
    if sys.stdin is None:
        return b""
    if sys.stdin.isatty():
        note("Type what to remember; end with Ctrl-D on a line of its own.")
    return sys.stdin.buffer.read()


def _read(path: Path) -> bytes:
    with map_exceptions(
        {OSError: InvalidInput, ValueError: InvalidInput},
        problem=f"The file {path} cannot be read: {{error}}.",
        way_out="Check its name and its permissions.",
    ):
        return path.read_bytes()


def _from_json(text: str) -> str | dict[str, Any]:
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
