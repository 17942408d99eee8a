"""Run a reading rule so that its failure costs only what that rule would have read."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from cofire.errors import CofireError

T = TypeVar("T")
F = TypeVar("F")

# The record of the store that counts facts whose reading failed, and how many of their ids it keeps.
READING_FAILURES = "reading.failures"
MOST_IDS = 20

_log = logging.getLogger("cofire.reading")


def attempt(rule: str, read: Callable[[], T], fallback: F, failures: list[str] | None = None) -> T | F:
    """What a rule reads, or the fallback where it fails. The failure is logged, and the rule's name added to `failures`.

    Errors of cofire, such as a missing model, are raised: they say what to do.

    >>> failures = []
    >>> attempt("subjects", lambda: [][0], "", failures), failures
    ('', ['subjects'])
    """
    try:
        return read()
    except (CofireError, MemoryError):
        raise
    except Exception:  # noqa: BLE001 - the only place: a rule may fail in any way, and must not cost the fact or the answer
        _log.warning("The reading rule %s failed. The text is used without it.", rule, exc_info=True)
        if failures is not None:
            failures.append(rule)
        return fallback


@dataclass(frozen=True, slots=True)
class ReadingFailures:
    """How many facts were stored although a rule failed on them, how often each rule failed, and the ids of the last of them."""

    facts: int = 0
    rules: dict[str, int] = field(default_factory=dict)
    ids: tuple[str, ...] = ()

    def with_fact(self, id: str, rules: Iterable[str]) -> ReadingFailures:
        """The counts with one more fact."""
        counts = dict(self.rules)
        for rule in rules:
            counts[rule] = counts.get(rule, 0) + 1
        return ReadingFailures(self.facts + 1, counts, (*self.ids, id)[-MOST_IDS:])

    def encode(self) -> bytes:
        return json.dumps({"facts": self.facts, "rules": self.rules, "ids": self.ids}).encode()

    @staticmethod
    def decode(value: bytes | None) -> ReadingFailures:
        """The counts in a record of the store; none where there is no record."""
        if value is None:
            return ReadingFailures()
        content = json.loads(value)
        return ReadingFailures(content["facts"], content["rules"], tuple(content["ids"]))
