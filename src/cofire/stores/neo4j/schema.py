"""Nodes, relationships and indexes of the database, schema versions and data migrations.

Every node has a `scope`, but for the three that belong to the whole store (Store, Record, Span) and to nobody's facts (Recall,
RecallSession, Occasion). Moments are whole microseconds since 1970 (`stores.index.moments`). A property that has nothing to say is absent.
Bytes are the same as in SQLite, so that both stores decide alike to the last bit. While a transaction is under way a node may be
`locked`: a mark that makes others wait. (To set a property to itself locks as well, but writes back what was read before the lock.)

(:Fact)  and the fact's category as a second label, see `category_label`
  id          ULID, unique
  hash        of the content, 32 hex digits, unique; the scope is part of what is hashed
  content     the first eight bytes of the hash as a number: the order among equals (`linking.content_order`)
  number      in which order facts came into their scope, from 1, never given twice
  scope text subject category speaker session position source metadata (JSON)
  tags        a list, sorted
  metadata_values  a list: keys of the metadata with their values as text that compares like the value (`rows.token`); absent without
              metadata
  at stored_at valid_from valid_until expires reinforced_at, and `told`: at or, where nobody said, stored_at
  reinforced  how often it was told again; pinned, archived: always there, true or false
  hours       the active-hours clock at its last telling
  inbox       true while it waits for a dream, else absent
  terms counts  bytes: its words, marks and hints as numbers, and how often each occurs (`stores.index.terms.Held`)
  length      of its words all told; places: bytes, the sentences of its words (`packed_places`)
  tokens      its words, a space between: what the full-text index reads
  hinted      the words of its descriptions, likewise
  marks       its scope, tags, category, speaker, session and metadata as words that no text has (`marking`), for filters inside
              that index
  stored      bytes: its vector as float16, which decides; absent without an embedder
  vector      the same as seen from the model's resting point, in 255 steps, for the vector index; absent where that is nowhere
  incoming    bytes: its vector of the model that is moving in
  pagerank community  its importance, once a dream has computed it
  helped hurt how it fared, as feedback told
  archived_because archived_at   why and when it was archived or brought back; the reason is empty where it was by hand
  descriptions descriptions_made  lists: how it was described and since when, the oldest first; the last one holds
  history     a list of JSON: what it said before, each with `until`, the oldest first
(:Name {scope, name, mentioned, about, held})  unique by scope and name; how many facts mention it, are about it, and do either.
            Gone when none does
(:Scope {scope, facts, told, revised})   unique; how many facts it holds, the last number given, and how often facts went, came
            back or changed their speaker
(:WordCount {scope, version, facts, length, terms, holding, sample, counted_to, sampled, stale})
            unique; the words of a scope as last counted, terms and holding as bytes (int64, int32), up to which number;
            `stale` is true where words of facts that were counted have changed since, else absent
(:Record {name, version, value})         unique; value is bytes. The record of the model has its `mean` as a list besides
(:Span {begun, ended, hours_before})     times in which the memory was in use
(:Recall {id, at, session, number})      the log of what was shown; number grows
(:RecallSession {number, name, ended})   sessions of recalls; `name` absent where it has none
(:Occasion {id, number})                 recalls that were judged; number grows
(:Store {name: 'cofire', schema})        which schema this is

(:Fact)-[:MENTIONS {sentences, confidence}]->(:Name)   sentences: a bit each, the last bit for all from the 32nd on
(:Fact)-[:ABOUT {strength}]->(:Name)
(:Fact)-[:LINKS {kind, weight, confidence, tags, origin, created, ended, seen, anchor, anchored, co_access_count}]->(:Fact)
            one of a kind from a fact to another. Which kinds are structural and which behavioural, `cofire.kinds` tells.
            weight and confidence are absent where nobody said; tags absent where there are none; `ended` absent while it holds;
            `seen` is when it was last observed or strengthened; an anchor holds as long as `anchored` is that moment
(:Fact)-[:CITES {gist}]->(:Fact)         whose words stand in its descriptions
(:Fact)-[:SUPERSEDED {valid_until}]->(:Fact)  the older gave way to the newer; what it was valid until before, if anything
(:Fact)-[:REVIEW {why, state}]->(:Fact)  the older and the newer of two that seem to disagree
(:Fact)-[:SHOWN_WITH {sessions, last}]->(:Fact)  from the smaller id to the larger
(:Recall)-[:SHOWED {place, ways}]->(:Fact)   `place` absent where it was not shown itself; `ways` that led there, JSON: of each the
            scopes and numbers of both ends and the kind. Numbers mean nothing once a fact is gone, and the same when it is back
(:Occasion)-[:JUDGED {first, verdict}]->(:Fact)  whether it stood at a first place; 1 where it helped, -1 where it hurt, else 0
"""

from __future__ import annotations

import re
from typing import Any

from cofire.errors import StoreTooNew, upgrade_command
from cofire.index.terms import PackedTerms, add_description_terms, is_tokenised_differently, retokenise_fact
from cofire.model import Fact
from cofire.stores.neo4j import word_statistics
from cofire.stores.neo4j.cypher import FACT_COLUMNS, CypherQuery, QuerySteps, Row, decode_fact, metadata_properties
from cofire.text.descriptions import max_term_counts

SCHEMA_VERSION = 4
_FIRST_VERSION_WITH_ALL_WORDS = 3
_FIRST_VERSION_WITH_METADATA_VALUES = 4
VECTOR_INDEX_NAME, FULLTEXT_INDEX_NAME = "cofire_fact_vectors", "cofire_fact_words"

_UNIQUE_PROPERTIES = (
    ("Fact", "id"),
    ("Fact", "hash"),
    ("Name", "scope", "name"),
    ("Scope", "scope"),
    ("WordCount", "scope"),
    ("Record", "name"),
    ("Recall", "id"),
    ("RecallSession", "number"),
    ("Occasion", "id"),
    ("Span", "begun"),
    ("Store", "name"),
)
_INDEXED_PROPERTIES = (
    ("Fact", "scope", "hash"),
    ("Fact", "scope", "number"),
    ("Fact", "scope", "told"),
    ("Fact", "scope", "session", "position"),
    ("Fact", "scope", "session", "told", "position"),
    ("Fact", "scope", "speaker"),
    ("Fact", "community"),
    ("Fact", "inbox"),
    ("Recall", "number"),
    ("Occasion", "number"),
    ("Span", "ended"),
)
_CREATE_VECTOR_INDEX = f"""
CREATE VECTOR INDEX {VECTOR_INDEX_NAME} IF NOT EXISTS FOR (f:Fact) ON (f.vector)
OPTIONS {{indexConfig: {{`vector.similarity_function`: 'cosine'}}}}
"""
_CREATE_FULLTEXT_INDEX = f"""
CREATE FULLTEXT INDEX {FULLTEXT_INDEX_NAME} IF NOT EXISTS FOR (f:Fact) ON EACH [f.tokens, f.hinted, f.marks]
OPTIONS {{indexConfig: {{`fulltext.analyzer`: 'whitespace'}}}}
"""
RESERVED_LABELS = frozenset({label for label, *_ in (*_UNIQUE_PROPERTIES, *_INDEXED_PROPERTIES)})


def list_setup_statements() -> list[str]:
    """What makes a database ready, each harmless when it is there already. Each is a transaction of its own."""
    unique = [
        f"CREATE CONSTRAINT cofire_{_format_index_name(label, *parts)} IF NOT EXISTS FOR (n:{label}) "
        f"REQUIRE ({_format_properties(parts)}) IS UNIQUE"
        for label, *parts in _UNIQUE_PROPERTIES
    ]
    indexed = [
        f"CREATE INDEX cofire_{_format_index_name(label, *parts)}_order IF NOT EXISTS FOR (n:{label}) ON ({_format_properties(parts)})"
        for label, *parts in _INDEXED_PROPERTIES
    ]
    return [*unique, *indexed, _CREATE_VECTOR_INDEX, _CREATE_FULLTEXT_INDEX, "CALL db.awaitIndexes(120)"]


# What brings a database of an older schema up to the one after it. Each is a statement of its own, in as many transactions as it
# needs, harmless when it was begun before and not ended.
_UPGRADE_STATEMENTS = (
    (
        1,
        """
        MATCH (n:Name) WHERE n.held IS NULL
        CALL (n) { SET n.held = COUNT { MATCH (n)<-[:MENTIONS|ABOUT]-(f) RETURN DISTINCT f } } IN TRANSACTIONS OF 1000 ROWS
        """,
    ),
    (1, "MATCH (c:WordCount) SET c.stale = true"),
)


def list_upgrade_statements(found: int) -> list[str]:
    """What a database of a schema still lacks; nothing where cofire was never before."""
    return [statement for before, statement in _UPGRADE_STATEMENTS if 0 < found <= before]


def has_outdated_words(found: int) -> bool:
    """Whether a database of a schema holds facts whose words were read without elisions and second spellings."""
    return 0 < found < _FIRST_VERSION_WITH_ALL_WORDS


def has_missing_metadata_values(found: int) -> bool:
    """Whether a database of a schema holds facts whose metadata filters cannot look up."""
    return 0 < found < _FIRST_VERSION_WITH_METADATA_VALUES


def fetch_schema_version() -> QuerySteps[int]:
    """The schema that a database has; 0 for one that cofire never saw."""
    found = yield CypherQuery("MATCH (s:Store {name: 'cofire'}) RETURN [s.schema] AS row")
    return int(found[0][0]) if found else 0


def write_schema_version() -> QuerySteps[None]:
    """Note which schema a database has."""
    yield CypherQuery("MERGE (s:Store {name: 'cofire'}) SET s.schema = $version", {"version": SCHEMA_VERSION})


def reject_newer_schema(found: int, place: str) -> None:
    if found > SCHEMA_VERSION:
        raise StoreTooNew(
            f"{place} was written by a newer cofire (schema {found}, this one knows {SCHEMA_VERSION}).",
            way_out=f"Upgrade with: {upgrade_command()}",
        )


def category_label(category: str | None) -> list[str]:
    """The second label of a fact, for whoever looks at the graph: words in capitals, and never one that cofire has itself.

    >>> category_label("how-to notes"), category_label("name"), category_label(None)
    (['HowToNotes'], ['Name_'], [])
    """
    words = re.findall(r"[^\W_]+", category or "")
    label = "".join(word[:1].upper() + word[1:] for word in words)
    return [f"{label}_" if label in RESERVED_LABELS else label] if label else []


def _format_index_name(*parts: str) -> str:
    return "_".join(parts).lower()


def _format_properties(parts: list[str]) -> str:
    return ", ".join(f"n.{part}" for part in parts)


WORDS_BATCH_SIZE = 500

_FETCH_FACT_WORDS = """
MATCH (f:Fact) WHERE f.id > $after
WITH f ORDER BY f.id LIMIT $most
RETURN [f.id, f.scope, f.text, f.subject, f.tags, f.terms, f.counts, f.places, f.tokens, f.descriptions, f.hinted] AS row ORDER BY f.id
"""
_SET_WORDS = f"""
UNWIND $changes AS change MATCH (f:Fact {{id: change.id}})
SET f.terms = change.terms, f.counts = change.counts, f.length = f.length + change.added, f.places = change.places,
  f.tokens = change.tokens, f.hinted = change.hinted
{word_statistics.MARK_STATISTICS_STALE}
"""
_FETCH_STALE_SCOPES = "MATCH (c:WordCount) WHERE c.stale RETURN [c.scope] AS row"


def update_words_batch(after: str) -> QuerySteps[str | None]:
    """Reword the facts that follow an id, in the order of ids; the last id, or None when there are no more."""
    rows = yield CypherQuery(_FETCH_FACT_WORDS, {"after": after, "most": WORDS_BATCH_SIZE})
    changes = [change for row in rows if (change := _update_fact_words(row))]
    if changes:
        yield CypherQuery(_SET_WORDS, {"changes": changes})
    return str(rows[-1][0]) if rows else None


def recount_stale_scopes() -> QuerySteps[None]:
    """Count the words of scopes whose facts were reworded, up to where they were counted before."""
    rows = yield CypherQuery(_FETCH_STALE_SCOPES)
    yield from word_statistics.adjust_statistics([scope for (scope,) in rows], (), ())


def _update_fact_words(row: Row) -> dict[str, Any] | None:
    id, _, text, subject, tags, terms, counts, places, tokens, descriptions, hinted = row
    if not is_tokenised_differently(text, subject, *(tags or ()), *(descriptions or ())):
        return None
    stored = PackedTerms(bytes(terms), bytes(counts))
    reworded = retokenise_fact(
        Fact(id=id, text=text, subject=subject).reading, tags or (), stored, bytes(places or b"")
    )
    held = reworded.held if reworded else stored
    hints = max_term_counts(descriptions or ())
    held_with_hints = add_description_terms(held, hints) if hints else held
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


METADATA_BATCH_SIZE = 500

_FETCH_FACTS_WITH_METADATA = f"""
MATCH (f:Fact) WHERE f.id > $after AND f.metadata IS NOT NULL
WITH f ORDER BY f.id LIMIT $most RETURN {FACT_COLUMNS} AS row ORDER BY f.id
"""
_SET_METADATA_VALUES = "UNWIND $changes AS change MATCH (f:Fact {id: change.id}) SET f += change.parts"


def fill_metadata_batch(after: str) -> QuerySteps[str | None]:
    """Fill in the facts that follow an id, in the order of ids; the last id, or None when there are no more."""
    rows = yield CypherQuery(_FETCH_FACTS_WITH_METADATA, {"after": after, "most": METADATA_BATCH_SIZE})
    facts = [decode_fact(row) for row in rows]
    if not facts:
        return None
    yield CypherQuery(
        _SET_METADATA_VALUES, {"changes": [{"id": one.id, "parts": metadata_properties(one)} for one in facts]}
    )
    return facts[-1].id
