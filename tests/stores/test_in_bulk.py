"""What is written or described in bulk is the same as one by one."""

from __future__ import annotations

from random import Random

import apsw
import pytest

from cofire.index.terms import (
    SMALL_BATCH,
    PackedTerms,
    add_description_terms,
    add_description_terms_to_all,
    drop_own_words,
    pack_terms,
)
from cofire.stores.sqlite.bulk import (
    ROWS_PER_BATCH,
    ROWS_PER_STATEMENT,
    SCAN_CACHE_KB,
    disable_foreign_keys,
    limit_page_cache,
    write_rows,
)
from cofire.stores.sqlite.connections import SqliteConnection

WORDS = [f"word{number}" for number in range(200)]


def said(chance: Random, most: int) -> dict[str, int]:
    return {word: chance.choice([1, 2, 70_000]) for word in chance.sample(WORDS, chance.randrange(most))}


@pytest.mark.parametrize("facts", [1, SMALL_BATCH + 1, 300])
def test_many_facts_are_described_as_each_would_be(facts: int) -> None:
    chance = Random(facts)
    own = [pack_terms(said(chance, 30), [7]).terms for _ in range(facts)]
    before = [add_description_terms(PackedTerms(b"", b""), said(chance, 4)) for _ in range(facts)]
    counts = [said(chance, 20) for _ in range(facts)]
    each = zip(before, counts, own, strict=True)
    assert add_description_terms_to_all(before, counts, own) == [
        add_description_terms(held, drop_own_words(new, terms)) for held, new, terms in each
    ]


def test_what_one_fact_gives_to_several_is_described_as_for_each() -> None:
    given, nothing = {"tea": 1, "pot": 70_000}, PackedTerms(b"", b"")
    own = [pack_terms({"tea": 1}, ()).terms, b"", b""]
    before = [nothing, nothing, add_description_terms(nothing, {"pot": 2, "cup": 1})]
    each = zip(before, own, strict=True)
    assert add_description_terms_to_all(before, [given] * 3, own) == [
        add_description_terms(held, drop_own_words(given, terms)) for held, terms in each
    ]


def test_many_facts_may_have_nothing_to_be_described_by() -> None:
    nothing = PackedTerms(b"", b"")
    own = [pack_terms({"tea": 1}, ()).terms] * (SMALL_BATCH + 1)
    assert add_description_terms_to_all([nothing] * len(own), [{}] * len(own), own) == [nothing] * len(own)


@pytest.mark.parametrize("many", [0, 1, ROWS_PER_STATEMENT, ROWS_PER_STATEMENT + 1, ROWS_PER_BATCH + 5])
def test_rows_are_written_in_their_order(many: int) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE held (key INTEGER PRIMARY KEY, one INTEGER, other TEXT)")
    rows = [(number * 7 % 1_000, f"row {number}") for number in range(many)]
    write_rows(connection, "INSERT INTO held(one, other) VALUES {}", iter(rows))
    assert list(connection.execute("SELECT one, other FROM held ORDER BY key")) == rows


def test_trust_ends_with_what_was_looked_up() -> None:
    connection = apsw.Connection(":memory:")
    connection.pragma("foreign_keys", True)
    connection.execute("CREATE TABLE facts (key INTEGER PRIMARY KEY); CREATE TABLE held (fact REFERENCES facts(key))")
    with connection:
        with disable_foreign_keys(connection):
            connection.execute("INSERT INTO held VALUES (7)")
        with pytest.raises(apsw.ConstraintError):
            connection.execute("INSERT INTO held VALUES (8)")


def test_what_is_read_once_leaves_a_reader_the_room_it_had() -> None:
    reader = SqliteConnection(":memory:")
    reader.pragma("cache_size", -5_000)
    reader.moment = 1
    with limit_page_cache(reader):
        assert reader.pragma("cache_size") == -SCAN_CACHE_KB
    assert reader.pragma("cache_size") == -5_000


def test_one_who_writes_keeps_its_room_whatever_it_reads() -> None:
    writer = SqliteConnection(":memory:")
    writer.pragma("cache_size", -5_000)
    with limit_page_cache(writer):
        assert writer.pragma("cache_size") == -5_000
