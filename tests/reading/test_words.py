"""Words: whatever a text looks like, facts and questions are cut into the same findable pieces."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from cofire.reading.words import STOP_WORDS, all_spellings, counts, fold, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Tea, at four!", ["tea", "four"]),
        ("running runs", ["run", "run"]),
        ("The user's cup", ["user", "cup"]),
        ("the user’s cup", ["user", "cup"]),
        ("don't", ["dont"]),
        ("", []),
        ("… — !?", []),
        ("🙂🙂", []),
    ],
)
def test_plain_text(text: str, found: list[str]) -> None:
    assert words(text) == found


@pytest.mark.parametrize(
    ("identifier", "found"),
    [
        ("max_connections", {"max_connections", "max", "connect"}),
        ("findByEmail", {"findbyemail", "find", "email"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("v1.7.2", {"v1.7.2", "v1", "7", "2"}),
        ("src/app/main.py", {"src/app/main.py", "src", "app", "main", "py"}),
        ("ana@example.org", {"ana@example.org", "ana", "exampl", "org"}),
        ("C++", {"c++"}),
        ("C#", {"c#"}),
        ("well-known", {"well", "known"}),
    ],
)
def test_identifiers_are_found_whole_and_in_parts(identifier: str, found: set[str]) -> None:
    assert found <= set(words(identifier))


def test_an_ordinary_compound_is_only_its_parts() -> None:
    assert words("well-known") == ["well", "known"]


@pytest.mark.parametrize(
    "syntax", ['"tea"', "tea*", "tea OR pot", "NEAR(tea, pot)", "col:tea", "-tea", "(tea", "tea'--"]
)
def test_query_syntax_is_read_as_text(syntax: str) -> None:
    assert any("tea" in word for word in words(syntax))


@pytest.mark.parametrize(
    ("accented", "plain"),
    [
        ("Café", "Cafe"),
        ("Zürich", "Zurich"),
        ("Ｚｅｎ", "Zen"),
        ("ﬁn", "fin"),
        ("user’s", "user's"),
        ("Ångström", "Angstrom"),
        ("Søren Kjær", "Soren Kjaer"),
    ],
)
def test_accents_and_forms_are_folded(accented: str, plain: str) -> None:
    assert fold(accented) == plain
    assert words(accented) == words(plain)


@pytest.mark.parametrize("composed", ["Zu\u0308rich", "Z\u00fcrich"])
def test_composed_and_decomposed_letters_are_the_same(composed: str) -> None:
    assert words(composed) == ["zurich"]


@pytest.mark.parametrize("text", ["東京タワー", "서울특별시", "กรุงเทพ", "你好世界"])
def test_part_of_an_unspaced_text_is_found_in_it(text: str) -> None:
    assert set(words(text[:2])) <= set(words(text))


def test_letters_and_pairs_of_an_unspaced_text() -> None:
    assert words("京都市") == ["京", "都", "市", "京都", "都市"]


def test_a_mixed_chunk_is_read_in_its_scripts() -> None:
    assert words("Python入門") == ["python", "入", "門", "入門"]


@pytest.mark.parametrize("word", ["owns", "owned", "owning", "others", "mostly", "willing"])
def test_a_word_that_merely_comes_from_a_stop_word_is_none(word: str) -> None:
    assert words(f"Priya {word} the ledger")[1:-1] == [word]


@pytest.mark.parametrize("name", ["MuSiQue", "ClickHouse", "PagerDuty", "OpenTelemetry", "LedgerRepository", "iPhone"])
def test_an_identifier_is_found_by_who_types_it_small(name: str) -> None:
    assert set(words(name.lower())) < set(words(name))
    assert set(words(name.lower())) < set(words(f"{name}-ES"))


@pytest.mark.parametrize("acronym", ["PR", "JWT", "API", "URL"])
def test_the_plural_of_an_acronym_is_the_acronym(acronym: str) -> None:
    assert words(f"{acronym}s") == words(acronym) == [acronym.lower()]


def test_a_large_number_is_one_with_and_without_commas() -> None:
    assert words("2,400 of 1,234,567 rows") == words("2400 of 1234567 rows")
    assert words("rooms 1,2,3") == ["room", "1", "2", "3"]


def test_stop_words_are_left_out() -> None:
    assert words("the tea of the house") == ["tea", "hous"]


@pytest.mark.parametrize("text", ["To be or not to be", "the", "who are you"])
def test_a_text_of_stop_words_alone_keeps_them(text: str) -> None:
    assert words(text)
    assert set(words(text)) <= STOP_WORDS


def test_counts_tell_how_often() -> None:
    assert counts("tea tea pot") == {"tea": 2, "pot": 1}


def test_case_does_not_matter() -> None:
    assert words("TEA Tea tea") == ["tea", "tea", "tea"]


@given(some.text())
@example("\ud800 lone")
def test_any_text_is_read_into_words_that_are_not_empty(text: str) -> None:
    assert all(words(text))


@pytest.mark.parametrize("text", ["a_'s_b", "max_'s_size"])
def test_a_possessive_between_joints_leaves_no_empty_word(text: str) -> None:
    assert all(words(text))


@given(some.text(alphabet="ab_'’.-/:@sS+#東 "))
def test_joints_and_apostrophes_in_any_order_leave_no_empty_word(text: str) -> None:
    assert all(words(text))


@given(some.text())
def test_reading_twice_gives_the_same(text: str) -> None:
    assert words(text) == words(text)


@given(some.text(alphabet=some.characters(min_codepoint=97, max_codepoint=122), min_size=1), some.text())
def test_a_word_is_found_in_a_text_that_holds_it(word: str, rest: str) -> None:
    assert set(words(word)) <= set(words(f"{word} {rest} zebra")) or set(words(word)) <= STOP_WORDS


def test_a_very_long_chunk_is_read() -> None:
    assert words("x" * 100_000) == ["x" * 100_000]
    assert len(words("ab_" * 20_000)) == 20_001


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("L'école ferme à midi", "ÉCOLE"),
        ("L’ÉCOLE", "école"),
        ("lʼécole", "ecole"),
        ("l'E\u0301COLE", "école"),
        ("qu'avant", "avant"),
        ("jusqu'ici", "ici"),
        ("d'Angely", "Angely"),
        ("D'Angelo", "dangelo"),
        ("un'amica dell'acqua", "acqua"),
        ("Saint-Jean-d’Angély", "angély"),
        ("l'e-mail", "email e-mail"),
    ],
)
def test_a_word_is_found_behind_an_elision(text: str, word: str) -> None:
    assert set(words(word)) & set(words(text))


@pytest.mark.parametrize("text", ["j'ai", "s'mores", "c'mon", "n'a", "don't", "can't", "rock'n'roll"])
def test_what_only_looks_elided_stays_whole(text: str) -> None:
    assert words(text) == words(text.replace("'", ""))


@pytest.mark.parametrize(
    ("one", "other"), [("Müller", "Mueller"), ("Århus", "Aarhus"), ("SÖREN", "soeren"), ("Mu\u0308ller", "MUELLER")]
)
def test_a_second_spelling_is_found_both_ways(one: str, other: str) -> None:
    assert set(words(other)) <= set(all_spellings(one))


def test_english_has_one_spelling() -> None:
    assert all_spellings("The blue poet's Michael café naïve") == words("The blue poet's Michael café naïve")
