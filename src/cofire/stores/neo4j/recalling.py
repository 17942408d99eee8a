"""What recall asks besides words and vectors: facts by time, filters on ids, speakers and tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Heard:
    """The speakers of a scope, up to a number, and the count of its changes that were no tellings."""

    told: int
    revised: int
    speakers: frozenset[str]


Speakers = dict[str, Heard]
UNHEARD = Heard(0, -1, frozenset())


def voices(heard: Speakers, scopes: Sequence[str], words: Sequence[str]) -> Querying[frozenset[str]]:
    """The speakers whose names hold one of these words, in small letters. Who was heard before is remembered."""
    if not words:
        return frozenset()
    before = {scope: heard.get(scope, UNHEARD) for scope in sorted(set(scopes))}
    asked = [{"scope": scope, "told": one.told, "revised": one.revised} for scope, one in before.items()]
    found = yield Query(_VOICES, {"asked": asked})
    now = {row[0]: _heard(before[row[0]], *row[1:]) for row in found}
    heard.update(now)
    every = {speaker for one in now.values() for speaker in one.speakers}
    return frozenset(speaker for speaker in every if not set(name_words(speaker)).isdisjoint(words))


def _heard(before: Heard, told: int, revised: int, speakers: Sequence[str]) -> Heard:
    return Heard(told, revised, frozenset(speakers) | (before.speakers if revised == before.revised else frozenset()))


# Where facts only came, those that came since are looked at; where others changed or went, all.
_VOICES = """
UNWIND $asked AS one MATCH (s:Scope {scope: one.scope}) WITH one, s, coalesce(s.revised, 0) AS revised
CALL (one, revised) {
  CALL (one, revised) {
    WITH one, revised WHERE revised = one.revised
    MATCH (f:Fact) USING INDEX SEEK f:Fact(scope, number)
    WHERE f.scope = one.scope AND f.number > one.told AND f.speaker IS NOT NULL
    RETURN DISTINCT f.speaker AS speaker
  UNION
    WITH one, revised WHERE revised <> one.revised
    MATCH (f:Fact) USING INDEX SEEK f:Fact(scope, speaker) WHERE f.scope = one.scope AND f.speaker IS NOT NULL
    RETURN DISTINCT f.speaker AS speaker
  }
  RETURN collect(speaker) AS speakers
}
RETURN [s.scope, s.told, revised, speakers] AS row
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
