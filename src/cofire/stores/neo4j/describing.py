"""Describing: how facts are described by what they are linked with; and how others lose and regain the gists of what goes.

Inside a transaction of somebody else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from cofire.model import Description
from cofire.reading.descriptions import hints_after, left, renewed
from cofire.revising import Skipped
from cofire.stores.index.moments import stamp
from cofire.stores.index.terms import Held, described, redescribed, unsaid
from cofire.stores.neo4j.querying import Query, Querying, Row
from cofire.stores.neo4j.recounting import COUNTED_OTHERWISE


@dataclass(frozen=True, slots=True)
class Described:
    """A fact as its descriptions have it: their texts, since when each holds, and the words that lead there."""

    id: str
    texts: tuple[str, ...]
    made: tuple[int, ...]
    held: Held
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

    def also(self, one: Description, now: datetime) -> Described:
        """A new description holds from now on, and its words lead to the fact besides those of earlier ones."""
        leading = unsaid(one.counts, self.held.terms)
        words = tuple(dict.fromkeys([*self.hinted, *leading]))
        led = replace(self, held=described(self.held, leading), hinted=words)
        if self.texts[-1:] == (one.text,):
            return led
        return replace(led, texts=(*self.texts, one.text), made=(*self.made, stamp(now)))

    def hinting(self, counts: Mapping[str, int]) -> Described:
        """Words of its descriptions occur as often as this from now on."""
        held, _ = redescribed(self.held, counts)
        kept = [word for word in self.hinted if counts.get(word, 1)]
        more = [word for word, count in counts.items() if count]
        return replace(self, held=held, hinted=tuple(dict.fromkeys([*kept, *more])))


DESCRIBED = """[f.id, coalesce(f.descriptions, []), coalesce(f.descriptions_made, []), f.terms, f.counts,
  coalesce(f.hinted, '')]"""


def described_fact(row: Row) -> Described:
    """A row of DESCRIBED."""
    id, texts, made, terms, counts, hinted = row
    return Described(id, tuple(texts), tuple(made), Held(bytes(terms), bytes(counts)), tuple(hinted.split()))


def write_descriptions(descriptions: Sequence[Description], now: datetime) -> Querying[None]:
    """New descriptions hold; those before are kept as history."""
    if not descriptions:
        return
    known = yield from _known(sorted({one.fact for one in descriptions}))
    cited = sorted({id for one in descriptions for id in one.cites})
    found = (yield Query(_THERE, {"ids": cited})) if cited else []
    there, cites = {row[0] for row in found}, list[dict[str, str]]()
    for told in descriptions:
        fact = known.get(told.fact)
        one = renewed(told, (fact.texts or ("",))[-1], there) if fact else None
        if fact is not None and one is not None:
            known[one.fact] = fact.also(one, now)
            cites += [{"fact": one.fact, "cited": id, "gist": gist} for id, gist in one.cites.items() if id != one.fact]
    yield from _keep(list(known.values()))
    if cites:
        yield Query(_CITE, {"cites": cites})


_THERE = "MATCH (f:Fact) WHERE f.id IN $ids RETURN [f.id] AS row"
_CITE = """
UNWIND $cites AS c MATCH (f:Fact {id: c.fact}), (cited:Fact {id: c.cited}) MERGE (f)-[:CITES {gist: c.gist}]->(cited)
"""


def _known(ids: Sequence[str]) -> Querying[dict[str, Described]]:
    found = yield Query(_LOCKED, {"ids": list(ids)})
    return {row[0]: described_fact(row) for row in found}


_LOCKED = f"""
CALL () {{ UNWIND $ids AS id MATCH (f:Fact {{id: id}}) SET f.locked = true RETURN collect(f.id) AS locked }}
MATCH (f:Fact) WHERE f.id IN locked RETURN {DESCRIBED} AS row
"""


def _keep(facts: Sequence[Described]) -> Querying[None]:
    if facts:
        rows = [{"id": one.id, "parts": one.parts} for one in facts]
        yield Query(_KEEP, {"rows": rows})


_KEEP = f"UNWIND $rows AS r MATCH (f:Fact {{id: r.id}}) SET f += r.parts {COUNTED_OTHERWISE}"


def cited(ids: Sequence[str]) -> Querying[list[dict[str, Any]]]:
    """The other facts whose descriptions lose something when these go: what they say now, and what will be left of it."""
    found = yield Query(_CITED, {"ids": list(ids)})
    losing = [_losing(described_fact(row), frozenset(gone)) for row, gone in found]
    return sorted((one for one in losing if one["after"] != one["texts"]), key=lambda one: str(one["fact"]))


_CITED = f"""
MATCH (d:Fact)<-[c:CITES]-(f:Fact) WHERE d.id IN $ids AND NOT f.id IN $ids
  AND NOT EXISTS {{ MATCH (f)-[o:CITES]->(e:Fact) WHERE o.gist = c.gist AND NOT e.id IN $ids }}
WITH f, collect(DISTINCT c.gist) AS gone RETURN [{DESCRIBED}, gone] AS row
"""


def _losing(one: Described, gone: frozenset[str]) -> dict[str, Any]:
    texts = list(one.texts)
    kept = left(texts, gone)
    after = [text for text in kept if text is not None]
    _, hints = redescribed(one.held, hints_after(texts, after))
    made = list(one.made)
    return {"fact": one.id, "texts": texts, "made": made, "kept": kept, "after": after, "hints": hints}


def scrub(losing: Sequence[Mapping[str, Any]]) -> Querying[None]:
    """Take the gists out of descriptions, and the words that only they held out of what leads to the fact."""
    if not losing:
        return
    known = yield from _known([str(one["fact"]) for one in losing])
    yield from _keep([_scrubbed(known[one["fact"]], one) for one in losing if one["fact"] in known])


def _scrubbed(fact: Described, one: Mapping[str, Any]) -> Described:
    made = [at for at, text in zip(one["made"], one["kept"], strict=True) if text is not None]
    fewer = hints_after(one["texts"], one["after"])
    less = fact.hinting({word: fewer[word] for word in one["hints"]})
    return replace(less, texts=tuple(one["after"]), made=tuple(made))


def describe_again(losing: Sequence[Mapping[str, Any]]) -> Querying[list[Skipped]]:
    """Let facts be described as they were, unless they were described anew since."""
    if not losing:
        return []
    known = yield from _known([str(one["fact"]) for one in losing])
    pairs = [(known[one["fact"]], one) for one in losing if one["fact"] in known]
    yield from _keep([_as_it_was(fact, one) for fact, one in pairs])
    anew = [fact.id for fact, one in pairs if list(fact.texts) not in (one["texts"], one["after"])]
    return [Skipped("description", id, "it was described anew") for id in anew]


def _as_it_was(fact: Described, one: Mapping[str, Any]) -> Described:
    if list(fact.texts) != one["after"]:
        return fact
    return replace(fact.hinting(one["hints"]), texts=tuple(one["texts"]), made=tuple(one["made"]))
