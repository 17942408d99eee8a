"""Finding causes: a text that says why leads from the fact that tells the cause to the fact that tells the effect."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

import numpy as np

from cofire.asks import Asking, Matching, Scan, Statistics, Weigh
from cofire.graph_settings import CAUSAL_EDGES, MULTI_GRAPH
from cofire.model import Edge, Fact, NewEdge, Where
from cofire.reading.base import Cause, Reading
from cofire.reading.words import words
from cofire.settings import Settings
from cofire.stores.base import Evidence, WordStatistics
from cofire.verbs.cueing import word_cue

TOLD = 0.5
UNSAID = 0.6
LOOKED_AT = 5

_OPENING = re.compile(
    r"\W*(that['’]s why|this is why|that is why|therefore|hence|consequently|as a result|because of (?:this|that)"
    r"|for (?:this|that) reason)\b",
    re.IGNORECASE,
)


def causal_edges(
    batch: Sequence[Fact], readings: Sequence[Reading], now: datetime, settings: Settings
) -> Asking[tuple[NewEdge, ...]]:
    """For each text with a causal cue, an edge from the fact that tells the cause, where there is one."""
    if not (settings[MULTI_GRAPH] and settings[CAUSAL_EDGES]):
        return ()
    made: list[Edge | None] = []
    for fact, reading in zip(batch, readings, strict=True):
        made.append((yield from _unsaid(fact, now)))
        for cause in reading.causes:
            edge = yield from _said(fact, cause, now, settings)
            made.append(edge)
    return tuple(NewEdge(edge, "reinforce", own=True) for edge in made if edge is not None)


def _said(fact: Fact, cause: Cause, now: datetime, settings: Settings) -> Asking[Edge | None]:
    """A cause that is said is the fact that tells it best."""
    source, told = yield from _told_best(fact, cause.cause, now, settings)
    if source is None:
        return None
    return Edge(source, fact.id, "causes", 1.0, round(cause.strength * told, 6), (), f"cue: {cause.cue}")


def _unsaid(fact: Fact, now: datetime) -> Asking[Edge | None]:
    """A turn that begins with "That's why …" leaves its cause to the turn before."""
    cue = _OPENING.match(fact.text)
    if cue is None or fact.session is None or not fact.position:
        return None
    where = Where(now, (fact.scope,), sessions=frozenset([fact.session]), archived=True, whenever=True)
    turns: list[Fact] = yield Scan(where, LOOKED_AT, fact.id)
    before = next((turn.id for turn in turns if turn.position == fact.position - 1), None)
    return Edge(before, fact.id, "causes", 1.0, UNSAID, (), f"cue: {cue.group(1).lower()}") if before else None


def _told_best(fact: Fact, said: str, now: datetime, settings: Settings) -> Asking[tuple[str | None, float]]:
    """The other fact that holds most of the words of the cause, if it holds at least half of their weight."""
    once = dict.fromkeys(words(said), 1)
    statistics: WordStatistics = yield Statistics((fact.scope,), tuple(once))
    cue = word_cue(once, statistics, settings, hint_weight=0.0)
    ids: list[str] = yield Matching(cue, LOOKED_AT + 1, Where(now, (fact.scope,)))
    others = [id for id in ids if id != fact.id]
    if not others:
        return None, 0.0
    evidence: Evidence = yield Weigh(others, cue.words)
    held = (evidence.counts > 0) @ np.array(cue.weights) / (sum(cue.weights) or 1.0)
    best = int(np.argmax(held))
    return (evidence.ids[best], float(held[best])) if held[best] >= TOLD else (None, 0.0)
