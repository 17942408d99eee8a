"""The default reader: everything that a fact says, by rules alone."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Protocol

from cofire.model import Fact
from cofire.text.base import FactReading, ReadingScope, TimeSpan, run_reading_rule
from cofire.text.categories import classify_category, derive_tags, extract_key_phrases
from cofire.text.causes import extract_causes
from cofire.text.dates import extract_time_spans
from cofire.text.entities import extract_mentions, split_terms
from cofire.text.names import NamedEntity, extract_names
from cofire.text.segmentation import TokenLine, split_sentences, strip_speaker, tokenise_sentence
from cofire.text.subjects import find_subjects


class RuleReader:
    """Reads by rules: needs no model, gives the same answer every time, thousands of facts a second.

    >>> reading = RuleReader().read(Fact("PgBouncer is a connection pooler. It failed because the disk was full."))
    >>> [mention.name for mention in reading.mentions], [subject.name for subject in reading.subjects]
    (['pgbouncer', 'pg bouncer'], ['pgbouncer', 'pg bouncer'])
    >>> reading.causes[0].cause, reading.category
    ('the disk was full', 'knowledge')
    """

    def read(self, fact: Fact, *, wanted: ReadingScope = "all") -> FactReading:
        return read_by_rules(fact, extract_names, wanted=wanted)


class NameFinder(Protocol):
    """Finds the names of each sentence; `known` are words in small letters that are names for certain."""

    def __call__(
        self, sentences: Sequence[str], lines: Sequence[TokenLine], *, known: Set[str]
    ) -> list[list[NamedEntity]]: ...


def read_by_rules(fact: Fact, find_names: NameFinder, *, wanted: ReadingScope) -> FactReading:
    """A fact read by rules, its names found by `find_names`. A rule that fails is left out and named in `failed`."""
    failed: list[str] = []
    text = run_reading_rule("said", lambda: strip_speaker(fact), fact.text, failed)
    cut = run_reading_rule("sentences", lambda: split_sentences(text), [text], failed)
    about = run_reading_rule("subjects", lambda: find_subjects(fact, text), (), failed)
    if wanted == "causes":
        found_causes = run_reading_rule("causes", lambda: extract_causes(cut), (), failed)
        return FactReading(subjects=about, causes=found_causes, failed=tuple(failed))
    lines: list[TokenLine] = run_reading_rule(
        "shapes", lambda: [tokenise_sentence(sentence) for sentence in cut], [[] for _ in cut], failed
    )
    named: list[list[NamedEntity]] = run_reading_rule(
        "names", lambda: _find_names(fact, cut, lines, find_names), [[] for _ in cut], failed
    )
    spans = run_reading_rule("times", lambda: extract_time_spans(text, fact.time), (), failed)
    key = run_reading_rule("phrases", lambda: extract_key_phrases(cut), (), failed) if wanted == "all" else ()
    return FactReading(
        mentions=run_reading_rule("mentions", lambda: extract_mentions(cut, named, about), (), failed),
        subjects=about,
        phrases=key,
        times=spans,
        causes=run_reading_rule("causes", lambda: extract_causes(cut), (), failed) if wanted == "all" else (),
        tags=run_reading_rule("tags", lambda: derive_tags(key), (), failed),
        category=fact.category
        or run_reading_rule("category", lambda: _classify_fact(fact, cut, lines, spans), "knowledge", failed),
        sentences=tuple(cut),
        failed=tuple(failed),
    )


def _find_names(
    fact: Fact, cut: Sequence[str], lines: Sequence[TokenLine], find_names: NameFinder
) -> list[list[NamedEntity]]:
    return find_names(cut, lines, known=set(split_terms(f"{fact.subject or ''} {fact.speaker or ''}")))


def _classify_fact(fact: Fact, cut: Sequence[str], lines: Sequence[TokenLine], spans: Sequence[TimeSpan]) -> str:
    return classify_category(cut, lines, timed=bool(spans), spoken=bool(fact.speaker))
