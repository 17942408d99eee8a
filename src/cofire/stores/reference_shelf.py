"""The shelf of the reference store: all that it keeps, in plain dictionaries, and how words are counted over it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cofire.embedders.base import Model, StoredModel
from cofire.model import Fact, Record, Where
from cofire.stores.base import INCOMING_RECORD, MODEL_RECORD, Floats
from cofire.stores.reference_graph import Web
from cofire.stores.reference_learning import Learning


@dataclass(frozen=True, slots=True)
class Counted:
    """The words of a scope as last counted, up to which fact, with a sample of its vectors of at most so many."""

    facts: int = 0
    length: int = 0
    holding: Mapping[str, int] = field(default_factory=dict)
    sample: tuple[bytes, ...] = ()
    up_to: int = 0
    sampled: int = 0


@dataclass
class Shelf:
    """All that is kept: facts and what hangs on them by id, records by name, counted words by scope.

    `numbers` tell in which order facts came; under no id stands the last number given, since none is given twice.
    """

    facts: dict[str, Fact] = field(default_factory=dict)
    ids: dict[bytes, str] = field(default_factory=dict)
    counts: dict[str, Mapping[str, int]] = field(default_factory=dict)
    places: dict[str, Mapping[str, int]] = field(default_factory=dict)
    vectors: dict[str, bytes] = field(default_factory=dict)
    incoming: dict[str, bytes] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    counted: dict[str, Counted] = field(default_factory=dict)
    web: Web = field(default_factory=Web)
    learning: Learning = field(default_factory=Learning)
    numbers: dict[str, int] = field(default_factory=dict)

    def copy(self) -> Shelf:
        return Shelf(**{name: kept.copy() for name, kept in vars(self).items()})

    def seen(self, where: Where) -> list[Fact]:
        return [fact for fact in self.facts.values() if self.admits(fact, where)]

    def admits(self, fact: Fact, where: Where) -> bool:
        rated = self.web.importance.get(fact.id)
        return where.admits(fact, rated.community if rated else None)

    def in_scope(self, scope: str) -> list[Fact]:
        return [fact for fact in self.facts.values() if fact.scope == scope]

    def last_count(self, scope: str) -> Counted:
        return self.counted.get(scope, Counted())

    def version(self, name: str) -> int:
        return self.records[name].version if name in self.records else 0

    def model(self, name: str) -> Model | None:
        return StoredModel.decode(self.records[name].value).model if name in self.records else None

    def vectors_of(self, model: Model | None) -> dict[str, bytes]:
        """The vectors of a model, current and moving in."""
        current = self.vectors if self.model(MODEL_RECORD) == model else {}
        return current | (self.incoming if self.model(INCOMING_RECORD) == model else {})

    def rows(self, vectors: Sequence[bytes]) -> Floats:
        model = self.model(MODEL_RECORD)
        rows = [np.frombuffer(vector, dtype="<f2") for vector in vectors]
        return np.array(rows, dtype=np.float32).reshape(len(rows), model.dimension if model else 0)

    def word_counts(self, ids: Sequence[str], words: Sequence[str]) -> NDArray[np.float64]:
        counts = [[self.counts[id].get(word, 0) for word in words] for id in ids]
        return np.array(counts, dtype=np.float64).reshape(len(ids), len(words))

    def hint_counts(self, ids: Sequence[str], words: Sequence[str]) -> NDArray[np.float64]:
        counts = [[self.web.hints.get(id, {}).get(word, 0) for word in words] for id in ids]
        return np.array(counts, dtype=np.float64).reshape(len(ids), len(words))

    def sentences(self, id: str, word: str) -> int:
        """Where nobody cut the text into sentences, all it holds stands in every one."""
        uncut = not self.places.get(id) and word in self.counts.get(id, {})
        return -1 if uncut else self.places.get(id, {}).get(word, 0)

    def lengths(self, ids: Sequence[str]) -> NDArray[np.float64]:
        return np.array([sum(self.counts[id].values()) for id in ids], dtype=np.float64)


def count(shelf: Shelf, scope: str, sample: int, up_to: int) -> Counted:
    """Archived facts count too. The sample is by content hash, so that every store draws the same one."""
    inside = [fact for fact in shelf.in_scope(scope) if shelf.numbers[fact.id] <= up_to]
    facts = sorted(inside, key=lambda fact: fact.hash)
    words = [word for fact in facts for word in shelf.counts[fact.id]]
    vectors = [shelf.vectors[fact.id] for fact in facts if fact.id in shelf.vectors]
    length = int(shelf.lengths([fact.id for fact in facts]).sum())
    return Counted(len(facts), length, Counter(words), tuple(vectors[:sample]), up_to, sample)


def count_again(shelf: Shelf, scopes: Iterable[str]) -> None:
    """Count what was counted, when some of it went or came back; what was told since is left for the next count."""
    known = {scope: shelf.counted[scope] for scope in scopes if scope in shelf.counted}
    shelf.counted |= {scope: count(shelf, scope, one.sampled, one.up_to) for scope, one in known.items()}
