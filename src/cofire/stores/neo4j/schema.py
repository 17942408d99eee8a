"""Schema: the nodes and relationships of a memory on Neo4j, the indexes that find them, and how they come to be.

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

from cofire.errors import StoreTooNew
from cofire.installation import upgrade_command
from cofire.stores.neo4j.querying import Query, Querying

VERSION = 4
_FIRST_WITH_ALL_WORDS = 3
_FIRST_WITH_METADATA_VALUES = 4
FACT_VECTORS, FACT_WORDS = "cofire_fact_vectors", "cofire_fact_words"

_UNIQUE = (
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
_INDEXED = (
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
_VECTOR_INDEX = f"""
CREATE VECTOR INDEX {FACT_VECTORS} IF NOT EXISTS FOR (f:Fact) ON (f.vector)
OPTIONS {{indexConfig: {{`vector.similarity_function`: 'cosine'}}}}
"""
_WORD_INDEX = f"""
CREATE FULLTEXT INDEX {FACT_WORDS} IF NOT EXISTS FOR (f:Fact) ON EACH [f.tokens, f.hinted, f.marks]
OPTIONS {{indexConfig: {{`fulltext.analyzer`: 'whitespace'}}}}
"""
OWN_LABELS = frozenset({label for label, *_ in (*_UNIQUE, *_INDEXED)})


def statements() -> list[str]:
    """What makes a database ready, each harmless when it is there already. Each is a transaction of its own."""
    unique = [
        f"CREATE CONSTRAINT cofire_{_called(label, *parts)} IF NOT EXISTS FOR (n:{label}) REQUIRE ({_listed(parts)}) IS UNIQUE"
        for label, *parts in _UNIQUE
    ]
    indexed = [
        f"CREATE INDEX cofire_{_called(label, *parts)}_order IF NOT EXISTS FOR (n:{label}) ON ({_listed(parts)})"
        for label, *parts in _INDEXED
    ]
    return [*unique, *indexed, _VECTOR_INDEX, _WORD_INDEX, "CALL db.awaitIndexes(120)"]


# What brings a database of an older schema up to the one after it. Each is a statement of its own, in as many transactions as it
# needs, harmless when it was begun before and not ended.
_UPGRADES = (
    (
        1,
        """
        MATCH (n:Name) WHERE n.held IS NULL
        CALL (n) { SET n.held = COUNT { MATCH (n)<-[:MENTIONS|ABOUT]-(f) RETURN DISTINCT f } } IN TRANSACTIONS OF 1000 ROWS
        """,
    ),
    (1, "MATCH (c:WordCount) SET c.stale = true"),
)


def upgrades(found: int) -> list[str]:
    """What a database of a schema still lacks; nothing where cofire was never before."""
    return [statement for before, statement in _UPGRADES if 0 < found <= before]


def lacks_words(found: int) -> bool:
    """Whether a database of a schema holds facts whose words were read without elisions and second spellings."""
    return 0 < found < _FIRST_WITH_ALL_WORDS


def lacks_metadata_values(found: int) -> bool:
    """Whether a database of a schema holds facts whose metadata filters cannot look up."""
    return 0 < found < _FIRST_WITH_METADATA_VALUES


def version() -> Querying[int]:
    """The schema that a database has; 0 for one that cofire never saw."""
    found = yield Query("MATCH (s:Store {name: 'cofire'}) RETURN [s.schema] AS row")
    return int(found[0][0]) if found else 0


def mark_ready() -> Querying[None]:
    """Note which schema a database has."""
    yield Query("MERGE (s:Store {name: 'cofire'}) SET s.schema = $version", {"version": VERSION})


def refuse_newer(found: int, place: str) -> None:
    if found > VERSION:
        raise StoreTooNew(
            f"{place} was written by a newer cofire (schema {found}, this one knows {VERSION}).",
            way_out=f"Upgrade with: {upgrade_command()}",
        )


def category_label(category: str | None) -> list[str]:
    """The second label of a fact, for whoever looks at the graph: words in capitals, and never one that cofire has itself.

    >>> category_label("how-to notes"), category_label("name"), category_label(None)
    (['HowToNotes'], ['Name_'], [])
    """
    words = re.findall(r"[^\W_]+", category or "")
    label = "".join(word[:1].upper() + word[1:] for word in words)
    return [f"{label}_" if label in OWN_LABELS else label] if label else []


def _called(*parts: str) -> str:
    return "_".join(parts).lower()


def _listed(parts: list[str]) -> str:
    return ", ".join(f"n.{part}" for part in parts)
