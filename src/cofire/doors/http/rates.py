"""How often a client may come: a bucket of tokens each, filled steadily and emptied by requests. Knows no HTTP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

MOST_CLIENTS = 10_000


@dataclass(frozen=True, slots=True)
class Level:
    """How full a bucket was, and when."""

    tokens: float
    moment: float


class Buckets:
    """A bucket a client. `rate` tokens flow in a second, up to `burst`.

    >>> buckets = Buckets(rate=2.0, burst=1, clock=lambda: 0.0)
    >>> buckets.take("ana"), buckets.take("ana"), buckets.take("ben")
    (0.0, 0.5, 0.0)
    """

    def __init__(self, *, rate: float, burst: int, clock: Callable[[], float]) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._levels: dict[str, Level] = {}

    def take(self, client: str) -> float:
        """Let a client in, and return 0; or how many seconds it must wait."""
        now = self._clock()
        tokens = self._filled(client, now)
        if tokens < 1:
            return (1 - tokens) / self._rate
        self._levels[client] = Level(tokens - 1, now)
        if len(self._levels) > MOST_CLIENTS:
            self._drop_full(now)
        return 0.0

    def _filled(self, client: str, now: float) -> float:
        level = self._levels.get(client, Level(self._burst, now))
        return min(self._burst, level.tokens + (now - level.moment) * self._rate)

    def _drop_full(self, now: float) -> None:
        """A full bucket is as good as none; if all have been used of late, the oldest half goes."""
        waiting = {client: level for client, level in self._levels.items() if self._filled(client, now) < self._burst}
        recent = sorted(waiting.items(), key=lambda entry: entry[1].moment)[-MOST_CLIENTS // 2 :]
        self._levels = dict(recent)
