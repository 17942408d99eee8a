"""Facts, vectors and changes for the tests of stores, made the way verbs make them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import numpy as np

from cofire.embedders.base import Model, StoredModel, Vectors
from cofire.model import Change, Fact, FactFilter, FactWrite, NameMention, StoreRecord, SubjectName, WriteResult
from cofire.stores.base import INCOMING_RECORD, MODEL_RECORD, KeywordQuery, Store
from cofire.verbs.fact_analysis import count_fact_words

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)

MEAN = np.array([0.9, 0.0, 0.0, 0.0], np.float32)
MODEL = StoredModel(Model("four", 4, "f0"), MEAN, (0.0, 0.3))
OTHER = StoredModel(Model("two", 2), np.zeros(2, np.float32), (0.0, 0.3))
TWIN = StoredModel(Model("another four", 4), MEAN, (0.0, 0.3))


def vector(*numbers: float) -> bytes:
    """A vector of length one as stores keep it."""
    row = np.array(numbers, np.float32)
    return bytes((row / np.linalg.norm(row)).astype(np.float16).tobytes())


def asked(*numbers: float) -> Vectors:
    """A vector of length one as questions bring it."""
    row = np.array(numbers, np.float32)
    return row / np.linalg.norm(row)


def everywhere(**conditions: Any) -> FactFilter:
    return FactFilter(**{"now": NOW, "scopes": None, **conditions})


def cue(
    *words: str, weights: Sequence[float] | None = None, mean_length: float = 4.0, **constants: float
) -> KeywordQuery:
    given = tuple(weights) if weights else tuple(1.0 for _ in words)
    return KeywordQuery(words, given, mean_length, constants.get("k1", 0.8), constants.get("b", 0.6))


def holding(
    new: FactWrite, mentions: Mapping[str, Sequence[int]], about: Mapping[str, float], sure: float = 1.0
) -> FactWrite:
    """A fact on its way that mentions names, in these sentences, and is about names, this strongly."""
    mentioned = tuple(NameMention(name, tuple(at), sure) for name, at in mentions.items())
    return replace(new, mentions=mentioned, subjects=tuple(SubjectName(name, by) for name, by in about.items()))


class Pen:
    """Writes into a store; each fact gets the next id, so that a later one is newer."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._numbers = count(1)

    def new(self, text: str, vector: bytes | None = None, **parts: Any) -> FactWrite:
        """A fact on its way, not yet written."""
        fact = replace(Fact(text, id=f"{next(self._numbers):026}", stored_at=NOW), **parts)
        return FactWrite(fact, count_fact_words(fact), vector)

    def tell(self, text: str, vector: bytes | None = None, **parts: Any) -> str:
        """Write one fact; its id."""
        return self.write(self.new(text, vector, **parts)).facts[0].id

    def write(self, *facts: FactWrite, expects: dict[str, int] | None = None, **parts: Any) -> WriteResult:
        return self.store.write(Change(**{"now": NOW, "facts": facts, **parts}), expects or {})

    def forget(self, *ids: str) -> WriteResult:
        return self.write(removals=ids)

    def recount(self, *scopes: str, sample: int = 0) -> WriteResult:
        return self.write(recount=scopes, sample=sample)

    def settle(self, model: StoredModel = MODEL) -> WriteResult:
        """Say which model the store's vectors are of."""
        return self.write(records=(StoreRecord(MODEL_RECORD, model.encode()),))

    def move_in(self, model: StoredModel, vectors: dict[str, bytes]) -> WriteResult:
        """Bring vectors of a model that is moving in."""
        return self.write(vectors=vectors, records=(StoreRecord(INCOMING_RECORD, model.encode()),))

    def adopt(self, model: StoredModel, **parts: Any) -> WriteResult:
        """Make the vectors that moved in the store's own."""
        return self.write(records=(StoreRecord(MODEL_RECORD, model.encode()),), adopt_vectors=True, **parts)

    def all(self, **conditions: Any) -> list[Fact]:
        return self.store.list_facts(everywhere(**conditions), 10_000, None)
