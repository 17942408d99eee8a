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
    """What feedback changed: the ids of the judged facts, and the numbers of new and of changed edges."""

    helped: tuple[str, ...]
    hurt: tuple[str, ...]
    made: int
    changed: int


def feedback(
    recalled: Recollection | str, helped: OptionalIds, hurt: OptionalIds, settings: Settings
) -> Steps[FeedbackResult]:
    """Strengthen edges on the paths to facts that helped and between them, weaken edges on the paths to facts that hurt.

    The counts of both facts are updated, and the recall is stored as judged.
    """
    helped_ids = check_ids(helped or ())
    hurt_ids = check_ids(hurt or ())
    _check_judgements(helped_ids, hurt_ids)
    now: datetime = yield ReadClock()
    shown = yield from _find_shown(recalled, now)
    judged_facts = yield from read_facts([*helped_ids, *hurt_ids])
    yield from _check_shown(shown, judged_facts)
    counts = {id: FeedbackCounts(helped=1) for id in helped_ids} | {id: FeedbackCounts(hurt=1) for id in hurt_ids}
    judged_recall = yield from _make_judged_recall(shown, helped_ids, hurt_ids)
    change = Change(
        now=now,
        lessons=tuple(derive_lessons(shown.ways, helped_ids, hurt_ids)),
        uses=counts,
        occasions=(judged_recall,),
        idle_minutes=settings[SESSION_IDLE_MINUTES],
    )
    written = yield from store.write(change)
    return FeedbackResult(tuple(helped_ids), tuple(hurt_ids), written.edges.new, written.edges.changed)


def read_use(id: str) -> Steps[FeedbackCounts]:
    """How often a fact helped and hurt."""
    fact = yield from read_fact(id)
    counts = yield from store.fetch_feedback_counts([fact.id])
    return counts.get(fact.id, FeedbackCounts())


def derive_lessons(
    paths: Mapping[str, Sequence[PathEdge]], helped: Sequence[str], hurt: Sequence[str]
) -> list[EdgeAdjustment]:
    """The adjustment of each edge, once. An edge on a path to a fact that helped is never weakened.

    Two facts that helped and that no such edge joins get a hebbian edge.

    >>> paths = {
    ...     "b": [PathEdge("a", "b", "hebbian")],
    ...     "c": [PathEdge("a", "b", "hebbian"), PathEdge("b", "c", "supports")],
    ... }
    >>> [(edge.source, edge.target, edge.kind, edge.step) for edge in derive_lessons(paths, ["a", "b"], ["c"])]
    [('a', 'b', 'hebbian', 0.05), ('b', 'c', 'supports', -0.05)]
    """
    strengthened = dict.fromkeys(edge for id in helped for edge in paths.get(id, ()))
    joined = {frozenset((edge.source, edge.target)) for edge in strengthened}
    for source, target in reinforcement.list_id_pairs(helped):
        if frozenset((source, target)) not in joined:
            strengthened[PathEdge(source, target, HEBBIAN_KIND)] = None
    hurt_edges = dict.fromkeys(edge for id in hurt for edge in paths.get(id, ()))
    weakened = [edge for edge in hurt_edges if edge not in strengthened]
    step = reinforcement.HEBBIAN_STEP
    return [
        *(EdgeAdjustment(edge.source, edge.target, edge.kind, step) for edge in strengthened),
        *(EdgeAdjustment(edge.source, edge.target, edge.kind, -step) for edge in weakened),
    ]


def _make_judged_recall(shown: LoggedRecall, helped: Sequence[str], hurt: Sequence[str]) -> Steps[JudgedRecall]:
    """The recall with its judgements. A recall that was not logged gets a new id."""
    id = shown.id
    if not id:
        [id] = yield MintIds(shown.at, 1)
    first = frozenset(shown.ids[: reinforcement.COUNTED_RANKS])
    return JudgedRecall(id, first, frozenset(helped), frozenset(hurt))


def _find_shown(recalled: object, now: datetime) -> Steps[LoggedRecall]:
    """The facts and paths that a recall returned, from the recollection or from the log."""
    if isinstance(recalled, Recollection):
        return LoggedRecall(recalled.id, now, None, recalled.ids, collect_used_edges(recalled.hits))
    if not isinstance(recalled, str) or not recalled.isprintable():
        raise InvalidInput("Feedback is about a recall.", way_out="Give the result of recall, or its id.")
    shown = yield from store.read_recall(recalled)
    if shown is None:
        raise _make_unknown_recall_error(recalled)
    return shown


def _make_unknown_recall_error(id: str) -> NotFound:
    return NotFound(
        f"No recall has the id {id}.",
        way_out="Use the id of a recall made with recall_log.enabled; recall_log.most limits how many are kept. "
        "A recall of another process is logged when that process writes or closes the store.",
    )


def _check_judgements(helped: Sequence[str], hurt: Sequence[str]) -> None:
    both = sorted(set(helped) & set(hurt))
    if both:
        raise InvalidInput(f"{both[0]} cannot have both helped and hurt.", way_out="Name each fact once.")
    if not helped and not hurt:
        raise InvalidInput(
            "Neither helped nor hurt names a fact.", way_out="Give ids of facts that the recall returned."
        )


def _check_shown(shown: LoggedRecall, judged: Sequence[Fact]) -> Steps[None]:
    """Refuse facts that the recall did not return.

    The error lists returned facts only of scopes of which the caller already knows a fact.
    """
    not_shown = [fact.id for fact in judged if fact.id not in shown.ids]
    if not not_shown:
        return
    shown_facts = yield from store.read_facts(shown.ids)
    scopes = {fact.scope for fact in judged}
    ids = [fact.id for fact in shown_facts if fact is not None and fact.scope in scopes]
    if shown.id and shown.ids and not ids:
        raise _make_unknown_recall_error(shown.id)
    raise InvalidInput(
        f"{not_shown[0]} was not among what this recall brought back.",
        way_out=f"Name some of these: {', '.join(ids)}." if ids else "The recall returned no fact of that scope.",
    )
