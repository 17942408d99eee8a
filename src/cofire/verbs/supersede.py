"""Mark an older fact as replaced by a newer one, and undo that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial

from cofire.errors import InvalidInput, NotFound
from cofire.model import Change, Edge, EdgeWrite, Fact
from cofire.runtime.effects import ReadClock, Steps
from cofire.runtime.retries import retry_on_conflict
from cofire.runtime.store_proxy import store
from cofire.settings.table import SESSION_IDLE_MINUTES, Settings
from cofire.stores.base import EdgeFilter
from cofire.stores.curation_rows import ContradictionReview, CurationChange, Supersession
from cofire.stores.edge_kinds import SUPERSEDES
from cofire.verbs.listing import read_facts
from cofire.verbs.remember import CONTENDED_TRIES
from cofire.verbs.supersede_rules import MAX_EDGES, check_pair, compute_validity_end, plan_replacements


def supersede(
    old: str,
    new: str,
    settings: Settings,
    reviews: tuple[ContradictionReview, ...] = (),
    drawn: EdgeWrite | None = None,
) -> Steps[Edge]:
    """Store the edge from the newer fact to the older, and end the validity of the older; recall finds it only as of before.

    Its validity ends when the newer fact happened, if that is given and later than the older one, else now. `drawn` is the
    edge as the caller wants it stored, and what to do if it exists.
    """
    return (
        yield from retry_on_conflict(
            partial(_supersede_once, old, new, settings, reviews, drawn), tries=CONTENDED_TRIES
        )
    )


def _supersede_once(
    old: str, new: str, settings: Settings, reviews: tuple[ContradictionReview, ...], drawn: EdgeWrite | None
) -> Steps[Edge]:
    old_fact, new_fact = yield from _read_pair(old, new)
    now: datetime = yield ReadClock()
    planned = yield from plan_replacements([(old_fact, new_fact)], now)
    (plain,) = planned.edges
    new_edge = replace(drawn, edge=replace(drawn.edge, strengthened=now)) if drawn else plain
    yield from store.write(
        Change(
            now=now,
            edges=(new_edge,),
            curation=CurationChange(superseded=planned.superseded, reviews=reviews),
            idle_minutes=settings[SESSION_IDLE_MINUTES],
            as_read={old_fact.id: old_fact, new_fact.id: new_fact},
        )
    )
    return new_edge.edge


def unsupersede(old: str, new: str, settings: Settings) -> Steps[None]:
    """Undo a supersede: the edge ends, and the older fact is valid as long as before, or as other replacements leave it."""
    old_fact, new_fact = yield from _read_pair(old, new)
    stored = yield from store.list_edges(
        EdgeFilter(kinds=frozenset([SUPERSEDES]), ids=frozenset([old_fact.id])), MAX_EDGES
    )
    edges = {edge.source: edge for edge in stored if edge.target == old_fact.id}
    edge = edges.pop(new_fact.id, None)
    if edge is None:
        raise NotFound(
            f"{new} does not supersede {old}.", way_out="List what does with: cofire edges --kind supersedes"
        )
    now: datetime = yield ReadClock()
    others = yield from _find_other_replacements(old_fact, edges, now)
    curation = CurationChange(superseded=others, restored=((old_fact.id, new_fact.id),))
    yield from store.write(
        Change(now=now, ended=(edge,), curation=curation, idle_minutes=settings[SESSION_IDLE_MINUTES])
    )


def _find_other_replacements(old: Fact, edges: Mapping[str, Edge], now: datetime) -> Steps[tuple[Supersession, ...]]:
    """What else replaces a fact, by edges from the newer ones; not what did before the fact was remembered again."""
    since = {id: edge.strengthened or now for id, edge in edges.items()}
    in_force = [id for id, moment in since.items() if old.reinforced_at is None or old.reinforced_at <= moment]
    newer = yield from read_facts(in_force)
    return tuple(Supersession(old.id, fact.id, compute_validity_end(old, fact, since[fact.id])) for fact in newer)


def _read_pair(old: str, new: str) -> Steps[tuple[Fact, Fact]]:
    if old == new:
        raise InvalidInput("A fact cannot supersede itself.", way_out="Give two different ids.")
    old_fact, new_fact = yield from read_facts([old, new])
    check_pair(old_fact, new_fact)
    return old_fact, new_fact
