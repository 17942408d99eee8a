"""Sentence ends, and the removal of a leading speaker."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from cofire.model import Fact
from cofire.text.segmentation import split_sentences, strip_speaker


@pytest.mark.parametrize(
    "text",
    [
        "Dr. J. Smith met Mrs. Lopez in St. Louis.",
        "It costs 3.50 euros at example.com today.",
        "He works for Acme Inc. in Oslo.",
        "See fig. 3 and no. 7 for details.",
        "Use e.g. tea or i.e. nothing.",
        "Call os.path.join and v1.2.3 now.",
        "a line that was\nwrapped by hand",
    ],
)
def test_this_is_one_sentence(text: str) -> None:
    assert len(split_sentences(text)) == 1


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("It rained. We left!", ["It rained.", "We left!"]),
        ("it rained. we left", ["it rained.", "we left"]),
        ("Really? Yes.", ["Really?", "Yes."]),
        ('He said "Go." She went.', ['He said "Go."', "She went."]),
        ("Born in the U.S. He left.", ["Born in the U.S.", "He left."]),
        ("Title\n\nText.", ["Title", "Text."]),
        ("- one\n- two", ["- one", "- two"]),
        ("Wait... What?", ["Wait...", "What?"]),
        ("雨が降った。寒い。", ["雨が降った。", "寒い。"]),
        ("No. I will not.", ["No.", "I will not."]),
    ],
)
def test_these_are_two(text: str, cut: list[str]) -> None:
    assert split_sentences(text) == cut


def test_nothing_has_no_sentences() -> None:
    assert split_sentences(" \n ") == []


def test_speaker_in_front_of_a_turn_was_not_said() -> None:
    assert strip_speaker(Fact("Ana: hello", speaker="Ana")) == "hello"
    assert strip_speaker(Fact("ANA : hello", speaker="Ana")) == "hello"


def test_other_word_before_a_colon_was_said() -> None:
    assert strip_speaker(Fact("Docker: hello", speaker="Ana")) == "Docker: hello"
    assert strip_speaker(Fact("Ana: hello")) == "Ana: hello"
    assert strip_speaker(Fact("Anastasia: hello", speaker="Ana")) == "Anastasia: hello"


@given(some.text())
def test_no_letter_is_lost(text: str) -> None:
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())
