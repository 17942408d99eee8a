"""Write edges, names, descriptions and importance. The caller owns the transaction.

Who writes edges locks the facts at their ends, looks at what is there, decides here, and writes all that changed at once.

Inside a transaction of somebody else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from cofire.errors import InvalidInput, NotFound
from cofire.index.terms import PackedTerms, add_description_terms, drop_own_words, set_description_counts
from cofire.index.timestamps import to_microseconds, to_microseconds_or_none
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
from cofire.text.descriptions import find_lowered_term_counts, refresh_description, remove_phrases_from_history

CONFIDENCE_STEP = 0.05

EdgeKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class EdgeEnd:
    """What an edge has to know of a fact at its end."""

    scope: str
    tags: frozenset[str]


@dataclass(frozen=True, slots=True)
class EdgeProperties:
    """An edge as its relationship has it, besides its ends, its kind and its anchor."""

    weight: float | None
    confidence: float | None
    tags: tuple[str, ...]
    origin: str
    co_access_count: int
    created: int
    seen: int | None
    ended: int | None

    @property
    def said(self) -> tuple[float | None, float | None, tuple[str, ...], str]:
        return self.weight, self.confidence, self.tags, self.origin

    @property
    def parts(self) -> dict[str, Any]:
        """Its properties; what is None takes one away."""
        return asdict(self) | {"tags": list(self.tags) or None}


@dataclass
class LockedEdges:
    """The facts at the ends of some edges, the edges as they are, and those that changed."""

    ends: Mapping[str, EdgeEnd]
    edges: dict[EdgeKey, EdgeProperties]
    changed: dict[EdgeKey, EdgeProperties] = field(default_factory=dict)

    def holds(self, key: EdgeKey) -> EdgeProperties | None:
        """An edge that has not ended."""
        found = self.edges.get(key)
        return found if found and found.ended is None else None

    def put(self, key: EdgeKey, edge: EdgeProperties) -> None:
        self.edges[key] = self.changed[key] = edge


def lock_edges(keys: Iterable[EdgeKey]) -> QuerySteps[LockedEdges]:
    """Lock the ends of edges and look at these."""
    wanted = sorted(set(keys))
    ids = sorted({id for key in wanted for id in key[:2]})
    ends = yield CypherQuery(_LOCK_ENDS, {"ids": ids})
    edges = yield CypherQuery(_FETCH_EDGES, {"keys": [list(key) for key in wanted]})
    return LockedEdges(
        {id: EdgeEnd(scope, frozenset(tags or ())) for id, scope, tags in ends},
        {(row[0], row[1], row[2]): _decode_edge(row) for row in edges},
    )


# Locked by a mark in the order of ids, so that two who write about the same facts wait for one another in turn.
_LOCK_ENDS = """
CALL () { UNWIND $ids AS id MATCH (f:Fact {id: id}) SET f.locked = true RETURN collect(f.id) AS locked }
MATCH (f:Fact) WHERE f.id IN locked RETURN [f.id, f.scope, f.tags] AS row
"""
_FETCH_EDGES = """
UNWIND $keys AS key MATCH (a:Fact {id: key[0]}), (b:Fact {id: key[1]}) MATCH (a)-[e:LINKS]->(b) WHERE e.kind = key[2]
RETURN [a.id, b.id, e.kind, e.weight, e.confidence, e.tags, e.origin, e.co_access_count, e.created, e.seen, e.ended] AS row
"""


def _decode_edge(row: Row) -> EdgeProperties:
    weight, confidence, tags, origin, count, created, seen, ended = row[3:]
    return EdgeProperties(weight, confidence, tuple(tags or ()), origin, count, created, seen, ended)


def write_changed_edges(ground: LockedEdges) -> QuerySteps[None]:
    """Write what changed, and unlock."""
    rows = [
        {"source": source, "target": target, "kind": kind, "parts": edge.parts}
        for (source, target, kind), edge in sorted(ground.changed.items())
    ]
    yield CypherQuery(_WRITE_CHANGED_EDGES, {"rows": rows, "ids": sorted(ground.ends)})


_WRITE_CHANGED_EDGES = """
CALL () {
  UNWIND $rows AS r MATCH (a:Fact {id: r.source}), (b:Fact {id: r.target})
  MERGE (a)-[e:LINKS {kind: r.kind}]->(b) SET e += r.parts
}
MATCH (f:Fact) WHERE f.id IN $ids REMOVE f.locked
"""


def write_edges(edges: Sequence[EdgeWrite], ended: Sequence[Edge], now: datetime) -> QuerySteps[EdgeCounts]:
    """Edges end, come and change; the counts are of those really touched."""
    if not edges and not ended:
        return EdgeCounts()
    at = yield from lock_edges(_edge_key(edge) for edge in (*ended, *(new.edge for new in edges)))
    gone = sum(_end_edge(at, _edge_key(edge), now) for edge in ended)
    outcomes = [_write_edge(at, new, now) for new in edges]
    yield from write_changed_edges(at)
    return EdgeCounts(outcomes.count("new"), outcomes.count("changed"), gone)


def _edge_key(edge: Edge) -> EdgeKey:
    return edge.source, edge.target, edge.kind


def _end_edge(at: LockedEdges, key: EdgeKey, now: datetime) -> int:
    """An edge that ends is seen no more, but it stays: it may be written again."""
    known = at.holds(key)
    if known is None:
        return 0
    at.put(key, replace(known, ended=to_microseconds(now)))
    return 1


def _write_edge(at: LockedEdges, new: EdgeWrite, now: datetime) -> str:
    edge = new.edge
    missing = [id for id in (edge.source, edge.target) if id not in at.ends]
    if missing and new.own:
        return "gone"
    if missing:
        raise NotFound(f"No fact has the id {missing[0]}.", way_out="List the ids with: cofire list")
    if at.ends[edge.source].scope != at.ends[edge.target].scope:
        raise InvalidInput("The two facts are of different scopes.", way_out="Connect facts of one scope.")
    known = at.edges.get(_edge_key(edge))
    if known is not None and known.ended is None:
        return _merge_existing(at, new, known, now)
    at.put(
        _edge_key(edge),
        _build_edge_properties(edge, now)
        if known is None
        else _replace_properties(known, edge, _build_edge_properties(edge, now), now),
    )
    return "new"


def _build_edge_properties(edge: Edge, now: datetime) -> EdgeProperties:
    said = (edge.weight, edge.confidence, tuple(sorted(edge.tags)), edge.origin, edge.co_access_count)
    return EdgeProperties(
        *said, created=to_microseconds(now), seen=to_microseconds_or_none(edge.strengthened), ended=None
    )


def _replace_properties(known: EdgeProperties, edge: Edge, said: EdgeProperties, now: datetime) -> EdgeProperties:
    """Other values hold from now on. What use counted of an edge stays, or comes with one that was counted elsewhere."""
    count = max(known.co_access_count, edge.co_access_count)
    seen = to_microseconds(edge.strengthened or now)
    return replace(said, co_access_count=count, created=known.created, seen=seen, ended=None)


def _merge_existing(at: LockedEdges, new: EdgeWrite, known: EdgeProperties, now: datetime) -> str:
    """The edge is there already: do what its mode says."""
    edge = new.edge
    if new.mode == "error":
        raise InvalidInput(
            f"{edge.source} and {edge.target} are connected by {edge.kind} already.",
            way_out="Use mode reinforce, update or skip.",
        )
    said = _build_edge_properties(edge, now)
    more = edge.co_access_count > known.co_access_count
    timed = said.seen not in (None, known.seen)
    if new.mode == "skip" or (new.mode == "update" and said.said == known.said and not more and not timed):
        return "same"
    at.put(
        _edge_key(edge),
        _replace_properties(known, edge, _raise_confidence(known) if new.mode == "reinforce" else said, now),
    )
    return "changed"


def _raise_confidence(known: EdgeProperties) -> EdgeProperties:
    sure = known.confidence
    return replace(known, confidence=None if sure is None else min(1.0, sure + CONFIDENCE_STEP))


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
