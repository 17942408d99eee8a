"""What recall, why, compare, shadow_report and graph return, with text and JSON views."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, overload

from cofire import explain
from cofire.activation_paths import ActivationHop, ActivationRound, passes_to_rounds, trace_path
from cofire.algorithms.rank_comparison import RankChange, RankingComparison
from cofire.errors import InvalidInput
from cofire.explain import shorten_text
from cofire.model import Fact, FactImportance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ChannelScore:
    """Rank and score of a fact in one channel, and what they contribute to the fused score (`gives`)."""

    rank: int | None
    score: float
    gives: float


@dataclass(frozen=True, slots=True)
class ChannelReport:
    """Status of a channel: ok, empty, disabled, no_embedder, timed_out or failed.

    `heard` is its number of candidates, `note` the reason of the status.
    """

    name: str
    status: str
    heard: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """One returned fact with its score and where the score comes from.

    `channels` contribute to the score, which is the sum of what they give. `hops` are the links on
    the path from a seed, empty for a direct match. `parts` is the contribution of activation by
    feature. `bridge` are the links from the two results that a bridge fact connects.
    """

    fact: Fact
    score: float
    channels: Mapping[str, ChannelScore]
    hops: tuple[ActivationHop, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)
    bridge: tuple[ActivationHop, ...] = ()

    def __repr__(self) -> str:
        return f"<Hit {self.score:.2f} {self.fact.id} {shorten_text(self.fact.text, 60)!r}>"

    @property
    def id(self) -> str:
        return self.fact.id

    @property
    def text(self) -> str:
        return self.fact.text

    @property
    def path(self) -> tuple[str, ...]:
        """The ids along the hops, from the seed to this fact. Empty for a direct match."""
        return (self.hops[0].source, *(hop.target for hop in self.hops)) if self.hops else ()

    @property
    def confidences(self) -> tuple[float, ...]:
        """The confidence of each link of the path. A link without one counts as 1."""
        return tuple(1.0 if hop.confidence is None else hop.confidence for hop in self.hops)

    @property
    def weakest(self) -> float | None:
        """The confidence of the weakest link on the path."""
        return min(self.confidences, default=None)


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """The mode, strategy and fusion of a recall, with reasons. `dynamics` is None without activation."""

    mode: str
    mode_reason: str
    strategy: str
    strategy_reason: str
    dynamics: str | None
    fusion: str


@dataclass(frozen=True, slots=True)
class AbstentionVerdict:
    """Whether recall answers: the evidence, and the threshold it must reach."""

    known: bool
    evidence: float
    threshold: float
    reason: str


@dataclass(frozen=True)
class CandidateRanking:
    """All candidates of a recall, as arrays with one row per candidate.

    `scores`, `places` (ranks) and `gives` (contributions to the fused score) are by channel. `order`
    lists the rows by total score. `parts` is the contribution of activation by feature. `hops` and
    `seeds` belong to the passes of activation, `recorded` are its rounds if the dynamics records
    them. `bridges` are the links to each fact that connects two others.
    """

    ids: tuple[str, ...]
    order: tuple[int, ...]
    total: FloatArray
    scores: Mapping[str, FloatArray]
    places: Mapping[str, NDArray[np.int64]]
    gives: Mapping[str, FloatArray]
    parts: Mapping[str, FloatArray]
    hops: tuple[Mapping[str, ActivationHop], ...] = ()
    seeds: tuple[Mapping[str, float], ...] = ()
    recorded: tuple[ActivationRound, ...] = ()
    bridges: Mapping[str, tuple[ActivationHop, ActivationHop]] = field(default_factory=dict)

    @property
    def rounds(self) -> tuple[ActivationRound, ...]:
        """The rounds of activation: the recorded ones, or one per pass."""
        return self.recorded or passes_to_rounds(self.hops, self.seeds)

    def best(self, k: int) -> list[str]:
        """The ids of the first k candidates."""
        return [self.ids[row] for row in self.order[:k]]

    def place(self, id: str) -> int | None:
        """The rank of a fact among all candidates, from 1. None if it is not a candidate."""
        return self.order.index(self.ids.index(id)) + 1 if id in self.ids else None

    def without_paths(self) -> CandidateRanking:
        """The same ranking without the paths and rounds of activation."""
        return replace(self, hops=(), seeds=(), recorded=(), bridges={})

    def hit(self, fact: Fact) -> Hit:
        """One candidate as a hit."""
        return self.hits([fact])[0]

    def hits(self, facts: Sequence[Fact]) -> list[Hit]:
        """Candidates as hits, in the order of `facts`."""
        best_rows = {self.ids[row]: row for row in self.order[: len(facts)]}
        rows = []
        for fact in facts:
            row = best_rows.get(fact.id)
            rows.append(self.ids.index(fact.id) if row is None else row)
        return [
            Hit(
                fact,
                score,
                channels,
                trace_path(fact.id, self.hops, self.seeds),
                parts,
                self.bridges.get(fact.id, ()),
            )
            for fact, score, channels, parts in zip(
                facts,
                self.total[rows].tolist(),
                self._channel_scores(rows),
                self._activation_parts(rows),
                strict=True,
            )
        ]

    def _channel_scores(self, rows: list[int]) -> list[dict[str, ChannelScore]]:
        """For each row, the rank and score in each channel. A prior has neither, only a contribution."""
        channels_of_row: list[dict[str, ChannelScore]] = [{} for _ in rows]
        for name, contribution in self.gives.items():
            gives = contribution[rows].tolist()
            scores = self.scores[name][rows].tolist() if name in self.scores else gives
            places = self.places[name][rows].tolist() if name in self.places else [0] * len(rows)
            for channels, place, score, gain in zip(channels_of_row, places, scores, gives, strict=True):
                channels[name] = ChannelScore(place or None, score, gain)
        return channels_of_row

    def _activation_parts(self, rows: list[int]) -> list[dict[str, float]]:
        """For each row, what activation contributes by feature, without zeros."""
        parts_of_row: list[dict[str, float]] = [{} for _ in rows]
        for name, values in self.parts.items():
            for parts, value in zip(parts_of_row, values[rows].tolist(), strict=True):
                if value:
                    parts[name] = value
        return parts_of_row


@dataclass(frozen=True)
class Recollection:
    """The result of a recall: hits, best first, and a report of every stage.

    If recall abstains, `known` is False, `reason` says why, there are no hits, and `guesses` are the
    hits it would have returned. `ranking` has all candidates. `texts` are the texts of the facts on
    the paths, by id. Feedback refers to the recall by `id`, which is empty if the recall log is off.
    """

    question: str
    hits: tuple[Hit, ...]
    channels: tuple[ChannelReport, ...]
    scopes: tuple[str, ...]
    reason: str = ""
    mode: str = ""
    strategy: str = ""
    judgement: AbstentionVerdict | None = None
    guesses: tuple[Hit, ...] = ()
    ranking: CandidateRanking | None = None
    plan: PlanSummary | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    id: str = ""

    def with_id(self, id: str) -> Recollection:
        """The same result with an id."""
        return replace(self, id=id)

    @property
    def known(self) -> bool:
        return bool(self.hits)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(hit.id for hit in self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    def __repr__(self) -> str:
        question = shorten_text(self.question, 60)
        if not self.known:
            return f"<Recollection {question!r}: nothing known>"
        return f"<Recollection {question!r}: {explain.format_count(len(self.hits), 'hit')}, best {self.hits[0]!r}>"

    def text(self, budget: int | None = None) -> str:
        """The facts as a delimited block for a prompt, up to `budget` tokens. All facts by default."""
        if budget is not None and (type(budget) is not int or budget < 0):
            raise InvalidInput(
                f"budget cannot be {budget!r}.", way_out="Give a whole number of tokens, or None for all facts."
            )
        return explain.format_prompt([hit.fact for hit in self.hits], budget)

    def xray(self) -> str:
        """A report of every stage as text."""
        return explain.format_report(self)

    def to_dict(self) -> dict[str, Any]:
        """All stages as JSON values."""
        return explain.recollection_json(self)


RecallStage = Literal[
    "returned",
    "not_stored",
    "switched_off",
    "filtered",
    "silent",
    "not_a_candidate",
    "cut_by_inhibition",
    "beyond_expanded",
    "beyond_k",
    "beyond_budget",
    "outranked",
]


@dataclass(frozen=True, slots=True)
class FilterMismatch:
    """A filter that a fact does not match: the value asked for, and the value of the fact."""

    filter: str
    asked: str
    has: str


@dataclass(frozen=True, slots=True)
class QuestionSimilarity:
    """Similarity of a fact to the question. `cosine` is None if one of them has no vector."""

    cosine: float | None
    words: tuple[str, ...]
    share: float


@dataclass(frozen=True, slots=True)
class CompetingFact:
    """A fact that was returned instead."""

    id: str
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A change under which recall returned the fact, and its rank then. Every change was tried.

    `asked` are additional arguments of `recall`, `query` is another question, `link` an edge to add.
    """

    change: str
    place: int
    asked: Mapping[str, Any] = field(default_factory=dict)
    query: str | None = None
    link: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class WhyResult:
    """Why a fact was returned, or the first stage that dropped it.

    `place` is its rank among all candidates and `hit` its scores; both are None if it was not a
    candidate. `margin` is the difference to the score of `last`, the last returned fact. `remedies`
    are changes that bring it back, smallest first; `in_vain` are changes that did not.
    """

    question: str
    id: str
    stage: RecallStage
    explanation: str
    fact: Fact | None = None
    place: int | None = None
    hit: Hit | None = None
    likeness: QuestionSimilarity | None = None
    refusals: tuple[FilterMismatch, ...] = ()
    rivals: tuple[CompetingFact, ...] = ()
    margin: float | None = None
    last: Hit | None = None
    remedies: tuple[Counterfactual, ...] = ()
    in_vain: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def returned(self) -> bool:
        return self.stage == "returned"

    def text(self) -> str:
        """The result as lines of text."""
        lines = [f"{self.stage}: {self.explanation}"]
        if self.hit and self.place:
            lines += explain.format_hit_lines(self.place, self.hit, self.texts)
        for rival in self.rivals:
            lines.append(f"ranked above: {rival.score:.3f} {rival.id} {shorten_text(rival.text, 80)}")
        for remedy in self.remedies:
            lines.append(f"remedy: {remedy.change} (then rank {remedy.place})")
        for change in self.in_vain:
            lines.append(f"tried without success: {change}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON values."""
        return {
            "question": self.question,
            "id": self.id,
            "returned": self.returned,
            "stage": self.stage,
            "explanation": self.explanation,
            "place": self.place,
            "fact": explain.fact_json(self.fact) if self.fact else None,
            "hit": explain.hit_json(self.hit) if self.hit else None,
            "likeness": _similarity_json(self.likeness) if self.likeness else None,
            "refusals": [asdict(mismatch) for mismatch in self.refusals],
            "rivals": [asdict(rival) for rival in self.rivals],
            "margin": self.margin,
            "remedies": [_counterfactual_json(remedy) for remedy in self.remedies],
            "in_vain": list(self.in_vain),
            "texts": [{"id": id, "text": text} for id, text in self.texts.items()],
        }


def _similarity_json(similarity: QuestionSimilarity) -> dict[str, Any]:
    return {**asdict(similarity), "words": list(similarity.words)}


def _counterfactual_json(remedy: Counterfactual) -> dict[str, Any]:
    link = {"source": remedy.link[0], "target": remedy.link[1]} if remedy.link else None
    return {
        "change": remedy.change,
        "place": remedy.place,
        "asked": dict(remedy.asked),
        "query": remedy.query,
        "link": link,
    }


ConfigurationSettings = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class QuestionComparison:
    """One question under two configurations: how similar the results are, and which facts moved."""

    question: str
    comparison: RankingComparison

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {"question": self.question, **comparison_json(self.comparison)}


@dataclass(frozen=True, slots=True)
class CompareResult:
    """Questions under configurations `a` and `b`, each given by its settings: figures and their means."""

    k: int
    a: ConfigurationSettings
    b: ConfigurationSettings
    questions: tuple[QuestionComparison, ...]
    overlap: float
    tau: float
    same: int

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON values."""
        return {
            "k": self.k,
            "a": dict(self.a),
            "b": dict(self.b),
            "overlap": self.overlap,
            "tau": self.tau,
            "same": self.same,
            "questions": [question.to_dict() for question in self.questions],
        }


@dataclass(frozen=True, slots=True)
class MovedFact:
    """A fact whose rank differed in shadow recalls, and how often."""

    id: str
    text: str
    times: int


@dataclass(frozen=True, slots=True)
class ShadowFailure:
    """Why shadow recalls failed, and how often."""

    reason: str
    times: int


@dataclass(frozen=True, slots=True)
class ShadowReport:
    """Summary of the shadow recalls on record. The means are None if none of them succeeded.

    `place` is the folder of the records, empty if they are only in this process.
    """

    count: int
    overlap: float | None
    tau: float | None
    same: int
    promoted: tuple[MovedFact, ...]
    demoted: tuple[MovedFact, ...]
    failures: int
    reasons: tuple[ShadowFailure, ...]
    place: str

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON values."""
        plain = asdict(self)
        return {**plain, **{name: list(plain[name]) for name in ("promoted", "demoted", "reasons")}}


def comparison_json(comparison: RankingComparison) -> dict[str, Any]:
    """A comparison as JSON values."""
    return {
        "k": comparison.k,
        "overlap": comparison.overlap,
        "tau": comparison.tau,
        "promoted": [_move_json(move) for move in comparison.promoted],
        "demoted": [_move_json(move) for move in comparison.demoted],
    }


def _move_json(move: RankChange) -> dict[str, Any]:
    return {"id": move.id, "before": move.before, "after": move.after}


LABEL_LENGTH = 80


@dataclass(frozen=True, slots=True)
class PictureNode:
    """A fact in the picture, its importance, and its number of edges in the picture."""

    fact: Fact
    importance: FactImportance | None
    degree: int


@dataclass(frozen=True, slots=True)
class PictureEdge:
    """An edge in the picture, between two facts or two clusters."""

    source: str
    target: str
    kind: str
    weight: float | None


@dataclass(frozen=True, slots=True)
class PictureCluster:
    """A community as one node. Without a number: all facts of a scope outside the communities shown."""

    scope: str
    community: int | None
    name: str
    size: int

    @property
    def id(self) -> str:
        return f"{self.scope}/{'' if self.community is None else self.community}"


@dataclass(frozen=True, slots=True)
class Picture:
    """Nodes (or clusters, if there are too many nodes), the edges between them, and the total of facts."""

    nodes: tuple[PictureNode, ...]
    lines: tuple[PictureEdge, ...]
    clusters: tuple[PictureCluster, ...]
    total: int

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON values."""
        return {
            "nodes": [node_json(node) for node in self.nodes],
            "edges": [
                {"source": line.source, "target": line.target, "kind": line.kind, "weight": line.weight}
                for line in self.lines
            ],
            "clusters": [cluster_json(cluster) for cluster in self.clusters],
            "total": self.total,
        }


def node_json(node: PictureNode) -> dict[str, Any]:
    """A node as JSON values, with a short label instead of the text."""
    fact = node.fact
    importance = node.importance
    return {
        "id": fact.id,
        "label": shorten_text(fact.text, LABEL_LENGTH),
        "community": importance.community if importance else None,
        "pagerank": importance.pagerank if importance else None,
        "degree": node.degree,
        "at": fact.time.isoformat() if fact.time else None,
        "scope": fact.scope,
        "category": fact.category,
        "archived": fact.archived,
        "pinned": fact.pinned,
    }


def cluster_json(cluster: PictureCluster) -> dict[str, Any]:
    """A cluster as JSON values."""
    return {
        "id": cluster.id,
        "scope": cluster.scope,
        "community": cluster.community,
        "name": cluster.name,
        "size": cluster.size,
    }
