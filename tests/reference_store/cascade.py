"""Remove, restore and revise facts with everything that refers to them, in dictionaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from typing import Any

from cofire.model import (
    CascadeCounts,
    Fact,
    FactVersion,
    FactWrite,
    RemovedCascade,
    RestoreSummary,
    SkippedRestore,
    make_model_skip,
)
from cofire.stores.base import INCOMING_RECORD, MODEL_RECORD
from cofire.stores.fact_rows import REVISABLE_FIELDS
from cofire.stores.rules import (
    reject_duplicate_text,
    skip_lost_edge,
    skip_new_description,
    skip_repeated_fact,
    skip_stored_fact,
    strip_descriptions,
)
from cofire.text.descriptions import find_lowered_term_counts
from tests.reference_store.graph import ReferenceGraph, add_inferred_mentions, set_fact_names

FACTS_KEY, CITED_KEY, DEPENDENTS_KEY, MODELS_KEY = "facts", "cited", "hanging", "models"


def collect_cascade(shelf: Any, ids: Sequence[str]) -> RemovedCascade:
    """All that would go with these facts; unknown ids have nothing."""
    doomed = {id: shelf.facts[id] for id in sorted(set(ids)) if id in shelf.facts}
    if not doomed:
        return RemovedCascade()
    hanging = {
        place: kept
        for place, held in _walk_dictionaries(shelf)
        if (kept := {key: value for key, value in held.items() if not doomed.keys().isdisjoint(_list_fact_ids(key))})
    }
    cited = _find_cited_descriptions(shelf.web, doomed)
    rows = deepcopy(
        {FACTS_KEY: doomed, DEPENDENTS_KEY: hanging, CITED_KEY: cited, MODELS_KEY: _read_vector_models(shelf)}
    )
    return RemovedCascade(_count_cascade(shelf, doomed, tuple(cited)), rows)


def remove_citations(web: ReferenceGraph, cited: Mapping[str, Any]) -> None:
    """Take the gists of what is gone out of descriptions, and the words that only they held out of the hints."""
    for id, one in cited.items():
        web.descriptions[id] = list(one["after"])
        fewer = find_lowered_term_counts(one["texts"], one["after"])
        web.hints[id].update({word: fewer[word] for word in one["hints"]})
        web.hints[id] = {word: count for word, count in web.hints[id].items() if count}


def restore_entries(shelf: Any, rows: Any) -> RestoreSummary:
    """Put entries back where all facts that they speak of are there."""
    if not rows:
        return RestoreSummary()
    rows = deepcopy(rows)
    skipped = list(_find_obstacles(shelf, rows[FACTS_KEY]))
    skipped_ids = {skip.id for skip in skipped}
    back = [id for id in rows[FACTS_KEY] if id not in skipped_ids]
    for id in back:
        shelf.facts[id] = rows[FACTS_KEY][id]
        shelf.ids[shelf.facts[id].hash] = id
    edges = 0
    dictionaries = dict(_walk_dictionaries(shelf))
    foreign = [place for place, model in _read_vector_models(shelf).items() if rows[MODELS_KEY][place] != model]
    skipped += [
        make_model_skip(id) for id in back if "vectors" in foreign and id in rows[DEPENDENTS_KEY].get("vectors", ())
    ]
    for place, entries in rows[DEPENDENTS_KEY].items():
        for key, value in entries.items() if place not in foreign else ():
            if set(back).isdisjoint(_list_fact_ids(key)):
                continue
            if lost := [id for id in _list_fact_ids(key) if id not in shelf.facts]:
                skipped += [skip_lost_edge(key, lost[0])] if place == "web.edges" else []
                continue
            edges += place == "web.edges" and key not in dictionaries[place]
            dictionaries[place].setdefault(key, value)
    skipped += _restore_descriptions(shelf, rows[CITED_KEY]) if back else ()
    _sort_facts(shelf)
    return RestoreSummary(tuple(back), edges, tuple(sorted(skipped)))


def _read_vector_models(shelf: Any) -> dict[str, Any]:
    """The models whose vectors are kept."""
    return {"vectors": shelf.model(MODEL_RECORD), "incoming": shelf.model(INCOMING_RECORD)}


def _find_obstacles(shelf: Any, facts: Mapping[str, Fact]) -> Iterator[SkippedRestore]:
    for id, fact in facts.items():
        if id in shelf.facts:
            yield skip_stored_fact(id)
        elif fact.hash in shelf.ids:
            yield skip_repeated_fact(id, shelf.ids[fact.hash])


def _restore_descriptions(shelf: Any, cited: Mapping[str, Any]) -> Iterator[SkippedRestore]:
    for id, one in cited.items():
        now = shelf.web.descriptions.get(id, [])
        if id not in shelf.facts or now == one["texts"]:
            continue
        if now != one["after"]:
            yield skip_new_description(id)
            continue
        shelf.web.descriptions[id] = list(one["texts"])
        shelf.web.hints.setdefault(id, {}).update(one["hints"])


def _sort_facts(shelf: Any) -> None:
    """Facts stand in the order in which they first came."""
    for held in (shelf.facts, shelf.web.inbox):
        ordered = sorted(held.items(), key=lambda one: shelf.numbers[one[0]])
        held.clear()
        held.update(ordered)


def _find_cited_descriptions(web: ReferenceGraph, doomed: Mapping[str, Fact]) -> dict[str, Any]:
    """The other facts whose descriptions lose something: what they say now, and what will be left of it."""
    gone: dict[str, set[str]] = {}
    for fact, cited, gist in web.citations:
        if cited in doomed and fact not in doomed:
            gone.setdefault(fact, set()).add(gist)
    for fact, cited, gist in web.citations:
        if cited not in doomed:
            gone.get(fact, set()).discard(gist)
    found = {id: _strip_citations(web, id, gists) for id, gists in sorted(gone.items())}
    return {id: one for id, one in found.items() if one["after"] != one["texts"]}


def _strip_citations(web: ReferenceGraph, id: str, gone: set[str]) -> dict[str, Any]:
    texts, hints = web.descriptions.get(id, []), web.hints.get(id, {})
    stripped = strip_descriptions(texts, gone)
    return {
        "texts": list(texts),
        "after": stripped.after,
        "hints": {word: hints[word] for word in stripped.lowered if word in hints},
    }


def _walk_dictionaries(kept: Any, path: str = "") -> Iterator[tuple[str, dict[Any, Any]]]:
    """Every dictionary that something keeps, by where it stands; facts and their hashes are kept apart."""
    for field in fields(kept):
        value, place = getattr(kept, field.name), f"{path}{field.name}"
        if isinstance(value, dict) and place not in {"facts", "ids"}:
            yield place, value
        elif is_dataclass(value):
            yield from _walk_dictionaries(value, f"{place}.")


def _list_fact_ids(key: Any) -> tuple[str, ...]:
    """The facts that a key speaks of: itself, or the first two of several."""
    return key[:2] if isinstance(key, tuple) else (key,)


def _count_cascade(shelf: Any, doomed: Mapping[str, Fact], cited: tuple[str, ...]) -> CascadeCounts:
    web = shelf.web
    return CascadeCounts(
        facts=len(doomed),
        edges=sum(not doomed.keys().isdisjoint(key[:2]) for key in web.edges),
        mentions=sum(len(web.mentions.get(id, ())) for id in doomed),
        subjects=sum(len(web.subjects.get(id, ())) for id in doomed),
        vectors=sum(id in shelf.vectors for id in doomed),
        words=sum(len(shelf.counts[id]) + len(web.hints.get(id, ())) for id in doomed),
        descriptions=sum(len(web.descriptions.get(id, ())) for id in doomed),
        cited=cited,
    )


def revise_fact(shelf: Any, new: FactWrite, now: datetime) -> None:
    """Put a fact in the place of the one with its id, which becomes its past. One that is gone meanwhile stays so."""
    id, web = new.fact.id, shelf.web
    before = shelf.facts.get(id)
    if before is None:
        return
    reject_duplicate_text(shelf.ids.get(new.fact.hash), id)
    del shelf.ids[before.hash]
    shelf.ids[new.fact.hash] = id
    shelf.facts[id] = replace(before, **{label: getattr(new.fact, label) for label in REVISABLE_FIELDS})
    shelf.counts[id], shelf.places[id] = dict(new.counts), dict(new.places)
    web.history.setdefault(id, []).append(FactVersion(now, before))
    web.inbox[id] = None
    if before.valid_until != new.fact.valid_until:
        # An end that is given holds also where the fact comes back from those that took its place.
        ends = {pair: new.fact.valid_until for pair in web.care.superseded if pair[0] == id}
        web.care.superseded |= ends
    if before.reading != new.fact.reading:
        _reset_derived_data(shelf, new)


def list_history(shelf: Any, id: str) -> list[FactVersion]:
    """What a fact said before. How often it was told and whether it is pinned is no saying, and is as it is now."""
    now = shelf.facts.get(id)
    return [
        FactVersion(past.until, replace(now, **{label: getattr(past.fact, label) for label in REVISABLE_FIELDS}))
        for past in (shelf.web.history.get(id, []) if now else [])
    ]


def _reset_derived_data(shelf: Any, new: FactWrite) -> None:
    """What hung on the old text goes, the words it gave to descriptions of others included."""
    id, web = new.fact.id, shelf.web
    remove_citations(web, _find_cited_descriptions(web, {id: new.fact}))
    for held in (shelf.vectors, shelf.incoming, web.descriptions, web.hints):
        held.pop(id, None)
    web.citations = {key: None for key in web.citations if id not in key[:2]}
    set_fact_names(web, new)
    add_inferred_mentions(web, shelf.facts, [new])
    shelf.vectors |= {} if new.vector is None else {id: new.vector}
