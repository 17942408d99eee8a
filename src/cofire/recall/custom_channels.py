"""Retrieval channels added by users: registration, calls and time limits."""

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

# Names of built-in channels and of other parts of a score.
RESERVED_NAMES = frozenset("semantic keyword entity temporal activation prior coverage importance".split())


@dataclass(frozen=True, slots=True)
class OwnChannel:
    """A retrieval channel added by a user.

    `listen(question, k, where)` returns scores from 0 to 1 by id. Facts that do not pass `where` are
    removed afterwards. A call that takes longer than `seconds` is reported as timed out, and the recall
    uses the other channels only.
    """

    name: str
    listen: Callable[[str, int, FactFilter], Mapping[str, float]]
    weight: float = 1.0
    seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class ListCustomChannels(Effect):
    """The weight of each custom channel, by name."""

    def run(self, context: RunContext) -> dict[str, float]:
        return {name: channel.weight for name, channel in context.channels.items()}


@dataclass(frozen=True, slots=True)
class AskCustomChannels(Effect):
    """The scores of custom channels, by name; `CallFailure` for a channel that fails.

    All channels run at the same time and outside the store's session, so that they may use the store.
    """

    names: Sequence[str]
    text: str
    k: int
    where: FactFilter

    def run(self, context: RunContext) -> dict[str, Any]:
        calls = self._start_calls(context)
        return {channel.name: _wait_for_scores(channel, future) for channel, future in calls}

    async def run_async(self, context: RunContext) -> dict[str, Any]:
        """Await the scores. This blocks no thread of the event loop's pool: channels that use the memory need them."""
        calls = self._start_calls(context)
        answers = await asyncio.gather(*(_await_scores(channel, future) for channel, future in calls))
        return {channel.name: answer for (channel, _), answer in zip(calls, answers, strict=True)}

    def _start_calls(self, context: RunContext) -> list[tuple[OwnChannel, Future[Any]]]:
        channels = [context.channels[name] for name in self.names if name in context.channels]
        return [(channel, _start_channel(channel, self)) for channel in channels]


def register_channel(context: RunContext, channel: OwnChannel) -> None:
    """Add a channel to a context. Its name must be new."""
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
            f"The channel {name} cannot have weight {channel.weight!r} and seconds {channel.seconds!r}.",
            way_out="Its weight must be 0 or more, its seconds more than 0.",
        )
    context.channels[name] = channel


def unregister_channel(context: RunContext, name: object) -> bool:
    """Remove a custom channel. Returns whether it was registered."""
    if not isinstance(name, str):
        raise InvalidInput(f"A channel cannot be called {name!r}.", way_out="Give the name of one that was registered.")
    return context.channels.pop(name, None) is not None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _start_channel(channel: OwnChannel, question: AskCustomChannels) -> Future[Any]:
    """Call a channel in a daemon thread: a channel that hangs does not delay the end of the program."""
    future: Future[Any] = Future()
    # A running future cannot be cancelled, so the thread can always set its result, also after a timeout.
    future.set_running_or_notify_cancel()
    thread_name = f"cofire channel {channel.name}"
    Thread(target=_resolve_answer, args=(future, channel, question), daemon=True, name=thread_name).start()
    return future


def _resolve_answer(future: Future[Any], channel: OwnChannel, question: AskCustomChannels) -> None:
    try:
        scores = channel.listen(question.text, question.k, question.where)
        future.set_result(validate_scores(channel.name, scores))
    except BaseException as error:  # noqa: BLE001 passed on as the result
        failure = error if isinstance(error, Exception) else RuntimeError(repr(error))
        future.set_result(CallFailure(failure))


def _wait_for_scores(channel: OwnChannel, future: Future[Any]) -> Any:
    try:
        return future.result(channel.seconds)
    except TimeoutError:
        return _make_timeout_failure(channel)


async def _await_scores(channel: OwnChannel, future: Future[Any]) -> Any:
    try:
        return await asyncio.wait_for(asyncio.wrap_future(future), channel.seconds)
    except TimeoutError:
        return _make_timeout_failure(channel)


def _make_timeout_failure(channel: OwnChannel) -> CallFailure:
    message = f"The channel {channel.name} took longer than {channel.seconds:g} seconds."
    return CallFailure(ChannelTimedOut(message, way_out="Make it faster, or give it more seconds."))


def validate_scores(name: str, scores: Any) -> dict[str, float]:
    """The scores above 0, by id. Every score must be from 0 to 1."""
    if not isinstance(scores, Mapping) or not all(_is_score(id, score) for id, score in scores.items()):
        raise InvalidInput(
            f"The channel {name} must return ids with scores from 0 to 1.",
            way_out="Return a dictionary of ids and scores.",
        )
    return {str(id): float(score) for id, score in scores.items() if score > 0}


def _is_score(id: object, score: Any) -> bool:
    """Whether both are valid. An id must be printable: stores cannot look up a NUL or a lone surrogate."""
    return str(id).isprintable() and _is_number(score) and 0 <= score <= 1
