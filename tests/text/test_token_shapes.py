"""The shapes of tokens."""

import pytest

from cofire.text.segmentation import classify_token


@pytest.mark.parametrize(
    ("chunk", "core", "shape"),
    [
        ("(Ana's", "Ana", "capital"),
        ("J.", "J", "initial"),
        ("U.S.", "U.S", "acronym"),
        ("APIs", "APIs", "acronym"),
        ("COVID-19,", "COVID-19", "acronym"),
        ("TCP/IP", "TCP/IP", "acronym"),
        ("PgBouncer", "PgBouncer", "camel"),
        ("iPhone", "iPhone", "camel"),
        ("C++", "C++", "camel"),
        ("Node.js", "Node.js", "camel"),
        ("maxConnections", "maxConnections", "code"),
        ("max_connections", "max_connections", "code"),
        ("os.path.join", "os.path.join", "code"),
        ("run(x),", "run", "code"),
        ("std::vector", "std::vector", "code"),
        ("9f3c2ab", "9f3c2ab", "code"),
        ("utf-8", "utf-8", "code"),
        ("~/.bashrc", "~/.bashrc", "path"),
        ("src/app.py", "src/app.py", "path"),
        ("README.md.", "README.md", "path"),
        ("https://example.org/a.", "https://example.org/a", "url"),
        ("example.org", "example.org", "url"),
        ("ana@example.org", "ana@example.org", "email"),
        ("v1.2", "v1.2", "version"),
        ("1.2.3", "1.2.3", "version"),
        ("--force", "--force", "flag"),
        ("3.5", "3.5", "number"),
        ("Boston-based", "Boston", "capital"),
        ("Jean-Luc", "Jean-Luc", "capital"),
        ("O'Brien", "O'Brien", "capital"),
        ("Well-known", "Well-known", "word"),
        ("Don't", "Don't", "word"),
        ("and/or", "and/or", "word"),
        ("24/7", "24/7", "word"),
        ("e.g.", "e.g", "word"),
        ("done.Then", "done.Then", "word"),
        ("2023-05-08", "2023-05-08", "word"),
        ("—", "—", "mark"),
        ("...", "", "mark"),
    ],
)
def test_piece_is_known_by_its_shape(chunk: str, core: str, shape: str) -> None:
    piece = classify_token(chunk)
    assert (piece.core, piece.shape) == (core, shape)


def test_name_may_run_on_past_an_abbreviation_but_not_past_a_comma() -> None:
    assert not classify_token("St.").stops
    assert not classify_token("J.").stops
    assert classify_token("Oslo,").stops
    assert classify_token("Oslo.").stops
