"""What the API answers with, for OpenAPI: the shapes of docs/reference/json.md as models. The values are made elsewhere.

Those of recall, why and explore are in `recall_answers`.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class Answer(BaseModel):
    """An object with these fields and no others."""

    model_config = ConfigDict(extra="forbid")


class Mistake(Answer):
    kind: str
    problem: str
    way_out: str


class Error(Answer):
    """What went wrong, and what to do."""

    error: Mistake


class Health(Answer):
    ok: bool
    version: str


class SkippedFact(Answer):
    """A fact that was not stored: its place from 0, what is wrong, and what to do."""

    index: int
    problem: str
    way_out: str


class Remembered(Answer):
    """The ids, in the order of the facts: null for a fact that was skipped, with the reason in `skipped`."""

    ids: list[str | None]
    skipped: list[SkippedFact]


class FactShape(Answer):
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


class Past(FactShape):
    """A fact as it was until some time."""

    until: str


class OneFact(Answer):
    fact: FactShape


class Facts(Answer):
    facts: list[FactShape]


class FactsPage(Facts):
    """`next` is what to give as `before` for the next page; null on the last."""

    next: str | None


class EdgeShape(Answer):
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


class Edges(Answer):
    edges: list[EdgeShape]


class LinkShape(EdgeShape):
    """An edge as seen from a fact, with the text at its other end."""

    via: str | None
    text: str


class Importance(Answer):
    pagerank: float
    community: int


class Use(Answer):
    helped: int
    hurt: int
    success: float


class Portrait(Answer):
    """A fact with all that hangs on it."""

    fact: FactShape
    links: list[LinkShape]
    descriptions: list[str]
    importance: Importance | None
    use: Use
    history: list[Past]
    archived_because: str | None


class Told(Answer):
    id: str
    text: str


class Radius(Answer):
    facts: int
    edges: int
    mentions: int
    subjects: int
    vectors: int
    words: int
    descriptions: int
    cited: list[str]


class Receipt(Answer):
    id: str
    expires: str


class Forgotten(Answer):
    """What was forgotten or, with `dry_run`, would be; and what brings it back."""

    forgotten: bool
    dry_run: bool
    facts: list[FactShape]
    radius: Radius
    receipt: Receipt | None


class Skipped(Answer):
    what: str
    id: str
    why: str


class Restored(Answer):
    facts: list[FactShape]
    edges: int
    skipped: list[Skipped]


class Review(Answer):
    old: FactShape
    new: FactShape
    why: str
    state: str


class Reviews(Answer):
    reviews: list[Review]


class Decided(Answer):
    old: str
    new: str
    state: str


class Dreamed(Answer):
    facts: int
    new: int
    changed: int
    ended: int
    communities: int
    waiting: int


class FadedEdge(Answer):
    source: str
    target: str
    kind: str
    before: float
    after: float | None


class Curated(Answer):
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
    examples: list[FadedEdge]


class ReadingFailuresAnswer(Answer):
    """Facts on which a reading rule failed, how often each rule failed, and the ids of the last of them."""

    facts: int
    rules: dict[str, int]
    ids: list[str]


class Stats(Answer):
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
    reading_failures: ReadingFailuresAnswer
    details: dict[str, str]


class Scopes(Answer):
    """How many facts each scope holds."""

    scopes: dict[str, int]


class CommunityShape(Answer):
    scope: str
    number: int
    size: int
    name: str
    facts: list[Told]


class Communities(Answer):
    communities: list[CommunityShape]


class GuidePage(Answer):
    verb: str
    what: str
    when: str
    cost: str
    next: str


class Guide(Answer):
    pages: list[GuidePage]


class Moved(Told):
    times: int


class FailedShadow(Answer):
    reason: str
    times: int


class Shadow(Answer):
    count: int
    overlap: float | None
    tau: float | None
    same: int
    promoted: list[Moved]
    demoted: list[Moved]
    failures: int
    reasons: list[FailedShadow]
    place: str


class Setting(Answer):
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


class Settings(Answer):
    settings: list[Setting]


class NodeShape(Answer):
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


class LineShape(Answer):
    source: str
    target: str
    kind: str
    weight: float | None


class ClusterShape(Answer):
    id: str
    scope: str
    community: int | None
    name: str
    size: int


class Graph(Answer):
    """Nodes, or clusters where there are too many; `edges` lie between the one or the other."""

    nodes: list[NodeShape]
    edges: list[LineShape]
    clusters: list[ClusterShape]
    total: int
