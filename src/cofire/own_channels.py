"""Channels that users add: a name, a weight, and a function from a question to scores. Asked like everything else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from dataclasses import dataclass
from typing import Any

from cofire.asks import World
from cofire.errors import ChannelTimedOut, InvalidInput
from cofire.model import Where


@dataclass(frozen=True, slots=True)
class OwnChannel:
    """A way of finding facts besides those built in.

    `listen(question, k, where)` gives ids with scores from 0 to 1; those that do not pass `where` are left out afterwards. What
    takes longer than `seconds` is reported as timed out, and the other channels answer alone.
    """

    name: str
    listen: Callable[[str, int, Where], Mapping[str, float]]
    weight: float = 1.0
    seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class OwnChannels:
    """Which channels were added, and what does each count?"""

    def put(self, world: World) -> dict[str, float]:
        return {name: channel.weight for name, channel in world.channels.items()}


@dataclass(frozen=True, slots=True)
class Listen:
    """What a channel of a user's own finds, of those that may be seen."""

    name: str
    text: str
    k: int
    where: Where

    def put(self, world: World) -> dict[str, float]:
        channel = world.channels[self.name]
        scores = checked(self.name, _in_time(channel, self))
        seen: list[str] = world.store.admitted(sorted(scores), self.where)
        best = sorted(seen, key=lambda id: (-scores[id], id))[: self.k]
        return {id: scores[id] for id in best}


def _in_time(channel: OwnChannel, asked: Listen) -> Any:
    waiting = ThreadPoolExecutor(max_workers=1)
    try:
        return waiting.submit(channel.listen, asked.text, asked.k, asked.where).result(timeout=channel.seconds)
    except TookTooLong as error:
        raise ChannelTimedOut(
            f"The channel {channel.name} took longer than {channel.seconds:g} seconds.",
            way_out="Make it faster, or give it more seconds.",
        ) from error
    finally:
        waiting.shutdown(wait=False, cancel_futures=True)


def checked(name: str, scores: Any) -> dict[str, float]:
    """Scores as they may be used: from 0 to 1, by id."""
    if not isinstance(scores, Mapping) or not all(0 <= score <= 1 for score in scores.values()):
        raise InvalidInput(
            f"The channel {name} gave something other than ids with scores from 0 to 1.",
            way_out="Return a dictionary of ids and scores.",
        )
    return {str(id): float(score) for id, score in scores.items() if score > 0}
