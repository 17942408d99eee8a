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
from cofire.recall.score import fetch_features, score_candidates
from cofire.results import AbstentionVerdict, CandidateRanking, ChannelReport, Hit, Recollection
from cofire.runtime.effects import ReadClock, Steps
from cofire.runtime.store_proxy import store
from cofire.settings.table import GRAPH_RECALL_EXPLAIN, Settings


def recall(text: object, options: RecallOptions, settings: Settings) -> Steps[Recollection]:
    """Answer a question from memory, stage by stage."""
    now = yield ReadClock()
    request = make_request(text, options, now, settings)
    plan = make_plan(request)
    if plan.mode == "no_recall":
        return _make_empty_recollection(request, plan)

    query = yield from analyse_query(request, plan)
    proposals = yield from ask_channels(query, request, plan)
    features = yield from fetch_features(proposals.ids, query)
    candidates = score_candidates(features, query, request.settings)
    plan = adapt_plan(plan, request, len(candidates.ids))
    activation = yield from spread_activation(candidates, query, request, plan)
    verdict = decide_abstention(activation, query, request)

    ranking = yield from fuse_channels(activation, proposals, query, request, plan)
    ranking, bridge_reports = yield from add_bridges(ranking, request, plan)
    if not request.settings[GRAPH_RECALL_EXPLAIN]:
        ranking = ranking.without_paths()
    facts = yield from _read_best(ranking, max(request.k, COMPARED_RESULTS))
    ranking = prefer_newer(ranking, list(facts.values()), request)
    best_facts = [facts[id] for id in ranking.best(request.k) if id in facts]
    hits = cap_hits(ranking.hits(best_facts), request.budget)
    path_texts = yield from read_path_texts(hits)

    reports = (*proposals.reports, activation.report, *bridge_reports)
    return Recollection(
        question=request.text,
        hits=hits if verdict.known else (),
        channels=reports,
        scopes=request.scopes,
        reason=_explain_silence(verdict, hits, ranking.ids, reports, fact_count=query.fact_count),
        mode=plan.mode,
        strategy=plan.strategy,
        judgement=verdict,
        guesses=() if verdict.known else hits,
        ranking=ranking,
        plan=describe_plan(plan, request),
        texts=path_texts,
    )


def _read_best(ranking: CandidateRanking, count: int) -> Steps[dict[str, Fact]]:
    """The facts of the best candidates by id."""
    facts = yield from store.read_facts(ranking.best(count))
    return {fact.id: fact for fact in facts if fact is not None}


def cap_hits(hits: Sequence[Hit], budget: int | None) -> tuple[Hit, ...]:
    """The first hits whose texts fit into a budget of tokens; all without a budget."""
    if budget is None:
        return tuple(hits)
    return tuple(hits[: count_fitting((hit.text for hit in hits), budget)])


def read_path_texts(hits: Sequence[Hit]) -> Steps[dict[str, str]]:
    """The texts of the facts on the paths of hits and at the ends of bridges. Facts that are not hits are read."""
    texts = {hit.id: hit.text for hit in hits}
    path_ids: dict[str, None] = {}
    for hit in hits:
        path_ids.update(dict.fromkeys(hit.path))
        path_ids.update(dict.fromkeys(hop.source for hop in hit.bridge))
    unread_ids = [id for id in path_ids if id not in texts]
    if unread_ids:
        facts = yield from store.read_facts(unread_ids)
        texts |= {fact.id: fact.text for fact in facts if fact is not None}
    return {id: texts[id] for id in path_ids if id in texts}


def _make_empty_recollection(request: RecallRequest, plan: RecallPlan) -> Recollection:
    return Recollection(
        question=request.text,
        hits=(),
        channels=(),
        scopes=request.scopes,
        reason="Recall was switched off by mode no_recall.",
        mode=plan.mode,
        strategy=plan.strategy,
        plan=describe_plan(plan, request),
    )


def _explain_silence(
    verdict: AbstentionVerdict,
    hits: Sequence[Hit],
    candidate_ids: Sequence[str],
    reports: Sequence[ChannelReport],
    *,
    fact_count: int,
) -> str:
    """The reason why there are no hits. It names channels that failed: a failure must not look like an empty memory."""
    if verdict.known and hits:
        return ""
    reason = verdict.reason or _explain_no_hits(candidate_ids, reports, fact_count)
    failed = [report.name for report in reports if report.status in ("failed", "timed_out")]
    if failed:
        reason += f" Not everything was searched: {', '.join(failed)} failed."
    return reason


def _explain_no_hits(candidate_ids: Sequence[str], reports: Sequence[ChannelReport], fact_count: int) -> str:
    if candidate_ids:
        return "The budget is too small for even the best fact."
    if all(report.status == "disabled" for report in reports if report.name != "activation"):
        return "Every channel is switched off."
    if not fact_count:
        return "Nothing is stored yet where the question is asked."
    return "Nothing stored passes the filters and is like the question."
