"""Choosing a reader by name: rules, spacy, or llm:MODEL@URL."""

from __future__ import annotations

from cofire.errors import InvalidSetting
from cofire.reading.base import Reader
from cofire.reading.rules import RuleReader


def reader_for(name: str) -> Reader:
    """The reader that a setting names."""
    if name == "rules":
        return RuleReader()
    raise InvalidSetting(f"There is no reader {name!r}.", way_out="Choose rules, spacy or llm:MODEL@URL.")
