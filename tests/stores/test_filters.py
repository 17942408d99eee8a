"""Filters: whatever way a store looks for facts, it sees exactly those that `Where.admits` admits."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from cofire.model import Fact, FactFilter
from cofire.stores.base import Store
from cofire.stores.metadata_filter import parse_conditions as metadata_conditions
from tests.stores.making import DAY, NOW, Pen, asked, cue, everywhere, vector

MICROSECOND = timedelta(microseconds=1)

POPULATION: list[dict[str, Any]] = [
    {},
    {"scope": "a"},
    {"scope": "b", "category": "note", "speaker": "Ana", "session": "one"},
    {"scope": "b", "category": "note", "speaker": "Ben", "session": "two"},
    {"category": "note", "tags": ("db",)},
    {"category": "Note", "tags": ("db", "prod"), "speaker": "ana"},
    {"category": "log", "tags": ("db", "prod", "slow"), "session": "one"},
    {"speaker": "Ana", "session": "two", "tags": ("prod",)},
    {"at": NOW - 10 * DAY},
    {"at": NOW - 5 * DAY, "stored_at": NOW - 4 * DAY},
    {"at": NOW + 5 * DAY},
    {"stored_at": NOW - 5 * DAY},
    {"stored_at": NOW - 5 * DAY + MICROSECOND},
    {"valid_from": NOW - DAY},
    {"valid_from": NOW},
    {"valid_from": NOW + MICROSECOND},
    {"valid_until": NOW - DAY},
    {"valid_until": NOW},
    {"valid_until": NOW + MICROSECOND},
    {"valid_from": NOW - 3 * DAY, "valid_until": NOW - DAY, "stored_at": NOW - 4 * DAY},
    {"expires": NOW - MICROSECOND},
    {"expires": NOW},
    {"expires": NOW + DAY},
    {"expires": NOW + DAY, "valid_until": NOW - DAY},
    {"metadata": {"project": "x", "priority": 3, "done": True}},
    {"metadata": {"project": "y", "priority": 3.0, "done": 1, "owner": {"name": "Ana", "team": None}}},
    {"metadata": {"project": ["x", "y"], "priority": "3", "due": "2026-05-08", "big": 2**53 + 1}},
    {"metadata": {"project": None, "priority": -7.5, "due": "2026-06-01T10:00", "owner": []}},
    {"metadata": {"project": "\U0001f600", "priority": 10**400, "big": 2**53}},
    {"metadata": {"project": "\uff5e", "priority": 0, "big": float(2**53)}, "category": "note"},
    {"archived": True},
    {"archived": True, "scope": "a", "category": "note", "tags": ("db",)},
]

METADATA_FILTERS: dict[str, dict[str, Any]] = {
    "text": {"project": "x"},
    "any of two texts": {"project": ["x", "z", "\uff5e"]},
    "null": {"project": None},
    "a number": {"priority": 3},
    "a number or a text": {"priority": [3, "3"]},
    "true is no number": {"done": True},
    "one is not true": {"done": 1},
    "an integer beyond what floats tell apart": {"big": 2**53 + 1},
    "at least a number": {"priority": {"gte": 3}},
    "above a number": {"priority": {"gt": 3}},
    "below a number": {"priority": {"lt": 3}},
    "up to a number": {"priority": {"lte": 0.0}},
    "above an integer that is a float": {"big": {"gt": 2**53}},
    "between two numbers": {"priority": {"gt": -10, "lte": 3}},
    "from a day on": {"due": {"gte": "2026-05-09"}},
    "text in the order of code points": {"project": {"gt": "\uff5d"}},
    "text in the order of code points, below": {"project": {"lt": "\U0001f600"}},
    "not a text": {"project": {"ne": "x"}},
    "none of two": {"project": {"ne": ["x", None]}},
    "a key": {"owner": {"exists": True}},
    "no such key": {"owner": {"exists": False}},
    "a nested key": {"owner.name": "Ana"},
    "a nested null": {"owner.team": None},
    "two keys": {"project": "x", "priority": {"gte": 1}},
}
FILTERS: dict[str, dict[str, Any]] = {
    "every scope": {},
    "one scope": {"scopes": ("default",)},
    "two scopes": {"scopes": ("a", "b")},
    "a scope nobody uses": {"scopes": ("nowhere",)},
    "a known and an unknown scope": {"scopes": ("nowhere", "a")},
    "no scope at all": {"scopes": ()},
    "one tag": {"tags": frozenset({"db"})},
    "two tags, both needed": {"tags": frozenset({"db", "prod"})},
    "a tag nobody has": {"tags": frozenset({"db", "none"})},
    "one category": {"categories": frozenset({"note"})},
    "either category": {"categories": frozenset({"note", "log"})},
    "one speaker": {"speakers": frozenset({"Ana"})},
    "either speaker": {"speakers": frozenset({"Ana", "Ben", "Cleo"})},
    "one session": {"sessions": frozenset({"one"})},
    "either session": {"sessions": frozenset({"one", "two"})},
    "a category as if it were a speaker": {"speakers": frozenset({"note"})},
    **{name: {"metadata": metadata_conditions(where)} for name, where in METADATA_FILTERS.items()},
    "since": {"since": NOW - 5 * DAY},
    "since, to the microsecond": {"since": NOW - 5 * DAY + MICROSECOND},
    "until": {"until": NOW - 5 * DAY},
    "since and until": {"since": NOW - 6 * DAY, "until": NOW - DAY},
    "as of the past": {"as_of": NOW - 2 * DAY},
    "as of the moment of storing": {"as_of": NOW},
    "as of the future": {"as_of": NOW + 10 * DAY},
    "a later now": {"now": NOW + 10 * DAY},
    "an earlier now": {"now": NOW - 2 * DAY},
    "archived too": {"archived": True},
    "whenever it is valid": {"whenever": True},
    "whenever, as of the past": {"whenever": True, "as_of": NOW - 2 * DAY},
    "all there is": {"whenever": True, "archived": True},
    "archived and expired and all": {"archived": True, "now": NOW - 2 * DAY},
    "a community, of which there are none yet": {"community": 0},
    "everything at once": {
        "scopes": ("b", "default"),
        "tags": frozenset({"db"}),
        "categories": frozenset({"note", "log"}),
        "sessions": frozenset({"one"}),
        "metadata": metadata_conditions({"project": {"exists": False}}),
        "since": NOW - DAY,
        "as_of": NOW + DAY,
    },
}


@pytest.fixture
def facts(pen: Pen) -> list[Fact]:
    """One fact of each kind, all with the same word and the same vector."""
    pen.settle()
    for number, parts in enumerate(POPULATION):
        pen.tell(f"tea {number}", vector(1, 1, 0, 0), **parts)
    stored = pen.store.read_facts([f"{number:026}" for number in range(1, len(POPULATION) + 1)])
    return [fact for fact in stored if fact]


def admitted(where: FactFilter, facts: list[Fact]) -> list[str]:
    return sorted((fact.id for fact in facts if where.admits(fact)), reverse=True)


def test_every_search_finds_exactly_what_the_filter_admits(store: Store, facts: list[Fact]) -> None:
    expected = {name: admitted(everywhere(**conditions), facts) for name, conditions in FILTERS.items()}
    assert found_by_scan(store) == expected
    assert found_by_words(store) == expected
    assert found_by_vectors(store) == expected


def found_by_scan(store: Store) -> dict[str, list[str]]:
    return {
        name: [fact.id for fact in store.list_facts(everywhere(**parts), 100, None)] for name, parts in FILTERS.items()
    }


def found_by_words(store: Store) -> dict[str, list[str]]:
    return {
        name: sorted(store.search_words(cue("tea"), 100, everywhere(**parts)), reverse=True)
        for name, parts in FILTERS.items()
    }


def found_by_vectors(store: Store) -> dict[str, list[str]]:
    return {
        name: list(store.search_vectors(asked(1, 1, 0, 0), 100, everywhere(**parts), 400))
        for name, parts in FILTERS.items()
    }


def test_filters_cover_every_field_of_where() -> None:
    used = {field for conditions in FILTERS.values() for field in conditions}
    # Only a scan is asked for pinned facts alone: test_reading does.
    assert used == set(FactFilter.__dataclass_fields__) - {"pinned"}


def test_every_filter_but_the_impossible_admits_some_and_refuses_some(pen: Pen, facts: list[Fact]) -> None:
    nobody = {"a scope nobody uses", "no scope at all", "a tag nobody has", "a category as if it were a speaker"}
    nobody.add("a community, of which there are none yet")
    empty = {name for name, conditions in FILTERS.items() if not admitted(everywhere(**conditions), facts)}
    full = {
        name for name, conditions in FILTERS.items() if len(admitted(everywhere(**conditions), facts)) == len(facts)
    }
    assert empty == nobody
    assert full == {"all there is"}


def test_filters_hold_after_facts_were_removed_and_added(store: Store, pen: Pen, facts: list[Fact]) -> None:
    pen.forget(*(fact.id for fact in facts[::2]))
    pen.tell("tea again", vector(1, 1, 0, 0), tags=("db",), category="note")
    left = store.list_facts(everywhere(archived=True, whenever=True), 100, None)
    expected = {name: admitted(everywhere(**conditions), left) for name, conditions in FILTERS.items()}
    assert found_by_scan(store) == found_by_words(store) == found_by_vectors(store) == expected
