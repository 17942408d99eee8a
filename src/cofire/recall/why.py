"""Why recall returns a fact or not: the first stage that removes it, and an explanation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import numpy as np

from cofire.errors import InvalidQuestion
from cofire.explain import format_count, shorten_text
from cofire.model import Fact
from cofire.recall.counterfactuals import (
    RecallCase,
    RemedyAttempt,
    find_refusals,
    find_remedies,
    map_word_spellings,
    merge_options,
    setting_to_options,
    try_attempt,
)
from cofire.recall.plan import make_plan
from cofire.recall.query import Query, analyse_query
from cofire.recall.recall import read_path_texts, recall
from cofire.recall.request import RecallOptions, RecallRequest, make_request
from cofire.recall.score import fetch_features, score_candidates
from cofire.results import CompetingFact, FilterMismatch, Hit, QuestionSimilarity, RecallStage, WhyResult
from cofire.runtime.effects import ReadClock, Steps
from cofire.runtime.store_proxy import store
from cofire.settings.table import GRAPH_RECALL_EXPANDED, GRAPH_RECALL_EXPLAIN, SPREADING_ACTIVATION_TOP_M, Settings
from cofire.verbs import validation

MAX_RIVALS = 5

_CHANNEL_PHRASES = {
    "semantic": "its meaning",
    "keyword": "its words",
    "entity": "the names in the question",
    "temporal": "its time",
    "activation": "the graph",
    "coverage": "being the first to hold some of the words",
    "importance": "its importance",
    "bridges": "connecting two of the results",
    "recency": "being the newest version of what it says",
}
_REFUSAL_PHRASES = {
    "archived": "it is archived",
    "valid_from": "it is valid from {has} on, and {asked} was asked for",
    "valid_until": "it was valid until {has}, and {asked} was asked for",
    "expires": "it expired at {has}, and {asked} was asked for",
    "as_of": "as_of is {asked}, and it was stored at {has}",
}

Finding = tuple[RecallStage, str]


def why(text: object, id: str, options: RecallOptions, settings: Settings) -> Steps[WhyResult]:
    """Run the same recall, find the stage that removes the fact, and try changes that bring it back."""
    options = cast(RecallOptions, merge_options(options, setting_to_options(GRAPH_RECALL_EXPLAIN, True)))
    now = yield ReadClock()
    request = make_request(text, options, now, settings)
    fact_id = validation.parse_name(id or "", "id", InvalidQuestion) or ""
    (fact,) = yield from store.read_facts([fact_id])
    if fact is None:
        return WhyResult(request.text, fact_id, "not_stored", "No fact has this id. List the ids with: cofire list")
    recollection = yield from recall(text, options, settings)
    refusals = yield from _fetch_refusals(request, fact)
    query = yield from _analyse_question(request)
    similarity = (yield from _measure_similarity(fact, request, query)) if query else None
    case = RecallCase(options, settings, request, fact, recollection, refusals, query)
    stage, explanation = yield from _diagnose_stage(case, similarity)
    result = _make_result(case, stage, explanation, similarity)
    if stage != "returned":
        remedies, in_vain = yield from find_remedies(case, stage)
        result = replace(result, remedies=remedies, in_vain=in_vain)
    path_texts = yield from read_path_texts([result.hit] if result.hit else [])
    return replace(result, texts=path_texts)


def _make_result(
    case: RecallCase, stage: RecallStage, explanation: str, similarity: QuestionSimilarity | None
) -> WhyResult:
    ranking = case.recollection.ranking
    hits = case.recollection.hits
    outranked = stage in ("beyond_k", "outranked")
    rivals = hits[-MAX_RIVALS:] if outranked else ()
    return WhyResult(
        question=case.request.text,
        id=case.fact.id,
        stage=stage,
        explanation=explanation,
        fact=case.fact,
        place=case.place,
        hit=ranking.hit(case.fact) if ranking and case.place else None,
        likeness=similarity,
        refusals=case.refusals,
        rivals=tuple(CompetingFact(hit.id, hit.text, hit.score) for hit in rivals),
        margin=_compute_margin(case) if outranked else None,
        last=hits[-1] if outranked and hits else None,
    )


def _fetch_refusals(request: RecallRequest, fact: Fact) -> Steps[tuple[FilterMismatch, ...]]:
    if request.where.community is None:
        return find_refusals(request.where, fact, None)
    importance = yield from store.fetch_importance([fact.id])
    community = importance[fact.id].community if fact.id in importance else None
    return find_refusals(request.where, fact, community)


def _analyse_question(request: RecallRequest) -> Steps[Query | None]:
    plan = make_plan(request)
    if plan.mode == "no_recall":
        return None
    return (yield from analyse_query(request, plan))


def _measure_similarity(fact: Fact, request: RecallRequest, query: Query) -> Steps[QuestionSimilarity]:
    """How similar the fact and the question are, scored as candidates are."""
    features = yield from fetch_features([fact.id], query)
    candidates = score_candidates(features, query, request.settings)
    if not candidates.ids:
        return QuestionSimilarity(None, (), 0.0)
    word_columns = zip(query.words.words, candidates.holds_words[0], strict=True)
    shared_words = [word for word, holds in word_columns if holds]
    spelling_of = map_word_spellings(request.text)
    spellings = dict.fromkeys(spelling_of.get(word, word) for word in shared_words)
    cosine = float(candidates.cosine[0]) if candidates.has_vector[0] else None
    return QuestionSimilarity(cosine, tuple(spellings), float(candidates.scores["keyword"][0]))


def _diagnose_stage(case: RecallCase, similarity: QuestionSimilarity | None) -> Steps[Finding]:
    """The first stage that removes the fact, in the order of the recall."""
    if case.fact.id in case.recollection.ids:
        return "returned", _explain_returned(case, similarity)
    if case.recollection.mode == "no_recall":
        return "switched_off", case.recollection.reason
    for check_stage in (_check_filters, _check_abstention, _check_inhibition):
        finding = check_stage(case)
        if finding is not None:
            return finding
    finding = yield from _check_expanded(case)
    if finding is not None:
        return finding
    if case.place is None:
        return "not_a_candidate", _explain_no_candidate(case, similarity)
    return _explain_low_rank(case, case.place)


def _check_filters(case: RecallCase) -> Finding | None:
    if not case.refusals:
        return None
    reasons = "; ".join(_format_refusal(refusal) for refusal in case.refusals)
    return "filtered", f"It does not pass the filters: {reasons}."


def _format_refusal(refusal: FilterMismatch) -> str:
    phrase = _REFUSAL_PHRASES.get(refusal.filter, "{filter} must be {asked}, and it has {has}")
    return phrase.format(filter=refusal.filter, asked=refusal.asked, has=refusal.has)


def _check_abstention(case: RecallCase) -> Finding | None:
    verdict = case.recollection.judgement
    if verdict is None or verdict.known or not _count_candidates(case):
        return None
    place = f" Otherwise it would be at place {case.place} of {_count_candidates(case)}." if case.place else ""
    return "silent", f"Memory said that it knows nothing. {verdict.reason}{place}"


def _check_inhibition(case: RecallCase) -> Finding | None:
    """Whether activation reached the fact, and stronger facts then reduced its activation to 0."""
    ranking = case.recollection.ranking
    if ranking is None or _read_activation(case) > 0:
        return None
    inhibited_rounds = [
        spread_round.number
        for spread_round in ranking.rounds
        for step in spread_round.steps
        if step.id == case.fact.id and step.inhibited
    ]
    if not inhibited_rounds:
        return None
    if str(case.dynamics).startswith("synapse"):
        most = case.request.settings[SPREADING_ACTIVATION_TOP_M]
        last_round = inhibited_rounds[-1]
        place = f" Without it the fact is at place {case.place} of {_count_candidates(case)}." if case.place else ""
        return "cut_by_inhibition", (
            f"Activation reached it, but in round {last_round} stronger facts silenced it: {most} count there.{place}"
        )
    return None if case.place else ("beyond_expanded", _explain_beyond_expanded(case))


def _check_expanded(case: RecallCase) -> Steps[Finding | None]:
    """Whether the limit of expanded facts removes it: a second recall without the limit returns the fact."""
    if case.dynamics not in ("cofire", "diffusion") or _read_activation(case) > 0:
        return None
    unlimited = setting_to_options(GRAPH_RECALL_EXPANDED, GRAPH_RECALL_EXPANDED.high)
    remedy = yield from try_attempt(case, RemedyAttempt(unlimited, may_nudge=False))
    return ("beyond_expanded", _explain_beyond_expanded(case)) if remedy else None


def _explain_beyond_expanded(case: RecallCase) -> str:
    kept = case.request.settings[GRAPH_RECALL_EXPANDED]
    return f"A link leads to it, but of the facts that activation reaches only the {kept} strongest are kept."


def _explain_no_candidate(case: RecallCase, similarity: QuestionSimilarity | None) -> str:
    unused = [
        f"{report.name} ({report.status})"
        for report in case.recollection.channels
        if report.status not in ("ok", "empty")
    ]
    channels = f" Channels that took no part: {', '.join(unused)}." if unused else ""
    return f"No channel proposed it and no link led to it. {_format_similarity(similarity)}{channels}"


def _format_similarity(similarity: QuestionSimilarity | None) -> str:
    if similarity is None:
        return ""
    cosine = "There were no vectors to compare"
    if similarity.cosine is not None:
        cosine = f"Its cosine is {similarity.cosine:.2f}"
    shared = "it shares no word with the question"
    if similarity.words:
        shared = f"it shares {', '.join(similarity.words)}"
    return f"{cosine}, and {shared}."


def _explain_low_rank(case: RecallCase, place: int) -> Finding:
    k = case.request.k
    candidate_count = _count_candidates(case)
    if place <= k:
        budget = format_count(case.request.budget or 0, "token")
        return "beyond_budget", f"It is at place {place}, but the budget of {budget} was full before."
    margin = f"It lacks {_compute_margin(case):.3f} to the last that came back."
    if place <= 2 * k:
        return "beyond_k", f"It is at place {place} of {candidate_count}, and k is {k}. {margin}"
    return "outranked", f"{place - 1} of {candidate_count} candidates score higher, and k is {k}. {margin}"


def _explain_returned(case: RecallCase, similarity: QuestionSimilarity | None) -> str:
    hit = next(hit for hit in case.recollection.hits if hit.id == case.fact.id)
    contributions = {name: channel.gives for name, channel in hit.channels.items() if channel.gives > 0}
    largest = sorted(contributions, key=lambda name: -contributions[name])[:2]
    sources = [f"{_CHANNEL_PHRASES.get(name, name)} ({contributions[name]:.2f})" for name in largest]
    sentences = [f"It is at place {case.place} of {_count_candidates(case)}, with a score of {hit.score:.2f}."]
    if sources:
        sentences.append(f"Most of it comes from {' and '.join(sources)}.")
    if hit.hops:
        sentences.append(_format_path(hit, case.recollection.texts))
    else:
        sentences.append(_format_similarity(similarity))
    return " ".join(sentences)


def _format_path(hit: Hit, texts: Mapping[str, str]) -> str:
    links = []
    for hop in hit.hops:
        confidence = 1.0 if hop.confidence is None else hop.confidence
        links.append(f"{hop.via or hop.kind} (conf={confidence:.2f})")
    start = shorten_text(texts.get(hit.path[0], hit.path[0]))
    return f"The graph led to it over {' and '.join(links)}, from: {start}"


def _compute_margin(case: RecallCase) -> float:
    """The score difference between the last returned place and the fact."""
    ranking, k = case.recollection.ranking, case.request.k
    if ranking is None or case.place is None or case.place <= k:
        return 0.0
    return float(ranking.total[ranking.order[k - 1]] - ranking.total[ranking.order[case.place - 1]])


def _read_activation(case: RecallCase) -> float:
    ranking = case.recollection.ranking
    if ranking is None or case.place is None or "activation" not in ranking.scores:
        return 0.0
    return float(np.asarray(ranking.scores["activation"])[ranking.order[case.place - 1]])


def _count_candidates(case: RecallCase) -> int:
    ranking = case.recollection.ranking
    return len(ranking.ids) if ranking else 0
