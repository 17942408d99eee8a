"""What an agent says to a tool, understood: other names for the same thing, and values that are nearly of the right kind."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from math import isfinite
from typing import Any

from cofire.doors.mcp.tools import Kind, Tool
from cofire.errors import InvalidInput
from cofire.xray import shortened

MOST_SHOWN = 100

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_YES = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def understood(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments under the tool's own names; what is empty counts as unsaid.

    >>> from cofire.doors.mcp.tools import TOOLS
    >>> understood(TOOLS["recall"], {"question": "Who leads?", "topK": "3", "tag": "team"})
    {'query': 'Who leads?', 'k': 3, 'tags': ['team']}
    """
    said: dict[str, Any] = {}
    for spelled, value in given.items():
        if value is None or value in ("", [], {}):
            continue
        name = _name(tool, spelled)
        read = _read(tool.takes[name].kind, value, spelled)
        if said.setdefault(name, read) != read:
            raise InvalidInput(f"{tool.name} was told two different things as {name}.", way_out="Say it once.")
    _refuse_what_is_missing(tool, said)
    return said


def _name(tool: Tool, spelled: str) -> str:
    """The tool's own name for what was said. A name of its own goes before another's other name."""
    plain = snake(spelled)
    if plain in tool.takes:
        return plain
    for name, parameter in tool.takes.items():
        if plain in parameter.also:
            return name
    near = get_close_matches(plain, tool.takes, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    takes = f"It takes {', '.join(tool.takes) or 'nothing'}."
    raise InvalidInput(f"{tool.name} takes no {spelled!r}.", way_out=f"{hint}{takes}")


def snake(spelled: str) -> str:
    """A name in the spelling of Python.

    >>> snake("factId"), snake("top-k")
    ('fact_id', 'top_k')
    """
    return _HUMP.sub("_", spelled).replace("-", "_").lower()


def _refuse_what_is_missing(tool: Tool, said: Mapping[str, Any]) -> None:
    missing = [name for name, one in tool.takes.items() if one.required and name not in said]
    if missing:
        raise InvalidInput(f"{tool.name} needs {', '.join(missing)}.", way_out=f"Say {tool.name}({_example(tool)}).")


def _example(tool: Tool) -> str:
    return ", ".join(f"{name}=…" for name, one in tool.takes.items() if one.required)


def _read(kind: Kind, value: Any, spelled: str) -> Any:
    try:
        return _READERS[kind](value)
    except (ValueError, TypeError, KeyError, OverflowError) as problem:
        wanted = {"text": "text", "texts": "a list of texts", "whole": "a whole number", "yes": "true or false"}
        wanted["mapping"] = "a JSON object"
        way_out = f"Give {wanted.get(kind, 'a number')}."
        raise InvalidInput(f"{spelled} cannot be {_shown(value)}.", way_out=way_out) from problem


def _shown(value: Any) -> str:
    """What was said, as far as it can be repeated: Python writes no number of thousands of digits."""
    try:
        return shortened(repr(value), MOST_SHOWN)
    except ValueError:
        return "that"


def _text(value: Any) -> str:
    """A text, also where it is the only one of a list."""
    if isinstance(value, list) and len(value) == 1:
        (value,) = value
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _texts(value: Any) -> list[str]:
    """Texts, also from a single one, or from a list that came written as JSON."""
    listed = _written_out(value) if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise TypeError(value)
    return listed


def _written_out(text: str) -> Any:
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return [text]
    return read if isinstance(read, list) else [text]


def _whole(value: Any) -> int:
    if isinstance(value, bool) or int(_number(value)) != float(value):
        raise ValueError(value)
    return int(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isfinite(float(value)):
        raise ValueError(value)
    return float(value)


def _yes(value: Any) -> bool:
    return value if isinstance(value, bool) else _YES[str(value).lower()]


def _mapping(value: Any) -> dict[str, Any]:
    """An object, also where it came written as JSON."""
    read = json.loads(value) if isinstance(value, str) else value
    if not isinstance(read, dict):
        raise TypeError(value)
    return read


_READERS: Mapping[Kind, Callable[[Any], Any]] = {
    "text": _text,
    "texts": _texts,
    "whole": _whole,
    "number": _number,
    "yes": _yes,
    "mapping": _mapping,
}
