"""The rule reader as a whole: its result, that it never fails, and that no text takes long."""

import subprocess
import sys
from dataclasses import fields, replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as some

from cofire.model import Fact
from cofire.text.base import FactReading, FactSubject, Mention, Reader
from cofire.text.rule_reader import RuleReader
from tests.conftest import START

HOSTILE = [
    *("A ", "a ", "A. ", ". ", "(", "((", "a.b.", "A\n", "\n", " ", "-", "- ", "'", '"', "`", "“", "1-", "1.", "0"),
    *(
        "A of ",
        "A and ",
        "A the ",
        "A's ",
        "A (AB) ",
        "&",
        "a&b ",
        "x",
        "é",
        "東",
        "aA",
        "A-",
        "a_",
        "/a",
        "a@",
        "http://",
    ),
    *("May 8 ", "in 2021 ", "last ", "1990s ", "because ", "so, ", "since it is, ", "therefore ", "known as A ", "?! "),
]
READ_HOSTILE = """
import sys
from cofire.model import Fact
from cofire.text.subjects import extract_ngrams
from cofire.text.rule_reader import RuleReader
for part in sys.argv[1:]:
    text = (part * 100_000)[:100_000]
    RuleReader().read(Fact(text, subject=text))
    extract_ngrams(text)
"""


def test_fact_is_read_as_a_whole() -> None:
    fact = Fact("Grafana went down yesterday because Loki was full.", subject="Grafana", at=START)
    reading = RuleReader().read(fact)
    assert reading.mentions == (Mention("grafana", "Grafana", "name", 0, 1.0), Mention("loki", "Loki", "name", 0, 1.0))
    assert reading.subjects == (FactSubject("grafana", 1.0),)
    assert [(span.start.day, span.surface) for span in reading.times] == [(28, "yesterday")]
    assert [(cause.cause, cause.effect) for cause in reading.causes] == [
        ("Loki was full", "Grafana went down yesterday")
    ]
    assert reading.category == "event"
    assert reading.sentences == (fact.text,)
    assert "loki" in reading.phrases
    assert "loki" in reading.tags


def test_fact_without_a_text_says_nothing() -> None:
    assert RuleReader().read(Fact("")) == FactReading()


def test_reader_is_a_reader() -> None:
    reader: Reader = RuleReader()
    assert [field.name for field in fields(reader.read(Fact("x")))] == [
        *("mentions", "subjects", "phrases", "times", "causes", "tags", "category", "sentences", "failed")
    ]


def test_time_of_a_fact_is_when_it_happened_or_else_when_it_was_stored() -> None:
    told = datetime(2023, 5, 10, tzinfo=UTC)
    assert RuleReader().read(Fact("yesterday", at=told)) == RuleReader().read(Fact("yesterday", stored_at=told))


@given(some.text(max_size=2000), some.none() | some.text(max_size=40), some.none() | some.text(max_size=10))
def test_any_fact_can_be_read(text: str, subject: str | None, speaker: str | None) -> None:
    reading = RuleReader().read(Fact(text, subject=subject, speaker=speaker, at=START))
    assert len(reading.mentions) <= 64
    assert len(reading.tags) <= 5
    assert all(mention.name == mention.name.lower().strip() for mention in reading.mentions)
    assert all(mention.sentence < len(reading.sentences) for mention in reading.mentions)


@given(some.text(alphabet="Aa .,'\"()-–_/@:&1Ééof\n`", max_size=300))
def test_text_full_of_marks_can_be_read_and_reads_the_same_again(text: str) -> None:
    fact = Fact(text, at=START)
    assert RuleReader().read(fact) == RuleReader().read(fact)


@pytest.mark.slow
def test_no_text_keeps_the_reader_busy() -> None:
    """A hundred thousand characters of each take about a quarter of a second; a square of that would take hours."""
    ran = subprocess.run([sys.executable, "-c", READ_HOSTILE, *HOSTILE], capture_output=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr.decode()


def test_a_fact_read_for_causes_says_what_it_is_about_and_what_causes_what_and_nothing_else() -> None:
    fact = Fact("The API in Oslo failed because the disk was full.", subject="Outage")
    whole, causes = RuleReader().read(fact), RuleReader().read(fact, wanted="causes")
    assert (causes.subjects, causes.causes) == (whole.subjects, whole.causes)
    assert whole.causes
    assert causes == FactReading(subjects=whole.subjects, causes=whole.causes)


def test_a_fact_read_for_names_says_all_but_phrases_tags_and_causes() -> None:
    fact = Fact("The API in Oslo failed because the disk was full.", subject="Outage")
    whole, names = RuleReader().read(fact), RuleReader().read(fact, wanted="names")
    assert whole.phrases
    assert whole.tags
    assert names == replace(whole, phrases=(), tags=(), causes=())
