"""A reading rule that fails costs neither the fact nor the answer, and is counted."""

from __future__ import annotations

import logging

import pytest

from cofire import Memory
from cofire.model import Fact
from cofire.reading import rules
from cofire.reading.failures import MOST_IDS, ReadingFailures, attempt
from cofire.verbs import cueing, planning

TEXT = "Postgres runs on port 5433 because 5432 was taken."


def break_rule(*_: object, **__: object) -> object:
    raise ValueError("not enough values to unpack")


@pytest.mark.parametrize("rule", ["subjects", "sentences", "pieces", "times", "mentions", "category", "said", "terms"])
def test_fact_is_stored_although_a_rule_fails(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(":memory:", embedder=None) as memory:
        monkeypatch.setattr(rules, rule, break_rule)
        ids = memory.remember([TEXT, "Tea is at four."])
        assert [fact.text for fact in memory.facts(ids)] == [TEXT, "Tea is at four."]
        assert memory.recall("Which port does Postgres use?")[0].id == ids[0]
        failures = memory.stats().reading_failures
        assert failures.facts == 2
        assert set(failures.ids) == set(ids)


def test_other_rules_are_applied_when_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = rules.RuleReader().read(Fact(TEXT))
    monkeypatch.setattr(rules, "subjects", break_rule)
    partial = rules.RuleReader().read(Fact(TEXT))
    assert partial.failed == ("subjects",)
    assert partial.subjects == ()
    assert (partial.causes, partial.sentences, partial.phrases) == (whole.causes, whole.sentences, whole.phrases)


def test_failure_is_logged_without_the_text(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(rules, "times", break_rule)
    with caplog.at_level(logging.WARNING, logger="cofire"):
        rules.RuleReader().read(Fact(TEXT))
    assert "rule times failed" in caplog.text
    assert "not enough values" in caplog.text
    assert "Postgres" not in caplog.text


def test_whole_reader_that_fails_costs_no_fact(monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(":memory:", embedder=None) as memory:
        monkeypatch.setattr(rules.RuleReader, "read", break_rule)
        id = memory.remember(TEXT)
        assert memory.recall("Postgres port")[0].id == id
        assert memory.stats().reading_failures.rules == {"reader": 1}


def test_failing_words_leave_plain_words(monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(":memory:", embedder=None) as memory:
        monkeypatch.setattr("cofire.verbs.reading_facts.all_spellings", break_rule)
        id = memory.remember("tea is at four")
        monkeypatch.undo()
        assert memory.recall("tea four")[0].id == id
        assert memory.stats().reading_failures.rules == {"words": 1}


@pytest.mark.parametrize(
    ("module", "rule"),
    [
        (planning, "strategy_of"),
        (cueing, "asked_spans"),
        (cueing, "ngrams"),
        (cueing, "asks_of_assistant"),
        (cueing.words, "counts"),
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
        monkeypatch.setattr(cueing, "asked_spans", break_rule)
        assert "times of the question could not be read" in memory.recall("Which port since May?").xray()


def test_counts_keep_the_last_ids() -> None:
    failures = ReadingFailures()
    for number in range(MOST_IDS + 5):
        failures = failures.with_fact(str(number), ["times"])
    assert failures.facts == MOST_IDS + 5
    assert failures.ids[-1] == str(MOST_IDS + 4)
    assert len(failures.ids) == MOST_IDS
    assert ReadingFailures.decode(failures.encode()) == failures


def test_errors_of_cofire_and_lack_of_memory_are_raised() -> None:
    def run_out() -> None:
        raise MemoryError

    with pytest.raises(MemoryError):
        attempt("times", run_out, None)
