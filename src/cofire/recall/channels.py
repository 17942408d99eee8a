"""First-stage search: built-in and user channels propose candidates; each reports how it went."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cofire.errors import ChannelTimedOut
from cofire.recall.custom_channels import AskCustomChannels, ListCustomChannels
from cofire.recall.plan import RecallPlan
from cofire.recall.query import AnalysedQuery, report_minimal_mode
from cofire.recall.request import RecallRequest
from cofire.results import ChannelReport
from cofire.runtime.effects import Steps
from cofire.runtime.store_proxy import store
from cofire.settings.table import SEMANTIC_CANDIDATES
from cofire.stores.base import CallFailure
from cofire.stores.lazy_ids import merge_ids


@dataclass(frozen=True, slots=True)
class StoreChannel:
    """A name and what it asks the store; None where the question gives it nothing to ask for."""

    name: str
    ask: Callable[[AnalysedQuery, RecallRequest], Steps[Sequence[str]] | None]


@dataclass(frozen=True)
class ChannelProposals:
    """What all channels propose, in their order, how each fared, and the scores that users' own channels gave."""

    proposed: Sequence[str]
    reports: tuple[ChannelReport, ...]
    own: Mapping[str, Mapping[str, float]]
    weights: Mapping[str, float]


def _search_by_meaning(cue: AnalysedQuery, asked: RecallRequest) -> Steps[Sequence[str]] | None:
    if cue.vector is None:
        return None
    return store.search_vectors(cue.vector, asked.headroom, asked.where, asked.settings[SEMANTIC_CANDIDATES])


def _search_by_words(cue: AnalysedQuery, asked: RecallRequest) -> Steps[Sequence[str]] | None:
    return store.search_words(cue.words, asked.headroom, asked.where) if cue.words.words else None


def _search_by_names(cue: AnalysedQuery, asked: RecallRequest) -> Steps[Sequence[str]] | None:
    """The facts about the names of the question are known from reading it."""
    about = {id: strength for name in cue.named for id, strength in name.about.items()}
    best = sorted(about, key=lambda id: (-about[id], id))[: asked.headroom]
    return store.filter_visible(best, asked.where) if best else None


def _search_by_time(cue: AnalysedQuery, asked: RecallRequest) -> Steps[Sequence[str]] | None:
    spans = [(one.start, one.end) for one in cue.times if one.relation == "in"]
    return store.search_times(spans, asked.headroom, asked.where) if spans else None


STORE_CHANNELS = (
    StoreChannel("semantic", _search_by_meaning),
    StoreChannel("keyword", _search_by_words),
    StoreChannel("entity", _search_by_names),
    StoreChannel("temporal", _search_by_time),
)


def ask_channels(cue: AnalysedQuery, asked: RecallRequest, plan: RecallPlan) -> Steps[ChannelProposals]:
    """What the channels propose, all asked at once. A failing one is named; when every one fails, so does the recall."""
    own: Mapping[str, float] = yield ListCustomChannels()
    silent = {**cue.reports, **(report_minimal_mode(own) if plan.mode == "minimal" else {})}
    found = yield from _ask_own_channels([name for name in own if name not in silent], asked)
    asks = {
        one.name: ask for one in STORE_CHANNELS if one.name not in silent and (ask := one.ask(cue, asked)) is not None
    }
    answers = yield from store.together_with_failures(*asks.values())
    fared = {**dict(zip(asks, answers, strict=True)), **found}
    _raise_if_all_failed(fared)
    heard = {name: answer for name, answer in fared.items() if not isinstance(answer, CallFailure)}
    return ChannelProposals(
        merge_ids(heard.values()),
        tuple(_make_report(name, fared, silent) for name in (*(one.name for one in STORE_CHANNELS), *own)),
        {name: heard[name] for name in own if name in heard},
        own,
    )


def _ask_own_channels(names: Sequence[str], asked: RecallRequest) -> Steps[dict[str, Any]]:
    """What channels of a user's own find, the best of those facts that may be seen."""
    if not names:
        return {}
    answers: dict[str, Any] = yield AskCustomChannels(names, asked.text, asked.headroom, asked.where)
    said = sorted({id for answer in answers.values() if not isinstance(answer, CallFailure) for id in answer})
    seen: set[str] = set((yield from store.filter_visible(said, asked.where)) if said else ())
    return {
        name: answer if isinstance(answer, CallFailure) else _keep_best(answer, seen, asked.headroom)
        for name, answer in answers.items()
    }


def _keep_best(scores: Mapping[str, float], seen: set[str], count: int) -> dict[str, float]:
    best = sorted((id for id in scores if id in seen), key=lambda id: (-scores[id], id))[:count]
    return {id: scores[id] for id in best}


def _make_report(name: str, fared: Mapping[str, Any], silent: Mapping[str, ChannelReport]) -> ChannelReport:
    if name in silent:
        return silent[name]
    answer = fared.get(name, ())
    if isinstance(answer, CallFailure):
        status = "timed_out" if isinstance(answer.error, ChannelTimedOut) else "failed"
        return ChannelReport(name, status, note=str(answer.error))
    return ChannelReport(name, "ok" if answer else "empty", heard=len(answer))


def _raise_if_all_failed(fared: Mapping[str, Any]) -> None:
    failures = [answer.error for answer in fared.values() if isinstance(answer, CallFailure)]
    if failures and len(failures) == len(fared):
        raise failures[0]
