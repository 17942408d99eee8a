"""The words of requests: texts, names, ids, times and settings, each with the schema that OpenAPI shows and the check behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from cofire.presets import MODES, PRESETS, STRATEGIES
from cofire.settings import KNOBS, Knob

# Something besides spaces, and no NUL: what memory asks of every text.
SAID = r"^[^\x00]*[^\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000][^\x00]*$"
ULID = r"^[0-9A-HJKMNP-TV-Z]{26}$"
LONGEST_QUESTION, LONGEST_NAME = 10_000, 1_000
MOST_NAMES = 100
JSON_KINDS = {bool: "boolean", int: "integer", float: "number", str: "string"}


def _whole(given: Any) -> Any:
    """JSON knows one kind of number: 3.0 is 3."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


def _moment(given: str) -> str:
    """Refuse what is no time, or one that has no place in UTC."""
    try:
        found = datetime.fromisoformat(given.strip())
        found.astimezone(UTC) if found.tzinfo else found
    except (ValueError, OverflowError) as error:
        raise ValueError("give a date or a time in ISO 8601, as in 2026-05-08T13:56:00+02:00") from error
    return given


def one_of(names: Iterable[str]) -> Callable[[str], str]:
    """A check that a word is one of some."""
    known = tuple(names)

    def checked(given: str) -> str:
        if given not in known:
            raise ValueError(f"choose one of {', '.join(known)}")
        return given

    return checked


def settable() -> list[Knob[Any]]:
    """Settings that may be changed from outside: not those of free text, which name files, folders and programs."""
    return [one for one in KNOBS.values() if one.choices or not isinstance(one.default, str)]


def _overrides(given: dict[str, Any]) -> dict[str, Any]:
    """Settings by name, each of its kind."""
    known = {one.name: one for one in settable()}
    for name, value in given.items():
        if name not in known:
            raise ValueError(f"there is no setting {name} that may be given here")
        if not is_of_kind(value, known[name]):
            raise ValueError(f"{name} must be {known[name].allowed}")
    return given


def is_of_kind(value: object, knob: Knob[Any]) -> bool:
    """Whether a JSON value is what a setting holds, taken strictly: "true" is not true."""
    kind = type(knob.default)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(_whole(value)) is kind


def setting_schema(knob: Knob[Any]) -> dict[str, Any]:
    """What a setting may be, as JSON Schema."""
    schema: dict[str, Any] = {"type": JSON_KINDS[type(knob.default)], "description": knob.help}
    bounds = {"minimum": knob.low, "maximum": knob.high}
    schema |= {name: bound for name, bound in bounds.items() if bound is not None}
    return schema | ({"enum": list(knob.choices)} if knob.choices else {})


def _enum(names: Iterable[str]) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "enum": list(names)})


# How long a fact's text may be is a setting, which the verb reads; the walls bound every body.
Text = Annotated[str, Field(min_length=1, pattern=SAID)]
QuestionText = Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION, pattern=SAID)]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, pattern=SAID)]
Id = Annotated[str, Field(pattern=ULID)]
Names = Name | Annotated[list[Name], Field(min_length=1, max_length=MOST_NAMES)]
Tags = Annotated[list[Name], Field(max_length=MOST_NAMES)]
Ids = Annotated[list[Id], Field(min_length=1, max_length=1_000)]
# In an address a list is a name that is repeated; an empty one is the same as none.
SomeNames = Annotated[list[Name], Field(max_length=MOST_NAMES)]
SomeIds = Annotated[list[Id], Field(max_length=MOST_NAMES)]
Moment = Annotated[
    str,
    AfterValidator(_moment),
    WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "string", "format": "date"}]}),
]
Count = Annotated[int, Field(ge=1, le=1_000), BeforeValidator(_whole)]
Community = Annotated[int, Field(ge=0, le=2**53 - 1), BeforeValidator(_whole)]
Budget = Annotated[int, Field(ge=1, le=10_000_000), BeforeValidator(_whole)]
Depth = Annotated[int, Field(ge=1, le=10), BeforeValidator(_whole)]
Share = Annotated[float, Field(ge=0, le=1)]
Mode = Annotated[str, AfterValidator(one_of(MODES)), _enum(MODES)]
Strategy = Annotated[str, AfterValidator(one_of(STRATEGIES)), _enum(STRATEGIES)]
Preset = Annotated[str, AfterValidator(one_of(PRESETS)), _enum(PRESETS)]
Overrides = Annotated[
    dict[str, Any],
    AfterValidator(_overrides),
    WithJsonSchema(
        {
            "type": "object",
            "properties": {one.name: setting_schema(one) for one in settable()},
            "additionalProperties": False,
        }
    ),
]
