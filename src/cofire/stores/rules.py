"""Rules every store applies to a change: rejected conflicts, stale dreams and edge decay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms import decay
from cofire.algorithms.decay import Shares
from cofire.errors import Conflict, InvalidInput
from cofire.model import Change, Fact, FactWrite, LinkBasis
from cofire.stores.curation_protocol import DecayRule


def reject_duplicate_text(twin: str | None, id: str) -> None:
    """Two facts cannot say the same: refuse to make one of them the other."""
    if twin is not None and twin != id:
        raise InvalidInput(
            f"The fact {twin} says this already.", way_out=f"Forget {id}, or update {twin} with what it lacks."
        )


def reject_stale_facts(as_read: Mapping[str, Fact], found: Mapping[str, Fact]) -> None:
    """What was thought of with a fact in mind is not written where it is another by now, or gone. That it was told again makes it no
    other."""
    for id, fact in as_read.items():
        if id not in found or _strip_reinforcement(found[id]) != _strip_reinforcement(fact):
            raise Conflict(f"The fact {id} was changed in between.", way_out="Read it again and try once more.")


def _strip_reinforcement(fact: Fact) -> Fact:
    return replace(fact, reinforced=0, reinforced_at=None)


def reject_forgotten_fact(new: FactWrite) -> None:
    """What was told again is known only by what it says. If it was forgotten in between, it has to be read anew."""
    if new.again:
        raise Conflict("A fact was forgotten while it was told again.", way_out="Tell it once more.")


def drop_stale_dream_results(change: Change, now: Mapping[str, LinkBasis]) -> Change:
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


MICROSECONDS_PER_DAY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class DecayedEdges:
    """Edges that change: what the store calls them, what they were and are by now, their anchors and since when these hold."""

    keys: NDArray[Any]
    before: Shares
    after: Shares
    anchors: Shares
    since: NDArray[np.int64]
    ends: NDArray[np.bool_]

    def left(self, at: int) -> float | None:
        """What one of them is by now; None where it ends."""
        return None if self.ends[at] else float(self.after[at])


@dataclass(frozen=True, slots=True)
class EdgeStrengths:
    """Edges as they are written: a weight or confidence each, the anchor that it fades from, and since when."""

    keys: NDArray[Any]
    shares: Shares
    anchors: Shares
    since: NDArray[np.int64]


def decay_edges(written: EdgeStrengths, fade: DecayRule, now: datetime, days: list[int] | None) -> DecayedEdges:
    """Those that are less by now than what is written. `days` are those in which the memory was used, None for all."""
    before, anchors = written.shares, written.anchors
    passed = decay.days_between(written.since // MICROSECONDS_PER_DAY, decay.day_number(now), in_use=days)
    if fade.by == "weight":
        after = np.minimum(before, decay.decay_weights(anchors, passed, grace=fade.grace, rate=fade.rate))
        ends = (after < fade.floor) & (passed >= fade.grace)
    else:
        rule = {"grace": fade.grace, "period": fade.period, "step": fade.rate, "floor": fade.floor}
        after = np.minimum(before, decay.lower_confidences(anchors, passed, **rule))
        ends = np.zeros(len(before), np.bool_)
    moved = (after < before) | ends
    return DecayedEdges(
        written.keys[moved], before[moved], after[moved], anchors[moved], written.since[moved], ends[moved]
    )
