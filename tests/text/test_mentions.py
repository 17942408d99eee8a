"""The mentions of a fact in all their forms."""

from cofire.model import Fact
from cofire.text.base import FULL_CONFIDENCE, PARTIAL_CONFIDENCE, RULE_CONFIDENCE, Mention
from cofire.text.entities import MAX_MENTIONS_PER_FACT, MAX_MENTIONS_PER_SENTENCE
from cofire.text.rule_reader import RuleReader


def mentions(text: str, **given: str) -> tuple[Mention, ...]:
    return RuleReader().read(Fact(text, **given)).mentions


def sure(text: str, **given: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for mention in mentions(text, **given):
        found[mention.name] = max(found.get(mention.name, 0.0), mention.confidence)
    return found


def test_name_as_written_is_sure_and_its_forms_are_less_so() -> None:
    assert sure("we run PostgreSQL 15") == {
        "postgresql 15": FULL_CONFIDENCE,
        "postgresql": PARTIAL_CONFIDENCE,
        "postgres": RULE_CONFIDENCE,
        "pgsql": RULE_CONFIDENCE,
        "psql": RULE_CONFIDENCE,
    }


def test_mention_says_what_was_written_and_where() -> None:
    assert mentions("It rained. We met Ana's brother Ben.") == (
        Mention("ana", "Ana", "name", 1, FULL_CONFIDENCE),
        Mention("ben", "Ben", "name", 1, FULL_CONFIDENCE),
    )


def test_surname_after_the_full_name_means_that_person() -> None:
    found = mentions("we met Jeff Porcaro. Later Porcaro played.")
    assert [(mention.name, mention.sentence, mention.confidence) for mention in found] == [
        ("jeff porcaro", 0, FULL_CONFIDENCE),
        ("jeff porcaro", 1, PARTIAL_CONFIDENCE),
    ]


def test_surname_of_two_people_means_neither() -> None:
    assert sure("we met Joe Mank and Herman Mank. Mank left.")["mank"] == FULL_CONFIDENCE


def test_surname_of_the_subject_means_the_subject() -> None:
    assert sure("Later Porcaro played drums.", subject="Jeff Porcaro") == {"jeff porcaro": PARTIAL_CONFIDENCE}


def test_last_word_of_what_a_text_begins_with_is_no_surname() -> None:
    assert sure("My dog Biscuit is afraid.") == {"biscuit": FULL_CONFIDENCE}


def test_place_at_the_end_of_a_name_is_no_surname() -> None:
    assert sure("He left the University of Oslo. He loved Oslo.")["oslo"] == FULL_CONFIDENCE


def test_word_in_the_brackets_of_the_subject_is_no_surname() -> None:
    assert (
        sure("The Leader of Opposition in Uganda speaks.", subject="Leader of Opposition (Uganda)")["uganda"]
        == FULL_CONFIDENCE
    )
    assert "jo smith actor" not in sure("Smith met another Actor.", subject="Jo Smith (actor)")


def test_surname_alone_means_only_itself() -> None:
    assert "michael jordan" not in sure("we flew to Jordan")
    assert "jordan" not in sure("we met Michael Jordan")


def test_abbreviation_after_its_definition_means_the_thing_in_full() -> None:
    found = mentions("The Open Geo Consortium (OGC) met. We wrote to OGC.")
    assert [(m.name, m.confidence) for m in found if m.sentence == 1] == [
        ("ogc", FULL_CONFIDENCE),
        ("open geo consortium", RULE_CONFIDENCE),
    ]


def test_parts_of_a_long_name_are_mentioned_less_surely() -> None:
    assert sure("she left the University of North Carolina") == {
        "university of north carolina": FULL_CONFIDENCE,
        "north carolina": PARTIAL_CONFIDENCE,
        "university of north": PARTIAL_CONFIDENCE,
    }


def test_two_names_joined_by_and_may_be_one() -> None:
    assert sure("we heard Simon and Garfunkel")["simon and garfunkel"] == PARTIAL_CONFIDENCE


def test_speaker_in_front_of_a_turn_is_not_mentioned() -> None:
    assert mentions("Ana: the build is red.", speaker="Ana") == ()


def test_long_sentence_keeps_names_as_written_before_their_parts() -> None:
    cities = [f"Alpha{letter} Beta{letter} Gamma{letter}" for letter in "abcdefghijklmnopqrst"]
    found = mentions("we saw " + ", ".join(cities))
    assert len(found) == MAX_MENTIONS_PER_SENTENCE
    assert all(mention.confidence == FULL_CONFIDENCE for mention in found)


def test_fact_mentions_a_bounded_number_of_names() -> None:
    assert len(mentions(" ".join(f"We saw Place{n}x." for n in range(500)))) == MAX_MENTIONS_PER_FACT


def test_mere_numbers_are_not_mentioned() -> None:
    assert mentions("we counted 42 of 1999 in `2024`") == ()
