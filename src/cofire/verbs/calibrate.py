"""Calibrate: from questions that memory can answer to the evidence below which it is silent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from cofire.abstention_settings import RULE, THRESHOLD
from cofire.asks import Asking, Emit, Statistics, WhichModel
from cofire.dynamics.abstention import quantile_threshold
from cofire.embedders.base import Resident
from cofire.errors import EmbedderUnavailable, InvalidInput, InvalidQuestion, NotFound
from cofire.recollection import Recollection
from cofire.settings import Settings
from cofire.stores.base import WordStatistics
from cofire.verbs.asking import Names, scopes_of
from cofire.verbs.configuring import configure
from cofire.verbs.model_of_store import stored_model
from cofire.verbs.recall import recall
from cofire.verbs.remember import Progress

# One in a hundred of two hundred questions are two: with fewer, chance decides. With less than twenty it does so alone.
ENOUGH, FEWEST = 200, 20
QUANTILES = {"least": 0.0, "1%": 0.01, "5%": 0.05, "median": 0.5, "95%": 0.95, "most": 1.0}

# Any threshold makes the rule weigh evidence, also for a model that nobody calibrated.
_WEIGHED = {RULE.name: "evidence", THRESHOLD.name: 1.0}


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The threshold that follows from questions which memory can answer, and how their evidence is spread.

    `before` is what held until now, None where words alone decided; `silent` counts the questions that stay below the threshold,
    `kept` tells whether the store keeps it. `warnings` say what to mistrust.
    """

    threshold: float
    before: float | None
    questions: int
    silent: int
    evidence: Mapping[str, float]
    kept: bool
    warnings: tuple[str, ...]


def calibrate(
    questions: Iterable[str], scope: Names, false_silence: float, dry_run: bool, settings: Settings
) -> Asking[Calibrated]:
    """Ask them all, and keep the highest threshold under which at most this share of them falls silent."""
    asked, share = _questions(questions), _share(false_silence)
    before = yield from _threshold_before(scope, settings)
    found = yield from _evidence(asked, scope, settings)
    threshold = _writable(quantile_threshold(found, false_silence=share))
    if not dry_run:
        yield from configure(THRESHOLD.name, threshold)
    return Calibrated(
        threshold=threshold,
        before=before,
        questions=len(found),
        silent=sum(one < threshold for one in found),
        evidence={name: round(float(np.quantile(found, at)), 4) for name, at in QUANTILES.items()},
        kept=not dry_run,
        warnings=tuple(_warnings(len(found), settings)),
    )


def _questions(given: object) -> list[str]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidQuestion("Questions are a list of texts.", way_out="Give at least 200 that memory can answer.")
    asked = list(given)
    if len(asked) < FEWEST:
        raise InvalidQuestion(
            f"A threshold needs at least {FEWEST} questions, not {len(asked)}.",
            way_out=f"Give {ENOUGH} or more, all of which memory can answer.",
        )
    return asked


def _share(given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 0.5:
        raise InvalidInput(
            f"A share of {given!r} cannot fall silent.", way_out="Give a number from 0 to 0.5, as in 0.01."
        )
    return float(given)


def _threshold_before(scope: Names, settings: Settings) -> Asking[float | None]:
    """What holds until now. Refuses a memory that cannot be calibrated."""
    resident: Resident | None = yield WhichModel()
    if resident is None:
        raise EmbedderUnavailable(
            "There is no embedder, and without one words alone decide: there is no evidence to calibrate.",
            way_out="Set one with: cofire config set embedder.name bundled",
        )
    scopes = scopes_of(scope)
    statistics: WordStatistics = yield Statistics(scopes, ())
    model = yield from stored_model()
    if not statistics.facts or model is None:
        raise NotFound(
            f"There is no fact in {', '.join(scopes)} to ask about.",
            way_out="Remember some first, or name their scope.",
        )
    return settings[THRESHOLD] or model.silent_as(resident).silent_below


def _evidence(asked: list[str], scope: Names, settings: Settings) -> Asking[list[float]]:
    found = []
    for done, text in enumerate(asked, start=1):
        answer: Recollection = yield from recall(text, {"scope": scope, "k": 1, "settings": _WEIGHED}, settings)
        found.append(answer.judgement.evidence if answer.judgement else 0.0)
        yield Emit(Progress("calibrate", done, len(asked)))
    return found


def _writable(threshold: float) -> float:
    """Down to four places, so that what reached it still does; 0 would mean the model's own.

    >>> _writable(0.61239), _writable(-0.2)
    (0.6123, 0.0001)
    """
    return max(0.0001, math.floor(threshold * 10_000) / 10_000)


def _warnings(questions: int, settings: Settings) -> Iterable[str]:
    if questions < ENOUGH:
        yield f"{questions} questions are few: another sample may give quite another threshold. Give {ENOUGH} or more."
    if settings[RULE] != "evidence":
        yield f"The rule in force, {RULE.name} = {settings[RULE]}, does not look at the threshold."
