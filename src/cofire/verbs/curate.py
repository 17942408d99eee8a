"""Decay, prune, archive, rank, propose reviews and check the store, stage by stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from cofire.algorithms.decay import RetentionScore, day_number, days_between, score_retention
from cofire.embedders.base import EmbedderInfo
from cofire.explain import format_count
from cofire.model import Change
from cofire.runtime.effects import Emit, IdentifyEmbedder, ReadClock, Steps
from cofire.runtime.store_proxy import store
from cofire.settings.table import (
    BUDGET_BYTES,
    BUDGET_FACTS,
    DECAY_CLOCK,
    DECAY_CONFIDENCE_DAYS,
    DECAY_CONFIDENCE_FLOOR,
    DECAY_CONFIDENCE_GRACE_DAYS,
    DECAY_CONFIDENCE_STEP,
    DECAY_END_BELOW,
    DECAY_GRACE_DAYS,
    DECAY_RATE,
    EDGE_PRUNE_THRESHOLD,
    RETENTION_DAYS,
    RETENTION_KEEP,
    Settings,
)
from cofire.stores.curation_rows import CurationChange, DecayedEdge, DecayRule, DecaySummary, FactUsage
from cofire.verbs.dream import rank_scope
from cofire.verbs.embedding_model import read_stored_model
from cofire.verbs.listing import read_fact
from cofire.verbs.remember import Progress
from cofire.verbs.review import propose_reviews


@dataclass(frozen=True, slots=True)
class RetentionCandidate:
    """A fact with the days since it was used, and what it is worth."""

    used: FactUsage
    unused_days: int
    worth: RetentionScore


def select_to_archive(
    usage: Sequence[FactUsage], days: Sequence[int], now: datetime, settings: Settings
) -> dict[str, str]:
    """The facts that are to be archived, with the reason in words. Pinned ones never are."""
    weighed = _score_usage(usage, days if settings[DECAY_CLOCK] == "use" else None, now)
    leaving = _select_unused(weighed, settings)
    left = [one for one in weighed if one.used.id not in leaving]
    return leaving | _select_beyond_budget(left, settings)


def _score_usage(usage: Sequence[FactUsage], in_use: Sequence[int] | None, now: datetime) -> list[RetentionCandidate]:
    today, highest = day_number(now), max((one.importance for one in usage), default=0.0) or 1.0
    unused = days_between([day_number(one.used_at) for one in usage], today, in_use=in_use).tolist()
    old = days_between([day_number(one.stored_at) for one in usage], today, in_use=in_use).tolist()
    return [
        RetentionCandidate(
            one,
            days,
            score_retention(unused_days=days, old_days=age, importance=one.importance / highest, success=one.success),
        )
        for one, days, age in zip(usage, unused, old, strict=True)
    ]


def _select_unused(weighed: Sequence[RetentionCandidate], settings: Settings) -> dict[str, str]:
    """By the retention policy."""
    most, kept = settings[RETENTION_DAYS], {name.strip() for name in settings[RETENTION_KEEP].split(",")}
    if not most:
        return {}
    return {
        one.used.id: f"unused for {format_count(one.unused_days, 'day')}; {RETENTION_DAYS.name} is {most}"
        for one in weighed
        if one.unused_days >= most and not one.used.pinned and one.used.category not in kept
    }


def _select_beyond_budget(weighed: Sequence[RetentionCandidate], settings: Settings) -> dict[str, str]:
    """The least valuable first, until the rest is within the budget. A pinned fact counts, and stays."""
    facts, size = len(weighed), sum(one.used.bytes for one in weighed)
    leaving: dict[str, str] = {}
    order = sorted((one for one in weighed if not one.used.pinned), key=lambda one: (one.worth.total, one.used.id))
    for one in order:
        beyond = _describe_exceeded_budget(facts, size, settings)
        if beyond is None:
            break
        leaving[one.used.id] = f"worth {one.worth.total:.2f} ({one.worth.in_words()}), the least when {beyond}"
        facts, size = facts - 1, size - one.used.bytes
    return leaving


def _describe_exceeded_budget(facts: int, size: int, settings: Settings) -> str | None:
    if settings[BUDGET_FACTS] and facts > settings[BUDGET_FACTS]:
        return f"{facts:,} facts were more than {BUDGET_FACTS.name} = {settings[BUDGET_FACTS]:,}"
    if settings[BUDGET_BYTES] and size > settings[BUDGET_BYTES]:
        return f"{size:,} bytes were more than {BUDGET_BYTES.name} = {settings[BUDGET_BYTES]:,}"
    return None


MAX_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class CurateResult:
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
    examples: tuple[DecayedEdge, ...] = ()


CurateStage = Callable[[CurateResult, Settings], Steps[CurateResult]]


def curate(dry_run: bool, settings: Settings) -> Steps[CurateResult]:
    """All stages in their order. A second run at the same moment changes nothing."""
    done = CurateResult(dry_run=dry_run)
    for place, stage in enumerate(STAGES):
        yield Emit(Progress("curate", place, len(STAGES)))
        done = yield from stage(done, settings)
    yield Emit(Progress("curate", len(STAGES), len(STAGES)))
    return done


def why_archived(id: str) -> Steps[str | None]:
    """Why a fact was archived; None where it is not, or where somebody archived it by hand."""
    yield from read_fact(id)
    history = yield from store.read_history(id)
    return history.archived_because


def make_weight_decay(settings: Settings) -> DecayRule:
    """How behavioural edges fade (000)."""
    rule = (settings[DECAY_GRACE_DAYS], settings[DECAY_RATE], 1.0, settings[DECAY_END_BELOW])
    return DecayRule("weight", *rule, settings[DECAY_CLOCK])


def make_confidence_decay(settings: Settings) -> DecayRule:
    """How the confidence of structural edges falls (001)."""
    rule = (settings[DECAY_CONFIDENCE_GRACE_DAYS], settings[DECAY_CONFIDENCE_STEP], settings[DECAY_CONFIDENCE_DAYS])
    return DecayRule("confidence", *rule, settings[DECAY_CONFIDENCE_FLOOR], settings[DECAY_CLOCK])


def _decay_weights(done: CurateResult, settings: Settings) -> Steps[CurateResult]:
    found = yield from _apply_decay(make_weight_decay(settings), done.dry_run)
    return replace(done, faded=found.changed, ended=found.ended, examples=done.examples + found.examples)


def _lower_confidence(done: CurateResult, settings: Settings) -> Steps[CurateResult]:
    found = yield from _apply_decay(make_confidence_decay(settings), done.dry_run)
    return replace(done, lowered=found.changed, examples=done.examples + found.examples)


def _apply_decay(fade: DecayRule, dry_run: bool) -> Steps[DecaySummary]:
    now: datetime = yield ReadClock()
    curation = CurationChange(fades=(fade,))
    if dry_run:
        return (yield from store.preview_decay(curation, now, MAX_EXAMPLES))
    written = yield from store.write(Change(now=now, curation=curation))
    return DecaySummary(written.edges.changed, written.edges.ended, ())


def _prune_edges(done: CurateResult, settings: Settings) -> Steps[CurateResult]:
    now: datetime = yield ReadClock()
    curation = CurationChange(prune=settings[EDGE_PRUNE_THRESHOLD])
    if done.dry_run:
        preview = yield from store.preview_decay(curation, now, MAX_EXAMPLES)
        return replace(done, pruned=preview.ended, examples=done.examples + preview.examples)
    written = yield from store.write(Change(now=now, curation=curation))
    return replace(done, pruned=written.edges.ended)


def _archive_facts(done: CurateResult, settings: Settings) -> Steps[CurateResult]:
    if not any(settings[limit] for limit in (RETENTION_DAYS, BUDGET_FACTS, BUDGET_BYTES)):
        return done
    usage = yield from store.read_usage()
    now: datetime = yield ReadClock()
    leaving = select_to_archive(usage.facts, usage.active_days, now, settings)
    if leaving and not done.dry_run:
        yield from store.write(
            Change(now=now, archive=dict.fromkeys(leaving, True), curation=CurationChange(because=leaving))
        )
    return replace(done, archived=leaving)


def _rank_scopes(done: CurateResult, settings: Settings) -> Steps[CurateResult]:
    """PageRank and communities, whether the graph has grown or not (ruling 37)."""
    if done.dry_run:
        return done
    size = yield from store.read_size()
    total = 0
    for scope in size.scopes:
        network = yield from store.fetch_scope_graph(scope)
        count, _ = yield from rank_scope(scope, network, (), settings)
        total += count
    return replace(done, communities=total)


def _propose_reviews(done: CurateResult, settings: Settings) -> Steps[CurateResult]:
    reviewed = yield from propose_reviews(done.dry_run, settings)
    return replace(done, proposed=reviewed.proposed, applied=reviewed.applied)


def _check_health(done: CurateResult, _: Settings) -> Steps[CurateResult]:
    health = yield from store.check_graph()
    drift = yield from _describe_drift()
    return replace(done, orphans=health.orphans, dangling=health.dangling, drift=drift)


def _describe_drift() -> Steps[str]:
    """What is wrong with the vectors, in words; empty where nothing is."""
    size = yield from store.read_size()
    resident: EmbedderInfo | None = yield IdentifyEmbedder()
    stored = yield from read_stored_model()
    if stored is not None and resident is not None and stored.model != resident.model:
        return f"The vectors are of {stored.model.name}, the embedder is {resident.model.name}: run reembed."
    lacking = size.facts - size.embedded
    if stored is not None and lacking:
        return f"{lacking:,} of {size.facts:,} facts have no vector: run reembed."
    return ""


STAGES: tuple[CurateStage, ...] = (
    _decay_weights,
    _lower_confidence,
    _prune_edges,
    _archive_facts,
    _rank_scopes,
    _propose_reviews,
    _check_health,
)
