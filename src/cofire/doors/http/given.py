"""What requests may say: one model a body, and the questions in an address. What is not named here is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from cofire.doors.http import wording
from cofire.doors.http.words import (
    Budget,
    Community,
    Count,
    Depth,
    EdgeMode,
    Expressions,
    Id,
    Ids,
    IdsWithCommas,
    MetadataFilter,
    Mode,
    Moment,
    Name,
    Names,
    Overrides,
    Preset,
    QuestionText,
    SettingValue,
    ShadowKind,
    Share,
    SomeIds,
    SomeNames,
    Strategy,
    Tags,
    Text,
)
from cofire.metadata_filter import parse_expressions

MOST_AT_ONCE = 1_000


class Strict(BaseModel):
    """What refuses a field that it does not have, with the one that was probably meant."""

    @model_validator(mode="wrap")
    @classmethod
    def _name_near_misses(cls, given: Any, read: Callable[[Any], Self]) -> Self:
        try:
            return read(given)
        except ValidationError as error:
            raise wording.with_near_misses(error, frozenset(cls.model_fields)) from error


class Said(Strict):
    """A body. Numbers are numbers and texts are texts, nothing is guessed."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def keywords(self, *besides: str) -> dict[str, Any]:
        """What was said, in the keywords of Memory."""
        return {name: value for name, value in self if name not in besides and value is not None}


class Asked(Strict):
    """What stands in an address after the question mark, where everything is text at first."""

    model_config = ConfigDict(extra="forbid")


def _with(label: str, shape: type[Said], *, otherwise: type[Said]) -> WrapValidator:
    """Of two shapes of a body, that which has a field; so that an error speaks of one shape and not of both."""

    def read(given: object, _: object) -> Said:
        has = isinstance(given, dict) and label in given
        return (shape if has else otherwise).model_validate(given)

    return WrapValidator(read)


class NewFact(Said):
    """A fact to remember."""

    text: Text
    tags: Tags | None = None
    category: Name | None = None
    subject: Name | None = None
    at: Moment | None = None
    session: Name | None = None
    speaker: Name | None = None
    scope: Name | None = None
    source: Name | None = None
    metadata: dict[str, Any] | None = None
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    expires: Moment | None = None
    supersedes: Id | SomeIds | None = None


@dataclass(frozen=True, slots=True)
class RefusedFact:
    """An item that is no fact, and what is wrong with its shape."""

    problem: str


def _fact_or_refusal(given: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """A fact. With errors "skip", one whose shape is wrong is told of with the others that are skipped."""
    try:
        return read(given)
    except ValidationError as error:
        if info.data.get("errors") != "skip":
            raise
        return RefusedFact(wording.as_sentence(wording.all_said(error, "fact")))


class NewFacts(Said):
    """Several facts to remember. With errors "skip" those that are refused are left out, otherwise nothing is stored."""

    # Read first, since it decides what becomes of a fact whose shape is wrong.
    errors: Literal["raise", "skip"] = "raise"
    facts: Annotated[
        list[Annotated[NewFact, WrapValidator(_fact_or_refusal)]], Field(min_length=1, max_length=MOST_AT_ONCE)
    ]


Facts = Annotated[NewFacts | NewFact, _with("facts", NewFacts, otherwise=NewFact)]


class Changes(Said):
    """What a fact says from now on, in at least one field. What is left out stays, null takes a value away."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    text: Text = ""
    tags: Tags | None = None
    category: Name | None = None
    subject: Name | None = None
    at: Moment | None = None
    metadata: dict[str, Any] | None = None
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    expires: Moment | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError(f"nothing says what to change; give some of {', '.join(type(self).model_fields)}")
        return self


class Filter(Said):
    """Which facts are meant. Of several values any holds; of tags, a fact must have all."""

    scope: Names | None = None
    session: Names | None = None
    tags: Names | None = None
    category: Names | None = None
    speaker: Names | None = None
    where: MetadataFilter | None = None
    since: Moment | None = None
    until: Moment | None = None
    as_of: Moment | None = None
    community: Community | None = None


class Question(Filter):
    """A question to memory. `settings` hold for this question only."""

    query: QuestionText
    k: Count | None = None
    budget: Budget | None = None
    mode: Mode | None = None
    strategy: Strategy | None = None
    preset: Preset | None = None
    settings: Overrides | None = None


class WhyQuestion(Question):
    """A question, and the fact that should come back for it."""

    id: Id


class FromIds(Said):
    """Facts to explore from."""

    ids: Ids
    tags: Names | None = None
    scope: Names | None = None
    where: MetadataFilter | None = None


class FromQuery(Said):
    """A question whose answers to explore from."""

    query: QuestionText
    tags: Names | None = None
    scope: Names | None = None
    where: MetadataFilter | None = None


Start = Annotated[FromIds | FromQuery, _with("ids", FromIds, otherwise=FromQuery)]


class NewEdge(Said):
    """An edge to make between two facts of one scope."""

    source: Id
    target: Id
    kind: Name
    weight: Share | None = None
    confidence: Share | None = None
    tags: Tags | None = None
    mode: EdgeMode | None = None


class Feedback(Said):
    """Which facts of a recall helped and which hurt."""

    id: Id
    helped: Ids | None = None
    hurt: Ids | None = None


class ForgetIds(Said):
    """Facts to forget. With `dry_run` it is only told what would go."""

    ids: Ids
    dry_run: bool = False


class ForgetMatching(Said):
    """A filter of facts to forget."""

    filter: Annotated[Filter, Field(json_schema_extra={"minProperties": 1})]
    dry_run: bool = False


Doomed = Annotated[ForgetIds | ForgetMatching, _with("ids", ForgetIds, otherwise=ForgetMatching)]


class Undo(Said):
    """The id of a receipt that forget gave. Files are found by id only, never by path."""

    receipt: Id


class Pair(Said):
    """An older fact, and the newer one that says otherwise."""

    old: Id
    new: Id


class Dream(Said):
    """What to dream of: all that waits, or that of some scopes."""

    scope: Names | None = None


class Curate(Said):
    """With `dry_run` it is only told what would change."""

    dry_run: bool = False


class Value(Said):
    """What a setting shall be."""

    value: SettingValue


class FactsAsked(Asked):
    """Which facts to list, newest first. `pinned`, `archived` and `superseded` list only such facts; `text` finds facts by what
    they say, best first."""

    scope: SomeNames = []
    tag: SomeNames = []
    category: SomeNames = []
    session: SomeNames = []
    speaker: SomeNames = []
    where: Expressions = []
    since: Moment | None = None
    until: Moment | None = None
    as_of: Moment | None = None
    community: Community | None = None
    pinned: bool = False
    archived: bool = False
    superseded: bool = False
    text: QuestionText | None = None
    limit: Count = 50
    before: Id | None = None

    @property
    def filters(self) -> dict[str, Any]:
        """The filters, in the keywords of Memory."""
        renamed = {"tag": "tags"}
        besides = {"pinned", "archived", "superseded", "text", "limit", "before"}
        said = {renamed.get(name, name): value for name, value in self if name not in besides}
        said["where"] = parse_expressions(self.where)
        return {name: value for name, value in said.items() if value not in (None, [], {})}


class EdgesAsked(Asked):
    """Which stored edges to list, the strongest first. `origin` is what made them, as user, similarity or dream."""

    ids: SomeIds = []
    kind: SomeNames = []
    scope: SomeNames = []
    origin: Name | None = None
    limit: Annotated[int, Field(ge=1, le=100_000)] = 1_000


class GraphAsked(Asked):
    """What of the graph to draw. Above `limit` facts there are clusters instead, unless `community` or `where` selects facts."""

    scope: SomeNames = []
    kinds: SomeNames = []
    where: Expressions = []
    community: Community | None = None
    limit: Annotated[int, Field(ge=1, le=100_000)] = 10_000


class AroundAsked(Asked):
    """Facts to draw with what lies around them, separated by commas or repeated."""

    ids: Annotated[list[IdsWithCommas], Field(min_length=1)]
    depth: Depth = 1
    kinds: SomeNames = []
    where: Expressions = []
    limit: Annotated[int, Field(ge=1, le=10_000)] = 1_000

    @property
    def listed(self) -> list[str]:
        return [id for several in self.ids for id in several.split(",")]


class CommunitiesAsked(Asked):
    """Which communities to list, the largest first."""

    scope: SomeNames = []
    limit: Count = 100


class ReviewAsked(Asked):
    """With `everything` also the pairs that were decided."""

    everything: bool = False


class LinksAsked(Asked):
    """At most so many links of the fact."""

    limit: Count = 100


class ShadowAsked(Asked):
    """Only shadow recalls of this kind."""

    kind: ShadowKind | None = None
