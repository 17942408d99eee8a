"""What a reader finds in a fact, the Reader protocol, and rules that may fail safely."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, TypeVar

from cofire.errors import CofireError
from cofire.model import Fact

# How sure a mention is that it means the thing of that name.
FULL_CONFIDENCE, PARTIAL_CONFIDENCE, RULE_CONFIDENCE = 1.0, 0.7, 0.5


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a fact: `name` is its normal form, by which the same thing meets, `surface` what was written.

    `kind` is name, acronym, code, path, url, email, version, flag or title; `sentence` counts from 0. `confidence` is FULL
    for the name as written, PARTIAL for a part or variant of it, BY_RULE for an alias.
    """

    name: str
    surface: str
    kind: str
    sentence: int
    confidence: float


@dataclass(frozen=True, slots=True)
class FactSubject:
    """What a fact is about, in the normal form of mentions, so that `mention.name == subject.name` links."""

    name: str
    strength: float


@dataclass(frozen=True, slots=True)
class CausalRelation:
    """One part of a text brought about another; the cue is the words that say so."""

    cause: str
    effect: str
    cue: str
    strength: float


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A stretch of time that a text speaks of, from `start` up to but not including `end`; both know their zone."""

    start: datetime
    end: datetime
    surface: str


@dataclass(frozen=True, slots=True)
class FactReading:
    """All that a fact says, as far as its reader understands it. `failed` names the rules that broke on its text."""

    mentions: tuple[Mention, ...] = ()
    subjects: tuple[FactSubject, ...] = ()
    phrases: tuple[str, ...] = ()
    times: tuple[TimeSpan, ...] = ()
    causes: tuple[CausalRelation, ...] = ()
    tags: tuple[str, ...] = ()
    category: str = "knowledge"
    sentences: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


# What a fact is read for: all that it says; all but key phrases, tags and causes; or only what it is about and what causes what.
ReadingScope = Literal["all", "names", "causes"]


class Reader(Protocol):
    """Anything that reads a fact. The same fact gives the same reading. What is not wanted may be missing."""

    def read(self, fact: Fact, *, wanted: ReadingScope = "all") -> FactReading: ...


T = TypeVar("T")
F = TypeVar("F")

# The record of the store that counts facts whose reading failed, and how many of their ids it keeps.
FAILURES_RECORD = "reading.failures"
MAX_FAILED_IDS = 20

_log = logging.getLogger("cofire.reading")


def run_reading_rule(rule: str, read: Callable[[], T], fallback: F, failures: list[str] | None = None) -> T | F:
    """What a rule reads, or the fallback where it fails. The failure is logged, and the rule's name added to `failures`.

    Errors of cofire, such as a missing model, are raised: they say what to do.

    >>> failures = []
    >>> run_reading_rule("subjects", lambda: [][0], "", failures), failures
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
        return ReadingFailures(self.facts + 1, counts, (*self.ids, id)[-MAX_FAILED_IDS:])

    def encode(self) -> bytes:
        return json.dumps({"facts": self.facts, "rules": self.rules, "ids": self.ids}).encode()

    @staticmethod
    def decode(value: bytes | None) -> ReadingFailures:
        """The counts in a record of the store; none where there is no record."""
        if value is None:
            return ReadingFailures()
        content = json.loads(value)
        return ReadingFailures(content["facts"], content["rules"], tuple(content["ids"]))
