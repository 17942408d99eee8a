"""Filter and merge the rows of receipts without knowing the store that wrote them.

Every store keeps facts, models and cited descriptions under these names. All else is a list of rows, or a dictionary of
dictionaries by ids; either speaks of a fact by its id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

FACTS_PART, CITED_PART, MODELS_PART = "facts", "cited", "models"
# Where stores keep descriptions: as rows, with the fact itself, or by its id; and where one keeps who cites whom by ids.
CITATIONS_PART = "web.citations"
DESCRIPTION_PARTS = frozenset({"descriptions", "descriptions_made", "hinted", "web.descriptions", "web.hints"})

ReceiptRows = Mapping[str, Any]


def has_receipt_form(rows: Any) -> bool:
    """Whether something read from a file has the form of rows. None at all are those of facts that went before they could be taken."""
    if not isinstance(rows, Mapping) or (rows and not rows.keys() >= {FACTS_PART, CITED_PART, MODELS_PART}):
        return False
    if not rows:
        return True
    listed = [kept for part, kept in rows.items() if part != MODELS_PART]
    return (
        isinstance(rows[MODELS_PART], Mapping)
        and all(isinstance(kept, list) and all(map(_is_row, kept)) for kept in listed)
        and all(isinstance(row.get("id"), str) for row in rows[FACTS_PART])
        and all(map(_is_citation, rows[CITED_PART]))
    )


def _is_row(row: Any) -> bool:
    return isinstance(row, Mapping) and isinstance(row.get("parts", {}), Mapping)


def _is_citation(one: ReceiptRows) -> bool:
    listed = isinstance(one.get("texts"), list) and isinstance(one.get("after"), list)
    return listed and isinstance(one.get("fact"), str) and isinstance(one.get("hints"), Mapping)


def remove_facts(rows: ReceiptRows, ids: Set[str]) -> ReceiptRows:
    """Rows that do not speak of some facts, nor hold their words. How others were described goes too, and so do the descriptions of
    facts that cite these: nobody knows which words were whose."""
    citing = ids | _find_citing_facts(rows, ids)
    return {part: _filter_part(part, kept, ids, citing) for part, kept in rows.items()}


def _find_citing_facts(rows: ReceiptRows, ids: Set[str]) -> set[str]:
    """The facts whose descriptions hold a gist of one of these, by what tells of gists; with other words that are no ids."""
    listed = [row for kept in rows.values() if isinstance(kept, list) for row in kept]
    told = [row for row in listed if "gist" in row or "gist" in row.get("parts", ())]
    found = {value for row in told if _mentions_any(row, ids) for value in row.values() if isinstance(value, str)}
    keyed = [kept.get(CITATIONS_PART, ()) for kept in rows.values() if isinstance(kept, Mapping)]
    return found | {part for keys in keyed for key in keys if _is_key_of(key, ids) for part in key}


def _filter_part(part: str, kept: Any, ids: Set[str], citing: Set[str]) -> Any:
    if part == CITED_PART:
        return type(kept)()
    if part == MODELS_PART:
        return kept
    if isinstance(kept, list):
        left = [row for row in kept if not _mentions_any(row, citing if part in DESCRIPTION_PARTS else ids)]
        return [_drop_descriptions(row) if row["id"] in citing else row for row in left] if part == FACTS_PART else left
    if part == FACTS_PART:
        return _drop_keys_of(kept, ids)
    return {place: _drop_keys_of(held, citing if place in DESCRIPTION_PARTS else ids) for place, held in kept.items()}


def _drop_keys_of(held: Mapping[Any, Any], ids: Set[str]) -> dict[Any, Any]:
    return {key: value for key, value in held.items() if not _is_key_of(key, ids)}


def _drop_descriptions(row: ReceiptRows) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in DESCRIPTION_PARTS}


def hand_over_rows(
    rows: ReceiptRows, ids: Set[str], others: Sequence[tuple[ReceiptRows, Set[str]]]
) -> list[ReceiptRows]:
    """The rows of other receipts, each with the ids that it is for, and with what these rows keep between their own facts and those."""
    if not rows:
        return [theirs for theirs, _ in others]
    cited = [dict(_citations_by_fact(theirs[CITED_PART])) for theirs, _ in others]
    for fact, earlier in _citations_by_fact(rows[CITED_PART]):
        _hand_over_citation(fact, earlier, cited, [theirs for _, theirs in others])
    parts = {part: kept for part, kept in rows.items() if part not in (FACTS_PART, CITED_PART, MODELS_PART)}
    found = list[ReceiptRows]()
    for (theirs, whose), told in zip(others, cited, strict=True):
        between = {part: _select_between(kept, ids - whose, whose - ids) for part, kept in parts.items()}
        more = {part: _merge_part(theirs.get(part, type(kept)()), kept) for part, kept in between.items() if kept}
        described = told if isinstance(theirs[CITED_PART], Mapping) else list(told.values())
        found.append({**theirs, **more, CITED_PART: described})
    return found


def _hand_over_citation(fact: str, earlier: Any, cited: Sequence[dict[str, Any]], whose: Sequence[Set[str]]) -> None:
    """How a fact was described before: to the receipt that took up what this one left, else to the one that keeps the fact itself."""
    for told in cited:
        late = told.get(fact)
        if late is not None and late["texts"] == earlier["after"]:
            told[fact] = {**earlier, "after": late["after"], "hints": {**late["hints"], **earlier["hints"]}}
            return
    for told, ids in zip(cited, whose, strict=True):
        if fact in ids:
            told.setdefault(fact, earlier)


def _select_between(kept: Any, some: Set[str], others: Set[str]) -> Any:
    if isinstance(kept, Mapping):
        told = {
            place: {key: value for key, value in entries.items() if _is_key_of(key, some) and _is_key_of(key, others)}
            for place, entries in kept.items()
        }
        return {place: entries for place, entries in told.items() if entries}
    return [row for row in kept if _mentions_any(row, some) and _mentions_any(row, others)]


def _merge_part(mine: Any, more: Any) -> Any:
    if isinstance(more, Mapping):
        return {place: {**more.get(place, {}), **mine.get(place, {})} for place in {**mine, **more}}
    return [*mine, *more]


def find_mended_facts(rows: ReceiptRows, before: ReceiptRows) -> set[str]:
    """The facts of whose earlier descriptions a receipt knows more than before."""
    known = dict(_citations_by_fact(before[CITED_PART]))
    return {fact for fact, one in _citations_by_fact(rows[CITED_PART]) if one != known.get(fact)}


def _citations_by_fact(cited: Any) -> Iterable[tuple[str, Any]]:
    return cited.items() if isinstance(cited, Mapping) else [(one["fact"], one) for one in cited]


def _is_key_of(key: Any, ids: Set[str]) -> bool:
    return not ids.isdisjoint(key if isinstance(key, tuple) else [key])


def _mentions_any(row: ReceiptRows, ids: Set[str]) -> bool:
    return any(isinstance(value, str) and value in ids for value in row.values())
