"""JSON items: the messages or conversations of a JSON or JSON Lines text, each with its place. No I/O."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from cofire.errors import InvalidInput
from cofire.ingesting.conversations import Item

_WAY_OUT = "Mend the place, or export the file again."


def looks_like_json(text: str) -> bool:
    """Whether a text opens as an object or a list does."""
    return text.lstrip().startswith(("{", "["))


def items(text: str, *, by_line: bool) -> Iterator[Item]:
    """The elements of a list, the lines of JSON Lines, which need not be called so, or the one object there is."""
    if by_line:
        return _lines(text)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg != "Extra data":
            raise _broken(error, error.lineno) from error
        return _lines(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"This is not JSON: {error}.", way_out=_WAY_OUT) from error
    return _elements(value)


def _elements(value: Any) -> Iterator[Item]:
    if not isinstance(value, list):
        return iter([Item("The file", value)])
    return (Item(f"Element {number}", element, number) for number, element in enumerate(value, start=1))


def _lines(text: str) -> Iterator[Item]:
    """One value a line. Only line ends part lines: JSON texts may hold any other separator."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield Item(f"Line {number}", _value(line, number), number)


def _value(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _broken(error, number) from error


def _broken(error: Exception, line: int) -> InvalidInput:
    what = f"{error.msg}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
    return InvalidInput(f"Line {line} is not JSON: {what}.", way_out=_WAY_OUT)
