"""Retrieval channels added by the user: registration, calls, time limits."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Thread
from typing import Any

from cofire.errors import ChannelTimedOut, InvalidInput
from cofire.model import FactFilter
from cofire.runtime.effects import Effect, RunContext
from cofire.stores.base import CallFailure

# Names under which something else gives to a score.
RESERVED_NAMES = frozenset("semantic keyword entity temporal activation prior coverage importance".split())


@dataclass(frozen=True, slots=True)
class OwnChannel:
    """A way of finding facts besides those built in.

    `listen(question, k, where)` gives ids with scores from 0 to 1; those that do not pass `where` are left out afterwards. What
    takes longer than `seconds` is reported as timed out, and the other channels answer alone.
    """

    name: str
    listen: Callable[[str, int, FactFilter], Mapping[str, float]]
    weight: float = 1.0
    seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class ListCustomChannels(Effect):
    """Which channels were added, and what does each count?"""

    def run(self, context: RunContext) -> dict[str, float]:
        return {name: channel.weight for name, channel in context.channels.items()}


@dataclass(frozen=True, slots=True)
class AskCustomChannels(Effect):
    """What do these channels find? All are asked at once and apart from the store, which they may use themselves; a failing one
    answers `CallFailure`."""

    names: Sequence[str]
    text: str
    k: int
    where: FactFilter

    def run(self, context: RunContext) -> dict[str, Any]:
        return {channel.name: _wait_for_scores(channel, answer) for channel, answer in self._begun(context)}

    async def run_async(self, context: RunContext) -> dict[str, Any]:
        """The same, awaited. No thread of the event loop's few waits along: a channel that uses the memory needs them."""
        begun = self._begun(context)
        answers = await asyncio.gather(*(_await_scores(channel, answer) for channel, answer in begun))
        return {channel.name: answer for (channel, _), answer in zip(begun, answers, strict=True)}

    def _begun(self, context: RunContext) -> list[tuple[OwnChannel, Future[Any]]]:
        channels = [context.channels[name] for name in self.names if name in context.channels]
        return [(channel, _start_channel(channel, self)) for channel in channels]


def register_channel(context: RunContext, channel: OwnChannel) -> None:
    """Make a channel known to a context, under a name that nobody has."""
    if not isinstance(channel, OwnChannel):
        raise InvalidInput(f"A channel cannot be {channel!r}.", way_out="Give an OwnChannel.")
    name = str(channel.name).strip()
    if not name or name != channel.name:
        raise InvalidInput(f"A channel cannot be called {channel.name!r}.", way_out="Give it a plain name.")
    if name in RESERVED_NAMES or name in context.channels:
        raise InvalidInput(
            f"There is a channel {name} already.", way_out="Give it another name, or unregister that one."
        )
    if not (_is_number(channel.weight) and channel.weight >= 0 and _is_number(channel.seconds) and channel.seconds > 0):
        raise InvalidInput(
            f"The channel {name} cannot count {channel.weight!r} and take {channel.seconds!r} seconds.",
            way_out="Its weight must be 0 or more, its seconds more than 0.",
        )
    context.channels[name] = channel


def unregister_channel(context: RunContext, name: object) -> bool:
    """Take a channel of one's own out; tells whether it was there."""
    if not isinstance(name, str):
        raise InvalidInput(f"A channel cannot be called {name!r}.", way_out="Give the name of one that was registered.")
    return context.channels.pop(name, None) is not None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _start_channel(channel: OwnChannel, asked: AskCustomChannels) -> Future[Any]:
    """A channel at work in a thread that is let go: one that hangs does not hold up the program's end."""
    answer: Future[Any] = Future()
    # From now on nobody can cancel it: whoever gives up waiting leaves the thread its answer.
    answer.set_running_or_notify_cancel()
    Thread(
        target=_resolve_answer, args=(answer, channel, asked), daemon=True, name=f"cofire channel {channel.name}"
    ).start()
    return answer


def _resolve_answer(answer: Future[Any], channel: OwnChannel, asked: AskCustomChannels) -> None:
    answer.set_result(_call_channel(channel, asked))


def _call_channel(channel: OwnChannel, asked: AskCustomChannels) -> dict[str, float] | CallFailure:
    try:
        return validate_scores(channel.name, channel.listen(asked.text, asked.k, asked.where))
    except BaseException as error:  # noqa: BLE001 handed to whoever waits for the answer
        return CallFailure(error if isinstance(error, Exception) else RuntimeError(repr(error)))


def _wait_for_scores(channel: OwnChannel, answer: Future[Any]) -> Any:
    try:
        return answer.result(channel.seconds)
    except TimeoutError:
        return _make_timeout_failure(channel)


async def _await_scores(channel: OwnChannel, answer: Future[Any]) -> Any:
    try:
        return await asyncio.wait_for(asyncio.wrap_future(answer), channel.seconds)
    except TimeoutError:
        return _make_timeout_failure(channel)


def _make_timeout_failure(channel: OwnChannel) -> CallFailure:
    late = f"The channel {channel.name} took longer than {channel.seconds:g} seconds."
    return CallFailure(ChannelTimedOut(late, way_out="Make it faster, or give it more seconds."))


def validate_scores(name: str, scores: Any) -> dict[str, float]:
    """Scores as they may be used: from 0 to 1, by id."""
    if not isinstance(scores, Mapping) or not all(_is_score(id, score) for id, score in scores.items()):
        raise InvalidInput(
            f"The channel {name} gave something other than ids with scores from 0 to 1.",
            way_out="Return a dictionary of ids and scores.",
        )
    return {str(id): float(score) for id, score in scores.items() if score > 0}


def _is_score(id: object, score: Any) -> bool:
    """A score of something that may be an id: no store can look for a NUL or for half of a character."""
    return str(id).isprintable() and _is_number(score) and 0 <= score <= 1
