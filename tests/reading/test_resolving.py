"""When two names mean one thing, and when they do not."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from cofire.reading.aliases import ALIASES
from cofire.reading.base import BY_RULE, PARTIAL
from cofire.reading.resolving import forms, normal, parts, same
from tests.reading.labelled import rows, score


def test_labelled_pairs_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = rows("pairs.tsv")
    assert len(pairs) >= 80
    result = score(
        (["same"] if same(one, other) >= BY_RULE else [], ["same"] if label == "same" else [])
        for label, one, other in pairs
    )
    with capsys.disabled():
        sys.stdout.write(f" pairs.tsv: {result} ")
    assert result.precision >= 0.95
    assert result.recall >= 0.95


@pytest.mark.parametrize(("label", "one", "other"), rows("pairs.tsv"))
def test_whether_two_names_are_the_same_does_not_depend_on_their_order(label: str, one: str, other: str) -> None:
    assert same(one, other) == same(other, one)


def test_full_name_is_surest_then_variants_then_aliases() -> None:
    sure = [confidence for _, confidence in forms("PostgreSQL 15")]
    assert sure == sorted(sure, reverse=True)
    assert dict(forms("PostgreSQL 15"))["postgresql"] == PARTIAL
    assert dict(forms("PostgreSQL 15"))["postgres"] == BY_RULE


def test_parts_lead_to_other_things_but_are_not_the_same() -> None:
    assert "new york" in parts(normal("New York Times"))
    assert same("New York Times", "New York") == 0


def test_part_of_one_word_only_where_of_sets_it_apart() -> None:
    assert parts("university of copenhagen") == ("copenhagen",)
    assert parts("react native") == ()


def test_aliases_are_in_normal_form_and_mutual() -> None:
    assert all(normal(name) == name for name in ALIASES)
    assert all(name in ALIASES[other] for name, others in ALIASES.items() for other in others)


@settings(max_examples=2000)
@given(some.text(max_size=60))
def test_normal_form_is_its_own_normal_form(text: str) -> None:
    once = normal(text)
    assert normal(once) == once
    assert once == once.strip()
    assert "  " not in once


@given(some.text(max_size=60))
def test_thing_is_the_same_as_itself(text: str) -> None:
    assert same(text, text) == (1.0 if normal(text) else 0.0)
