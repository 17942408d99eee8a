"""Recall: from a question to what memory knows about it. Asks, decides, and waits for nothing itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from cofire.asks import Asking, Now, Read
from cofire.dynamics import fusion
from cofire.model import Fact
from cofire.ranking import ranking
from cofire.recollection import ChannelReport, Heard, Hit, Recollection
from cofire.recall_settings import ACTIVATION, ASSIST, CONFIDENCE_FLOOR, LEAST_SEED, SEEDS
from cofire.settings import Settings
from cofire.stores.base import Evidence
from cofire.verbs.asking import Asked, Question, question
from cofire.verbs.channels import listen
from cofire.verbs.channels import Heard as Proposals
from cofire.verbs.cueing import Cue, read_cue
from cofire.verbs.direct import Numbers, Slate, slate
from cofire.verbs.walk import Step, Walked, again, covered, seeds_of, walk, weigh
from cofire.xray import fit


@dataclass(frozen=True)
class Ranked:
    """Candidates with what each channel heard and gives, and the order that follows. Arrays have a row a candidate."""

    ids: tuple[str, ...]
    order: tuple[int, ...]
    total: Numbers
    scores: Mapping[str, Numbers]
    places: Mapping[str, list[int | None]]
    gives: Mapping[str, Numbers]
    steps: Mapping[str, Step] = field(default_factory=dict)

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
    heard = yield from listen(cue, asked_for)
    evidence: Evidence = yield weigh(list(heard.proposed), cue, asked_for.settings)
    known = slate(evidence, cue, asked_for.settings)
    walked = yield from activate(known, cue, asked_for)
    ranked = rank(walked, cue, asked_for)
    facts: list[Fact | None] = yield Read(ranked.best(asked_for.k))
    hits = cap([ranked.hit(place, fact) for place, fact in enumerate(facts) if fact is not None], asked_for.budget)
    return Recollection(asked_for.text, hits, heard.reports, asked_for.scopes, reason=_reason(hits, ranked, heard.reports))


def activate(known: Slate, cue: Cue, asked: Question) -> Asking[Walked]:
    """What follows from the best by way of the graph, and once more from the best after that."""
    settings, constants = asked.settings, ranking().seeds
    direct = known.direct
    best = fusion.order(direct, known.ids)[: settings[SEEDS]]
    seeds = seeds_of(known, direct, best, softness=constants.warmth, least=settings[LEAST_SEED])
    walked = yield from walk(known, seeds, cue, asked, settings[CONFIDENCE_FLOOR])
    for _ in range(1):
        seeds = again(walked, count=settings[SEEDS], softness=constants.again, least=settings[LEAST_SEED])
        walked = yield from walk(walked.slate, seeds, cue, asked, settings[CONFIDENCE_FLOOR])
    return covered(walked, cue, count=asked.k)


def rank(walked: Walked, cue: Cue, asked: Question) -> Ranked:
    """Add up what every channel gives, and order; of equals the newer comes first."""
    gives = {**walked.slate.gives, "activation": walked.gives}
    total = np.asarray(sum(gives.values()))
    total = np.where(walked.ranked, total, total - 1000)
    zero = [None] * len(total)
    scores = {**walked.slate.scores, "prior": total, "activation": total}
    return Ranked(walked.slate.ids, fusion.order(total, walked.slate.ids), total, scores, {n: zero for n in gives}, gives, walked.steps)


def cap(hits: Sequence[Hit], budget: int | None) -> tuple[Hit, ...]:
    """As many hits as the budget of tokens holds."""
    return tuple(hits) if budget is None else tuple(hits[: fit((hit.text for hit in hits), budget)])


def _reason(hits: Sequence[Hit], ranked: Ranked, reports: Sequence[ChannelReport]) -> str:
    if hits:
        return ""
    if ranked.ids:
        return "The budget is too small for even the best fact."
    if all(report.status == "disabled" for report in reports):
        return "Every channel is switched off."
    return "Nothing stored passes the filters and is like the question."
