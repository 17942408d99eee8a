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
from cofire.stores.recall_log import make_judged_recall
from cofire.stores.transfer_format import (
    TRANSFER_COLUMNS,
    ScopeWordCounts,
    StoreMetadata,
    TransferBatch,
    make_transfer_row,
)
from cofire.text.descriptions import max_term_counts
from cofire.text.words import extract_words, extract_words_and_spellings

# The table of each type of relationship, and the columns of its two ends. Other properties have the name of their column.
RELATIONSHIP_TABLES = {
    "MENTIONS": ("mentions", "fact", "name"),
    "ABOUT": ("subjects", "fact", "name"),
    "LINKS": ("edges", "source", "target"),
    "CITES": ("citations", "fact", "cited"),
    "SUPERSEDED": ("superseded", "old", "new"),
    "REVIEW": ("reviews", "old", "new"),
    "SHOWN_WITH": ("exposures", "a", "b"),
}
# Rows that are properties of a fact, by column. There is a row where the first property is set.
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
    """These facts with everything attached to them."""
    collected = yield from cascade.collect_cascade(ids)
    return to_transfer_rows(collected.rows)


def to_transfer_rows(rows: Mapping[str, Sequence[NodeProperties]]) -> TransferBatch:
    """Rows of `cascade.collect_cascade` in the transfer format."""
    tables: TransferTables = {table: [] for table in TRANSFER_COLUMNS}
    for node in rows.get(cascade.FACTS_KEY, ()):
        for table, values in _split_node(node):
            tables[table].append(values)
    for kind, (table, first, second) in RELATIONSHIP_TABLES.items():
        for relationship in rows.get(kind, ()):
            ends = {first: relationship["source"], second: relationship["target"]}
            tables[table].append({**relationship["parts"], **ends})
    for edge in tables["edges"]:
        edge["tags"] = tuple(sorted(edge.get("tags") or ()))
    return TransferBatch(
        {table: [make_transfer_row(table, values) for values in table_rows] for table, table_rows in tables.items()}
    )


def _split_node(node: NodeProperties) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows that the properties of a node make."""
    fact = {"fact": node["id"]}
    yield "facts", {**node, "hash": bytes.fromhex(node["hash"]), "active_hours": node["hours"]}
    for tag in node.get("tags", ()):
        yield "tags", fact | {"tag": tag}
    for table, properties in PROPERTY_TABLES.items():
        if next(iter(properties.values())) in node:
            yield table, fact | {column: node.get(name) for column, name in properties.items()}
    descriptions = zip(node.get("descriptions", ()), node.get("descriptions_made", ()), strict=True)
    for place, (text, made) in enumerate(descriptions):
        yield "descriptions", fact | {"place": place, "text": text, "made": made}
    for place, past in enumerate(map(json.loads, node.get("history", ()))):
        until = past.pop("until")
        encoded = json.dumps(past, ensure_ascii=False, sort_keys=True)
        yield "history", fact | {"place": place, "until": until, "said": encoded}


def import_facts(carried: TransferBatch, now: datetime) -> QuerySteps[None]:
    """Insert facts as they were in another store, numbered after the stored ones."""
    nodes = sorted(from_transfer_facts(carried), key=lambda node: str(node["id"]))
    yield from _assign_numbers(nodes)
    models = yield from cascade.read_vector_models()
    rows = {cascade.FACTS_KEY: nodes, cascade.CITED_KEY: [], cascade.MODELS_KEY: models} | from_transfer_relationships(
        carried
    )
    yield from changes.write_change(Change(now=now, put_back=RemovedCascade(rows=rows)), {})


def _assign_numbers(nodes: Sequence[NodeProperties]) -> QuerySteps[None]:
    new_facts = Counter(str(node["scope"]) for node in nodes)
    rows = [{"scope": scope, "more": count} for scope, count in sorted(new_facts.items())]
    numbers: Any = yield CypherQuery(_RESERVE_NUMBERS, {"rows": rows})
    last: dict[str, int] = dict(numbers)
    for node in nodes:
        last[node["scope"]] += 1
        node["number"] = last[node["scope"]]


_RESERVE_NUMBERS = """
UNWIND $rows AS r MERGE (s:Scope {scope: r.scope}) ON CREATE SET s.facts = 0, s.told = 0
SET s.locked = true SET s.told = s.told + r.more RETURN [s.scope, s.told - r.more] AS row
"""


def from_transfer_facts(carried: TransferBatch) -> list[NodeProperties]:
    """Facts as nodes, without their numbers."""
    nodes = {row["id"]: _build_node(row) for row in carried.named("facts")}
    for row in carried.named("tags"):
        nodes[row["fact"]]["tags"].append(row["tag"])
    for table, properties in PROPERTY_TABLES.items():
        for row in carried.named(table):
            nodes[row["fact"]] |= {name: row[column] for column, name in properties.items()}
    for row in _sort_by_place(carried.named("descriptions")):
        nodes[row["fact"]].setdefault("descriptions", []).append(row["text"])
        nodes[row["fact"]].setdefault("descriptions_made", []).append(row["made"])
    for row in _sort_by_place(carried.named("history")):
        past = json.loads(row["said"]) | {"until": row["until"]}
        nodes[row["fact"]].setdefault("history", []).append(json.dumps(past, ensure_ascii=False))
    return [_add_search_properties(node) for node in nodes.values()]


def _sort_by_place(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: int(row["place"]))


def _build_node(row: Mapping[str, Any]) -> NodeProperties:
    hash = row["hash"]
    same = {name: value for name, value in row.items() if name not in {"active_hours", "inbox"}}
    derived = {
        "hash": hash.hex(),
        "content": content_order(hash),
        "told": row["stored_at"] if row["at"] is None else row["at"],
        "hours": row["active_hours"],
        "tags": [],
        "inbox": True if row["inbox"] else None,
    }
    return same | derived


def _add_search_properties(node: NodeProperties) -> NodeProperties:
    """A node with the words and marks that the full-text index reads, which follow from its content."""
    values = {name: node[name] for name in ("text", "subject", "category", "speaker", "session", "scope")}
    fact = Fact(**values, tags=tuple(sorted(node["tags"])), metadata=json.loads(node["metadata"] or "{}"))
    tag_words = [word for tag in fact.tags for word in extract_words(tag)]
    tokens = dict.fromkeys([*extract_words_and_spellings(fact.reading), *tag_words])
    return node | {
        "tags": list(fact.tags),
        "tokens": " ".join(tokens),
        "hinted": " ".join(_list_description_words(node)) or None,
        **metadata_properties(fact),
    }


def _list_description_words(node: NodeProperties) -> list[str]:
    """The words of descriptions that lead to a fact, without those of its own text."""
    terms, _, _ = unpack_terms([PackedTerms(node["terms"], node["counts"])])
    leading = set(terms.tolist())
    return [word for word in max_term_counts(node.get("descriptions", ())) if hash_description_term(word) in leading]


def from_transfer_relationships(carried: TransferBatch) -> TransferTables:
    """Relationships between facts, and between facts and names."""
    return {
        kind: [_build_relationship(row, first, second) for row in carried.named(table)]
        for kind, (table, first, second) in RELATIONSHIP_TABLES.items()
    }


def _build_relationship(row: Mapping[str, Any], first: str, second: str) -> dict[str, Any]:
    parts = {name: value for name, value in row.items() if name not in {first, second}}
    if "tags" in parts:
        parts["tags"] = list(parts["tags"]) or None
    if "sessions" in parts:
        parts["last"] = -1
    return {"source": row[first], "target": row[second], "parts": parts}


def read_store_metadata() -> QuerySteps[StoreMetadata]:
    """Everything that belongs to the store as a whole."""
    records, spans, judged, counted = yield from run_together(
        *map(_run_query, (_FETCH_RECORDS, _FETCH_SPANS, _FETCH_JUDGED_RECALLS, _FETCH_WORD_COUNTS))
    )
    return StoreMetadata(
        {name: bytes(value) for name, value in records},
        tuple((begun, ended, float(before)) for begun, ended, before in spans),
        tuple(make_judged_recall(id, judgements) for id, judgements in judged),
        tuple(_decode_word_count(row) for row in counted),
    )


def _run_query(text: str) -> QuerySteps[list[Any]]:
    return (yield CypherQuery(text))


_FETCH_RECORDS = "MATCH (r:Record) WHERE r.value IS NOT NULL RETURN [r.name, r.value] AS row ORDER BY r.name"
_FETCH_SPANS = "MATCH (s:Span) RETURN [s.begun, s.ended, s.hours_before] AS row ORDER BY s.begun"
_FETCH_JUDGED_RECALLS = """
MATCH (o:Occasion)-[j:JUDGED]->(f:Fact) WITH o, collect([f.id, j.first, j.verdict]) AS judgements
RETURN [o.id, judgements] AS row ORDER BY o.number, o.id
"""
_FETCH_WORD_COUNTS = """
MATCH (c:WordCount)
RETURN [c.scope, c.facts, c.length, c.terms, c.holding, c.sample, c.sampled,
  COUNT { MATCH (f:Fact) WHERE f.scope = c.scope AND f.number > 0 AND f.number <= c.counted_to }] AS row ORDER BY c.scope
"""


def _decode_word_count(row: Sequence[Any]) -> ScopeWordCounts:
    values: list[Any] = [bytes(value) if isinstance(value, bytearray) else value for value in row]
    return ScopeWordCounts(*values)


def write_store_metadata(metadata: StoreMetadata) -> QuerySteps[None]:
    """Write times of use, judged recalls and word counts as they were in another store."""
    yield CypherQuery(_WRITE_SPANS, {"spans": [list(span) for span in metadata.spans]})
    if metadata.occasions:
        yield from learning.write_judged_recalls(metadata.occasions)
    for count in metadata.words:
        yield CypherQuery(_WRITE_WORD_COUNT, asdict(count))


_WRITE_SPANS = "UNWIND $spans AS row MERGE (s:Span {begun: row[0]}) SET s.ended = row[1], s.hours_before = row[2]"
_WRITE_WORD_COUNT = """
CALL () {
  MATCH (f:Fact) WHERE f.scope = $scope AND f.number > 0 WITH f ORDER BY f.number LIMIT $counted
  RETURN coalesce(max(f.number), 0) AS last
}
MERGE (c:WordCount {scope: $scope})
SET c.version = randomUUID(), c.facts = $facts, c.length = $length, c.terms = $terms, c.holding = $holding,
  c.sample = $sample, c.counted_to = last, c.sampled = $sampled, c.stale = true
"""
