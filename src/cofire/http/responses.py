"""Response bodies as pydantic models for OpenAPI.

Those of recall, why and explore are in `recall_answers`.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class ResponseSchema(BaseModel):
    """An object with these fields and no others."""

    model_config = ConfigDict(extra="forbid")


class ErrorDetailSchema(ResponseSchema):
    kind: str
    problem: str
    way_out: str


class ErrorResponse(ResponseSchema):
    """What went wrong, and what to do."""

    error: ErrorDetailSchema


class HealthResponse(ResponseSchema):
    ok: bool
    version: str


class SkippedFactSchema(ResponseSchema):
    """A fact that was not stored: its place from 0, what is wrong, and what to do."""

    index: int
    problem: str
    way_out: str


class RememberResponse(ResponseSchema):
    """The ids, in the order of the facts: null for a fact that was skipped, with the reason in `skipped`."""

    ids: list[str | None]
    skipped: list[SkippedFactSchema]


class FactSchema(ResponseSchema):
    """A fact."""

    id: str
    text: str
    subject: str | None
    category: str | None
    tags: list[str]
    scope: str
    session: str | None
    position: int | None
    speaker: str | None
    source: str | None
    at: str | None
    stored_at: str | None
    valid_from: str | None
    valid_until: str | None
    expires: str | None
    reinforced: int
    reinforced_at: str | None
    pinned: bool
    archived: bool
    superseded_by: list[str]
    metadata: dict[str, Any]


class PastFactSchema(FactSchema):
    """A fact as it was until some time."""

    until: str


class FactResponse(ResponseSchema):
    fact: FactSchema


class FactsResponse(ResponseSchema):
    facts: list[FactSchema]


class FactsPageResponse(FactsResponse):
    """`next` is what to give as `before` for the next page; null on the last."""

    next: str | None


class EdgeSchema(ResponseSchema):
    """An edge."""

    source: str
    target: str
    kind: str
    weight: float | None
    confidence: float | None
    tags: list[str]
    origin: str
    co_access_count: int
    strengthened: str | None


class EdgesResponse(ResponseSchema):
    edges: list[EdgeSchema]


class LinkSchema(EdgeSchema):
    """An edge as seen from a fact, with the text at its other end."""

    via: str | None
    text: str


class ImportanceSchema(ResponseSchema):
    pagerank: float
    community: int


class UseSchema(ResponseSchema):
    helped: int
    hurt: int
    success: float


class PortraitResponse(ResponseSchema):
    """A fact with all that hangs on it."""

    fact: FactSchema
    links: list[LinkSchema]
    descriptions: list[str]
    importance: ImportanceSchema | None
    use: UseSchema
    history: list[PastFactSchema]
    archived_because: str | None


class FactTextSchema(ResponseSchema):
    id: str
    text: str


class RadiusSchema(ResponseSchema):
    facts: int
    edges: int
    mentions: int
    subjects: int
    vectors: int
    words: int
    descriptions: int
    cited: list[str]


class ReceiptSchema(ResponseSchema):
    id: str
    expires: str


class ForgetResponse(ResponseSchema):
    """What was forgotten or, with `dry_run`, would be; and what brings it back."""

    forgotten: bool
    dry_run: bool
    facts: list[FactSchema]
    radius: RadiusSchema
    receipt: ReceiptSchema | None


class SkippedRestoreSchema(ResponseSchema):
    what: str
    id: str
    why: str


class UndoResponse(ResponseSchema):
    facts: list[FactSchema]
    edges: int
    skipped: list[SkippedRestoreSchema]


class ReviewPairSchema(ResponseSchema):
    old: FactSchema
    new: FactSchema
    why: str
    state: str


class ReviewsResponse(ResponseSchema):
    reviews: list[ReviewPairSchema]


class DecisionResponse(ResponseSchema):
    old: str
    new: str
    state: str


class DreamResponse(ResponseSchema):
    facts: int
    new: int
    changed: int
    ended: int
    communities: int
    waiting: int


class DecayedEdgeSchema(ResponseSchema):
    source: str
    target: str
    kind: str
    before: float
    after: float | None


class CurateResponse(ResponseSchema):
    faded: int
    ended: int
    lowered: int
    pruned: int
    archived: dict[str, str]
    communities: int
    proposed: int
    applied: int
    drift: str
    orphans: int
    dangling: int
    dry_run: bool
    examples: list[DecayedEdgeSchema]


class ReaderFailuresSchema(ResponseSchema):
    """Facts on which a reading rule failed, how often each rule failed, and the ids of the last of them."""

    facts: int
    rules: dict[str, int]
    ids: list[str]


class StatsResponse(ResponseSchema):
    store: str
    bytes: int
    facts: int
    archived: int
    scopes: dict[str, int]
    edges: int
    mentions: int
    waiting: int
    mode: str
    model: str | None
    without_vector: int
    advice: str
    reading_failures: ReaderFailuresSchema
    details: dict[str, str]


class ScopesResponse(ResponseSchema):
    """How many facts each scope holds."""

    scopes: dict[str, int]


class CommunitySchema(ResponseSchema):
    scope: str
    number: int
    size: int
    name: str
    facts: list[FactTextSchema]


class CommunitiesResponse(ResponseSchema):
    communities: list[CommunitySchema]


class GuidePageSchema(ResponseSchema):
    verb: str
    what: str
    when: str
    cost: str
    next: str


class GuideResponse(ResponseSchema):
    pages: list[GuidePageSchema]


class MovedFactSchema(FactTextSchema):
    times: int


class FailedShadowSchema(ResponseSchema):
    reason: str
    times: int


class ShadowResponse(ResponseSchema):
    count: int
    overlap: float | None
    tau: float | None
    same: int
    promoted: list[MovedFactSchema]
    demoted: list[MovedFactSchema]
    failures: int
    reasons: list[FailedShadowSchema]
    place: str


class SettingSchema(ResponseSchema):
    """A setting: its value, where that comes from, and what it may be. One that is not `settable` is changed on the command line.
    `effect` says why it has no effect, or what limits it, and is empty otherwise."""

    name: str
    value: bool | int | float | str
    layer: str
    default: bool | int | float | str
    allowed: str
    help: str
    kept_in_store: bool
    variable: str
    alias: str | None
    effect: str
    kind: str
    choices: list[str]
    low: float | None
    high: float | None
    settable: bool


class SettingsResponse(ResponseSchema):
    settings: list[SettingSchema]


class GraphNodeSchema(ResponseSchema):
    id: str
    label: str
    community: int | None
    pagerank: float | None
    degree: int
    at: str | None
    scope: str
    category: str | None
    archived: bool
    pinned: bool


class GraphEdgeSchema(ResponseSchema):
    source: str
    target: str
    kind: str
    weight: float | None


class GraphClusterSchema(ResponseSchema):
    id: str
    scope: str
    community: int | None
    name: str
    size: int


class GraphResponse(ResponseSchema):
    """Nodes, or clusters where there are too many; `edges` lie between the one or the other."""

    nodes: list[GraphNodeSchema]
    edges: list[GraphEdgeSchema]
    clusters: list[GraphClusterSchema]
    total: int


class HopSchema(ResponseSchema):
    """A link along which activation came."""

    source: str
    target: str
    kind: str
    weight: float | None
    confidence: float | None
    via: str | None
    energy: float


class ChannelScoreSchema(ResponseSchema):
    rank: int | None
    score: float
    gives: float


class HitSchema(FactSchema):
    """A fact that came back, and why."""

    score: float
    channels: dict[str, ChannelScoreSchema]
    parts: dict[str, float]
    path: list[str]
    confidences: list[float]
    weakest: float | None
    hops: list[HopSchema]
    bridge: list[HopSchema]


class PlanSchema(ResponseSchema):
    mode: str
    mode_reason: str
    strategy: str
    strategy_reason: str
    dynamics: str | None
    fusion: str


class ChannelSchema(ResponseSchema):
    name: str
    status: str
    heard: int
    note: str


class JudgementSchema(ResponseSchema):
    known: bool
    evidence: float | None
    threshold: float | None
    reason: str


class SeedSchema(ResponseSchema):
    id: str
    activation: float


class ActivationStepSchema(SeedSchema):
    inhibited: bool
    gated: bool


class SpreadPassSchema(ResponseSchema):
    seeds: list[SeedSchema]
    links: list[HopSchema]


class SpreadRoundSchema(ResponseSchema):
    round: int
    facts: list[ActivationStepSchema]


class SpreadSchema(ResponseSchema):
    """How activation spread, for a replay."""

    passes: list[SpreadPassSchema]
    rounds: list[SpreadRoundSchema]


class RecallResponse(ResponseSchema):
    """What memory knows about a question, and every stage on the way."""

    id: str | None
    question: str
    known: bool
    reason: str
    scopes: list[str]
    plan: PlanSchema | None
    channels: list[ChannelSchema]
    judgement: JudgementSchema | None
    hits: list[HitSchema]
    guesses: list[HitSchema]
    texts: list[FactTextSchema]
    candidates: int
    spread: SpreadSchema | None


class SimilaritySchema(ResponseSchema):
    cosine: float | None
    words: list[str]
    share: float


class FilterMismatchSchema(ResponseSchema):
    filter: str
    asked: str
    has: str


class RivalSchema(FactTextSchema):
    score: float


class ProposedLinkSchema(ResponseSchema):
    source: str
    target: str


class RemedySchema(ResponseSchema):
    change: str
    place: int
    asked: dict[str, Any]
    query: str | None
    link: ProposedLinkSchema | None


class WhyResponse(ResponseSchema):
    """Why a fact comes back for a question, or where it is lost."""

    question: str
    id: str
    returned: bool
    stage: str | None
    explanation: str
    place: int | None
    fact: FactSchema | None
    hit: HitSchema | None
    likeness: SimilaritySchema | None
    refusals: list[FilterMismatchSchema]
    rivals: list[RivalSchema]
    margin: float | None
    remedies: list[RemedySchema]
    in_vain: list[str]
    texts: list[FactTextSchema]


class PathSchema(ResponseSchema):
    ids: list[str]
    energies: list[float]
    links: list[HopSchema]
    end: str


class ExploredSeedSchema(ResponseSchema):
    seed: str
    energy: float
    status: str
    reason: str
    paths: list[PathSchema]


class ReachedFactSchema(FactTextSchema):
    energy: float


class ExploreResponse(ResponseSchema):
    """What was explored, seed by seed."""

    seeds: list[ExploredSeedSchema]
    facts: list[ReachedFactSchema]
    reason: str


class FeedbackResponse(ResponseSchema):
    helped: list[str]
    hurt: list[str]
    made: int
    changed: int
