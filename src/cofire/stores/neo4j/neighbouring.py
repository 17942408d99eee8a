"""Neighbouring: the turns before and after a fact of a session, as a part of larger queries."""

from __future__ import annotations


def around(fact: str) -> str:
    """Cypher that adds `before` and `after`, at most `$reach` turns each, the nearest first, to the rows of a fact."""
    return _AROUND.strip("\n").replace("FACT", fact)


_AROUND = """
  CALL (FACT) {
    MATCH (t:Fact) USING INDEX SEEK t:Fact(scope, session, told, position)
    WHERE t.scope = FACT.scope AND t.session = FACT.session AND t.told <= FACT.told AND t.position IS NOT NULL
    WITH FACT, t ORDER BY t.scope DESC, t.session DESC, t.told DESC, t.position DESC
    WITH t WHERE t.told < FACT.told OR t.position < FACT.position LIMIT $reach
    RETURN collect(t) AS before
  }
  CALL (FACT) {
    MATCH (t:Fact) USING INDEX SEEK t:Fact(scope, session, told, position)
    WHERE t.scope = FACT.scope AND t.session = FACT.session AND t.told >= FACT.told AND t.position IS NOT NULL
    WITH FACT, t ORDER BY t.scope, t.session, t.told, t.position
    WITH t WHERE t.told > FACT.told OR t.position > FACT.position LIMIT $reach
    RETURN collect(t) AS after
  }
"""
