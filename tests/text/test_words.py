"""Words: facts and questions give the same search terms for any text."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from cofire.text.words import STOP_WORDS, count_words, extract_words, extract_words_and_spellings, fold_accents


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
    assert extract_words(text) == found


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
    assert found <= set(extract_words(identifier))


def test_an_ordinary_compound_is_only_its_parts() -> None:
    assert extract_words("well-known") == ["well", "known"]


@pytest.mark.parametrize(
    "syntax", ['"tea"', "tea*", "tea OR pot", "NEAR(tea, pot)", "col:tea", "-tea", "(tea", "tea'--"]
)
def test_query_syntax_is_read_as_text(syntax: str) -> None:
    assert any("tea" in word for word in extract_words(syntax))


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
    assert fold_accents(accented) == plain
    assert extract_words(accented) == extract_words(plain)


@pytest.mark.parametrize("composed", ["Zu\u0308rich", "Z\u00fcrich"])
def test_composed_and_decomposed_letters_are_the_same(composed: str) -> None:
    assert extract_words(composed) == ["zurich"]


@pytest.mark.parametrize("text", ["東京タワー", "서울특별시", "กรุงเทพ", "你好世界"])
def test_part_of_an_unspaced_text_is_found_in_it(text: str) -> None:
    assert set(extract_words(text[:2])) <= set(extract_words(text))


def test_letters_and_pairs_of_an_unspaced_text() -> None:
    assert extract_words("京都市") == ["京", "都", "市", "京都", "都市"]


def test_a_mixed_chunk_is_read_in_its_scripts() -> None:
    assert extract_words("Python入門") == ["python", "入", "門", "入門"]


@pytest.mark.parametrize("word", ["owns", "owned", "owning", "others", "mostly", "willing"])
def test_a_word_that_merely_comes_from_a_stop_word_is_none(word: str) -> None:
    assert extract_words(f"Priya {word} the ledger")[1:-1] == [word]


@pytest.mark.parametrize("name", ["MuSiQue", "ClickHouse", "PagerDuty", "OpenTelemetry", "LedgerRepository", "iPhone"])
def test_an_identifier_is_found_by_who_types_it_small(name: str) -> None:
    assert set(extract_words(name.lower())) < set(extract_words(name))
    assert set(extract_words(name.lower())) < set(extract_words(f"{name}-ES"))


@pytest.mark.parametrize("acronym", ["PR", "JWT", "API", "URL"])
def test_the_plural_of_an_acronym_is_the_acronym(acronym: str) -> None:
    assert extract_words(f"{acronym}s") == extract_words(acronym) == [acronym.lower()]


def test_a_large_number_is_one_with_and_without_commas() -> None:
    assert extract_words("2,400 of 1,234,567 rows") == extract_words("2400 of 1234567 rows")
    assert extract_words("rooms 1,2,3") == ["room", "1", "2", "3"]


def test_stop_words_are_left_out() -> None:
    assert extract_words("the tea of the house") == ["tea", "hous"]


@pytest.mark.parametrize("text", ["To be or not to be", "the", "who are you"])
def test_a_text_of_stop_words_alone_keeps_them(text: str) -> None:
    assert extract_words(text)
    assert set(extract_words(text)) <= STOP_WORDS


def test_counts_tell_how_often() -> None:
    assert count_words("tea tea pot") == {"tea": 2, "pot": 1}


def test_case_does_not_matter() -> None:
    assert extract_words("TEA Tea tea") == ["tea", "tea", "tea"]


@given(some.text())
@example("\ud800 lone")
def test_any_text_is_read_into_words_that_are_not_empty(text: str) -> None:
    assert all(extract_words(text))


@pytest.mark.parametrize("text", ["a_'s_b", "max_'s_size"])
def test_a_possessive_between_joints_leaves_no_empty_word(text: str) -> None:
    assert all(extract_words(text))


@given(some.text(alphabet="ab_'’.-/:@sS+#東 "))
def test_joints_and_apostrophes_in_any_order_leave_no_empty_word(text: str) -> None:
    assert all(extract_words(text))


@given(some.text())
def test_reading_twice_gives_the_same(text: str) -> None:
    assert extract_words(text) == extract_words(text)


@given(some.text(alphabet=some.characters(min_codepoint=97, max_codepoint=122), min_size=1), some.text())
def test_a_word_is_found_in_a_text_that_holds_it(word: str, rest: str) -> None:
    assert (
        set(extract_words(word)) <= set(extract_words(f"{word} {rest} zebra")) or set(extract_words(word)) <= STOP_WORDS
    )


def test_a_very_long_chunk_is_read() -> None:
    assert extract_words("x" * 100_000) == ["x" * 100_000]
    assert len(extract_words("ab_" * 20_000)) == 20_001


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
    assert set(extract_words(word)) & set(extract_words(text))


@pytest.mark.parametrize("text", ["j'ai", "s'mores", "c'mon", "n'a", "don't", "can't", "rock'n'roll"])
def test_what_only_looks_elided_stays_whole(text: str) -> None:
    assert extract_words(text) == extract_words(text.replace("'", ""))


@pytest.mark.parametrize(
    ("one", "other"), [("Müller", "Mueller"), ("Århus", "Aarhus"), ("SÖREN", "soeren"), ("Mu\u0308ller", "MUELLER")]
)
def test_a_second_spelling_is_found_both_ways(one: str, other: str) -> None:
    assert set(extract_words(other)) <= set(extract_words_and_spellings(one))


def test_english_has_one_spelling() -> None:
    assert extract_words_and_spellings("The blue poet's Michael café naïve") == extract_words(
        "The blue poet's Michael café naïve"
    )
