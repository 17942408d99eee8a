"""A reading rule that fails costs neither the fact nor the answer, and is counted."""

from __future__ import annotations

import logging

import pytest

from cofire import Memory
from cofire.model import Fact
from cofire.recall import plan, query
from cofire.text import rule_reader, words
from cofire.text.base import MAX_FAILED_IDS, ReadingFailures, run_reading_rule

TEXT = "Postgres runs on port 5433 because 5432 was taken."


def break_rule(*_: object, **__: object) -> object:
    raise ValueError("not enough values to unpack")


@pytest.mark.parametrize(
    "rule",
    [
        "find_subjects",
        "split_sentences",
        "tokenise_sentence",
        "extract_time_spans",
        "extract_mentions",
        "classify_category",
        "strip_speaker",
        "split_terms",
    ],
)
def test_fact_is_stored_although_a_rule_fails(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(":memory:", embedder=None) as memory:
        monkeypatch.setattr(rule_reader, rule, break_rule)
        ids = memory.remember([TEXT, "Tea is at four."])
        assert [fact.text for fact in memory.facts(ids)] == [TEXT, "Tea is at four."]
        assert memory.recall("Which port does Postgres use?")[0].id == ids[0]
        failures = memory.stats().reading_failures
        assert failures.facts == 2
        assert set(failures.ids) == set(ids)


def test_other_rules_are_applied_when_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = rule_reader.RuleReader().read(Fact(TEXT))
    monkeypatch.setattr(rule_reader, "find_subjects", break_rule)
    partial = rule_reader.RuleReader().read(Fact(TEXT))
    assert partial.failed == ("subjects",)
    assert partial.subjects == ()
    assert (partial.causes, partial.sentences, partial.phrases) == (whole.causes, whole.sentences, whole.phrases)


def test_failure_is_logged_without_the_text(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(rule_reader, "extract_time_spans", break_rule)
    with caplog.at_level(logging.WARNING, logger="cofire"):
        rule_reader.RuleReader().read(Fact(TEXT))
    assert "rule times failed" in caplog.text
    assert "not enough values" in caplog.text
    assert "Postgres" not in caplog.text


def test_whole_reader_that_fails_costs_no_fact(monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(":memory:", embedder=None) as memory:
        monkeypatch.setattr(rule_reader.RuleReader, "read", break_rule)
        id = memory.remember(TEXT)
        assert memory.recall("Postgres port")[0].id == id
        assert memory.stats().reading_failures.rules == {"reader": 1}


def test_failing_words_leave_plain_words(monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(":memory:", embedder=None) as memory:
        monkeypatch.setattr("cofire.verbs.fact_analysis.extract_words_and_spellings", break_rule)
        id = memory.remember("tea is at four")
        monkeypatch.undo()
        assert memory.recall("tea four")[0].id == id
        assert memory.stats().reading_failures.rules == {"words": 1}


@pytest.mark.parametrize(
    ("module", "rule"),
    [
        (plan, "classify_strategy"),
        (query, "extract_question_times"),
        (query, "extract_ngrams"),
        (query, "is_about_assistant"),
        (words, "count_words"),
    ],
)
def test_recall_answers_although_a_rule_fails_on_the_question(
    module: object, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(":memory:", embedder=None) as memory:
        id = memory.remember("postgres port five")
        monkeypatch.setattr(module, rule, break_rule)
        assert memory.recall("postgres port five")[0].id == id


def test_times_that_cannot_be_read_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(":memory:", embedder=None) as memory:
        memory.remember(TEXT)
        monkeypatch.setattr(query, "extract_question_times", break_rule)
        assert "times of the question could not be read" in memory.recall("Which port since May?").xray()


def test_counts_keep_the_last_ids() -> None:
    failures = ReadingFailures()
    for number in range(MAX_FAILED_IDS + 5):
        failures = failures.with_fact(str(number), ["times"])
    assert failures.facts == MAX_FAILED_IDS + 5
    assert failures.ids[-1] == str(MAX_FAILED_IDS + 4)
    assert len(failures.ids) == MAX_FAILED_IDS
    assert ReadingFailures.decode(failures.encode()) == failures


def test_errors_of_cofire_and_lack_of_memory_are_raised() -> None:
    def run_out() -> None:
        raise MemoryError

    with pytest.raises(MemoryError):
        run_reading_rule("times", run_out, None)
