"""Choosing a reader by name: rules, spacy, or llm:MODEL@URL."""

from __future__ import annotations

from cofire.errors import InvalidSetting
from cofire.reading.base import Reader
from cofire.reading.llm import LlmReader
from cofire.reading.rules import RuleReader
from cofire.reading.spacy import SpacyReader


def reader_for(name: str) -> Reader:
    """The reader that a setting names. What it needs is loaded when it reads for the first time.

    >>> type(reader_for("rules")).__name__, type(reader_for("llm:small@http://localhost:8080/v1")).__name__
    ('RuleReader', 'LlmReader')
    """
    if name == "rules":
        return RuleReader()
    if name == "spacy":
        return SpacyReader()
    kind, _, place = name.partition(":")
    model, _, url = place.partition("@")
    if kind == "llm" and model and url:
        return LlmReader(model, base_url=url)
    raise InvalidSetting(f"There is no reader {name!r}.", way_out="Choose rules, spacy or llm:MODEL@URL.")
