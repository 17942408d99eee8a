"""Which facts may supersede which, and what a supersession writes."""

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
    """What a change writes for supersessions, and the older facts as they were read."""

    edges: tuple[EdgeWrite, ...] = ()
    superseded: tuple[Supersession, ...] = ()
    as_read: Mapping[str, Fact] = field(default_factory=dict)


def plan_replacements(pairs: Sequence[tuple[Fact, Fact]], now: datetime) -> Steps[Replacements]:
    """Check pairs of an older and a newer fact, and plan what to write.

    The newer facts need not be stored yet.
    """
    for old, new in pairs:
        check_pair(old, new)
        if new.valid_until is not None:
            yield from _refuse_cycle(old.id, new.id)
    _refuse_both_roles(pairs)
    edges = [Edge(new.id, old.id, SUPERSEDES, origin="user", strengthened=now) for old, new in pairs]
    supersessions = [Supersession(old.id, new.id, compute_validity_end(old, new, now)) for old, new in pairs]
    return Replacements(
        edges=tuple(EdgeWrite(edge, "reinforce") for edge in edges),
        superseded=tuple(supersessions),
        as_read={old.id: old for old, _ in pairs},
    )


def check_pair(old: Fact, new: Fact) -> None:
    """Refuse a fact that would supersede itself, and facts of two scopes."""
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
    """Sort key of facts by age, oldest first."""
    assert fact.time is not None  # every stored fact has a time
    return fact.time, fact.id


def is_in_time_order(older: Fact, newer: Fact) -> bool:
    """Whether the second fact has a later time. Facts of one call without times have equal times."""
    return age_key(newer)[0] > age_key(older)[0]


def are_comparable(older: Fact, newer: Fact) -> bool:
    """Whether two facts may be versions of each other.

    Facts of different speakers, scopes or subjects are not, nor are facts of one session or of one
    document that was stored at once.
    """
    if older.speaker != newer.speaker or older.scope != newer.scope:
        return False
    if older.subject and newer.subject and older.subject.casefold() != newer.subject.casefold():
        return False
    if older.session is not None and older.session == newer.session:
        return False
    return older.source is None or older.source != newer.source or older.stored_at != newer.stored_at


def compute_validity_end(old: Fact, new: Fact, now: datetime) -> datetime:
    """When the older fact stops being valid.

    That is the time of the newer fact if it is given and later than the older one, else now. Validity
    ends after it begins: a fact that is not valid yet stays valid for one microsecond.
    """
    end = now
    if new.at is not None and (old.time is None or new.at > old.time):
        end = new.at
    if old.valid_from is not None and old.valid_from >= end:
        return old.valid_from + MIN_VALIDITY
    return end


def _refuse_cycle(old: str, new: str) -> Steps[None]:
    """Refuse a newer fact that the older one supersedes, directly or through others."""
    visited = {old}
    frontier = {old}
    while frontier:
        edge_filter = EdgeFilter(kinds=frozenset([SUPERSEDES]), ids=frozenset(frontier))
        edges = yield from store.list_edges(edge_filter, MAX_EDGES)
        source_by_target = {edge.target: edge.source for edge in edges if edge.source in frontier}
        if new in source_by_target:
            source = source_by_target[new]
            raise InvalidInput(
                f"{new} has itself been superseded by {source}.",
                way_out=f"Undo that first: cofire supersede {new} {source} --undo",
            )
        frontier = source_by_target.keys() - visited
        visited |= frontier


def _refuse_both_roles(pairs: Sequence[tuple[Fact, Fact]]) -> None:
    """Refuse a fact that is the older one of a pair and the newer one of another."""
    both = sorted({old.id for old, _ in pairs} & {new.id for _, new in pairs})
    if both:
        raise InvalidInput(
            f"{both[0]} would supersede another fact and be superseded in the same call.", way_out="Use two calls."
        )
