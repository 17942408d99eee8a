"""Everything attached to facts: collect it, remove it with them, and restore it.

Every relationship of a fact is collected, of whatever type, so that none is overlooked. Rows refer to nodes by id or name, since
the server may give them other numbers when they come back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import astuple
from typing import Any

import numpy as np

from cofire.embedders.base import StoredModel
from cofire.index.terms import PackedTerms, unpack_terms
from cofire.model import CascadeCounts, RemovedCascade, RestoreSummary, SkippedRestore, make_model_skip
from cofire.stores.base import INCOMING_RECORD, MODEL_RECORD
from cofire.stores.neo4j import graph_writes
from cofire.stores.neo4j.cypher import CypherQuery, QuerySteps, run_together
from cofire.stores.neo4j.facts import CREATE_FACTS, fetch_model, quantise_vector, split_batches
from cofire.stores.neo4j.schema import category_label
from cofire.stores.rules import foreign_receipt_error, skip_lost_edge, skip_repeated_fact, skip_stored_fact


def remove_facts(ids: Sequence[str]) -> QuerySteps[dict[str, int]]:
    """Remove facts; how many of each scope went."""
    if not ids:
        return {}
    yield from remove_names(ids)
    found = yield CypherQuery(_REMOVE_FACTS, {"ids": list(dict.fromkeys(ids))})
    return {str(scope): int(count) for scope, count in found}


_REMOVE_FACTS = """
MATCH (f:Fact) WHERE f.id IN $ids WITH f, f.scope AS scope DETACH DELETE f WITH scope, count(*) AS gone
RETURN [scope, gone] AS row
"""


def remove_names(ids: Sequence[str]) -> QuerySteps[None]:
    """Let facts hold no names; a name that nobody holds any more goes."""
    asked = {"ids": list(dict.fromkeys(ids))}
    held = yield CypherQuery(_FETCH_HELD_NAMES, asked)
    yield CypherQuery(_DECREMENT_HOLDERS, asked)
    yield CypherQuery(_DELETE_MENTIONS, asked)
    yield CypherQuery(_DELETE_SUBJECTS, asked)
    if held:
        yield CypherQuery(_DELETE_UNUSED_NAMES, {"names": [{"scope": scope, "name": name} for scope, name in held]})


_FETCH_HELD_NAMES = """
MATCH (f:Fact)-[:MENTIONS|ABOUT]->(n:Name) WHERE f.id IN $ids WITH DISTINCT n RETURN [n.scope, n.name] AS row
"""
_DECREMENT_HOLDERS = """
MATCH (f:Fact)-[:MENTIONS|ABOUT]->(n:Name) WHERE f.id IN $ids WITH DISTINCT f, n WITH n, count(*) AS fewer SET n.held = n.held - fewer
"""
_DELETE_MENTIONS = (
    "MATCH (f:Fact)-[m:MENTIONS]->(n:Name) WHERE f.id IN $ids WITH m, n SET n.mentioned = n.mentioned - 1 DELETE m"
)
_DELETE_SUBJECTS = "MATCH (f:Fact)-[a:ABOUT]->(n:Name) WHERE f.id IN $ids WITH a, n SET n.about = n.about - 1 DELETE a"
_DELETE_UNUSED_NAMES = """
UNWIND $names AS one MATCH (n:Name {scope: one.scope, name: one.name}) WHERE n.mentioned = 0 AND n.about = 0 DELETE n
"""


FACTS_KEY, CITED_KEY, MODELS_KEY = "facts", "cited", "models"
VECTOR_RECORDS = {"stored": MODEL_RECORD, "incoming": INCOMING_RECORD}

# What relationships run between, besides facts at their other end.
SOURCE_LABELS = {"SHOWED": "Recall", "JUDGED": "Occasion"}
TARGET_LABELS = {"MENTIONS": "Name", "ABOUT": "Name"}
NAME_COUNTERS, OPPOSITE_NAME_TYPE = (
    {"MENTIONS": "mentioned", "ABOUT": "about"},
    {"MENTIONS": "ABOUT", "ABOUT": "MENTIONS"},
)

# Relationships that one statement makes.
RELATIONSHIPS_PER_BATCH = 2_000

PropertyRow = dict[str, Any]


def lock_cascade(ids: Sequence[str]) -> QuerySteps[RemovedCascade]:
    """All that goes with these facts. Nobody can add anything to it from now on."""
    yield CypherQuery("UNWIND $ids AS id MATCH (f:Fact {id: id}) SET f.locked = true", {"ids": sorted(set(ids))})
    return (yield from collect_cascade(ids))


def collect_cascade(ids: Sequence[str]) -> QuerySteps[RemovedCascade]:
    """All that would go with these facts; unknown ids have nothing."""
    wanted = sorted(set(ids))
    rows, cited, models = yield from run_together(
        _fetch_cascade_rows(wanted), graph_writes.find_cited_descriptions(wanted), read_vector_models()
    )
    if not rows[FACTS_KEY]:
        return RemovedCascade()
    return RemovedCascade(
        _count_cascade(rows, [str(one["fact"]) for one in cited]), rows | {CITED_KEY: cited, MODELS_KEY: models}
    )


def _fetch_cascade_rows(ids: Sequence[str]) -> QuerySteps[dict[str, list[PropertyRow]]]:
    found, hanging = yield from run_together(
        _fetch_by_ids(_FETCH_FACT_NODES, ids), _fetch_by_ids(_FETCH_RELATIONSHIPS, ids)
    )
    rows: dict[str, list[PropertyRow]] = {FACTS_KEY: [_clean_properties(properties) for (properties,) in found]}
    for kind, source, target, scope, parts in hanging:
        rows.setdefault(kind, []).append(
            {"source": source, "target": target, "scope": scope, "parts": _clean_properties(parts)}
        )
    return rows


def _fetch_by_ids(text: str, ids: Sequence[str]) -> QuerySteps[list[Any]]:
    return (yield CypherQuery(text, {"ids": list(ids)}))


# What the vector index has of a fact is made anew from its stored vector.
_FETCH_FACT_NODES = (
    "MATCH (f:Fact) WHERE f.id IN $ids WITH f ORDER BY f.id RETURN [f {.*, vector: null, locked: null}] AS row"
)
_FETCH_RELATIONSHIPS = """
MATCH (f:Fact)-[e]-() WHERE f.id IN $ids WITH DISTINCT e, startNode(e) AS a, endNode(e) AS b
RETURN [type(e), a.id, coalesce(b.id, b.name), b.scope, properties(e)] AS row
"""


def _clean_properties(properties: Mapping[str, Any]) -> PropertyRow:
    """What is there, in the order of names; bytes as bytes."""
    said = {name: value for name, value in sorted(properties.items()) if value is not None}
    return {name: bytes(value) if isinstance(value, bytearray) else value for name, value in said.items()}


def read_vector_models() -> QuerySteps[dict[str, list[Any] | None]]:
    """The models whose vectors are kept."""
    found = yield from run_together(*(fetch_model(record) for record in VECTOR_RECORDS.values()))
    return {part: list(astuple(one.model)) if one else None for part, one in zip(VECTOR_RECORDS, found, strict=True)}


def _count_cascade(rows: Mapping[str, Sequence[PropertyRow]], cited: Sequence[str]) -> CascadeCounts:
    gone = rows[FACTS_KEY]
    _, counts, _ = unpack_terms([PackedTerms(bytes(row["terms"]), bytes(row["counts"])) for row in gone])
    return CascadeCounts(
        facts=len(gone),
        edges=sum("ended" not in row["parts"] for row in rows.get("LINKS", ())),
        mentions=len(rows.get("MENTIONS", ())),
        subjects=len(rows.get("ABOUT", ())),
        vectors=sum("stored" in row for row in gone),
        words=int(np.count_nonzero(counts)),
        descriptions=sum(len(row.get("descriptions", ())) for row in gone),
        cited=tuple(cited),
    )


def remove_citations(taken: RemovedCascade) -> QuerySteps[None]:
    """Descriptions of others lose the gists of what is gone."""
    yield from graph_writes.remove_summary_phrases(taken.rows.get(CITED_KEY, ()))


def restore_cascade(taken: RemovedCascade) -> QuerySteps[RestoreSummary]:
    """Restore facts and relationships, as far as everything that they refer to is stored."""
    rows = taken.rows
    if not rows:
        return RestoreSummary()
    models = yield from read_vector_models()
    if rows[MODELS_KEY].keys() != models.keys():
        raise foreign_receipt_error()
    skipped = yield from _find_obstacles(rows[FACTS_KEY])
    skipped_ids = {skip.id for skip in skipped}
    facts = [row for row in rows[FACTS_KEY] if row["id"] not in skipped_ids]
    foreign = [part for part, model in models.items() if rows[MODELS_KEY][part] != model]
    skipped += [make_model_skip(row["id"]) for row in facts if "stored" in foreign and "stored" in row]
    yield from _restore_facts([_drop_properties(row, foreign) for row in facts])
    ids = {str(row["id"]) for row in facts}
    relationships = {
        kind: _select_relationships(rows[kind], ids) for kind in rows if kind not in (FACTS_KEY, CITED_KEY, MODELS_KEY)
    }
    stored = ids | (yield from _fetch_existing_ends(relationships, ids))
    edges = 0
    for kind, found in relationships.items():
        complete = [row for row in found if _get_required_ends(kind, row) <= stored]
        restored = yield from _restore_relationships(kind, complete)
        edges += restored if kind == "LINKS" else 0
    for row in relationships.get("LINKS", ()):
        key = (row["source"], row["target"], row["parts"]["kind"])
        if "ended" not in row["parts"]:
            skipped += [skip_lost_edge(key, id) for id in key[:2] if id not in stored]
    skipped += (yield from graph_writes.restore_descriptions(rows[CITED_KEY])) if facts else []
    return RestoreSummary(tuple(row["id"] for row in facts), edges, tuple(sorted(skipped)))


def _find_obstacles(rows: Sequence[PropertyRow]) -> QuerySteps[list[SkippedRestore]]:
    """Facts that are stored again, under their id or another one."""
    asked = {"ids": [row["id"] for row in rows], "hashes": [row["hash"] for row in rows]}
    stored = yield CypherQuery(_FIND_TWINS, asked)
    ids = {id for id, _ in stored}
    twins = {hash: id for id, hash in stored}
    skipped = []
    for row in rows:
        if row["id"] in ids:
            skipped.append(skip_stored_fact(row["id"]))
        elif row["hash"] in twins:
            skipped.append(skip_repeated_fact(row["id"], twins[row["hash"]]))
    return skipped


_FIND_TWINS = """
CALL () { MATCH (f:Fact) WHERE f.id IN $ids RETURN f UNION MATCH (f:Fact) WHERE f.hash IN $hashes RETURN f }
RETURN [f.id, f.hash] AS row
"""


def _drop_properties(row: PropertyRow, parts: Sequence[str]) -> PropertyRow:
    return {name: value for name, value in row.items() if name not in parts}


def _restore_facts(rows: Sequence[PropertyRow]) -> QuerySteps[None]:
    model = yield from fetch_model()
    made = [
        {"parts": row, "labels": category_label(row.get("category")), "vector": _quantise_row_vector(row, model)}
        for row in rows
    ]
    for portion in split_batches(made):
        yield CypherQuery(CREATE_FACTS, {"rows": portion})


def _quantise_row_vector(row: PropertyRow, model: StoredModel | None) -> bytes | None:
    return quantise_vector(row.get("stored"), model)


def _select_relationships(rows: Sequence[PropertyRow], ids: Set[str]) -> list[PropertyRow]:
    """Relationships that hang on one of these facts."""
    return [row for row in rows if not ids.isdisjoint((row["source"], row["target"]))]


def _get_required_ends(kind: str, row: PropertyRow) -> set[str]:
    """The facts that a relationship needs. A name is made if it went, and who else showed or judged is looked for on the way."""
    return {row[end] for end, others in (("source", SOURCE_LABELS), ("target", TARGET_LABELS)) if kind not in others}


def _fetch_existing_ends(hanging: Mapping[str, Sequence[PropertyRow]], ids: Set[str]) -> QuerySteps[set[str]]:
    """Those facts at the other ends that are there."""
    others = {end for kind, rows in hanging.items() for row in rows for end in _get_required_ends(kind, row)} - ids
    if not others:
        return set()
    found = yield CypherQuery("MATCH (f:Fact) WHERE f.id IN $ids RETURN [f.id] AS row", {"ids": sorted(others)})
    return {id for (id,) in found}


def _restore_relationships(kind: str, rows: Sequence[PropertyRow]) -> QuerySteps[int]:
    """Put relationships of a type back; how many hold. One end has just come back, so that none can be there already."""
    made = 0
    for portion in split_batches(rows, RELATIONSHIPS_PER_BATCH):
        [[more]] = yield CypherQuery(_build_restore_statement(kind), {"rows": portion})
        made += int(more)
    return made


def _build_restore_statement(kind: str) -> str:
    """How a relationship of a type comes back. A name is made if it went; a recall that is no longer logged is not."""
    found = _MERGE_NAME_END if kind in TARGET_LABELS else "MATCH (b:Fact {id: r.target})"
    counted = (
        _COUNT_NAME_HOLDER.format(count=NAME_COUNTERS[kind], other=OPPOSITE_NAME_TYPE[kind])
        if kind in NAME_COUNTERS
        else ""
    )
    return _CREATE_RELATIONSHIPS.format(source=SOURCE_LABELS.get(kind, "Fact"), found=found, kind=kind, counted=counted)


_MERGE_NAME_END = """
MERGE (b:Name {scope: a.scope, name: r.target}) ON CREATE SET b.mentioned = 0, b.about = 0, b.held = 0
"""
_COUNT_NAME_HOLDER = """
SET b.{count} = b.{count} + 1, b.held = b.held + CASE WHEN EXISTS {{ (a)-[:{other}]->(b) }} THEN 0 ELSE 1 END
"""
_CREATE_RELATIONSHIPS = """
UNWIND $rows AS r MATCH (a:{source} {{id: r.source}}) {found}
CREATE (a)-[e:{kind}]->(b) SET e = r.parts {counted}
WITH sum(CASE WHEN e.ended IS NULL THEN 1 ELSE 0 END) AS made RETURN [made] AS row
"""
