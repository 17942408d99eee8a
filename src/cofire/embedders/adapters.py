"""Base class for external models, and a checked wrapper around a caller's embedder."""

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
    """What a model wants to read before a fact and before a question, such as "query: "."""

    fact: str = ""
    question: str = ""

    def before(self, text: str, role: Role) -> str:
        return (self.question if role == "question" else self.fact) + text


class ExternalEmbedder(ABC):
    """An embedder around somebody else's model. A subclass says how raw vectors are made, and what to let go of."""

    def __init__(self, name: str, *, dimension: int | None, prefixes: TextPrefixes) -> None:
        self._name = name
        self._dimension = dimension
        self._prefixes = prefixes

    @property
    def model(self) -> Model:
        """Asks for one vector where the dimension is not known yet."""
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
        """One raw vector a text, in any form numpy understands."""

    @abstractmethod
    def close(self) -> None: ...


def check_vectors(answer: Any, *, count: int, dimension: int | None, name: str) -> Vectors:
    """An answer as an array, once it is certain that it is one vector a text, all of the model's dimension and made of numbers."""
    vectors = to_vector_array(answer, count=count, dimension=dimension, name=name)
    check_numbers(vectors, name=name)
    return vectors


def to_vector_array(answer: Any, *, count: int, dimension: int | None, name: str) -> Vectors:
    """An answer as an array of one row a text, all of the model's dimension; of what it is made nobody has looked."""
    with map_exceptions(
        {ValueError: EmbedderFailed, TypeError: EmbedderFailed},
        problem="The answer holds no vectors of equal length: {error}.",
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
            way_out="Leave the dimensions out, or ask for those that the model has.",
        )


def check_numbers(vectors: Vectors, *, name: str) -> None:
    # What is not made of numbers makes its own product none.
    squares = np.vecdot(wide := vectors.astype(np.float64), wide)
    if not ((squares > 0) & (squares < np.inf)).all():
        raise EmbedderFailed(
            f"{name} answered with a vector that is zero or not made of numbers.",
            way_out="Try the text alone, to see whether it or the server is the cause.",
        )


# Vectors of float16 are as far from the length 1.
UNIT_LENGTH_TOLERANCE = 1e-3


@dataclass(frozen=True)
class CheckedEmbedder:
    """Somebody's embedder. A vector that is none would be stored and spoil every recall, so it is refused."""

    given: Embedder

    @property
    def model(self) -> Model:
        return self.given.model

    @property
    def mean(self) -> Vectors | None:
        return self.given.mean

    @property
    def resting(self) -> tuple[float, float] | None:
        return self.given.resting

    @property
    def silent_below(self) -> float | None:
        return self.given.silent_below

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        model = self.model
        if not texts:
            return np.empty((0, model.dimension), np.float32)
        vectors = to_vector_array(
            self._answer(texts, role), count=len(texts), dimension=model.dimension, name=model.name
        )
        # What has the length one is made of numbers.
        if _are_unit_vectors(vectors):
            return vectors
        check_numbers(vectors, name=model.name)
        return normalise_vectors(vectors)

    def close(self) -> None:
        self.given.close()

    def _answer(self, texts: Sequence[str], role: Role) -> object:
        try:
            return self.given.embed(texts, role)
        except CofireError:
            raise
        except Exception as error:
            raise EmbedderFailed(
                f"The embedder {self.model.name} failed: {type(error).__name__}: {error}.",
                way_out="Mend it, or open the memory with another embedder.",
            ) from error


def wrap_embedder(given: object) -> CheckedEmbedder:
    """An object that embeds, as an embedder; what cannot embed is refused."""
    if not callable(getattr(given, "embed", None)):
        raise InvalidInput(
            f"{type(given).__name__} is no embedder.",
            way_out="Give a name such as bundled, None, or an object as cofire.embedders.base.Embedder describes it.",
        )
    embedder: Embedder = given  # type: ignore[assignment]
    return CheckedEmbedder(embedder)


def _are_unit_vectors(vectors: Vectors) -> bool:
    return bool((np.abs(np.sqrt(np.vecdot(vectors, vectors)) - 1) <= UNIT_LENGTH_TOLERANCE).all())
