"""Recall: from a question to what memory knows about it. Asks, decides, and waits for nothing itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cofire.asks import Asking, Now, Read
from cofire.model import Fact
from cofire.recollection import ChannelReport, Hit, Recollection
from cofire.settings import Settings
from cofire.stores.base import Evidence
from cofire.verbs.activating import activate
from cofire.verbs.asking import Asked, Question, question
from cofire.verbs.channels import listen
from cofire.verbs.cueing import read_cue
from cofire.verbs.direct import slate
from cofire.verbs.fusing import fuse
from cofire.verbs.judging import judge
from cofire.verbs.planning import Plan, assisted, plan
from cofire.verbs.walk import weigh
from cofire.xray import fit


def recall(text: object, asked: Asked, settings: Settings) -> Asking[Recollection]:
    """The whole way of a question, each line a stage."""
    now = yield Now()
    asked_for = question(text, asked, now, settings)
    planned = plan(asked_for)
    if planned.mode == "no_recall":
        return _nothing_asked(asked_for, planned)
    cue = yield from read_cue(asked_for, planned)
    heard = yield from listen(cue, asked_for, planned)
    evidence: Evidence = yield weigh(heard.proposed, cue)
    known = slate(evidence, cue, asked_for.settings)
    planned = replace(planned, passes=assisted(planned, asked_for, len(known.ids)))
    active = yield from activate(known, cue, asked_for, planned)
    ranking = yield from fuse(active, heard, cue, asked_for, planned)
    judgement = judge(active, cue, asked_for)
    facts: list[Fact | None] = yield Read(ranking.best(asked_for.k))
    found = cap([ranking.hit(fact) for fact in facts if fact is not None], asked_for.budget)
    reports = (*heard.reports, active.report)
    return Recollection(
        question=asked_for.text,
        hits=found if judgement.known else (),
        channels=reports,
        scopes=asked_for.scopes,
        reason=judgement.reason or _reason(found, ranking.ids, reports),
        mode=planned.mode,
        strategy=planned.strategy,
        judgement=judgement,
        guesses=() if judgement.known else found,
        ranking=ranking,
    )


def cap(hits: Sequence[Hit], budget: int | None) -> tuple[Hit, ...]:
    """As many hits as the budget of tokens holds."""
    return tuple(hits) if budget is None else tuple(hits[: fit((hit.text for hit in hits), budget)])


def _nothing_asked(asked: Question, planned: Plan) -> Recollection:
    reason = "Recall was switched off by mode no_recall."
    return Recollection(asked.text, (), (), asked.scopes, reason, planned.mode, planned.strategy)


def _reason(hits: Sequence[Hit], ids: Sequence[str], reports: Sequence[ChannelReport]) -> str:
    if hits:
        return ""
    if ids:
        return "The budget is too small for even the best fact."
    if all(report.status == "disabled" for report in reports):
        return "Every channel is switched off."
    return "Nothing stored passes the filters and is like the question."
