"""Filters by metadata: definition, encoding, and how the stores keep their index in step with what is written."""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from cofire.errors import InvalidInput
from cofire.memory import Memory
from cofire.stores.base import Store
from cofire.stores.metadata_filter import (
    COMPARISON_OPERATORS,
    Condition,
    conditions_to_mapping,
    encode_value,
    parse_conditions,
    parse_expressions,
)
from cofire.stores.sqlite import fact_sql
from cofire.stores.sqlite.fact_sql import MAX_CACHED_CONDITIONS
from cofire.stores.sqlite.store import SqliteStore
from tests.conftest import sqlite_store
from tests.reference_store.store import ReferenceStore
from tests.stores.making import Pen, cue, everywhere

# Three facts without vectors, two of them with metadata, written by schema 8.
OLD_FILE = Path(__file__).parent / "files" / "schema_8.db.gz"

NUMBERS = (
    st.integers(-(2**65), 2**65) | st.integers(2**53 - 2, 2**53 + 2) | st.floats(allow_nan=False, allow_infinity=False)
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | NUMBERS | TEXTS
KEYS = st.sampled_from(["a", "b", "a.b", "a.a"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=2), max_leaves=6
)
METADATA = st.dictionaries(KEYS, VALUES, max_size=3)
WANTED = (
    SCALARS
    | st.lists(SCALARS, min_size=1, max_size=3)
    | st.dictionaries(st.sampled_from(["eq", "ne"]), SCALARS | st.lists(SCALARS, min_size=1, max_size=2), min_size=1)
    | st.dictionaries(st.sampled_from(list(COMPARISON_OPERATORS)), NUMBERS | TEXTS, min_size=1)
    | st.dictionaries(st.just("exists"), st.booleans(), min_size=1)
)
WHERES = st.dictionaries(KEYS, WANTED, min_size=1, max_size=2)


# What every store is filled with where it is too slow to be filled anew for each filter.
POPULATION: list[dict[str, Any]] = [
    {},
    *({"a": value} for value in (0, -1, 2, 2.0, -2.5, 2**53 + 1, 2**63, 10**400, "", "a", "2", "\uff5e", "\U0001f600")),
    *({"a": value} for value in (None, True, False, [], {}, [1, "b"], [[-3], None], {"b": 1}, {"a": {"b": [1, True]}})),
    {"a.b": 3, "a": {"b": "b"}},
    {"b": "a", "a": [{"b": 0}, {"a": 2}]},
    {"b": [0, 3], "a.a": None},
]


def values_under(value: Any, path: str) -> Iterator[Any]:
    """Everything that a key with dots leads to, a list and each of its elements too."""
    if not path:
        yield value
    if isinstance(value, list):
        for element in value:
            yield from values_under(element, path)
    elif isinstance(value, dict) and path:
        for key, nested in value.items():
            if path == key or path.startswith(f"{key}."):
                yield from values_under(nested, path[len(key) + 1 :])


def comparable(value: Any) -> tuple[str, Any]:
    """The type of a value as metadata tell types apart, and the value; integers beyond 64 bits as floats."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return type(value).__name__, value
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        value = float(value) if abs(value) < 10**308 else math.inf * (1 if value > 0 else -1)
    return "number", value


def passes(metadata: dict[str, Any], where: dict[str, Any]) -> bool:
    """A filter by metadata in plain Python, written apart from the package."""
    return all(
        passes_one(list(values_under(metadata, key)), operator, wanted)
        for key, condition in where.items()
        for operator, wanted in (condition if isinstance(condition, dict) else {"eq": condition}).items()
    )


def passes_one(values: list[Any], operator: str, wanted: Any) -> bool:
    if operator == "exists":
        return bool(values) is wanted
    anything = [comparable(one) for one in (wanted if isinstance(wanted, list) else [wanted])]
    present = [comparable(value) for value in values]
    if operator in ("eq", "ne"):
        return any(value in anything for value in present) is (operator == "eq")
    kind, bound = anything[0]
    below, equal = {"gt": (False, False), "gte": (False, True), "lt": (True, False), "lte": (True, True)}[operator]
    return any((equal if value == bound else (value < bound) is below) for name, value in present if name == kind)


def listed(store: Store, where: dict[str, Any]) -> list[str]:
    return [fact.text for fact in store.list_facts(everywhere(metadata=parse_conditions(where)), 100, None)]


def matched(store: Store, where: dict[str, Any]) -> set[str]:
    """The same as recall looks for it: by the index in memory."""
    ids = store.search_words(cue("tea"), 100, everywhere(metadata=parse_conditions(where)))
    return {fact.text for fact in store.read_facts(ids) if fact}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    with closing(sqlite_store(tmp_path_factory.mktemp("metadata"))) as opened:
        yield opened


@given(st.lists(METADATA, max_size=5), st.lists(WHERES, min_size=1, max_size=4))
def test_sqlite_finds_what_the_reference_finds(file: SqliteStore, told: list[Any], wheres: list[Any]) -> None:
    reference = ReferenceStore()
    for number, metadata in enumerate(told):
        for store in (reference, file):
            fact = Pen(store).new(f"tea {number}")
            Pen(store).write(replace(fact, fact=replace(fact.fact, id=f"{number:026}", metadata=metadata)))
    for where in wheres:
        selected = {f"tea {number}" for number, metadata in enumerate(told) if passes(metadata, where)}
        assert set(listed(reference, where)) == selected
        assert listed(file, where) == listed(reference, where)
        assert matched(file, where) == matched(reference, where) == set(listed(reference, where))
    Pen(file).forget(*(f"{number:026}" for number in range(len(told))))


def test_every_store_finds_what_plain_python_selects(store: Store, pen: Pen) -> None:
    pen.write(*(pen.new(f"tea {number}", metadata=metadata) for number, metadata in enumerate(POPULATION)))

    @settings(max_examples=50, phases=[Phase.generate])
    @given(WHERES)
    def check(where: dict[str, Any]) -> None:
        selected = {f"tea {number}" for number, metadata in enumerate(POPULATION) if passes(metadata, where)}
        assert matched(store, where) == set(listed(store, where)) == selected

    check()


@given(SCALARS, SCALARS)
def test_encoded_values_compare_like_the_values(a: Any, b: Any) -> None:
    for operator in ("eq", *COMPARISON_OPERATORS):
        if operator == "eq" or encode_value(b)[0] in "ns":
            condition = Condition("key", operator, (b,))
            low, high = condition.span if operator != "eq" else (encode_value(b), encode_value(b) + "\x00")
            assert condition.holds({"key": a}) == (low <= encode_value(a) < high)


@given(WHERES)
def test_conditions_can_be_written_out_and_read_again(where: dict[str, Any]) -> None:
    assert parse_conditions(conditions_to_mapping(parse_conditions(where))) == parse_conditions(where)


def test_not_is_another_name_of_ne() -> None:
    assert parse_conditions({"a": {"not": ["x", 1]}}) == parse_conditions({"a": {"ne": ["x", 1]}})
    assert conditions_to_mapping(parse_conditions({"a": {"not": "x", "ne": 1}})) == {"a": {"ne": ["x", 1]}}


def test_integers_beyond_64_bits_compare_as_floats() -> None:
    assert Condition("n", "eq", (2**70,)).holds({"n": 2**70 + 1})
    assert Condition("n", "gt", (10**308,)).holds({"n": 10**400})
    assert Condition("n", "lt", (0,)).holds({"n": -(10**400)})


def test_the_index_follows_every_change(pen: Pen, store: Store) -> None:
    first = pen.tell("tea one", metadata={"project": "x", "pages": [1, 2]})
    assert listed(store, {"project": "x"}) == ["tea one"]
    assert matched(store, {"pages": {"gt": 1}}) == {"tea one"}
    pen.tell("tea one", metadata={"project": "y"})
    assert (matched(store, {"project": "x"}), matched(store, {"project": "y"})) == (set(), {"tea one"})
    told = pen.new("tea one", metadata={"pages": 7})
    pen.write(revisions=(replace(told, fact=replace(told.fact, id=first)),))
    assert listed(store, {"project": {"exists": True}}) == []
    assert (matched(store, {"pages": {"gt": 1, "lt": 7}}), matched(store, {"pages": 7})) == (set(), {"tea one"})
    taken = pen.forget(first).taken
    assert (listed(store, {"pages": 7}), matched(store, {"pages": 7})) == ([], set())
    pen.write(put_back=taken)
    assert listed(store, {"pages": 7}) == ["tea one"]
    assert matched(store, {"pages": 7}) == matched(store, {"project": {"ne": "x"}}) == {"tea one"}
    assert store.check() == []


def test_more_conditions_than_are_remembered_find_the_same(file: SqliteStore) -> None:
    pen = Pen(file)
    ids = [fact.id for fact in pen.write(*(pen.new(f"tea {n}", metadata={"n": n}) for n in range(50))).facts]
    for _ in range(2):
        assert [matched(file, {"n": n}) for n in range(MAX_CACHED_CONDITIONS + 5)] == [
            {f"tea {n}"} for n in range(MAX_CACHED_CONDITIONS + 5)
        ]
    pen.forget(*ids)


def test_true_and_one_are_told_apart_when_remembered(file: SqliteStore) -> None:
    pen = Pen(file)
    ids = [
        fact.id for fact in pen.write(pen.new("tea 1", metadata={"n": 1}), pen.new("tea 2", metadata={"n": True})).facts
    ]
    assert (matched(file, {"n": 1}), matched(file, {"n": True})) == ({"tea 1"}, {"tea 2"})
    pen.forget(*ids)


@pytest.mark.parametrize("where", [{"project": "x"}, {"priority": {"gte": 3}}, {"owner": {"exists": True}}])
def test_a_listing_looks_metadata_up_in_their_index(file: SqliteStore, where: dict[str, Any]) -> None:
    plan = explained(file, where)
    assert any("SEARCH m USING COVERING INDEX metadata_values_by_key (key=?" in step for step in plan)
    assert not any(step.startswith("SCAN f") for step in plan)


def explained(file: SqliteStore, where: dict[str, Any]) -> list[str]:
    clause, bound = fact_sql.build_where_clause(everywhere(metadata=parse_conditions(where)))
    with file._reading() as connection:
        sql = f"EXPLAIN QUERY PLAN {fact_sql.SELECT_FACTS} WHERE {clause} ORDER BY f.id DESC LIMIT 10"
        return [str(row[3]) for row in connection.execute(sql, bound)]


@pytest.fixture
def old_file(tmp_path: Path) -> Path:
    path = tmp_path / "old.db"
    path.write_bytes(gzip.decompress(OLD_FILE.read_bytes()))
    return path


def test_metadata_of_an_older_file_can_be_filtered(old_file: Path) -> None:
    with Memory(str(old_file), embedder=None) as memory:
        found = memory.recall("When does the pilot start?", where={"priority": {"gte": 3}})
        assert [hit.text for hit in found] == ["The pilot of Aurora starts in June."]
        named = memory.facts(where={"owner.name": "Ana"})
        assert [fact.text for fact in named] == ["The pilot of Borealis starts in July."]
        assert memory.check() == []


def test_nothing_of_forgotten_metadata_is_left_in_the_table(old_file: Path) -> None:
    with Memory(str(old_file), embedder=None) as memory:
        memory.forget(where={"project": ["aurora", "borealis"]})
    with closing(apsw.Connection(str(old_file))) as connection:
        assert connection.execute("SELECT count(*) FROM metadata_values").get == 0


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("project=x", "must be a mapping"),
        ({}, "where is empty"),
        ({"priority": {"above": 3}}, "Did you mean gt?"),
        ({"priority": {"$gte": 3}}, "Did you mean gte?"),
        ({"priority": {">=": 3}}, "Did you mean gte?"),
        ({"priority": {"exsits": True}}, "Did you mean exists?"),
        ({"priority": {"GT": 3}}, "Did you mean gt?"),
        ({"priority": {"$in": [3]}}, "Did you mean eq, which takes a list as well?"),
        ({"priority": {"$not": 3}}, "Did you mean ne?"),
        ({"priority": {3: 3}}, "eq, ne, gt, gte, lt, lte, exists"),
        ({"owner": {"surname": "Ana"}}, 'use the key "owner.surname"'),
        ({"priority": {}}, "empty condition for priority"),
        ({"priority": []}, "empty list for priority"),
        ({"priority": [[1]]}, "cannot compare priority"),
        ({"priority": {"eq": {"a": 1}}}, 'as in "priority.a"'),
        ({"priority": {"gte": None}}, "gte takes a number or text"),
        ({"priority": {"gte": [1, 2]}}, "gte takes one value"),
        ({"priority": {"exists": "yes"}}, "true or false"),
        ({"priority": float("nan")}, "Give a finite number"),
        ({"due": date(2026, 5, 8)}, 'compare with ISO text, "2026-05-08"'),
        ({"priority": "\ud800"}, "unpaired surrogate"),
        ({"priority": b"x"}, "type bytes cannot be in metadata"),
        ({"priority": object()}, "type object cannot be in metadata"),
        ({"": 1}, "a key is text"),
        ({3: 1}, "a key is text"),
    ],
)
def test_a_filter_that_cannot_be_applied_is_refused_with_what_is_allowed(where: Any, says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_conditions(where)
    assert says in str(refused.value)


def test_expressions_are_read_as_conditions() -> None:
    read = parse_expressions(["a = x y", 'b="3"', "c!=4", "d<1.5", "d>-2", "e=a=b", "f=", "g.h", "i=true", "i=null"])
    assert read == {
        "a": {"eq": ["x y"]},
        "b": {"eq": ["3"]},
        "c": {"ne": [4, "4"]},
        "d": {"lt": 1.5, "gt": -2},
        "e": {"eq": ["a=b"]},
        "f": {"eq": [""]},
        "g.h": {"exists": True},
        "i": {"eq": [True, "true", None, "null"]},
    }


@pytest.mark.parametrize("expression", ["", "  ", "=x", ">3", "!"])
def test_an_expression_without_a_key_is_refused(expression: str) -> None:
    with pytest.raises(InvalidInput, match="as in priority>=3"):
        parse_expressions([expression])


@pytest.mark.parametrize("expression", ["a>>3", "a=>3", "a<>3", "a!b", "a!", "a===b"])
def test_an_unknown_sign_is_refused(expression: str) -> None:
    with pytest.raises(InvalidInput, match=r"where has no operator .* >= "):
        parse_expressions([expression])


def test_a_doubled_equals_sign_is_equality() -> None:
    assert parse_expressions(["project==x"]) == parse_expressions(["project=x"])


def test_two_bounds_of_one_kind_are_refused() -> None:
    with pytest.raises(InvalidInput, match="Keep one of the two"):
        parse_expressions(["a>1", "a>2"])
