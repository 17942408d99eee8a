"""Recall: from a question to what memory knows about it. Asks, decides, and waits for nothing itself."""

from __future__ import annotations

from collections.abc import Sequence

from cofire.asks import Asking, Now, Read
from cofire.model import Fact
from cofire.recall_settings import EXPLAIN
from cofire.recollection import ChannelReport, Hit, Judgement, Ranking, Recollection
from cofire.settings import Settings
from cofire.stores.base import Evidence
from cofire.verbs.activating import activate
from cofire.verbs.asking import Asked, Question, question
from cofire.verbs.bridging import bridge
from cofire.verbs.channels import listen
from cofire.verbs.cueing import read_cue
from cofire.verbs.direct import slate
from cofire.verbs.fusing import fuse
from cofire.verbs.judging import judge
from cofire.verbs.planning import Plan, assisted, plan, told
from cofire.verbs.recency import COMPARED, prefer_newer
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
    planned = assisted(planned, asked_for, len(known.ids))
    active = yield from activate(known, cue, asked_for, planned)
    ranking = yield from fuse(active, heard, cue, asked_for, planned)
    ranking, bridged = yield from bridge(ranking, asked_for, planned)
    ranking = ranking if asked_for.settings[EXPLAIN] else ranking.untold()
    judgement = judge(active, cue, asked_for)
    facts = yield from _read_best(ranking, max(asked_for.k, COMPARED))
    ranking = prefer_newer(ranking, list(facts.values()), asked_for)
    best = [facts[id] for id in ranking.best(asked_for.k) if id in facts]
    found = cap(ranking.hits(best), asked_for.budget)
    reports = (*heard.reports, active.report, *bridged)
    return Recollection(
        question=asked_for.text,
        hits=found if judgement.known else (),
        channels=reports,
        scopes=asked_for.scopes,
        reason=_reason(judgement, found, ranking.ids, reports, facts=cue.facts),
        mode=planned.mode,
        strategy=planned.strategy,
        judgement=judgement,
        guesses=() if judgement.known else found,
        ranking=ranking,
        plan=told(planned, asked_for),
        texts=(yield from on_paths(found)),
    )


def _read_best(ranking: Ranking, count: int) -> Asking[dict[str, Fact]]:
    """The best candidates by id."""
    facts: list[Fact | None] = yield Read(ranking.best(count))
    return {fact.id: fact for fact in facts if fact is not None}


def cap(hits: Sequence[Hit], budget: int | None) -> tuple[Hit, ...]:
    """As many hits as the budget of tokens holds, counted by their texts."""
    return tuple(hits) if budget is None else tuple(hits[: fit((hit.text for hit in hits), budget)])


def on_paths(hits: Sequence[Hit]) -> Asking[dict[str, str]]:
    """The texts of the facts on the paths and beside the bridges; those that are no hits are read."""
    known = {hit.id: hit.text for hit in hits}
    on_paths = dict.fromkeys(id for hit in hits for id in (*hit.path, *(hop.source for hop in hit.bridge)))
    unread = [id for id in on_paths if id not in known]
    facts: list[Fact | None] = (yield Read(unread)) if unread else []
    known |= {fact.id: fact.text for fact in facts if fact is not None}
    return {id: known[id] for id in on_paths if id in known}


def _nothing_asked(asked: Question, planned: Plan) -> Recollection:
    reason = "Recall was switched off by mode no_recall."
    return Recollection(
        asked.text, (), (), asked.scopes, reason, planned.mode, planned.strategy, plan=told(planned, asked)
    )


def _reason(
    judgement: Judgement, hits: Sequence[Hit], ids: Sequence[str], reports: Sequence[ChannelReport], *, facts: int
) -> str:
    """Why nothing is said. What failed is named, so that it does not look like an empty memory."""
    if judgement.known and hits:
        return ""
    failed = [report.name for report in reports if report.status in ("failed", "timed_out")]
    silenced = f" Not everything was searched: {', '.join(failed)} failed." if failed else ""
    return (judgement.reason or _nothing(ids, reports, facts)) + silenced


def _nothing(ids: Sequence[str], reports: Sequence[ChannelReport], facts: int) -> str:
    if ids:
        return "The budget is too small for even the best fact."
    if all(report.status == "disabled" for report in reports if report.name != "activation"):
        return "Every channel is switched off."
    if not facts:
        return "Nothing is stored yet where the question is asked."
    return "Nothing stored passes the filters and is like the question."
