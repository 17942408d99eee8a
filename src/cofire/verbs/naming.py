"""Naming: when a fact about something arrives, older facts that speak of it in small letters come to mention it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import datetime

from cofire.asks import Asking, Matching, Read, Size, Statistics
from cofire.graph_settings import ENTITY_EDGES, MULTI_GRAPH
from cofire.model import Fact, Mentioned, Where
from cofire.reading.base import Reading
from cofire.reading.ngrams import LONGEST, ngrams
from cofire.reading.resolving import singular, terms
from cofire.reading.sentences import said, sentences
from cofire.reading.words import words
from cofire.settings import Settings
from cofire.stores.base import StoreSize, WordStatistics
from cofire.verbs.cueing import word_cue

LOOKED_AT = 30
LEAST_STRENGTH = 0.8


def later_mentions(
    batch: Sequence[Fact], readings: Sequence[Reading], now: datetime, settings: Settings
) -> Asking[dict[str, tuple[Mentioned, ...]]]:
    """Mentions that become visible only now that their subject is known, by the id of the fact that makes them."""
    if not (settings[MULTI_GRAPH] and settings[ENTITY_EDGES]):
        return {}
    wanted = {
        (fact.scope, subject.name): fact.id
        for fact, reading in zip(batch, readings, strict=True)
        for subject in reading.subjects
        if subject.strength >= LEAST_STRENGTH
    }
    found = _within(batch, wanted)
    size: StoreSize = yield Size()
    if size.facts > len(batch):
        for (scope, name), owner in wanted.items():
            for id, at in (yield from _speaking_of(scope, name, owner, now, settings)).items():
                found.setdefault(id, {})[name] = Mentioned(name, at, 1.0)
    return {id: tuple(names.values()) for id, names in found.items()}


def _within(batch: Sequence[Fact], wanted: Mapping[tuple[str, str], str]) -> dict[str, dict[str, Mentioned]]:
    """Facts of the batch itself that speak of a subject that came after them."""
    found: dict[str, dict[str, Mentioned]] = {}
    openings = {name.split(" ", 1)[0] for _, name in wanted}
    for fact in batch:
        for place, sentence in enumerate(sentences(said(fact))):
            for name in runs_from(openings, terms(sentence)):
                if wanted.get((fact.scope, name), fact.id) != fact.id:
                    before = found.setdefault(fact.id, {}).get(name)
                    at = (*(before.sentences if before else ()), place)
                    found[fact.id][name] = Mentioned(name, at, 1.0)
    return found


def runs_from(openings: Set[str], said: Sequence[str]) -> Iterator[str]:
    """Runs of words that begin as one of the names does, with a plural at their end also as a singular.

    >>> list(runs_from({"connection"}, ["the", "connection", "pools"]))
    ['connection', 'connection pools', 'connection pool']
    """
    for start, word in enumerate(said):
        if word in openings or singular(word) in openings:
            for length in range(1, min(LONGEST, len(said) - start) + 1):
                run = list(said[start : start + length])
                yield from dict.fromkeys((" ".join(run), " ".join([*run[:-1], singular(run[-1])])))


def _speaking_of(
    scope: str, name: str, owner: str, now: datetime, settings: Settings
) -> Asking[dict[str, tuple[int, ...]]]:
    """Facts whose text holds the name as a run of words, capital or not, and in which sentences."""
    held = dict.fromkeys(words(name), 1)
    statistics: WordStatistics = yield Statistics((scope,), tuple(held))
    if not held or not all(statistics.holding) or min(statistics.holding) > LOOKED_AT:
        return {}
    cue = word_cue(held, statistics, settings, hint_weight=0.0)
    ids: list[str] = yield Matching(cue, LOOKED_AT, Where(now, (scope,)))
    facts: list[Fact | None] = yield Read([id for id in ids if id != owner])
    places = {fact.id: _sentences_with(name, fact) for fact in facts if fact is not None}
    return {id: at for id, at in places.items() if at}


def _sentences_with(name: str, fact: Fact) -> tuple[int, ...]:
    return tuple(place for place, one in enumerate(sentences(said(fact))) if name in ngrams(one))
