"""What a store is: a dozen methods over facts, filters and changes. Indexes propose candidates; scoring is done elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cofire.embedders.base import Vectors
from cofire.model import Change, Fact, Record, Where, Written

Floats = NDArray[np.float32]

MODEL_RECORD = "model"
INCOMING_RECORD = "model.incoming"


@dataclass(frozen=True, slots=True)
class WordCue:
    """The words of a question with their weights, and the constants of BM25: all that an index needs to propose candidates."""

    words: tuple[str, ...]
    weights: tuple[float, ...]
    mean_length: float
    k1: float
    b: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """What scoring needs of some facts, one row each in the order asked for.

    `vectors` are the stored rows (all zeros where a fact has none, as `embedded` tells), `counts` has a column a word.
    """

    ids: tuple[str, ...]
    vectors: Floats
    embedded: NDArray[np.bool_]
    counts: Floats
    lengths: Floats


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
    scopes: Mapping[str, int]
    bytes: int
    place: str
    details: Mapping[str, str] = field(default_factory=dict)


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
