"""Channels: who proposes facts for a question, how each fared, and the ones that users add."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cofire.asks import Ask, Asking, Failure, Matching, Nearest, Together
from cofire.errors import ChannelTimedOut
from cofire.graph_asks import Admitted, Timely
from cofire.own_channels import Listen, OwnChannels
from cofire.recollection import ChannelReport
from cofire.settings import CANDIDATES
from cofire.verbs.asking import Question
from cofire.verbs.cueing import Cue
from cofire.verbs.direct import longest
from cofire.verbs.planning import Plan


@dataclass(frozen=True, slots=True)
class Channel:
    """A name and what it asks the store; None where the question gives it nothing to ask for."""

    name: str
    ask: Callable[[Cue, Question], Ask | None]


@dataclass(frozen=True)
class Heard:
    """What all channels propose, in their order, how each fared, and the scores that users' own channels gave."""

    proposed: tuple[str, ...]
    by_channel: Mapping[str, tuple[str, ...]]
    reports: tuple[ChannelReport, ...]
    own: Mapping[str, Mapping[str, float]]
    weights: Mapping[str, float]


def _semantic(cue: Cue, asked: Question) -> Ask | None:
    if cue.vector is None:
        return None
    return Nearest(cue.vector, asked.headroom, asked.where, asked.settings[CANDIDATES])


def _keyword(cue: Cue, asked: Question) -> Ask | None:
    return Matching(cue.words, asked.headroom, asked.where) if cue.words.words else None


def _entity(cue: Cue, asked: Question) -> Ask | None:
    """The facts about the names of the question are known from reading it."""
    about = {id: strength for name in longest(cue) for id, strength in name.about.items()}
    best = sorted(about, key=lambda id: (-about[id], id))[: asked.headroom]
    return Admitted(best, asked.where) if best else None


def _temporal(cue: Cue, asked: Question) -> Ask | None:
    spans = [(one.start, one.end) for one in cue.times if one.relation == "in"]
    return Timely(spans, asked.headroom, asked.where) if spans else None


CHANNELS = (
    Channel("semantic", _semantic),
    Channel("keyword", _keyword),
    Channel("entity", _entity),
    Channel("temporal", _temporal),
)


def listen(cue: Cue, asked: Question, plan: Plan) -> Asking[Heard]:
    """What the channels propose, all asked at once. A failing one is named; when every one fails, so does the recall."""
    own: Mapping[str, float] = yield OwnChannels()
    asks = {
        one.name: ask
        for one in CHANNELS
        if one.name not in cue.reports and (ask := one.ask(cue, asked)) is not None and _is_on(one.name, plan)
    }
    asks |= {name: Listen(name, asked.text, asked.headroom, asked.where) for name in own}
    answers: Sequence[Any] = yield Together(list(asks.values()))
    heard = dict(zip(asks, answers, strict=True))
    _raise_if_all_failed(heard)
    scores = {name: heard[name] for name in own if not isinstance(heard[name], Failure)}
    by_channel = {name: tuple(answer) for name, answer in heard.items() if not isinstance(answer, Failure)}
    proposed = dict.fromkeys(id for ids in by_channel.values() for id in ids)
    names = [*(one.name for one in CHANNELS), *own]
    reports = tuple(_report(name, heard, cue, plan) for name in names)
    return Heard(tuple(proposed), by_channel, reports, scores, own)


def _is_on(name: str, plan: Plan) -> bool:
    """A minimal recall looks at words alone."""
    return plan.mode != "minimal" or name == "keyword"


def _report(name: str, heard: Mapping[str, Any], cue: Cue, plan: Plan) -> ChannelReport:
    if name in cue.reports:
        return cue.reports[name]
    if not _is_on(name, plan):
        return ChannelReport(name, "disabled", note="a minimal recall looks at words alone")
    answer = heard.get(name, ())
    if isinstance(answer, Failure):
        status = "timed_out" if isinstance(answer.error, ChannelTimedOut) else "failed"
        return ChannelReport(name, status, note=str(answer.error))
    return ChannelReport(name, "ok" if answer else "empty", heard=len(answer))


def _raise_if_all_failed(heard: Mapping[str, Any]) -> None:
    failures = [answer.error for answer in heard.values() if isinstance(answer, Failure)]
    if failures and len(failures) == len(heard):
        raise failures[0]
