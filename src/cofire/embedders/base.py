"""The Embedder protocol, model identity, stored models, and lazily created resources."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import Generic, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Role = Literal["fact", "question"]


@dataclass(frozen=True, slots=True)
class Model:
    """Which model made a vector. Two models are the same when all three agree; vectors of different models never mix.

    `fingerprint` is the sha256 of the weights where they are at hand, else an empty string.
    """

    name: str
    dimension: int
    fingerprint: str = ""


class Embedder(Protocol):
    """Anything that turns texts into vectors.

    `embed` returns one float32 row of length 1 a text, in the order given; the same text gives the same row whatever
    stands beside it in the batch. `mean` is the model's resting vector (the mean over `calibration.TEXTS`), by which
    vectors are centred, and `resting` how alike two of those texts are after that (mean and deviation of their cosines);
    both are None where they have still to be measured. `silent_below` is the evidence below which memory is silent with this
    model, None where nobody calibrated it. Embedders raise only `EmbedderError`s.
    """

    @property
    def model(self) -> Model: ...

    @property
    def mean(self) -> Vectors | None: ...

    @property
    def resting(self) -> tuple[float, float] | None: ...

    @property
    def silent_below(self) -> float | None: ...

    def embed(self, texts: Sequence[str], role: Role) -> Vectors: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class EmbedderInfo:
    """The embedder at hand: its model, and what is known beforehand of its resting point, the spread around it and its silence."""

    model: Model
    mean: Vectors | None
    resting: tuple[float, float] | None
    silent_below: float | None = None

    @staticmethod
    def of(embedder: Embedder) -> EmbedderInfo:
        return EmbedderInfo(embedder.model, embedder.mean, embedder.resting, embedder.silent_below)


@dataclass(frozen=True)
class StoredModel:
    """A model as a store remembers it: its identity, its resting vector, and how alike two chance texts are to it.

    The mean is measured once, travels with the vectors and never drifts. Evidence under `silent_below` is none with this model;
    None where nobody calibrated it, or where the record is older than that.
    """

    model: Model
    mean: Vectors
    resting: tuple[float, float]
    silent_below: float | None = None

    def silent_as(self, resident: EmbedderInfo) -> StoredModel:
        """The same, silent where the embedder at hand is; where that does not know, the record holds."""
        return self if resident.silent_below is None else replace(self, silent_below=resident.silent_below)

    def encode(self) -> bytes:
        """As bytes for a record of the store."""
        known = {
            "name": self.model.name,
            "dimension": self.model.dimension,
            "fingerprint": self.model.fingerprint,
            "resting": list(self.resting),
            "silent_below": self.silent_below,
            "mean": b64encode(self.mean.astype("<f4").tobytes()).decode("ascii"),
        }
        return json.dumps(known).encode("ascii")

    @staticmethod
    @lru_cache(maxsize=16)
    def decode(value: bytes) -> StoredModel:
        """From the bytes of a record, which are asked for again with every fact that is told."""
        known = json.loads(value)
        mean = np.frombuffer(b64decode(known["mean"]), dtype="<f4")
        model = Model(known["name"], known["dimension"], known["fingerprint"])
        return StoredModel(model, mean, (known["resting"][0], known["resting"][1]), known.get("silent_below"))


T = TypeVar("T")


class LazyResource(Generic[T]):
    """
    >>> numbers = LazyResource(lambda: [1, 2])
    >>> numbers.get() is numbers.get()
    True
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._making = Lock()
        self._made: T | None = None

    def get(self) -> T:
        with self._making:
            if self._made is None:
                self._made = self._make()
            return self._made

    def let_go(self) -> T | None:
        """What was made, for closing, or None; the next need makes it anew."""
        with self._making:
            made, self._made = self._made, None
            return made
