"""Shadow recalls and snapshots: kept beside an answer that they never change, whatever goes wrong there."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from cofire import AsyncMemory, Memory, Recollection
from cofire.errors import InvalidInput
from cofire.results import ShadowFailure
from cofire.stores.base import Store
from tests.conftest import Clock, Lent, Opening

FACTS = [
    "Tea is at four in the kitchen.",
    "The kitchen belongs to Ana Lopez.",
    "Ana Lopez lives in Porto.",
    "Porto lies on the Douro.",
]
QUESTIONS = ["Who has the kitchen?", "Where is tea?", "Does Ana Lopez live on the Douro?"]
SHADOWED = {"shadow.enabled": True, "shadow.preset": "conservative"}
ALL_OFF = ("shadow.enabled", "shadow.assist", "snapshots.enabled")
ALL = {**SHADOWED, "shadow.assist": True, "snapshots.enabled": True}


def filled(open_memory: Opening, **settings: Any) -> Memory:
    memory = open_memory(None, settings=settings)
    memory.remember(FACTS)
    return memory


def answer(found: Recollection) -> str:
    """All of an answer, but for the id by which feedback names it: that is new every time."""
    return json.dumps({**found.to_dict(), "id": None})


def noted(folder: Path, name: str = "shadow") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_answer_is_the_same_to_the_byte(open_memory: Opening, question: str) -> None:
    memory = filled(open_memory)
    plain, shadowed = (answer(memory.recall(question, settings=on)) for on in ({}, ALL))
    assert plain == shadowed


def test_nothing_is_kept_unless_it_is_wanted(tmp_path: Path) -> None:
    with Memory(tmp_path / "team.db", embedder=None) as memory:
        memory.remember(FACTS)
        memory.recall(QUESTIONS[0])
        assert memory.shadow_report().count == 0
    assert not list(tmp_path.glob("*.snapshots"))


def test_a_comparison_tells_who_moved_and_under_what(tmp_path: Path) -> None:
    with Memory(tmp_path / "team.db", embedder=None, settings=SHADOWED, clock=Clock()) as memory:
        ids = memory.remember(FACTS)
        found = memory.recall(QUESTIONS[0], k=3)
        without = memory.recall(QUESTIONS[0], k=3, preset="conservative", settings={"shadow.enabled": False})
    [line] = noted(tmp_path / "team.db.snapshots")
    assert (line["question"], line["k"], line["kind"], line["failed"]) == (QUESTIONS[0], 3, "recall", None)
    assert line["a"] == {}
    assert line["b"]["preset"] == "conservative"
    assert line["at"].startswith("2026-03-01T12:00")
    gone = [move["id"] for move in line["demoted"] if move["after"] is None]
    assert set(gone) == set(found.ids) - set(without.ids)
    assert line["overlap"] == len(without.ids) / len(found.ids)
    assert set(gone) < set(ids)


def test_no_text_of_a_fact_is_kept(tmp_path: Path) -> None:
    with Memory(tmp_path / "team.db", embedder=None, settings=ALL) as memory:
        memory.remember(FACTS)
        memory.recall("Porto?")
    kept = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "team.db.snapshots").glob("*.jsonl"))
    assert kept
    assert not any(text in kept for text in FACTS)


def test_a_report_sums_up_and_reads_the_texts_as_they_are(open_memory: Opening) -> None:
    memory = filled(open_memory, **SHADOWED)
    for question in QUESTIONS:
        memory.recall(question)
    report = memory.shadow_report()
    assert (report.count, report.failures) == (3, 0)
    assert report.overlap is not None
    assert 0 < report.overlap < 1
    assert {moved.text for moved in (*report.promoted, *report.demoted)} <= set(FACTS)
    assert report.demoted[0].times >= report.demoted[-1].times > 0


def test_the_assist_is_compared_the_other_way_round(open_memory: Opening) -> None:
    memory = filled(open_memory, **ALL)
    memory.recall(QUESTIONS[0])
    assert [memory.shadow_report(kind).count for kind in ("recall", "assist", None)] == [1, 1, 2]
    with pytest.raises(InvalidInput, match="recall, assist"):
        memory.shadow_report("asist")


@pytest.mark.parametrize("wrong", ["recall.kk=3", "{", "no-such-preset", "recall.k=many", "[1]"])
def test_a_second_configuration_that_cannot_be_used_is_noted_as_failed(open_memory: Opening, wrong: str) -> None:
    memory = filled(open_memory, **SHADOWED, **{"shadow.settings": wrong})
    assert memory.recall(QUESTIONS[0]).known
    report = memory.shadow_report()
    assert (report.count, report.failures, report.overlap, report.reasons[0].times) == (1, 1, None, 1)


class Breaking(Lent):
    """A store of which so many more readings succeed."""

    readings = 1_000

    def read_facts(self, ids: Any) -> Any:
        self.readings -= 1
        if self.readings < 0:
            raise RuntimeError("The disk is gone.")
        return self.store.read_facts(ids)


def test_a_shadow_that_fails_never_harms_the_answer(store: Store) -> None:
    breaking = Breaking(store)
    memory = Memory(breaking, embedder=None, settings=ALL, clock=Clock())
    memory.remember(FACTS)
    plain = memory.recall(QUESTIONS[0], settings=dict.fromkeys(ALL_OFF, False))
    breaking.readings = 1
    assert answer(memory.recall(QUESTIONS[0])) == answer(plain)
    breaking.readings = 1_000
    report = memory.shadow_report()
    assert (report.count, report.failures) == (2, 2)
    assert report.reasons == (ShadowFailure("The disk is gone.", 2),)


def test_a_journal_that_cannot_be_written_never_harms_the_answer(
    open_memory: Opening, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    memory = filled(open_memory)
    on = {**ALL, "snapshots.folder": str(tmp_path / "taken")}
    assert memory.recall(QUESTIONS[0], settings=on).ids == memory.recall(QUESTIONS[0]).ids
    assert "could not be recorded" in caplog.text


def test_a_snapshot_has_ids_and_ways(tmp_path: Path) -> None:
    with Memory(tmp_path / "team.db", embedder=None, settings={"snapshots.enabled": True}) as memory:
        memory.remember(FACTS)
        found = memory.recall(QUESTIONS[0])
    [line] = noted(tmp_path / "team.db.snapshots", "recalls")
    assert [hit["id"] for hit in line["hits"]] == list(found.ids)
    assert [tuple(hit["path"]) for hit in line["hits"]] == [hit.path for hit in found]
    assert (line["known"], line["mode"], line["dynamics"]) == (True, "full", "cofire")


def test_only_so_many_are_kept(tmp_path: Path) -> None:
    with Memory(tmp_path / "team.db", embedder=None, settings={**SHADOWED, "snapshots.most": 4}) as memory:
        memory.remember(FACTS)
        for number in range(11):
            memory.recall(f"{QUESTIONS[0]} {number}")
        assert memory.shadow_report().count == 4
    assert noted(tmp_path / "team.db.snapshots")[-1]["question"].endswith("10")


def test_a_forgotten_fact_leaves_no_trace(open_memory: Opening) -> None:
    memory = filled(open_memory, **ALL)
    found = memory.recall(QUESTIONS[0])
    memory.forget(found.ids[0])
    assert memory.shadow_clear() <= 2
    memory.recall(QUESTIONS[0])
    memory.forget([fact.id for fact in memory.facts()])
    assert all(not moved for moved in (memory.shadow_report().promoted, memory.shadow_report().demoted))


def test_a_recall_that_was_switched_off_has_no_shadow(open_memory: Opening) -> None:
    memory = filled(open_memory, **ALL)
    memory.recall(QUESTIONS[0], mode="no_recall")
    assert memory.shadow_clear() == 0


def test_settings_of_the_call_hold_for_both(open_memory: Opening) -> None:
    memory = filled(open_memory, **{**SHADOWED, "shadow.preset": "default"})
    memory.recall(QUESTIONS[0], settings={"fusion.method": "rrf"}, k=2)
    assert memory.shadow_report().same == 1


def test_awaited_recalls_have_shadows_too(tmp_path: Path) -> None:
    async def story() -> tuple[int, int]:
        async with AsyncMemory(tmp_path / "team.db", embedder=None, settings=ALL) as memory:
            await memory.remember(FACTS)
            await memory.recall(QUESTIONS[0])
            return (await memory.shadow_report()).count, await memory.shadow_clear()

    assert asyncio.run(story()) == (2, 3)


def test_a_lent_store_that_is_a_file_keeps_them_beside_it(open_memory: Opening, store: Any, tmp_path: Path) -> None:
    memory = filled(open_memory, **SHADOWED)
    assert isinstance(memory._opened.context.store, Lent)
    memory.recall(QUESTIONS[0])
    expected = f"{tmp_path}/memory.db.snapshots" if store.path else ""
    assert memory.shadow_report().place == expected
