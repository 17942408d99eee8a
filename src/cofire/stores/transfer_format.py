"""The format in which facts and store metadata move from one store to another.

Bytes stay as they are (vectors, the numbers of words), moments are whole microseconds since 1970, and facts are called by
their ids. The log of recalls, receipts and snapshots of an index stay behind.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from cofire.stores.base import Store
from cofire.stores.learning_rows import JudgedRecall

TransferRow = tuple[Any, ...]

# Each kind of row with its columns. The first is the fact that it belongs to; what is between two facts belongs to the first.
TRANSFER_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "facts": (
        *("id", "hash", "scope", "text", "subject", "category", "speaker", "session", "position", "source", "metadata"),
        *("at", "stored_at", "valid_from", "valid_until", "expires", "reinforced", "reinforced_at", "active_hours"),
        *("pinned", "archived", "inbox", "terms", "counts", "length", "places"),
    ),
    "tags": ("fact", "tag"),
    "vectors": ("fact", "vector"),
    "incoming": ("fact", "vector"),
    "mentions": ("fact", "name", "sentences", "confidence"),
    "subjects": ("fact", "name", "strength"),
    "edges": (
        *("source", "target", "kind", "weight", "confidence", "tags", "origin", "created", "ended", "seen"),
        *("anchor", "anchored", "co_access_count"),
    ),
    "importance": ("fact", "pagerank", "community"),
    "uses": ("fact", "helped", "hurt"),
    "descriptions": ("fact", "place", "text", "made"),
    "citations": ("fact", "cited", "gist"),
    "history": ("fact", "place", "until", "said"),
    "archived_because": ("fact", "reason", "at"),
    "superseded": ("old", "new", "valid_until"),
    "reviews": ("old", "new", "why", "state"),
    "exposures": ("a", "b", "sessions"),
}

_FLOAT_COLUMNS = frozenset({"active_hours", "confidence", "strength", "weight", "anchor", "pagerank"})
_BOOLEAN_COLUMNS = frozenset({"pinned", "archived", "inbox"})


@dataclass(frozen=True, slots=True)
class TransferBatch:
    """Facts with all that hangs on them, as rows of COLUMNS; what leads to other facts is among it."""

    rows: Mapping[str, Sequence[TransferRow]] = field(default_factory=dict)

    def named(self, table: str) -> list[dict[str, Any]]:
        """The rows of a kind, each value by the name of its column."""
        return [dict(zip(TRANSFER_COLUMNS[table], row, strict=True)) for row in self.rows.get(table, ())]

    def of(self, ids: Sequence[str]) -> TransferBatch:
        """What belongs to these facts, in an order of its own."""
        wanted = set(ids)
        kept = {table: [row for row in rows if row[0] in wanted] for table, rows in self.rows.items()}
        return TransferBatch({table: sorted(rows, key=repr) for table, rows in kept.items()})


@dataclass(frozen=True, slots=True)
class ScopeWordCounts:
    """The words of a scope as last counted: over its first `counted` facts, and with how many vectors as a sample."""

    scope: str
    facts: int
    length: int
    terms: bytes
    holding: bytes
    sample: bytes
    sampled: int
    counted: int


@dataclass(frozen=True, slots=True)
class StoreMetadata:
    """What belongs to a store as a whole: its records, the times of use, judged recalls (the oldest first) and counted words."""

    records: Mapping[str, bytes] = field(default_factory=dict)
    spans: tuple[tuple[int, int, float], ...] = ()
    occasions: tuple[JudgedRecall, ...] = ()
    words: tuple[ScopeWordCounts, ...] = ()


class TransferableStore(Store, Protocol):
    """A store that can be carried elsewhere, and be carried into."""

    def export_facts(self, ids: Sequence[str]) -> TransferBatch:
        """These facts with all that hangs on them; unknown ids have nothing."""

    def import_facts(self, carried: TransferBatch, now: datetime) -> None:
        """Keep facts as they were elsewhere, in one transaction. What is there stays; what leads to a missing fact is left out."""

    def read_metadata(self) -> StoreMetadata:
        """What belongs to the store as a whole."""

    def write_metadata(self, household: StoreMetadata) -> None:
        """Take over times of use, judged recalls and counted words, in one transaction; records are written like all others."""


def sort_terms(terms: bytes, counts: bytes) -> tuple[bytes, bytes]:
    """The words of a fact in the order of their numbers. Stores keep them in the order in which they came.

    >>> sort_terms(array("q", [7, 5]).tobytes(), array("H", [1, 2]).tobytes()) == (
    ...     array("q", [5, 7]).tobytes(),
    ...     array("H", [2, 1]).tobytes(),
    ... )
    True
    """
    pairs = sorted(zip(array("q", terms), array("H", counts), strict=True))
    return array("q", [number for number, _ in pairs]).tobytes(), array("H", [count for _, count in pairs]).tobytes()


def make_transfer_row(table: str, values: Mapping[str, Any]) -> TransferRow:
    """A row from values by the names of their columns, each in its one spelling; what is not said is None.

    >>> make_transfer_row("subjects", {"fact": "a", "name": "tea", "strength": 1})
    ('a', 'tea', 1.0)
    """
    if table == "facts":
        terms, counts = sort_terms(values["terms"], values["counts"])
        values = {**values, "terms": terms, "counts": counts}
    return tuple(_normalise_value(column, values.get(column)) for column in TRANSFER_COLUMNS[table])


def _normalise_value(column: str, value: Any) -> Any:
    if column in _BOOLEAN_COLUMNS:
        return bool(value)
    return float(value) if column in _FLOAT_COLUMNS and value is not None else value


def number_rows_by_fact(rows: Sequence[Mapping[str, Any]], by: str) -> Iterator[dict[str, Any]]:
    """Rows with their place among those of the same fact, in the order of a column."""
    places: dict[Any, int] = {}
    for one in sorted(rows, key=lambda each: each[by]):
        place = places[one["fact"]] = places.get(one["fact"], -1) + 1
        yield {**one, "place": place}
