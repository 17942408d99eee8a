"""Request bodies and query parameters as pydantic models, with their field types."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)

from cofire.errors import InvalidQuestion, NotFound
from cofire.http import errors
from cofire.settings.knobs import KNOBS, Knob
from cofire.settings.presets import PRESETS, RECALL_MODES, STRATEGIES
from cofire.stores.metadata_filter import COMPARISON_OPERATORS, parse_conditions, parse_expressions

# Something besides spaces, and no NUL: what memory asks of every text.
VISIBLE_CHARACTER = r"[^\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
TEXT_PATTERN = rf"^[^\x00]*{VISIBLE_CHARACTER}[^\x00]*$"
ULID_PATTERN = r"[0-9A-HJKMNP-TV-Z]{26}"
ID_FORMAT_HINT = "an id has 26 digits and capital letters, as in 01M7GRXZ72ER9HC7SM0EVVJFVW"
MAX_QUESTION_LENGTH, MAX_NAME_LENGTH = 10_000, 1_000
MAX_NAMES = 100
EDGE_MODES = ("reinforce", "update", "skip", "error")
SHADOW_KINDS = ("recall", "assist")
JSON_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}


def _normalise_integer(given: Any) -> Any:
    """JSON knows one kind of number: 3.0 is 3."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


def _check_text(given: str) -> str:
    """Refuse what says nothing, and what is no text at all."""
    if "\x00" in given:
        raise ValueError("it holds a NUL character, which no text has")
    if not re.search(VISIBLE_CHARACTER, given):
        raise ValueError("it is blank; give some text")
    return given


def _check_id(given: str) -> str:
    """Refuse what cannot be an id."""
    if not re.fullmatch(ULID_PATTERN, given):
        raise ValueError(ID_FORMAT_HINT)
    return given


def _check_path_id(given: str) -> str:
    """No fact has an id that cannot be one."""
    if not re.fullmatch(ULID_PATTERN, given):
        raise NotFound(f"There is no such fact: {ID_FORMAT_HINT}.", way_out="List the ids with GET /api/v1/facts.")
    return given


def _check_id_list(given: str) -> str:
    """Refuse what is not ids with commas between them."""
    for one in given.split(","):
        _check_id(one)
    return given


def _validate_names(given: object, _: object) -> Any:
    """A name or a list of them, so that an error speaks of what was given and not of both."""
    if isinstance(given, str):
        return NAME_ADAPTER.validate_python(given, strict=True)
    if isinstance(given, list):
        return NAME_LIST_ADAPTER.validate_python(given, strict=True)
    raise ValueError("give text, or a list of texts")


def _check_setting_value(given: object) -> object:
    """What a setting of any kind may be."""
    if not isinstance(given, bool | int | float | str):
        raise ValueError("give true or false, a number or text")
    return given


def _check_time(given: str) -> str:
    """Refuse what is no time, or one that has no place in UTC."""
    try:
        found = datetime.fromisoformat(given.strip())
        found.astimezone(UTC) if found.tzinfo else found
    except (ValueError, OverflowError) as error:
        raise ValueError("give a date or a time in ISO 8601, as in 2026-05-08T13:56:00+02:00") from error
    return given


def _check_metadata_filter(given: dict[str, Any]) -> dict[str, Any]:
    """Refuse a filter by metadata that cannot be applied."""
    try:
        parse_conditions(given)
    except InvalidQuestion as error:
        raise ValueError(str(error)) from error
    return given


def _check_expression(given: str) -> str:
    """Refuse what is no condition on metadata."""
    try:
        parse_expressions([given])
    except InvalidQuestion as error:
        raise ValueError(str(error)) from error
    return given


def make_choice_check(names: Iterable[str]) -> Callable[[str], str]:
    """A check that a word is one of some."""
    known = tuple(names)

    def checked(given: str) -> str:
        if given not in known:
            raise ValueError(f"choose one of {', '.join(known)}")
        return given

    return checked


def list_settable_settings() -> list[Knob[Any]]:
    """Settings that may be changed from outside: not those of free text, which name files, folders and programs."""
    return [one for one in KNOBS.values() if one.choices or not isinstance(one.default, str)]


def _check_overrides(given: dict[str, Any]) -> dict[str, Any]:
    """Settings by name, each of its kind."""
    known = {one.name: one for one in list_settable_settings()}
    for name, value in given.items():
        if name not in known:
            raise ValueError(f"there is no setting {name!r} that may be given here")
        if not is_of_setting_type(value, known[name]):
            raise ValueError(f"{name} must be {known[name].allowed}")
    return given


def is_of_setting_type(value: object, knob: Knob[Any]) -> bool:
    """Whether a JSON value is what a setting holds, taken strictly: "true" is not true."""
    kind = type(knob.default)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(_normalise_integer(value)) is kind


def setting_schema(knob: Knob[Any]) -> dict[str, Any]:
    """What a setting may be, as JSON Schema."""
    schema: dict[str, Any] = {"type": JSON_TYPES[type(knob.default)], "description": knob.help}
    bounds = {"minimum": knob.low, "maximum": knob.high}
    schema |= {name: bound for name, bound in bounds.items() if bound is not None}
    return schema | ({"enum": list(knob.choices)} if knob.choices else {})


def _make_enum_schema(names: Iterable[str]) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "enum": list(names)})


def _make_pattern_field(pattern: str, **bounds: int) -> Any:
    """A pattern for OpenAPI alone: the check behind it says better what is wrong."""
    return Field(json_schema_extra={"pattern": pattern, **bounds})


# How long a fact's text may be is a setting, which the verb reads; the walls bound every body.
FactText = Annotated[str, AfterValidator(_check_text), _make_pattern_field(TEXT_PATTERN, minLength=1)]
QuestionText = Annotated[
    str,
    Field(max_length=MAX_QUESTION_LENGTH),
    AfterValidator(_check_text),
    _make_pattern_field(TEXT_PATTERN, minLength=1),
]
Name = Annotated[
    str, Field(max_length=MAX_NAME_LENGTH), AfterValidator(_check_text), _make_pattern_field(TEXT_PATTERN, minLength=1)
]
Id = Annotated[str, AfterValidator(_check_id), _make_pattern_field(f"^{ULID_PATTERN}$")]
PathId = Annotated[str, AfterValidator(_check_path_id), _make_pattern_field(f"^{ULID_PATTERN}$")]
CommaSeparatedIds = Annotated[
    str, AfterValidator(_check_id_list), _make_pattern_field(f"^{ULID_PATTERN}(,{ULID_PATTERN})*$")
]
NameList = Annotated[list[Name], Field(min_length=1, max_length=MAX_NAMES)]
NAME_ADAPTER: TypeAdapter[str] = TypeAdapter(Name)
NAME_LIST_ADAPTER: TypeAdapter[list[str]] = TypeAdapter(NameList)
OneOrMoreNames = Annotated[Name | NameList, WrapValidator(_validate_names)]
Tags = Annotated[list[Name], Field(max_length=MAX_NAMES)]
Ids = Annotated[list[Id], Field(min_length=1, max_length=1_000)]
# In an address a list is a name that is repeated; an empty one is the same as none.
QueryNames = Annotated[list[Name], Field(max_length=MAX_NAMES)]
IdList = Annotated[list[Id], Field(max_length=MAX_NAMES)]
# A key alone, or a key and a value with an operator between.
_CONDITION_PATTERN = rf"^\s*{VISIBLE_CHARACTER[:-1]}=<>!][^=<>!]*((!=|[<>]=?|=)[\s\S]*)?$"
WhereExpressions = Annotated[
    list[
        Annotated[
            str,
            Field(max_length=MAX_NAME_LENGTH),
            AfterValidator(_check_expression),
            _make_pattern_field(_CONDITION_PATTERN, minLength=1),
        ]
    ],
    Field(max_length=MAX_NAMES),
]
_SCALAR_SCHEMA = {"type": ["string", "number", "boolean", "null"]}
_SCALARS_SCHEMA = {"anyOf": [_SCALAR_SCHEMA, {"type": "array", "items": _SCALAR_SCHEMA, "minItems": 1}]}
_OPERATOR_SCHEMAS = {"eq": _SCALARS_SCHEMA, "ne": _SCALARS_SCHEMA, "exists": {"type": "boolean"}} | {
    name: {"type": ["string", "number"]} for name in COMPARISON_OPERATORS
}
MetadataFilter = Annotated[
    dict[str, Any],
    AfterValidator(_check_metadata_filter),
    WithJsonSchema(
        {
            "type": "object",
            "description": "Conditions on metadata by key: a value, a list of which any matches, or operators with values.",
            "propertyNames": {"minLength": 1},
            "minProperties": 1,
            "additionalProperties": {
                "anyOf": [
                    *_SCALARS_SCHEMA["anyOf"],
                    {
                        "type": "object",
                        "properties": _OPERATOR_SCHEMAS | {"not": _SCALARS_SCHEMA},
                        "additionalProperties": False,
                        "minProperties": 1,
                    },
                ]
            },
            "examples": [{"project": "x", "priority": {"gte": 3}}],
        }
    ),
]
TimeText = Annotated[
    str,
    AfterValidator(_check_time),
    WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "string", "format": "date"}]}),
]
ResultLimit = Annotated[int, Field(ge=1, le=1_000), BeforeValidator(_normalise_integer)]
CommunityNumber = Annotated[int, Field(ge=0, le=2**53 - 1), BeforeValidator(_normalise_integer)]
TokenBudget = Annotated[int, Field(ge=1, le=10_000_000), BeforeValidator(_normalise_integer)]
Depth = Annotated[int, Field(ge=1, le=10), BeforeValidator(_normalise_integer)]
UnitFraction = Annotated[float, Field(ge=0, le=1)]
SettingValue = Annotated[
    bool | int | float | str,
    PlainValidator(_check_setting_value, json_schema_input_type=bool | int | float | str),
]
RecallMode = Annotated[str, AfterValidator(make_choice_check(RECALL_MODES)), _make_enum_schema(RECALL_MODES)]
EdgeMode = Annotated[str, AfterValidator(make_choice_check(EDGE_MODES)), _make_enum_schema(EDGE_MODES)]
ShadowKind = Annotated[str, AfterValidator(make_choice_check(SHADOW_KINDS)), _make_enum_schema(SHADOW_KINDS)]
StrategyName = Annotated[str, AfterValidator(make_choice_check(STRATEGIES)), _make_enum_schema(STRATEGIES)]
PresetName = Annotated[str, AfterValidator(make_choice_check(PRESETS)), _make_enum_schema(PRESETS)]
SettingOverrides = Annotated[
    dict[str, Any],
    AfterValidator(_check_overrides),
    WithJsonSchema(
        {
            "type": "object",
            "properties": {one.name: setting_schema(one) for one in list_settable_settings()},
            "additionalProperties": False,
        }
    ),
]


MAX_BATCH_FACTS = 1_000


class StrictModel(BaseModel):
    """What refuses a field that it does not have, with the one that was probably meant."""

    @model_validator(mode="wrap")
    @classmethod
    def _name_near_misses(cls, given: Any, read: Callable[[Any], Self]) -> Self:
        try:
            return read(given)
        except ValidationError as error:
            raise errors.add_near_misses(error, frozenset(cls.model_fields)) from error


class RequestBody(StrictModel):
    """A body. Numbers are numbers and texts are texts, nothing is guessed."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def keywords(self, *besides: str) -> dict[str, Any]:
        """What was said, in the keywords of Memory."""
        return {name: value for name, value in self if name not in besides and value is not None}


class QueryParameters(StrictModel):
    """What stands in an address after the question mark, where everything is text at first."""

    model_config = ConfigDict(extra="forbid")


def _choose_by_field(label: str, shape: type[RequestBody], *, otherwise: type[RequestBody]) -> WrapValidator:
    """Of two shapes of a body, that which has a field; so that an error speaks of one shape and not of both."""

    def read(given: object, _: object) -> RequestBody:
        has = isinstance(given, dict) and label in given
        return (shape if has else otherwise).model_validate(given)

    return WrapValidator(read)


class FactBody(RequestBody):
    """A fact to remember."""

    text: FactText
    tags: Tags | None = None
    category: Name | None = None
    subject: Name | None = None
    at: TimeText | None = None
    session: Name | None = None
    speaker: Name | None = None
    scope: Name | None = None
    source: Name | None = None
    metadata: dict[str, Any] | None = None
    valid_from: TimeText | None = None
    valid_until: TimeText | None = None
    expires: TimeText | None = None
    supersedes: Id | IdList | None = None


@dataclass(frozen=True, slots=True)
class RefusedFact:
    """An item that is no fact, and what is wrong with its shape."""

    problem: str


def _validate_fact_item(given: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """A fact. With errors "skip", one whose shape is wrong is told of with the others that are skipped."""
    try:
        return read(given)
    except ValidationError as error:
        if info.data.get("errors") != "skip":
            raise
        return RefusedFact(errors.as_sentence(errors.describe_all_problems(error, "fact")))


class FactBatchBody(RequestBody):
    """Several facts to remember. With errors "skip" those that are refused are left out, otherwise nothing is stored."""

    # Read first, since it decides what becomes of a fact whose shape is wrong.
    errors: Literal["raise", "skip"] = "raise"
    facts: Annotated[
        list[Annotated[FactBody, WrapValidator(_validate_fact_item)]], Field(min_length=1, max_length=MAX_BATCH_FACTS)
    ]


RememberBody = Annotated[FactBatchBody | FactBody, _choose_by_field("facts", FactBatchBody, otherwise=FactBody)]


class UpdateBody(RequestBody):
    """What a fact says from now on, in at least one field. What is left out stays, null takes a value away."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    text: FactText = ""
    tags: Tags | None = None
    category: Name | None = None
    subject: Name | None = None
    at: TimeText | None = None
    metadata: dict[str, Any] | None = None
    valid_from: TimeText | None = None
    valid_until: TimeText | None = None
    expires: TimeText | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError(f"nothing says what to change; give some of {', '.join(type(self).model_fields)}")
        return self


class FilterBody(RequestBody):
    """Which facts are meant. Of several values any holds; of tags, a fact must have all."""

    scope: OneOrMoreNames | None = None
    session: OneOrMoreNames | None = None
    tags: OneOrMoreNames | None = None
    category: OneOrMoreNames | None = None
    speaker: OneOrMoreNames | None = None
    where: MetadataFilter | None = None
    since: TimeText | None = None
    until: TimeText | None = None
    as_of: TimeText | None = None
    community: CommunityNumber | None = None


class RecallBody(FilterBody):
    """A question to memory. `settings` hold for this question only."""

    query: QuestionText
    k: ResultLimit | None = None
    budget: TokenBudget | None = None
    mode: RecallMode | None = None
    strategy: StrategyName | None = None
    preset: PresetName | None = None
    settings: SettingOverrides | None = None


class WhyBody(RecallBody):
    """A question, and the fact that should come back for it."""

    id: Id


class ExploreIdsBody(RequestBody):
    """Facts to explore from."""

    ids: Ids
    tags: OneOrMoreNames | None = None
    scope: OneOrMoreNames | None = None
    where: MetadataFilter | None = None


class ExploreQueryBody(RequestBody):
    """A question whose answers to explore from."""

    query: QuestionText
    tags: OneOrMoreNames | None = None
    scope: OneOrMoreNames | None = None
    where: MetadataFilter | None = None


ExploreBody = Annotated[
    ExploreIdsBody | ExploreQueryBody, _choose_by_field("ids", ExploreIdsBody, otherwise=ExploreQueryBody)
]


class ConnectBody(RequestBody):
    """An edge to make between two facts of one scope."""

    source: Id
    target: Id
    kind: Name
    weight: UnitFraction | None = None
    confidence: UnitFraction | None = None
    tags: Tags | None = None
    mode: EdgeMode | None = None


class FeedbackBody(RequestBody):
    """Which facts of a recall helped and which hurt."""

    id: Id
    helped: Ids | None = None
    hurt: Ids | None = None


class ForgetIdsBody(RequestBody):
    """Facts to forget. With `dry_run` it is only told what would go."""

    ids: Ids
    dry_run: bool = False


class ForgetFilterBody(RequestBody):
    """A filter of facts to forget."""

    filter: Annotated[FilterBody, Field(json_schema_extra={"minProperties": 1})]
    dry_run: bool = False


ForgetBody = Annotated[
    ForgetIdsBody | ForgetFilterBody, _choose_by_field("ids", ForgetIdsBody, otherwise=ForgetFilterBody)
]


class UndoBody(RequestBody):
    """The id of a receipt that forget gave. Files are found by id only, never by path."""

    receipt: Id


class FactPairBody(RequestBody):
    """An older fact, and the newer one that says otherwise."""

    old: Id
    new: Id


class DreamBody(RequestBody):
    """What to dream of: all that waits, or that of some scopes."""

    scope: OneOrMoreNames | None = None


class CurateBody(RequestBody):
    """With `dry_run` it is only told what would change."""

    dry_run: bool = False


class SettingBody(RequestBody):
    """What a setting shall be."""

    value: SettingValue


class FactsQuery(QueryParameters):
    """Which facts to list, newest first. `pinned`, `archived` and `superseded` list only such facts; `text` finds facts by what
    they say, best first."""

    scope: QueryNames = []
    tag: QueryNames = []
    category: QueryNames = []
    session: QueryNames = []
    speaker: QueryNames = []
    where: WhereExpressions = []
    since: TimeText | None = None
    until: TimeText | None = None
    as_of: TimeText | None = None
    community: CommunityNumber | None = None
    pinned: bool = False
    archived: bool = False
    superseded: bool = False
    text: QuestionText | None = None
    limit: ResultLimit = 50
    before: Id | None = None

    @property
    def filters(self) -> dict[str, Any]:
        """The filters, in the keywords of Memory."""
        renamed = {"tag": "tags"}
        besides = {"pinned", "archived", "superseded", "text", "limit", "before"}
        said = {renamed.get(name, name): value for name, value in self if name not in besides}
        said["where"] = parse_expressions(self.where)
        return {name: value for name, value in said.items() if value not in (None, [], {})}


class EdgesQuery(QueryParameters):
    """Which stored edges to list, the strongest first. `origin` is what made them, as user, similarity or dream."""

    ids: IdList = []
    kind: QueryNames = []
    scope: QueryNames = []
    origin: Name | None = None
    limit: Annotated[int, Field(ge=1, le=100_000)] = 1_000


class GraphQuery(QueryParameters):
    """What of the graph to draw. Above `limit` facts there are clusters instead, unless `community` or `where` selects facts."""

    scope: QueryNames = []
    kinds: QueryNames = []
    where: WhereExpressions = []
    community: CommunityNumber | None = None
    limit: Annotated[int, Field(ge=1, le=100_000)] = 10_000


class NeighbourhoodQuery(QueryParameters):
    """Facts to draw with what lies around them, separated by commas or repeated."""

    ids: Annotated[list[CommaSeparatedIds], Field(min_length=1)]
    depth: Depth = 1
    kinds: QueryNames = []
    where: WhereExpressions = []
    limit: Annotated[int, Field(ge=1, le=10_000)] = 1_000

    @property
    def listed(self) -> list[str]:
        return [id for several in self.ids for id in several.split(",")]


class CommunitiesQuery(QueryParameters):
    """Which communities to list, the largest first."""

    scope: QueryNames = []
    limit: ResultLimit = 100


class ReviewQuery(QueryParameters):
    """With `everything` also the pairs that were decided."""

    everything: bool = False


class LinksQuery(QueryParameters):
    """At most so many links of the fact."""

    limit: ResultLimit = 100


class ShadowQuery(QueryParameters):
    """Only shadow recalls of this kind."""

    kind: ShadowKind | None = None
