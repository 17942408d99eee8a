"""Create a reader by its setting name; load it on first use."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from cofire.errors import InvalidSetting
from cofire.model import Fact
from cofire.text.base import FactReading, Reader, ReadingScope


class LazyReader:
    """A reader that comes into being with the first fact, so that whoever only recalls does not wait for its rules."""

    def __init__(self, make: Callable[[], Reader]) -> None:
        self._make = make
        self._reader: Reader | None = None

    def read(self, fact: Fact, *, wanted: ReadingScope = "all") -> FactReading:
        if self._reader is None:
            self._reader = self._make()
        return self._reader.read(fact, wanted=wanted)


def create_reader(name: str) -> Reader:
    """The reader that a setting names.

    >>> create_reader("rules").read(Fact("The sky is blue.")).category
    'knowledge'
    """
    if name == "rules":
        return LazyReader(lambda: import_module("cofire.text.rule_reader").RuleReader())
    if name == "spacy":
        return LazyReader(lambda: import_module("cofire.text.spacy_reader").SpacyReader())
    kind, _, place = name.partition(":")
    model, _, url = place.partition("@")
    if kind == "llm" and model and url:
        return LazyReader(lambda: import_module("cofire.text.llm_reader").LlmReader(model, base_url=url))
    raise InvalidSetting(f"There is no reader {name!r}.", way_out="Choose rules, spacy or llm:MODEL@URL.")
