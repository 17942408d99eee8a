"""First-stage search: built-in and user channels propose candidates; each reports how it went."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cofire.errors import ChannelTimedOut
from cofire.recall.custom_channels import AskCustomChannels, ListCustomChannels
from cofire.recall.plan import RecallPlan
from cofire.recall.query import Query, report_minimal_mode
from cofire.recall.request import RecallRequest
from cofire.results import ChannelReport
from cofire.runtime.effects import Steps
from cofire.runtime.store_proxy import store
from cofire.settings.table import SEMANTIC_CANDIDATES
from cofire.stores.base import CallFailure
from cofire.stores.lazy_ids import merge_ids


@dataclass(frozen=True, slots=True)
class StoreChannel:
    """A built-in channel: its name and its search, None if the question gives it nothing to search for."""

    name: str
    search: Callable[[Query, RecallRequest], Steps[Sequence[str]] | None]


@dataclass(frozen=True)
class ChannelProposals:
    """The ids that all channels propose and a report of each channel.

    `custom_scores` are the scores of channels that users added, `custom_weights` the weights of these.
    """

    ids: Sequence[str]
    reports: tuple[ChannelReport, ...]
    custom_scores: Mapping[str, Mapping[str, float]]
    custom_weights: Mapping[str, float]


def _search_by_meaning(query: Query, request: RecallRequest) -> Steps[Sequence[str]] | None:
    if query.vector is None:
        return None
    return store.search_vectors(query.vector, request.headroom, request.where, request.settings[SEMANTIC_CANDIDATES])


def _search_by_words(query: Query, request: RecallRequest) -> Steps[Sequence[str]] | None:
    if not query.words.words:
        return None
    return store.search_words(query.words, request.headroom, request.where)


def _search_by_names(query: Query, request: RecallRequest) -> Steps[Sequence[str]] | None:
    """The query has the facts about its names already. The store says which of them the filter admits."""
    strengths = {id: strength for known in query.subject_names for id, strength in known.about.items()}
    if not strengths:
        return None
    strongest = sorted(strengths, key=lambda id: (-strengths[id], id))[: request.headroom]
    return store.filter_visible(strongest, request.where)


def _search_by_time(query: Query, request: RecallRequest) -> Steps[Sequence[str]] | None:
    spans = [(span.start, span.end) for span in query.times if span.relation == "in"]
    return store.search_times(spans, request.headroom, request.where) if spans else None


STORE_CHANNELS = (
    StoreChannel("semantic", _search_by_meaning),
    StoreChannel("keyword", _search_by_words),
    StoreChannel("entity", _search_by_names),
    StoreChannel("temporal", _search_by_time),
)


def ask_channels(query: Query, request: RecallRequest, plan: RecallPlan) -> Steps[ChannelProposals]:
    """Ask all channels at once. One that fails is reported; if every one fails, so does the recall."""
    custom_weights: Mapping[str, float] = yield ListCustomChannels()
    unused = dict(query.reports)
    if plan.mode == "minimal":
        unused |= report_minimal_mode(custom_weights)

    custom_answers = yield from _ask_custom_channels([name for name in custom_weights if name not in unused], request)
    searches: dict[str, Steps[Sequence[str]]] = {}
    for channel in STORE_CHANNELS:
        search = None if channel.name in unused else channel.search(query, request)
        if search is not None:
            searches[channel.name] = search
    store_answers = yield from store.together_with_failures(*searches.values())
    answers = {**dict(zip(searches, store_answers, strict=True)), **custom_answers}
    _raise_if_all_failed(answers)

    found = {name: answer for name, answer in answers.items() if not isinstance(answer, CallFailure)}
    names = [*(channel.name for channel in STORE_CHANNELS), *custom_weights]
    return ChannelProposals(
        ids=merge_ids(found.values()),
        reports=tuple(_make_report(name, answers, unused) for name in names),
        custom_scores={name: found[name] for name in custom_weights if name in found},
        custom_weights=custom_weights,
    )


def _ask_custom_channels(names: Sequence[str], request: RecallRequest) -> Steps[dict[str, Any]]:
    """The best facts of each channel that the filter admits, or its failure."""
    if not names:
        return {}
    answers: dict[str, Any] = yield AskCustomChannels(names, request.text, request.headroom, request.where)
    scored = {name: answer for name, answer in answers.items() if not isinstance(answer, CallFailure)}
    ids = sorted({id for scores in scored.values() for id in scores})
    visible_ids: set[str] = set((yield from store.filter_visible(ids, request.where)) if ids else ())
    best = {name: _keep_best(scores, visible_ids, request.headroom) for name, scores in scored.items()}
    return {**answers, **best}


def _keep_best(scores: Mapping[str, float], visible_ids: set[str], count: int) -> dict[str, float]:
    best_ids = sorted((id for id in scores if id in visible_ids), key=lambda id: (-scores[id], id))[:count]
    return {id: scores[id] for id in best_ids}


def _make_report(name: str, answers: Mapping[str, Any], unused: Mapping[str, ChannelReport]) -> ChannelReport:
    if name in unused:
        return unused[name]
    answer = answers.get(name, ())
    if isinstance(answer, CallFailure):
        status = "timed_out" if isinstance(answer.error, ChannelTimedOut) else "failed"
        return ChannelReport(name, status, note=str(answer.error))
    return ChannelReport(name, "ok" if answer else "empty", heard=len(answer))


def _raise_if_all_failed(answers: Mapping[str, Any]) -> None:
    failures = [answer.error for answer in answers.values() if isinstance(answer, CallFailure)]
    if failures and len(failures) == len(answers):
        raise failures[0]
