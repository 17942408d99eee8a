"""All that a server holds, as plain values that can be compared and searched."""

from __future__ import annotations

from typing import Any

import neo4j
import numpy as np

from cofire.stores.neo4j.connection import parse_address

_NODES = "MATCH (n) WHERE NOT n:Store RETURN labels(n) AS labels, properties(n) AS parts"
_RELATIONSHIPS = """
MATCH (a)-[e]->(b)
RETURN type(e) AS labels, properties(e) AS parts, [coalesce(a.id, a.name), coalesce(b.id, b.name)] AS ends
"""


def content(url: str, **conditions: Any) -> list[str]:
    """Every node and every relationship, in an order of its own."""
    where = parse_address(url, None)
    with neo4j.GraphDatabase.driver(where.url, auth=where.auth) as driver:
        found = [driver.execute_query(text).records for text in (_NODES, _RELATIONSHIPS)]
    return sorted(_said(record) for records in found for record in records if _fits(record, conditions))


def across(url: str) -> int:
    """How many relationships there are between what is of different scopes."""
    where = parse_address(url, None)
    with neo4j.GraphDatabase.driver(where.url, auth=where.auth) as driver:
        found = driver.execute_query("MATCH (a)-[e]->(b) WHERE a.scope <> b.scope RETURN count(e) AS across")
    return int(found.records[0]["across"])


def _fits(record: neo4j.Record, conditions: dict[str, Any]) -> bool:
    return all(record["parts"].get(name) == value for name, value in conditions.items())


def _said(record: neo4j.Record) -> str:
    labels = sorted([record["labels"]] if isinstance(record["labels"], str) else record["labels"])
    return f"{labels} {record.get('ends')} {sorted(_unordered(record['parts']).items())}"


def _unordered(parts: dict[str, Any]) -> dict[str, Any]:
    """Words and terms of a fact stand in no order."""
    sets = {name: sorted(parts[name].split()) for name in ("tokens", "hinted") if name in parts}
    if not {"terms", "counts"} <= parts.keys():
        return parts | sets
    terms, counts = np.frombuffer(parts["terms"], np.int64), np.frombuffer(parts["counts"], np.uint16)
    held = sorted(zip(terms.tolist(), counts.tolist(), strict=True))
    return parts | sets | {"terms": held, "counts": len(held)}
