"""Key phrases, and the tags derived from them."""

from cofire.text.categories import MAX_PHRASE_WORDS, MAX_PHRASES, MAX_TAGS, derive_tags, extract_key_phrases


def key(text: str) -> tuple[str, ...]:
    return extract_key_phrases([text])


def test_stop_words_and_marks_cut_phrases() -> None:
    assert key("The connection pool, a staging database and the retry budget.") == (
        "connection pool",
        "staging database",
        "retry budget",
    )


def test_long_run_keeps_its_head() -> None:
    assert key("distributed edge cache invalidation protocol") == ("cache invalidation protocol",)


def test_phrases_of_connected_words_come_first() -> None:
    assert key("vaccines, and influenza vaccine trials")[0] == "influenza vaccine trials"


def test_chatter_has_no_phrases() -> None:
    assert key("Oh wow, that was really so good, thanks!") == ()


def test_phrases_are_few_and_short() -> None:
    found = key(" and ".join(f"alpha{n} beta{n} gamma{n} delta{n}" for n in range(50)))
    assert len(found) == MAX_PHRASES
    assert all(len(phrase.split()) <= MAX_PHRASE_WORDS for phrase in found)


def test_tags_are_few_in_small_letters_and_of_one_number() -> None:
    assert derive_tags(key("PostgreSQL Connection Pools")) == ("connection pool",)
    assert len(derive_tags(key(" and ".join(f"word{n}x" for n in range(50))))) == MAX_TAGS
