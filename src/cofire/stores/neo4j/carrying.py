"""Carrying in Cypher: nodes and relationships in words that every store knows, there and back, and what belongs to the store as a whole."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from cofire.carrying import COLUMNS, Carried, Household, WordCount, occasion, row
from cofire.model import Change, Fact
from cofire.reading.descriptions import hint_counts
from cofire.reading.words import all_spellings, words
from cofire.revising import Taken
from cofire.stores.index.terms import Held, hint, unpacked
from cofire.stores.linking import content_order
from cofire.stores.neo4j import learning, taking, writing
from cofire.stores.neo4j.querying import Query, Querying, both
from cofire.stores.neo4j.rows import metadata_properties

# Relationships as rows: the kind of row, and the columns of their two ends. The rest has the same name in both.
RELATIONSHIPS = {
    "MENTIONS": ("mentions", "fact", "name"),
    "ABOUT": ("subjects", "fact", "name"),
    "LINKS": ("edges", "source", "target"),
    "CITES": ("citations", "fact", "cited"),
    "SUPERSEDED": ("superseded", "old", "new"),
    "REVIEW": ("reviews", "old", "new"),
    "SHOWN_WITH": ("exposures", "a", "b"),
}
# Rows that are properties of a fact: each column with the property; there is one where the first property is.
PROPERTIES = {
    "vectors": {"vector": "stored"},
    "incoming": {"vector": "incoming"},
    "importance": {"pagerank": "pagerank", "community": "community"},
    "uses": {"helped": "helped", "hurt": "hurt"},
    "archived_because": {"reason": "archived_because", "at": "archived_at"},
}

Node = dict[str, Any]
Tables = dict[str, list[dict[str, Any]]]


def carried(ids: Sequence[str]) -> Querying[Carried]:
    """These facts with all that hangs on them."""
    found = yield from taking.taken(ids)
    return as_carried(found.rows)


def as_carried(rows: Mapping[str, Sequence[Node]]) -> Carried:
    """Rows as `taking` tells them, in the words of all."""
    tables: Tables = {table: [] for table in COLUMNS}
    for node in rows.get(taking.FACTS, ()):
        for table, values in _of_fact(node):
            tables[table].append(values)
    for kind, (table, first, second) in RELATIONSHIPS.items():
        for one in rows.get(kind, ()):
            tables[table].append({**one["parts"], first: one["source"], second: one["target"]})
    for edge in tables["edges"]:
        edge["tags"] = tuple(sorted(edge.get("tags") or ()))
    return Carried({table: [row(table, one) for one in found] for table, found in tables.items()})


def _of_fact(node: Node) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows that a node holds."""
    fact = {"fact": node["id"]}
    yield "facts", {**node, "hash": bytes.fromhex(node["hash"]), "active_hours": node["hours"]}
    for tag in node.get("tags", ()):
        yield "tags", fact | {"tag": tag}
    for table, properties in PROPERTIES.items():
        if next(iter(properties.values())) in node:
            yield table, fact | {column: node.get(name) for column, name in properties.items()}
    told = zip(node.get("descriptions", ()), node.get("descriptions_made", ()), strict=True)
    for place, (text, made) in enumerate(told):
        yield "descriptions", fact | {"place": place, "text": text, "made": made}
    for place, said in enumerate(map(json.loads, node.get("history", ()))):
        until = said.pop("until")
        encoded = json.dumps(said, ensure_ascii=False, sort_keys=True)
        yield "history", fact | {"place": place, "until": until, "said": encoded}


def take_in(carried: Carried, now: datetime) -> Querying[None]:
    """Keep facts as they were elsewhere, numbered after those that are there."""
    nodes = sorted(as_nodes(carried), key=lambda node: str(node["id"]))
    yield from _number(nodes)
    models = yield from taking.kept_models()
    rows = {taking.FACTS: nodes, taking.CITED: [], taking.MODELS: models} | as_relationships(carried)
    yield from writing.write(Change(now=now, put_back=Taken(rows=rows)), {})


def _number(nodes: Sequence[Node]) -> Querying[None]:
    coming = Counter(str(node["scope"]) for node in nodes)
    rows = [{"scope": scope, "more": more} for scope, more in sorted(coming.items())]
    found: Any = yield Query(_NUMBERS, {"rows": rows})
    last: dict[str, int] = dict(found)
    for node in nodes:
        last[node["scope"]] += 1
        node["number"] = last[node["scope"]]


_NUMBERS = """
UNWIND $rows AS r MERGE (s:Scope {scope: r.scope}) ON CREATE SET s.facts = 0, s.told = 0
SET s.locked = true SET s.told = s.told + r.more RETURN [s.scope, s.told - r.more] AS row
"""


def as_nodes(carried: Carried) -> list[Node]:
    """Facts as nodes, without their numbers."""
    nodes = {one["id"]: _node(one) for one in carried.named("facts")}
    for one in carried.named("tags"):
        nodes[one["fact"]]["tags"].append(one["tag"])
    for table, properties in PROPERTIES.items():
        for one in carried.named(table):
            nodes[one["fact"]] |= {name: one[column] for column, name in properties.items()}
    for one in _in_order(carried.named("descriptions")):
        nodes[one["fact"]].setdefault("descriptions", []).append(one["text"])
        nodes[one["fact"]].setdefault("descriptions_made", []).append(one["made"])
    for one in _in_order(carried.named("history")):
        said = json.loads(one["said"]) | {"until": one["until"]}
        nodes[one["fact"]].setdefault("history", []).append(json.dumps(said, ensure_ascii=False))
    return [_searchable(node) for node in nodes.values()]


def _in_order(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda one: int(one["place"]))


def _node(one: Mapping[str, Any]) -> Node:
    hash, hours, inbox = one["hash"], one["active_hours"], one["inbox"]
    told = one["stored_at"] if one["at"] is None else one["at"]
    same = {name: value for name, value in one.items() if name not in {"active_hours", "inbox"}}
    derived = {"hash": hash.hex(), "content": content_order(hash), "told": told, "hours": hours, "tags": []}
    return same | derived | {"inbox": True if inbox else None}


def _searchable(node: Node) -> Node:
    """A node with the words and marks that the full-text index reads; they follow from what it says."""
    said = {name: node[name] for name in ("text", "subject", "category", "speaker", "session", "scope")}
    fact = Fact(**said, tags=tuple(sorted(node["tags"])), metadata=json.loads(node["metadata"] or "{}"))
    tokens = dict.fromkeys([*all_spellings(fact.reading), *(word for tag in fact.tags for word in words(tag))])
    return node | {
        "tags": list(fact.tags),
        "tokens": " ".join(tokens),
        "hinted": " ".join(_hinted(node)) or None,
        **metadata_properties(fact),
    }


def _hinted(node: Node) -> list[str]:
    """The words of descriptions that lead to a fact: those that its text has itself do not."""
    terms, _, _ = unpacked([Held(node["terms"], node["counts"])])
    leading = set(terms.tolist())
    return [word for word in hint_counts(node.get("descriptions", ())) if hint(word) in leading]


def as_relationships(carried: Carried) -> Tables:
    """What lies between facts, and between facts and names."""
    return {
        kind: [_relationship(one, first, second) for one in carried.named(table)]
        for kind, (table, first, second) in RELATIONSHIPS.items()
    }


def _relationship(one: Mapping[str, Any], first: str, second: str) -> dict[str, Any]:
    parts = {name: value for name, value in one.items() if name not in {first, second}}
    if "tags" in parts:
        parts["tags"] = list(parts["tags"]) or None
    if "sessions" in parts:
        parts["last"] = -1
    return {"source": one[first], "target": one[second], "parts": parts}


def household() -> Querying[Household]:
    """What belongs to the store as a whole."""
    records, spans, judged, counted = yield from both(*map(_asked, (_RECORDS, _SPANS, _JUDGED, _COUNTED)))
    return Household(
        {name: bytes(value) for name, value in records},
        tuple((begun, ended, float(before)) for begun, ended, before in spans),
        tuple(occasion(id, [tuple(one) for one in said]) for id, said in judged),
        tuple(_word_count(found) for found in counted),
    )


def _asked(text: str) -> Querying[list[Any]]:
    return (yield Query(text))


_RECORDS = "MATCH (r:Record) WHERE r.value IS NOT NULL RETURN [r.name, r.value] AS row ORDER BY r.name"
_SPANS = "MATCH (s:Span) RETURN [s.begun, s.ended, s.hours_before] AS row ORDER BY s.begun"
_JUDGED = """
MATCH (o:Occasion)-[j:JUDGED]->(f:Fact) WITH o, collect([f.id, j.first, j.verdict]) AS said
RETURN [o.id, said] AS row ORDER BY o.number, o.id
"""
_COUNTED = """
MATCH (c:WordCount)
RETURN [c.scope, c.facts, c.length, c.terms, c.holding, c.sample, c.sampled,
  COUNT { MATCH (f:Fact) WHERE f.scope = c.scope AND f.number > 0 AND f.number <= c.counted_to }] AS row ORDER BY c.scope
"""


def _word_count(found: Sequence[Any]) -> WordCount:
    plain: list[Any] = [bytes(value) if isinstance(value, bytearray) else value for value in found]
    return WordCount(*plain)


def furnish(household: Household) -> Querying[None]:
    """Times of use, judged recalls and counted words as they were elsewhere."""
    yield Query(_KEEP_SPANS, {"spans": [list(span) for span in household.spans]})
    if household.occasions:
        yield from learning.judge(household.occasions)
    for one in household.words:
        yield Query(_COUNT, asdict(one))


_KEEP_SPANS = "UNWIND $spans AS one MERGE (s:Span {begun: one[0]}) SET s.ended = one[1], s.hours_before = one[2]"
_COUNT = """
CALL () {
  MATCH (f:Fact) WHERE f.scope = $scope AND f.number > 0 WITH f ORDER BY f.number LIMIT $counted
  RETURN coalesce(max(f.number), 0) AS last
}
MERGE (c:WordCount {scope: $scope})
SET c.version = randomUUID(), c.facts = $facts, c.length = $length, c.terms = $terms, c.holding = $holding,
  c.sample = $sample, c.counted_to = last, c.sampled = $sampled, c.stale = true
"""
