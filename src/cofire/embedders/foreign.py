"""What embedders of other makers have in common: prefixes, a dimension learned from an answer, checked vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cofire.embedders.base import Model, Role, Vectors
from cofire.embedders.centring import unit
from cofire.errors import EmbedderFailed, map_exceptions

_ANY_TEXT = "dimension"


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What a model wants to read before a fact and before a question, such as "query: "."""

    fact: str = ""
    question: str = ""

    def before(self, text: str, role: Role) -> str:
        return (self.question if role == "question" else self.fact) + text


class Foreign(ABC):
    """An embedder around somebody else's model. A subclass says how raw vectors are made, and what to let go of."""

    def __init__(self, name: str, *, dimension: int | None, prefixes: Prefixes) -> None:
        self._name = name
        self._dimension = dimension
        self._prefixes = prefixes

    @property
    def model(self) -> Model:
        """Asks for one vector where the dimension is not known yet."""
        return Model(self._name, self._dimension or self.embed([_ANY_TEXT], "fact").shape[1])

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
        vectors = checked(answer, count=len(texts), dimension=self._dimension, name=self._name)
        self._dimension = vectors.shape[1]
        return unit(vectors)

    @abstractmethod
    def _vectors(self, texts: list[str], role: Role) -> Any:
        """One raw vector a text, in any form numpy understands."""

    @abstractmethod
    def close(self) -> None: ...


def checked(answer: Any, *, count: int, dimension: int | None, name: str) -> Vectors:
    """An answer as an array, once it is certain that it is one vector a text, all of the model's dimension and made of numbers."""
    vectors = shaped(answer, count=count, dimension=dimension, name=name)
    check_numbers(vectors, name=name)
    return vectors


def shaped(answer: Any, *, count: int, dimension: int | None, name: str) -> Vectors:
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
