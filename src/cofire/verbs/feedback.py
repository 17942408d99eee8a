"""Learn from feedback: strengthen edges to facts that helped, weaken those to facts that hurt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from cofire.algorithms import reinforcement
from cofire.errors import InvalidInput, NotFound
from cofire.model import Change, Fact
from cofire.recall.recall_log import collect_used_edges
from cofire.results import Recollection
from cofire.runtime.effects import MintIds, ReadClock, Steps
from cofire.runtime.store_proxy import store
from cofire.settings.table import SESSION_IDLE_MINUTES, Settings
from cofire.stores.learning_rows import (
    HEBBIAN_KIND,
    EdgeAdjustment,
    FeedbackCounts,
    JudgedRecall,
    LoggedRecall,
    PathEdge,
)
from cofire.verbs.listing import check_ids, read_fact, read_facts

OptionalIds = Iterable[str] | str | None


@dataclass(frozen=True, slots=True)
class FeedbackResult:
    """What feedback changed: the facts it was about, and how many edges were made, grew and shrank."""

    helped: tuple[str, ...]
    hurt: tuple[str, ...]
    made: int
    changed: int


def feedback(
    found: Recollection | str, helped: OptionalIds, hurt: OptionalIds, settings: Settings
) -> Steps[FeedbackResult]:
    """Strengthen the edges on the ways to facts that helped and between them, weaken those to facts that hurt, and count both."""
    good, bad = check_ids(helped or ()), check_ids(hurt or ())
    _check_facts(good, bad)
    now: datetime = yield ReadClock()
    shown = yield from _find_shown(found, now)
    named = yield from read_facts([*good, *bad])
    yield from _check_shown(shown, named)
    lessons = derive_lessons(shown.ways, good, bad)
    uses = {id: FeedbackCounts(helped=1) for id in good} | {id: FeedbackCounts(hurt=1) for id in bad}
    occasion = yield from _make_occasion(shown, good, bad)
    change = Change(
        now=now, lessons=tuple(lessons), uses=uses, occasions=(occasion,), idle_minutes=settings[SESSION_IDLE_MINUTES]
    )
    written = yield from store.write(change)
    return FeedbackResult(tuple(good), tuple(bad), written.edges.new, written.edges.changed)


def read_use(id: str) -> Steps[FeedbackCounts]:
    """How often a fact helped and hurt."""
    fact = yield from read_fact(id)
    found = yield from store.fetch_feedback_counts([fact.id])
    return found.get(fact.id, FeedbackCounts())


def derive_lessons(
    ways: Mapping[str, Sequence[PathEdge]], helped: Sequence[str], hurt: Sequence[str]
) -> list[EdgeAdjustment]:
    """Each edge once. One that led to what helped is not weakened for having led to what hurt as well.

    >>> ways = {
    ...     "b": [PathEdge("a", "b", "hebbian")],
    ...     "c": [PathEdge("a", "b", "hebbian"), PathEdge("b", "c", "supports")],
    ... }
    >>> [(one.source, one.target, one.kind, one.step) for one in derive_lessons(ways, ["a", "b"], ["c"])]
    [('a', 'b', 'hebbian', 0.05), ('b', 'c', 'supports', -0.05)]
    """
    good = dict.fromkeys(way for id in helped for way in ways.get(id, ()))
    led = {frozenset((way.source, way.target)) for way in good}
    good |= {
        PathEdge(a, b, HEBBIAN_KIND): None
        for a, b in reinforcement.list_id_pairs(helped)
        if frozenset((a, b)) not in led
    }
    bad = dict.fromkeys(way for id in hurt for way in ways.get(id, ()) if way not in good)
    return [_make_lesson(way, reinforcement.HEBBIAN_STEP) for way in good] + [
        _make_lesson(way, -reinforcement.HEBBIAN_STEP) for way in bad
    ]


def _make_occasion(shown: LoggedRecall, helped: Sequence[str], hurt: Sequence[str]) -> Steps[JudgedRecall]:
    """The recall as one that was judged. Where it was not logged it has no id of its own, and gets one."""
    [id] = [shown.id] if shown.id else (yield MintIds(shown.at, 1))
    return JudgedRecall(id, frozenset(shown.ids[: reinforcement.COUNTED_RANKS]), frozenset(helped), frozenset(hurt))


def _make_lesson(way: PathEdge, step: float) -> EdgeAdjustment:
    return EdgeAdjustment(way.source, way.target, way.kind, step)


def _find_shown(found: object, now: datetime) -> Steps[LoggedRecall]:
    """What was shown: as the recollection has it, or as the log does."""
    if isinstance(found, Recollection):
        return LoggedRecall(found.id, now, None, found.ids, collect_used_edges(found.hits))
    if not isinstance(found, str) or not found.isprintable():
        raise InvalidInput("Feedback is about a recall.", way_out="Give what recall returned, or its id.")
    shown = yield from store.read_recall(found)
    if shown is None:
        raise _make_unknown_recall_error(found)
    return shown


def _make_unknown_recall_error(id: str) -> NotFound:
    return NotFound(
        f"No recall has the id {id}.",
        way_out="Use the id that a recall gives, while recall_log.enabled is on; recall_log.most says how many are kept. "
        "Of another process it is known once that has written something or closed.",
    )


def _check_facts(helped: Sequence[str], hurt: Sequence[str]) -> None:
    both = sorted(set(helped) & set(hurt))
    if both:
        raise InvalidInput(f"{both[0]} cannot have both helped and hurt.", way_out="Name each fact once.")
    if not helped and not hurt:
        raise InvalidInput("Neither helped nor hurt names a fact.", way_out="Give the ids of facts that came back.")


def _check_shown(shown: LoggedRecall, named: Sequence[Fact]) -> Steps[None]:
    """Refuse facts that were not shown, and tell which were: only those of the scopes that the caller knows facts of."""
    strange = [fact.id for fact in named if fact.id not in shown.ids]
    if not strange:
        return
    there = yield from store.read_facts(shown.ids)
    scopes = {fact.scope for fact in named}
    ids = [fact.id for fact in there if fact is not None and fact.scope in scopes]
    if shown.id and shown.ids and not ids:
        raise _make_unknown_recall_error(shown.id)
    raise InvalidInput(
        f"{strange[0]} was not among what this recall brought back.",
        way_out=f"Name some of these: {', '.join(ids)}." if ids else "It brought back nothing of that scope.",
    )
