"""Rewording: a file with words as an older version read them is searchable by today's words once it is opened."""

from __future__ import annotations

import gzip
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from cofire.memory import Memory

# Four facts without vectors, written by schema 7: words behind elisions and second spellings were not read.
OLD_FILE = Path(__file__).parent / "files" / "schema_7.db.gz"
BEFORE_REWORDING = 7


@pytest.fixture
def old_file(tmp_path: Path) -> Path:
    path = tmp_path / "old.db"
    path.write_bytes(gzip.decompress(OLD_FILE.read_bytes()))
    return path


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("ÉCOLE", "L'école ferme à midi. La cantine ouvre."),
        ("Mueller", "Herr Müller wohnt in Zürich."),
        ("Müller", "Herr Müller wohnt in Zürich."),
        ("Aarhus", "C’est l’été à Århus."),
        ("kettle", "The kettle boils at noon."),
    ],
)
def test_an_old_file_is_found_by_new_words(old_file: Path, question: str, text: str) -> None:
    with Memory(str(old_file), embedder=None) as memory:
        assert [hit.text for hit in memory.recall(question)][:1] == [text]


def test_an_old_file_holds_what_a_new_one_would(old_file: Path, tmp_path: Path) -> None:
    with Memory(str(old_file), embedder=None) as memory:
        texts = [fact.text for fact in memory.facts()]
        assert memory.check() == []
    with Memory(str(tmp_path / "new.db"), embedder=None) as memory:
        memory.remember(texts)
        memory.dream()
    old_words, new_words = words_by_text(old_file), words_by_text(tmp_path / "new.db")
    assert all(words <= old_words[text] for text, words in new_words.items())


def words_by_text(path: Path) -> dict[str, set[bytes]]:
    """The terms of each fact of a file, by its text."""
    with closing(apsw.Connection(str(path))) as connection:
        rows = connection.execute("SELECT text, terms FROM facts").fetchall()
    return {str(text): {terms[at : at + 8] for at in range(0, len(terms), 8)} for text, terms in rows}


def test_statistics_count_the_new_words(old_file: Path) -> None:
    before = total_length(old_file)
    Memory(str(old_file), embedder=None).close()
    assert total_length(old_file) > before


def total_length(path: Path) -> int:
    with closing(apsw.Connection(str(path))) as connection:
        return int(connection.execute("SELECT sum(length) FROM word_statistics").get)


def test_rewording_again_changes_nothing(old_file: Path) -> None:
    Memory(str(old_file), embedder=None).close()
    once = words_by_text(old_file)
    with closing(apsw.Connection(str(old_file))) as connection:
        connection.execute(f"DROP TABLE metadata_values; PRAGMA user_version = {BEFORE_REWORDING}")
    Memory(str(old_file), embedder=None).close()
    assert words_by_text(old_file) == once
