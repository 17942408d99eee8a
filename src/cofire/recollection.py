"""What a recall gives back: hits with the evidence of every channel, and views of them as prompt text, x-ray and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, overload

from cofire import xray
from cofire.errors import InvalidInput
from cofire.model import Fact
from cofire.spreads import Hop, Round, path_back, rounds_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Heard:
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
    channels: Mapping[str, Heard]
    hops: tuple[Hop, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)
    bridge: tuple[Hop, ...] = ()

    def __repr__(self) -> str:
        return f"<Hit {self.score:.2f} {self.fact.id} {xray.shortened(self.fact.text, 60)!r}>"

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
class Planned:
    """How a question was answered, and why so. `dynamics` is None where activation took no part."""

    mode: str
    mode_reason: str
    strategy: str
    strategy_reason: str
    dynamics: str | None
    fusion: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether memory has something to say: the evidence, and what it had to reach."""

    known: bool
    evidence: float
    threshold: float
    reason: str


@dataclass(frozen=True)
class Ranking:
    """Every candidate of a recall, in arrays with a row each: what each channel scores, its place there, and what that gives.

    `parts` is what activation gives, by feature; `hops` and `seeds` are of each pass of activation, `recorded` its rounds;
    `bridges` are the links to each fact that connects two others.
    """

    ids: tuple[str, ...]
    order: tuple[int, ...]
    total: Numbers
    scores: Mapping[str, Numbers]
    places: Mapping[str, NDArray[np.int64]]
    gives: Mapping[str, Numbers]
    parts: Mapping[str, Numbers]
    hops: tuple[Mapping[str, Hop], ...] = ()
    seeds: tuple[Mapping[str, float], ...] = ()
    recorded: tuple[Round, ...] = ()
    bridges: Mapping[str, tuple[Hop, Hop]] = field(default_factory=dict)

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The replay of activation, as it was recorded, else pass by pass."""
        return self.recorded or rounds_of(self.hops, self.seeds)

    def best(self, k: int) -> list[str]:
        """The ids at the first places."""
        return [self.ids[row] for row in self.order[:k]]

    def place(self, id: str) -> int | None:
        """The place of a fact among all candidates, from 1; None where it is none of them."""
        return self.order.index(self.ids.index(id)) + 1 if id in self.ids else None

    def untold(self) -> Ranking:
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
        return [LateHit.at(row, fact, score, self) for row, fact, score in zip(rows, facts, scores, strict=True)]

    def heard(self, row: int) -> dict[str, Heard]:
        """What each channel says of a candidate. Some have no places, and those that are no channel no scores."""
        return {name: self._heard(name, row, float(gives[row])) for name, gives in self.gives.items()}

    def _heard(self, name: str, row: int, gives: float) -> Heard:
        place = int(self.places[name][row]) if name in self.places else 0
        return Heard(place or None, float(self.scores[name][row]) if name in self.scores else gives, gives)

    def parts_of(self, row: int) -> dict[str, float]:
        """What activation gives a candidate, by feature, where it gives something."""
        return {name: float(values[row]) for name, values in self.parts.items() if values[row]}


class LateHit(Hit):
    """A hit whose channels and parts are read out of the ranking when somebody looks, which few do. Copies of it are plain hits."""

    __slots__ = ("_ranking", "_row", "_told")
    _ranking: Ranking | None
    _row: int
    _told: tuple[dict[str, Heard], dict[str, float]] | None

    def __new__(cls, *given: Any, **named: Any) -> Hit:  # type: ignore[misc]
        return Hit(*given, **named)

    @classmethod
    def at(cls, row: int, fact: Fact, score: float, ranking: Ranking) -> Hit:
        """A candidate as a hit."""
        made, tell = object.__new__(cls), object.__setattr__
        tell(made, "fact", fact)
        tell(made, "score", score)
        tell(made, "hops", path_back(fact.id, ranking.hops, ranking.seeds))
        tell(made, "bridge", ranking.bridges.get(fact.id, ()))
        tell(made, "_ranking", ranking)
        tell(made, "_row", row)
        tell(made, "_told", None)
        return made

    @property
    def channels(self) -> dict[str, Heard]:
        return self._read()[0]

    @property
    def parts(self) -> dict[str, float]:
        return self._read()[1]

    def _read(self) -> tuple[dict[str, Heard], dict[str, float]]:
        """What the ranking tells, which nobody need hold on to from then on."""
        if self._told is None:
            assert self._ranking is not None
            object.__setattr__(self, "_told", (self._ranking.heard(self._row), self._ranking.parts_of(self._row)))
            object.__setattr__(self, "_ranking", None)
        assert self._told is not None
        return self._told

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hit) and _fields(self) == _fields(other)

    __hash__ = Hit.__hash__

    def __reduce__(self) -> tuple[type[Hit], tuple[Any, ...]]:
        return Hit, _fields(self)


def _fields(hit: Hit) -> tuple[Any, ...]:
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
    judgement: Judgement | None = None
    guesses: tuple[Hit, ...] = ()
    ranking: Ranking | None = None
    plan: Planned | None = None
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
        question = xray.shortened(self.question, 60)
        if not self.known:
            return f"<Recollection {question!r}: nothing known>"
        return f"<Recollection {question!r}: {xray.counted(len(self.hits), 'hit')}, best {self.hits[0]!r}>"

    def text(self, budget: int | None = None) -> str:
        """The facts as a fenced block for a prompt, as many as fit into the budget of tokens; all without a budget."""
        if budget is not None and (type(budget) is not int or budget < 0):
            raise InvalidInput(
                f"budget cannot be {budget!r}.", way_out="Give a whole number of tokens, or None for all facts."
            )
        return xray.prompt_text([hit.fact for hit in self.hits], budget)

    def xray(self) -> str:
        """Every stage as text."""
        return xray.report(self)

    def to_dict(self) -> dict[str, Any]:
        """Every stage as JSON."""
        return xray.as_json(self)
