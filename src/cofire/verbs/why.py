"""Why: whether a fact comes back for a question, the first stage where it is lost, and what would bring it back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import numpy as np

from cofire.asks import Asking, Now, Read
from cofire.errors import InvalidQuestion
from cofire.graph_asks import Rated
from cofire.model import Fact, Importance
from cofire.reasons import Likeness, Refusal, Rival, Stage, Why
from cofire.recall_settings import EXPANDED, EXPLAIN, TOP_M
from cofire.recollection import Hit
from cofire.settings import Settings
from cofire.stores.base import Evidence
from cofire.verbs import accepting
from cofire.verbs.asking import Asked, Question, question
from cofire.verbs.cueing import Cue, read_cue
from cofire.verbs.direct import slate
from cofire.verbs.planning import plan
from cofire.verbs.recall import on_paths, recall
from cofire.verbs.refusing import refusals
from cofire.verbs.remedying import Attempt, Case, merged, remedies, setting, spelled, tried
from cofire.verbs.walk import weigh
from cofire.xray import counted, shortened

MOST_RIVALS = 5

_SOURCES = {
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
_REFUSED = {
    "archived": "it is archived",
    "valid_from": "it is valid from {has} on, and {asked} was asked for",
    "valid_until": "it was valid until {has}, and {asked} was asked for",
    "expires": "it expired at {has}, and {asked} was asked for",
    "as_of": "as_of is {asked}, and it was stored at {has}",
}

Finding = tuple[Stage, str]


def why(text: object, id: str, asked: Asked, settings: Settings) -> Asking[Why]:
    """Run the same recall, see where the fact is lost, and try what would bring it back."""
    asked = cast(Asked, merged(asked, setting(EXPLAIN, True)))
    now = yield Now()
    asked_for = question(text, asked, now, settings)
    wanted = accepting.name(id or "", "id", InvalidQuestion) or ""
    (fact,) = yield Read([wanted])
    if fact is None:
        return Why(asked_for.text, wanted, "not_stored", "No fact has this id. List the ids with: cofire list")
    found = yield from recall(text, asked, settings)
    refused = yield from _refused(asked_for, fact)
    cue = yield from _cue(asked_for)
    likeness = (yield from _likeness(fact, asked_for, cue)) if cue else None
    case = Case(asked, settings, asked_for, fact, found, refused, cue)
    stage, explanation = yield from _diagnosed(case, likeness)
    told = _told(case, stage, explanation, likeness)
    helpful, in_vain = (yield from remedies(case, stage)) if stage != "returned" else ((), ())
    texts = yield from on_paths([told.hit] if told.hit else [])
    return replace(told, remedies=helpful, in_vain=in_vain, texts=texts)


def _told(case: Case, stage: Stage, explanation: str, likeness: Likeness | None) -> Why:
    outranked = stage in ("beyond_k", "outranked")
    return Why(
        question=case.question.text,
        id=case.fact.id,
        stage=stage,
        explanation=explanation,
        fact=case.fact,
        place=case.place,
        hit=_hit(case),
        likeness=likeness,
        refusals=case.refused,
        rivals=tuple(Rival(hit.id, hit.text, hit.score) for hit in case.found.hits[-MOST_RIVALS:] if outranked),
        margin=_margin(case) if outranked else None,
        last=case.found.hits[-1] if outranked and case.found.hits else None,
    )


def _refused(asked: Question, fact: Fact) -> Asking[tuple[Refusal, ...]]:
    if asked.where.community is None:
        return refusals(asked.where, fact, None)
    rated: dict[str, Importance] = yield Rated([fact.id])
    return refusals(asked.where, fact, rated[fact.id].community if fact.id in rated else None)


def _cue(asked: Question) -> Asking[Cue | None]:
    planned = plan(asked)
    return None if planned.mode == "no_recall" else (yield from read_cue(asked, planned))


def _likeness(fact: Fact, asked: Question, cue: Cue) -> Asking[Likeness]:
    """How like the question the fact is, weighed as candidates are."""
    evidence: Evidence = yield weigh([fact.id], cue)
    known = slate(evidence, cue, asked.settings)
    if not known.ids:
        return Likeness(None, (), 0.0)
    held = [word for word, holds in zip(cue.words.words, known.holds[0], strict=True) if holds]
    as_asked = spelled(asked.text)
    cosine = float(known.cosine[0]) if known.meant[0] else None
    said = dict.fromkeys(as_asked.get(word, word) for word in held)
    return Likeness(cosine, tuple(said), float(known.scores["keyword"][0]))


def _diagnosed(case: Case, likeness: Likeness | None) -> Asking[Finding]:
    """The first stage where the fact was lost, in the order of the stages."""
    if case.fact.id in case.found.ids:
        return "returned", _why_returned(case, likeness)
    for stage in (_switched_off, _filtered, _silent, _silenced):
        finding = stage(case)
        if finding is not None:
            return finding
    beyond = yield from _beyond_expanded(case)
    if beyond is not None:
        return beyond
    if case.place is None:
        return "not_a_candidate", _why_no_candidate(case, likeness)
    return _ranked_too_low(case, case.place)


def _switched_off(case: Case) -> Finding | None:
    return ("switched_off", case.found.reason) if case.found.mode == "no_recall" else None


def _filtered(case: Case) -> Finding | None:
    if not case.refused:
        return None
    return "filtered", "It does not pass the filters: " + "; ".join(_refusal(one) for one in case.refused) + "."


def _refusal(one: Refusal) -> str:
    return _REFUSED.get(one.filter, "{filter} must be {asked}, and it has {has}").format(
        filter=one.filter, asked=one.asked, has=one.has
    )


def _silent(case: Case) -> Finding | None:
    judgement = case.found.judgement
    if judgement is None or judgement.known or not _candidates(case):
        return None
    place = f" Otherwise it would be at place {case.place} of {_candidates(case)}." if case.place else ""
    return "silent", f"Memory said that it knows nothing. {judgement.reason}{place}"


def _silenced(case: Case) -> Finding | None:
    """Reached by activation, and kept down by stronger facts, so that nothing was left of it."""
    ranking = case.found.ranking
    steps = [(one.number, step) for one in ranking.rounds for step in one.steps] if ranking else []
    rounds = [number for number, step in steps if step.id == case.fact.id and step.inhibited]
    if not rounds or _activation(case) > 0:
        return None
    place = f" Without it the fact is at place {case.place} of {_candidates(case)}." if case.place else ""
    if str(case.dynamics).startswith("synapse"):
        most = case.question.settings[TOP_M]
        return "cut_by_inhibition", (
            f"Activation reached it, but in round {rounds[-1]} stronger facts silenced it: {most} count there.{place}"
        )
    return None if case.place else ("beyond_expanded", _why_beyond_expanded(case))


def _beyond_expanded(case: Case) -> Asking[Finding | None]:
    """Led to by a link that was not kept: seen by asking again without the bound."""
    if case.dynamics not in ("cofire", "diffusion") or _activation(case) > 0:
        return None
    remedy = yield from tried(case, Attempt(setting(EXPANDED, EXPANDED.high), nudged=False))
    return ("beyond_expanded", _why_beyond_expanded(case)) if remedy else None


def _why_beyond_expanded(case: Case) -> str:
    kept = case.question.settings[EXPANDED]
    return f"A link leads to it, but of the facts that activation reaches only the {kept} strongest are kept."


def _why_no_candidate(case: Case, likeness: Likeness | None) -> str:
    silent = [f"{one.name} ({one.status})" for one in case.found.channels if one.status not in ("ok", "empty")]
    channels = f" Channels that took no part: {', '.join(silent)}." if silent else ""
    return f"No channel proposed it and no link led to it. {_how_like(likeness)}{channels}"


def _how_like(likeness: Likeness | None) -> str:
    if likeness is None:
        return ""
    cosine = "There were no vectors to compare" if likeness.cosine is None else f"Its cosine is {likeness.cosine:.2f}"
    shared = f"it shares {', '.join(likeness.words)}" if likeness.words else "it shares no word with the question"
    return f"{cosine}, and {shared}."


def _ranked_too_low(case: Case, place: int) -> Finding:
    k, candidates = case.question.k, _candidates(case)
    if place <= k:
        budget = case.question.budget
        return (
            "beyond_budget",
            f"It is at place {place}, but the budget of {counted(budget or 0, 'token')} was full before.",
        )
    lacks = f"It lacks {_margin(case):.3f} to the last that came back."
    if place <= 2 * k:
        return "beyond_k", f"It is at place {place} of {candidates}, and k is {k}. {lacks}"
    return "outranked", f"{place - 1} of {candidates} candidates score higher, and k is {k}. {lacks}"


def _why_returned(case: Case, likeness: Likeness | None) -> str:
    hit = next(hit for hit in case.found.hits if hit.id == case.fact.id)
    best = sorted(hit.channels, key=lambda name: -hit.channels[name].gives)
    given = [f"{_SOURCES.get(name, name)} ({hit.channels[name].gives:.2f})" for name in best if _counts(hit, name)]
    told = [f"It is at place {case.place} of {_candidates(case)}, with a score of {hit.score:.2f}."]
    told += [f"Most of it comes from {' and '.join(given[:2])}."] if given else []
    told += [_led(hit, case.found.texts)] if hit.hops else [_how_like(likeness)]
    return " ".join(told)


def _counts(hit: Hit, name: str) -> bool:
    return hit.channels[name].gives > 0


def _led(hit: Hit, texts: Mapping[str, str]) -> str:
    over = " and ".join(f"{hop.via or hop.kind} (conf={_confidence(hop.confidence):.2f})" for hop in hit.hops)
    return f"The graph led to it over {over}, from: {shortened(texts.get(hit.path[0], hit.path[0]))}"


def _confidence(said: float | None) -> float:
    return 1.0 if said is None else said


def _hit(case: Case) -> Hit | None:
    return case.found.ranking.hit(case.fact) if case.found.ranking and case.place else None


def _margin(case: Case) -> float:
    """What the fact lacks to the last one that came back."""
    ranking = case.found.ranking
    if ranking is None or case.place is None or case.place <= case.question.k:
        return 0.0
    return float(ranking.total[ranking.order[case.question.k - 1]] - ranking.total[ranking.order[case.place - 1]])


def _activation(case: Case) -> float:
    ranking = case.found.ranking
    if ranking is None or case.place is None or "activation" not in ranking.scores:
        return 0.0
    return float(np.asarray(ranking.scores["activation"])[ranking.order[case.place - 1]])


def _candidates(case: Case) -> int:
    return len(case.found.ranking.ids) if case.found.ranking else 0
