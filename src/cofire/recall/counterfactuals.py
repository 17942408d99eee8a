"""Counterfactuals: changed options, filters or links under which a fact would be returned."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
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
    """Every filter that the fact does not pass, each checked alone. `community` is the fact's community."""
    mismatches = [
        FilterMismatch(name, _format_value(asked), _format_value(has))
        for name, (alone, asked, has) in _isolate_filters(where, fact).items()
        if not alone.admits(fact)
    ]
    if where.community is not None and where.community != community:
        mismatches.append(FilterMismatch("community", str(where.community), _format_value(community)))
    return (*mismatches, *_check_validity(where, fact))


def loosen_filters(refusals: Collection[FilterMismatch], where: FactFilter, fact: Fact) -> dict[str, Any] | None:
    """The smallest change of filter arguments that lets the fact pass; None if no arguments can."""
    changes: dict[str, Any] = {}
    for refusal in refusals:
        change = _loosen_filter(refusal.filter, where, fact)
        if change is None:
            return None
        changes |= change
    return changes


def _loosen_filter(name: str, where: FactFilter, fact: Fact) -> dict[str, Any] | None:
    value_filters = {
        "scope": (where.scopes or (), fact.scope),
        "category": (where.categories, fact.category),
        "speaker": (where.speakers, fact.speaker),
        "session": (where.sessions, fact.session),
    }
    if name in value_filters:
        allowed_values, fact_value = value_filters[name]
        return {name: sorted({*allowed_values, fact_value}) if fact_value else None}
    if name == "tags":
        return {"tags": sorted(where.tags & set(fact.tags)) or None}
    if name == "where":
        holding = (condition for condition in where.metadata if condition.holds(fact.metadata))
        return {"where": conditions_to_mapping(holding) or None}
    if name in ("since", "until"):
        return {name: fact.time.isoformat() if fact.time else None}
    if name in ("as_of", "community"):
        return {name: None}
    moment = _find_valid_moment(fact)
    return {"as_of": moment.isoformat()} if moment and name != "archived" else None


def _find_valid_moment(fact: Fact) -> datetime | None:
    """The last moment at which the fact was stored and valid, or the first if its validity has no end."""
    ends = [end for end in (fact.valid_until, fact.expires) if end]
    begins = [begin for begin in (fact.stored_at, fact.valid_from) if begin]
    moment = min(ends) - _MICROSECOND if ends else max(begins, default=None)
    if moment is None or any(begin > moment for begin in begins):
        return None
    return moment


def _isolate_filters(where: FactFilter, fact: Fact) -> Mapping[str, tuple[FactFilter, object, object]]:
    """For each argument: a filter of this argument alone, its value, and the value of the fact."""
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
    mismatches = []
    if fact.valid_from and fact.valid_from > moment:
        mismatches.append(FilterMismatch("valid_from", _format_value(moment), _format_value(fact.valid_from)))
    if fact.valid_until and fact.valid_until <= moment:
        mismatches.append(FilterMismatch("valid_until", _format_value(moment), _format_value(fact.valid_until)))
    if fact.expires and fact.expires <= moment:
        mismatches.append(FilterMismatch("expires", _format_value(moment), _format_value(fact.expires)))
    return mismatches


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
    """Run a verb as if an edge of weight and confidence 1 joined two facts: the store's answers about links include it."""
    step = partial(next, verb)
    while True:
        try:
            effect = step()
        except StopIteration as end:
            result: T = end.value
            return result
        try:
            answer = yield effect
        except Exception as error:  # noqa: BLE001 - passed on to the verb, which handles it
            step = partial(verb.throw, error)
            continue
        step = partial(verb.send, _add_link_to_answer(effect, answer, source, target))


def _add_link_to_answer(effect: Effect, answer: Any, source: str, target: str) -> Any:
    """The answer to an effect with the link added to every link expansion."""
    if isinstance(effect, Together):
        return [
            _add_link_to_answer(call, call_answer, source, target)
            for call, call_answer in zip(effect.calls, answer, strict=True)
        ]
    if not isinstance(effect, StoreCall) or not isinstance(answer, LinkExpansion):
        return answer
    expanded_ids = effect.arguments[0]
    forward = add_link(answer, expanded_ids, source, target)
    return add_link(forward, expanded_ids, target, source)


def add_link(expansion: LinkExpansion, expanded_ids: Sequence[str], source: str, target: str) -> LinkExpansion:
    """An expansion with one more link, if the source is among the expanded facts."""
    if source not in expanded_ids:
        return expansion
    ids = tuple(expansion.ids)
    if target not in ids:
        ids = (*ids, target)
    start, end = ids.index(source), ids.index(target)
    is_new = not np.any((expansion.source == start) & (expansion.target == end))
    degree = expansion.degree.copy()
    degree[start] += int(is_new)
    return replace(
        expansion,
        ids=ids,
        source=np.append(expansion.source, start),
        target=np.append(expansion.target, end),
        kind=(*expansion.kind, SUPPOSED_KIND),
        weight=np.append(expansion.weight, 1.0),
        confidence=np.append(expansion.confidence, 1.0),
        tags=(*expansion.tags, frozenset()),
        via=(*expansion.via, None),
        degree=degree,
    )


MAX_ATTEMPTS = 8
MAX_NUDGES = 3
MAX_K = 1_000
# A remedy that needs a k larger than the requested one by this factor comes after the others.
LARGE_K_FACTOR = 3

_TOKEN_PATTERN = re.compile(r"[^\W_]+(?:[./@'’_-][^\W_]+)*")


@dataclass(frozen=True)
class RecallCase:
    """A fact, and the recall that is examined for it. `query` is None in mode no_recall."""

    options: RecallOptions
    settings: Settings
    request: RecallRequest
    fact: Fact
    recollection: Recollection
    refusals: tuple[FilterMismatch, ...]
    query: Query | None

    @property
    def place(self) -> int | None:
        ranking = self.recollection.ranking
        return ranking.place(self.fact.id) if ranking else None

    @property
    def dynamics(self) -> str | None:
        """The dynamics of activation; None if activation did not run."""
        plan = self.recollection.plan
        return plan.dynamics if plan else None


@dataclass(frozen=True)
class RemedyAttempt:
    """A change to try: keyword arguments of recall, another question, or a link from another fact.

    With `may_nudge`, k, the budget or the threshold may be changed further if the change is not enough.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    query: str | None = None
    link: tuple[str, str] | None = None
    may_nudge: bool = True

    def __str__(self) -> str:
        parts = []
        for name, value in self.options.items():
            if name != "settings":
                parts.append(f"without {name}" if value is None else f"{name}={value}")
        for name, value in self.options.get("settings", {}).items():
            parts.append(f"{name}={value}")
        if self.query:
            parts.append(f"ask: {self.query}")
        if self.link:
            source, target = self.link
            parts.append(f"connect {source} {target} --kind {SUPPOSED_KIND} --weight 1")
        return ", ".join(parts)


def merge_options(options: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments of recall, overridden by others. Settings are merged by name."""
    merged = {**options, **overrides}
    settings = {**(options.get("settings") or {}), **(overrides.get("settings") or {})}
    if settings:
        merged["settings"] = settings
    return merged


def setting_to_options(knob: Knob[Any], value: object) -> dict[str, Any]:
    return {"settings": {knob.name: value}}


def find_remedies(case: RecallCase, stage: RecallStage) -> Steps[tuple[tuple[Counterfactual, ...], tuple[str, ...]]]:
    """The changes that bring the fact back, and the changes that do not."""
    attempts = yield from _list_attempts(case, stage)
    remedies: dict[str, Counterfactual] = {}
    in_vain: list[str] = []
    for attempt in attempts[:MAX_ATTEMPTS]:
        remedy = yield from try_attempt(case, attempt)
        if remedy is not None:
            remedies[remedy.change] = remedy
        elif str(attempt):
            in_vain.append(str(attempt))
    large_k = LARGE_K_FACTOR * case.request.k
    large_k_last = sorted(remedies.values(), key=lambda remedy: remedy.asked.get("k", 0) > large_k)
    return tuple(large_k_last), tuple(in_vain)


def try_attempt(case: RecallCase, attempt: RemedyAttempt) -> Steps[Counterfactual | None]:
    """Repeat the recall with a change.

    If only k, the budget or the threshold then keeps the fact out, the smallest sufficient change of it is added.
    """
    for _ in range(MAX_NUDGES + 1):
        recollection = yield from _recall_again(case, attempt)
        if case.fact.id in recollection.ids:
            place = recollection.ids.index(case.fact.id) + 1
            return Counterfactual(str(attempt), place, attempt.options, attempt.query, attempt.link)
        if not attempt.may_nudge:
            return None
        nudge = yield from _find_nudge(case, attempt, recollection)
        if nudge is None:
            return None
        attempt = replace(attempt, options=merge_options(attempt.options, nudge))
    return None


def _recall_again(case: RecallCase, attempt: RemedyAttempt) -> Steps[Recollection]:
    options = cast(RecallOptions, merge_options(case.options, attempt.options))
    steps = recall(attempt.query or case.request.text, options, case.settings)
    if attempt.link:
        steps = run_with_link(steps, *attempt.link)
    return (yield from steps)


def _find_nudge(case: RecallCase, attempt: RemedyAttempt, recollection: Recollection) -> Steps[dict[str, Any] | None]:
    """The smallest change of the threshold, k or the budget that lets the fact pass; None if it is no candidate."""
    request = _make_changed_request(case, attempt)
    ranking = recollection.ranking
    place = ranking.place(case.fact.id) if ranking else None
    if place is None or ranking is None:
        return None
    verdict = recollection.judgement
    if verdict and not verdict.known:
        return lower_threshold(verdict, request.settings, case.query)
    if place > request.k:
        return {"k": place} if place <= MAX_K else None
    facts = yield from store.read_facts(ranking.best(place))
    return {"budget": sum(estimate_tokens(fact.text + "\n") for fact in facts if fact is not None)}


def _make_changed_request(case: RecallCase, attempt: RemedyAttempt) -> RecallRequest:
    options = cast(RecallOptions, merge_options(case.options, attempt.options))
    return make_request(attempt.query or case.request.text, options, case.request.where.now, case.settings)


def lower_threshold(verdict: AbstentionVerdict, settings: Settings, query: Query | None) -> dict[str, Any]:
    """The threshold that the evidence just reaches. A rule whose threshold cannot be that low is switched off."""
    reached = -1.0
    if math.isfinite(verdict.evidence):
        reached = math.floor(verdict.evidence * 1_000) / 1_000
    if settings[ABSTENTION_RULE] == "gate":
        return setting_to_options(SPREADING_ACTIVATION_TAU_GATE, max(0.0, reached))
    if reached <= 0:
        return setting_to_options(ABSTENTION_RULE, "off")
    threshold = ABSTENTION_THRESHOLD if _is_calibrated(query, settings) else ABSTENTION_LEXICAL_THRESHOLD
    return setting_to_options(threshold, reached)


def _is_calibrated(query: Query | None, settings: Settings) -> bool:
    if query is None or query.vector is None or query.model is None:
        return False
    return bool(settings[ABSTENTION_THRESHOLD]) or query.model.silent_below is not None


def _list_attempts(case: RecallCase, stage: RecallStage) -> Steps[list[RemedyAttempt]]:
    """The changes to try, the smallest first. Only the first one of a candidate may be nudged."""
    if stage == "filtered":
        change = loosen_filters(case.refusals, case.request.where, case.fact)
        return [] if change is None else [RemedyAttempt(change)]
    if stage == "switched_off":
        return [RemedyAttempt({"mode": "full"})]
    attempts = [RemedyAttempt(change) for change in _list_setting_changes(case, stage)]
    attempts += yield from _list_word_attempts(case)
    attempts += _list_link_attempts(case)
    if stage in ("silent", "beyond_k", "beyond_budget", "outranked"):
        return [RemedyAttempt(), *(replace(attempt, may_nudge=False) for attempt in attempts)]
    return attempts


def _list_setting_changes(case: RecallCase, stage: RecallStage) -> list[dict[str, Any]]:
    """Settings that can remove a fact at this stage, with a value to try."""
    settings = case.request.settings
    changes = _list_channel_switches(case)
    if stage == "not_a_candidate":
        changes.append(setting_to_options(RECALL_HEADROOM, RECALL_HEADROOM.high))
    if stage == "beyond_expanded":
        for limit in (4 * settings[GRAPH_RECALL_EXPANDED], GRAPH_RECALL_EXPANDED.high):
            changes.append(setting_to_options(GRAPH_RECALL_EXPANDED, limit))
    if stage == "cut_by_inhibition":
        top_m = 4 * settings[SPREADING_ACTIVATION_TOP_M]
        changes.append(setting_to_options(SPREADING_ACTIVATION_TOP_M, top_m))
        if settings[ACTIVATION_DYNAMICS] == "synapse.paper":
            changes.append(setting_to_options(SYNAPSE_INHIBITION, 0.0))
    if case.dynamics is not None and stage != "beyond_budget":
        default = ACTIVATION_DYNAMICS.default
        other_dynamics = "diffusion" if case.dynamics == default else default
        changes.append(setting_to_options(ACTIVATION_DYNAMICS, other_dynamics))
    if case.dynamics is not None and stage in ("beyond_k", "outranked"):
        changes.append({"settings": {SPREADING_ACTIVATION_ENABLED.name: False, GRAPH_ASSIST_ENABLED.name: False}})
    return changes


def _list_channel_switches(case: RecallCase) -> list[dict[str, Any]]:
    """Changes that switch disabled channels on, one each."""
    if case.recollection.mode == "minimal":
        return [{"mode": "full"}]
    switches = {"activation": SPREADING_ACTIVATION_ENABLED.name}
    disabled = [report.name for report in case.recollection.channels if report.status == "disabled"]
    return [{"settings": {switches.get(name, f"{name}.enabled"): True}} for name in disabled]


def _list_word_attempts(case: RecallCase) -> Steps[list[RemedyAttempt]]:
    """The question with the rarest word of the fact that the question lacks."""
    question_words = map_word_spellings(case.request.text)
    fact_words = map_word_spellings(case.fact.text)
    missing_words = {word: spelling for word, spelling in fact_words.items() if word not in question_words}
    if not missing_words:
        return []
    statistics = yield from store.read_word_statistics(case.request.scopes, tuple(missing_words))
    fact_counts = dict(zip(missing_words, statistics.holding, strict=True))
    rarest = min(missing_words, key=lambda word: (fact_counts[word], -len(word), word))
    return [RemedyAttempt(query=f"{case.request.text} {missing_words[rarest]}")]


def map_word_spellings(text: str) -> dict[str, str]:
    """The indexed words of a text, each with the spelling of its first occurrence.

    >>> map_word_spellings("The pool is PgBouncer.")
    {'pool': 'pool', 'pgbouncer': 'PgBouncer', 'pg': 'PgBouncer', 'bouncer': 'PgBouncer'}
    """
    spellings: dict[str, str] = {}
    for token in _TOKEN_PATTERN.findall(text):
        if token.casefold() in STOP_WORDS:
            continue
        for word in extract_words(token):
            spellings.setdefault(word, token)
    return spellings


def _list_link_attempts(case: RecallCase) -> list[RemedyAttempt]:
    """A link from the best other result, if activation ran and both facts are in one scope."""
    if case.dynamics is None:
        return []
    results = (*case.recollection.hits, *case.recollection.guesses)
    best = next((hit for hit in results if hit.id != case.fact.id), None)
    if best is None or best.fact.scope != case.fact.scope:
        return []
    return [RemedyAttempt(link=(best.id, case.fact.id))]
