"""Write edges, names, descriptions and importance. The caller owns the transaction.

To write edges, lock the facts at their ends, read the stored edges, apply the rules in Python, and write all changes at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import itemgetter
from typing import Any

from cofire.index.terms import PackedTerms, add_description_terms, drop_own_words, set_description_counts
from cofire.index.timestamps import from_microseconds, to_microseconds, to_microseconds_or_none
from cofire.model import (
    Change,
    Edge,
    EdgeCounts,
    EdgeWrite,
    FactDescription,
    FactImportance,
    FactWrite,
    NameMention,
    SkippedRestore,
)
from cofire.stores.link_rules import infer_mentions, sentence_bits
from cofire.stores.neo4j.cypher import CypherQuery, QuerySteps, Row
from cofire.stores.neo4j.facts import split_batches
from cofire.stores.neo4j.word_statistics import MARK_STATISTICS_STALE
from cofire.stores.rules import EdgeChanges, EdgeKey, StoredEdge, edge_key, skip_new_description, strip_descriptions
from cofire.text.descriptions import find_lowered_term_counts, refresh_description


def lock_edges(keys: Iterable[EdgeKey], now: datetime) -> QuerySteps[EdgeChanges]:
    """Lock the facts at the ends of edges, and read the edges of each kind that join them."""
    wanted = sorted(set(keys))
    ids = sorted({id for key in wanted for id in key[:2]})
    facts = yield CypherQuery(_LOCK_ENDS, {"ids": ids})
    rows = yield CypherQuery(_FETCH_EDGES, {"keys": [list(key) for key in wanted]})
    return EdgeChanges(
        {id: scope for id, scope, _ in facts},
        {(row[0], row[1], row[2]): _decode_stored_edge(row) for row in rows},
        now,
        tags={id: tags or () for id, _, tags in facts},
    )


# Locked by a mark in the order of ids, so that two changes of the same facts wait for one another in turn.
_LOCK_ENDS = """
CALL () { UNWIND $ids AS id MATCH (f:Fact {id: id}) SET f.locked = true RETURN collect(f.id) AS locked }
MATCH (f:Fact) WHERE f.id IN locked RETURN [f.id, f.scope, f.tags] AS row
"""
_FETCH_EDGES = """
UNWIND $keys AS key MATCH (a:Fact {id: key[0]}), (b:Fact {id: key[1]}) MATCH (a)-[e:LINKS]->(b) WHERE e.kind = key[2]
RETURN [a.id, b.id, e.kind, e.weight, e.confidence, e.tags, e.origin, e.co_access_count, e.seen, e.ended] AS row
"""


def _decode_stored_edge(row: Row) -> StoredEdge:
    *columns, ended = row
    return StoredEdge(decode_edge(columns), ended is not None)


def decode_edge(row: Row) -> Edge:
    """An edge from its ids, kind, weight, confidence, tags, origin, use count and last observation."""
    source, target, kind, weight, confidence, tags, origin, count, seen = row
    return Edge(
        source,
        target,
        kind,
        weight,
        confidence,
        tuple(tags or ()),
        origin,
        co_access_count=count,
        strengthened=from_microseconds(seen),
    )


def write_changed_edges(changes: EdgeChanges, now: datetime) -> QuerySteps[None]:
    """Write the edges that changed, and unlock the facts at their ends."""
    rows = [
        {"source": source, "target": target, "kind": kind, "parts": _edge_properties(stored, now)}
        for (source, target, kind), stored in sorted(changes.written.items(), key=itemgetter(0))
    ]
    yield CypherQuery(_WRITE_CHANGED_EDGES, {"rows": rows, "ids": sorted(changes.scopes), "now": to_microseconds(now)})


# An edge that is written again keeps its moment of creation.
_WRITE_CHANGED_EDGES = """
CALL () {
  UNWIND $rows AS r MATCH (a:Fact {id: r.source}), (b:Fact {id: r.target})
  MERGE (a)-[e:LINKS {kind: r.kind}]->(b) ON CREATE SET e.created = $now SET e += r.parts
}
MATCH (f:Fact) WHERE f.id IN $ids REMOVE f.locked
"""


def _edge_properties(stored: StoredEdge, now: datetime) -> dict[str, Any]:
    """The properties of a relationship; None takes one away."""
    edge = stored.edge
    return {
        "weight": edge.weight,
        "confidence": edge.confidence,
        "tags": list(edge.tags) or None,
        "origin": edge.origin,
        "co_access_count": edge.co_access_count,
        "seen": to_microseconds_or_none(edge.strengthened),
        "ended": to_microseconds(now) if stored.ended else None,
    }


def write_edges(edges: Sequence[EdgeWrite], ended: Sequence[Edge], now: datetime) -> QuerySteps[EdgeCounts]:
    """End edges, insert new ones and merge those that exist; `EdgeChanges` has the rules."""
    if not edges and not ended:
        return EdgeCounts()
    changes = yield from lock_edges(map(edge_key, (*ended, *(new.edge for new in edges))), now)
    for edge in ended:
        changes.end(edge)
    for new in edges:
        changes.write(new)
    yield from write_changed_edges(changes, now)
    return changes.counts


@dataclass(frozen=True, slots=True)
class FactDescriptions:
    """The descriptions of a fact: their texts, since when each holds, the terms of the fact, and the words they lead by."""

    id: str
    texts: tuple[str, ...]
    made: tuple[int, ...]
    terms: PackedTerms
    words: tuple[str, ...]

    @property
    def properties(self) -> dict[str, Any]:
        """The properties of the node; None takes one away."""
        return {
            "descriptions": list(self.texts) or None,
            "descriptions_made": list(self.made) or None,
            "terms": self.terms.terms,
            "counts": self.terms.counts,
            "hinted": " ".join(self.words) or None,
            "locked": None,
        }

    def with_description(self, description: FactDescription, now: datetime) -> FactDescriptions:
        """A new description holds from now on. Its words lead to the fact besides those of earlier ones."""
        leading = drop_own_words(description.counts, self.terms.terms)
        words = tuple(dict.fromkeys([*self.words, *leading]))
        updated = replace(self, terms=add_description_terms(self.terms, leading), words=words)
        if self.texts[-1:] == (description.text,):
            return updated
        return replace(updated, texts=(*self.texts, description.text), made=(*self.made, to_microseconds(now)))

    def with_word_counts(self, counts: Mapping[str, int]) -> FactDescriptions:
        """The same with these counts for words of the descriptions; 0 takes a word away."""
        terms, _ = set_description_counts(self.terms, counts)
        kept = [word for word in self.words if counts.get(word, 1)]
        added = [word for word, count in counts.items() if count]
        return replace(self, terms=terms, words=tuple(dict.fromkeys([*kept, *added])))


DESCRIPTION_COLUMNS = """[f.id, coalesce(f.descriptions, []), coalesce(f.descriptions_made, []), f.terms, f.counts,
  coalesce(f.hinted, '')]"""


def decode_descriptions(row: Row) -> FactDescriptions:
    """A row of DESCRIPTION_COLUMNS."""
    id, texts, made, terms, counts, words = row
    packed = PackedTerms(bytes(terms), bytes(counts))
    return FactDescriptions(id, tuple(texts), tuple(made), packed, tuple(words.split()))


def write_descriptions(descriptions: Sequence[FactDescription], now: datetime) -> QuerySteps[None]:
    """Write new descriptions. Earlier ones are kept as history."""
    if not descriptions:
        return
    described = yield from _lock_descriptions(sorted({new.fact for new in descriptions}))
    cited = sorted({id for new in descriptions for id in new.cites})
    rows = (yield CypherQuery(_FETCH_EXISTING_IDS, {"ids": cited})) if cited else []
    stored = {row[0] for row in rows}
    citations: list[dict[str, str]] = []
    for new in descriptions:
        fact = described.get(new.fact)
        if fact is None:
            continue
        description = refresh_description(new, (fact.texts or ("",))[-1], stored)
        if description is None:
            continue
        described[fact.id] = fact.with_description(description, now)
        citations += [
            {"fact": fact.id, "cited": id, "gist": phrase} for id, phrase in description.cites.items() if id != fact.id
        ]
    yield from _update_descriptions(list(described.values()))
    if citations:
        yield CypherQuery(_WRITE_CITATIONS, {"cites": citations})


_FETCH_EXISTING_IDS = "MATCH (f:Fact) WHERE f.id IN $ids RETURN [f.id] AS row"
_WRITE_CITATIONS = """
UNWIND $cites AS c MATCH (f:Fact {id: c.fact}), (cited:Fact {id: c.cited}) MERGE (f)-[:CITES {gist: c.gist}]->(cited)
"""


def _lock_descriptions(ids: Sequence[str]) -> QuerySteps[dict[str, FactDescriptions]]:
    rows = yield CypherQuery(_LOCK_DESCRIPTIONS, {"ids": list(ids)})
    return {row[0]: decode_descriptions(row) for row in rows}


_LOCK_DESCRIPTIONS = f"""
CALL () {{ UNWIND $ids AS id MATCH (f:Fact {{id: id}}) SET f.locked = true RETURN collect(f.id) AS locked }}
MATCH (f:Fact) WHERE f.id IN locked RETURN {DESCRIPTION_COLUMNS} AS row
"""


def _update_descriptions(facts: Sequence[FactDescriptions]) -> QuerySteps[None]:
    if facts:
        rows = [{"id": fact.id, "parts": fact.properties} for fact in facts]
        yield CypherQuery(_UPDATE_DESCRIPTIONS, {"rows": rows})


_UPDATE_DESCRIPTIONS = f"UNWIND $rows AS r MATCH (f:Fact {{id: r.id}}) SET f += r.parts {MARK_STATISTICS_STALE}"


def find_cited_descriptions(ids: Sequence[str]) -> QuerySteps[list[dict[str, Any]]]:
    """The descriptions of other facts that lose phrases when these facts go: as they are, and what will be left."""
    rows = yield CypherQuery(_FIND_CITED_DESCRIPTIONS, {"ids": list(ids)})
    losses = [_describe_loss(decode_descriptions(row), frozenset(gone)) for row, gone in rows]
    return sorted((loss for loss in losses if loss["after"] != loss["texts"]), key=lambda loss: str(loss["fact"]))


_FIND_CITED_DESCRIPTIONS = f"""
MATCH (d:Fact)<-[c:CITES]-(f:Fact) WHERE d.id IN $ids AND NOT f.id IN $ids
  AND NOT EXISTS {{ MATCH (f)-[o:CITES]->(e:Fact) WHERE o.gist = c.gist AND NOT e.id IN $ids }}
WITH f, collect(DISTINCT c.gist) AS gone RETURN [{DESCRIPTION_COLUMNS}, gone] AS row
"""


def _describe_loss(fact: FactDescriptions, gone: frozenset[str]) -> dict[str, Any]:
    stripped = strip_descriptions(fact.texts, gone)
    _, hints = set_description_counts(fact.terms, stripped.lowered)
    return {
        "fact": fact.id,
        "texts": list(fact.texts),
        "made": list(fact.made),
        "kept": stripped.kept,
        "after": stripped.after,
        "hints": hints,
    }


def remove_summary_phrases(losses: Sequence[Mapping[str, Any]]) -> QuerySteps[None]:
    """Remove phrases from descriptions, and the words that only they had from the search terms of the fact."""
    if not losses:
        return
    described = yield from _lock_descriptions([str(loss["fact"]) for loss in losses])
    yield from _update_descriptions(
        [_remove_fact_phrases(described[loss["fact"]], loss) for loss in losses if loss["fact"] in described]
    )


def _remove_fact_phrases(fact: FactDescriptions, loss: Mapping[str, Any]) -> FactDescriptions:
    made = [at for at, text in zip(loss["made"], loss["kept"], strict=True) if text is not None]
    lowered = find_lowered_term_counts(loss["texts"], loss["after"])
    updated = fact.with_word_counts({word: lowered[word] for word in loss["hints"]})
    return replace(updated, texts=tuple(loss["after"]), made=tuple(made))


def restore_descriptions(losses: Sequence[Mapping[str, Any]]) -> QuerySteps[list[SkippedRestore]]:
    """Restore the descriptions of facts, except of facts that got another one since."""
    if not losses:
        return []
    described = yield from _lock_descriptions([str(loss["fact"]) for loss in losses])
    restored = []
    skipped = []
    for loss in losses:
        fact = described.get(loss["fact"])
        if fact is None:
            continue
        if list(fact.texts) == loss["after"]:
            with_hints = fact.with_word_counts(loss["hints"])
            fact = replace(with_hints, texts=tuple(loss["texts"]), made=tuple(loss["made"]))
        elif list(fact.texts) != loss["texts"]:
            skipped.append(skip_new_description(fact.id))
        restored.append(fact)
    yield from _update_descriptions(restored)
    return skipped


# Names that one query looks up.
NAMES_PER_QUERY = 10_000


@dataclass
class NameHolderRows:
    """The facts that mention a name, with sentence bits and confidence, and those about it, with their strength."""

    mentioning: dict[str, tuple[int, float]] = field(default_factory=dict)
    about: dict[str, float] = field(default_factory=dict)


# By scope and name.
HoldersByName = dict[tuple[str, str], NameHolderRows]


def write_graph(change: Change) -> QuerySteps[EdgeCounts]:
    """Write the mentions, descriptions, importance and edges of a change, and empty the inbox."""
    if change.mentions:
        yield from _add_mentions(change.mentions)
    yield from write_descriptions(change.descriptions, change.now)
    if change.dreamed:
        yield CypherQuery("MATCH (f:Fact) WHERE f.id IN $ids REMOVE f.inbox", {"ids": list(change.dreamed)})
    if change.importance:
        yield from _write_importance(change.importance)
    return (yield from write_edges(change.edges, change.ended, change.now))


def write_names(fresh: Sequence[FactWrite]) -> QuerySteps[None]:
    """Write what new facts mention and are about, then names that they mention because another fact is about them."""
    named = _group_by_name((new.fact.scope, new.fact.id, mention) for new in fresh for mention in new.mentions)
    for new in fresh:
        for subject in new.subjects:
            rows = named.setdefault((new.fact.scope, subject.name), NameHolderRows())
            rows.about.setdefault(new.fact.id, subject.strength)
    yield from _add_name_holders(named)
    known = yield from _fetch_subject_names({(new.fact.scope, name) for new in fresh for name in new.perhaps})
    inferred = (
        (new.fact.scope, new.fact.id, mention)
        for new in fresh
        for mention in infer_mentions(new, known.get(new.fact.scope, ()))
    )
    yield from _add_name_holders(_group_by_name(inferred), besides=named)


def _fetch_subject_names(candidates: Set[tuple[str, str]]) -> QuerySteps[dict[str, set[str]]]:
    """Those of these names that a fact is about, by scope. They are few of very many, so only names are fetched."""
    known: dict[str, set[str]] = {}
    for scope in sorted({scope for scope, _ in candidates}):
        names = [name for within, name in candidates if within == scope]
        for batch in split_batches(names, NAMES_PER_QUERY):
            rows = yield CypherQuery(_FETCH_SUBJECT_NAMES, {"scope": scope, "names": batch})
            known.setdefault(scope, set()).update(name for (name,) in rows)
    return known


_FETCH_SUBJECT_NAMES = """
UNWIND $names AS name MATCH (n:Name {scope: $scope, name: name}) WHERE n.about > 0 RETURN [name] AS row
"""


def _add_name_holders(named: HoldersByName, besides: HoldersByName | None = None) -> QuerySteps[None]:
    """Connect facts with names, except with those in `besides`.

    In the order of names, so that two changes of the same names wait for one another in turn.
    """
    rows = []
    for key in sorted(named):
        before = (besides or {}).get(key, NameHolderRows())
        about = named[key].about
        mentioning = {id: row for id, row in named[key].mentioning.items() if id not in before.mentioning}
        new_holders = {*mentioning, *about} - {*before.mentioning, *before.about}
        mention_rows = [[id, sentences, confidence] for id, (sentences, confidence) in mentioning.items()]
        subject_rows = [[id, strength] for id, strength in about.items()]
        rows.append([*key, mention_rows, subject_rows, len(new_holders)])
    for batch in split_batches(rows):
        yield CypherQuery(_ADD_NAME_HOLDERS, {"rows": batch})


_MERGE_NAME = "MERGE (n:Name {scope: r[0], name: r[1]}) ON CREATE SET n.mentioned = 0, n.about = 0, n.held = 0"
_ADD_NAME_HOLDERS = f"""
UNWIND $rows AS r {_MERGE_NAME}
SET n.mentioned = n.mentioned + size(r[2]), n.about = n.about + size(r[3]), n.held = n.held + r[4]
WITH n, r
CALL (n, r) {{
  UNWIND r[2] AS h MATCH (f:Fact {{id: h[0]}}) CREATE (f)-[:MENTIONS {{sentences: h[1], confidence: h[2]}}]->(n)
}}
CALL (n, r) {{ UNWIND r[3] AS h MATCH (f:Fact {{id: h[0]}}) CREATE (f)-[:ABOUT {{strength: h[1]}}]->(n) }}
"""


def _add_mentions(mentions: Mapping[str, tuple[NameMention, ...]]) -> QuerySteps[None]:
    """Write names that were found later in stored facts, as far as these do not mention them yet."""
    stored = yield CypherQuery(
        "MATCH (f:Fact) WHERE f.id IN $ids RETURN [f.id, f.scope] AS row", {"ids": list(mentions)}
    )
    named = _group_by_name((scope, id, mention) for id, scope in stored for mention in mentions[id])
    rows = []
    for key in sorted(named):
        holders = named[key].mentioning.items()
        rows.append([*key, [[id, sentences, confidence] for id, (sentences, confidence) in holders]])
    for batch in split_batches(rows):
        yield CypherQuery(_ADD_LATER_MENTIONS, {"rows": batch})


_ADD_LATER_MENTIONS = f"""
UNWIND $rows AS r {_MERGE_NAME}
WITH n, r
CALL (n, r) {{
  UNWIND r[2] AS h MATCH (f:Fact {{id: h[0]}}) WHERE NOT EXISTS {{ (f)-[:MENTIONS]->(n) }}
  CREATE (f)-[:MENTIONS {{sentences: h[1], confidence: h[2]}}]->(n)
  RETURN count(*) AS mentioning, sum(CASE WHEN EXISTS {{ (f)-[:ABOUT]->(n) }} THEN 0 ELSE 1 END) AS more
}}
SET n.mentioned = n.mentioned + mentioning, n.held = n.held + more
"""


def _group_by_name(mentions: Iterable[tuple[str, str, NameMention]]) -> HoldersByName:
    """The facts that mention each name. The first mention of a fact holds."""
    named: HoldersByName = {}
    for scope, id, mention in mentions:
        rows = named.setdefault((scope, mention.name), NameHolderRows())
        rows.mentioning.setdefault(id, (sentence_bits(mention.sentences), mention.confidence))
    return named


def write_follows_edges(ids: Sequence[str], reach: int, now: datetime) -> QuerySteps[int]:
    """Link new facts with the last few of their session, and return how many edges that made."""
    [[made]] = yield CypherQuery(_WRITE_FOLLOWS_EDGES, {"ids": list(ids), "reach": reach, "now": to_microseconds(now)})
    return int(made)


# Mirrors `make_follows_edge`, to save a round trip for each new fact.
_WRITE_FOLLOWS_EDGES = """
UNWIND $ids AS id MATCH (new:Fact {id: id})
MATCH (before:Fact) USING INDEX SEEK before:Fact(scope, session, position)
WHERE before.scope = new.scope AND before.session = new.session
  AND before.position >= new.position - $reach AND before.position < new.position
WITH before, new, [tag IN new.tags WHERE tag IN before.tags] AS shared
CREATE (before)-[:LINKS {kind: 'follows', weight: 1.0 / (new.position - before.position), confidence: 1.0,
  tags: CASE WHEN shared <> [] THEN shared END, origin: 'session', created: $now, seen: $now, co_access_count: 0}]->(new)
WITH count(*) AS made RETURN [made] AS row
"""


def _write_importance(rated: Sequence[FactImportance]) -> QuerySteps[None]:
    """Replace the importance of all facts in the scopes of these facts."""
    yield CypherQuery(_DELETE_IMPORTANCE, {"ids": [importance.fact for importance in rated]})
    rows = [{"id": row.fact, "pagerank": row.pagerank, "community": row.community} for row in rated]
    for batch in split_batches(rows):
        yield CypherQuery(_SET_IMPORTANCE, {"rows": batch})


_DELETE_IMPORTANCE = """
MATCH (f:Fact) WHERE f.id IN $ids WITH collect(DISTINCT f.scope) AS scopes
MATCH (f:Fact) WHERE f.scope IN scopes AND f.number > 0 AND f.community IS NOT NULL REMOVE f.pagerank, f.community
"""
_SET_IMPORTANCE = """
UNWIND $rows AS r MATCH (f:Fact {id: r.id}) SET f.pagerank = r.pagerank, f.community = r.community
"""
