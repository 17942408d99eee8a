"""Judging: when memory says that it knows nothing, by which rule, and what it would have said."""

from __future__ import annotations

import math
import re

import pytest

from cofire import Memory
from cofire.embedders.factory import create_embedder
from cofire.stores.base import Store
from tests.conftest import Clock, Lent, Opening

NONSENSE = "xyzzy quantum banana telescope"
FACTS = [
    "We use PostgreSQL 15 for the production database.",
    "Water boils in the red kettle.",
    "Trains leave the northern station at noon.",
    "Ana leads the platform team.",
    "Lunch on Friday is at half past twelve.",
]


@pytest.fixture
def bundled(store: Store, clock: Clock) -> Memory:
    """A memory with the embedder that is shipped, whose threshold is calibrated."""
    memory = Memory(Lent(store), embedder=create_embedder("bundled"), clock=clock)
    memory.remember(FACTS)
    return memory


def test_nonsense_is_not_known_and_the_reason_is_said(bundled: Memory) -> None:
    found = bundled.recall(NONSENSE)
    assert (found.known, found.hits) == (False, ())
    assert found.judgement is not None
    assert not found.judgement.known
    assert found.judgement.evidence < found.judgement.threshold
    assert found.reason == found.judgement.reason != ""


def test_what_it_would_have_said_is_kept_as_guesses(bundled: Memory) -> None:
    found = bundled.recall(NONSENSE, k=3)
    assert [hit.text in FACTS for hit in found.guesses] == [True] * 3


@pytest.mark.parametrize(
    "question",
    [
        "Which database do we use?",
        "Is there something to cook water with?",
        "Who is the boss of platform?",
        "When is lunch?",
    ],
)
def test_real_questions_are_not_rejected(bundled: Memory, question: str) -> None:
    found = bundled.recall(question)
    assert (found.known, found.reason, found.guesses) == (True, "", ())


@pytest.mark.parametrize("question", ["?", "!!!", "...", "---", "😀", "🎂🚗"])
def test_a_question_without_words_is_not_known(bundled: Memory, question: str) -> None:
    found = bundled.recall(question)
    assert (found.known, found.hits, found.reason) == (False, (), "The question has no words to go by.")
    assert bundled.recall(question, settings={"abstention.rule": "off"}).known


def test_the_reason_tells_evidence_and_threshold_apart(bundled: Memory) -> None:
    weighed = bundled.recall(NONSENSE).judgement
    assert weighed is not None
    barely = bundled.recall(NONSENSE, settings={"abstention.threshold": weighed.evidence + 1e-5})
    told = re.findall(r"\d\.\d+", barely.reason)
    assert len(set(told)) == 2


def test_names_never_met_are_said_to_be(bundled: Memory) -> None:
    assert "never met" in bundled.recall("Does Bartholomew own Zanzibar?").reason


def test_off_always_answers(bundled: Memory) -> None:
    found = bundled.recall(NONSENSE, settings={"abstention.rule": "off"})
    assert found.known
    assert found.judgement is not None
    assert found.judgement.evidence == math.inf


def test_the_gate_asks_for_activation(bundled: Memory) -> None:
    gate = {"abstention.rule": "gate", "activation.dynamics": "synapse.documented"}
    found = bundled.recall("Which database do we use?", settings=gate)
    assert found.known
    shut = bundled.recall("Which database do we use?", settings={**gate, "spreading_activation.tau_gate": 0.99})
    assert not shut.known
    assert "below the gate at 0.99" in shut.reason


def test_a_threshold_of_ones_own_holds(bundled: Memory) -> None:
    assert not bundled.recall("Which database do we use?", settings={"abstention.threshold": 2}).known
    assert bundled.recall(NONSENSE, settings={"abstention.threshold": 0.01}).known


def test_a_word_said_twice_is_no_rarer_for_it(bundled: Memory) -> None:
    def counts(question: str) -> float:
        found = [bundled.recall(question, settings={"abstention.rarity": weight}).judgement for weight in (0.1, 0.0)]
        rare, plain = (one.evidence for one in found if one is not None)
        return rare - plain

    assert counts("The kettle, the kettle, the kettle?") == pytest.approx(counts("The kettle?"))
    assert counts("The red kettle?") > counts("The kettle?") > 0


@pytest.mark.parametrize(
    ("question", "named"), [("Who founded Harbour Light?", True), ("Who founded a harbour?", False)]
)
def test_naming_what_facts_are_about_is_evidence(bundled: Memory, question: str, named: bool) -> None:
    bundled.remember("Harbour Light is a ferry line that Ines Duarte founded in 1921.", subject="Harbour Light")
    plain, told = (bundled.recall(question, settings={"abstention.unknown": weight}).judgement for weight in (0.0, 0.1))
    assert plain is not None
    assert told is not None
    assert (told.evidence > plain.evidence) == named


def test_without_an_embedder_words_decide(wordy: Memory) -> None:
    wordy.remember(FACTS)
    assert wordy.recall("Does water boil?").known
    assert not wordy.recall("Does the water of that very remote and mysterious ocean taste salty tonight?").known


def test_with_a_model_that_nobody_calibrated_meaning_can_speak_up(memory: Memory) -> None:
    """A car and an automobile share no word; they stand out from chance all the same."""
    memory.remember(["An automobile.", *FACTS])
    found = memory.recall("car")
    assert found[0].text == "An automobile."
    assert found.judgement is not None
    assert found.judgement.evidence >= found.judgement.threshold >= 2


def test_with_a_model_that_nobody_calibrated_strangers_do_not_stand_out(memory: Memory) -> None:
    memory.remember(FACTS)
    assert not memory.recall("Xyzzy").known


def test_an_empty_memory_is_not_judged_to_know(memory: Memory) -> None:
    found = memory.recall("tea")
    assert found.judgement is not None
    assert not found.judgement.known
    assert found.reason == "Nothing is stored yet where the question is asked."


def test_one_fact_that_is_no_answer_is_not_called_nothing(open_memory: Opening) -> None:
    memory = open_memory(embedder=None)
    memory.remember("Tea is at four.")
    assert memory.recall("zebra").reason == "Nothing stored passes the filters and is like the question."


def test_who_asks_for_a_rare_word_finds_it_at_once(open_memory: Opening) -> None:
    memory = open_memory(embedder=None)
    memory.remember([f"Note {number} about the harvest." for number in range(30)])
    told = memory.remember("The ticket is w1n143z.")
    found = memory.recall("w1n143z")
    assert (found.known, found.ids[0]) == (True, told)
