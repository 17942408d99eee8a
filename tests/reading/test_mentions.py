"""The names of a fact in all the forms by which they may meet others."""

from cofire.model import Fact
from cofire.reading.base import BY_RULE, FULL, PARTIAL, Mention
from cofire.reading.mentions import A_FACT, A_SENTENCE
from cofire.reading.rules import RuleReader


def mentions(text: str, **given: str) -> tuple[Mention, ...]:
    return RuleReader().read(Fact(text, **given)).mentions


def sure(text: str, **given: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for mention in mentions(text, **given):
        found[mention.name] = max(found.get(mention.name, 0.0), mention.confidence)
    return found


def test_name_as_written_is_sure_and_its_forms_are_less_so() -> None:
    assert sure("we run PostgreSQL 15") == {
        "postgresql 15": FULL,
        "postgresql": PARTIAL,
        "postgres": BY_RULE,
        "pgsql": BY_RULE,
        "psql": BY_RULE,
    }


def test_mention_says_what_was_written_and_where() -> None:
    assert mentions("It rained. We met Ana's brother Ben.") == (
        Mention("ana", "Ana", "name", 1, FULL),
        Mention("ben", "Ben", "name", 1, FULL),
    )


def test_surname_after_the_full_name_means_that_person() -> None:
    found = mentions("we met Jeff Porcaro. Later Porcaro played.")
    assert [(mention.name, mention.sentence, mention.confidence) for mention in found] == [
        ("jeff porcaro", 0, FULL),
        ("jeff porcaro", 1, PARTIAL),
    ]


def test_surname_of_two_people_means_neither() -> None:
    assert sure("we met Joe Mank and Herman Mank. Mank left.")["mank"] == FULL


def test_surname_of_the_subject_means_the_subject() -> None:
    assert sure("Later Porcaro played drums.", subject="Jeff Porcaro") == {"jeff porcaro": PARTIAL}


def test_last_word_of_what_a_text_begins_with_is_no_surname() -> None:
    assert sure("My dog Biscuit is afraid.") == {"biscuit": FULL}


def test_place_at_the_end_of_a_name_is_no_surname() -> None:
    assert sure("He left the University of Oslo. He loved Oslo.")["oslo"] == FULL


def test_word_in_the_brackets_of_the_subject_is_no_surname() -> None:
    assert sure("The Leader of Opposition in Uganda speaks.", subject="Leader of Opposition (Uganda)")["uganda"] == FULL
    assert "jo smith actor" not in sure("Smith met another Actor.", subject="Jo Smith (actor)")


def test_surname_alone_means_only_itself() -> None:
    assert "michael jordan" not in sure("we flew to Jordan")
    assert "jordan" not in sure("we met Michael Jordan")


def test_abbreviation_after_its_definition_means_the_thing_in_full() -> None:
    found = mentions("The Open Geo Consortium (OGC) met. We wrote to OGC.")
    assert [(m.name, m.confidence) for m in found if m.sentence == 1] == [
        ("ogc", FULL),
        ("open geo consortium", BY_RULE),
    ]


def test_parts_of_a_long_name_are_mentioned_less_surely() -> None:
    assert sure("she left the University of North Carolina") == {
        "university of north carolina": FULL,
        "north carolina": PARTIAL,
        "university of north": PARTIAL,
    }


def test_two_names_joined_by_and_may_be_one() -> None:
    assert sure("we heard Simon and Garfunkel")["simon and garfunkel"] == PARTIAL


def test_speaker_in_front_of_a_turn_is_not_mentioned() -> None:
    assert mentions("Ana: the build is red.", speaker="Ana") == ()


def test_long_sentence_keeps_names_as_written_before_their_parts() -> None:
    cities = [f"Alpha{letter} Beta{letter} Gamma{letter}" for letter in "abcdefghijklmnopqrst"]
    found = mentions("we saw " + ", ".join(cities))
    assert len(found) == A_SENTENCE
    assert all(mention.confidence == FULL for mention in found)


def test_fact_mentions_a_bounded_number_of_names() -> None:
    assert len(mentions(" ".join(f"We saw Place{n}x." for n in range(500)))) == A_FACT


def test_mere_numbers_are_not_mentioned() -> None:
    assert mentions("we counted 42 of 1999 in `2024`") == ()
