"""Causes: where a text says that one thing brought about another, cause before effect. By cue words; no world knowledge."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cofire.reading.base import Cause

AT_MOST = 8
EXPLICIT, PLAIN, WEAK = 1.0, 0.9, 0.6

_LONGEST = 300
_SHORTEST = 2


@dataclass(frozen=True, slots=True)
class Cue:
    """Words between two parts of a sentence. `forward` is a cue whose cause stands before it.

    `words` are letters without which the pattern need not be tried; `unless` holds where the cue means something else.
    """

    pattern: re.Pattern[str]
    forward: bool
    strength: float
    words: str
    unless: re.Pattern[str] | None = None


def _cue(pattern: str, strength: float, words: str, *, forward: bool, unless: str | None = None) -> Cue:
    return Cue(re.compile(pattern, re.I), forward, strength, words, re.compile(unless, re.I) if unless else None)
