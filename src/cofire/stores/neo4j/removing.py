"""Removing: facts go with all that hangs on them, and names that nobody holds any more. Inside a transaction of somebody else."""

from __future__ import annotations

from collections.abc import Sequence

from cofire.stores.neo4j.querying import Query, Querying


def remove(ids: Sequence[str]) -> Querying[dict[str, int]]:
    """Remove facts; how many of each scope went."""
    if not ids:
        return {}
    yield from unname(ids)
    found = yield Query(_REMOVE, {"ids": list(dict.fromkeys(ids))})
    return {str(scope): int(count) for scope, count in found}


_REMOVE = """
MATCH (f:Fact) WHERE f.id IN $ids WITH f, f.scope AS scope DETACH DELETE f WITH scope, count(*) AS gone
RETURN [scope, gone] AS row
"""


def unname(ids: Sequence[str]) -> Querying[None]:
    """Let facts hold no names; a name that nobody holds any more goes."""
    asked = {"ids": list(dict.fromkeys(ids))}
    held = yield Query(_HELD, asked)
    yield Query(_UNHOLD, asked)
    yield Query(_UNMENTION, asked)
    yield Query(_UNABOUT, asked)
    if held:
        yield Query(_LET_GO, {"names": [{"scope": scope, "name": name} for scope, name in held]})


_HELD = """
MATCH (f:Fact)-[:MENTIONS|ABOUT]->(n:Name) WHERE f.id IN $ids WITH DISTINCT n RETURN [n.scope, n.name] AS row
"""
_UNHOLD = """
MATCH (f:Fact)-[:MENTIONS|ABOUT]->(n:Name) WHERE f.id IN $ids WITH DISTINCT f, n WITH n, count(*) AS fewer SET n.held = n.held - fewer
"""
_UNMENTION = (
    "MATCH (f:Fact)-[m:MENTIONS]->(n:Name) WHERE f.id IN $ids WITH m, n SET n.mentioned = n.mentioned - 1 DELETE m"
)
_UNABOUT = "MATCH (f:Fact)-[a:ABOUT]->(n:Name) WHERE f.id IN $ids WITH a, n SET n.about = n.about - 1 DELETE a"
_LET_GO = """
UNWIND $names AS one MATCH (n:Name {scope: one.scope, name: one.name}) WHERE n.mentioned = 0 AND n.about = 0 DELETE n
"""
