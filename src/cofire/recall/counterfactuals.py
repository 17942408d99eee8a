"""Counterfactuals: changed options, filters or links under which a fact would be returned."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import Any, TypeVar, cast

import numpy as np

from cofire.model import Fact, FactFilter
from cofire.recall.query import Query
from cofire.recall.recall import recall
from cofire.recall.request import RecallOptions, RecallRequest, make_request
from cofire.results import AbstentionVerdict, Counterfactual, FilterMismatch, RecallStage, Recollection
from cofire.runtime.effects import Effect, Steps, StoreCall, Together
from cofire.runtime.store_proxy import store
from cofire.settings.knobs import Knob
from cofire.settings.table import (
    ABSTENTION_LEXICAL_THRESHOLD,
    ABSTENTION_RULE,
    ABSTENTION_THRESHOLD,
    ACTIVATION_DYNAMICS,
    GRAPH_ASSIST_ENABLED,
    GRAPH_RECALL_EXPANDED,
    RECALL_HEADROOM,
    SPREADING_ACTIVATION_ENABLED,
    SPREADING_ACTIVATION_TAU_GATE,
    SPREADING_ACTIVATION_TOP_M,
    SYNAPSE_INHIBITION,
    Settings,
)
from cofire.stores.base import LinkExpansion
from cofire.stores.metadata_filter import conditions_to_mapping
from cofire.text.prompt_text import estimate_tokens
from cofire.text.words import STOP_WORDS, extract_words

_MICROSECOND = timedelta(microseconds=1)


def find_refusals(where: FactFilter, fact: Fact, community: int | None) -> tuple[FilterMismatch, ...]:
    """Every filter that the fact does not pass, each looked at alone. `community` is that of the fact."""
    found = [
        FilterMismatch(name, _format_value(asked), _format_value(has))
        for name, (alone, asked, has) in _isolate_filters(where, fact).items()
        if not alone.admits(fact)
    ]
    if where.community is not None and where.community != community:
        found.append(FilterMismatch("community", str(where.community), _format_value(community)))
    return (*found, *_check_validity(where, fact))


def loosen_filters(refused: Collection[FilterMismatch], where: FactFilter, fact: Fact) -> dict[str, Any] | None:
    """What to ask for so that the fact passes, with the least change; None where nothing can be said to that end."""
    changes: dict[str, Any] = {}
    for one in refused:
        change = _loosen_filter(one.filter, where, fact)
        if change is None:
            return None
        changes |= change
    return changes


def _loosen_filter(name: str, where: FactFilter, fact: Fact) -> dict[str, Any] | None:
    several = {
        "scope": (where.scopes or (), fact.scope),
        "category": (where.categories, fact.category),
        "speaker": (where.speakers, fact.speaker),
        "session": (where.sessions, fact.session),
    }
    if name in several:
        asked, own = several[name]
        return {name: sorted({*asked, own}) if own else None}
    if name == "tags":
        return {"tags": sorted(where.tags & set(fact.tags)) or None}
    if name == "where":
        return {"where": conditions_to_mapping(one for one in where.metadata if one.holds(fact.metadata)) or None}
    if name in ("since", "until"):
        return {name: fact.time.isoformat() if fact.time else None}
    if name in ("as_of", "community"):
        return {name: None}
    held = _find_valid_moment(fact)
    return {"as_of": held.isoformat()} if held and name != "archived" else None


def _find_valid_moment(fact: Fact) -> datetime | None:
    """The last moment at which memory knew the fact and it held, or the first where it has no end."""
    ends = [end for end in (fact.valid_until, fact.expires) if end]
    begins = [begin for begin in (fact.stored_at, fact.valid_from) if begin]
    moment = min(ends) - _MICROSECOND if ends else max(begins, default=None)
    return moment if moment is not None and all(begin <= moment for begin in begins) else None


def _isolate_filters(where: FactFilter, fact: Fact) -> Mapping[str, tuple[FactFilter, object, object]]:
    """For each filter one that looks at nothing else, what it asks for, and what the fact has."""
    every = FactFilter(now=where.now, scopes=None, archived=True, whenever=True)
    return {
        "scope": (replace(every, scopes=where.scopes), where.scopes, fact.scope),
        "tags": (replace(every, tags=where.tags), where.tags, fact.tags),
        "category": (replace(every, categories=where.categories), where.categories, fact.category),
        "speaker": (replace(every, speakers=where.speakers), where.speakers, fact.speaker),
        "session": (replace(every, sessions=where.sessions), where.sessions, fact.session),
        "where": (replace(every, metadata=where.metadata), conditions_to_mapping(where.metadata), dict(fact.metadata)),
        "since": (replace(every, since=where.since), where.since, fact.time),
        "until": (replace(every, until=where.until), where.until, fact.time),
        "as_of": (replace(every, as_of=where.as_of), where.as_of, fact.stored_at),
        "archived": (replace(every, archived=where.archived), where.archived, fact.archived),
    }


def _check_validity(where: FactFilter, fact: Fact) -> list[FilterMismatch]:
    if where.whenever:
        return []
    moment = where.as_of or where.now
    found = []
    if fact.valid_from and fact.valid_from > moment:
        found.append(FilterMismatch("valid_from", _format_value(moment), _format_value(fact.valid_from)))
    if fact.valid_until and fact.valid_until <= moment:
        found.append(FilterMismatch("valid_until", _format_value(moment), _format_value(fact.valid_until)))
    if fact.expires and fact.expires <= moment:
        found.append(FilterMismatch("expires", _format_value(moment), _format_value(fact.expires)))
    return found


def _format_value(value: object) -> str:
    """
    >>> _format_value(("b", "a")), _format_value(None), _format_value(())
    ('a, b', 'none', 'none')
    """
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple | frozenset):
        return ", ".join(sorted(value)) or "none"
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False) if value else "none"
    return "none" if value is None else str(value)


T = TypeVar("T")

SUPPOSED_KIND = "supports"


def run_with_link(verb: Steps[T], source: str, target: str) -> Steps[T]:
    """The verb, told whenever it asks where one of the two facts leads that it leads to the other, fully weighted and trusted."""
    step = partial(next, verb)
    while True:
        try:
            ask = step()
        except StopIteration as end:
            found: T = end.value
            return found
        try:
            answer = yield ask
        except Exception as error:  # noqa: BLE001 - handed on to the verb, which decides what it means
            step = partial(verb.throw, error)
            continue
        step = partial(verb.send, _add_link_to_answer(ask, answer, source, target))


def _add_link_to_answer(ask: Effect, answer: Any, source: str, target: str) -> Any:
    """An answer with the link, be it asked for alone or together with other things."""
    if isinstance(ask, Together):
        return [_add_link_to_answer(one, its, source, target) for one, its in zip(ask.calls, answer, strict=True)]
    if not isinstance(ask, StoreCall) or not isinstance(answer, LinkExpansion):
        return answer
    ids = ask.arguments[0]
    return add_link(add_link(answer, ids, source, target), ids, target, source)


def add_link(known: LinkExpansion, asked: Sequence[str], source: str, target: str) -> LinkExpansion:
    """An expansion with one link more, if it tells of the source at all."""
    if source not in asked:
        return known
    told = tuple(known.ids)
    ids = told if target in told else (*told, target)
    start, end = ids.index(source), ids.index(target)
    is_new = not np.any((known.source == start) & (known.target == end))
    degree = known.degree.copy()
    degree[start] += int(is_new)
    return replace(
        known,
        ids=ids,
        source=np.append(known.source, start),
        target=np.append(known.target, end),
        kind=(*known.kind, SUPPOSED_KIND),
        weight=np.append(known.weight, 1.0),
        confidence=np.append(known.confidence, 1.0),
        tags=(*known.tags, frozenset()),
        via=(*known.via, None),
        degree=degree,
    )


MAX_ATTEMPTS = 8
MAX_NUDGES = 3
MAX_K = 1_000
# A remedy that needs so many times the facts asked for comes after the others.
LARGE_K_FACTOR = 3

_TOKEN_PATTERN = re.compile(r"[^\W_]+(?:[./@'’_-][^\W_]+)*")


@dataclass(frozen=True)
class RecallCase:
    """A fact, and all that is known of the recall that was to bring it back."""

    asked: RecallOptions
    settings: Settings
    question: RecallRequest
    fact: Fact
    found: Recollection
    refused: tuple[FilterMismatch, ...]
    cue: Query | None

    @property
    def place(self) -> int | None:
        return self.found.ranking.place(self.fact.id) if self.found.ranking else None

    @property
    def dynamics(self) -> str | None:
        """How activation spread, None where it did not."""
        return self.found.plan.dynamics if self.found.plan else None


@dataclass(frozen=True)
class RemedyAttempt:
    """What is changed: keywords of recall, the question itself, or a link from another fact. Nudges may be added to it or not."""

    asked: Mapping[str, Any] = field(default_factory=dict)
    query: str | None = None
    link: tuple[str, str] | None = None
    nudged: bool = True

    def besides(self, more: Mapping[str, Any]) -> RemedyAttempt:
        return replace(self, asked=merge_options(self.asked, more))

    def __str__(self) -> str:
        settings = self.asked.get("settings", {})
        given = {name: value for name, value in self.asked.items() if name != "settings"}
        said = [f"without {name}" if value is None else f"{name}={value}" for name, value in given.items()]
        said += [f"{name}={value}" for name, value in settings.items()]
        said += [f"ask: {self.query}"] if self.query else []
        said += [f"connect {self.link[0]} {self.link[1]} --kind {SUPPOSED_KIND} --weight 1"] if self.link else []
        return ", ".join(said)


def merge_options(asked: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords of recall with others over them; settings are joined one by one."""
    both = {**asked, **more}
    settings = {**(asked.get("settings") or {}), **(more.get("settings") or {})}
    return {**both, "settings": settings} if settings else both


def setting_to_options(knob: Knob[Any], value: object) -> dict[str, Any]:
    return {"settings": {knob.name: value}}


def find_remedies(case: RecallCase, stage: RecallStage) -> Steps[tuple[tuple[Counterfactual, ...], tuple[str, ...]]]:
    """The changes that bring the fact back, and those that were tried in vain."""
    attempts = yield from _list_attempts(case, stage)
    found: list[Counterfactual] = []
    in_vain: list[str] = []
    for attempt in attempts[:MAX_ATTEMPTS]:
        remedy = yield from try_attempt(case, attempt)
        if remedy is not None:
            found.append(remedy)
        elif str(attempt):
            in_vain.append(str(attempt))
    distinct = {one.change: one for one in found}.values()
    return tuple(sorted(distinct, key=lambda one: one.asked.get("k", 0) > LARGE_K_FACTOR * case.question.k)), tuple(
        in_vain
    )


def try_attempt(case: RecallCase, attempt: RemedyAttempt) -> Steps[Counterfactual | None]:
    """Ask again with a change; where the fact is then held back by k, the budget or the gate alone, with the smallest nudge too."""
    for _ in range(MAX_NUDGES + 1):
        found = yield from _recall_again(case, attempt)
        if case.fact.id in found.ids:
            place = found.ids.index(case.fact.id) + 1
            return Counterfactual(str(attempt), place, attempt.asked, attempt.query, attempt.link)
        nudge = (yield from _find_nudge(case, attempt, found)) if attempt.nudged else None
        if nudge is None:
            return None
        attempt = attempt.besides(nudge)
    return None


def _recall_again(case: RecallCase, attempt: RemedyAttempt) -> Steps[Recollection]:
    asked = cast(RecallOptions, merge_options(case.asked, attempt.asked))
    again = recall(attempt.query or case.question.text, asked, case.settings)
    return (yield from (run_with_link(again, *attempt.link) if attempt.link else again))


def _find_nudge(case: RecallCase, attempt: RemedyAttempt, found: Recollection) -> Steps[dict[str, Any] | None]:
    """The smallest change that takes away what holds the fact back now."""
    asked = _make_changed_request(case, attempt)
    place = found.ranking.place(case.fact.id) if found.ranking else None
    if place is None or found.ranking is None:
        return None
    if found.judgement and not found.judgement.known:
        return lower_threshold(found.judgement, asked.settings, case.cue)
    if place > asked.k:
        return {"k": place} if place <= MAX_K else None
    facts = yield from store.read_facts(found.ranking.best(place))
    return {"budget": sum(estimate_tokens(fact.text + "\n") for fact in facts if fact is not None)}


def _make_changed_request(case: RecallCase, attempt: RemedyAttempt) -> RecallRequest:
    asked = cast(RecallOptions, merge_options(case.asked, attempt.asked))
    return make_request(attempt.query or case.question.text, asked, case.question.where.now, case.settings)


def lower_threshold(judgement: AbstentionVerdict, settings: Settings, cue: Query | None) -> dict[str, Any]:
    """The threshold that the evidence would just have reached; a rule that cannot be lowered so far is switched off."""
    reached = math.floor(judgement.evidence * 1_000) / 1_000 if math.isfinite(judgement.evidence) else -1.0
    if settings[ABSTENTION_RULE] == "gate":
        return setting_to_options(SPREADING_ACTIVATION_TAU_GATE, max(0.0, reached))
    if reached <= 0:
        return setting_to_options(ABSTENTION_RULE, "off")
    return setting_to_options(
        ABSTENTION_THRESHOLD if _is_calibrated(cue, settings) else ABSTENTION_LEXICAL_THRESHOLD, reached
    )


def _is_calibrated(cue: Query | None, settings: Settings) -> bool:
    if cue is None or cue.vector is None or cue.model is None:
        return False
    return bool(settings[ABSTENTION_THRESHOLD]) or cue.model.silent_below is not None


def _list_attempts(case: RecallCase, stage: RecallStage) -> Steps[list[RemedyAttempt]]:
    """What to try, the smallest change first."""
    if stage == "filtered":
        change = loosen_filters(case.refused, case.question.where, case.fact)
        return [] if change is None else [RemedyAttempt(change)]
    if stage == "switched_off":
        return [RemedyAttempt({"mode": "full"})]
    is_candidate = stage in ("silent", "beyond_k", "beyond_budget", "outranked")
    by_word = yield from _list_word_attempts(case)
    found = [
        *([RemedyAttempt()] if is_candidate else []),
        *(RemedyAttempt(change) for change in _list_setting_changes(case, stage)),
        *by_word,
        *_list_link_attempts(case),
    ]
    return [found[0], *(replace(one, nudged=False) for one in found[1:])] if is_candidate else found


def _list_setting_changes(case: RecallCase, stage: RecallStage) -> list[dict[str, Any]]:
    """Settings that may matter at a stage, with a value to try."""
    settings = case.question.settings
    found = _list_channel_switches(case)
    if stage == "not_a_candidate":
        found.append(setting_to_options(RECALL_HEADROOM, RECALL_HEADROOM.high))
    if stage == "beyond_expanded":
        found += [
            setting_to_options(GRAPH_RECALL_EXPANDED, value)
            for value in (4 * settings[GRAPH_RECALL_EXPANDED], GRAPH_RECALL_EXPANDED.high)
        ]
    if stage == "cut_by_inhibition":
        found.append(setting_to_options(SPREADING_ACTIVATION_TOP_M, 4 * settings[SPREADING_ACTIVATION_TOP_M]))
        found += (
            [setting_to_options(SYNAPSE_INHIBITION, 0.0)] if settings[ACTIVATION_DYNAMICS] == "synapse.paper" else []
        )
    if case.dynamics is not None and stage != "beyond_budget":
        found.append(
            setting_to_options(
                ACTIVATION_DYNAMICS,
                "diffusion" if case.dynamics == ACTIVATION_DYNAMICS.default else ACTIVATION_DYNAMICS.default,
            )
        )
    if case.dynamics is not None and stage in ("beyond_k", "outranked"):
        found.append({"settings": {SPREADING_ACTIVATION_ENABLED.name: False, GRAPH_ASSIST_ENABLED.name: False}})
    return found


def _list_channel_switches(case: RecallCase) -> list[dict[str, Any]]:
    """Channels that took no part because somebody said so."""
    if case.found.mode == "minimal":
        return [{"mode": "full"}]
    off = [report.name for report in case.found.channels if report.status == "disabled"]
    knobs = {"activation": SPREADING_ACTIVATION_ENABLED.name}
    return [{"settings": {knobs.get(name, f"{name}.enabled"): True}} for name in off]


def _list_word_attempts(case: RecallCase) -> Steps[list[RemedyAttempt]]:
    """The question with the rarest word of the fact that it lacks."""
    asked = map_word_spellings(case.question.text)
    lacking = {stem: token for stem, token in map_word_spellings(case.fact.text).items() if stem not in asked}
    if not lacking:
        return []
    statistics = yield from store.read_word_statistics(case.question.scopes, tuple(lacking))
    rarest = min(zip(lacking, statistics.holding, strict=True), key=lambda pair: (pair[1], -len(pair[0]), pair[0]))[0]
    return [RemedyAttempt(query=f"{case.question.text} {lacking[rarest]}")]


def map_word_spellings(text: str) -> dict[str, str]:
    """The words that search reads in a text, each as the text first spells it.

    >>> map_word_spellings("The pool is PgBouncer.")
    {'pool': 'pool', 'pgbouncer': 'PgBouncer', 'pg': 'PgBouncer', 'bouncer': 'PgBouncer'}
    """
    found: dict[str, str] = {}
    for token in _TOKEN_PATTERN.findall(text):
        for stem in extract_words(token) if token.casefold() not in STOP_WORDS else ():
            found.setdefault(stem, token)
    return found


def _list_link_attempts(case: RecallCase) -> Sequence[RemedyAttempt]:
    """A link from the best fact that came back, where activation would follow it."""
    if case.dynamics is None:
        return []
    others = (hit for hit in (*case.found.hits, *case.found.guesses) if hit.id != case.fact.id)
    return [
        RemedyAttempt(link=(hit.id, case.fact.id)) for hit in islice(others, 1) if hit.fact.scope == case.fact.scope
    ]
