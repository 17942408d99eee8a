"""Supersede: mark an older fact as replaced by a newer one, and undo that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial

from cofire.asks import Asking, Now, Write, again_on_conflict
from cofire.curating import Curation, Review, Superseding
from cofire.errors import InvalidInput, NotFound
from cofire.graph_asks import Edges
from cofire.graph_settings import IDLE_MINUTES
from cofire.kinds import SUPERSEDES
from cofire.model import Change, Edge, Fact, NewEdge
from cofire.settings import Settings
from cofire.stores.base import EdgeFilter
from cofire.verbs.listing import facts_by_id
from cofire.verbs.remember import PATIENT
from cofire.verbs.superseding import MANY, check_pair, plan_replacements, validity_end


def supersede(
    old: str, new: str, settings: Settings, reviews: tuple[Review, ...] = (), drawn: NewEdge | None = None
) -> Asking[Edge]:
    """Store the edge from the newer fact to the older, and end the validity of the older; recall finds it only as of before.

    Its validity ends when the newer fact happened, if that is given and later than the older one, else now. `drawn` is the
    edge as the caller wants it stored, and what to do if it exists.
    """
    return (yield from again_on_conflict(partial(_supersede, old, new, settings, reviews, drawn), tries=PATIENT))


def _supersede(
    old: str, new: str, settings: Settings, reviews: tuple[Review, ...], drawn: NewEdge | None
) -> Asking[Edge]:
    old_fact, new_fact = yield from _read_pair(old, new)
    now: datetime = yield Now()
    planned = yield from plan_replacements([(old_fact, new_fact)], now)
    (plain,) = planned.edges
    new_edge = replace(drawn, edge=replace(drawn.edge, strengthened=now)) if drawn else plain
    yield Write(
        Change(
            now=now,
            edges=(new_edge,),
            curation=Curation(superseded=planned.superseded, reviews=reviews),
            idle_minutes=settings[IDLE_MINUTES],
            as_read={old_fact.id: old_fact, new_fact.id: new_fact},
        )
    )
    return new_edge.edge


def unsupersede(old: str, new: str, settings: Settings) -> Asking[None]:
    """Undo a supersede: the edge ends, and the older fact is valid as long as before, or as other replacements leave it."""
    old_fact, new_fact = yield from _read_pair(old, new)
    stored: list[Edge] = yield Edges(EdgeFilter(kinds=frozenset([SUPERSEDES]), ids=frozenset([old_fact.id])), MANY)
    edges = {edge.source: edge for edge in stored if edge.target == old_fact.id}
    edge = edges.pop(new_fact.id, None)
    if edge is None:
        raise NotFound(
            f"{new} does not supersede {old}.", way_out="List what does with: cofire edges --kind supersedes"
        )
    now: datetime = yield Now()
    others = yield from _other_replacements(old_fact, edges, now)
    curation = Curation(superseded=others, restored=((old_fact.id, new_fact.id),))
    yield Write(Change(now=now, ended=(edge,), curation=curation, idle_minutes=settings[IDLE_MINUTES]))


def _other_replacements(old: Fact, edges: Mapping[str, Edge], now: datetime) -> Asking[tuple[Superseding, ...]]:
    """What else replaces a fact, by edges from the newer ones; not what did before the fact was remembered again."""
    since = {id: edge.strengthened or now for id, edge in edges.items()}
    in_force = [id for id, moment in since.items() if old.reinforced_at is None or old.reinforced_at <= moment]
    newer = yield from facts_by_id(in_force)
    return tuple(Superseding(old.id, fact.id, validity_end(old, fact, since[fact.id])) for fact in newer)


def _read_pair(old: str, new: str) -> Asking[tuple[Fact, Fact]]:
    if old == new:
        raise InvalidInput("A fact cannot supersede itself.", way_out="Give two different ids.")
    old_fact, new_fact = yield from facts_by_id([old, new])
    check_pair(old_fact, new_fact)
    return old_fact, new_fact
