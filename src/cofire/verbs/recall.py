"""Recall: from a question to what memory knows about it. Asks, decides, and waits for nothing itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.asks import (
    Ask,
    Asking,
    Embed,
    Failure,
    Matching,
    Nearest,
    Now,
    Read,
    Statistics,
    Together,
    Weigh,
    WhichModel,
)
from cofire.dynamics import bm25, fusion, likeness
from cofire.embedders.base import StoredModel, Vectors
from cofire.errors import EmbedderError
from cofire.model import Fact
from cofire.reading import words
from cofire.recollection import ChannelReport, Heard, Hit, Recollection
from cofire.settings import (
    CANDIDATES,
    FADING,
    FUSION,
    HINT_WEIGHT,
    KEYWORD,
    KEYWORD_WEIGHT,
    METRIC,
    RRF_K,
    SEMANTIC,
    SEMANTIC_WEIGHT,
    Knob,
    Settings,
)
from cofire.stores.base import Evidence, WordCue, WordStatistics
from cofire.verbs.asking import Asked, Question, question
from cofire.verbs.cueing import word_cue
from cofire.verbs.model_of_store import refuse_other, stored_model
from cofire.xray import fit

WEIGHTS: Mapping[str, Knob[float]] = {"semantic": SEMANTIC_WEIGHT, "keyword": KEYWORD_WEIGHT}
LEAST_SAMPLE = 8
MOST_PICKED = 50


@dataclass(frozen=True)
class Cue:
    """The question as the channels hear it. A part that is missing comes with the report that says why."""

    words: WordCue
    vector: Vectors | None
    model: StoredModel | None
    sample: Vectors
    reports: Mapping[str, ChannelReport]


Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Ranked:
    """Candidates with what each channel heard and gives, and the order that follows. Arrays have a row a candidate."""

    ids: tuple[str, ...]
    order: tuple[int, ...]
    total: Numbers
    scores: Mapping[str, Numbers]
    places: Mapping[str, list[int | None]]
    gives: Mapping[str, Numbers]

    def best(self, k: int) -> list[str]:
        return [self.ids[row] for row in self.order[:k]]

    def hit(self, place: int, fact: Fact) -> Hit:
        """The hit at a place of the order."""
        row = self.order[place]
        heard = {
            name: Heard(self.places[name][row], float(self.scores[name][row]), float(self.gives[name][row]))
            for name in self.gives
        }
        return Hit(fact, float(self.total[row]), heard)


def recall(text: object, asked: Asked, settings: Settings) -> Asking[Recollection]:
    """The whole way of a question, each line a stage."""
    now = yield Now()
    asked_for = question(text, asked, now, settings)
    if asked_for.mode == "no_recall":
        return Recollection(
            asked_for.text, (), (), asked_for.scopes, reason="Recall was switched off by mode no_recall."
        )
    cue = yield from read_cue(asked_for)
    proposed, reports = yield from listen(cue, asked_for)
    evidence: Evidence = yield Weigh(proposed, cue.words.words)
    ranked = rank(evidence, cue, asked_for)
    facts: list[Fact | None] = yield Read(ranked.best(asked_for.k))
    hits = cap([ranked.hit(place, fact) for place, fact in enumerate(facts) if fact is not None], asked_for.budget)
    return Recollection(asked_for.text, hits, reports, asked_for.scopes, reason=_reason(hits, ranked, reports))


def read_cue(asked: Question) -> Asking[Cue]:
    """Words with their weights, and the vector, of a question."""
    often = words.counts(asked.text)
    statistics: WordStatistics = yield Statistics(asked.scopes, tuple(often))
    vector, model, silence = yield from _vector(asked)
    reports = {name: report for name, report in (("semantic", silence), ("keyword", _keyword_silence(asked))) if report}
    cue = word_cue(often, statistics, asked.settings, hint_weight=asked.settings[HINT_WEIGHT])
    return Cue(cue, vector, model, statistics.sample, reports)


def listen(cue: Cue, asked: Question) -> Asking[tuple[list[str], tuple[ChannelReport, ...]]]:
    """What the channels propose, all asked at once, and how each fared. When every channel fails, so does the recall."""
    asks: dict[str, Ask] = {}
    if "semantic" not in cue.reports and cue.vector is not None:
        asks["semantic"] = Nearest(cue.vector, asked.headroom, asked.where, asked.settings[CANDIDATES])
    if "keyword" not in cue.reports:
        asks["keyword"] = Matching(cue.words, asked.headroom, asked.where)
    answers: Sequence[Any] = yield Together(list(asks.values()))
    heard = dict(zip(asks, answers, strict=True))
    reports = {**cue.reports, **{name: _report(name, answer) for name, answer in heard.items()}}
    _raise_if_all_failed(heard)
    proposed = dict.fromkeys(id for answer in heard.values() if not isinstance(answer, Failure) for id in answer)
    return list(proposed), tuple(reports[name] for name in WEIGHTS)


def rank(evidence: Evidence, cue: Cue, asked: Question) -> Ranked:
    """Score the candidates by every channel, fuse, and order; of equals the newer comes first."""
    settings = asked.settings
    scores = {"semantic": semantic_scores(evidence, cue, settings), "keyword": keyword_scores(evidence, cue)}
    heard = {"semantic": evidence.embedded & (cue.vector is not None), "keyword": scores["keyword"] > 0}
    on = [name for name in WEIGHTS if name not in cue.reports]
    places = {name: fusion.ranks(scores[name], heard[name], evidence.ids) for name in on}
    gives = {name: _gives(scores[name], heard[name], places[name], name, settings) for name in on}
    total = fusion.fused(gives) if gives else np.zeros(len(evidence.ids))
    if settings[FADING] and settings[FUSION] == "calibrated" and {"semantic", "keyword"} <= set(gives):
        faded = fade(evidence, cue, total, asked)
        gives["keyword"] = gives["keyword"] + faded - total
        total = faded
    return Ranked(evidence.ids, fusion.order(total, evidence.ids), total, scores, places, gives)


def fade(evidence: Evidence, cue: Cue, total: Numbers, asked: Question) -> Numbers:
    """The scores when each fact counts for what it adds to the words of those before it."""
    weights = np.asarray(cue.words.weights)
    if weights.sum() <= 0:
        return total
    weights = asked.settings[KEYWORD_WEIGHT] * weights / weights.sum()
    saturated = keyword_saturation(evidence, cue)
    rest = total - saturated @ weights
    count = min(asked.k, MOST_PICKED)
    return fusion.picked(saturated, weights, rest, evidence.ids, count=count, fading=asked.settings[FADING])


def semantic_scores(evidence: Evidence, cue: Cue, settings: Settings) -> Numbers:
    """How far each candidate's likeness to the question stands out from chance."""
    if cue.vector is None or cue.model is None:
        return np.zeros(len(evidence.ids))
    asked = likeness.centred(cue.vector, cue.model.mean)
    near = likeness.centred_cosines(evidence.vectors, asked, cue.model.mean)
    chance = likeness.centred_cosines(cue.sample, asked, cue.model.mean)
    if settings[METRIC] == "fisher_rao":
        near, chance = likeness.geodesic(near), likeness.geodesic(chance)
    return likeness.standing_out(near, chance, resting=cue.model.resting, least=LEAST_SAMPLE)


def keyword_scores(evidence: Evidence, cue: Cue) -> Numbers:
    """The share of the question's words that each candidate answers."""
    return bm25.share(keyword_saturation(evidence, cue), cue.words.weights)


def keyword_saturation(evidence: Evidence, cue: Cue) -> Numbers:
    """How well each candidate answers each word, from 0 to 1."""
    asked = cue.words
    resisting = bm25.resistance(
        evidence.lengths.astype(np.float64), k1=asked.k1, b=asked.b, mean_length=asked.mean_length
    )
    counts = (evidence.counts + asked.hint_weight * evidence.hints).astype(np.float64)
    return bm25.saturation(counts, resisting[:, None])


def cap(hits: Sequence[Hit], budget: int | None) -> tuple[Hit, ...]:
    """As many hits as the budget of tokens holds."""
    return tuple(hits) if budget is None else tuple(hits[: fit((hit.text for hit in hits), budget)])


def _vector(asked: Question) -> Asking[tuple[Vectors | None, StoredModel | None, ChannelReport | None]]:
    if not asked.settings[SEMANTIC] or asked.mode == "minimal":
        return None, None, ChannelReport("semantic", "disabled")
    resident = yield WhichModel()
    if resident is None:
        return None, None, ChannelReport("semantic", "no_embedder", note="only words were searched")
    model = yield from stored_model()
    if model is None:
        return None, None, ChannelReport("semantic", "empty", note="no fact has a vector yet")
    refuse_other(model.model, resident.model)
    try:
        vectors: Vectors = yield Embed([asked.text], "question")
    except EmbedderError as error:
        if not asked.settings[KEYWORD]:
            raise
        return None, None, ChannelReport("semantic", "failed", note=str(error))
    return vectors[0], model, None


def _keyword_silence(asked: Question) -> ChannelReport | None:
    return None if asked.settings[KEYWORD] else ChannelReport("keyword", "disabled")


def _report(name: str, answer: Any) -> ChannelReport:
    if isinstance(answer, Failure):
        return ChannelReport(name, "failed", note=str(answer.error))
    return ChannelReport(name, "ok" if answer else "empty", heard=len(answer))


def _raise_if_all_failed(heard: Mapping[str, Any]) -> None:
    failures = [answer.error for answer in heard.values() if isinstance(answer, Failure)]
    if failures and len(failures) == len(heard):
        raise failures[0]


def _gives(scores: Any, heard: Any, places: Any, name: str, settings: Settings) -> Any:
    weight = settings[WEIGHTS[name]]
    if settings[FUSION] == "rrf":
        return fusion.reciprocal(places, weight=weight, k=settings[RRF_K])
    return fusion.calibrated(scores, heard, weight=weight)


def _reason(hits: Sequence[Hit], ranked: Ranked, reports: Sequence[ChannelReport]) -> str:
    if hits:
        return ""
    if ranked.ids:
        return "The budget is too small for even the best fact."
    if all(report.status == "disabled" for report in reports):
        return "Every channel is switched off."
    return "Nothing stored passes the filters and is like the question."
