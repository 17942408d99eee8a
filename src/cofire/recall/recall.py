"""The recall: from a question to ranked facts or an abstention, stage by stage."""

from __future__ import annotations

from collections.abc import Sequence

from cofire.explain import count_fitting
from cofire.model import Fact
from cofire.recall.abstention import decide_abstention
from cofire.recall.activation import spread_activation
from cofire.recall.channels import ask_channels
from cofire.recall.fusion import fuse_channels
from cofire.recall.plan import RecallPlan, adapt_plan, describe_plan, make_plan
from cofire.recall.query import analyse_query
from cofire.recall.request import RecallOptions, RecallRequest, make_request
from cofire.recall.reranking import COMPARED_RESULTS, add_bridges, prefer_newer
from cofire.recall.scoring import score_candidates
from cofire.recall.walk import fetch_features
from cofire.results import AbstentionVerdict, CandidateRanking, ChannelReport, Hit, Recollection
from cofire.runtime.effects import ReadClock, Steps
from cofire.runtime.store_proxy import store
from cofire.settings.table import GRAPH_RECALL_EXPLAIN, Settings


def recall(text: object, asked: RecallOptions, settings: Settings) -> Steps[Recollection]:
    """The whole way of a question, each line a stage."""
    now = yield ReadClock()
    asked_for = make_request(text, asked, now, settings)
    planned = make_plan(asked_for)
    if planned.mode == "no_recall":
        return _make_empty_recollection(asked_for, planned)
    cue = yield from analyse_query(asked_for, planned)
    heard = yield from ask_channels(cue, asked_for, planned)
    evidence = yield from fetch_features(heard.proposed, cue)
    known = score_candidates(evidence, cue, asked_for.settings)
    planned = adapt_plan(planned, asked_for, len(known.ids))
    active = yield from spread_activation(known, cue, asked_for, planned)
    ranking = yield from fuse_channels(active, heard, cue, asked_for, planned)
    ranking, bridged = yield from add_bridges(ranking, asked_for, planned)
    ranking = ranking if asked_for.settings[GRAPH_RECALL_EXPLAIN] else ranking.without_paths()
    judgement = decide_abstention(active, cue, asked_for)
    facts = yield from _read_best(ranking, max(asked_for.k, COMPARED_RESULTS))
    ranking = prefer_newer(ranking, list(facts.values()), asked_for)
    best = [facts[id] for id in ranking.best(asked_for.k) if id in facts]
    found = cap_hits(ranking.hits(best), asked_for.budget)
    reports = (*heard.reports, active.report, *bridged)
    return Recollection(
        question=asked_for.text,
        hits=found if judgement.known else (),
        channels=reports,
        scopes=asked_for.scopes,
        reason=_explain_silence(judgement, found, ranking.ids, reports, facts=cue.facts),
        mode=planned.mode,
        strategy=planned.strategy,
        judgement=judgement,
        guesses=() if judgement.known else found,
        ranking=ranking,
        plan=describe_plan(planned, asked_for),
        texts=(yield from read_path_texts(found)),
    )


def _read_best(ranking: CandidateRanking, count: int) -> Steps[dict[str, Fact]]:
    """The best candidates by id."""
    facts = yield from store.read_facts(ranking.best(count))
    return {fact.id: fact for fact in facts if fact is not None}


def cap_hits(hits: Sequence[Hit], budget: int | None) -> tuple[Hit, ...]:
    """As many hits as the budget of tokens holds, counted by their texts."""
    return tuple(hits) if budget is None else tuple(hits[: count_fitting((hit.text for hit in hits), budget)])


def read_path_texts(hits: Sequence[Hit]) -> Steps[dict[str, str]]:
    """The texts of the facts on the paths and beside the bridges; those that are no hits are read."""
    known = {hit.id: hit.text for hit in hits}
    on_paths = dict.fromkeys(id for hit in hits for id in (*hit.path, *(hop.source for hop in hit.bridge)))
    unread = [id for id in on_paths if id not in known]
    facts: list[Fact | None] = (yield from store.read_facts(unread)) if unread else []
    known |= {fact.id: fact.text for fact in facts if fact is not None}
    return {id: known[id] for id in on_paths if id in known}


def _make_empty_recollection(asked: RecallRequest, planned: RecallPlan) -> Recollection:
    reason = "Recall was switched off by mode no_recall."
    return Recollection(
        asked.text, (), (), asked.scopes, reason, planned.mode, planned.strategy, plan=describe_plan(planned, asked)
    )


def _explain_silence(
    judgement: AbstentionVerdict,
    hits: Sequence[Hit],
    ids: Sequence[str],
    reports: Sequence[ChannelReport],
    *,
    facts: int,
) -> str:
    """Why nothing is said. What failed is named, so that it does not look like an empty memory."""
    if judgement.known and hits:
        return ""
    failed = [report.name for report in reports if report.status in ("failed", "timed_out")]
    silenced = f" Not everything was searched: {', '.join(failed)} failed." if failed else ""
    return (judgement.reason or _explain_no_hits(ids, reports, facts)) + silenced


def _explain_no_hits(ids: Sequence[str], reports: Sequence[ChannelReport], facts: int) -> str:
    if ids:
        return "The budget is too small for even the best fact."
    if all(report.status == "disabled" for report in reports if report.name != "activation"):
        return "Every channel is switched off."
    if not facts:
        return "Nothing is stored yet where the question is asked."
    return "Nothing stored passes the filters and is like the question."
