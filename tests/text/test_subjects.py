"""The subjects of a fact and their strengths."""

import pytest

from cofire.model import Fact
from cofire.text.base import FactSubject
from cofire.text.rule_reader import RuleReader
from cofire.text.subjects import (
    ALIAS_SHARE,
    ALSO_KNOWN_STRENGTH,
    BEFORE_COMMA_STRENGTH,
    GIVEN_STRENGTH,
    LEAD_STRENGTH,
    SHORT_NAME_STRENGTH,
    WITHOUT_BRACKETS_STRENGTH,
    find_subjects,
)


def about(text: str, **given: str) -> dict[str, float]:
    return {subject.name: subject.strength for subject in find_subjects(Fact(text, **given), text)}


def test_given_subject_is_strongest_then_without_brackets_then_before_the_comma() -> None:
    assert about("", subject="Springfield, Ohio (city)") == {
        "springfield ohio city": GIVEN_STRENGTH,
        "springfield ohio": WITHOUT_BRACKETS_STRENGTH,
        "springfield": BEFORE_COMMA_STRENGTH,
    }


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("PgBouncer is a connection pooler.", "pgbouncer"),
        ("The Journal of Physics was founded in 1968.", "journal of physics"),
        ("Teutberga (died 875) was a queen.", "teutberga"),
        ("Empress Wang (王) (died 928) was a concubine.", "empress wang"),
        ("Richard Wesley, 1st Baron Mornington, was an Irish peer.", "richard wesley"),
        ("The deploy key is in the vault.", "deploy key"),
        ("Connection pooling means sharing connections.", "connection pooling"),
        ("Dudu or Duda is a banjo player.", "dudu"),
        ('"Love Runs Out" is a song.', "love runs out"),
        ("Dangerously They Live is a film.", "dangerously they live"),
        ("Coral Gardens and Their Magic, a study, is a book.", "coral gardens and their magic"),
        ("Huntington Bancshares, Inc. is a bank.", "huntington bancshares"),
        ("Charlemagne (742) or Charles the Great, was a king.", "charlemagne"),
    ],
)
def test_statement_is_about_what_it_begins_with(text: str, name: str) -> None:
    assert about(text)[name] == LEAD_STRENGTH


@pytest.mark.parametrize(
    "text",
    [
        "It is late.",
        "There was a storm.",
        "However, the disk is full.",
        "When Ana is late, we wait.",
        "I was in Oslo.",
        "What I like is tea.",
        "We met Ana, who was late.",
        '"I am fine" is what she said.',
        "The television industry developed in New York and is large.",
        "Use tabs.",
        "",
    ],
)
def test_other_texts_are_about_nothing_they_say(text: str) -> None:
    assert about(text) == {}


def test_turn_has_a_speaker_and_not_a_subject() -> None:
    assert about("Docker is great.", speaker="Ana") == {}
    assert about("Docker is great.", speaker="Ana", subject="Docker")["docker"] == GIVEN_STRENGTH


def test_other_names_are_weaker_subjects() -> None:
    found = about("Eduardo Filippo, also known as Lalo Gray, was an actor.")
    assert (found["eduardo filippo"], found["lalo gray"]) == (LEAD_STRENGTH, ALSO_KNOWN_STRENGTH)


def test_person_is_also_met_without_middle_names_and_by_nickname() -> None:
    found = about('David Gordon "Dave" Gilmour (1881-1932) was a player.')
    assert (found["david gilmour"], found["dave gilmour"]) == (SHORT_NAME_STRENGTH, SHORT_NAME_STRENGTH)
    assert "new times" not in about("New York Times (the) is a paper.")


def test_abbreviation_of_the_subject_is_a_weaker_subject() -> None:
    assert about("The Open Geo Consortium (OGC) is a club.")["ogc"] == ALSO_KNOWN_STRENGTH


def test_abbreviation_of_something_else_is_none() -> None:
    assert "ogc" not in about("Ana is a member of the Open Geo Consortium (OGC).")


def test_alias_of_the_subject_is_half_as_strong() -> None:
    assert about("", subject="Kubernetes") == {"kubernetes": GIVEN_STRENGTH, "k8s": ALIAS_SHARE}


@pytest.mark.parametrize(
    ("mentioning", "subject"),
    [
        ("we moved to PgBouncer", "pg bouncer"),
        ("we moved to Postgres", "PostgreSQL"),
        ("she met George W. Bush", "George Bush (politician)"),
        ("set `max_connections`", "maxConnections"),
        ("look at docs/README.md", "README.md"),
        ("the APIs of GitHub", "API"),
    ],
)
def test_mention_and_subject_meet_in_one_name(mentioning: str, subject: str) -> None:
    reader = RuleReader()
    mentioned = {mention.name for mention in reader.read(Fact(mentioning)).mentions}
    assert mentioned & {found.name for found in reader.read(Fact("", subject=subject)).subjects}


def test_subject_is_a_plain_value() -> None:
    assert find_subjects(Fact("", subject="Oslo"), "") == (FactSubject("oslo", 1.0),)
