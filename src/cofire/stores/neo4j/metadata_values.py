"""Add to the facts of an older database what filters by metadata look up, a portion of facts in a transaction."""

from __future__ import annotations

from cofire.stores.neo4j.querying import Query, Querying
from cofire.stores.neo4j.rows import FACT, fact, metadata_properties

PORTION = 500

_FACTS = f"""
MATCH (f:Fact) WHERE f.id > $after AND f.metadata IS NOT NULL
WITH f ORDER BY f.id LIMIT $most RETURN {FACT} AS row ORDER BY f.id
"""
_SET = "UNWIND $changes AS change MATCH (f:Fact {id: change.id}) SET f += change.parts"


def fill_portion(after: str) -> Querying[str | None]:
    """Fill in the facts that follow an id, in the order of ids; the last id, or None when there are no more."""
    rows = yield Query(_FACTS, {"after": after, "most": PORTION})
    facts = [fact(row) for row in rows]
    if not facts:
        return None
    yield Query(_SET, {"changes": [{"id": one.id, "parts": metadata_properties(one)} for one in facts]})
    return facts[-1].id
