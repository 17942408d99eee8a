"""Naming: when a fact about something arrives, older facts that speak of it in small letters come to mention it.

A fact that arrives later is linked when it is stored, if somebody is about what it speaks of. So the same facts come to mention
the same names, in whatever order they are told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from cofire.asks import Asking, Read
from cofire.graph_asks import Speaking
from cofire.graph_settings import ENTITY_EDGES, MULTI_GRAPH
from cofire.model import Fact, Mentioned, NewFact
from cofire.reading.failures import attempt
from cofire.reading.sentences import said
from cofire.reading.spoken import split, told_of, words_of
from cofire.settings import Settings

# If more facts hold the words of a new name, looking at them all would keep somebody waiting: that is for a dream. Who tells a single
# fact waits for less than who tells many.
LOOKED_AT, FOR_ONE = 5_000, 200
ALL = 100_000_000

Mentions = dict[str, tuple[Mentioned, ...]]


def earlier_mentions(new: Sequence[NewFact], settings: Settings) -> Asking[Mentions]:
    """Mentions that become visible now that somebody is about their name, by the id of the fact that makes them.

    `new` are facts that are about to be stored; names that somebody is about already are passed over.
    """
    subjects = ((one.fact.scope, name.name) for one in new for name in one.subjects)
    return (yield from _mentions(subjects, settings, most=LOOKED_AT if len(new) > 1 else FOR_ONE, anew=False))


def later_mentions(subjects: Iterable[tuple[str, str]], settings: Settings) -> Asking[Mentions]:
    """Mentions that are missing, of names that facts are about: what would have kept somebody waiting, or was told at once."""
    return (yield from _mentions(subjects, settings, most=ALL, anew=True))


def _mentions(subjects: Iterable[tuple[str, str]], settings: Settings, *, most: int, anew: bool) -> Asking[Mentions]:
    if not (settings[MULTI_GRAPH] and settings[ENTITY_EDGES]):
        return {}
    found: Mentions = {}
    for scope, names in _by_scope(subjects).items():
        wanted = {name: held for name in names if (held := words_of(name))}
        holding: Mapping[str, Sequence[str]] = yield Speaking(scope, wanted, most, anew)
        asked = _by_fact(holding)
        read: list[Fact | None] = (yield Read(list(asked))) if asked else []
        facts = [fact for fact in read if fact is not None]
        for fact in facts:
            split_names = {name: names[name] for name in asked[fact.id]}
            found[fact.id] = attempt("spoken", partial(_told_of, fact, split_names), ())
    return {id: mentions for id, mentions in found.items() if mentions}


def _told_of(fact: Fact, split_names: Mapping[str, Sequence[str]]) -> tuple[Mentioned, ...]:
    return told_of(said(fact), split_names)


def _by_scope(subjects: Iterable[tuple[str, str]]) -> dict[str, dict[str, list[str]]]:
    """The names of each scope that a fact may speak of, each with its words."""
    found: dict[str, dict[str, None]] = {}
    for scope, name in subjects:
        found.setdefault(scope, {})[name] = None
    told = {scope: split(names) for scope, names in found.items()}
    return {scope: names for scope, names in told.items() if names}


def _by_fact(holding: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, ids in holding.items():
        for id in ids:
            found.setdefault(id, []).append(name)
    return found
