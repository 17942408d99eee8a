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
    edge_write: EdgeWrite | None = None,
) -> Steps[Edge]:
    """Store an edge from the newer fact to the older one, and end the validity of the older one.

    Recall then finds the older fact only with an earlier `as_of`: see `compute_validity_end`.
    `edge_write` is the edge to store, with its mode, in place of a plain one.
    """
    supersede_pair = partial(_supersede_once, old, new, settings, reviews, edge_write)
    return (yield from retry_on_conflict(supersede_pair, tries=CONTENDED_TRIES))


def _supersede_once(
    old: str, new: str, settings: Settings, reviews: tuple[ContradictionReview, ...], edge_write: EdgeWrite | None
) -> Steps[Edge]:
    old_fact, new_fact = yield from _read_pair(old, new)
    now: datetime = yield ReadClock()
    replacements = yield from plan_replacements([(old_fact, new_fact)], now)
    (new_write,) = replacements.edges
    if edge_write is not None:
        new_write = replace(edge_write, edge=replace(edge_write.edge, strengthened=now))
    yield from store.write(
        Change(
            now=now,
            edges=(new_write,),
            curation=CurationChange(superseded=replacements.superseded, reviews=reviews),
            idle_minutes=settings[SESSION_IDLE_MINUTES],
            as_read={old_fact.id: old_fact, new_fact.id: new_fact},
        )
    )
    return new_write.edge


def unsupersede(old: str, new: str, settings: Settings) -> Steps[None]:
    """End the edge and restore the older fact's validity, as far as other facts leave it."""
    old_fact, new_fact = yield from _read_pair(old, new)
    edge_filter = EdgeFilter(kinds=frozenset([SUPERSEDES]), ids=frozenset([old_fact.id]))
    stored_edges = yield from store.list_edges(edge_filter, MAX_EDGES)
    edge_by_source = {edge.source: edge for edge in stored_edges if edge.target == old_fact.id}
    edge = edge_by_source.pop(new_fact.id, None)
    if edge is None:
        raise NotFound(
            f"{new} does not supersede {old}.", way_out="List what does with: cofire edges --kind supersedes"
        )
    now: datetime = yield ReadClock()
    others = yield from _find_other_replacements(old_fact, edge_by_source, now)
    curation = CurationChange(superseded=others, restored=((old_fact.id, new_fact.id),))
    yield from store.write(
        Change(now=now, ended=(edge,), curation=curation, idle_minutes=settings[SESSION_IDLE_MINUTES])
    )


def _find_other_replacements(
    old: Fact, edge_by_source: Mapping[str, Edge], now: datetime
) -> Steps[tuple[Supersession, ...]]:
    """Other supersessions of a fact. Those from before it was remembered again do not count."""
    times = {id: edge.strengthened or now for id, edge in edge_by_source.items()}
    in_force = [id for id, time in times.items() if old.reinforced_at is None or old.reinforced_at <= time]
    newer_facts = yield from read_facts(in_force)
    return tuple(
        Supersession(old.id, newer.id, compute_validity_end(old, newer, times[newer.id])) for newer in newer_facts
    )


def _read_pair(old: str, new: str) -> Steps[tuple[Fact, Fact]]:
    """The older and the newer fact, which may supersede each other."""
    if old == new:
        raise InvalidInput("A fact cannot supersede itself.", way_out="Give two different ids.")
    old_fact, new_fact = yield from read_facts([old, new])
    check_pair(old_fact, new_fact)
    return old_fact, new_fact
