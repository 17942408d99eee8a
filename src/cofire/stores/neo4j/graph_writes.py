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
from cofire.stores.link_rules import infer_mentions
from cofire.stores.neo4j.cypher import CypherQuery, QuerySteps, Row
from cofire.stores.neo4j.fact_writes import split_batches
from cofire.stores.neo4j.word_statistics import MARK_STATISTICS_STALE
from cofire.stores.rules import EdgeChanges, EdgeKey, StoredEdge, edge_key
from cofire.text.descriptions import find_lowered_term_counts, refresh_description, remove_phrases_from_history


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
    """A fact as its descriptions have it: their texts, since when each holds, and the words that lead there."""

    id: str
    texts: tuple[str, ...]
    made: tuple[int, ...]
    held: PackedTerms
    hinted: tuple[str, ...]

    @property
    def parts(self) -> dict[str, Any]:
        """Its properties; what is None takes one away."""
        return {
            "descriptions": list(self.texts) or None,
            "descriptions_made": list(self.made) or None,
            "terms": self.held.terms,
            "counts": self.held.counts,
            "hinted": " ".join(self.hinted) or None,
            "locked": None,
        }

    def also(self, one: FactDescription, now: datetime) -> FactDescriptions:
        """A new description holds from now on, and its words lead to the fact besides those of earlier ones."""
        leading = drop_own_words(one.counts, self.held.terms)
        words = tuple(dict.fromkeys([*self.hinted, *leading]))
        led = replace(self, held=add_description_terms(self.held, leading), hinted=words)
        if self.texts[-1:] == (one.text,):
            return led
        return replace(led, texts=(*self.texts, one.text), made=(*self.made, to_microseconds(now)))

    def hinting(self, counts: Mapping[str, int]) -> FactDescriptions:
        """Words of its descriptions occur as often as this from now on."""
        held, _ = set_description_counts(self.held, counts)
        kept = [word for word in self.hinted if counts.get(word, 1)]
        more = [word for word, count in counts.items() if count]
        return replace(self, held=held, hinted=tuple(dict.fromkeys([*kept, *more])))


DESCRIPTION_COLUMNS = """[f.id, coalesce(f.descriptions, []), coalesce(f.descriptions_made, []), f.terms, f.counts,
  coalesce(f.hinted, '')]"""


def decode_descriptions(row: Row) -> FactDescriptions:
    """A row of DESCRIBED."""
    id, texts, made, terms, counts, hinted = row
    return FactDescriptions(
        id, tuple(texts), tuple(made), PackedTerms(bytes(terms), bytes(counts)), tuple(hinted.split())
    )


def write_descriptions(descriptions: Sequence[FactDescription], now: datetime) -> QuerySteps[None]:
    """New descriptions hold; those before are kept as history."""
    if not descriptions:
        return
    known = yield from _lock_descriptions(sorted({one.fact for one in descriptions}))
    cited = sorted({id for one in descriptions for id in one.cites})
    found = (yield CypherQuery(_FETCH_EXISTING_IDS, {"ids": cited})) if cited else []
    there, cites = {row[0] for row in found}, list[dict[str, str]]()
    for told in descriptions:
        fact = known.get(told.fact)
        one = refresh_description(told, (fact.texts or ("",))[-1], there) if fact else None
        if fact is not None and one is not None:
            known[one.fact] = fact.also(one, now)
            cites += [{"fact": one.fact, "cited": id, "gist": gist} for id, gist in one.cites.items() if id != one.fact]
    yield from _update_descriptions(list(known.values()))
    if cites:
        yield CypherQuery(_WRITE_CITATIONS, {"cites": cites})


_FETCH_EXISTING_IDS = "MATCH (f:Fact) WHERE f.id IN $ids RETURN [f.id] AS row"
_WRITE_CITATIONS = """
UNWIND $cites AS c MATCH (f:Fact {id: c.fact}), (cited:Fact {id: c.cited}) MERGE (f)-[:CITES {gist: c.gist}]->(cited)
"""


def _lock_descriptions(ids: Sequence[str]) -> QuerySteps[dict[str, FactDescriptions]]:
    found = yield CypherQuery(_LOCK_DESCRIPTIONS, {"ids": list(ids)})
    return {row[0]: decode_descriptions(row) for row in found}


_LOCK_DESCRIPTIONS = f"""
CALL () {{ UNWIND $ids AS id MATCH (f:Fact {{id: id}}) SET f.locked = true RETURN collect(f.id) AS locked }}
MATCH (f:Fact) WHERE f.id IN locked RETURN {DESCRIPTION_COLUMNS} AS row
"""


def _update_descriptions(facts: Sequence[FactDescriptions]) -> QuerySteps[None]:
    if facts:
        rows = [{"id": one.id, "parts": one.parts} for one in facts]
        yield CypherQuery(_UPDATE_DESCRIPTIONS, {"rows": rows})


_UPDATE_DESCRIPTIONS = f"UNWIND $rows AS r MATCH (f:Fact {{id: r.id}}) SET f += r.parts {MARK_STATISTICS_STALE}"


def find_cited_descriptions(ids: Sequence[str]) -> QuerySteps[list[dict[str, Any]]]:
    """The other facts whose descriptions lose something when these go: what they say now, and what will be left of it."""
    found = yield CypherQuery(_FIND_CITED_DESCRIPTIONS, {"ids": list(ids)})
    losing = [_strip_cited_description(decode_descriptions(row), frozenset(gone)) for row, gone in found]
    return sorted((one for one in losing if one["after"] != one["texts"]), key=lambda one: str(one["fact"]))


_FIND_CITED_DESCRIPTIONS = f"""
MATCH (d:Fact)<-[c:CITES]-(f:Fact) WHERE d.id IN $ids AND NOT f.id IN $ids
  AND NOT EXISTS {{ MATCH (f)-[o:CITES]->(e:Fact) WHERE o.gist = c.gist AND NOT e.id IN $ids }}
WITH f, collect(DISTINCT c.gist) AS gone RETURN [{DESCRIPTION_COLUMNS}, gone] AS row
"""


def _strip_cited_description(one: FactDescriptions, gone: frozenset[str]) -> dict[str, Any]:
    texts = list(one.texts)
    kept = remove_phrases_from_history(texts, gone)
    after = [text for text in kept if text is not None]
    _, hints = set_description_counts(one.held, find_lowered_term_counts(texts, after))
    made = list(one.made)
    return {"fact": one.id, "texts": texts, "made": made, "kept": kept, "after": after, "hints": hints}


def remove_summary_phrases(losing: Sequence[Mapping[str, Any]]) -> QuerySteps[None]:
    """Take the gists out of descriptions, and the words that only they held out of what leads to the fact."""
    if not losing:
        return
    known = yield from _lock_descriptions([str(one["fact"]) for one in losing])
    yield from _update_descriptions(
        [_remove_fact_phrases(known[one["fact"]], one) for one in losing if one["fact"] in known]
    )


def _remove_fact_phrases(fact: FactDescriptions, one: Mapping[str, Any]) -> FactDescriptions:
    made = [at for at, text in zip(one["made"], one["kept"], strict=True) if text is not None]
    fewer = find_lowered_term_counts(one["texts"], one["after"])
    less = fact.hinting({word: fewer[word] for word in one["hints"]})
    return replace(less, texts=tuple(one["after"]), made=tuple(made))


def restore_descriptions(losing: Sequence[Mapping[str, Any]]) -> QuerySteps[list[SkippedRestore]]:
    """Let facts be described as they were, unless they were described anew since."""
    if not losing:
        return []
    known = yield from _lock_descriptions([str(one["fact"]) for one in losing])
    pairs = [(known[one["fact"]], one) for one in losing if one["fact"] in known]
    yield from _update_descriptions([_restore_fact_descriptions(fact, one) for fact, one in pairs])
    anew = [fact.id for fact, one in pairs if list(fact.texts) not in (one["texts"], one["after"])]
    return [SkippedRestore("description", id, "it was described anew") for id in anew]


def _restore_fact_descriptions(fact: FactDescriptions, one: Mapping[str, Any]) -> FactDescriptions:
    if list(fact.texts) != one["after"]:
        return fact
    return replace(fact.hinting(one["hints"]), texts=tuple(one["texts"]), made=tuple(one["made"]))


MAX_SENTENCE_BIT = 31
# Names that are asked for together.
NAMES_PER_QUERY = 10_000


@dataclass
class NameHolderStrengths:
    """Who mentions a name, in which sentences and how surely, and who is about it, how strongly."""

    mentioning: dict[str, tuple[int, float]] = field(default_factory=dict)
    about: dict[str, float] = field(default_factory=dict)


HoldersByName = dict[tuple[str, str], NameHolderStrengths]


def write_graph(change: Change) -> QuerySteps[EdgeCounts]:
    """Everything of a change that is of the graph itself."""
    if change.mentions:
        yield from _add_mentions(change.mentions)
    yield from write_descriptions(change.descriptions, change.now)
    if change.dreamed:
        yield CypherQuery("MATCH (f:Fact) WHERE f.id IN $ids REMOVE f.inbox", {"ids": list(change.dreamed)})
    if change.importance:
        yield from _write_importance(change.importance)
    return (yield from write_edges(change.edges, change.ended, change.now))


def write_names(fresh: Sequence[FactWrite]) -> QuerySteps[None]:
    """What facts without names mention and are about, then what they mention because somebody is about it."""
    named = _group_by_name((new.fact.scope, new.fact.id, one) for new in fresh for one in new.mentions)
    for new in fresh:
        for one in new.subjects:
            held = named.setdefault((new.fact.scope, one.name), NameHolderStrengths())
            held.about.setdefault(new.fact.id, one.strength)
    yield from _add_name_holders(named)
    known = yield from _fetch_subject_names({(new.fact.scope, name) for new in fresh for name in new.perhaps})
    told = (
        (new.fact.scope, new.fact.id, one)
        for new in fresh
        for one in infer_mentions(new, known.get(new.fact.scope, ()))
    )
    yield from _add_name_holders(_group_by_name(told), besides=named)


def _fetch_subject_names(perhaps: Set[tuple[str, str]]) -> QuerySteps[dict[str, set[str]]]:
    """Those of these names that a fact is about, by scope. They are few of very many, so only the names are asked for first."""
    known: dict[str, set[str]] = {}
    for scope in sorted({scope for scope, _ in perhaps}):
        for names in split_batches([name for within, name in perhaps if within == scope], NAMES_PER_QUERY):
            found = yield CypherQuery(_FETCH_SUBJECT_NAMES, {"scope": scope, "names": names})
            known.setdefault(scope, set()).update(name for (name,) in found)
    return known


_FETCH_SUBJECT_NAMES = """
UNWIND $names AS name MATCH (n:Name {scope: $scope, name: name}) WHERE n.about > 0 RETURN [name] AS row
"""


def _add_name_holders(named: HoldersByName, besides: HoldersByName | None = None) -> QuerySteps[None]:
    """Let facts hold names that they do not hold yet, in the order of names: two who write about the same ones wait in turn."""
    rows = []
    for key in sorted(named):
        before = (besides or {}).get(key, NameHolderStrengths())
        mentioning = {id: said for id, said in named[key].mentioning.items() if id not in before.mentioning}
        about, known = named[key].about, {*before.mentioning, *before.about}
        rows.append(
            [*key, _build_holder_rows(mentioning), _build_holder_rows(about), len({*mentioning, *about} - known)]
        )
    for portion in split_batches(rows):
        yield CypherQuery(_ADD_NAME_HOLDERS, {"rows": portion})


def _build_holder_rows(holding: Mapping[str, Any]) -> list[list[Any]]:
    return [[id, *(said if isinstance(said, tuple) else (said,))] for id, said in holding.items()]


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
    """Names that were found later in facts that are stored already, and may hold them."""
    found = yield CypherQuery(
        "MATCH (f:Fact) WHERE f.id IN $ids RETURN [f.id, f.scope] AS row", {"ids": list(mentions)}
    )
    named = _group_by_name((scope, id, one) for id, scope in found for one in mentions[id])
    rows = [[*key, _build_holder_rows(named[key].mentioning)] for key in sorted(named)]
    for portion in split_batches(rows):
        yield CypherQuery(_ADD_LATER_MENTIONS, {"rows": portion})


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
    """Who mentions each name; what a fact says first of one holds."""
    named: HoldersByName = {}
    for scope, id, one in mentions:
        bits = sum(1 << at for at in {min(at, MAX_SENTENCE_BIT) for at in one.sentences})
        named.setdefault((scope, one.name), NameHolderStrengths()).mentioning.setdefault(id, (bits, one.confidence))
    return named


def write_follows_edges(ids: Sequence[str], reach: int, now: datetime) -> QuerySteps[int]:
    """Link new facts with the last few of their session, the nearer the stronger."""
    [[made]] = yield CypherQuery(_WRITE_FOLLOWS_EDGES, {"ids": list(ids), "reach": reach, "now": to_microseconds(now)})
    return int(made)


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
    """Replace what was known of the scopes that these facts are of."""
    yield CypherQuery(_DELETE_IMPORTANCE, {"ids": [one.fact for one in rated]})
    rows = [{"id": one.fact, "pagerank": one.pagerank, "community": one.community} for one in rated]
    for portion in split_batches(rows):
        yield CypherQuery(_SET_IMPORTANCE, {"rows": portion})


_DELETE_IMPORTANCE = """
MATCH (f:Fact) WHERE f.id IN $ids WITH collect(DISTINCT f.scope) AS scopes
MATCH (f:Fact) WHERE f.scope IN scopes AND f.number > 0 AND f.community IS NOT NULL REMOVE f.pagerank, f.community
"""
_SET_IMPORTANCE = """
UNWIND $rows AS r MATCH (f:Fact {id: r.id}) SET f.pagerank = r.pagerank, f.community = r.community
"""
