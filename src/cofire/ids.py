"""Ids of facts: monotonic ULIDs."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime
from threading import Lock

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_RANDOM_BITS = 80
_LENGTH = 26


class IdGenerator:
    """Generates increasing ids, even if the clock goes backwards. Tests replace `random_bits`.

    >>> from datetime import UTC
    >>> first, second = IdGenerator(lambda bits: 0).mint(datetime(2026, 1, 1, tzinfo=UTC), 2)
    >>> first, second
    ('01KDVDNA000000000000000000', '01KDVDNA000000000000000001')
    """

    def __init__(self, random_bits: Callable[[int], int] = secrets.randbits) -> None:
        self._random_bits = random_bits
        self._last = 0
        self._lock = Lock()

    def mint(self, moment: datetime, count: int) -> list[str]:
        """New ids with the timestamp of `moment`."""
        milliseconds = int(moment.timestamp() * 1000)
        with self._lock:
            return [self._next(milliseconds) for _ in range(count)]

    def _next(self, milliseconds: int) -> str:
        if milliseconds > self._last >> _RANDOM_BITS:
            self._last = milliseconds << _RANDOM_BITS | self._random_bits(_RANDOM_BITS - 1)
        else:
            self._last += 1
        return _encode_ulid(self._last)


def is_id(text: str) -> bool:
    """Whether a text has the form of an id.

    >>> is_id("01KDVDNA000000000000000001"), is_id("docker cache")
    (True, False)
    """
    return len(text) == _LENGTH and set(text) <= set(_ALPHABET)


def _encode_ulid(number: int) -> str:
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(120, -1, -10)])
