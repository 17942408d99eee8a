"""The default reader: everything that a fact says, by rules alone. Puts the other modules of this room together."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Protocol

from cofire.model import Fact
from cofire.reading.base import Reading, Span, Wanted
from cofire.reading.causes import causes
from cofire.reading.failures import attempt
from cofire.reading.marking import category, tags
from cofire.reading.mentions import mentions
from cofire.reading.names import Name, names
from cofire.reading.phrases import phrases
from cofire.reading.resolving import terms
from cofire.reading.sentences import said, sentences
from cofire.reading.shapes import Line, pieces
from cofire.reading.subjects import subjects
from cofire.reading.times import times


class RuleReader:
    """Reads by rules: needs no model, gives the same answer every time, thousands of facts a second.

    >>> reading = RuleReader().read(Fact("PgBouncer is a connection pooler. It failed because the disk was full."))
    >>> [mention.name for mention in reading.mentions], [subject.name for subject in reading.subjects]
    (['pgbouncer', 'pg bouncer'], ['pgbouncer', 'pg bouncer'])
    >>> reading.causes[0].cause, reading.category
    ('the disk was full', 'knowledge')
    """

    def read(self, fact: Fact, *, wanted: Wanted = "all") -> Reading:
        return read(fact, names, wanted=wanted)


class NameFinder(Protocol):
    """Finds the names of each sentence; `known` are words in small letters that are names for certain."""

    def __call__(self, sentences: Sequence[str], lines: Sequence[Line], *, known: Set[str]) -> list[list[Name]]: ...


def read(fact: Fact, find_names: NameFinder, *, wanted: Wanted) -> Reading:
    """A fact read by rules, its names found by `find_names`. A rule that fails is left out and named in `failed`."""
    failed: list[str] = []
    text = attempt("said", lambda: said(fact), fact.text, failed)
    cut = attempt("sentences", lambda: sentences(text), [text], failed)
    about = attempt("subjects", lambda: subjects(fact, text), (), failed)
    if wanted == "causes":
        found_causes = attempt("causes", lambda: causes(cut), (), failed)
        return Reading(subjects=about, causes=found_causes, failed=tuple(failed))
    lines: list[Line] = attempt("shapes", lambda: [pieces(sentence) for sentence in cut], [[] for _ in cut], failed)
    named: list[list[Name]] = attempt(
        "names", lambda: _find_names(fact, cut, lines, find_names), [[] for _ in cut], failed
    )
    spans = attempt("times", lambda: times(text, fact.time), (), failed)
    key = attempt("phrases", lambda: phrases(cut), (), failed) if wanted == "all" else ()
    return Reading(
        mentions=attempt("mentions", lambda: mentions(cut, named, about), (), failed),
        subjects=about,
        phrases=key,
        times=spans,
        causes=attempt("causes", lambda: causes(cut), (), failed) if wanted == "all" else (),
        tags=attempt("tags", lambda: tags(key), (), failed),
        category=fact.category or attempt("category", lambda: _category(fact, cut, lines, spans), "knowledge", failed),
        sentences=tuple(cut),
        failed=tuple(failed),
    )


def _find_names(fact: Fact, cut: Sequence[str], lines: Sequence[Line], find_names: NameFinder) -> list[list[Name]]:
    return find_names(cut, lines, known=set(terms(f"{fact.subject or ''} {fact.speaker or ''}")))


def _category(fact: Fact, cut: Sequence[str], lines: Sequence[Line], spans: Sequence[Span]) -> str:
    return category(cut, lines, timed=bool(spans), spoken=bool(fact.speaker))
