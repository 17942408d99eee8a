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
    """A fact with the days since its last use, and its retention score."""

    usage: FactUsage
    unused_days: int
    score: RetentionScore


def select_to_archive(
    usage: Sequence[FactUsage], active_days: Sequence[int], now: datetime, settings: Settings
) -> dict[str, str]:
    """The ids of the facts to archive, each with the reason. Pinned facts are never archived."""
    counted_days = active_days if settings[DECAY_CLOCK] == "use" else None
    candidates = _score_usage(usage, counted_days, now)
    unused = _select_unused(candidates, settings)
    remaining = [candidate for candidate in candidates if candidate.usage.id not in unused]
    return unused | _select_beyond_budget(remaining, settings)


def _score_usage(
    usage: Sequence[FactUsage], active_days: Sequence[int] | None, now: datetime
) -> list[RetentionCandidate]:
    today = day_number(now)
    highest = max((fact.importance for fact in usage), default=0.0) or 1.0
    used_on = [day_number(fact.used_at) for fact in usage]
    stored_on = [day_number(fact.stored_at) for fact in usage]
    unused_days = days_between(used_on, today, in_use=active_days).tolist()
    ages = days_between(stored_on, today, in_use=active_days).tolist()
    candidates: list[RetentionCandidate] = []
    for fact, unused, age in zip(usage, unused_days, ages, strict=True):
        importance = fact.importance / highest
        score = score_retention(unused_days=unused, old_days=age, importance=importance, success=fact.success)
        candidates.append(RetentionCandidate(fact, unused, score))
    return candidates


def _select_unused(candidates: Sequence[RetentionCandidate], settings: Settings) -> dict[str, str]:
    """The facts unused for longer than the retention period, except those of kept categories."""
    retention_days = settings[RETENTION_DAYS]
    if not retention_days:
        return {}
    kept_categories = {name.strip() for name in settings[RETENTION_KEEP].split(",")}
    reasons: dict[str, str] = {}
    for candidate in candidates:
        usage = candidate.usage
        is_kept = usage.pinned or usage.category in kept_categories
        if candidate.unused_days >= retention_days and not is_kept:
            days = format_count(candidate.unused_days, "day")
            reasons[usage.id] = f"unused for {days}; {RETENTION_DAYS.name} is {retention_days}"
    return reasons


def _select_beyond_budget(candidates: Sequence[RetentionCandidate], settings: Settings) -> dict[str, str]:
    """The facts with the lowest scores, until the rest fits the budget. Pinned facts count and stay."""
    facts = len(candidates)
    size = sum(candidate.usage.bytes for candidate in candidates)
    unpinned = [candidate for candidate in candidates if not candidate.usage.pinned]
    reasons: dict[str, str] = {}
    for candidate in sorted(unpinned, key=lambda candidate: (candidate.score.total, candidate.usage.id)):
        exceeded = _describe_exceeded_budget(facts, size, settings)
        if exceeded is None:
            break
        score = candidate.score
        reasons[candidate.usage.id] = (
            f"retention score {score.total:.2f} ({score.in_words()}), the lowest when {exceeded}"
        )
        facts -= 1
        size -= candidate.usage.bytes
    return reasons


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

    Counts of edges: `faded` had their weight reduced, `ended` fell below the minimum weight,
    `lowered` lost confidence, `pruned` were removed; `examples` lists some of them. `archived` maps
    ids of facts to the reason. `communities` were found, review pairs were `proposed`, or `applied`
    because `review.apply_clear` is on. `drift` describes a problem with the vectors. `orphans` counts
    facts without links, `dangling` rows that refer to missing rows.
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
    """Run all stages in order. A second run at the same time changes nothing."""
    result = CurateResult(dry_run=dry_run)
    for number, stage in enumerate(STAGES):
        yield Emit(Progress("curate", number, len(STAGES)))
        result = yield from stage(result, settings)
    yield Emit(Progress("curate", len(STAGES), len(STAGES)))
    return result


def why_archived(id: str) -> Steps[str | None]:
    """Why curation archived a fact. None for a fact that is not archived or was archived by a user."""
    yield from read_fact(id)
    history = yield from store.read_history(id)
    return history.archived_because


def make_weight_decay(settings: Settings) -> DecayRule:
    """The decay of the weight of behavioural edges (000)."""
    return DecayRule(
        "weight",
        settings[DECAY_GRACE_DAYS],
        settings[DECAY_RATE],
        1.0,
        settings[DECAY_END_BELOW],
        settings[DECAY_CLOCK],
    )


def make_confidence_decay(settings: Settings) -> DecayRule:
    """The decay of the confidence of structural edges (001)."""
    return DecayRule(
        "confidence",
        settings[DECAY_CONFIDENCE_GRACE_DAYS],
        settings[DECAY_CONFIDENCE_STEP],
        settings[DECAY_CONFIDENCE_DAYS],
        settings[DECAY_CONFIDENCE_FLOOR],
        settings[DECAY_CLOCK],
    )


def _decay_weights(result: CurateResult, settings: Settings) -> Steps[CurateResult]:
    summary = yield from _apply_decay(make_weight_decay(settings), result.dry_run)
    examples = result.examples + summary.examples
    return replace(result, faded=summary.changed, ended=summary.ended, examples=examples)


def _lower_confidence(result: CurateResult, settings: Settings) -> Steps[CurateResult]:
    summary = yield from _apply_decay(make_confidence_decay(settings), result.dry_run)
    return replace(result, lowered=summary.changed, examples=result.examples + summary.examples)


def _apply_decay(rule: DecayRule, dry_run: bool) -> Steps[DecaySummary]:
    now: datetime = yield ReadClock()
    curation = CurationChange(fades=(rule,))
    if dry_run:
        return (yield from store.preview_decay(curation, now, MAX_EXAMPLES))
    written = yield from store.write(Change(now=now, curation=curation))
    return DecaySummary(written.edges.changed, written.edges.ended, ())


def _prune_edges(result: CurateResult, settings: Settings) -> Steps[CurateResult]:
    now: datetime = yield ReadClock()
    curation = CurationChange(prune=settings[EDGE_PRUNE_THRESHOLD])
    if result.dry_run:
        preview = yield from store.preview_decay(curation, now, MAX_EXAMPLES)
        return replace(result, pruned=preview.ended, examples=result.examples + preview.examples)
    written = yield from store.write(Change(now=now, curation=curation))
    return replace(result, pruned=written.edges.ended)


def _archive_facts(result: CurateResult, settings: Settings) -> Steps[CurateResult]:
    if not any(settings[limit] for limit in (RETENTION_DAYS, BUDGET_FACTS, BUDGET_BYTES)):
        return result
    usage = yield from store.read_usage()
    now: datetime = yield ReadClock()
    reasons = select_to_archive(usage.facts, usage.active_days, now, settings)
    if reasons and not result.dry_run:
        archive = dict.fromkeys(reasons, True)
        yield from store.write(Change(now=now, archive=archive, curation=CurationChange(because=reasons)))
    return replace(result, archived=reasons)


def _rank_scopes(result: CurateResult, settings: Settings) -> Steps[CurateResult]:
    """Compute PageRank and communities of all scopes, even if a graph has not grown (ruling 37)."""
    if result.dry_run:
        return result
    size = yield from store.read_size()
    communities = 0
    for scope in size.scopes:
        graph = yield from store.fetch_scope_graph(scope)
        scope_communities, _ = yield from rank_scope(scope, graph, (), settings)
        communities += scope_communities
    return replace(result, communities=communities)


def _propose_reviews(result: CurateResult, settings: Settings) -> Steps[CurateResult]:
    reviews = yield from propose_reviews(result.dry_run, settings)
    return replace(result, proposed=reviews.proposed, applied=reviews.applied)


def _check_health(result: CurateResult, _: Settings) -> Steps[CurateResult]:
    health = yield from store.check_graph()
    drift = yield from _describe_drift()
    return replace(result, orphans=health.orphans, dangling=health.dangling, drift=drift)


def _describe_drift() -> Steps[str]:
    """What is wrong with the vectors, or an empty text."""
    size = yield from store.read_size()
    resident: EmbedderInfo | None = yield IdentifyEmbedder()
    stored_model = yield from read_stored_model()
    if stored_model is None:
        return ""
    if resident is not None and stored_model.model != resident.model:
        return f"The vectors are of {stored_model.model.name}, the embedder is {resident.model.name}: run reembed."
    missing = size.facts - size.embedded
    if missing:
        return f"{missing:,} of {size.facts:,} facts have no vector: run reembed."
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
