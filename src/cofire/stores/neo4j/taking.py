"""Taking: all that hangs on some facts, as plain values; and putting it back.

Every relationship of a fact is taken, of whatever type, so that none can be overlooked. Nodes are called by their own names, since
the server may give them other numbers when they come back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import astuple
from typing import Any

import numpy as np

from cofire.embedders.base import StoredModel
from cofire.errors import InvalidInput
from cofire.revising import PutBack, Radius, Skipped, Taken, other_model
from cofire.stores.base import INCOMING_RECORD, MODEL_RECORD
from cofire.stores.index.terms import Held, unpacked
from cofire.stores.neo4j import describing, facts
from cofire.stores.neo4j.querying import Query, Querying, both
from cofire.stores.neo4j.schema import category_label
from cofire.stores.neo4j.telling import CREATE, portions, seen_from_rest

FACTS, CITED, MODELS = "facts", "cited", "models"
VECTORS = {"stored": MODEL_RECORD, "incoming": INCOMING_RECORD}

# What relationships run between, besides facts at their other end.
FROM = {"SHOWED": "Recall", "JUDGED": "Occasion"}
TO = {"MENTIONS": "Name", "ABOUT": "Name"}
COUNTED, OTHER = {"MENTIONS": "mentioned", "ABOUT": "about"}, {"MENTIONS": "ABOUT", "ABOUT": "MENTIONS"}

# Relationships that one statement makes.
LOT = 2_000

Row = dict[str, Any]


def take(ids: Sequence[str]) -> Querying[Taken]:
    """All that goes with these facts. Nobody can add anything to it from now on."""
    yield Query("UNWIND $ids AS id MATCH (f:Fact {id: id}) SET f.locked = true", {"ids": sorted(set(ids))})
    return (yield from taken(ids))


def taken(ids: Sequence[str]) -> Querying[Taken]:
    """All that would go with these facts; unknown ids have nothing."""
    wanted = sorted(set(ids))
    rows, cited, models = yield from both(_rows(wanted), describing.cited(wanted), kept_models())
    if not rows[FACTS]:
        return Taken()
    return Taken(_radius(rows, [str(one["fact"]) for one in cited]), rows | {CITED: cited, MODELS: models})


def _rows(ids: Sequence[str]) -> Querying[dict[str, list[Row]]]:
    found, hanging = yield from both(_asked(_FACTS, ids), _asked(_HANGING, ids))
    rows: dict[str, list[Row]] = {FACTS: [_plain(properties) for (properties,) in found]}
    for kind, source, target, scope, parts in hanging:
        rows.setdefault(kind, []).append({"source": source, "target": target, "scope": scope, "parts": _plain(parts)})
    return rows


def _asked(text: str, ids: Sequence[str]) -> Querying[list[Any]]:
    return (yield Query(text, {"ids": list(ids)}))


# What the vector index has of a fact is made anew from its stored vector.
_FACTS = "MATCH (f:Fact) WHERE f.id IN $ids WITH f ORDER BY f.id RETURN [f {.*, vector: null, locked: null}] AS row"
_HANGING = """
MATCH (f:Fact)-[e]-() WHERE f.id IN $ids WITH DISTINCT e, startNode(e) AS a, endNode(e) AS b
RETURN [type(e), a.id, coalesce(b.id, b.name), b.scope, properties(e)] AS row
"""


def _plain(properties: Mapping[str, Any]) -> Row:
    """What is there, in the order of names; bytes as bytes."""
    said = {name: value for name, value in sorted(properties.items()) if value is not None}
    return {name: bytes(value) if isinstance(value, bytearray) else value for name, value in said.items()}


def kept_models() -> Querying[dict[str, list[Any] | None]]:
    """The models whose vectors are kept."""
    found = yield from both(*(facts.model(record) for record in VECTORS.values()))
    return {part: list(astuple(one.model)) if one else None for part, one in zip(VECTORS, found, strict=True)}


def _radius(rows: Mapping[str, Sequence[Row]], cited: Sequence[str]) -> Radius:
    gone = rows[FACTS]
    _, counts, _ = unpacked([Held(bytes(row["terms"]), bytes(row["counts"])) for row in gone])
    return Radius(
        facts=len(gone),
        edges=sum("ended" not in row["parts"] for row in rows.get("LINKS", ())),
        mentions=len(rows.get("MENTIONS", ())),
        subjects=len(rows.get("ABOUT", ())),
        vectors=sum("stored" in row for row in gone),
        words=int(np.count_nonzero(counts)),
        descriptions=sum(len(row.get("descriptions", ())) for row in gone),
        cited=tuple(cited),
    )


def scrub(taken: Taken) -> Querying[None]:
    """Descriptions of others lose the gists of what is gone."""
    yield from describing.scrub(taken.rows.get(CITED, ()))


def put_back(taken: Taken) -> Querying[PutBack]:
    """Put back what can be, where all that it refers to is there."""
    rows = taken.rows
    if not rows:
        return PutBack()
    models = yield from kept_models()
    if rows[MODELS].keys() != models.keys():
        raise InvalidInput("This was forgotten by a store of another kind.", way_out="Undo it there.")
    skipped = yield from _hindered(rows[FACTS])
    hindered = {one.id for one in skipped}
    back = [row for row in rows[FACTS] if row["id"] not in hindered]
    foreign = [part for part, model in models.items() if rows[MODELS][part] != model]
    skipped += [other_model(row["id"]) for row in back if "stored" in foreign and "stored" in row]
    yield from _create([_without(row, foreign) for row in back])
    ids = {str(row["id"]) for row in back}
    hanging = {kind: _hanging(rows[kind], ids) for kind in rows if kind not in (FACTS, CITED, MODELS)}
    there = ids | (yield from _others_there(hanging, ids))
    edges = 0
    for kind, found in hanging.items():
        made = yield from _connect(kind, [row for row in found if _ends(kind, row) <= there])
        edges += made if kind == "LINKS" else 0
    skipped += [_lost_edge(row, id) for row in hanging.get("LINKS", ()) for id in _gone(row, there)]
    skipped += (yield from describing.describe_again(rows[CITED])) if back else []
    return PutBack(tuple(row["id"] for row in back), edges, tuple(sorted(skipped)))


def _hindered(rows: Sequence[Row]) -> Querying[list[Skipped]]:
    """Facts that are there, or whose like was told again."""
    found = yield Query(_TWINS, {"ids": [row["id"] for row in rows], "hashes": [row["hash"] for row in rows]})
    there, twins = {id for id, _ in found}, {hash: id for id, hash in found}
    return [
        Skipped("fact", row["id"], "it is there already" if row["id"] in there else _told_as(twins[row["hash"]]))
        for row in rows
        if row["id"] in there or row["hash"] in twins
    ]


_TWINS = """
CALL () { MATCH (f:Fact) WHERE f.id IN $ids RETURN f UNION MATCH (f:Fact) WHERE f.hash IN $hashes RETURN f }
RETURN [f.id, f.hash] AS row
"""


def _told_as(twin: str) -> str:
    return f"the same was told again as {twin}"


def _without(row: Row, parts: Sequence[str]) -> Row:
    return {name: value for name, value in row.items() if name not in parts}


def _create(rows: Sequence[Row]) -> Querying[None]:
    model = yield from facts.model()
    made = [{"parts": row, "labels": category_label(row.get("category")), "vector": _seen(row, model)} for row in rows]
    for portion in portions(made):
        yield Query(CREATE, {"rows": portion})


def _seen(row: Row, model: StoredModel | None) -> bytes | None:
    return seen_from_rest(row.get("stored"), model)


def _hanging(rows: Sequence[Row], ids: Set[str]) -> list[Row]:
    """Relationships that hang on one of these facts."""
    return [row for row in rows if not ids.isdisjoint((row["source"], row["target"]))]


def _ends(kind: str, row: Row) -> set[str]:
    """The facts that a relationship needs. A name is made if it went, and who else showed or judged is looked for on the way."""
    return {row[end] for end, others in (("source", FROM), ("target", TO)) if kind not in others}


def _others_there(hanging: Mapping[str, Sequence[Row]], ids: Set[str]) -> Querying[set[str]]:
    """Those facts at the other ends that are there."""
    others = {end for kind, rows in hanging.items() for row in rows for end in _ends(kind, row)} - ids
    if not others:
        return set()
    found = yield Query("MATCH (f:Fact) WHERE f.id IN $ids RETURN [f.id] AS row", {"ids": sorted(others)})
    return {id for (id,) in found}


def _gone(row: Row, there: Set[str]) -> list[str]:
    """The ends that an edge lost, if it held."""
    return [] if "ended" in row["parts"] else [id for id in (row["source"], row["target"]) if id not in there]


def _connect(kind: str, rows: Sequence[Row]) -> Querying[int]:
    """Put relationships of a type back; how many hold. One end has just come back, so that none can be there already."""
    made = 0
    for portion in portions(rows, LOT):
        [[more]] = yield Query(_statement(kind), {"rows": portion})
        made += int(more)
    return made


def _lost_edge(row: Row, lost: str) -> Skipped:
    return Skipped("edge", f"{row['source']} {row['parts']['kind']} {row['target']}", f"the fact {lost} is gone")


def _statement(kind: str) -> str:
    """How a relationship of a type comes back. A name is made if it went; a recall that is no longer logged is not."""
    found = _NAMED if kind in TO else "MATCH (b:Fact {id: r.target})"
    counted = _COUNT.format(count=COUNTED[kind], other=OTHER[kind]) if kind in COUNTED else ""
    return _CONNECT.format(source=FROM.get(kind, "Fact"), found=found, kind=kind, counted=counted)


_NAMED = """
MERGE (b:Name {scope: a.scope, name: r.target}) ON CREATE SET b.mentioned = 0, b.about = 0, b.held = 0
"""
_COUNT = """
SET b.{count} = b.{count} + 1, b.held = b.held + CASE WHEN EXISTS {{ (a)-[:{other}]->(b) }} THEN 0 ELSE 1 END
"""
_CONNECT = """
UNWIND $rows AS r MATCH (a:{source} {{id: r.source}}) {found}
CREATE (a)-[e:{kind}]->(b) SET e = r.parts {counted}
WITH sum(CASE WHEN e.ended IS NULL THEN 1 ELSE 0 END) AS made RETURN [made] AS row
"""
