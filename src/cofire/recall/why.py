"""Why a fact is returned or not: the first stage that loses it, in words."""

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
    """Run the same recall, see where the fact is lost, and try what would bring it back."""
    options = cast(RecallOptions, merge_options(options, setting_to_options(GRAPH_RECALL_EXPLAIN, True)))
    now = yield ReadClock()
    asked_for = make_request(text, options, now, settings)
    wanted = validation.parse_name(id or "", "id", InvalidQuestion) or ""
    (fact,) = yield from store.read_facts([wanted])
    if fact is None:
        return WhyResult(asked_for.text, wanted, "not_stored", "No fact has this id. List the ids with: cofire list")
    found = yield from recall(text, options, settings)
    refused = yield from _fetch_refusals(asked_for, fact)
    cue = yield from _analyse_question(asked_for)
    likeness = (yield from _measure_similarity(fact, asked_for, cue)) if cue else None
    case = RecallCase(options, settings, asked_for, fact, found, refused, cue)
    stage, explanation = yield from _diagnose_stage(case, likeness)
    told = _make_result(case, stage, explanation, likeness)
    helpful, in_vain = (yield from find_remedies(case, stage)) if stage != "returned" else ((), ())
    texts = yield from read_path_texts([told.hit] if told.hit else [])
    return replace(told, remedies=helpful, in_vain=in_vain, texts=texts)


def _make_result(
    case: RecallCase, stage: RecallStage, explanation: str, likeness: QuestionSimilarity | None
) -> WhyResult:
    outranked = stage in ("beyond_k", "outranked")
    return WhyResult(
        question=case.question.text,
        id=case.fact.id,
        stage=stage,
        explanation=explanation,
        fact=case.fact,
        place=case.place,
        hit=_find_hit(case),
        likeness=likeness,
        refusals=case.refused,
        rivals=tuple(CompetingFact(hit.id, hit.text, hit.score) for hit in case.found.hits[-MAX_RIVALS:] if outranked),
        margin=_compute_margin(case) if outranked else None,
        last=case.found.hits[-1] if outranked and case.found.hits else None,
    )


def _fetch_refusals(request: RecallRequest, fact: Fact) -> Steps[tuple[FilterMismatch, ...]]:
    if request.where.community is None:
        return find_refusals(request.where, fact, None)
    rated = yield from store.fetch_importance([fact.id])
    return find_refusals(request.where, fact, rated[fact.id].community if fact.id in rated else None)


def _analyse_question(request: RecallRequest) -> Steps[Query | None]:
    planned = make_plan(request)
    return None if planned.mode == "no_recall" else (yield from analyse_query(request, planned))


def _measure_similarity(fact: Fact, request: RecallRequest, query: Query) -> Steps[QuestionSimilarity]:
    """How similar the fact and the question are, scored as candidates are."""
    features = yield from fetch_features([fact.id], query)
    candidates = score_candidates(features, query, request.settings)
    if not candidates.ids:
        return QuestionSimilarity(None, (), 0.0)
    shared_words = [word for word, holds in zip(query.words.words, candidates.holds_words[0], strict=True) if holds]
    spelling_of = map_word_spellings(request.text)
    spellings = dict.fromkeys(spelling_of.get(word, word) for word in shared_words)
    cosine = float(candidates.cosine[0]) if candidates.has_vector[0] else None
    return QuestionSimilarity(cosine, tuple(spellings), float(candidates.scores["keyword"][0]))


def _diagnose_stage(case: RecallCase, likeness: QuestionSimilarity | None) -> Steps[Finding]:
    """The first stage where the fact was lost, in the order of the stages."""
    if case.fact.id in case.found.ids:
        return "returned", _explain_returned(case, likeness)
    for stage in (_check_switched_off, _check_filters, _check_abstention, _check_inhibition):
        finding = stage(case)
        if finding is not None:
            return finding
    beyond = yield from _check_expanded(case)
    if beyond is not None:
        return beyond
    if case.place is None:
        return "not_a_candidate", _explain_no_candidate(case, likeness)
    return _explain_low_rank(case, case.place)


def _check_switched_off(case: RecallCase) -> Finding | None:
    return ("switched_off", case.found.reason) if case.found.mode == "no_recall" else None


def _check_filters(case: RecallCase) -> Finding | None:
    if not case.refused:
        return None
    return "filtered", "It does not pass the filters: " + "; ".join(_format_refusal(one) for one in case.refused) + "."


def _format_refusal(one: FilterMismatch) -> str:
    return _REFUSAL_PHRASES.get(one.filter, "{filter} must be {asked}, and it has {has}").format(
        filter=one.filter, asked=one.asked, has=one.has
    )


def _check_abstention(case: RecallCase) -> Finding | None:
    judgement = case.found.judgement
    if judgement is None or judgement.known or not _count_candidates(case):
        return None
    place = f" Otherwise it would be at place {case.place} of {_count_candidates(case)}." if case.place else ""
    return "silent", f"Memory said that it knows nothing. {judgement.reason}{place}"


def _check_inhibition(case: RecallCase) -> Finding | None:
    """Reached by activation, and kept down by stronger facts, so that nothing was left of it."""
    ranking = case.found.ranking
    steps = [(one.number, step) for one in ranking.rounds for step in one.steps] if ranking else []
    rounds = [number for number, step in steps if step.id == case.fact.id and step.inhibited]
    if not rounds or _read_activation(case) > 0:
        return None
    place = f" Without it the fact is at place {case.place} of {_count_candidates(case)}." if case.place else ""
    if str(case.dynamics).startswith("synapse"):
        most = case.question.settings[SPREADING_ACTIVATION_TOP_M]
        return "cut_by_inhibition", (
            f"Activation reached it, but in round {rounds[-1]} stronger facts silenced it: {most} count there.{place}"
        )
    return None if case.place else ("beyond_expanded", _explain_beyond_expanded(case))


def _check_expanded(case: RecallCase) -> Steps[Finding | None]:
    """Led to by a link that was not kept: seen by asking again without the bound."""
    if case.dynamics not in ("cofire", "diffusion") or _read_activation(case) > 0:
        return None
    remedy = yield from try_attempt(
        case, RemedyAttempt(setting_to_options(GRAPH_RECALL_EXPANDED, GRAPH_RECALL_EXPANDED.high), nudged=False)
    )
    return ("beyond_expanded", _explain_beyond_expanded(case)) if remedy else None


def _explain_beyond_expanded(case: RecallCase) -> str:
    kept = case.question.settings[GRAPH_RECALL_EXPANDED]
    return f"A link leads to it, but of the facts that activation reaches only the {kept} strongest are kept."


def _explain_no_candidate(case: RecallCase, likeness: QuestionSimilarity | None) -> str:
    silent = [f"{one.name} ({one.status})" for one in case.found.channels if one.status not in ("ok", "empty")]
    channels = f" Channels that took no part: {', '.join(silent)}." if silent else ""
    return f"No channel proposed it and no link led to it. {_format_similarity(likeness)}{channels}"


def _format_similarity(likeness: QuestionSimilarity | None) -> str:
    if likeness is None:
        return ""
    cosine = "There were no vectors to compare" if likeness.cosine is None else f"Its cosine is {likeness.cosine:.2f}"
    shared = f"it shares {', '.join(likeness.words)}" if likeness.words else "it shares no word with the question"
    return f"{cosine}, and {shared}."


def _explain_low_rank(case: RecallCase, place: int) -> Finding:
    k, candidates = case.question.k, _count_candidates(case)
    if place <= k:
        budget = case.question.budget
        return (
            "beyond_budget",
            f"It is at place {place}, but the budget of {format_count(budget or 0, 'token')} was full before.",
        )
    lacks = f"It lacks {_compute_margin(case):.3f} to the last that came back."
    if place <= 2 * k:
        return "beyond_k", f"It is at place {place} of {candidates}, and k is {k}. {lacks}"
    return "outranked", f"{place - 1} of {candidates} candidates score higher, and k is {k}. {lacks}"


def _explain_returned(case: RecallCase, likeness: QuestionSimilarity | None) -> str:
    hit = next(hit for hit in case.found.hits if hit.id == case.fact.id)
    best = sorted(hit.channels, key=lambda name: -hit.channels[name].gives)
    given = [
        f"{_CHANNEL_PHRASES.get(name, name)} ({hit.channels[name].gives:.2f})"
        for name in best
        if _has_positive_score(hit, name)
    ]
    told = [f"It is at place {case.place} of {_count_candidates(case)}, with a score of {hit.score:.2f}."]
    told += [f"Most of it comes from {' and '.join(given[:2])}."] if given else []
    told += [_format_path(hit, case.found.texts)] if hit.hops else [_format_similarity(likeness)]
    return " ".join(told)


def _has_positive_score(hit: Hit, name: str) -> bool:
    return hit.channels[name].gives > 0


def _format_path(hit: Hit, texts: Mapping[str, str]) -> str:
    over = " and ".join(f"{hop.via or hop.kind} (conf={_confidence_or_one(hop.confidence):.2f})" for hop in hit.hops)
    return f"The graph led to it over {over}, from: {shorten_text(texts.get(hit.path[0], hit.path[0]))}"


def _confidence_or_one(said: float | None) -> float:
    return 1.0 if said is None else said


def _find_hit(case: RecallCase) -> Hit | None:
    return case.found.ranking.hit(case.fact) if case.found.ranking and case.place else None


def _compute_margin(case: RecallCase) -> float:
    """What the fact lacks to the last one that came back."""
    ranking = case.found.ranking
    if ranking is None or case.place is None or case.place <= case.question.k:
        return 0.0
    return float(ranking.total[ranking.order[case.question.k - 1]] - ranking.total[ranking.order[case.place - 1]])


def _read_activation(case: RecallCase) -> float:
    ranking = case.found.ranking
    if ranking is None or case.place is None or "activation" not in ranking.scores:
        return 0.0
    return float(np.asarray(ranking.scores["activation"])[ranking.order[case.place - 1]])


def _count_candidates(case: RecallCase) -> int:
    return len(case.found.ranking.ids) if case.found.ranking else 0
