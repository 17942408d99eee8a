"""`cofire explore`: paths as a tree, or in JSON as the reference says."""

from __future__ import annotations

import pytest

from tests.interfaces.calling import Store, call
from tests.interfaces.cli.test_json_shapes import EXAMPLES, shape

TEA, MEI = "Tea is at four.", "Mei likes sweet things."

UNKNOWN = "01KDVDNA000000000000000001"


@pytest.fixture
def ids(store: Store) -> list[str]:
    ids = store.holds(TEA, MEI)
    call("connect", *ids, "--kind", "causes", "--weight", "0.8", "--confidence", "0.5", "--tag", "why")
    return ids


def test_paths_are_drawn_with_energy_kind_and_end(ids: list[str]) -> None:
    ran = call("explore", ids[0])
    assert ran.out.splitlines() == [
        f"1.000  {TEA}  {ids[0]}",
        f"└── 0.800  causes  {MEI}  {ids[1]}",
        "    └── dead_end: no unvisited neighbour",
    ]


def test_a_question_finds_where_to_start(ids: list[str]) -> None:
    assert MEI in call("explore", "--query", "When is tea?").out


@pytest.mark.parametrize("words", [("When is tea?",), ("tea", "time"), ("tea",)])
def test_arguments_that_are_no_ids_are_a_question(ids: list[str], words: tuple[str, ...]) -> None:
    assert MEI in call("explore", *words).out


def test_tags_prefer_their_links(ids: list[str]) -> None:
    assert "0.120  causes" in call("explore", ids[0], "--tag", "other").out
    assert "0.800  causes" in call("explore", ids[0], "--tag", "why").out


def test_limits_are_passed_on(ids: list[str]) -> None:
    assert "below_threshold" in call("explore", ids[0], "--min-activation", "0.9").out
    assert "max_depth" in call("explore", ids[0], "--max-depth", "1").out
    assert call("explore", ids[0], "--branches", "0").code == 2


def test_an_unknown_id_is_told_and_the_others_are_drawn(ids: list[str]) -> None:
    ran = call("explore", "nobody", ids[0])
    assert ran.code == 0
    assert "seed_not_found" in ran.err
    assert TEA in ran.out


@pytest.mark.parametrize(
    ("unknown", "problem"),
    [((UNKNOWN,), f"No fact has the id {UNKNOWN}."), ((UNKNOWN, "x"), f"No fact has one of the ids {UNKNOWN}, x.")],
)
def test_ids_that_are_all_unknown_are_code_3(ids: list[str], unknown: tuple[str, ...], problem: str) -> None:
    ran = call("explore", *unknown)
    assert (ran.code, ran.out) == (3, "")
    assert problem in ran.err
    assert call("explore", *unknown, "--json").error["kind"] == "NotFound"


def test_a_question_that_finds_nothing_says_why(store: Store) -> None:
    ran = call("explore", "--query", "tea")
    assert (ran.code, bool(ran.out.strip())) == (0, True)


@pytest.mark.parametrize("words", [[], ["ID", "--query", "tea"]])
def test_it_starts_from_ids_or_a_question(ids: list[str], words: list[str]) -> None:
    ran = call("explore", *words, "--json")
    assert ran.code == 2
    assert "ids or from a query" in ran.error["problem"]


def test_answer_is_as_described(ids: list[str]) -> None:
    assert shape(call("explore", ids[0], "--json").json) == shape(EXAMPLES["cofire explore"])
