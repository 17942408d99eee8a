"""Remedying: what would bring a fact back, found by really asking again with one change after the other, a bounded number of times."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, cast

from cofire.abstention_settings import LEXICAL_THRESHOLD, RULE, THRESHOLD
from cofire.asks import Asking, Read, Statistics
from cofire.model import Fact
from cofire.reading import tokens
from cofire.reading.words import STOP_WORDS, words
from cofire.reasons import Refusal, Remedy, Stage
from cofire.recall_settings import ACTIVATION, ASSIST, DYNAMICS, EXPANDED, INHIBITION, TAU_GATE, TOP_M
from cofire.recollection import Judgement, Recollection
from cofire.settings import HEADROOM, Knob, Settings
from cofire.stores.base import WordStatistics
from cofire.verbs.asking import Asked, Question, question
from cofire.verbs.cueing import Cue
from cofire.verbs.recall import recall
from cofire.verbs.refusing import loosened
from cofire.verbs.supposing import KIND, supposing

MOST_ATTEMPTS = 8
MOST_NUDGES = 3
MOST_K = 1_000
# A remedy that needs so many times the facts asked for comes after the others.
MANY = 3

_TOKEN = re.compile(r"[^\W_]+(?:[./@'’_-][^\W_]+)*")


@dataclass(frozen=True)
class Case:
    """A fact, and all that is known of the recall that was to bring it back."""

    asked: Asked
    settings: Settings
    question: Question
    fact: Fact
    found: Recollection
    refused: tuple[Refusal, ...]
    cue: Cue | None

    @property
    def place(self) -> int | None:
        return self.found.ranking.place(self.fact.id) if self.found.ranking else None

    @property
    def dynamics(self) -> str | None:
        """How activation spread, None where it did not."""
        return self.found.plan.dynamics if self.found.plan else None


@dataclass(frozen=True)
class Attempt:
    """What is changed: keywords of recall, the question itself, or a link from another fact. Nudges may be added to it or not."""

    asked: Mapping[str, Any] = field(default_factory=dict)
    query: str | None = None
    link: tuple[str, str] | None = None
    nudged: bool = True

    def besides(self, more: Mapping[str, Any]) -> Attempt:
        return replace(self, asked=merged(self.asked, more))

    def __str__(self) -> str:
        settings = self.asked.get("settings", {})
        given = {name: value for name, value in self.asked.items() if name != "settings"}
        said = [f"without {name}" if value is None else f"{name}={value}" for name, value in given.items()]
        said += [f"{name}={value}" for name, value in settings.items()]
        said += [f"ask: {self.query}"] if self.query else []
        said += [f"connect {self.link[0]} {self.link[1]} --kind {KIND} --weight 1"] if self.link else []
        return ", ".join(said)


def merged(asked: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords of recall with others over them; settings are joined one by one."""
    both = {**asked, **more}
    settings = {**(asked.get("settings") or {}), **(more.get("settings") or {})}
    return {**both, "settings": settings} if settings else both


def setting(knob: Knob[Any], value: object) -> dict[str, Any]:
    return {"settings": {knob.name: value}}


def remedies(case: Case, stage: Stage) -> Asking[tuple[tuple[Remedy, ...], tuple[str, ...]]]:
    """The changes that bring the fact back, and those that were tried in vain."""
    attempts = yield from _attempts(case, stage)
    found: list[Remedy] = []
    in_vain: list[str] = []
    for attempt in attempts[:MOST_ATTEMPTS]:
        remedy = yield from tried(case, attempt)
        if remedy is not None:
            found.append(remedy)
        elif str(attempt):
            in_vain.append(str(attempt))
    distinct = {one.change: one for one in found}.values()
    return tuple(sorted(distinct, key=lambda one: one.asked.get("k", 0) > MANY * case.question.k)), tuple(in_vain)


def tried(case: Case, attempt: Attempt) -> Asking[Remedy | None]:
    """Ask again with a change; where the fact is then held back by k, the budget or the gate alone, with the smallest nudge too."""
    for _ in range(MOST_NUDGES + 1):
        found = yield from _recalled(case, attempt)
        if case.fact.id in found.ids:
            place = found.ids.index(case.fact.id) + 1
            return Remedy(str(attempt), place, attempt.asked, attempt.query, attempt.link)
        nudge = (yield from _nudge(case, attempt, found)) if attempt.nudged else None
        if nudge is None:
            return None
        attempt = attempt.besides(nudge)
    return None


def _recalled(case: Case, attempt: Attempt) -> Asking[Recollection]:
    asked = cast(Asked, merged(case.asked, attempt.asked))
    again = recall(attempt.query or case.question.text, asked, case.settings)
    return (yield from (supposing(again, *attempt.link) if attempt.link else again))


def _nudge(case: Case, attempt: Attempt, found: Recollection) -> Asking[dict[str, Any] | None]:
    """The smallest change that takes away what holds the fact back now."""
    asked = _asked_for(case, attempt)
    place = found.ranking.place(case.fact.id) if found.ranking else None
    if place is None or found.ranking is None:
        return None
    if found.judgement and not found.judgement.known:
        return lower_gate(found.judgement, asked.settings, case.cue)
    if place > asked.k:
        return {"k": place} if place <= MOST_K else None
    facts: list[Fact | None] = yield Read(found.ranking.best(place))
    return {"budget": sum(tokens.estimate(fact.text + "\n") for fact in facts if fact is not None)}


def _asked_for(case: Case, attempt: Attempt) -> Question:
    asked = cast(Asked, merged(case.asked, attempt.asked))
    return question(attempt.query or case.question.text, asked, case.question.where.now, case.settings)


def lower_gate(judgement: Judgement, settings: Settings, cue: Cue | None) -> dict[str, Any]:
    """The threshold that the evidence would just have reached; a rule that cannot be lowered so far is switched off."""
    reached = math.floor(judgement.evidence * 1_000) / 1_000 if math.isfinite(judgement.evidence) else -1.0
    if settings[RULE] == "gate":
        return setting(TAU_GATE, max(0.0, reached))
    if reached <= 0:
        return setting(RULE, "off")
    return setting(THRESHOLD if _is_calibrated(cue, settings) else LEXICAL_THRESHOLD, reached)


def _is_calibrated(cue: Cue | None, settings: Settings) -> bool:
    if cue is None or cue.vector is None or cue.model is None:
        return False
    return bool(settings[THRESHOLD]) or cue.model.silent_below is not None


def _attempts(case: Case, stage: Stage) -> Asking[list[Attempt]]:
    """What to try, the smallest change first."""
    if stage == "filtered":
        change = loosened(case.refused, case.question.where, case.fact)
        return [] if change is None else [Attempt(change)]
    if stage == "switched_off":
        return [Attempt({"mode": "full"})]
    is_candidate = stage in ("silent", "beyond_k", "beyond_budget", "outranked")
    by_word = yield from _by_word(case)
    found = [
        *([Attempt()] if is_candidate else []),
        *(Attempt(change) for change in _settings(case, stage)),
        *by_word,
        *_by_link(case),
    ]
    return [found[0], *(replace(one, nudged=False) for one in found[1:])] if is_candidate else found


def _settings(case: Case, stage: Stage) -> list[dict[str, Any]]:
    """Settings that may matter at a stage, with a value to try."""
    settings = case.question.settings
    found = _switched_on(case)
    if stage == "not_a_candidate":
        found.append(setting(HEADROOM, HEADROOM.high))
    if stage == "beyond_expanded":
        found += [setting(EXPANDED, value) for value in (4 * settings[EXPANDED], EXPANDED.high)]
    if stage == "cut_by_inhibition":
        found.append(setting(TOP_M, 4 * settings[TOP_M]))
        found += [setting(INHIBITION, 0.0)] if settings[DYNAMICS] == "synapse.paper" else []
    if case.dynamics is not None and stage != "beyond_budget":
        found.append(setting(DYNAMICS, "diffusion" if case.dynamics == DYNAMICS.default else DYNAMICS.default))
    if case.dynamics is not None and stage in ("beyond_k", "outranked"):
        found.append({"settings": {ACTIVATION.name: False, ASSIST.name: False}})
    return found


def _switched_on(case: Case) -> list[dict[str, Any]]:
    """Channels that took no part because somebody said so."""
    if case.found.mode == "minimal":
        return [{"mode": "full"}]
    off = [report.name for report in case.found.channels if report.status == "disabled"]
    knobs = {"activation": ACTIVATION.name}
    return [{"settings": {knobs.get(name, f"{name}.enabled"): True}} for name in off]


def _by_word(case: Case) -> Asking[list[Attempt]]:
    """The question with the rarest word of the fact that it lacks."""
    asked = spelled(case.question.text)
    lacking = {stem: token for stem, token in spelled(case.fact.text).items() if stem not in asked}
    if not lacking:
        return []
    statistics: WordStatistics = yield Statistics(case.question.scopes, tuple(lacking))
    rarest = min(zip(lacking, statistics.holding, strict=True), key=lambda pair: (pair[1], -len(pair[0]), pair[0]))[0]
    return [Attempt(query=f"{case.question.text} {lacking[rarest]}")]


def spelled(text: str) -> dict[str, str]:
    """The words that search reads in a text, each as the text first spells it.

    >>> spelled("The pool is PgBouncer.")
    {'pool': 'pool', 'pgbouncer': 'PgBouncer', 'pg': 'PgBouncer', 'bouncer': 'PgBouncer'}
    """
    found: dict[str, str] = {}
    for token in _TOKEN.findall(text):
        for stem in words(token) if token.casefold() not in STOP_WORDS else ():
            found.setdefault(stem, token)
    return found


def _by_link(case: Case) -> Sequence[Attempt]:
    """A link from the best fact that came back, where activation would follow it."""
    if case.dynamics is None:
        return []
    others = (hit for hit in (*case.found.hits, *case.found.guesses) if hit.id != case.fact.id)
    return [Attempt(link=(hit.id, case.fact.id)) for hit in islice(others, 1) if hit.fact.scope == case.fact.scope]
