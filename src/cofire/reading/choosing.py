"""Choosing a reader by name: rules, spacy, or llm:MODEL@URL. A reader is loaded when it reads for the first time."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from cofire.errors import InvalidSetting
from cofire.model import Fact
from cofire.reading.base import Reader, Reading, Wanted


class WhenRead:
    """A reader that comes into being with the first fact, so that whoever only recalls does not wait for its rules."""

    def __init__(self, make: Callable[[], Reader]) -> None:
        self._make = make
        self._reader: Reader | None = None

    def read(self, fact: Fact, *, wanted: Wanted = "all") -> Reading:
        if self._reader is None:
            self._reader = self._make()
        return self._reader.read(fact, wanted=wanted)


def reader_for(name: str) -> Reader:
    """The reader that a setting names.

    >>> reader_for("rules").read(Fact("The sky is blue.")).category
    'knowledge'
    """
    if name == "rules":
        return WhenRead(lambda: import_module("cofire.reading.rules").RuleReader())
    if name == "spacy":
        return WhenRead(lambda: import_module("cofire.reading.spacy").SpacyReader())
    kind, _, place = name.partition(":")
    model, _, url = place.partition("@")
    if kind == "llm" and model and url:
        return WhenRead(lambda: import_module("cofire.reading.llm").LlmReader(model, base_url=url))
    raise InvalidSetting(f"There is no reader {name!r}.", way_out="Choose rules, spacy or llm:MODEL@URL.")
