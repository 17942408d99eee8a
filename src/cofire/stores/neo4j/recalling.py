"""What recall asks besides words and vectors: facts by time, filters on ids, speakers and tags."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cofire.model import Where
from cofire.stores.index.moments import stamp
from cofire.stores.index.voices import name_words
from cofire.stores.neo4j.querying import Query, Querying
from cofire.stores.neo4j.rows import condition, marking
from cofire.stores.neo4j.schema import FACT_WORDS


def timely(spans: Sequence[tuple[datetime, datetime]], k: int, where: Where) -> Querying[list[str]]:
    """The facts inside one of these spans, or closest to it; of equals by content."""
    if not spans:
        return []
    passing = condition(where)
    asked = {"spans": [[stamp(start), stamp(end)] for start, end in spans], "k": k}
    text = _TIMELY.format(scopes=_SCOPES if where.scopes is not None else _EVERY_SCOPE, passing=passing.clause)
    found = yield Query(text, {**passing.parameters, **asked})
    return [id for _, _, id in sorted(found)][:k]


_SCOPES = "UNWIND $where_scopes AS scope"
_EVERY_SCOPE = "MATCH (s:Scope) WHERE s.scope IS NOT NULL WITH s.scope AS scope"
# The best of each span hold the best of all. The index has the facts of a scope in the order of time, so each way is walked
# from the end of a span no further than need be.
_TIMELY = """
{scopes} UNWIND $spans AS span
CALL (scope, span) {{
  MATCH (f:Fact) USING INDEX SEEK f:Fact(scope, told) WHERE f.scope = scope AND f.told >= span[0] AND f.told <= span[1] AND {passing}
  WITH f ORDER BY f.content LIMIT $k RETURN f, 0 AS away
UNION ALL
  MATCH (f:Fact) USING INDEX SEEK f:Fact(scope, told) WHERE f.scope = scope AND f.told < span[0] AND {passing}
  WITH f, span ORDER BY f.scope DESC, f.told DESC, f.content LIMIT $k RETURN f, span[0] - f.told AS away
UNION ALL
  MATCH (f:Fact) USING INDEX SEEK f:Fact(scope, told) WHERE f.scope = scope AND f.told > span[1] AND {passing}
  WITH f, span ORDER BY f.scope, f.told, f.content LIMIT $k RETURN f, f.told - span[1] AS away
}}
WITH f, min(away) AS away
RETURN [away, f.content, f.id] AS row
"""


def admitted(ids: Sequence[str], where: Where) -> Querying[list[str]]:
    """Those of these ids whose facts pass the filter, in their order."""
    passing = condition(where)
    text = f"UNWIND $ids AS id MATCH (f:Fact {{id: id}}) WITH f WHERE {passing.clause} RETURN [f.id] AS row"
    found = yield Query(text, {**passing.parameters, "ids": list(dict.fromkeys(ids))})
    seen = {id for (id,) in found}
    return [id for id in ids if id in seen]


def voices(scopes: Sequence[str], words: Sequence[str]) -> Querying[frozenset[str]]:
    """The speakers whose names hold one of these words, in small letters."""
    found = (yield Query(_VOICES, {"scopes": sorted(set(scopes))})) if words else []
    return frozenset(speaker for (speaker,) in found if not set(name_words(speaker)).isdisjoint(words))


_VOICES = """
UNWIND $scopes AS scope
MATCH (f:Fact) USING INDEX SEEK f:Fact(scope, speaker) WHERE f.scope = scope AND f.speaker IS NOT NULL
WITH DISTINCT f.speaker AS speaker RETURN [speaker] AS row
"""


def tags(scopes: Sequence[str], names: Sequence[str]) -> Querying[frozenset[str]]:
    """Those of these names that are tags of facts in these scopes. The word index has tags as marks; one fact is enough for each."""
    if not scopes or not names:
        return frozenset()
    inside = " ".join(marking("scope", scope) for scope in sorted(set(scopes)))
    asked = [[name, f"+marks:{marking('tag', name)} +marks:({inside})"] for name in dict.fromkeys(names)]
    found = yield Query(_TAGS, {"asked": asked, "index": FACT_WORDS})
    return frozenset(name for (name,) in found)


_TAGS = """
UNWIND $asked AS one CALL db.index.fulltext.queryNodes($index, one[1], {limit: 1}) YIELD node
RETURN [one[0]] AS row
"""
