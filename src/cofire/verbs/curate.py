"""Curate: what nobody uses fades, and what is wrong is told. Stage by stage, each its own transaction: it can be stopped and run again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from cofire.asks import Asking, Emit, Now, Size, WhichModel, Write
from cofire.curate_asks import ActiveDays, HowHealthy, HowUsed, WhatFades, WhatIsWeak, WhyArchived
from cofire.curate_settings import (
    BUDGET_BYTES,
    BUDGET_FACTS,
    CONFIDENCE_FLOOR,
    CONFIDENCE_GRACE,
    CONFIDENCE_PERIOD,
    CONFIDENCE_STEP,
    DECAY_CLOCK,
    DECAY_END,
    DECAY_GRACE,
    DECAY_RATE,
    PRUNE_THRESHOLD,
    RETENTION_DAYS,
)
from cofire.curating import Curation, Fade, FadedEdge, Fading, Health, Usage
from cofire.embedders.base import Resident
from cofire.graph_asks import TheNetwork
from cofire.model import Change, Written
from cofire.settings import Settings
from cofire.stores.base import Network, StoreSize
from cofire.verbs.dream import rank_scope
from cofire.verbs.keeping import to_archive
from cofire.verbs.listing import fact_by_id
from cofire.verbs.model_of_store import stored_model
from cofire.verbs.remember import Progress
from cofire.verbs.review import propose

EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Curated:
    """What curation did, or with `dry_run` would do.

    Edges whose weight `faded`, that `ended` by it, whose confidence was `lowered`, that were `pruned`, with some `examples`; facts
    `archived`, by id with the reason; `communities` found; pairs `proposed` for review, and pairs
    `applied` because `review.apply_clear` is on. `drift` says in words what is wrong with
    the vectors; `orphans` counts facts that nothing links with another, `dangling` rows that refer to what is not there.
    """

    faded: int = 0
    ended: int = 0
    lowered: int = 0
    pruned: int = 0
    archived: Mapping[str, str] = field(default_factory=dict)
    communities: int = 0
    proposed: int = 0
    applied: int = 0
    drift: str = ""
    orphans: int = 0
    dangling: int = 0
    dry_run: bool = False
    examples: tuple[FadedEdge, ...] = ()


Stage = Callable[[Curated, Settings], Asking[Curated]]


def curate(dry_run: bool, settings: Settings) -> Asking[Curated]:
    """All stages in their order. A second run at the same moment changes nothing."""
    done = Curated(dry_run=dry_run)
    for place, stage in enumerate(STAGES):
        yield Emit(Progress("curate", place, len(STAGES)))
        done = yield from stage(done, settings)
    yield Emit(Progress("curate", len(STAGES), len(STAGES)))
    return done


def why_archived(id: str) -> Asking[str | None]:
    """Why a fact was archived; None where it is not, or where somebody archived it by hand."""
    yield from fact_by_id(id)
    reasons: Mapping[str, str] = yield WhyArchived([id])
    return reasons.get(id)


def weight_fade(settings: Settings) -> Fade:
    """How behavioural edges fade (000)."""
    rule = (settings[DECAY_GRACE], settings[DECAY_RATE], 1.0, settings[DECAY_END])
    return Fade("weight", *rule, settings[DECAY_CLOCK])


def confidence_fade(settings: Settings) -> Fade:
    """How the confidence of structural edges falls (001)."""
    rule = (settings[CONFIDENCE_GRACE], settings[CONFIDENCE_STEP], settings[CONFIDENCE_PERIOD])
    return Fade("confidence", *rule, settings[CONFIDENCE_FLOOR], settings[DECAY_CLOCK])


def _fade_weights(done: Curated, settings: Settings) -> Asking[Curated]:
    found = yield from _faded(weight_fade(settings), done.dry_run)
    return replace(done, faded=found.changed, ended=found.ended, examples=done.examples + found.examples)


def _lower_confidence(done: Curated, settings: Settings) -> Asking[Curated]:
    found = yield from _faded(confidence_fade(settings), done.dry_run)
    return replace(done, lowered=found.changed, examples=done.examples + found.examples)


def _faded(fade: Fade, dry_run: bool) -> Asking[Fading]:
    now: datetime = yield Now()
    if dry_run:
        seen: Fading = yield WhatFades(fade, now, EXAMPLES)
        return seen
    written: Written = yield Write(Change(now=now, curation=Curation(fades=(fade,))))
    return Fading(written.edges.changed, written.edges.ended, ())


def _prune(done: Curated, settings: Settings) -> Asking[Curated]:
    if done.dry_run:
        seen: Fading = yield WhatIsWeak(settings[PRUNE_THRESHOLD], EXAMPLES)
        return replace(done, pruned=seen.ended, examples=done.examples + seen.examples)
    now: datetime = yield Now()
    written: Written = yield Write(Change(now=now, curation=Curation(prune=settings[PRUNE_THRESHOLD])))
    return replace(done, pruned=written.edges.ended)


def _archive(done: Curated, settings: Settings) -> Asking[Curated]:
    if not any(settings[limit] for limit in (RETENTION_DAYS, BUDGET_FACTS, BUDGET_BYTES)):
        return done
    usage: list[Usage] = yield HowUsed()
    days: list[int] = yield ActiveDays()
    now: datetime = yield Now()
    leaving = to_archive(usage, days, now, settings)
    if leaving and not done.dry_run:
        yield Write(Change(now=now, archive=dict.fromkeys(leaving, True), curation=Curation(because=leaving)))
    return replace(done, archived=leaving)


def _rate(done: Curated, settings: Settings) -> Asking[Curated]:
    """PageRank and communities, whether the graph has grown or not (ruling 37)."""
    if done.dry_run:
        return done
    size: StoreSize = yield Size()
    total = 0
    for scope in size.scopes:
        network: Network = yield TheNetwork(scope)
        count, _ = yield from rank_scope(scope, network, (), settings)
        total += count
    return replace(done, communities=total)


def _propose(done: Curated, settings: Settings) -> Asking[Curated]:
    reviewed = yield from propose(done.dry_run, settings)
    return replace(done, proposed=reviewed.proposed, applied=reviewed.applied)


def _check(done: Curated, _: Settings) -> Asking[Curated]:
    health: Health = yield HowHealthy()
    drift = yield from _drift()
    return replace(done, orphans=health.orphans, dangling=health.dangling, drift=drift)


def _drift() -> Asking[str]:
    """What is wrong with the vectors, in words; empty where nothing is."""
    size: StoreSize = yield Size()
    resident: Resident | None = yield WhichModel()
    stored = yield from stored_model()
    if stored is not None and resident is not None and stored.model != resident.model:
        return f"The vectors are of {stored.model.name}, the embedder is {resident.model.name}: run reembed."
    lacking = size.facts - size.embedded
    if stored is not None and lacking:
        return f"{lacking:,} of {size.facts:,} facts have no vector: run reembed."
    return ""


STAGES: tuple[Stage, ...] = (_fade_weights, _lower_confidence, _prune, _archive, _rate, _propose, _check)
