"""What a reader extracts from a fact, the `Reader` protocol, and `create_reader`."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from importlib import import_module
from typing import Literal, Protocol, TypeVar

from cofire.errors import CofireError, InvalidSetting
from cofire.model import Fact

# Confidence of a mention: the name as written, a part or variant of it, an alias.
FULL_CONFIDENCE, PARTIAL_CONFIDENCE, RULE_CONFIDENCE = 1.0, 0.7, 0.5


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a fact. `name` is its normal form, `surface` the text as written.

    `kind` is name, acronym, code, path, url, email, version, flag or title. `sentence` counts from 0.
    `confidence` is FULL_CONFIDENCE for the name as written, PARTIAL_CONFIDENCE for a part or variant
    of it, RULE_CONFIDENCE for an alias.
    """

    name: str
    surface: str
    kind: str
    sentence: int
    confidence: float


@dataclass(frozen=True, slots=True)
class FactSubject:
    """A subject of a fact. Its name is in the normal form of mentions, so that equal names link."""

    name: str
    strength: float


@dataclass(frozen=True, slots=True)
class CausalRelation:
    """A cause and an effect stated in a text, and the words that state it (`cue`)."""

    cause: str
    effect: str
    cue: str
    strength: float


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A period that a text mentions, from `start` up to but not including `end`, with time zones."""

    start: datetime
    end: datetime
    surface: str


@dataclass(frozen=True, slots=True)
class FactReading:
    """Everything that a reader extracts from a fact. `failed` names the rules that raised an error."""

    mentions: tuple[Mention, ...] = ()
    subjects: tuple[FactSubject, ...] = ()
    phrases: tuple[str, ...] = ()
    times: tuple[TimeSpan, ...] = ()
    causes: tuple[CausalRelation, ...] = ()
    tags: tuple[str, ...] = ()
    category: str = "knowledge"
    sentences: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


# What to extract: everything; everything but key phrases, tags and causes; or only subjects and
# causes.
ReadingScope = Literal["all", "names", "causes"]


class Reader(Protocol):
    """Reads a fact. The same fact gives the same reading. Parts that are not `wanted` may be missing."""

    def read(self, fact: Fact, *, wanted: ReadingScope = "all") -> FactReading: ...


T = TypeVar("T")
F = TypeVar("F")

# The store record that counts facts whose reading failed, and how many of their ids it keeps.
FAILURES_RECORD = "reading.failures"
MAX_FAILED_IDS = 20

_log = logging.getLogger("cofire.reading")


def run_reading_rule(rule: str, read: Callable[[], T], fallback: F, failures: list[str] | None = None) -> T | F:
    """The result of a rule, or the fallback if it raises. Logs the error and adds the rule to `failures`.

    Errors of cofire itself, such as a missing model, are raised: they say what to do.

    >>> failures = []
    >>> run_reading_rule("subjects", lambda: [][0], "", failures), failures
    ('', ['subjects'])
    """
    try:
        return read()
    except (CofireError, MemoryError):
        raise
    except Exception:  # noqa: BLE001 - a rule may fail in any way, and the fact is stored without its result
        _log.warning("The reading rule %s failed. The text is used without it.", rule, exc_info=True)
        if failures is not None:
            failures.append(rule)
        return fallback


@dataclass(frozen=True, slots=True)
class ReadingFailures:
    """Facts stored although a rule failed on them: their number, failures by rule, the last ids."""

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
        """The counts from a store record, or zero counts without one."""
        if value is None:
            return ReadingFailures()
        content = json.loads(value)
        return ReadingFailures(content["facts"], content["rules"], tuple(content["ids"]))


class LazyReader:
    """A reader that is created for the first fact, so that a recall does not load its rules."""

    def __init__(self, make: Callable[[], Reader]) -> None:
        self._make = make
        self._reader: Reader | None = None

    def read(self, fact: Fact, *, wanted: ReadingScope = "all") -> FactReading:
        if self._reader is None:
            self._reader = self._make()
        return self._reader.read(fact, wanted=wanted)


def create_reader(name: str) -> Reader:
    """Create the reader that a setting names.

    >>> create_reader("rules").read(Fact("The sky is blue.")).category
    'knowledge'
    """
    if name == "rules":
        return LazyReader(lambda: import_module("cofire.text.rule_reader").RuleReader())
    if name == "spacy":
        return LazyReader(lambda: import_module("cofire.text.rule_reader").SpacyReader())
    kind, _, address = name.partition(":")
    model, _, url = address.partition("@")
    if kind == "llm" and model and url:
        return LazyReader(lambda: import_module("cofire.text.llm_reader").LlmReader(model, base_url=url))
    raise InvalidSetting(f"There is no reader {name!r}.", way_out="Choose rules, spacy or llm:MODEL@URL.")
