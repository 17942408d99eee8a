"""What recall, why, compare, shadow_report and graph return, with views as text and JSON."""

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


if TYPE_CHECKING:
    FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ChannelScore:
    """What one channel says of one fact: its place and score there, and what that gives to the fused score."""

    rank: int | None
    score: float
    gives: float


@dataclass(frozen=True, slots=True)
class ChannelReport:
    """How a channel fared: ok, empty, disabled, no_embedder, timed_out or failed, and why."""

    name: str
    status: str
    heard: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """One fact that came back, with the reasons.

    `hops` are the links by which the graph led to it, none when it was found directly; `parts` is what activation gives it, by
    feature; `bridge` are the links that lead to it from two results that it connects. What the channels give adds up to the
    score.
    """

    fact: Fact
    score: float
    channels: Mapping[str, ChannelScore]
    hops: tuple[ActivationHop, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)
    bridge: tuple[ActivationHop, ...] = ()

    def __repr__(self) -> str:
        return f"<Hit {self.score:.2f} {self.fact.id} {explain.shorten_text(self.fact.text, 60)!r}>"

    @property
    def id(self) -> str:
        return self.fact.id

    @property
    def text(self) -> str:
        return self.fact.text

    @property
    def path(self) -> tuple[str, ...]:
        """The ids along the hops, from the seed to this fact; empty when it was found directly."""
        return (self.hops[0].source, *(hop.target for hop in self.hops)) if self.hops else ()

    @property
    def confidences(self) -> tuple[float, ...]:
        """Of each link of the path; a link that never said one is trusted."""
        return tuple(1.0 if hop.confidence is None else hop.confidence for hop in self.hops)

    @property
    def weakest(self) -> float | None:
        """The confidence of the weakest link on the path."""
        return min(self.confidences, default=None)


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """How a question was answered, and why so. `dynamics` is None where activation took no part."""

    mode: str
    mode_reason: str
    strategy: str
    strategy_reason: str
    dynamics: str | None
    fusion: str


@dataclass(frozen=True, slots=True)
class AbstentionVerdict:
    """Whether memory has something to say: the evidence, and what it had to reach."""

    known: bool
    evidence: float
    threshold: float
    reason: str


@dataclass(frozen=True)
class CandidateRanking:
    """Every candidate of a recall, in arrays with a row each: what each channel scores, its place there, and what that gives.

    `parts` is what activation gives, by feature; `hops` and `seeds` are of each pass of activation, `recorded` its rounds;
    `bridges` are the links to each fact that connects two others.
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
        """The replay of activation, as it was recorded, else pass by pass."""
        return self.recorded or passes_to_rounds(self.hops, self.seeds)

    def best(self, k: int) -> list[str]:
        """The ids at the first places."""
        return [self.ids[row] for row in self.order[:k]]

    def place(self, id: str) -> int | None:
        """The place of a fact among all candidates, from 1; None where it is none of them."""
        return self.order.index(self.ids.index(id)) + 1 if id in self.ids else None

    def untold(self) -> CandidateRanking:
        """The same without the ways that activation took."""
        return replace(self, hops=(), seeds=(), recorded=(), bridges={})

    def hit(self, fact: Fact) -> Hit:
        """A candidate as a hit."""
        return self.hits([fact])[0]

    def hits(self, facts: Sequence[Fact]) -> list[Hit]:
        """Candidates as hits."""
        first = {self.ids[row]: row for row in self.order[: len(facts)]}
        rows = [first[fact.id] if fact.id in first else self.ids.index(fact.id) for fact in facts]
        scores = self.total[rows].tolist()
        return [LazyHit.at(row, fact, score, self) for row, fact, score in zip(rows, facts, scores, strict=True)]

    def heard(self, row: int) -> dict[str, ChannelScore]:
        """What each channel says of a candidate. Some have no places, and those that are no channel no scores."""
        return {name: self._heard(name, row, float(gives[row])) for name, gives in self.gives.items()}

    def _heard(self, name: str, row: int, gives: float) -> ChannelScore:
        place = int(self.places[name][row]) if name in self.places else 0
        return ChannelScore(place or None, float(self.scores[name][row]) if name in self.scores else gives, gives)

    def parts_of(self, row: int) -> dict[str, float]:
        """What activation gives a candidate, by feature, where it gives something."""
        return {name: float(values[row]) for name, values in self.parts.items() if values[row]}


class LazyHit(Hit):
    """A hit whose channels and parts are read out of the ranking when somebody looks, which few do. Copies of it are plain hits."""

    __slots__ = ("_ranking", "_row", "_told")
    _ranking: CandidateRanking | None
    _row: int
    _told: tuple[dict[str, ChannelScore], dict[str, float]] | None

    def __new__(cls, *given: Any, **named: Any) -> Hit:  # type: ignore[misc]
        return Hit(*given, **named)

    @classmethod
    def at(cls, row: int, fact: Fact, score: float, ranking: CandidateRanking) -> Hit:
        """A candidate as a hit."""
        made, tell = object.__new__(cls), object.__setattr__
        tell(made, "fact", fact)
        tell(made, "score", score)
        tell(made, "hops", trace_path(fact.id, ranking.hops, ranking.seeds))
        tell(made, "bridge", ranking.bridges.get(fact.id, ()))
        tell(made, "_ranking", ranking)
        tell(made, "_row", row)
        tell(made, "_told", None)
        return made

    @property
    def channels(self) -> dict[str, ChannelScore]:
        return self._read()[0]

    @property
    def parts(self) -> dict[str, float]:
        return self._read()[1]

    def _read(self) -> tuple[dict[str, ChannelScore], dict[str, float]]:
        """What the ranking tells, which nobody need hold on to from then on."""
        if self._told is None:
            assert self._ranking is not None
            object.__setattr__(self, "_told", (self._ranking.heard(self._row), self._ranking.parts_of(self._row)))
            object.__setattr__(self, "_ranking", None)
        assert self._told is not None
        return self._told

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hit) and _hit_fields(self) == _hit_fields(other)

    __hash__ = Hit.__hash__

    def __reduce__(self) -> tuple[type[Hit], tuple[Any, ...]]:
        return Hit, _hit_fields(self)


def _hit_fields(hit: Hit) -> tuple[Any, ...]:
    return hit.fact, hit.score, hit.channels, hit.hops, hit.parts, hit.bridge


@dataclass(frozen=True)
class Recollection:
    """The answer to a question: hits, best first, and what every stage did.

    `known` is False, with a reason, when memory has nothing to say; then there are no hits, and `guesses` are what it would have
    said. `ranking` has all candidates, `texts` those of the facts on the paths, by id. By its own `id` feedback can name it; it is
    empty where the log of recalls is off.
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

    def named(self, id: str) -> Recollection:
        """The same with an id. Every recall gets one, and `dataclasses.replace` would take ten times as long."""
        made = object.__new__(Recollection)
        made.__dict__.update(self.__dict__, id=id)
        return made

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
    def __getitem__(self, place: int) -> Hit: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, place: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[place]

    def __repr__(self) -> str:
        question = explain.shorten_text(self.question, 60)
        if not self.known:
            return f"<Recollection {question!r}: nothing known>"
        return f"<Recollection {question!r}: {explain.format_count(len(self.hits), 'hit')}, best {self.hits[0]!r}>"

    def text(self, budget: int | None = None) -> str:
        """The facts as a fenced block for a prompt, as many as fit into the budget of tokens; all without a budget."""
        if budget is not None and (type(budget) is not int or budget < 0):
            raise InvalidInput(
                f"budget cannot be {budget!r}.", way_out="Give a whole number of tokens, or None for all facts."
            )
        return explain.format_prompt([hit.fact for hit in self.hits], budget)

    def xray(self) -> str:
        """Every stage as text."""
        return explain.format_report(self)

    def to_dict(self) -> dict[str, Any]:
        """Every stage as JSON."""
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
    """A filter that a fact does not pass: what was asked for, and what the fact has."""

    filter: str
    asked: str
    has: str


@dataclass(frozen=True, slots=True)
class QuestionSimilarity:
    """How like the question a fact is by itself. `cosine` is None where there is no vector to compare."""

    cosine: float | None
    words: tuple[str, ...]
    share: float


@dataclass(frozen=True, slots=True)
class CompetingFact:
    """A fact that came back in its stead."""

    id: str
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A change that was really tried, and the place it gave the fact.

    `asked` is what to say to `recall` besides, `query` what to ask instead, `link` what to connect first.
    """

    change: str
    place: int
    asked: Mapping[str, Any] = field(default_factory=dict)
    query: str | None = None
    link: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class WhyResult:
    """Why a fact came back, or the first stage where it was lost.

    `place` is among all candidates and `hit` its arithmetic, both None where it was none; `margin` is what it lacks to `last`, the
    last fact that came back. `remedies` come with the smallest change first, `in_vain` is what was tried and did not help.
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
        """All of it as lines of text."""
        lines = [f"{self.stage}: {self.explanation}"]
        lines += explain.format_hit_lines(self.place, self.hit, self.texts) if self.hit and self.place else []
        lines += [f"above it: {one.score:.3f} {one.id} {explain.shorten_text(one.text, 80)}" for one in self.rivals]
        lines += [f"remedy: {one.change} (then at place {one.place})" for one in self.remedies]
        lines += [f"in vain: {change}" for change in self.in_vain]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON."""
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
            "refusals": [asdict(one) for one in self.refusals],
            "rivals": [asdict(one) for one in self.rivals],
            "margin": self.margin,
            "remedies": [_counterfactual_json(one) for one in self.remedies],
            "in_vain": list(self.in_vain),
            "texts": [{"id": id, "text": text} for id, text in self.texts.items()],
        }


def _similarity_json(likeness: QuestionSimilarity) -> dict[str, Any]:
    return {"cosine": likeness.cosine, "words": list(likeness.words), "share": likeness.share}


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
    """One question under two configurations: how alike the two lists are, and which facts moved."""

    question: str
    comparison: RankingComparison

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {"question": self.question, **comparison_json(self.comparison)}


@dataclass(frozen=True, slots=True)
class CompareResult:
    """Many questions under configurations `a` and `b`, each told by what it sets: the figures of each, and their means."""

    k: int
    a: ConfigurationSettings
    b: ConfigurationSettings
    questions: tuple[QuestionComparison, ...]
    overlap: float
    tau: float
    same: int

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {
            "k": self.k,
            "a": dict(self.a),
            "b": dict(self.b),
            "overlap": self.overlap,
            "tau": self.tau,
            "same": self.same,
            "questions": [one.to_dict() for one in self.questions],
        }


@dataclass(frozen=True, slots=True)
class MovedFact:
    """A fact that a shadow recall moved, and how often."""

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
    """What the shadow recalls that are kept came to. The means are None where there is none that succeeded.

    `place` is the folder where they are kept, empty where that is this process alone.
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
        """All of it as JSON."""
        plain = asdict(self)
        return {**plain, **{name: list(plain[name]) for name in ("promoted", "demoted", "reasons")}}


def comparison_json(comparison: RankingComparison) -> dict[str, Any]:
    """A comparison as plain values."""
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
    """A fact in the picture, how important it is, and how many edges of the picture touch it."""

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
    """A community as one node. Without a number it is all the facts of a scope that are in none of the communities shown."""

    scope: str
    community: int | None
    name: str
    size: int

    @property
    def id(self) -> str:
        return f"{self.scope}/{'' if self.community is None else self.community}"


@dataclass(frozen=True, slots=True)
class Picture:
    """Nodes or, where there would be too many, clusters; the lines between them; and how many facts there are in all."""

    nodes: tuple[PictureNode, ...]
    lines: tuple[PictureEdge, ...]
    clusters: tuple[PictureCluster, ...]
    total: int

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON."""
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
    """A node as plain values, with a short label instead of the text."""
    fact, rated = node.fact, node.importance
    return {
        "id": fact.id,
        "label": shorten_text(fact.text, LABEL_LENGTH),
        "community": rated.community if rated else None,
        "pagerank": rated.pagerank if rated else None,
        "degree": node.degree,
        "at": fact.time.isoformat() if fact.time else None,
        "scope": fact.scope,
        "category": fact.category,
        "archived": fact.archived,
        "pinned": fact.pinned,
    }


def cluster_json(cluster: PictureCluster) -> dict[str, Any]:
    """A cluster as plain values."""
    return {
        "id": cluster.id,
        "scope": cluster.scope,
        "community": cluster.community,
        "name": cluster.name,
        "size": cluster.size,
    }
