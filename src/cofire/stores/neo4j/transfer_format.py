"""Convert nodes and relationships to and from the transfer format that all stores share."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from cofire.index.terms import PackedTerms, hash_description_term, unpack_terms
from cofire.model import Change, Fact, RemovedCascade
from cofire.stores.link_rules import content_order
from cofire.stores.neo4j import cascade, changes, learning
from cofire.stores.neo4j.cypher import CypherQuery, QuerySteps, metadata_properties, run_together
from cofire.stores.transfer_format import (
    TRANSFER_COLUMNS,
    ScopeWordCounts,
    StoreMetadata,
    TransferBatch,
    make_judged_recall,
    make_transfer_row,
)
from cofire.text.descriptions import max_term_counts
from cofire.text.words import extract_words, extract_words_and_spellings

# Relationships as rows: the kind of row, and the columns of their two ends. The rest has the same name in both.
RELATIONSHIP_TABLES = {
    "MENTIONS": ("mentions", "fact", "name"),
    "ABOUT": ("subjects", "fact", "name"),
    "LINKS": ("edges", "source", "target"),
    "CITES": ("citations", "fact", "cited"),
    "SUPERSEDED": ("superseded", "old", "new"),
    "REVIEW": ("reviews", "old", "new"),
    "SHOWN_WITH": ("exposures", "a", "b"),
}
# Rows that are properties of a fact: each column with the property; there is one where the first property is.
PROPERTY_TABLES = {
    "vectors": {"vector": "stored"},
    "incoming": {"vector": "incoming"},
    "importance": {"pagerank": "pagerank", "community": "community"},
    "uses": {"helped": "helped", "hurt": "hurt"},
    "archived_because": {"reason": "archived_because", "at": "archived_at"},
}

NodeProperties = dict[str, Any]
TransferTables = dict[str, list[dict[str, Any]]]


def export_facts(ids: Sequence[str]) -> QuerySteps[TransferBatch]:
    """These facts with all that hangs on them."""
    found = yield from cascade.collect_cascade(ids)
    return to_transfer_rows(found.rows)


def to_transfer_rows(rows: Mapping[str, Sequence[NodeProperties]]) -> TransferBatch:
    """Rows as `taking` tells them, in the words of all."""
    tables: TransferTables = {table: [] for table in TRANSFER_COLUMNS}
    for node in rows.get(cascade.FACTS_KEY, ()):
        for table, values in _split_node(node):
            tables[table].append(values)
    for kind, (table, first, second) in RELATIONSHIP_TABLES.items():
        for one in rows.get(kind, ()):
            tables[table].append({**one["parts"], first: one["source"], second: one["target"]})
    for edge in tables["edges"]:
        edge["tags"] = tuple(sorted(edge.get("tags") or ()))
    return TransferBatch({table: [make_transfer_row(table, one) for one in found] for table, found in tables.items()})


def _split_node(node: NodeProperties) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows that a node holds."""
    fact = {"fact": node["id"]}
    yield "facts", {**node, "hash": bytes.fromhex(node["hash"]), "active_hours": node["hours"]}
    for tag in node.get("tags", ()):
        yield "tags", fact | {"tag": tag}
    for table, properties in PROPERTY_TABLES.items():
        if next(iter(properties.values())) in node:
            yield table, fact | {column: node.get(name) for column, name in properties.items()}
    told = zip(node.get("descriptions", ()), node.get("descriptions_made", ()), strict=True)
    for place, (text, made) in enumerate(told):
        yield "descriptions", fact | {"place": place, "text": text, "made": made}
    for place, said in enumerate(map(json.loads, node.get("history", ()))):
        until = said.pop("until")
        encoded = json.dumps(said, ensure_ascii=False, sort_keys=True)
        yield "history", fact | {"place": place, "until": until, "said": encoded}


def import_facts(carried: TransferBatch, now: datetime) -> QuerySteps[None]:
    """Keep facts as they were elsewhere, numbered after those that are there."""
    nodes = sorted(from_transfer_facts(carried), key=lambda node: str(node["id"]))
    yield from _assign_numbers(nodes)
    models = yield from cascade.read_vector_models()
    rows = {cascade.FACTS_KEY: nodes, cascade.CITED_KEY: [], cascade.MODELS_KEY: models} | from_transfer_relationships(
        carried
    )
    yield from changes.write_change(Change(now=now, put_back=RemovedCascade(rows=rows)), {})


def _assign_numbers(nodes: Sequence[NodeProperties]) -> QuerySteps[None]:
    coming = Counter(str(node["scope"]) for node in nodes)
    rows = [{"scope": scope, "more": more} for scope, more in sorted(coming.items())]
    found: Any = yield CypherQuery(_RESERVE_NUMBERS, {"rows": rows})
    last: dict[str, int] = dict(found)
    for node in nodes:
        last[node["scope"]] += 1
        node["number"] = last[node["scope"]]


_RESERVE_NUMBERS = """
UNWIND $rows AS r MERGE (s:Scope {scope: r.scope}) ON CREATE SET s.facts = 0, s.told = 0
SET s.locked = true SET s.told = s.told + r.more RETURN [s.scope, s.told - r.more] AS row
"""


def from_transfer_facts(carried: TransferBatch) -> list[NodeProperties]:
    """Facts as nodes, without their numbers."""
    nodes = {one["id"]: _build_node(one) for one in carried.named("facts")}
    for one in carried.named("tags"):
        nodes[one["fact"]]["tags"].append(one["tag"])
    for table, properties in PROPERTY_TABLES.items():
        for one in carried.named(table):
            nodes[one["fact"]] |= {name: one[column] for column, name in properties.items()}
    for one in _sort_by_place(carried.named("descriptions")):
        nodes[one["fact"]].setdefault("descriptions", []).append(one["text"])
        nodes[one["fact"]].setdefault("descriptions_made", []).append(one["made"])
    for one in _sort_by_place(carried.named("history")):
        said = json.loads(one["said"]) | {"until": one["until"]}
        nodes[one["fact"]].setdefault("history", []).append(json.dumps(said, ensure_ascii=False))
    return [_add_search_properties(node) for node in nodes.values()]


def _sort_by_place(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda one: int(one["place"]))


def _build_node(one: Mapping[str, Any]) -> NodeProperties:
    hash, hours, inbox = one["hash"], one["active_hours"], one["inbox"]
    told = one["stored_at"] if one["at"] is None else one["at"]
    same = {name: value for name, value in one.items() if name not in {"active_hours", "inbox"}}
    derived = {"hash": hash.hex(), "content": content_order(hash), "told": told, "hours": hours, "tags": []}
    return same | derived | {"inbox": True if inbox else None}


def _add_search_properties(node: NodeProperties) -> NodeProperties:
    """A node with the words and marks that the full-text index reads; they follow from what it says."""
    said = {name: node[name] for name in ("text", "subject", "category", "speaker", "session", "scope")}
    fact = Fact(**said, tags=tuple(sorted(node["tags"])), metadata=json.loads(node["metadata"] or "{}"))
    tokens = dict.fromkeys(
        [*extract_words_and_spellings(fact.reading), *(word for tag in fact.tags for word in extract_words(tag))]
    )
    return node | {
        "tags": list(fact.tags),
        "tokens": " ".join(tokens),
        "hinted": " ".join(_list_description_words(node)) or None,
        **metadata_properties(fact),
    }


def _list_description_words(node: NodeProperties) -> list[str]:
    """The words of descriptions that lead to a fact: those that its text has itself do not."""
    terms, _, _ = unpack_terms([PackedTerms(node["terms"], node["counts"])])
    leading = set(terms.tolist())
    return [word for word in max_term_counts(node.get("descriptions", ())) if hash_description_term(word) in leading]


def from_transfer_relationships(carried: TransferBatch) -> TransferTables:
    """What lies between facts, and between facts and names."""
    return {
        kind: [_build_relationship(one, first, second) for one in carried.named(table)]
        for kind, (table, first, second) in RELATIONSHIP_TABLES.items()
    }


def _build_relationship(one: Mapping[str, Any], first: str, second: str) -> dict[str, Any]:
    parts = {name: value for name, value in one.items() if name not in {first, second}}
    if "tags" in parts:
        parts["tags"] = list(parts["tags"]) or None
    if "sessions" in parts:
        parts["last"] = -1
    return {"source": one[first], "target": one[second], "parts": parts}


def read_store_metadata() -> QuerySteps[StoreMetadata]:
    """What belongs to the store as a whole."""
    records, spans, judged, counted = yield from run_together(
        *map(_run_query, (_FETCH_RECORDS, _FETCH_SPANS, _FETCH_JUDGED_RECALLS, _FETCH_WORD_COUNTS))
    )
    return StoreMetadata(
        {name: bytes(value) for name, value in records},
        tuple((begun, ended, float(before)) for begun, ended, before in spans),
        tuple(make_judged_recall(id, [tuple(one) for one in said]) for id, said in judged),
        tuple(_decode_word_count(found) for found in counted),
    )


def _run_query(text: str) -> QuerySteps[list[Any]]:
    return (yield CypherQuery(text))


_FETCH_RECORDS = "MATCH (r:Record) WHERE r.value IS NOT NULL RETURN [r.name, r.value] AS row ORDER BY r.name"
_FETCH_SPANS = "MATCH (s:Span) RETURN [s.begun, s.ended, s.hours_before] AS row ORDER BY s.begun"
_FETCH_JUDGED_RECALLS = """
MATCH (o:Occasion)-[j:JUDGED]->(f:Fact) WITH o, collect([f.id, j.first, j.verdict]) AS said
RETURN [o.id, said] AS row ORDER BY o.number, o.id
"""
_FETCH_WORD_COUNTS = """
MATCH (c:WordCount)
RETURN [c.scope, c.facts, c.length, c.terms, c.holding, c.sample, c.sampled,
  COUNT { MATCH (f:Fact) WHERE f.scope = c.scope AND f.number > 0 AND f.number <= c.counted_to }] AS row ORDER BY c.scope
"""


def _decode_word_count(found: Sequence[Any]) -> ScopeWordCounts:
    plain: list[Any] = [bytes(value) if isinstance(value, bytearray) else value for value in found]
    return ScopeWordCounts(*plain)


def write_store_metadata(household: StoreMetadata) -> QuerySteps[None]:
    """Times of use, judged recalls and counted words as they were elsewhere."""
    yield CypherQuery(_WRITE_SPANS, {"spans": [list(span) for span in household.spans]})
    if household.occasions:
        yield from learning.write_judged_recalls(household.occasions)
    for one in household.words:
        yield CypherQuery(_WRITE_WORD_COUNT, asdict(one))


_WRITE_SPANS = "UNWIND $spans AS one MERGE (s:Span {begun: one[0]}) SET s.ended = one[1], s.hours_before = one[2]"
_WRITE_WORD_COUNT = """
CALL () {
  MATCH (f:Fact) WHERE f.scope = $scope AND f.number > 0 WITH f ORDER BY f.number LIMIT $counted
  RETURN coalesce(max(f.number), 0) AS last
}
MERGE (c:WordCount {scope: $scope})
SET c.version = randomUUID(), c.facts = $facts, c.length = $length, c.terms = $terms, c.holding = $holding,
  c.sample = $sample, c.counted_to = last, c.sampled = $sampled, c.stale = true
"""
