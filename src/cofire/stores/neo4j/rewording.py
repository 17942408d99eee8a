"""Bring the words of a database up to date with today's tokenisation, a portion of facts in a transaction."""

from __future__ import annotations

from typing import Any

from cofire.model import Fact
from cofire.reading.descriptions import hint_counts
from cofire.stores.index.rewording import is_read_otherwise, reword
from cofire.stores.index.terms import Held, described
from cofire.stores.neo4j import recounting
from cofire.stores.neo4j.querying import Query, Querying, Row

PORTION = 500

_FACTS = """
MATCH (f:Fact) WHERE f.id > $after
WITH f ORDER BY f.id LIMIT $most
RETURN [f.id, f.scope, f.text, f.subject, f.tags, f.terms, f.counts, f.places, f.tokens, f.descriptions, f.hinted] AS row ORDER BY f.id
"""
_SET_WORDS = f"""
UNWIND $changes AS change MATCH (f:Fact {{id: change.id}})
SET f.terms = change.terms, f.counts = change.counts, f.length = f.length + change.added, f.places = change.places,
  f.tokens = change.tokens, f.hinted = change.hinted
{recounting.COUNTED_OTHERWISE}
"""
_SCOPES = "MATCH (c:WordCount) WHERE c.stale RETURN [c.scope] AS row"


def reword_portion(after: str) -> Querying[str | None]:
    """Reword the facts that follow an id, in the order of ids; the last id, or None when there are no more."""
    rows = yield Query(_FACTS, {"after": after, "most": PORTION})
    changes = [change for row in rows if (change := _reword_fact(row))]
    if changes:
        yield Query(_SET_WORDS, {"changes": changes})
    return str(rows[-1][0]) if rows else None


def count_reworded() -> Querying[None]:
    """Count the words of scopes whose facts were reworded, up to where they were counted before."""
    rows = yield Query(_SCOPES)
    yield from recounting.count_again([scope for (scope,) in rows], (), ())


def _reword_fact(row: Row) -> dict[str, Any] | None:
    id, _, text, subject, tags, terms, counts, places, tokens, descriptions, hinted = row
    if not is_read_otherwise(text, subject, *(tags or ()), *(descriptions or ())):
        return None
    stored = Held(bytes(terms), bytes(counts))
    reworded = reword(Fact(id=id, text=text, subject=subject).reading, tags or (), stored, bytes(places or b""))
    held = reworded.held if reworded else stored
    hints = hint_counts(descriptions or ())
    held_with_hints = described(held, hints) if hints else held
    if held_with_hints.terms == stored.terms:
        return None
    words = dict.fromkeys([*tokens.split(), *(reworded.tokens if reworded else ())])
    hinted_words = dict.fromkeys([*(hinted or "").split(), *hints])
    return {
        "id": id,
        "terms": held_with_hints.terms,
        "counts": held_with_hints.counts,
        "added": reworded.added if reworded else 0,
        "places": reworded.places if reworded else bytes(places or b""),
        "tokens": " ".join(words),
        "hinted": " ".join(hinted_words) or None,
    }
