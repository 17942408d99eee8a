"""Judging: whether memory has anything to say to a question, by the rule that the settings name."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from cofire.abstention_settings import (
    LEXICAL_THRESHOLD,
    LEXICAL_WEIGHT,
    RARITY_WEIGHT,
    RULE,
    SIZE_PENALTY,
    THRESHOLD,
    UNKNOWN_PENALTY,
)
from cofire.dynamics.abstention import (
    Acquaintance,
    Candidates,
    Weighing,
    best_of_strangers,
    feeling_of_knowing,
    judged,
    surprise,
)
from cofire.dynamics.bm25 import rarity
from cofire.recall_settings import TAU_GATE
from cofire.recollection import Judgement
from cofire.settings import Settings
from cofire.verbs.activating import Activation
from cofire.verbs.asking import Question
from cofire.verbs.cueing import Cue

# Deviations above chance that are never chance, however few facts there are.
LEAST_STANDING = 2.0

# A word that no more facts hold than these names something.
RARELY_HELD = 3

ALWAYS = Judgement(True, math.inf, -math.inf, "")


def judge(active: Activation, cue: Cue, asked: Question) -> Judgement:
    """Known or not, by the rule of the settings. Where there is no candidate, there is nothing to weigh."""
    settings = asked.settings
    if settings[RULE] == "off":
        return ALWAYS
    if not active.slate.ids:
        return Judgement(False, 0.0, settings[LEXICAL_THRESHOLD], "")
    if settings[RULE] == "gate":
        return _gated(active, settings)
    if not cue.words.words and not cue.speakers:
        # A model puts every text somewhere, also signs that say nothing.
        return Judgement(False, 0.0, settings[LEXICAL_THRESHOLD], "The question has no words to go by.")
    weighed = _weighed(active, cue, settings)
    if not weighed.known and not settings[THRESHOLD] and says_it_all(active, cue):
        return replace(weighed, known=True, reason="")
    return weighed


def says_it_all(active: Activation, cue: Cue) -> bool:
    """Whether one fact holds every word of the question, a rare one among them: who asks for a number or a name finds it."""
    holds = active.slate.holds
    return bool(holds.shape[1] and min(cue.holding) <= RARELY_HELD and holds.all(axis=1).any())


def unknown(active: Activation, cue: Cue) -> float:
    """The share of the question's words, speakers among them, that memory never met. What was told since words were last counted
    is met in the candidates."""
    uncounted = [word for word, holding in enumerate(cue.holding) if not holding]
    if not uncounted:
        return 0.0
    holds = active.slate.holds
    never = sum(not holds[:, word].any() for word in uncounted)
    return never / max(1, len(cue.holding) + len(cue.speakers))


def names_acquaintance(cue: Cue) -> bool:
    """Whether the question names one who speaks in memory, or something that facts are about. One word is too little to be sure of
    the thing: an Adam is not the Adam."""
    return bool(cue.speakers) or any(" " in one.name for one in cue.named)


def _weighed(active: Activation, cue: Cue, settings: Settings) -> Judgement:
    """By evidence. Without an embedder words alone decide; with one that nobody calibrated, words or what stands out."""
    threshold = settings[THRESHOLD] or (cue.model.silent_below if cue.model else None)
    by_meaning = cue.vector is not None and threshold is not None
    verdict = judged(
        _candidates(active, cue, by_meaning=by_meaning),
        facts=max(1, cue.facts),
        met=Acquaintance(unknown(active, cue), named=names_acquaintance(cue)),
        weighing=Weighing(
            lexical_weight=settings[LEXICAL_WEIGHT],
            rarity_weight=settings[RARITY_WEIGHT],
            size_penalty=settings[SIZE_PENALTY],
            unknown_penalty=settings[UNKNOWN_PENALTY],
            threshold=threshold or 0.0,
            lexical_threshold=settings[LEXICAL_THRESHOLD],
        ),
    )
    if threshold is None and not verdict.known:
        standing = float(np.max(active.slate.scores["semantic"], initial=0.0, where=active.slate.meant))
        least = max(LEAST_STANDING, best_of_strangers(cue.facts))
        if standing >= least:
            return Judgement(True, standing, least, "")
    return Judgement(verdict.known, verdict.evidence, verdict.threshold, verdict.reason)


def _candidates(active: Activation, cue: Cue, *, by_meaning: bool) -> Candidates:
    """What there is to weigh. A word said twice is no rarer for it, so that the words' weights will not do."""
    slate, rarities = active.slate, [rarity(cue.facts, held) for held in cue.holding]
    return Candidates(slate.raw if by_meaning else None, slate.scores["keyword"], surprise(slate.holds, rarities))


def _gated(active: Activation, settings: Settings) -> Judgement:
    """The documented gate: the strongest activation must reach tau (000)."""
    strongest, tau = float(np.max(active.scores, initial=0.0)), settings[TAU_GATE]
    if feeling_of_knowing(strongest, tau=tau):
        return Judgement(True, strongest, tau, "")
    return Judgement(False, strongest, tau, f"The strongest activation is {strongest:.3f}, below the gate at {tau:g}.")
