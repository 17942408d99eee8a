"""The base class of embedders for external models, and a validating wrapper for custom ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cofire.algorithms.vector_similarity import normalise_vectors
from cofire.embedders.base import Embedder, Model, Role, Vectors
from cofire.errors import CofireError, EmbedderFailed, InvalidInput, map_exceptions

_PROBE_TEXT = "dimension"


@dataclass(frozen=True, slots=True)
class TextPrefixes:
    """Prefixes that a model expects before facts and questions, such as "query: "."""

    fact: str = ""
    question: str = ""

    def before(self, text: str, role: Role) -> str:
        return (self.question if role == "question" else self.fact) + text


class ExternalEmbedder(ABC):
    """An embedder for an external model. Subclasses compute raw vectors and release resources."""

    def __init__(self, name: str, *, dimension: int | None, prefixes: TextPrefixes) -> None:
        self._name = name
        self._dimension = dimension
        self._prefixes = prefixes

    @property
    def model(self) -> Model:
        """Embeds one text if the dimension is not known yet."""
        return Model(self._name, self._dimension or self.embed([_PROBE_TEXT], "fact").shape[1])

    @property
    def mean(self) -> None:
        return None

    @property
    def resting(self) -> None:
        return None

    @property
    def silent_below(self) -> None:
        return None

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        if not texts:
            return np.empty((0, self.model.dimension), np.float32)
        answer = self._vectors([self._prefixes.before(text, role) for text in texts], role)
        vectors = check_vectors(answer, count=len(texts), dimension=self._dimension, name=self._name)
        self._dimension = vectors.shape[1]
        return normalise_vectors(vectors)

    @abstractmethod
    def _vectors(self, texts: list[str], role: Role) -> Any:
        """One raw vector per text, in any form that numpy can convert."""

    @abstractmethod
    def close(self) -> None: ...


def check_vectors(answer: Any, *, count: int, dimension: int | None, name: str) -> Vectors:
    """Convert an answer to an array with one finite vector of the right dimension per text."""
    vectors = to_vector_array(answer, count=count, dimension=dimension, name=name)
    check_numbers(vectors, name=name)
    return vectors


def to_vector_array(answer: Any, *, count: int, dimension: int | None, name: str) -> Vectors:
    """Convert an answer to an array of the right shape. Its values are not checked."""
    with map_exceptions(
        {ValueError: EmbedderFailed, TypeError: EmbedderFailed},
        problem="The answer has no vectors of equal length: {error}.",
        way_out=f"Check that {name} is an embedding model.",
    ):
        vectors = np.asarray(answer, dtype=np.float32)
    _check_shape(vectors, count=count, dimension=dimension, name=name)
    return vectors


def _check_shape(vectors: Vectors, *, count: int, dimension: int | None, name: str) -> None:
    if vectors.ndim != 2 or len(vectors) != count:
        raise EmbedderFailed(
            f"{name} was given {count} texts and answered with an array of the shape {vectors.shape}.",
            way_out="Check that it is an embedding model and that its server is up to date.",
        )
    if dimension is not None and vectors.shape[1] != dimension:
        raise EmbedderFailed(
            f"{name} answered with vectors of {vectors.shape[1]} dimensions instead of {dimension}.",
            way_out="Leave out the dimensions, or give those of the model.",
        )


def check_numbers(vectors: Vectors, *, name: str) -> None:
    # A vector with NaN, infinite or only zero components has no finite positive square.
    squares = np.vecdot(wide := vectors.astype(np.float64), wide)
    if not ((squares > 0) & (squares < np.inf)).all():
        raise EmbedderFailed(
            f"{name} answered with a vector that is zero or not made of numbers.",
            way_out="Try the text alone, to see whether it or the server is the cause.",
        )


# float16 vectors deviate this much from length 1.
UNIT_LENGTH_TOLERANCE = 1e-3


@dataclass(frozen=True)
class CheckedEmbedder:
    """Validates the vectors of a custom embedder: an invalid vector would spoil every recall."""

    embedder: Embedder

    @property
    def model(self) -> Model:
        return self.embedder.model

    @property
    def mean(self) -> Vectors | None:
        return self.embedder.mean

    @property
    def resting(self) -> tuple[float, float] | None:
        return self.embedder.resting

    @property
    def silent_below(self) -> float | None:
        return self.embedder.silent_below

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        model = self.model
        if not texts:
            return np.empty((0, model.dimension), np.float32)
        vectors = to_vector_array(
            self._answer(texts, role), count=len(texts), dimension=model.dimension, name=model.name
        )
        # Vectors of length 1 are finite.
        if _are_unit_vectors(vectors):
            return vectors
        check_numbers(vectors, name=model.name)
        return normalise_vectors(vectors)

    def close(self) -> None:
        self.embedder.close()

    def _answer(self, texts: Sequence[str], role: Role) -> object:
        try:
            return self.embedder.embed(texts, role)
        except CofireError:
            raise
        except Exception as error:
            raise EmbedderFailed(
                f"The embedder {self.model.name} failed: {type(error).__name__}: {error}.",
                way_out="Correct it, or open the memory with another embedder.",
            ) from error


def wrap_embedder(custom: object) -> CheckedEmbedder:
    """Wrap an object with an `embed` method."""
    if not callable(getattr(custom, "embed", None)):
        raise InvalidInput(
            f"{type(custom).__name__} is not an embedder.",
            way_out="Give a name such as bundled, None, or an object with the methods of cofire.embedders.base.Embedder.",
        )
    embedder: Embedder = custom  # type: ignore[assignment]
    return CheckedEmbedder(embedder)


def _are_unit_vectors(vectors: Vectors) -> bool:
    return bool((np.abs(np.sqrt(np.vecdot(vectors, vectors)) - 1) <= UNIT_LENGTH_TOLERANCE).all())
