"""Rows of receipts: what they say of some facts, as far as that can be told without knowing the store whose words they are in.

Every store keeps facts, models and cited descriptions under these names. All else is a list of rows, or a dictionary of
dictionaries by ids; either speaks of a fact by its id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

FACTS, CITED, MODELS = "facts", "cited", "models"
# Where stores keep descriptions: as rows, with the fact itself, or by its id; and where one keeps who cites whom by ids.
CITATIONS = "web.citations"
DESCRIBING = frozenset({"descriptions", "descriptions_made", "hinted", "web.descriptions", "web.hints"})

Rows = Mapping[str, Any]


def fit(rows: Any) -> bool:
    """Whether something read from a file has the form of rows. None at all are those of facts that went before they could be taken."""
    if not isinstance(rows, Mapping) or (rows and not rows.keys() >= {FACTS, CITED, MODELS}):
        return False
    if not rows:
        return True
    listed = [kept for part, kept in rows.items() if part != MODELS]
    return (
        isinstance(rows[MODELS], Mapping)
        and all(isinstance(kept, list) and all(map(_is_row, kept)) for kept in listed)
        and all(isinstance(row.get("id"), str) for row in rows[FACTS])
        and all(map(_is_cited, rows[CITED]))
    )


def _is_row(row: Any) -> bool:
    return isinstance(row, Mapping) and isinstance(row.get("parts", {}), Mapping)


def _is_cited(one: Rows) -> bool:
    listed = isinstance(one.get("texts"), list) and isinstance(one.get("after"), list)
    return listed and isinstance(one.get("fact"), str) and isinstance(one.get("hints"), Mapping)


def without(rows: Rows, ids: Set[str]) -> Rows:
    """Rows that do not speak of some facts, nor hold their words. How others were described goes too, and so do the descriptions of
    facts that cite these: nobody knows which words were whose."""
    citing = ids | _citing(rows, ids)
    return {part: _left(part, kept, ids, citing) for part, kept in rows.items()}


def _citing(rows: Rows, ids: Set[str]) -> set[str]:
    """The facts whose descriptions hold a gist of one of these, by what tells of gists; with other words that are no ids."""
    listed = [row for kept in rows.values() if isinstance(kept, list) for row in kept]
    told = [row for row in listed if "gist" in row or "gist" in row.get("parts", ())]
    found = {value for row in told if _speaks(row, ids) for value in row.values() if isinstance(value, str)}
    keyed = [kept.get(CITATIONS, ()) for kept in rows.values() if isinstance(kept, Mapping)]
    return found | {part for keys in keyed for key in keys if _names(key, ids) for part in key}


def _left(part: str, kept: Any, ids: Set[str], citing: Set[str]) -> Any:
    if part == CITED:
        return type(kept)()
    if part == MODELS:
        return kept
    if isinstance(kept, list):
        left = [row for row in kept if not _speaks(row, citing if part in DESCRIBING else ids)]
        return [_undescribed(row) if row["id"] in citing else row for row in left] if part == FACTS else left
    if part == FACTS:
        return _unnamed(kept, ids)
    return {place: _unnamed(held, citing if place in DESCRIBING else ids) for place, held in kept.items()}


def _unnamed(held: Mapping[Any, Any], ids: Set[str]) -> dict[Any, Any]:
    return {key: value for key, value in held.items() if not _names(key, ids)}


def _undescribed(row: Rows) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in DESCRIBING}


def handed_over(rows: Rows, ids: Set[str], others: Sequence[tuple[Rows, Set[str]]]) -> list[Rows]:
    """The rows of other receipts, each with the ids that it is for, and with what these rows keep between their own facts and those."""
    if not rows:
        return [theirs for theirs, _ in others]
    cited = [dict(_by_fact(theirs[CITED])) for theirs, _ in others]
    for fact, earlier in _by_fact(rows[CITED]):
        _hand_on(fact, earlier, cited, [theirs for _, theirs in others])
    parts = {part: kept for part, kept in rows.items() if part not in (FACTS, CITED, MODELS)}
    found = list[Rows]()
    for (theirs, whose), told in zip(others, cited, strict=True):
        between = {part: _between(kept, ids - whose, whose - ids) for part, kept in parts.items()}
        more = {part: _added(theirs.get(part, type(kept)()), kept) for part, kept in between.items() if kept}
        described = told if isinstance(theirs[CITED], Mapping) else list(told.values())
        found.append({**theirs, **more, CITED: described})
    return found


def _hand_on(fact: str, earlier: Any, cited: Sequence[dict[str, Any]], whose: Sequence[Set[str]]) -> None:
    """How a fact was described before: to the receipt that took up what this one left, else to the one that keeps the fact itself."""
    for told in cited:
        late = told.get(fact)
        if late is not None and late["texts"] == earlier["after"]:
            told[fact] = {**earlier, "after": late["after"], "hints": {**late["hints"], **earlier["hints"]}}
            return
    for told, ids in zip(cited, whose, strict=True):
        if fact in ids:
            told.setdefault(fact, earlier)


def _between(kept: Any, some: Set[str], others: Set[str]) -> Any:
    if isinstance(kept, Mapping):
        told = {
            place: {key: value for key, value in entries.items() if _names(key, some) and _names(key, others)}
            for place, entries in kept.items()
        }
        return {place: entries for place, entries in told.items() if entries}
    return [row for row in kept if _speaks(row, some) and _speaks(row, others)]


def _added(mine: Any, more: Any) -> Any:
    if isinstance(more, Mapping):
        return {place: {**more.get(place, {}), **mine.get(place, {})} for place in {**mine, **more}}
    return [*mine, *more]


def mended_by(rows: Rows, before: Rows) -> set[str]:
    """The facts of whose earlier descriptions a receipt knows more than before."""
    known = dict(_by_fact(before[CITED]))
    return {fact for fact, one in _by_fact(rows[CITED]) if one != known.get(fact)}


def _by_fact(cited: Any) -> Iterable[tuple[str, Any]]:
    return cited.items() if isinstance(cited, Mapping) else [(one["fact"], one) for one in cited]


def _names(key: Any, ids: Set[str]) -> bool:
    return not ids.isdisjoint(key if isinstance(key, tuple) else [key])


def _speaks(row: Rows, ids: Set[str]) -> bool:
    return any(isinstance(value, str) and value in ids for value in row.values())
