"""An embedder that a caller brings along, held to what embedders promise: its vectors are checked, its errors said in our words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cofire.embedders.base import Embedder, Model, Role, Vectors
from cofire.embedders.centring import unit
from cofire.embedders.foreign import check_numbers, shaped
from cofire.errors import CofireError, EmbedderFailed, InvalidInput

# Vectors of float16 are as far from the length 1.
NEARLY_ONE = 1e-3


@dataclass(frozen=True)
class OwnEmbedder:
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
        vectors = shaped(self._answer(texts, role), count=len(texts), dimension=model.dimension, name=model.name)
        # What has the length one is made of numbers.
        if _are_unit(vectors):
            return vectors
        check_numbers(vectors, name=model.name)
        return unit(vectors)

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


def own(given: object) -> OwnEmbedder:
    """An object that embeds, as an embedder; what cannot embed is refused."""
    if not callable(getattr(given, "embed", None)):
        raise InvalidInput(
            f"{type(given).__name__} is no embedder.",
            way_out="Give a name such as bundled, None, or an object as cofire.embedders.base.Embedder describes it.",
        )
    embedder: Embedder = given  # type: ignore[assignment]
    return OwnEmbedder(embedder)


def _are_unit(vectors: Vectors) -> bool:
    return bool((np.abs(np.sqrt(np.vecdot(vectors, vectors)) - 1) <= NEARLY_ONE).all())
