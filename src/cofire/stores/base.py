"""What a store is: a dozen methods over facts, filters and changes. Indexes propose candidates; scoring is done elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cofire.embedders.base import Vectors
from cofire.model import Change, Edge, Fact, Importance, Link, Record, Where, Written

Floats = NDArray[np.float32]

MODEL_RECORD = "model"
INCOMING_RECORD = "model.incoming"


@dataclass(frozen=True, slots=True)
class WordCue:
    """The words of a question with their weights, and the constants of BM25: all that an index needs to propose candidates.

    A word of a fact's description counts `hint_weight` of a word of its text.
    """

    words: tuple[str, ...]
    weights: tuple[float, ...]
    mean_length: float
    k1: float
    b: float
    hint_weight: float = 0.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """What scoring needs of some facts, one row each in the order asked for.

    `vectors` are the stored rows (all zeros where a fact has none, as `embedded` tells). `counts` has a column a word, and so
    have `hints`, which count the words of descriptions.
    """

    ids: tuple[str, ...]
    vectors: Floats
    embedded: NDArray[np.bool_]
    counts: Floats
    lengths: Floats
    hints: Floats


@dataclass(frozen=True, slots=True)
class WordStatistics:
    """How common words are in some scopes, as last counted, with a sample of their vectors to tell what similarity is by chance."""

    facts: int
    mean_length: float
    holding: tuple[int, ...]
    sample: Floats


@dataclass(frozen=True, slots=True)
class StoreSize:
    """What a store holds."""

    facts: int
    archived: int
    embedded: int
    edges: int
    mentions: int
    waiting: int
    scopes: Mapping[str, int]
    bytes: int
    place: str
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EdgeFilter:
    """Which stored edges are wanted. `ids` are facts at either end, None for all."""

    scopes: tuple[str, ...] | None = None
    kinds: frozenset[str] = frozenset()
    ids: frozenset[str] | None = None
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """What the edge score looks at in a fact, besides its vector. `hours` is the active-hours clock at its last telling."""

    id: str
    scope: str
    tags: frozenset[str]
    category: str | None
    hours: float


@dataclass(frozen=True)
class Kin:
    """Pairs of facts that may belong together, with their centred cosine: rows of `ids`."""

    ids: tuple[str, ...]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    cosines: Floats


@dataclass(frozen=True)
class Network:
    """All that connects the facts of a scope, as arrays over rows of `ids`; what conducts both ways stands twice."""

    ids: tuple[str, ...]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: Floats


@dataclass(frozen=True, slots=True)
class Conducting:
    """Which links may be followed: of these kinds (None for all that conduct), not below a confidence, to facts that pass the
    filter, and of each fact at most so many, the strongest first."""

    where: Where
    kinds: frozenset[str] | None
    floor: float
    most: int


@dataclass(frozen=True)
class Expansion:
    """What some facts lead to, a row a link; parallel links stand in rows of their own.

    `ids` are the facts asked for, in their order, then those they lead to. A link conducts from `source` to `target`, both rows
    of `ids`; its weight or confidence is NaN where none was ever said. `degree` counts for each fact asked for its distinct
    neighbours, whatever the filter leaves of them. `via` is the name that a link goes through.
    """

    ids: tuple[str, ...]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    kind: tuple[str, ...]
    weight: NDArray[np.float64]
    confidence: NDArray[np.float64]
    tags: tuple[frozenset[str], ...]
    via: tuple[str | None, ...]
    degree: NDArray[np.int64]


class Store(Protocol):
    """Where facts live. Every method sees all that was written before it was called, by whomever."""

    def write(self, change: Change, expects: Mapping[str, int]) -> Written:
        """Write all of a change or nothing. Raises Conflict when a record has another version than expected (0: none)."""

    def recognise(self, hashes: Sequence[bytes]) -> dict[bytes, str]:
        """The ids of the facts that have these content hashes."""

    def read(self, ids: Sequence[str]) -> list[Fact | None]:
        """Facts by id, in the order asked for."""

    def scan(self, where: Where, limit: int, before: str | None) -> list[Fact]:
        """A page of the facts that pass the filter, newest first, starting below an id."""

    def nearest(self, vector: Vectors, k: int, where: Where, candidates: int) -> list[str]:
        """The ids of the facts closest to a vector by centred cosine, best first; an index may look at only so many candidates."""

    def matching(self, cue: WordCue, k: int, where: Where) -> list[str]:
        """The ids of the facts that score highest by BM25, best first; a fact that holds none of the words is not among them."""

    def weigh(self, ids: Sequence[str], words: Sequence[str]) -> Evidence:
        """What scoring needs to know of these facts; unknown ids are left out."""

    def statistics(self, scopes: Sequence[str], words: Sequence[str]) -> WordStatistics:
        """How common these words are, as last counted."""

    def record(self, name: str) -> Record | None:
        """A named record."""

    def unembedded(self, model: bytes, limit: int) -> list[Fact]:
        """Facts without a vector of this model, current or moving in, oldest first."""

    def edges(self, wanted: EdgeFilter, limit: int) -> list[Edge]:
        """Stored edges, the strongest first; of equals by source, target and kind."""

    def links(self, id: str, limit: int) -> list[Link]:
        """All that a fact is linked with, by stored edges and through names, the strongest first."""

    def waiting(self, scopes: Sequence[str] | None, limit: int) -> list[Fact]:
        """Facts in the inbox, the oldest first."""

    def kin(self, ids: Sequence[str], k: int, sharing: int) -> Kin:
        """For these facts the k nearest of their scope, and up to `sharing` more that share a rare tag."""

    def profiles(self, ids: Sequence[str]) -> list[Profile]:
        """What the edge score looks at in these facts; unknown ids are left out."""

    def expand(self, ids: Sequence[str], conducting: Conducting) -> Expansion:
        """The links that leave these facts; unknown ids have none."""

    def network(self, scope: str) -> Network:
        """The graph of a scope, for ranking and grouping."""

    def importance(self, ids: Sequence[str]) -> dict[str, Importance]:
        """PageRank and community of these facts, where they were computed."""

    def descriptions(self, id: str) -> list[str]:
        """How a fact was described over time, the description that holds last."""

    def active_hours(self) -> float:
        """The active-hours clock as of the last use."""

    def size(self) -> StoreSize:
        """Counts and bytes."""

    def together(self, questions: Sequence[Callable[[], Any]]) -> list[Any]:
        """Answer several questions as of one moment."""

    def backup(self, path: str) -> None:
        """Copy the live store to a new file."""

    def check(self) -> list[str]:
        """What is wrong with the store, in words; empty when all is well."""

    def close(self) -> None:
        """Let go of the store; closing twice is harmless."""
