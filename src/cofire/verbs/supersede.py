"""Supersede: a newer fact takes the place of an older one, which is true no more from then on. It can be taken back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial

from cofire.asks import Asking, Now, Write, again_on_conflict
from cofire.curating import Curation, Review, Superseding
from cofire.errors import InvalidInput, NotFound
from cofire.graph_asks import Edges
from cofire.graph_settings import IDLE_MINUTES
from cofire.model import Change, Edge, Fact, NewEdge
from cofire.settings import Settings
from cofire.stores.base import EdgeFilter
from cofire.verbs.listing import facts_by_id
from cofire.verbs.remember import PATIENT

KIND = "supersedes"
MANY = 1_000_000
MOMENT = timedelta(microseconds=1)


def supersede(old: str, new: str, settings: Settings, reviews: tuple[Review, ...] = ()) -> Asking[Edge]:
    """Draw the edge from the newer fact to the older, and end the validity of the older; recall finds it only as of before.

    It ends when the newer one happened, if somebody said when and that is later than the older one, else now.
    """
    return (yield from again_on_conflict(partial(_supersede, old, new, settings, reviews), tries=PATIENT))


def _supersede(old: str, new: str, settings: Settings, reviews: tuple[Review, ...]) -> Asking[Edge]:
    first, second = yield from _pair(old, new)
    now: datetime = yield Now()
    if second.valid_until is not None:
        yield from _refuse_a_circle(first.id, second.id)
    edge = Edge(second.id, first.id, KIND, origin="user", strengthened=now)
    superseded = Superseding(first.id, second.id, _until(first, second, now))
    yield Write(
        Change(
            now=now,
            edges=(NewEdge(edge, "skip"),),
            curation=Curation(superseded=(superseded,), reviews=reviews),
            idle_minutes=settings[IDLE_MINUTES],
            as_read={first.id: first, second.id: second},
        )
    )
    return edge


def unsupersede(old: str, new: str, settings: Settings) -> Asking[None]:
    """Take it back: the edge ends, and the older fact is valid as long as it was, or as others that took its place let it be."""
    first, second = yield from _pair(old, new)
    held: list[Edge] = yield Edges(EdgeFilter(kinds=frozenset([KIND]), ids=frozenset([first.id])), MANY)
    drawn = {edge.source: edge for edge in held if edge.target == first.id}
    edge = drawn.pop(second.id, None)
    if edge is None:
        raise NotFound(
            f"{new} does not supersede {old}.", way_out="List what does with: cofire edges --kind supersedes"
        )
    now: datetime = yield Now()
    others = yield from _others(first, drawn, now)
    curation = Curation(superseded=others, restored=((first.id, second.id),))
    yield Write(Change(now=now, ended=(edge,), curation=curation, idle_minutes=settings[IDLE_MINUTES]))


def _others(old: Fact, drawn: Mapping[str, Edge], now: datetime) -> Asking[tuple[Superseding, ...]]:
    """What else takes the place of a fact, by edges from the newer ones; not what did before the fact was told again."""
    since = {id: edge.strengthened or now for id, edge in drawn.items()}
    kept = [id for id, moment in since.items() if old.reinforced_at is None or old.reinforced_at <= moment]
    newer = yield from facts_by_id(kept)
    return tuple(Superseding(old.id, fact.id, _until(old, fact, since[fact.id])) for fact in newer)


def _pair(old: str, new: str) -> Asking[tuple[Fact, Fact]]:
    if old == new:
        raise InvalidInput("A fact cannot supersede itself.", way_out="Give two different ids.")
    first, second = yield from facts_by_id([old, new])
    if first.scope != second.scope:
        raise InvalidInput("The two facts are of different scopes.", way_out="Give facts of one scope.")
    return first, second


def _refuse_a_circle(old: str, new: str) -> Asking[None]:
    """Of facts that take each other's place none would be valid, so that recall would lose them all."""
    seen, ahead = {old}, {old}
    while ahead:
        held: list[Edge] = yield Edges(EdgeFilter(kinds=frozenset([KIND]), ids=frozenset(ahead)), MANY)
        replaced = {one.target: one.source for one in held if one.source in ahead}
        if new in replaced:
            raise InvalidInput(
                f"{new} has itself been superseded by {replaced[new]}.",
                way_out=f"Take that back first with: cofire supersede {new} {replaced[new]} --undo",
            )
        ahead = replaced.keys() - seen
        seen |= ahead


def _until(old: Fact, new: Fact, now: datetime) -> datetime:
    """When the older one ends. One that did not hold yet is left its first moment, since it has to end after it begins."""
    later = new.at is not None and (old.time is None or new.at > old.time)
    until = new.at if later and new.at is not None else now
    return until if old.valid_from is None or old.valid_from < until else old.valid_from + MOMENT
