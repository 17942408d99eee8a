"""What reading gives: the frozen values a text is turned into, and what a reader is. No rules live here."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from cofire.model import Fact

# How sure a mention is that it means the thing of that name.
FULL, PARTIAL, BY_RULE = 1.0, 0.7, 0.5


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
class Subject:
    """What a fact is about, in the normal form of mentions, so that `mention.name == subject.name` links."""

    name: str
    strength: float


@dataclass(frozen=True, slots=True)
class Cause:
    """One part of a text brought about another; the cue is the words that say so."""

    cause: str
    effect: str
    cue: str
    strength: float


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time that a text speaks of, from `start` up to but not including `end`; both know their zone."""

    start: datetime
    end: datetime
    surface: str


@dataclass(frozen=True, slots=True)
class Reading:
    """All that a fact says, as far as its reader understands it. `failed` names the rules that broke on its text."""

    mentions: tuple[Mention, ...] = ()
    subjects: tuple[Subject, ...] = ()
    phrases: tuple[str, ...] = ()
    times: tuple[Span, ...] = ()
    causes: tuple[Cause, ...] = ()
    tags: tuple[str, ...] = ()
    category: str = "knowledge"
    sentences: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


# What a fact is read for: all that it says; all but key phrases, tags and causes; or only what it is about and what causes what.
Wanted = Literal["all", "names", "causes"]


class Reader(Protocol):
    """Anything that reads a fact. The same fact gives the same reading. What is not wanted may be missing."""

    def read(self, fact: Fact, *, wanted: Wanted = "all") -> Reading: ...
