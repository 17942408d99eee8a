"""The x-ray: every stage of a recall is told, and what each gives adds up to the score."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from cofire.activation_paths import MAX_RECORDED_FACTS
from cofire.memory import Memory
from cofire.results import Hit, Recollection
from cofire.settings import table
from cofire.settings.ranking import current_constants
from cofire.settings.table import FUSION_METHOD
from cofire.stores.sqlite.connections import SqliteOptions
from cofire.stores.sqlite.store import SqliteStore
from tests.verbs.unrelated import UNRELATED

USES = "We use PostgreSQL 15 for the production database."
POOLS = "PostgreSQL connection pooling is configured via PgBouncer."
MODE = "PgBouncer sessions should be set to transaction mode for serverless."
OTHERS = ["Lunch is at noon in the large kitchen.", "Ana Lopez repaired the clock of the station.", "Ana Lopez sings."]
QUESTION = "What database configuration do we use?"

FUSIONS, DYNAMICS = FUSION_METHOD.choices, table.ACTIVATION_DYNAMICS.choices


@pytest.fixture
def filled(memory: Memory) -> Memory:
    memory.remember([USES, POOLS, MODE, *OTHERS])
    memory.dream()
    return memory


def hit_of(found: Recollection, text: str) -> Hit:
    return next(hit for hit in found if hit.text == text)


def on_path(found: Recollection, text: str) -> list[str]:
    return [found.texts[id] for id in hit_of(found, text).path]


@pytest.mark.parametrize(("fusion", "dynamics"), list(product(FUSIONS, DYNAMICS)))
def test_what_the_channels_give_adds_up_to_the_score(filled: Memory, fusion: str, dynamics: str) -> None:
    chosen = {"fusion.method": fusion, "activation.dynamics": dynamics}
    for strategy in (None, "multi_hop"):
        found = filled.recall(QUESTION, strategy=strategy, settings=chosen)
        assert found.known
        for hit in found:
            assert sum(heard.gives for heard in hit.channels.values()) == pytest.approx(hit.score, abs=1e-6)
            if fusion == "calibrated":
                assert sum(hit.parts.values()) == pytest.approx(hit.channels["activation"].gives, abs=1e-6)


def test_features_of_activation_are_told_one_by_one(filled: Memory) -> None:
    parts = {name for hit in filled.recall(QUESTION) for name in hit.parts}
    assert {"rare", "fits", "adds", "repeats"} <= parts <= set(current_constants().features)


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_json_holds_every_stage_and_can_be_written(filled: Memory, dynamics: str) -> None:
    found = filled.recall(QUESTION, settings={"activation.dynamics": dynamics})
    shown = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert shown["plan"]["mode"] == "full"
    assert shown["plan"]["dynamics"] == dynamics
    assert shown["judgement"]["evidence"] >= shown["judgement"]["threshold"]
    assert shown["candidates"] == len(found.ranking.ids)
    assert shown["spread"]["rounds"][0]["facts"][0].keys() == {"id", "activation", "inhibited", "gated"}


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_a_round_tells_of_at_most_sixty_four_facts_each_once(wordy: Memory, dynamics: str) -> None:
    wordy.remember([f"Ana Lopez keeps box {number} in the cellar." for number in range(150)])
    shown = wordy.recall("What does Ana Lopez keep?", settings={"activation.dynamics": dynamics}).to_dict()["spread"]
    for one in shown["rounds"]:
        ids = [fact["id"] for fact in one["facts"]]
        assert len(ids) == len(set(ids)) <= MAX_RECORDED_FACTS
    assert all(len(one["links"]) <= MAX_RECORDED_FACTS for one in shown["passes"])


def test_synapse_tells_whom_it_silenced(wordy: Memory) -> None:
    wordy.remember([f"Ana Lopez keeps box {number} in the cellar." for number in range(20)])
    chosen = {"activation.dynamics": "synapse.documented", "spreading_activation.top_m": 3}
    rounds = wordy.recall("What does Ana Lopez keep?", settings=chosen).to_dict()["spread"]["rounds"]
    assert any(fact["inhibited"] for one in rounds for fact in one["facts"])


def test_texts_of_facts_on_a_path_are_read_even_if_they_are_no_hits(filled: Memory) -> None:
    found = filled.recall("Which transaction mode is set for serverless sessions?", k=2)
    for hit in found:
        assert set(hit.path) <= set(found.texts)
    only = filled.recall(QUESTION, k=3)
    assert on_path(only, MODE)[-1] == MODE


def test_a_path_is_told_hop_by_hop_with_confidences_and_the_weakest(filled: Memory) -> None:
    found = filled.recall(QUESTION)
    hit = hit_of(found, MODE)
    shown = next(one for one in found.to_dict()["hits"] if one["id"] == hit.id)
    assert len(shown["hops"]) == len(shown["confidences"]) == len(shown["path"]) - 1
    assert shown["weakest"] == min(shown["confidences"])
    report = found.xray()
    assert f"path, weakest confidence {hit.weakest:.2f}:" in report
    for hop in hit.hops:
        assert f"→ {hop.kind} via {hop.via}, weight {hop.weight:.2f}, confidence {hop.confidence:.2f}, energy" in report


def test_the_report_tells_plan_channels_judgement_and_sums(filled: Memory) -> None:
    report = filled.recall(QUESTION).xray()
    assert "plan: mode full (the usual), strategy factual (by the words of the question), dynamics cofire" in report
    assert "keyword: ok," in report
    assert "abstention: no, evidence" in report
    assert " = +" in next(line for line in report.splitlines() if line.strip().startswith("activation: shared "))


def test_what_was_asked_for_is_told_as_such(filled: Memory) -> None:
    plan = filled.recall(QUESTION, mode="graph", strategy="entity").to_dict()["plan"]
    assert (plan["mode_reason"], plan["strategy_reason"]) == ("asked for", "asked for")


def test_a_silent_memory_tells_its_guesses_and_why_it_is_silent(filled: Memory) -> None:
    chosen = {"abstention.threshold": 1.9}
    found = filled.recall(QUESTION, settings=chosen)
    assert not found.known
    assert found.to_dict()["guesses"][0]["text"] == found.guesses[0].text
    report = found.xray()
    assert f"reason: {found.reason}" in report
    assert "abstention: yes, evidence" in report
    assert "best candidates, not returned:" in report
    assert found.guesses[0].id in report


def test_a_memory_that_asks_for_no_evidence_says_so(filled: Memory) -> None:
    found = filled.recall(QUESTION, settings={"abstention.rule": "off"})
    assert found.to_dict()["judgement"] == {"known": True, "evidence": None, "threshold": None, "reason": ""}
    assert "no evidence is required" in found.xray()


def test_without_explanation_nothing_is_kept_of_the_way_and_the_answer_is_the_same(filled: Memory) -> None:
    told, untold = (filled.recall(QUESTION, settings={"graph_recall.explain": on}) for on in (True, False))
    assert [(hit.id, hit.score) for hit in told] == [(hit.id, hit.score) for hit in untold]
    assert any(hit.hops for hit in told)
    assert not any(hit.hops for hit in untold)
    assert (untold.texts, untold.to_dict()["spread"]) == ({}, {"passes": [], "rounds": []})


def test_no_path_and_no_round_tells_of_what_is_filtered(memory: Memory) -> None:
    """Ruling 17: nothing filtered returns through the graph, not even as a station on the way."""
    memory.remember([USES, MODE], tags=["open"])
    secret = memory.remember(POOLS, tags=["closed"])
    for dynamics in DYNAMICS:
        found = memory.recall(QUESTION, tags=["open"], settings={"activation.dynamics": dynamics})
        assert secret not in json.dumps(found.to_dict())


def test_nothing_asked_has_nothing_but_a_plan(filled: Memory) -> None:
    shown = filled.recall(QUESTION, mode="no_recall").to_dict()
    assert (shown["judgement"], shown["spread"], shown["candidates"]) == (None, None, 0)
    assert shown["plan"]["mode"] == "no_recall"


# The example of 000, "Multi-Hop Example", among two hundred facts of other things.


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """With the bundled embedder, as it is out of the box."""
    place = str(tmp_path_factory.mktemp("team") / "team.db")
    memory = Memory(SqliteStore.open(place, SqliteOptions(5.0, "normal", "signs")))
    memory.remember([*UNRELATED[:90], USES, *UNRELATED[90:140], MODE, *UNRELATED[140:], POOLS])
    assert Path(place).exists()
    return memory


@pytest.mark.parametrize(
    "question",
    [
        QUESTION,
        "What should I know about our database setup?",
        "Which database settings are in use here?",
        "How is the production database configured?",
    ],
)
def test_what_belongs_together_comes_back_together(team: Memory, question: str) -> None:
    found = team.recall(question, k=5)
    assert {USES, POOLS, MODE} <= {hit.text for hit in found}
    assert on_path(found, MODE) == [USES, POOLS, MODE]


def test_nonsense_is_answered_by_silence(team: Memory) -> None:
    found = team.recall("xyzzy quantum banana telescope")
    assert not found.known
    assert "below" in found.reason
