"""When two names mean the same thing, and when they do not."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from cofire.text.base import PARTIAL_CONFIDENCE, RULE_CONFIDENCE
from cofire.text.entities import list_name_forms, list_name_parts, name_match_confidence, normalise_name
from cofire.text.vocabulary import ALIASES
from tests.text.labelled import rows, score


def test_labelled_pairs_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = rows("pairs.tsv")
    assert len(pairs) >= 80
    result = score(
        (["same"] if name_match_confidence(one, other) >= RULE_CONFIDENCE else [], ["same"] if label == "same" else [])
        for label, one, other in pairs
    )
    with capsys.disabled():
        sys.stdout.write(f" pairs.tsv: {result} ")
    assert result.precision >= 0.95
    assert result.recall >= 0.95


@pytest.mark.parametrize(("label", "one", "other"), rows("pairs.tsv"))
def test_whether_two_names_are_the_same_does_not_depend_on_their_order(label: str, one: str, other: str) -> None:
    assert name_match_confidence(one, other) == name_match_confidence(other, one)


def test_full_name_is_surest_then_variants_then_aliases() -> None:
    sure = [confidence for _, confidence in list_name_forms("PostgreSQL 15")]
    assert sure == sorted(sure, reverse=True)
    assert dict(list_name_forms("PostgreSQL 15"))["postgresql"] == PARTIAL_CONFIDENCE
    assert dict(list_name_forms("PostgreSQL 15"))["postgres"] == RULE_CONFIDENCE


def test_parts_lead_to_other_things_but_are_not_the_same() -> None:
    assert "new york" in list_name_parts(normalise_name("New York Times"))
    assert name_match_confidence("New York Times", "New York") == 0


def test_part_of_one_word_only_where_of_sets_it_apart() -> None:
    assert list_name_parts("university of copenhagen") == ("copenhagen",)
    assert list_name_parts("react native") == ()


def test_aliases_are_in_normal_form_and_mutual() -> None:
    assert all(normalise_name(name) == name for name in ALIASES)
    assert all(name in ALIASES[other] for name, others in ALIASES.items() for other in others)


@settings(max_examples=2000)
@given(some.text(max_size=60))
def test_normal_form_is_its_own_normal_form(text: str) -> None:
    once = normalise_name(text)
    assert normalise_name(once) == once
    assert once == once.strip()
    assert "  " not in once


@given(some.text(max_size=60))
def test_thing_is_the_same_as_itself(text: str) -> None:
    assert name_match_confidence(text, text) == (1.0 if normalise_name(text) else 0.0)
