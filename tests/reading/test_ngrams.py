"""Runs of words to be looked up among known subjects."""

from hypothesis import given
from hypothesis import strategies as some

from cofire.reading.ngrams import AT_MOST, LONGEST, ngrams
from cofire.reading.resolving import normal


def test_subject_in_small_letters_is_among_them() -> None:
    found = ngrams("we tuned the connection pools of pg bouncer in st. louis, see docs/a.md")
    wanted = ["connection pool", "PgBouncer", "Saint Louis", "docs/a.md", "connection pools of pg bouncer"]
    assert [name for name in wanted if normal(name) not in found] == []


def test_title_of_small_words_is_among_them() -> None:
    assert "let it be" in ngrams("we sang let it be")


def test_small_words_alone_are_not() -> None:
    assert {"the", "of", "of the"}.isdisjoint(ngrams("the end of the road"))


def test_runs_do_not_cross_sentences() -> None:
    assert "rained we" not in ngrams("It rained. We left.")


def test_script_without_spaces_gives_runs_of_letters() -> None:
    assert "東京タワー" in ngrams("昨日は東京タワーに行った")


def test_telling_runs_come_before_the_bound_cuts() -> None:
    found = ngrams(" ".join(f"word{n}x of the" for n in range(60)))
    assert len(found) == AT_MOST
    assert all(f"word{n}x" in found for n in range(60))


@given(some.text())
def test_they_are_bounded_and_distinct(text: str) -> None:
    found = ngrams(text)
    assert len(found) == len(set(found)) <= AT_MOST
    assert all(len(run.split(" ")) <= LONGEST for run in found)
