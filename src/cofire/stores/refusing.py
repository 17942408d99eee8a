"""Refusing: what no store writes, because the facts are not as the one who writes believed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cofire.errors import Conflict, InvalidInput
from cofire.model import Change, Drawn, Fact, NewFact


def refuse_twin(twin: str | None, id: str) -> None:
    """Two facts cannot say the same: refuse to make one of them the other."""
    if twin is not None and twin != id:
        raise InvalidInput(
            f"The fact {twin} says this already.", way_out=f"Forget {id}, or update {twin} with what it lacks."
        )


def refuse_overtaken(as_read: Mapping[str, Fact], found: Mapping[str, Fact]) -> None:
    """What was thought of with a fact in mind is not written where it is another by now, or gone. That it was told again makes it no
    other."""
    for id, fact in as_read.items():
        if id not in found or _as_told_once(found[id]) != _as_told_once(fact):
            raise Conflict(f"The fact {id} was changed in between.", way_out="Read it again and try once more.")


def _as_told_once(fact: Fact) -> Fact:
    return replace(fact, reinforced=0, reinforced_at=None)


def refuse_forgotten(new: NewFact) -> None:
    """What was told again is known only by what it says. If it was forgotten in between, it has to be read anew."""
    if new.again:
        raise Conflict("A fact was forgotten while it was told again.", way_out="Tell it once more.")


def still_true(change: Change, now: Mapping[str, Drawn]) -> Change:
    """What a dream writes, without what it says of facts that were changed while it computed: they are not dreamed yet."""
    changed = {id for id, before in change.dreamed.items() if now.get(id, before) != before}
    if not changed:
        return change
    return replace(
        change,
        dreamed={id: before for id, before in change.dreamed.items() if id not in changed},
        edges=tuple(one for one in change.edges if changed.isdisjoint((one.edge.source, one.edge.target))),
        descriptions=tuple(one for one in change.descriptions if changed.isdisjoint((one.fact, *one.cites))),
        mentions={id: named for id, named in change.mentions.items() if id not in changed},
    )
