"""Shapes of request bodies, query parameters and responses.

Responses have the shapes of the package's own dataclasses. The dataclasses below are for JSON that differs from these.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, make_dataclass
from datetime import UTC, datetime
from types import GenericAlias
from typing import Annotated, Any, Literal, Self, get_type_hints

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

from cofire.activation_paths import ActivationHop, ActivationStep, EnergyPath, SeedExploration
from cofire.errors import NotFound
from cofire.guide import VerbGuide
from cofire.http import errors
from cofire.model import Edge, Fact, FactImportance, Link
from cofire.recall.explore import ExploreOptions
from cofire.recall.request import FilterOptions, RecallOptions
from cofire.results import (
    AbstentionVerdict,
    ChannelReport,
    ChannelScore,
    Counterfactual,
    PictureCluster,
    PictureEdge,
    PlanSummary,
    WhyResult,
)
from cofire.settings.knobs import KNOBS, Knob
from cofire.settings.presets import PresetName, RecallMode, Strategy
from cofire.stores.base import StoreSize
from cofire.stores.learning_rows import FeedbackCounts
from cofire.stores.metadata_filter import COMPARISON_OPERATORS, parse_conditions, parse_expressions
from cofire.text.base import ReadingFailures
from cofire.verbs.connect import FactPortrait, MergeMode
from cofire.verbs.forget import ForgetResult
from cofire.verbs.graph import CommunitySummary
from cofire.verbs.remember import OnError, RememberOptions, SkippedItem
from cofire.verbs.review import ReviewProposal
from cofire.verbs.update import UpdateOptions

# At least one character besides spaces, and no NUL: what memory demands of every text.
VISIBLE_CHARACTER = r"[^\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
TEXT_PATTERN = rf"^[^\x00]*{VISIBLE_CHARACTER}[^\x00]*$"
ULID_PATTERN = r"[0-9A-HJKMNP-TV-Z]{26}"
ID_FORMAT_HINT = "an id has 26 digits and capital letters, as in 01M7GRXZ72ER9HC7SM0EVVJFVW"
MAX_QUESTION_LENGTH = 10_000
MAX_NAME_LENGTH = 1_000
MAX_NAMES = 100
MAX_BATCH_FACTS = 1_000
JSON_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}


# Checks of values. pydantic turns a ValueError, which InvalidInput is too, into an error at the place of the value.


def _whole_number(value: Any) -> Any:
    """JSON has one kind of number: 3.0 is 3."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _check_text(text: str) -> str:
    if "\x00" in text:
        raise ValueError("it holds a NUL character, which no text has")
    if not re.search(VISIBLE_CHARACTER, text):
        raise ValueError("it is blank; give some text")
    return text


def _check_id(id: str) -> str:
    if not re.fullmatch(ULID_PATTERN, id):
        raise ValueError(ID_FORMAT_HINT)
    return id


def _check_path_id(id: str) -> str:
    """In a path, a text that cannot be an id is the id of no fact."""
    if not re.fullmatch(ULID_PATTERN, id):
        raise NotFound(f"There is no such fact: {ID_FORMAT_HINT}.", way_out="List the ids with GET /api/v1/facts.")
    return id


def _check_comma_separated_ids(ids: str) -> str:
    for id in ids.split(","):
        _check_id(id)
    return ids


def _check_time(text: str) -> str:
    """Refuse a time that does not exist, or that has no equivalent in UTC."""
    try:
        time = datetime.fromisoformat(text.strip())
        time.astimezone(UTC) if time.tzinfo else time
    except (ValueError, OverflowError) as error:
        raise ValueError("give a date or a time in ISO 8601, as in 2026-05-08T13:56:00+02:00") from error
    return text


def _check_conditions(conditions: dict[str, Any]) -> dict[str, Any]:
    parse_conditions(conditions)
    return conditions


def _check_expression(expression: str) -> str:
    parse_expressions([expression])
    return expression


def _check_one_or_more_names(value: object, _: object) -> Any:
    """A name or a list of them, validated as the one or the other, so that an error does not mention both."""
    if isinstance(value, str):
        return NAME_ADAPTER.validate_python(value, strict=True)
    if isinstance(value, list):
        return NAME_LIST_ADAPTER.validate_python(value, strict=True)
    raise ValueError("give text, or a list of texts")


def _check_setting_value(value: object) -> object:
    if not isinstance(value, bool | int | float | str):
        raise ValueError("give true or false, a number or text")
    return value


def _check_overrides(overrides: dict[str, Any]) -> dict[str, Any]:
    settable = {knob.name: knob for knob in list_settable_settings()}
    for name, value in overrides.items():
        if name not in settable:
            raise ValueError(f"there is no setting {name!r} that may be given here")
        if not is_of_setting_type(value, settable[name]):
            raise ValueError(f"{name} must be {settable[name].allowed}")
    return overrides


def list_settable_settings() -> list[Knob[Any]]:
    """Settings that may be changed over HTTP. Those of free text name files, folders and programs."""
    return [knob for knob in KNOBS.values() if knob.choices or not isinstance(knob.default, str)]


def is_of_setting_type(value: object, knob: Knob[Any]) -> bool:
    """Whether a JSON value has the type of a setting. The text "true" is not true."""
    kind = type(knob.default)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(_whole_number(value)) is kind


def _setting_schema(knob: Knob[Any]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": JSON_TYPES[type(knob.default)], "description": knob.help}
    bounds = {"minimum": knob.low, "maximum": knob.high}
    schema |= {name: bound for name, bound in bounds.items() if bound is not None}
    return schema | ({"enum": list(knob.choices)} if knob.choices else {})


def _pattern(pattern: str, **bounds: int) -> Any:
    """A pattern for OpenAPI alone: the check beside it has the better message."""
    return Field(json_schema_extra={"pattern": pattern, **bounds})


# Types of fields.

# The setting remember.max_characters limits the text of a fact; the access rules limit every body.
# pydantic applies a limit of Field to the schema only when it stands before the check.
TEXT_CHECK, TEXT_SCHEMA = AfterValidator(_check_text), _pattern(TEXT_PATTERN, minLength=1)
Text = Annotated[str, TEXT_CHECK, TEXT_SCHEMA]
QuestionText = Annotated[str, Field(max_length=MAX_QUESTION_LENGTH), TEXT_CHECK, TEXT_SCHEMA]
Name = Annotated[str, Field(max_length=MAX_NAME_LENGTH), TEXT_CHECK, TEXT_SCHEMA]
Names = Annotated[list[Name], Field(max_length=MAX_NAMES)]
NameList = Annotated[list[Name], Field(min_length=1, max_length=MAX_NAMES)]
NAME_ADAPTER: TypeAdapter[str] = TypeAdapter(Name)
NAME_LIST_ADAPTER: TypeAdapter[list[str]] = TypeAdapter(NameList)
OneOrMoreNames = Annotated[Name | NameList, WrapValidator(_check_one_or_more_names)]
Id = Annotated[str, AfterValidator(_check_id), _pattern(f"^{ULID_PATTERN}$")]
PathId = Annotated[str, AfterValidator(_check_path_id), _pattern(f"^{ULID_PATTERN}$")]
CommaSeparatedIds = Annotated[
    str, AfterValidator(_check_comma_separated_ids), _pattern(f"^{ULID_PATTERN}(,{ULID_PATTERN})*$")
]
Ids = Annotated[list[Id], Field(min_length=1, max_length=1_000)]
IdList = Annotated[list[Id], Field(max_length=MAX_NAMES)]
# A key alone, or a key and a value with an operator between.
CONDITION_PATTERN = rf"^\s*{VISIBLE_CHARACTER[:-1]}=<>!][^=<>!]*((!=|[<>]=?|=)[\s\S]*)?$"
Expression = Annotated[
    str,
    Field(max_length=MAX_NAME_LENGTH),
    AfterValidator(_check_expression),
    _pattern(CONDITION_PATTERN, minLength=1),
]
WhereExpressions = Annotated[list[Expression], Field(max_length=MAX_NAMES)]
SCALAR_SCHEMA = {"type": ["string", "number", "boolean", "null"]}
SCALARS_SCHEMA = {"anyOf": [SCALAR_SCHEMA, {"type": "array", "items": SCALAR_SCHEMA, "minItems": 1}]}
OPERATORS_SCHEMA = {
    "type": "object",
    "properties": {
        "eq": SCALARS_SCHEMA,
        "ne": SCALARS_SCHEMA,
        "exists": {"type": "boolean"},
        **{name: {"type": ["string", "number"]} for name in COMPARISON_OPERATORS},
        "not": SCALARS_SCHEMA,
    },
    "additionalProperties": False,
    "minProperties": 1,
}
WHERE_SCHEMA = {
    "type": "object",
    "propertyNames": {"minLength": 1},
    "minProperties": 1,
    "additionalProperties": {"anyOf": [*SCALARS_SCHEMA["anyOf"], OPERATORS_SCHEMA]},
    "examples": [{"project": "x", "priority": {"gte": 3}}],
}
MetadataFilter = Annotated[dict[str, Any], AfterValidator(_check_conditions), WithJsonSchema(WHERE_SCHEMA)]
TIME_SCHEMA = {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "string", "format": "date"}]}
Time = Annotated[str, AfterValidator(_check_time), WithJsonSchema(TIME_SCHEMA)]
ResultLimit = Annotated[int, Field(ge=1, le=1_000), BeforeValidator(_whole_number)]
CommunityNumber = Annotated[int, Field(ge=0, le=2**53 - 1), BeforeValidator(_whole_number)]
TokenBudget = Annotated[int, Field(ge=1, le=10_000_000), BeforeValidator(_whole_number)]
Depth = Annotated[int, Field(ge=1, le=10), BeforeValidator(_whole_number)]
UnitFraction = Annotated[float, Field(ge=0, le=1)]
SettingType = bool | int | float | str
SettingValue = Annotated[SettingType, PlainValidator(_check_setting_value, json_schema_input_type=SettingType)]
OVERRIDES_SCHEMA = {
    "type": "object",
    "properties": {knob.name: _setting_schema(knob) for knob in list_settable_settings()},
    "additionalProperties": False,
}
SettingOverrides = Annotated[dict[str, Any], AfterValidator(_check_overrides), WithJsonSchema(OVERRIDES_SCHEMA)]


# What `include` adds to a response.


@dataclass(frozen=True, slots=True)
class IncludedPart:
    """What one name in `include` adds: members of the response, and members of each of its hits."""

    response: tuple[str, ...] = ()
    hit: tuple[str, ...] = ()


RecallInclude = Literal[
    "facts",
    "channels",
    "parts",
    "paths",
    "plan",
    "judgement",
    "guesses",
    "ranking",
    "spread",
    "xray",
    "prompt",
]
WhyInclude = Literal["fact", "hit", "likeness", "rivals"]
ExploreInclude = Literal["paths"]

RECALL_MEMBERS = ("id", "question", "known", "reason", "hits")
HIT_MEMBERS = ("id", "text", "score")
WHY_MEMBERS = (
    "question",
    "id",
    "returned",
    "stage",
    "explanation",
    "place",
    "refusals",
    "remedies",
    "in_vain",
)
SEED_MEMBERS = ("seed", "energy", "status", "reason")
HIDDEN_FACT_FIELDS = ("supersedes",)
FACT_MEMBERS = tuple(name for name in Fact.__dataclass_fields__ if name not in (*HIT_MEMBERS, *HIDDEN_FACT_FIELDS))
PATH_MEMBERS = ("path", "confidences", "weakest", "hops", "bridge")
RECALL_PARTS: Mapping[RecallInclude, IncludedPart] = {
    "facts": IncludedPart(hit=FACT_MEMBERS),
    "channels": IncludedPart(response=("channels",), hit=("channels",)),
    "parts": IncludedPart(hit=("parts",)),
    "paths": IncludedPart(response=("texts",), hit=PATH_MEMBERS),
    "plan": IncludedPart(response=("plan", "scopes", "candidates")),
    "judgement": IncludedPart(response=("judgement",)),
    "guesses": IncludedPart(response=("guesses",)),
    "ranking": IncludedPart(response=("ranking",)),
    "spread": IncludedPart(response=("spread",)),
    "xray": IncludedPart(response=("xray",)),
    "prompt": IncludedPart(response=("prompt",)),
}
WHY_PARTS: Mapping[WhyInclude, IncludedPart] = {
    "fact": IncludedPart(response=("fact",)),
    "hit": IncludedPart(response=("hit", "texts")),
    "likeness": IncludedPart(response=("likeness",)),
    "rivals": IncludedPart(response=("rivals", "margin")),
}


# Request bodies and query parameters.


class StrictModel(BaseModel):
    """Refuses an unknown field, and names the one that was probably meant."""

    @model_validator(mode="wrap")
    @classmethod
    def _name_near_misses(cls, value: Any, validate: Callable[[Any], Self]) -> Self:
        try:
            return validate(value)
        except ValidationError as error:
            raise errors.add_near_misses(error, frozenset(cls.model_fields)) from error


class RequestBody(StrictModel):
    """A JSON body. No value is converted to another type."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def keywords(self, *without: str) -> dict[str, Any]:
        """The fields as keyword arguments of Memory."""
        return {name: value for name, value in self if name not in without and value is not None}


class QueryParameters(StrictModel):
    """Parameters in an address, which arrive as text. A list is a repeated name; an empty one counts as none."""

    model_config = ConfigDict(extra="forbid")


def _choose_by_field(field: str, model: type[RequestBody], *, otherwise: type[RequestBody]) -> WrapValidator:
    """Of two models, the one that has a field, so that an error does not mention both."""

    def validate(value: object, _: object) -> RequestBody:
        has_field = isinstance(value, dict) and field in value
        return (model if has_field else otherwise).model_validate(value)

    return WrapValidator(validate)


class FactFields(RequestBody):
    """What may be said of a fact besides its text, when it is remembered or changed."""

    tags: Names | None = None
    category: Name | None = None
    subject: Name | None = None
    at: Time | None = None
    metadata: dict[str, Any] | None = None
    valid_from: Time | None = None
    valid_until: Time | None = None
    expires: Time | None = None


class FactBody(FactFields):
    """A fact to remember."""

    text: Text
    session: Name | None = None
    speaker: Name | None = None
    scope: Name | None = None
    source: Name | None = None
    supersedes: Id | IdList | None = None


@dataclass(frozen=True, slots=True)
class RefusedFact:
    """An item of a batch that does not have the shape of a fact, and why."""

    problem: str


def _validate_batch_item(value: Any, validate: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """A fact; with errors "skip", an item of another shape is reported with the others that are skipped."""
    try:
        return validate(value)
    except ValidationError as error:
        if info.data.get("errors") != "skip":
            raise
        return RefusedFact(errors.describe_all_problems(error, "fact"))


BatchItem = Annotated[FactBody, WrapValidator(_validate_batch_item)]


class FactBatchBody(RequestBody):
    """Several facts to remember. With errors "skip" refused facts are left out, otherwise nothing is stored."""

    # Validated first: it decides how the items are validated.
    errors: OnError = "raise"
    facts: Annotated[list[BatchItem], Field(min_length=1, max_length=MAX_BATCH_FACTS)]


RememberBody = Annotated[FactBatchBody | FactBody, _choose_by_field("facts", FactBatchBody, otherwise=FactBody)]


class UpdateBody(FactFields):
    """What to change in a fact, at least one field. Fields left out stay; null removes a value."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    text: Text = ""

    @model_validator(mode="after")
    def _has_a_change(self) -> Self:
        if not self.model_fields_set:
            raise ValueError(f"nothing to change; give some of {', '.join(type(self).model_fields)}")
        return self


class FilterBody(RequestBody):
    """Which facts. Of several values any matches; of tags, a fact must have all."""

    scope: OneOrMoreNames | None = None
    session: OneOrMoreNames | None = None
    tags: OneOrMoreNames | None = None
    category: OneOrMoreNames | None = None
    speaker: OneOrMoreNames | None = None
    where: MetadataFilter | None = None
    since: Time | None = None
    until: Time | None = None
    as_of: Time | None = None
    community: CommunityNumber | None = None


class QuestionBody(FilterBody):
    """A question to memory. `settings` apply to this question only."""

    query: QuestionText
    k: ResultLimit | None = None
    budget: TokenBudget | None = None
    mode: RecallMode | None = None
    strategy: Strategy | None = None
    preset: PresetName | None = None
    settings: SettingOverrides | None = None


class RecallBody(QuestionBody):
    """A question to memory, and what the answer includes besides the hits."""

    include: list[RecallInclude] = []


class WhyBody(QuestionBody):
    """A question, the fact to explain, and what the answer includes besides the explanation."""

    id: Id
    include: list[WhyInclude] = []


class StartBody(RequestBody):
    """How to explore, wherever it starts."""

    tags: OneOrMoreNames | None = None
    scope: OneOrMoreNames | None = None
    where: MetadataFilter | None = None
    include: list[ExploreInclude] = []


class ExploreIdsBody(StartBody):
    """Facts to explore from."""

    ids: Ids


class ExploreQueryBody(StartBody):
    """A question; the facts that answer it are explored from."""

    query: QuestionText


ExploreBody = Annotated[
    ExploreIdsBody | ExploreQueryBody, _choose_by_field("ids", ExploreIdsBody, otherwise=ExploreQueryBody)
]


class ConnectBody(RequestBody):
    """An edge to make between two facts."""

    source: Id
    target: Id
    kind: Name
    weight: UnitFraction | None = None
    confidence: UnitFraction | None = None
    tags: Names | None = None
    mode: MergeMode | None = None


class FeedbackBody(RequestBody):
    """Which facts of a recall helped and which hurt."""

    id: Id
    helped: Ids | None = None
    hurt: Ids | None = None


class ForgetIdsBody(RequestBody):
    """Facts to forget, by id."""

    ids: Ids
    dry_run: bool = False


class ForgetFilterBody(RequestBody):
    """Facts to forget, by filter."""

    filter: Annotated[FilterBody, Field(json_schema_extra={"minProperties": 1})]
    dry_run: bool = False


ForgetBody = Annotated[
    ForgetIdsBody | ForgetFilterBody, _choose_by_field("ids", ForgetIdsBody, otherwise=ForgetFilterBody)
]


class UndoBody(RequestBody):
    """The receipt of a forget, by id. A path is refused."""

    receipt: Id


class FactPairBody(RequestBody):
    """An older fact and a newer one that contradicts it."""

    old: Id
    new: Id


class DreamBody(RequestBody):
    """What to link: all waiting facts, or those of some scopes."""

    scope: OneOrMoreNames | None = None


class CurateBody(RequestBody):
    """Whether to report changes without making them."""

    dry_run: bool = False


class SettingBody(RequestBody):
    """The new value of a setting."""

    value: SettingValue


class FactsQuery(QueryParameters):
    """Which facts to list."""

    scope: Names = []
    tag: Names = []
    category: Names = []
    session: Names = []
    speaker: Names = []
    where: WhereExpressions = []
    since: Time | None = None
    until: Time | None = None
    as_of: Time | None = None
    community: CommunityNumber | None = None
    pinned: bool = False
    archived: bool = False
    superseded: bool = False
    text: QuestionText | None = None
    limit: ResultLimit = 50
    before: Id | None = None

    @property
    def filters(self) -> dict[str, Any]:
        """The filters as keyword arguments of Memory."""
        values = self.model_dump(include=set(FilterOptions.__annotations__))
        values |= {"tags": self.tag, "where": parse_expressions(self.where)}
        return {name: value for name, value in values.items() if value not in (None, [], {})}


# The keyword arguments of a verb describe the fields and parameters of the same name.
OPTIONS: Mapping[str, type] = {
    "FactBody": RememberOptions,
    "UpdateBody": UpdateOptions,
    "FilterBody": FilterOptions,
    "RecallBody": RecallOptions,
    "WhyBody": RecallOptions,
    "ExploreIdsBody": ExploreOptions,
    "ExploreQueryBody": ExploreOptions,
    "facts": FilterOptions,
}


# Responses whose JSON differs from every dataclass of the package.


def shape(name: str, about: str, base: type | None = None, /, *, without: Sequence[str] = (), **fields: Any) -> type:
    """A dataclass with the fields of another, without some of them, and with others added or replaced.

    >>> [field.name for field in dataclasses.fields(PortraitImportance)]
    ['pagerank', 'community']
    """
    hints = get_type_hints(base) if base else {}
    inherited = [field.name for field in dataclasses.fields(base)] if base else []
    types = {field: hints[field] for field in inherited if field not in without} | fields
    return make_dataclass(name, types.items(), namespace={"__doc__": about}, frozen=True)


def list_of(item: type) -> Any:
    """The type `list[item]`. mypy refuses the plain form where the item is made by `shape`."""
    return GenericAlias(list, (item,))


HealthResponse = shape("HealthResponse", "The server is running.", ok=bool, version=str)

RememberResponse = shape(
    "RememberResponse",
    "The ids in the order of the facts: null for a fact that was skipped.",
    ids=list[str | None],
    skipped=list[SkippedItem],
)
FactResponse = shape("FactResponse", "A fact.", fact=Fact)
FactsResponse = shape("FactsResponse", "Some facts.", facts=list[Fact])
FactsPageResponse = shape("FactsPageResponse", "A page of facts.", facts=list[Fact], next=str | None)
FactText = shape("FactText", "A fact by id and text.", id=str, text=str)

PastFact = shape("PastFact", "A fact as it was until some time.", Fact, until=datetime)
PortraitLink = shape("PortraitLink", "A link of a fact, with the text at its other end.", Link, text=str)
PortraitImportance = shape("PortraitImportance", "How central a fact is.", FactImportance, without=["fact"])
PortraitUse = shape("PortraitUse", "How a fact fared in recalls that got feedback.", FeedbackCounts, success=float)
PortraitResponse = shape(
    "PortraitResponse",
    "A fact with its links, descriptions, importance, use and history.",
    FactPortrait,
    links=list_of(PortraitLink),
    importance=PortraitImportance | None,
    use=PortraitUse,
    history=list_of(PastFact),
)

# The file of the receipt stays on the server.
ForgetReceiptId = shape("ForgetReceiptId", "What restores forgotten facts.", id=str, expires=datetime)
ForgetResponse = shape(
    "ForgetResponse",
    "What was forgotten or, with `dry_run`, would be.",
    ForgetResult,
    forgotten=bool,
    receipt=ForgetReceiptId | None,
)

EdgesResponse = shape("EdgesResponse", "Some edges.", edges=list[Edge])
ReviewsResponse = shape(
    "ReviewsResponse", "Pairs of facts that may contradict each other.", reviews=list[ReviewProposal]
)
DecisionResponse = shape(
    "DecisionResponse",
    "A pair of facts, and what was decided about it.",
    old=str,
    new=str,
    state=Literal["accepted", "dismissed", "undone"],
)
Community = shape("Community", "Facts that belong together.", CommunitySummary, facts=list_of(FactText))
CommunitiesResponse = shape("CommunitiesResponse", "Some communities.", communities=list_of(Community))

GraphNode = shape(
    "GraphNode",
    "A fact as a node of the graph.",
    id=str,
    label=str,
    community=int | None,
    pagerank=float | None,
    degree=int,
    at=datetime | None,
    scope=str,
    category=str | None,
    archived=bool,
    pinned=bool,
)
GraphCluster = shape("GraphCluster", "A community as a node of the graph.", PictureCluster, id=str)
GraphResponse = shape(
    "GraphResponse",
    "Nodes, or clusters where there are too many nodes; `edges` connect the one or the other.",
    nodes=list_of(GraphNode),
    edges=list[PictureEdge],
    clusters=list_of(GraphCluster),
    total=int,
)

RecalledFact = shape(
    "RecalledFact",
    "A fact that answers the question. Members other than id, text and score come with `include`.",
    Fact,
    score=float,
    channels=Mapping[str, ChannelScore],
    parts=Mapping[str, float],
    path=list[str],
    confidences=list[float],
    weakest=float | None,
    hops=list[ActivationHop],
    bridge=list[ActivationHop],
)
# JSON has no infinity: null where the rule needs no evidence.
RecallJudgement = shape(
    "RecallJudgement",
    "Whether the evidence is enough to answer.",
    AbstentionVerdict,
    evidence=float | None,
    threshold=float | None,
)
ScoredId = shape("ScoredId", "A candidate and its score.", id=str, score=float)
SpreadSeed = shape("SpreadSeed", "A fact that activation starts from.", id=str, activation=float)
SpreadPass = shape("SpreadPass", "One pass of activation.", seeds=list_of(SpreadSeed), links=list[ActivationHop])
SpreadRound = shape("SpreadRound", "The strongest facts of a round.", round=int, facts=list[ActivationStep])
SpreadRecording = shape(
    "SpreadRecording", "How activation spread, for a replay.", passes=list_of(SpreadPass), rounds=list_of(SpreadRound)
)
RecallResponse = shape(
    "RecallResponse",
    "The facts that answer a question, best first. Members that are not required come with `include`.",
    id=str | None,
    question=str,
    known=bool,
    reason=str,
    hits=list_of(RecalledFact),
    scopes=list[str],
    plan=PlanSummary | None,
    candidates=int,
    channels=list[ChannelReport],
    judgement=RecallJudgement | None,
    guesses=list_of(RecalledFact),
    texts=list_of(FactText),
    ranking=list_of(ScoredId),
    spread=SpreadRecording | None,
    xray=str,
    prompt=str,
)

RemedyLink = shape("RemedyLink", "Two facts to connect.", source=str, target=str)
WhyRemedy = shape("WhyRemedy", "A change that was tried.", Counterfactual, link=RemedyLink | None)
WhyResponse = shape(
    "WhyResponse",
    "Why a fact comes back, or where it is lost. Members that are not required come with `include`.",
    WhyResult,
    without=["last"],
    returned=bool,
    hit=RecalledFact | None,
    remedies=list_of(WhyRemedy),
    texts=list_of(FactText),
)

ExploredPath = shape("ExploredPath", "A path from a seed.", EnergyPath, links=list[ActivationHop])
ExploredSeed = shape(
    "ExploredSeed",
    "How the exploration of one seed went. Its paths come with `include`.",
    SeedExploration,
    without=["energies", "hops"],
    paths=list_of(ExploredPath),
)
ReachedFact = shape("ReachedFact", "A fact that energy reached.", FactText, energy=float)
ExploreResponse = shape(
    "ExploreResponse",
    "The seeds, and the facts that energy reached from them.",
    seeds=list_of(ExploredSeed),
    facts=list_of(ReachedFact),
    reason=str,
)

StatsResponse = shape(
    "StatsResponse",
    "What the store holds, and how it is searched.",
    StoreSize,
    without=["place", "embedded"],
    store=str,
    mode=str,
    model=str | None,
    without_vector=int,
    advice=str,
    reading_failures=ReadingFailures,
)
ScopesResponse = shape("ScopesResponse", "The scopes of the store.", scopes=Mapping[str, int])
GuideResponse = shape("GuideResponse", "Pages of the guide.", pages=list[VerbGuide])
SettingResponse = shape(
    "SettingResponse",
    "A setting, and what a form needs to offer it.",
    name=str,
    value=SettingType,
    layer=str,
    default=SettingType,
    allowed=str,
    help=str,
    kept_in_store=bool,
    variable=str,
    alias=str | None,
    effect=str,
    kind=Literal["boolean", "integer", "number", "string"],
    choices=list[str],
    low=float | None,
    high=float | None,
    settable=bool,
)
SettingsResponse = shape("SettingsResponse", "All settings.", settings=list_of(SettingResponse))
