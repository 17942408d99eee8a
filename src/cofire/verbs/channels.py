"""Channels: who proposes facts for a question, how each fared, and the ones that users add."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cofire.asks import Ask, Asking, Failure, Matching, Nearest, Together
from cofire.errors import ChannelTimedOut
from cofire.graph_asks import Admitted, Timely
from cofire.late import each_once
from cofire.own_channels import Listening, OwnChannels
from cofire.recollection import ChannelReport
from cofire.settings import CANDIDATES
from cofire.verbs.asking import Question
from cofire.verbs.cueing import Cue, silenced
from cofire.verbs.planning import Plan


@dataclass(frozen=True, slots=True)
class Channel:
    """A name and what it asks the store; None where the question gives it nothing to ask for."""

    name: str
    ask: Callable[[Cue, Question], Ask | None]


@dataclass(frozen=True)
class Heard:
    """What all channels propose, in their order, how each fared, and the scores that users' own channels gave."""

    proposed: Sequence[str]
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
    about = {id: strength for name in cue.named for id, strength in name.about.items()}
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
    silent = {**cue.reports, **(silenced(own) if plan.mode == "minimal" else {})}
    found = yield from _own([name for name in own if name not in silent], asked)
    asks = {one.name: ask for one in CHANNELS if one.name not in silent and (ask := one.ask(cue, asked)) is not None}
    answers: Sequence[Any] = yield Together(list(asks.values()))
    fared = {**dict(zip(asks, answers, strict=True)), **found}
    _raise_if_all_failed(fared)
    heard = {name: answer for name, answer in fared.items() if not isinstance(answer, Failure)}
    return Heard(
        each_once(heard.values()),
        tuple(_report(name, fared, silent) for name in (*(one.name for one in CHANNELS), *own)),
        {name: heard[name] for name in own if name in heard},
        own,
    )


def _own(names: Sequence[str], asked: Question) -> Asking[dict[str, Any]]:
    """What channels of a user's own find, the best of those facts that may be seen."""
    if not names:
        return {}
    answers: dict[str, Any] = yield Listening(names, asked.text, asked.headroom, asked.where)
    said = sorted({id for answer in answers.values() if not isinstance(answer, Failure) for id in answer})
    seen: set[str] = set((yield Admitted(said, asked.where)) if said else ())
    return {
        name: answer if isinstance(answer, Failure) else _best(answer, seen, asked.headroom)
        for name, answer in answers.items()
    }


def _best(scores: Mapping[str, float], seen: set[str], count: int) -> dict[str, float]:
    best = sorted((id for id in scores if id in seen), key=lambda id: (-scores[id], id))[:count]
    return {id: scores[id] for id in best}


def _report(name: str, fared: Mapping[str, Any], silent: Mapping[str, ChannelReport]) -> ChannelReport:
    if name in silent:
        return silent[name]
    answer = fared.get(name, ())
    if isinstance(answer, Failure):
        status = "timed_out" if isinstance(answer.error, ChannelTimedOut) else "failed"
        return ChannelReport(name, status, note=str(answer.error))
    return ChannelReport(name, "ok" if answer else "empty", heard=len(answer))


def _raise_if_all_failed(fared: Mapping[str, Any]) -> None:
    failures = [answer.error for answer in fared.values() if isinstance(answer, Failure)]
    if failures and len(failures) == len(fared):
        raise failures[0]
