"""Revising: a fact says something else from now on; what it said before is kept as its history."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from cofire.model import Fact, NewFact, Past
from cofire.reading.descriptions import hint_counts
from cofire.stores.index.moments import moment, stamp, stamp_or_none
from cofire.stores.index.terms import Held, described, redescribed
from cofire.stores.neo4j import describing, facts, removing
from cofire.stores.neo4j.graph_writing import write_names
from cofire.stores.neo4j.querying import Query, Querying
from cofire.stores.neo4j.recounting import COUNTED_OTHERWISE
from cofire.stores.neo4j.rows import FACT, fact, properties
from cofire.stores.neo4j.schema import category_label
from cofire.stores.neo4j.telling import SEEN, search_parts, seen_from_rest
from cofire.stores.refusing import refuse_twin

MOMENTS = ("at", "valid_from", "valid_until", "expires")
PLAIN = ("text", "subject", "category", "source", "metadata")
CHANGEABLE = ("text", "tags", "category", "subject", "at", "metadata", "valid_from", "valid_until", "expires")

# What a fact has by what it says: its vectors and its descriptions. Its names and citations are relationships.
BY_TEXT = ("stored", "vector", "incoming", "descriptions", "descriptions_made", "hinted")


@dataclass(frozen=True, slots=True)
class Before:
    """A fact as it is before it is revised."""

    fact: Fact
    held: Held
    descriptions: tuple[str, ...]
    history: tuple[str, ...]


def revise(new: NewFact, now: datetime) -> Querying[None]:
    """Put a fact in the place of the one with its id. One that is gone meanwhile stays so."""
    found = yield Query(_BEFORE, {"id": new.fact.id, "hash": new.fact.hash.hex()})
    if not found:
        return
    known, terms, counts, descriptions, history, twin = found[0]
    refuse_twin(twin, new.fact.id)
    held = Held(bytes(terms), bytes(counts))
    before = Before(fact(known), held, tuple(descriptions), tuple(history))
    after = replace(before.fact, **{label: getattr(new.fact, label) for label in CHANGEABLE})
    anew = before.fact.reading != after.reading
    if anew:
        yield from _let_go(after.id)
    said = (*before.history, _encoded(before.fact, now))
    parts = properties(after) | _search(new, before, anew=anew) | {"history": list(said), "inbox": True, "locked": None}
    labels = {"old": category_label(before.fact.category), "new": category_label(after.category)}
    yield Query(_UPDATE, {"id": after.id, "parts": parts, **labels})
    if after.valid_until != before.fact.valid_until:
        # An end that is given holds also where the fact comes back from those that took its place.
        yield Query(_ENDED, {"id": after.id, "until": stamp_or_none(after.valid_until)})
    if after.speaker != before.fact.speaker:
        yield Query(_REVISED, {"id": after.id})
    if anew:
        yield from _begin_anew(new)


_BEFORE = f"""
CALL () {{ MATCH (f:Fact {{id: $id}}) SET f.locked = true RETURN collect(f.id) AS locked }}
MATCH (f:Fact) WHERE f.id IN locked OPTIONAL MATCH (twin:Fact {{hash: $hash}})
RETURN [{FACT}, f.terms, f.counts, coalesce(f.descriptions, []), coalesce(f.history, []), twin.id] AS row
"""
_UPDATE = f"MATCH (f:Fact {{id: $id}}) SET f += $parts REMOVE f:$($old) SET f:$($new) {COUNTED_OTHERWISE}"
_ENDED = "MATCH (:Fact {id: $id})-[s:SUPERSEDED]->(:Fact) SET s.valid_until = $until"
_REVISED = "MATCH (f:Fact {id: $id}) MATCH (s:Scope {scope: f.scope}) SET s.revised = coalesce(s.revised, 0) + 1"


def _search(new: NewFact, before: Before, *, anew: bool) -> dict[str, Any]:
    """What search looks at. The words of descriptions stay while the text does."""
    parts = search_parts(new)
    if anew:
        return parts | dict.fromkeys(BY_TEXT)
    hints = redescribed(before.held, hint_counts(before.descriptions))[1]
    held = described(Held(parts["terms"], parts["counts"]), hints)
    return parts | {"terms": held.terms, "counts": held.counts}


def _let_go(id: str) -> Querying[None]:
    """What hung on the old text goes, the words it gave to descriptions of others included."""
    yield from describing.scrub((yield from describing.cited([id])))
    yield Query("MATCH (f:Fact {id: $id})-[c:CITES]-() DELETE c", {"id": id})
    yield from removing.unname([id])


def _begin_anew(new: NewFact) -> Querying[None]:
    """The names of the new text, and its vector."""
    yield from write_names([new])
    if new.vector is None:
        return
    id = new.fact.id
    yield Query("MATCH (f:Fact {id: $id}) SET f.stored = $vector", {"id": id, "vector": new.vector})
    seen = seen_from_rest(new.vector, (yield from facts.model()))
    if seen is not None:
        yield Query(_SEEN, {"r": {"id": id, "vector": seen}})


_SEEN = f"""
WITH $r AS r MATCH (f:Fact {{id: r.id}}) CALL db.create.setNodeVectorProperty(f, 'vector', {SEEN})
"""


def history(id: str) -> Querying[list[Past]]:
    """What a fact said before, and until when, the oldest first."""
    found = yield Query(_HISTORY, {"id": id})
    return [_past(fact(known), json.loads(said)) for known, history in found for said in history]


_HISTORY = f"MATCH (f:Fact {{id: $id}}) RETURN [{FACT}, coalesce(f.history, [])] AS row"


def _encoded(before: Fact, until: datetime) -> str:
    said: dict[str, Any] = {label: getattr(before, label) for label in PLAIN} | {"tags": before.tags}
    times = {label: stamp_or_none(getattr(before, label)) for label in MOMENTS}
    return json.dumps(said | times | {"until": stamp(until)}, ensure_ascii=False)


def _past(now: Fact, said: Mapping[str, Any]) -> Past:
    told = {label: said[label] for label in PLAIN} | {label: moment(said[label]) for label in MOMENTS}
    until = moment(said["until"])
    assert until is not None, "what was said has an end"
    return Past(until, replace(now, **told, tags=tuple(said["tags"])))
