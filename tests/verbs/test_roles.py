"""Chats between a person and an assistant: the person tells, the assistant answers in the same words at length."""

from datetime import timedelta

import pytest

from cofire.memory import Memory
from tests.conftest import START

TOLD = "My Honda Jazz squeals when I brake in the morning."
ANSWERED = (
    "A Honda Jazz squeals when brake pads wear: in the morning a film of rust may also squeal. Have the pads of your Honda Jazz "
    "measured and replaced at Corner Street Garage, which I would pick for a Honda."
)


@pytest.fixture
def chat(wordy: Memory) -> Memory:
    for minute, (speaker, text) in enumerate((("user", TOLD), ("assistant", ANSWERED))):
        wordy.remember(text, speaker=speaker, session="car", at=START + timedelta(minutes=minute))
    return wordy


def test_what_the_person_told_comes_before_what_the_assistant_echoed(chat: Memory) -> None:
    found = chat.recall("Why does my Honda Jazz squeal when I brake in the morning?")
    assert found[0].text == TOLD


def test_what_the_assistant_said_comes_first_when_it_is_asked_for(chat: Memory) -> None:
    found = chat.recall("Which garage for the brake pads of my Honda did you recommend?")
    assert found[0].text == ANSWERED


def test_people_who_talk_with_each_other_count_alike(wordy: Memory) -> None:
    one, other = wordy.remember(["The brake of the Honda squeals.", "That brake of the Honda squeals."], speaker="Ana")
    scores = {hit.id: hit.score for hit in wordy.recall("Does the brake of the Honda squeal?")}
    assert scores[one] == pytest.approx(scores[other])
