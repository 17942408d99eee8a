"""Which newer text may replace an older one as the answer to a question, on pairs of texts."""

from __future__ import annotations

import pytest

from cofire.text.versions import is_about_past, is_possible_replacement, read_question_wording, read_wording

VERSIONS = [
    ("Is the freezer full?", "The freezer is full.", "The freezer is defrosted."),
    ("Has the parcel from Oslo arrived?", "The parcel from Oslo has arrived.", "The parcel from Oslo went missing."),
    ("What is the oven set to?", "The oven is set to 180 degrees.", "I turned the oven down to 150 degrees."),
    ("Who is my insurer?", "My car insurance is with Helvia.", "I am insured with Baltus."),
    ("Where is Tore's scarf?", "Tore's scarf is on the shelf.", "Tore keeps his scarf in the drawer."),
    ("When is the lesson?", "The lesson takes place on Monday.", "The lesson was moved to Friday."),
    ("Is Runa allergic to nuts?", "Runa is allergic to nuts.", "Runa has outgrown her nut allergy."),
    ("Which school does Felix go to?", "Felix goes to Oakfield Primary.", "Felix goes to Saint Anne's."),
    (
        "Which club does Clara train with?",
        "Clara trains at Neptune.",
        "Clara has been training with Poseidon since May.",
    ),
    ("Is the excursion taking place?", "The excursion is on Saturday.", "The excursion was called off."),
    ("What is the state of the loan application?", "The loan application is pending.", "The loan was granted in May."),
]
TWO_THINGS = [
    (
        "What is the orders table stored in?",
        "The orders table is stored in Oracle.",
        "The users table is stored in MySQL.",
    ),
    ("Where does my sister work?", "My sister works at Philips.", "My sister-in-law works at Bosch."),
    ("What does the plan cost?", "The plan costs 900 a month.", "The database of the plan costs 300 a month."),
    ("What is on the left shelf?", "Jars are on the left.", "Books are on the right."),
    ("Until when is Otto away?", "Otto is away until 5 June.", "Ruth is away until 19 June."),
    ("port of grafana", "port grafana 3000", "port prometheus 9090"),
    ("What is the rental van?", "The rental van is a Ford Transit.", "The rental van had a scratch on the door."),
    ("How many bedrooms has the cottage?", "The cottage has three bedrooms.", "The cottage has a thatched roof."),
    ("When is the maths exam?", "The maths exam is on Friday.", "The maths exam is 90 minutes long."),
    ("What is Paula's job?", "Paula is a nurse.", "Paula is left-handed."),
    ("How many ports has the switch?", "The switch has 48 ports.", "The switch was made by Juniper."),
    ("Who wrote the chapter on caching?", "Bo wrote the chapter on caching.", "Bo wrote the chapter on queues."),
    ("How many people work in Porto?", "In Porto work 12 people.", "In Porto may soon work 20 people."),
    ("Does Lumi play the flute?", "Lumi plays the flute.", "Lumi plays table tennis."),
]


def can_replace(question: str, older: str, newer: str) -> bool:
    old, new = read_wording(older, None), read_wording(newer, None)
    assert old is not None
    assert new is not None
    return is_possible_replacement(read_question_wording(question), old, new)


@pytest.mark.parametrize(("question", "older", "newer"), VERSIONS)
def test_another_value_of_the_same_thing_replaces_the_older_one(question: str, older: str, newer: str) -> None:
    assert can_replace(question, older, newer)


@pytest.mark.parametrize(("question", "older", "newer"), TWO_THINGS)
def test_a_value_of_another_thing_replaces_nothing(question: str, older: str, newer: str) -> None:
    assert not can_replace(question, older, newer)


def test_a_first_aid_kit_is_not_of_the_past() -> None:
    assert not is_about_past("Where is the first-aid kit?")
    assert is_about_past("What was the first name of the product?")
