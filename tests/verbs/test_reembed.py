"""Re-embed, end to end: a store moves to another model, resumes after an interruption, and takes latecomers along."""

from __future__ import annotations

import pytest

from cofire.errors import EmbedderFailed, EmbedderUnavailable, OtherModel
from cofire.memory import Memory
from cofire.stores.base import INCOMING_RECORD, Store
from cofire.verbs.remember import Progress
from tests.conftest import Faltering, HashedWords, Opening

TEXTS = [f"tea number {number}" for number in range(6)]


@pytest.fixture
def moved_from(open_memory: Opening) -> Memory:
    """A memory of the first model, with six facts."""
    memory = open_memory(HashedWords("first"))
    memory.remember(TEXTS)
    return memory


def test_another_model_is_refused_on_opening_with_both_names(open_memory: Opening, moved_from: Memory) -> None:
    with pytest.raises(OtherModel, match=r"first \(32 dimensions\).*second \(16 dimensions\).*cofire reembed"):
        open_memory(HashedWords("second", 16))


def test_the_same_model_may_open_it(open_memory: Opening, moved_from: Memory) -> None:
    assert open_memory(HashedWords("first")).recall("tea").known


def test_no_embedder_may_open_it(open_memory: Opening, moved_from: Memory) -> None:
    assert open_memory(None).recall("tea").known


@pytest.mark.parametrize("dimension", [32, 16], ids=["same dimension", "other dimension"])
def test_all_facts_move_to_the_new_model(
    open_memory: Opening, store: Store, moved_from: Memory, dimension: int
) -> None:
    second = open_memory(HashedWords("second", dimension), reembedding=True)
    assert second.reembed() == len(TEXTS)
    assert (second.stats().model, second.stats().without_vector) == ("second", 0)
    assert store.read_record(INCOMING_RECORD) is None
    assert second.recall("tea number 3")[0].text == TEXTS[3]
    assert store.read_word_statistics(["default"], []).sample.shape == (len(TEXTS), dimension)


def test_the_new_model_may_open_it_afterwards_and_the_old_may_not(open_memory: Opening, moved_from: Memory) -> None:
    open_memory(HashedWords("second"), reembedding=True).reembed()
    assert open_memory(HashedWords("second")).recall("tea").known
    with pytest.raises(OtherModel):
        open_memory(HashedWords("first"))


def test_before_it_is_moved_nothing_can_be_stored_with_another_model(open_memory: Opening, moved_from: Memory) -> None:
    waiting = open_memory(HashedWords("second"), reembedding=True)
    with pytest.raises(OtherModel):
        waiting.remember("something new")
    with pytest.raises(OtherModel):
        waiting.recall("tea")


def test_an_interrupted_move_leaves_the_old_model_at_work(open_memory: Opening, moved_from: Memory) -> None:
    faltering = Faltering(batches=2, name="second")
    with pytest.raises(EmbedderFailed):
        open_memory(faltering, settings={"remember.batch": 2}, reembedding=True).reembed()
    found = moved_from.recall("tea number 3")
    assert found[0].text == TEXTS[3]
    assert found.channels[0].status == "ok"
    assert moved_from.stats().model == "first"


def test_an_interrupted_move_resumes_where_it_stopped(open_memory: Opening, moved_from: Memory) -> None:
    faltering = Faltering(batches=2, name="second")
    memory = open_memory(faltering, settings={"remember.batch": 2}, reembedding=True)
    with pytest.raises(EmbedderFailed):
        memory.reembed()
    faltering.batches = 9
    assert memory.reembed() == 2
    assert sorted(faltering.embedded) == sorted(TEXTS)
    assert memory.stats().without_vector == 0


def test_a_move_to_a_third_model_owes_nothing_to_the_one_given_up(open_memory: Opening, moved_from: Memory) -> None:
    with pytest.raises(EmbedderFailed):
        open_memory(Faltering(1, "second"), settings={"remember.batch": 2}, reembedding=True).reembed()
    third = HashedWords("third")
    assert open_memory(third, reembedding=True).reembed() == len(TEXTS)
    assert sorted(third.embedded) == sorted(TEXTS)


def test_going_back_to_the_first_model_owes_nothing_to_the_one_given_up(
    open_memory: Opening, moved_from: Memory
) -> None:
    before = [hit.score for hit in moved_from.recall("tea number 3")]
    with pytest.raises(EmbedderFailed):
        open_memory(Faltering(1, "second"), settings={"remember.batch": 2}, reembedding=True).reembed()
    assert moved_from.reembed() == 0
    assert [hit.score for hit in moved_from.recall("tea number 3")] == pytest.approx(before)


def test_facts_stored_while_moving_are_taken_along(open_memory: Opening, moved_from: Memory) -> None:
    """Somebody with the old model stores a fact between two batches of the move."""
    late: list[str] = []

    def interrupt(progress: Progress) -> None:
        if not late:
            late.append(moved_from.remember("tea of a latecomer"))

    memory = open_memory(HashedWords("second"), settings={"remember.batch": 2}, reembedding=True)
    assert memory.reembed(progress=interrupt) == len(TEXTS) + 1
    assert memory.stats().without_vector == 0
    assert memory.recall("latecomer")[0].id == late[0]


def test_facts_forgotten_while_moving_stay_forgotten(open_memory: Opening, moved_from: Memory) -> None:
    gone = moved_from.recall("tea number 3")[0].id

    def interrupt(progress: Progress) -> None:
        if progress.done == 2:
            moved_from.forget(gone)

    memory = open_memory(HashedWords("second"), settings={"remember.batch": 2}, reembedding=True)
    memory.reembed(progress=interrupt)
    assert memory.stats().size.facts == memory.stats().size.embedded == len(TEXTS) - 1


def test_facts_that_had_no_vector_get_one(open_memory: Opening) -> None:
    open_memory(None).remember(TEXTS)
    memory = open_memory()
    assert memory.stats().without_vector == len(TEXTS)
    assert memory.reembed() == len(TEXTS)
    assert memory.recall("tea number 3").channels[0].status == "ok"


def test_only_what_lacks_a_vector_is_embedded(open_memory: Opening, moved_from: Memory) -> None:
    open_memory(None).remember("tea without a vector")
    again = HashedWords("first")
    assert open_memory(again).reembed() == 1
    assert again.embedded == ["tea without a vector"]


def test_moving_again_finds_nothing_to_do(open_memory: Opening, moved_from: Memory) -> None:
    assert moved_from.reembed() == 0


def test_an_empty_memory_moves_too(open_memory: Opening) -> None:
    assert open_memory().reembed() == 0


def test_progress_is_told(open_memory: Opening, moved_from: Memory) -> None:
    heard: list[Progress] = []
    memory = open_memory(HashedWords("second"), settings={"remember.batch": 4}, reembedding=True)
    memory.reembed(progress=heard.append)
    assert heard == [Progress("reembed", 4, 6), Progress("reembed", 6, 6)]


def test_without_an_embedder_there_is_nothing_to_move_to(open_memory: Opening) -> None:
    with pytest.raises(EmbedderUnavailable, match="cofire config set"):
        open_memory(None).reembed()
