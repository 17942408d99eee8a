"""Wording: what is wrong with the shape of a request, in plain words and by the names that the caller wrote. Reads pydantic's errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from cofire.keyword_arguments import find_near_miss

IN_WORDS = {
    "missing": "this field is needed",
    "extra_forbidden": "there is no such field",
    "string_type": "give text",
    "string_too_long": "give at most {max_length:,} characters",
    "string_unicode": "it holds half of a character (a lone surrogate)",
    "int_type": "give a whole number",
    "int_parsing": "give a whole number",
    "int_from_float": "give a whole number",
    "int_parsing_size": "the number has too many digits",
    "float_type": "give a number",
    "float_parsing": "give a number",
    "bool_type": "give true or false",
    "bool_parsing": "give true or false",
    "greater_than_equal": "give {ge:,} or more",
    "less_than_equal": "give {le:,} or less",
    "list_type": "give a list",
    "too_short": "give at least {min_length:,}",
    "too_long": "give at most {max_length:,}",
    "dict_type": "give an object",
    "model_type": "give an object",
    "model_attributes_type": "give an object",
}
# The first row that fits holds: what is not UTF-8 is a ValueError too.
UNREAD: Mapping[type[Exception], str] = {
    UnicodeDecodeError: "The body is not UTF-8",
    RecursionError: "The body is nested too deep",
    ValueError: "The body has a number of too many digits",
}
BODY_NEEDED = "A body is needed"
OF_OUR_OWN = "Value error, "


def said(wrong: Mapping[str, Any]) -> str:
    """Where it is wrong and what is, without what was given: that may be anything.

    >>> said({"type": "string_type", "loc": ("body", "facts", 1, "text"), "msg": "Input should be a valid string"})
    'facts[1].text: give text'
    """
    if wrong["type"] == "json_invalid":
        return broken(wrong)
    if wrong["loc"] == ("body",) and wrong["type"] == "missing":
        return BODY_NEEDED
    words = IN_WORDS.get(wrong["type"])
    told = words.format(**wrong.get("ctx", {})) if words else wrong["msg"].removeprefix(OF_OUR_OWN)
    near = wrong.get("ctx", {}).get("near")
    return f"{place(wrong['loc'])}: {told}{f'; did you mean {near}?' if near else ''}"


def all_said(error: ValidationError, name: str) -> str:
    """All that is wrong with a value that was read alone; `name` stands for the value itself."""
    placed = [{**wrong, "loc": ("body", *wrong["loc"]) if wrong["loc"] else (name,)} for wrong in error.errors()]
    return "; ".join(dict.fromkeys(map(said, placed)))


def as_sentence(problem: str) -> str:
    """
    >>> as_sentence("k: give a whole number"), as_sentence("top_k: there is no such field; did you mean k?")
    ('k: give a whole number.', 'top_k: there is no such field; did you mean k?')
    """
    return problem if problem.endswith((".", "?")) else f"{problem}."


def with_near_misses(error: ValidationError, fields: frozenset[str]) -> ValidationError:
    """The same errors; those about a field that is not among `fields` have the nearest of these as `near`."""
    details = [
        InitErrorDetails(type=_kind(wrong, fields), loc=wrong["loc"], input=wrong["input"]) for wrong in error.errors()
    ]
    return ValidationError.from_exception_data(error.title, details)


def _kind(wrong: Mapping[str, Any], fields: frozenset[str]) -> PydanticCustomError:
    context = dict(wrong.get("ctx", {}))
    if wrong["type"] == "extra_forbidden" and len(wrong["loc"]) == 1:
        near = find_near_miss(str(wrong["loc"][0]), fields)
        context |= {"near": near} if near else {}
    return PydanticCustomError(wrong["type"], wrong["msg"], context or None)


def place(loc: Sequence[str | int]) -> str:
    """A place in a body as one would write it; in an address, where a list is a name that is repeated, the name alone.

    >>> place(("body", "facts", 1, "text")), place(("query", "ids", 0)), place(("body",))
    ('facts[1].text', 'ids', 'body')
    """
    where, *steps = loc
    if not steps:
        return str(where)
    named = steps if where == "body" else steps[:1]
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in named).removeprefix(".")


def broken(wrong: Mapping[str, Any]) -> str:
    """Why a body is no JSON, and where.

    >>> broken({"type": "json_invalid", "loc": ("body", 9), "ctx": {"error": "Expecting value"}})
    'The body is no JSON: Expecting value, at character 9'
    """
    return f"The body is no JSON: {wrong['ctx']['error']}, at character {wrong['loc'][1]}"


def unread(error: BaseException | None) -> str | None:
    """Why a body could not be read at all, which FastAPI tells only as the cause of its 400; None if that is not what went wrong."""
    return next((words for kind, words in UNREAD.items() if isinstance(error, kind)), None)
