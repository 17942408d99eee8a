"""The words of requests: texts, names, ids, times and settings, each with the schema that OpenAPI shows and the check behind it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, TypeAdapter, WithJsonSchema, WrapValidator

from cofire.errors import InvalidQuestion, NotFound
from cofire.metadata_filter import COMPARISONS, conditions, parse_expressions
from cofire.presets import MODES, PRESETS, STRATEGIES
from cofire.settings import KNOBS, Knob

# Something besides spaces, and no NUL: what memory asks of every text.
SEEN = r"[^\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
SAID = rf"^[^\x00]*{SEEN}[^\x00]*$"
ULID = r"[0-9A-HJKMNP-TV-Z]{26}"
IDS_LOOK = "an id has 26 digits and capital letters, as in 01M7GRXZ72ER9HC7SM0EVVJFVW"
LONGEST_QUESTION, LONGEST_NAME = 10_000, 1_000
MOST_NAMES = 100
EDGE_MODES = ("reinforce", "update", "skip", "error")
SHADOW_KINDS = ("recall", "assist")
JSON_KINDS = {bool: "boolean", int: "integer", float: "number", str: "string"}


def _whole(given: Any) -> Any:
    """JSON knows one kind of number: 3.0 is 3."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


def _said(given: str) -> str:
    """Refuse what says nothing, and what is no text at all."""
    if "\x00" in given:
        raise ValueError("it holds a NUL character, which no text has")
    if not re.search(SEEN, given):
        raise ValueError("it is blank; give some text")
    return given


def _id(given: str) -> str:
    """Refuse what cannot be an id."""
    if not re.fullmatch(ULID, given):
        raise ValueError(IDS_LOOK)
    return given


def _id_in_path(given: str) -> str:
    """No fact has an id that cannot be one."""
    if not re.fullmatch(ULID, given):
        raise NotFound(f"There is no such fact: {IDS_LOOK}.", way_out="List the ids with GET /api/v1/facts.")
    return given


def _ids(given: str) -> str:
    """Refuse what is not ids with commas between them."""
    for one in given.split(","):
        _id(one)
    return given


def _one_or_several(given: object, _: object) -> Any:
    """A name or a list of them, so that an error speaks of what was given and not of both."""
    if isinstance(given, str):
        return ONE_NAME.validate_python(given, strict=True)
    if isinstance(given, list):
        return SEVERAL_NAMES.validate_python(given, strict=True)
    raise ValueError("give text, or a list of texts")


def _value(given: object) -> object:
    """What a setting of any kind may be."""
    if not isinstance(given, bool | int | float | str):
        raise ValueError("give true or false, a number or text")
    return given


def _moment(given: str) -> str:
    """Refuse what is no time, or one that has no place in UTC."""
    try:
        found = datetime.fromisoformat(given.strip())
        found.astimezone(UTC) if found.tzinfo else found
    except (ValueError, OverflowError) as error:
        raise ValueError("give a date or a time in ISO 8601, as in 2026-05-08T13:56:00+02:00") from error
    return given


def _metadata_filter(given: dict[str, Any]) -> dict[str, Any]:
    """Refuse a filter by metadata that cannot be applied."""
    try:
        conditions(given)
    except InvalidQuestion as error:
        raise ValueError(str(error)) from error
    return given


def _expression(given: str) -> str:
    """Refuse what is no condition on metadata."""
    try:
        parse_expressions([given])
    except InvalidQuestion as error:
        raise ValueError(str(error)) from error
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
            raise ValueError(f"there is no setting {name!r} that may be given here")
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


def _shown(pattern: str, **bounds: int) -> Any:
    """A pattern for OpenAPI alone: the check behind it says better what is wrong."""
    return Field(json_schema_extra={"pattern": pattern, **bounds})


# How long a fact's text may be is a setting, which the verb reads; the walls bound every body.
Text = Annotated[str, AfterValidator(_said), _shown(SAID, minLength=1)]
QuestionText = Annotated[str, Field(max_length=LONGEST_QUESTION), AfterValidator(_said), _shown(SAID, minLength=1)]
Name = Annotated[str, Field(max_length=LONGEST_NAME), AfterValidator(_said), _shown(SAID, minLength=1)]
Id = Annotated[str, AfterValidator(_id), _shown(f"^{ULID}$")]
IdInPath = Annotated[str, AfterValidator(_id_in_path), _shown(f"^{ULID}$")]
IdsWithCommas = Annotated[str, AfterValidator(_ids), _shown(f"^{ULID}(,{ULID})*$")]
SeveralNames = Annotated[list[Name], Field(min_length=1, max_length=MOST_NAMES)]
ONE_NAME: TypeAdapter[str] = TypeAdapter(Name)
SEVERAL_NAMES: TypeAdapter[list[str]] = TypeAdapter(SeveralNames)
Names = Annotated[Name | SeveralNames, WrapValidator(_one_or_several)]
Tags = Annotated[list[Name], Field(max_length=MOST_NAMES)]
Ids = Annotated[list[Id], Field(min_length=1, max_length=1_000)]
# In an address a list is a name that is repeated; an empty one is the same as none.
SomeNames = Annotated[list[Name], Field(max_length=MOST_NAMES)]
SomeIds = Annotated[list[Id], Field(max_length=MOST_NAMES)]
# A key alone, or a key and a value with an operator between.
_CONDITION = rf"^\s*{SEEN[:-1]}=<>!][^=<>!]*((!=|[<>]=?|=)[\s\S]*)?$"
Expressions = Annotated[
    list[Annotated[str, Field(max_length=LONGEST_NAME), AfterValidator(_expression), _shown(_CONDITION, minLength=1)]],
    Field(max_length=MOST_NAMES),
]
_SCALAR = {"type": ["string", "number", "boolean", "null"]}
_SCALARS = {"anyOf": [_SCALAR, {"type": "array", "items": _SCALAR, "minItems": 1}]}
_OPERATORS = {"eq": _SCALARS, "ne": _SCALARS, "exists": {"type": "boolean"}} | {
    name: {"type": ["string", "number"]} for name in COMPARISONS
}
MetadataFilter = Annotated[
    dict[str, Any],
    AfterValidator(_metadata_filter),
    WithJsonSchema(
        {
            "type": "object",
            "description": "Conditions on metadata by key: a value, a list of which any matches, or operators with values.",
            "propertyNames": {"minLength": 1},
            "minProperties": 1,
            "additionalProperties": {
                "anyOf": [
                    *_SCALARS["anyOf"],
                    {
                        "type": "object",
                        "properties": _OPERATORS | {"not": _SCALARS},
                        "additionalProperties": False,
                        "minProperties": 1,
                    },
                ]
            },
            "examples": [{"project": "x", "priority": {"gte": 3}}],
        }
    ),
]
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
SettingValue = Annotated[
    bool | int | float | str,
    PlainValidator(_value, json_schema_input_type=bool | int | float | str),
]
Mode = Annotated[str, AfterValidator(one_of(MODES)), _enum(MODES)]
EdgeMode = Annotated[str, AfterValidator(one_of(EDGE_MODES)), _enum(EDGE_MODES)]
ShadowKind = Annotated[str, AfterValidator(one_of(SHADOW_KINDS)), _enum(SHADOW_KINDS)]
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
