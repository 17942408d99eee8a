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
    """The model that made a vector. Models are equal if all three fields are; vectors of different models
    are never compared.

    `fingerprint` is the sha256 of the weights, or "" if they are not available.
    """

    name: str
    dimension: int
    fingerprint: str = ""


class Embedder(Protocol):
    """Converts texts to vectors.

    `embed` returns one float32 row of length 1 per text, in order. The row of a text does not depend on
    the other texts of the batch. `mean` is the mean vector over `calibration.CALIBRATION_TEXTS`, by which
    vectors are centred; `resting` is the mean and standard deviation of the centred cosines between those
    texts. Both are None if they have to be measured. `silent_below` is the calibrated evidence threshold
    for abstention, or None. Embedders raise only `EmbedderError`s.
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
    """The current embedder: its model and calibration."""

    model: Model
    mean: Vectors | None
    resting: tuple[float, float] | None
    silent_below: float | None = None

    @staticmethod
    def of(embedder: Embedder) -> EmbedderInfo:
        return EmbedderInfo(embedder.model, embedder.mean, embedder.resting, embedder.silent_below)


@dataclass(frozen=True)
class StoredModel:
    """The model as recorded in a store: identity, mean vector, and spread of similarity by chance.

    The mean is measured once and kept with the vectors. `silent_below` is the evidence threshold for
    abstention, None without calibration or in older records.
    """

    model: Model
    mean: Vectors
    resting: tuple[float, float]
    silent_below: float | None = None

    def silent_as(self, resident: EmbedderInfo) -> StoredModel:
        """The same with the threshold of the current embedder, if that has one."""
        return self if resident.silent_below is None else replace(self, silent_below=resident.silent_below)

    def encode(self) -> bytes:
        """The bytes of the store record."""
        record = {
            "name": self.model.name,
            "dimension": self.model.dimension,
            "fingerprint": self.model.fingerprint,
            "resting": list(self.resting),
            "silent_below": self.silent_below,
            "mean": b64encode(self.mean.astype("<f4").tobytes()).decode("ascii"),
        }
        return json.dumps(record).encode("ascii")

    @staticmethod
    @lru_cache(maxsize=16)
    def decode(value: bytes) -> StoredModel:
        """Parse the store record. Cached: every write of a fact reads it."""
        record = json.loads(value)
        mean = np.frombuffer(b64decode(record["mean"]), dtype="<f4")
        model = Model(record["name"], record["dimension"], record["fingerprint"])
        center, spread = record["resting"]
        return StoredModel(model, mean, (center, spread), record.get("silent_below"))


T = TypeVar("T")


class LazyResource(Generic[T]):
    """A resource created on first use, once for all threads.

    >>> numbers = LazyResource(lambda: [1, 2])
    >>> numbers.get() is numbers.get()
    True
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = Lock()
        self._resource: T | None = None

    def get(self) -> T:
        with self._lock:
            if self._resource is None:
                self._resource = self._make()
            return self._resource

    def let_go(self) -> T | None:
        """The resource if it was created, for closing. It is created again on next use."""
        with self._lock:
            resource, self._resource = self._resource, None
            return resource
