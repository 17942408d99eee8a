"""Runs of words to look up among known subjects."""

from hypothesis import given
from hypothesis import strategies as some

from cofire.text.entities import normalise_name
from cofire.text.subjects import MAX_NGRAM_WORDS, MAX_NGRAMS, extract_ngrams


def test_subject_in_small_letters_is_among_them() -> None:
    found = extract_ngrams("we tuned the connection pools of pg bouncer in st. louis, see docs/a.md")
    wanted = ["connection pool", "PgBouncer", "Saint Louis", "docs/a.md", "connection pools of pg bouncer"]
    assert [name for name in wanted if normalise_name(name) not in found] == []


def test_title_of_small_words_is_among_them() -> None:
    assert "let it be" in extract_ngrams("we sang let it be")


def test_small_words_alone_are_not() -> None:
    assert {"the", "of", "of the"}.isdisjoint(extract_ngrams("the end of the road"))


def test_runs_do_not_cross_sentences() -> None:
    assert "rained we" not in extract_ngrams("It rained. We left.")


def test_script_without_spaces_gives_runs_of_letters() -> None:
    assert "東京タワー" in extract_ngrams("昨日は東京タワーに行った")


def test_telling_runs_come_before_the_bound_cuts() -> None:
    found = extract_ngrams(" ".join(f"word{n}x of the" for n in range(60)))
    assert len(found) == MAX_NGRAMS
    assert all(f"word{n}x" in found for n in range(60))


@given(some.text())
def test_they_are_bounded_and_distinct(text: str) -> None:
    found = extract_ngrams(text)
    assert len(found) == len(set(found)) <= MAX_NGRAMS
    assert all(len(run.split(" ")) <= MAX_NGRAM_WORDS for run in found)
