"""Rows of receipts: what they say of some facts, as far as that can be told without knowing the store whose words they are in.

Every store keeps facts, models and cited descriptions under these names. All else is a list of rows, or a dictionary of
dictionaries by ids; either speaks of a fact by its id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

FACTS, CITED, MODELS = "facts", "cited", "models"

Rows = Mapping[str, Any]


def without(rows: Any, ids: Set[str]) -> Any:
    """Rows that do not speak of some facts. Descriptions that cite others go too: nobody knows which words were whose."""
    if isinstance(rows, Mapping):
        return {
            key: {} if key == CITED and isinstance(value, Mapping) else [] if key == CITED else without(value, ids)
            for key, value in rows.items()
            if not _names(key, ids)
        }
    if isinstance(rows, list):
        return [row for row in rows if not (isinstance(row, Mapping) and _speaks(row, ids))]
    return rows


def joined(rows: Rows, ids: Set[str], other: Rows, theirs: Set[str]) -> Rows:
    """The rows of some facts with what another receipt keeps between them and facts of its own, which were forgotten before them."""
    parts = {part: kept for part, kept in other.items() if part not in (FACTS, CITED, MODELS)}
    between = {part: _between(kept, ids - theirs, theirs - ids) for part, kept in parts.items()}
    more = {part: _added(rows.get(part, type(kept)()), kept) for part, kept in between.items()}
    return {**rows, **more, CITED: _described(rows[CITED], other[CITED], ids)}


def _between(kept: Any, some: Set[str], others: Set[str]) -> Any:
    if isinstance(kept, Mapping):
        return {
            place: {key: value for key, value in entries.items() if _names(key, some) and _names(key, others)}
            for place, entries in kept.items()
        }
    return [row for row in kept if _speaks(row, some) and _speaks(row, others)]


def _added(mine: Any, more: Any) -> Any:
    if isinstance(more, Mapping):
        return {place: {**more.get(place, {}), **mine.get(place, {})} for place in {**mine, **more}}
    return [*mine, *more]


def _described(mine: Any, others: Any, ids: Set[str]) -> Any:
    """How facts were described before either was forgotten: as the earlier receipt says, where this one takes up what that one left."""
    found = dict(_by_fact(mine))
    for fact, earlier in _by_fact(others):
        late = found.get(fact)
        if late is not None and late["texts"] == earlier["after"]:
            found[fact] = {**earlier, "after": late["after"], "hints": {**late["hints"], **earlier["hints"]}}
        elif late is None and fact in ids:
            found[fact] = earlier
    return found if isinstance(mine, Mapping) else list(found.values())


def _by_fact(cited: Any) -> Iterable[tuple[str, Any]]:
    return cited.items() if isinstance(cited, Mapping) else [(one["fact"], one) for one in cited]


def _names(key: Any, ids: Set[str]) -> bool:
    return not ids.isdisjoint(key if isinstance(key, tuple) else [key])


def _speaks(row: Rows, ids: Set[str]) -> bool:
    return any(isinstance(value, str) and value in ids for value in row.values())
