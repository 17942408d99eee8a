"""Searching: the vector index of the server proposes facts; the scores are cofire's own, on the stored bytes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics import fusion
from cofire.dynamics.likeness import VectorRows, centred, centred_cosines
from cofire.embedders.base import StoredModel, Vectors
from cofire.model import Where
from cofire.stores.base import LEAST_COSINE, MODEL_RECORD, Near
from cofire.stores.neo4j.querying import Query, Querying, Rows
from cofire.stores.neo4j.rows import condition, metadata_query
from cofire.stores.neo4j.schema import FACT_VECTORS, FACT_WORDS

# Scopes, and facts with some metadata, are compared one by one up to this number; beyond it the vector index proposes, which has
# neither scopes nor metadata.
FEW = 2_000
# How many more the vector index is asked for than are wanted, since some will not pass the filter; and how many at most.
WIDER, WIDEST = 4, 20_000


def alike(vector: Vectors, k: int, where: Where, candidates: int, least: float) -> Querying[list[Near]]:
    """The facts closest to a vector that are no farther than this, with their tags and vectors."""
    ids = yield from nearest(vector, k, where, candidates, least)
    found = (yield Query(_NEAR, {"ids": ids})) if ids else []
    near = {row[0]: _near(*row) for row in found}
    return [near[id] for id in ids if id in near]


_NEAR = """
MATCH (f:Fact) WHERE f.id IN $ids RETURN [f.id, coalesce(f.tags, []), f.stored] AS row
"""


def _near(id: str, tags: Sequence[str], stored: bytearray) -> Near:
    return Near(id, tuple(tags), np.frombuffer(bytes(stored), np.float16).astype(np.float32))


def nearest(vector: Vectors, k: int, where: Where, candidates: int, least: float = LEAST_COSINE) -> Querying[list[str]]:
    """The facts closest to a vector by centred cosine. When too few pass the filter, the index is asked for more."""
    wanted = max(k, candidates)
    reach = WIDER * wanted
    while True:
        rows = yield _closest(vector, wanted, reach, where)
        if not rows:
            return []
        model, all_told, found = StoredModel.decode(bytes(rows[0][0])), rows[0][1], rows[0][2]
        if len(found) >= wanted or reach >= min(all_told, WIDEST):
            return _closest_first(vector, model, found, k, least)
        reach *= WIDER


def _closest(vector: Vectors, wanted: int, reach: int, where: Where) -> Query:
    passing = condition(where)
    marked = metadata_query(where)
    count, source = (_COUNT_MARKED, _MARKED) if marked else (_COUNT_SCOPES, _ALL)
    return Query(
        _NEAREST.format(passing=passing.clause, count=count, source=source),
        {
            **passing.parameters,
            "model": MODEL_RECORD,
            "vector": np.asarray(vector, np.float64).ravel().tolist(),
            "index": FACT_VECTORS,
            "words": FACT_WORDS,
            "marked": marked,
            "scopes": None if where.scopes is None else list(where.scopes),
            "few": FEW,
            "wanted": wanted,
            "reach": reach,
        },
    )


# The question is seen from the resting point as well. Its length does not matter to the cosine. The UNWIND sees to it that a large
# scope is not looked up before it is found to be large.
_NEAREST = """
MATCH (m:Record {{name: $model}})
WITH m, [at IN range(0, size($vector) - 1) | $vector[at] - m.mean[at]] AS asked
CALL () {{ MATCH (fact:Fact) RETURN count(fact) AS everywhere }}
{count}
CALL (asked, inside, marked) {{
  UNWIND CASE WHEN inside <= $few THEN [asked] ELSE [] END AS exactly
  {source} WHERE {passing} AND f.number > 0 AND f.stored IS NOT NULL
  WITH f, coalesce(vector.similarity.cosine(f.vector, exactly), 0.5) AS near ORDER BY near DESC LIMIT $wanted
  RETURN f
UNION
  WITH asked, inside, marked WHERE inside > $few
  CALL db.index.vector.queryNodes($index, $reach, asked) YIELD node AS f, score
  WITH f, score WHERE {passing} WITH f, score ORDER BY score DESC LIMIT $wanted
  RETURN f
}}
WITH m, everywhere, inside, collect([f.id, f.stored]) AS found
RETURN [m.value, CASE WHEN inside <= $few THEN 0 ELSE everywhere END, found] AS row
"""


# How many facts may be meant: those of the scopes, or those with the marks of the metadata.
_COUNT_SCOPES = """
CALL () { MATCH (s:Scope) WHERE s.scope IN $scopes RETURN sum(s.facts) AS named }
WITH m, asked, everywhere, CASE WHEN $scopes IS NULL THEN everywhere ELSE named END AS inside, null AS marked
"""
_COUNT_MARKED = """
CALL () {
  CALL db.index.fulltext.queryNodes($words, $marked, {limit: $few + 1}) YIELD node RETURN collect(node) AS marked
}
WITH m, asked, everywhere, size(marked) AS inside, marked
"""
_ALL = "MATCH (f:Fact)"
_MARKED = "UNWIND marked AS f WITH f, exactly"


def _closest_first(vector: Vectors, model: StoredModel, found: Rows, k: int, least: float) -> list[str]:
    stored = np.frombuffer(b"".join(bytes(one[1]) for one in found), np.float16).astype(np.float32)
    asked = centred(np.asarray(vector).ravel(), model.mean)
    scores = centred_cosines(VectorRows.of(stored.reshape(len(found), -1)), asked, model.mean)
    close = np.flatnonzero(scores >= least)
    return best([found[row][0] for row in close], scores[close], k)


def best(ids: Sequence[str], scores: NDArray[np.floating], k: int) -> list[str]:
    """The highest scores first; of equals, the newer. Rounded, so that the last bit of a sum decides nothing."""
    return [ids[row] for row in fusion.best(np.asarray(scores, np.float64), ids, k)]
