"""Feedback: the ways to what helped grow, those to what hurt shrink, and each fact is counted. By recollection or by id, from any door."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cofire.async_memory import AsyncMemory
from cofire.errors import InvalidInput, NotFound
from cofire.memory import Memory
from cofire.stores.base import Store
from cofire.stores.learning_rows import FeedbackCounts
from tests.conftest import Clock
from tests.verbs.knob_proofs import CHAIN, Sensitive

QUESTION = "Who bought the red kettle?"


@pytest.fixture
def memory(store: Store) -> Memory:
    return filled(Memory(store, embedder=Sensitive(), clock=Clock()))


def filled(memory: Memory) -> Memory:
    for text, subject in CHAIN:
        memory.remember(text, subject=subject)
    return memory


def id_of(memory: Memory, beginning: str) -> str:
    return next(fact.id for fact in memory.facts() if fact.text.startswith(beginning))


def weights(memory: Memory) -> dict[tuple[str, str], float]:
    return {(edge.source, edge.target): round(edge.weight or 0, 2) for edge in memory.edges(kind="hebbian")}


def test_what_led_to_a_helpful_fact_through_a_name_becomes_an_edge(memory: Memory) -> None:
    found = memory.recall(QUESTION)
    kettle, ana = id_of(memory, "The red kettle"), id_of(memory, "She has lived")
    assert [hit.path for hit in found if hit.id == ana] == [(kettle, ana)]
    learned = memory.feedback(found, helped=ana)
    assert (learned.helped, learned.hurt, learned.made, learned.changed) == ((ana,), (), 1, 0)
    assert weights(memory) == {(kettle, ana): 0.05}
    assert memory.edges(kind="hebbian")[0].origin == "use"


def test_facts_that_helped_together_are_joined(memory: Memory) -> None:
    found = memory.recall(QUESTION)
    three = sorted([id_of(memory, "The red kettle"), id_of(memory, "She has lived"), id_of(memory, "He studies")])
    assert set(three) <= set(found.ids)
    memory.feedback(found, helped=three)
    assert weights(memory) == {(a, b): 0.05 for place, a in enumerate(three) for b in three[place + 1 :]}


def test_feedback_again_strengthens_by_a_step_each_time(memory: Memory) -> None:
    found, ana = memory.recall(QUESTION), id_of(memory, "She has lived")
    for _ in range(25):
        memory.feedback(found, helped=[ana])
    assert list(weights(memory).values()) == [1.0]


def test_what_hurt_is_harder_to_reach(memory: Memory) -> None:
    found, ana = memory.recall(QUESTION), id_of(memory, "She has lived")
    for _ in range(3):
        memory.feedback(found, helped=[ana])
    memory.feedback(found, hurt=[ana])
    assert list(weights(memory).values()) == [0.1]
    assert memory.use(ana) == FeedbackCounts(helped=3, hurt=1)


def test_a_way_that_led_to_help_is_not_weakened_for_what_came_after(memory: Memory) -> None:
    found, ana, porto = memory.recall(QUESTION), id_of(memory, "She has lived"), id_of(memory, "It lies")
    assert [len(hit.path) for hit in found if hit.id == porto] == [3]
    learned = memory.feedback(found, helped=[ana], hurt=[porto])
    assert (learned.made, learned.changed) == (1, 0)


def test_a_learned_edge_brings_the_fact_nearer(memory: Memory) -> None:
    ana = id_of(memory, "She has lived")
    before = next(hit for hit in memory.recall(QUESTION) if hit.id == ana)
    for _ in range(4):
        memory.feedback(memory.recall(QUESTION), helped=[ana])
    after = next(hit for hit in memory.recall(QUESTION) if hit.id == ana)
    assert after.score > before.score
    assert after.parts["wired"] > 0


def test_a_recall_is_named_by_its_id(memory: Memory) -> None:
    found, ana = memory.recall(QUESTION), id_of(memory, "She has lived")
    assert memory.recall(QUESTION).id != found.id
    assert memory.feedback(found.id, helped=[ana]).made == 1
    assert memory.use(ana) == FeedbackCounts(helped=1)


def test_another_process_may_give_feedback(tmp_path: Path) -> None:
    place = tmp_path / "team.db"
    with Memory(place, embedder=None) as memory:
        found = filled(memory).recall(QUESTION)
    with Memory(place, embedder=None) as another:
        learned = another.feedback(found.id, helped=found.ids[:2])
        assert learned.made == 1
        assert another.portrait(found.ids[0]).use == FeedbackCounts(helped=1)


def test_trials_leave_no_trace(store: Store) -> None:
    memory = filled(Memory(store, embedder=Sensitive(), clock=Clock(), settings={"hebbian.rule": "documented"}))
    ana = id_of(memory, "She has lived")
    memory.why(QUESTION, ana)
    memory.compare([QUESTION], b="research-max")
    assert memory.edges(kind="hebbian") == []
    memory.recall(QUESTION)
    assert memory.edges(kind="hebbian") != []


def test_a_log_that_is_off_gives_no_ids_and_feedback_still_works(memory: Memory) -> None:
    found = memory.recall(QUESTION, settings={"recall_log.enabled": False})
    assert found.id == ""
    assert memory.feedback(found, helped=found.ids[0]).helped == (found.ids[0],)


def test_sessions_are_told_apart_by_name(store: Store) -> None:
    for session in ("monday", "tuesday", "wednesday"):
        memory = Memory(store, embedder=Sensitive(), clock=Clock(), session=session)
        if session == "monday":
            filled(memory)
        assert memory.edges(kind="hebbian") == []
        memory.recall(QUESTION)
    memory.remember("A writing takes the log along.")
    assert memory.edges(kind="hebbian") != []


@pytest.mark.parametrize(
    ("helped", "hurt", "problem"),
    [
        ((), (), "Neither helped nor hurt names a fact."),
        (("kettle",), ("kettle",), "cannot have both helped and hurt"),
        (("stamps",), (), "was not among what this recall brought back"),
    ],
)
def test_what_makes_no_sense_is_refused(memory: Memory, helped: tuple[str], hurt: tuple[str], problem: str) -> None:
    known = {"kettle": id_of(memory, "The red kettle"), "stamps": id_of(memory, "He collects")}
    found = memory.recall("red kettle of Ana Lopez", k=2)
    with pytest.raises(InvalidInput, match=problem):
        memory.feedback(found, helped=[known[one] for one in helped], hurt=[known[one] for one in hurt])
    assert memory.edges(kind="hebbian") == []


def test_unknown_ids_are_refused(memory: Memory) -> None:
    found = memory.recall(QUESTION)
    with pytest.raises(NotFound, match="No fact has the id nobody"):
        memory.feedback(found, helped=["nobody"])
    with pytest.raises(NotFound, match="No recall has the id nothing"):
        memory.feedback("nothing", helped=found.ids)
    with pytest.raises(InvalidInput, match="Feedback is about a recall"):
        memory.feedback(7, helped=found.ids)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="Feedback is about a recall"):
        memory.feedback("\ud800", helped=found.ids)
    with pytest.raises(NotFound):
        memory.use("nobody")


def test_what_was_shown_of_other_scopes_is_not_told(memory: Memory) -> None:
    kettle = id_of(memory, "The red kettle")
    tea = memory.remember("The kettle is red.", scope="home")
    found = memory.recall("red kettle", scope=["default", "home"])
    assert {kettle, tea} <= {*found.ids}
    with pytest.raises(InvalidInput) as refused:
        memory.feedback(found.id, helped=[memory.remember("The pot is blue.", scope="home")])
    assert tea in refused.value.way_out
    assert kettle not in refused.value.way_out


def test_the_same_awaited() -> None:
    async def life() -> FeedbackCounts:
        async with AsyncMemory(":memory:", embedder=None) as memory:
            await memory.remember("The red kettle was bought by Ana Lopez.")
            found = await memory.recall(QUESTION)
            await memory.feedback(found.id, helped=found.ids)
            assert await memory.communities() == []
            return await memory.use(found.ids[0])

    assert asyncio.run(life()) == FeedbackCounts(helped=1)


def test_what_helped_comes_earlier_when_another_question_brings_the_same_facts_to_mind(memory: Memory) -> None:
    told, asked = "Who bought the red kettle?", "The red kettle, who bought it then?"
    before = memory.recall(asked)
    last = before.ids[4]
    assert len(set(before.ids[:5]) & set(memory.recall(told).ids[:5])) > 2
    memory.feedback(memory.recall(told), helped=[last])
    after = next(hit for hit in memory.recall(asked) if hit.id == last)
    assert after.channels["occasions"].gives > 0
    assert sum(heard.gives for heard in after.channels.values()) == pytest.approx(after.score)
    assert memory.recall(asked).ids.index(last) < 4


def test_a_question_that_brings_other_facts_to_mind_is_answered_as_before(memory: Memory) -> None:
    other = "Who collects stamps of Tom Ashe?"
    before = memory.recall(other, k=3)
    memory.feedback(memory.recall(QUESTION, k=3), helped=memory.recall(QUESTION, k=3).ids[:1])
    after = memory.recall(other, k=3)
    assert [(hit.id, hit.score) for hit in after] == [(hit.id, hit.score) for hit in before]
    assert all("occasions" not in hit.channels for hit in after)


def test_harm_takes_back_what_help_gave_and_no_more(memory: Memory) -> None:
    last = memory.recall(QUESTION).ids[4]
    memory.feedback(memory.recall(QUESTION), helped=[last])
    assert occasioned(memory).keys() == {last}
    for _ in range(2):
        memory.feedback(memory.recall(QUESTION), hurt=[last])
    assert occasioned(memory) == {}


def occasioned(memory: Memory) -> dict[str, float]:
    """What earlier occasions give, by fact."""
    found = memory.recall(QUESTION)
    given = {hit.id: hit.channels["occasions"].gives for hit in found if "occasions" in hit.channels}
    return {id: gives for id, gives in given.items() if gives}


def test_success_and_importance_can_count_and_add_up(memory: Memory) -> None:
    found, ana = memory.recall(QUESTION), id_of(memory, "She has lived")
    memory.feedback(found, helped=[ana], hurt=[found.ids[0]])
    memory.dream()
    weighed = memory.recall(QUESTION, settings={"prior.success": 1.0, "prior.pagerank": 0.5})
    fared = {hit.id: hit.channels["success"].gives for hit in weighed}
    assert fared[ana] == pytest.approx(1 / 3)
    assert fared[found.ids[0]] == pytest.approx(-1 / 3)
    assert max(hit.channels["importance"].gives for hit in weighed) == pytest.approx(0.5)
    for hit in weighed:
        assert sum(heard.gives for heard in hit.channels.values()) == pytest.approx(hit.score)


def test_another_process_knows_a_recall_once_the_first_has_written(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder=None) as first, Memory(tmp_path / "m.db", embedder=None) as second:
        id = first.remember("The kettle is red.")
        found = first.recall("kettle", settings={"abstention.rule": "off"})
        with pytest.raises(NotFound, match="when that process writes or closes the store"):
            second.feedback(found.id, helped=id)
        first.remember("The cup is blue.")
        assert second.feedback(found.id, helped=id).helped == (id,)
