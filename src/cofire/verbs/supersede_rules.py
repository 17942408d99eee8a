"""Rules of superseding: which facts may replace which, and the changes this writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cofire.errors import InvalidInput
from cofire.model import Edge, EdgeWrite, Fact
from cofire.runtime.effects import Steps
from cofire.runtime.store_proxy import store
from cofire.stores.base import EdgeFilter
from cofire.stores.curation_rows import Supersession
from cofire.stores.edge_kinds import SUPERSEDES

MAX_EDGES = 1_000_000
MIN_VALIDITY = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Replacements:
    """What a change writes so that older facts are replaced: edges, ends of validity, and the facts this was decided with."""

    edges: tuple[EdgeWrite, ...] = ()
    superseded: tuple[Supersession, ...] = ()
    as_read: Mapping[str, Fact] = field(default_factory=dict)


def plan_replacements(pairs: Sequence[tuple[Fact, Fact]], now: datetime) -> Steps[Replacements]:
    """The replacements for pairs of an older and a newer fact, or an error. A newer fact need not be stored yet."""
    for old, new in pairs:
        check_pair(old, new)
        if new.valid_until is not None:
            yield from _refuse_cycle(old.id, new.id)
    _refuse_both_roles(pairs)
    return Replacements(
        edges=tuple(EdgeWrite(make_supersede_edge(old, new, now), "reinforce") for old, new in pairs),
        superseded=tuple(Supersession(old.id, new.id, compute_validity_end(old, new, now)) for old, new in pairs),
        as_read={old.id: old for old, _ in pairs},
    )


def check_pair(old: Fact, new: Fact) -> None:
    """Refuse a fact that would replace itself, or one of another scope."""
    if old.id == new.id:
        raise InvalidInput(
            f"{old.id} cannot supersede itself.",
            way_out="Give two different ids; a fact with the same text is the same fact.",
        )
    if old.scope != new.scope:
        raise InvalidInput(
            f"{old.id} is in scope {old.scope}, the newer fact in scope {new.scope}.",
            way_out="Give facts of one scope.",
        )


def age_key(fact: Fact) -> tuple[datetime, str]:
    """What facts are ordered by, oldest first."""
    assert fact.time is not None  # every stored fact has one
    return fact.time, fact.id


def is_in_time_order(older: Fact, newer: Fact) -> bool:
    """Whether one fact has a later time. Facts without times of their own that were stored in one call have none."""
    return age_key(newer)[0] > age_key(older)[0]


def are_comparable(older: Fact, newer: Fact) -> bool:
    """Facts of other speakers or subjects, of one session or of one document are no versions of each other."""
    if older.speaker != newer.speaker or older.scope != newer.scope:
        return False
    if older.subject and newer.subject and older.subject.casefold() != newer.subject.casefold():
        return False
    if older.session is not None and older.session == newer.session:
        return False
    return older.source is None or older.source != newer.source or older.stored_at != newer.stored_at


def make_supersede_edge(old: Fact, new: Fact, now: datetime) -> Edge:
    """The edge from the newer fact to the older."""
    return Edge(new.id, old.id, SUPERSEDES, origin="user", strengthened=now)


def compute_validity_end(old: Fact, new: Fact, now: datetime) -> datetime:
    """When the older fact stops being valid: when the newer one happened, if that is given and later than the older one, else
    now. A fact that is not valid yet keeps a microsecond, since validity has to end after it begins."""
    happened_later = new.at is not None and (old.time is None or new.at > old.time)
    end = new.at if happened_later and new.at is not None else now
    if old.valid_from is not None and old.valid_from >= end:
        return old.valid_from + MIN_VALIDITY
    return end


def _refuse_cycle(old: str, new: str) -> Steps[None]:
    """Refuse a newer fact that the older one replaces, directly or over others: none of them would be valid."""
    seen, frontier = {old}, {old}
    while frontier:
        edges = yield from store.list_edges(
            EdgeFilter(kinds=frozenset([SUPERSEDES]), ids=frozenset(frontier)), MAX_EDGES
        )
        replaced = {edge.target: edge.source for edge in edges if edge.source in frontier}
        if new in replaced:
            raise InvalidInput(
                f"{new} has itself been superseded by {replaced[new]}.",
                way_out=f"Undo that first: cofire supersede {new} {replaced[new]} --undo",
            )
        frontier = replaced.keys() - seen
        seen |= frontier


def _refuse_both_roles(pairs: Sequence[tuple[Fact, Fact]]) -> None:
    """Refuse a fact that one call both replaces and uses as a replacement."""
    both = sorted({old.id for old, _ in pairs} & {new.id for _, new in pairs})
    if both:
        raise InvalidInput(
            f"{both[0]} would supersede another fact and be superseded in the same call.", way_out="Use two calls."
        )
