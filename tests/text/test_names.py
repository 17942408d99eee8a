"""Names in a text: the labelled sets, and the most error-prone cases."""

import sys

import pytest

from cofire.model import Fact
from cofire.text.base import FULL_CONFIDENCE
from cofire.text.entities import normalise_name
from cofire.text.names import NamedEntity, extract_names
from cofire.text.rule_reader import RuleReader
from cofire.text.segmentation import split_sentences, tokenise_sentence
from tests.text.labelled import rows, score


def named(text: str, known: frozenset[str] = frozenset()) -> list[str]:
    return [name.surface for name in all_names(text, known) if not name.joined]


def all_names(text: str, known: frozenset[str] = frozenset()) -> list[NamedEntity]:
    cut = split_sentences(text)
    return [
        name for found in extract_names(cut, [tokenise_sentence(one) for one in cut], known=known) for name in found
    ]


def labels(listed: str) -> list[str]:
    return [normalise_name(name.strip()) for name in listed.split("|") if name.strip()]


@pytest.mark.parametrize("name", ["names.tsv", "names_held_back.tsv"])
def test_names_of_the_labelled_texts_are_found(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The rules were written looking at the first set; the second was written later, and no rule was changed because of it."""
    result = score((map(normalise_name, named(text)), labels(listed)) for text, listed in rows(name))
    with capsys.disabled():
        sys.stdout.write(f" {name}: {result} ")
    assert result.precision >= 0.9
    assert result.recall >= 0.85


@pytest.mark.parametrize("name", ["names.tsv", "names_held_back.tsv"])
def test_mentions_as_written_are_the_labelled_names(name: str) -> None:
    reader = RuleReader()
    found = (
        [one.name for one in reader.read(Fact(text)).mentions if one.confidence == FULL_CONFIDENCE]
        for text, _ in rows(name)
    )
    result = score(zip(found, (labels(listed) for _, listed in rows(name)), strict=True))
    assert result.precision >= 0.9
    assert result.recall >= 0.85


def test_the_labelled_set_is_large_enough_to_tell() -> None:
    assert len(rows("names.tsv")) >= 150


@pytest.mark.parametrize("text", ["However, it works.", "Thanks!", "Wow, nice.", "On Friday in March.", "I may go."])
def test_words_and_times_with_capitals_are_no_names(text: str) -> None:
    assert named(text) == []


def test_word_that_begins_a_sentence_is_a_name_if_the_text_also_capitalises_it_elsewhere() -> None:
    assert named("Grace is late. We wait for Grace.") == ["Grace", "Grace"]
    assert named("Grace under pressure.") == []


def test_word_that_begins_a_sentence_is_none_if_the_text_also_writes_it_small() -> None:
    assert named("Sharding is hard, but sharding helps.") == []


def test_word_known_from_the_subject_is_a_name_wherever_it_stands() -> None:
    assert named("Grace under pressure.", known=frozenset({"grace"})) == ["Grace"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("we met Ana", "name"),
        ("ask the NSA", "acronym"),
        ("see parse_header()", "code"),
        ("read src/main.rs", "path"),
        ("read https://example.org/x", "url"),
        ("mail ana@example.org", "email"),
        ("since v1.2.3", "version"),
        ("pass --force", "flag"),
        ('hear "Katy Lied"', "title"),
        ("set `work_mem`", "code"),
    ],
)
def test_each_kind_of_name_is_told(text: str, kind: str) -> None:
    assert [name.kind for name in all_names(text)] == [kind]


def test_small_words_join_a_name_and_others_part_it() -> None:
    assert named("She left the University of Cape Town in Ghana for Ludwig van der Rohe.") == [
        "University of Cape Town",
        "Ghana",
        "Ludwig van der Rohe",
    ]


def test_two_names_with_and_are_also_read_as_one() -> None:
    found = all_names("we heard Simon and Garfunkel")
    assert [(name.surface, name.joined) for name in found] == [
        ("Simon", False),
        ("Simon and Garfunkel", True),
        ("Garfunkel", False),
    ]


def test_possessive_parts_names_unless_the_thing_is_named_so() -> None:
    assert named("we saw Google's Sundar Pichai") == ["Google", "Sundar Pichai"]
    assert named("we saw Schindler's List") == ["Schindler's List"]


def test_capitals_behind_marks_are_names_of_their_own() -> None:
    assert named("in Paris, France (Europe) – Oslo") == ["Paris", "France", "Europe", "Oslo"]


def test_surface_keeps_its_accents() -> None:
    assert named("we met Élodie Brûlé") == ["Élodie Brûlé"]


def test_names_in_other_scripts_with_capitals_are_found() -> None:
    assert named("он живёт в Москве с Анной") == ["Москве", "Анной"]


def test_speech_in_quotes_is_read_on() -> None:
    assert named('he said "I met Ana in Oslo."') == ["Ana", "Oslo"]
