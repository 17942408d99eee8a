"""The default reader: everything that a fact says, by rules alone. Puts the other modules of this room together."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Protocol

from cofire.model import Fact
from cofire.reading.base import Reading, Wanted
from cofire.reading.causes import causes
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
    """A fact read by rules, its names found by whoever knows names."""
    text = said(fact)
    cut = sentences(text)
    about = subjects(fact, text)
    if wanted == "causes":
        return Reading(subjects=about, causes=causes(cut))
    lines = [pieces(sentence) for sentence in cut]
    named = find_names(cut, lines, known=set(terms(f"{fact.subject or ''} {fact.speaker or ''}")))
    spans = times(text, fact.time)
    key = phrases(cut) if wanted == "all" else ()
    return Reading(
        mentions=mentions(cut, named, about),
        subjects=about,
        phrases=key,
        times=spans,
        causes=causes(cut) if wanted == "all" else (),
        tags=tags(key),
        category=fact.category or category(cut, lines, timed=bool(spans), spoken=bool(fact.speaker)),
        sentences=tuple(cut),
    )
