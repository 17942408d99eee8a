"""Causal relations stated in a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from cofire.text.causes import EXPLICIT_STRENGTH, MAX_CAUSES, PLAIN_STRENGTH, WEAK_STRENGTH, extract_causes
from cofire.text.segmentation import split_sentences
from tests.text.labelled import rows


@pytest.mark.parametrize(("text", "cause", "effect"), rows("causes.tsv"))
def test_cause_and_effect_are_told_apart(text: str, cause: str, effect: str) -> None:
    found = [(one.cause, one.effect) for one in extract_causes(split_sentences(text))]
    assert found == ([(cause, effect)] if cause else [])


def test_the_list_is_long_and_has_negatives() -> None:
    listed = rows("causes.tsv")
    assert len(listed) >= 60
    assert sum(not cause for _, cause, _ in listed) >= 25


@pytest.mark.parametrize(
    ("text", "cue", "strength"),
    [
        ("It failed because it was old.", "because", EXPLICIT_STRENGTH),
        ("Load led to errors.", "led to", PLAIN_STRENGTH),
        ("It was old, so it failed.", "so", WEAK_STRENGTH),
        ("Since it was old, it failed.", "since", WEAK_STRENGTH),
    ],
)
def test_strength_is_that_of_the_cue(text: str, cue: str, strength: float) -> None:
    (found,) = extract_causes(split_sentences(text))
    assert (found.cue, found.strength) == (cue, strength)


def test_this_stands_for_the_sentence_before() -> None:
    (found,) = extract_causes(["The disk filled up.", "Because of this, the build failed."])
    assert (found.cause, found.effect) == ("The disk filled up", "the build failed")


def test_several_causes_of_one_text_come_in_order() -> None:
    found = extract_causes(split_sentences("It broke because it was old. Rust led to leaks."))
    assert [one.cue for one in found] == ["because", "led to"]


def test_causes_are_few_and_short() -> None:
    found = extract_causes([f"{'long ' * 500} because {'very ' * 500} old." for _ in range(50)])
    assert len(found) == MAX_CAUSES
    assert all(len(one.cause) <= 300 and len(one.effect) <= 300 for one in found)


@given(some.lists(some.text(max_size=80), max_size=5))
def test_any_text_may_be_asked(lines: list[str]) -> None:
    assert all(one.cause and one.effect for one in extract_causes(lines))
