"""Remember, end to end: what may be given, what comes back, and what is stored."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

import pytest

from cofire.embedders.base import StoredModel
from cofire.errors import EmbedderFailed, InvalidFact
from cofire.memory import Memory
from cofire.model import Fact
from cofire.stores.base import MODEL_RECORD, Store
from cofire.verbs.remember import Progress
from tests.conftest import Clock, Faltering, HashedWords, Opening


def stored(memory: Memory, id: str) -> Fact:
    [fact] = memory.facts(id)
    return fact


def texts(memory: Memory) -> list[str]:
    return [fact.text for fact in memory.facts()]


def test_one_text_gives_one_id(memory: Memory) -> None:
    id = memory.remember("Tea at four.")
    assert stored(memory, id).text == "Tea at four."


def test_one_fact_gives_one_id(memory: Memory) -> None:
    id = memory.remember(Fact("Tea.", tags=("habit",), scope="home"))
    assert (stored(memory, id).tags, stored(memory, id).scope) == (("habit",), "home")


def test_one_mapping_gives_one_id(memory: Memory) -> None:
    id = memory.remember({"text": "Tea.", "speaker": "Ana"})
    assert stored(memory, id).speaker == "Ana"


def test_a_list_gives_a_list_of_ids_in_its_order(memory: Memory) -> None:
    ids = memory.remember(["one", Fact("two"), {"text": "three"}])
    assert [fact.text for fact in memory.facts(ids)] == ["one", "two", "three"]
    assert ids == sorted(ids)


def test_a_list_of_one_gives_a_list(memory: Memory) -> None:
    assert len(memory.remember(["one"])) == 1


def test_nothing_gives_nothing(memory: Memory) -> None:
    assert memory.remember([]) == []
    assert texts(memory) == []


def test_any_iterable_will_do(memory: Memory) -> None:
    def telling() -> Iterator[str]:
        yield "one"
        yield "two"

    assert len(memory.remember(telling())) == 2
    assert len(memory.remember(("three", "four"))) == 2
    assert len(memory.remember({"five": 1}.keys())) == 1


def test_every_keyword_is_kept(memory: Memory) -> None:
    id = memory.remember(
        "It boils.",
        tags=["Kitchen", "water", "kitchen "],
        category="knowledge",
        subject="Kettle",
        at=datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
        session="deploy-42",
        speaker="Ana",
        scope="team-a",
        source="runbook.md",
        metadata={"page": 3},
        valid_from="2020-01-01",
        valid_until=date(2030, 1, 1),
        expires="2031-01-01T00:00:00+02:00",
    )
    fact = stored(memory, id)
    assert fact.tags == ("kitchen", "water")
    assert (fact.category, fact.subject, fact.session, fact.position) == ("knowledge", "Kettle", "deploy-42", 0)
    assert (fact.speaker, fact.scope, fact.source, fact.metadata) == ("Ana", "team-a", "runbook.md", {"page": 3})
    assert fact.at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert (fact.valid_from, fact.valid_until) == (datetime(2020, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC))
    assert fact.expires == datetime(2030, 12, 31, 22, tzinfo=UTC)


def test_an_unknown_keyword_is_refused_by_name(memory: Memory) -> None:
    with pytest.raises(TypeError, match="colour"):
        memory.remember("Tea.", colour="green")


def test_keywords_hold_for_each_that_does_not_say_otherwise(memory: Memory) -> None:
    given = ["one", Fact("two", speaker="Ben"), {"text": "three", "speaker": "Cleo"}, Fact("four", scope="b")]
    ids = memory.remember(given, speaker="Ana", scope="a", tags=["x"])
    assert [fact.speaker for fact in memory.facts(ids)] == ["Ana", "Ben", "Cleo", "Ana"]
    assert [fact.scope for fact in memory.facts(ids)] == ["a", "a", "a", "b"]
    assert {fact.tags for fact in memory.facts(ids)} == {("x",)}


def test_a_none_in_a_mapping_says_nothing(memory: Memory) -> None:
    [id] = memory.remember([{"text": "Tea.", "scope": None}], scope="team-a")
    assert stored(memory, id).scope == "team-a"


def test_the_time_of_storing_is_the_clocks(memory: Memory, clock: Clock) -> None:
    before = clock.now
    id = memory.remember("Tea.")
    moment = stored(memory, id).stored_at
    assert moment is not None
    assert before < moment <= clock.now


def test_the_same_told_again_keeps_its_id_and_is_reinforced(memory: Memory) -> None:
    id = memory.remember("Tea.", tags=["a"])
    assert memory.remember("Tea.", tags=["b"]) == id
    fact = stored(memory, id)
    assert (fact.reinforced, fact.tags) == (1, ("a", "b"))


def test_the_same_twice_in_a_list_is_one_fact_with_one_id(memory: Memory) -> None:
    first, other, again = memory.remember(["Tea.", "Pot.", "Tea."])
    assert first == again != other
    assert stored(memory, first).reinforced == 1
    assert len(texts(memory)) == 2


def test_the_same_in_two_batches_is_one_fact(open_memory: Opening) -> None:
    memory = open_memory(settings={"remember.batch": 1})
    first, again = memory.remember(["Tea.", "Tea."])
    assert first == again


def test_what_is_known_is_not_embedded_again(memory: Memory, embedder: HashedWords) -> None:
    memory.remember("Tea.")
    memory.remember("Tea.")
    assert embedder.embedded == ["Tea."]


def test_the_same_twice_in_a_list_is_embedded_once(memory: Memory, embedder: HashedWords) -> None:
    memory.remember(["Tea.", "Tea."])
    assert embedder.embedded == ["Tea."]


def test_texts_are_embedded_led_by_their_subject(memory: Memory, embedder: HashedWords) -> None:
    memory.remember("It boils.", subject="Kettle")
    assert embedder.embedded == ["Kettle. It boils."]


def test_turns_of_a_session_keep_their_order(memory: Memory) -> None:
    ids = memory.remember(["one", "two", "three"], session="s")
    assert [fact.position for fact in memory.facts(ids)] == [0, 1, 2]


def test_batches_are_of_the_size_that_is_set(open_memory: Opening, embedder: HashedWords) -> None:
    memory = open_memory(embedder, settings={"remember.batch": 2})
    memory.remember(f"fact {number}" for number in range(5))
    assert [len(batch) for batch, role in embedder.calls if role == "fact"] == [2, 2, 1]


def test_progress_tells_how_far_it_has_come(open_memory: Opening) -> None:
    heard: list[Progress] = []
    memory = open_memory(settings={"remember.batch": 2})
    memory.remember(["one", "two", "three"], progress=heard.append)
    assert heard == [Progress("remember", 2, 3), Progress("remember", 3, 3)]


def test_progress_knows_the_total_of_a_generator(memory: Memory) -> None:
    heard: list[Progress] = []
    memory.remember((text for text in ["one", "two"]), progress=heard.append)
    assert heard == [Progress("remember", 2, 2)]


def test_a_bad_fact_refuses_its_whole_batch_and_is_named_by_place(memory: Memory) -> None:
    with pytest.raises(InvalidFact, match="Fact 3: The text of the fact is empty"):
        memory.remember(["one", "two", " ", "four"])
    assert texts(memory) == []


def test_a_bad_fact_refuses_the_batches_before_it_too(open_memory: Opening) -> None:
    memory = open_memory(settings={"remember.batch": 2})
    with pytest.raises(InvalidFact, match="Fact 3"):
        memory.remember(["one", "two", "", "four"])
    assert texts(memory) == []


def test_a_failing_embedder_stores_nothing_and_the_next_try_does(open_memory: Opening) -> None:
    faltering = Faltering(batches=0)
    memory = open_memory(faltering)
    with pytest.raises(EmbedderFailed, match="out of breath"):
        memory.remember("Tea.")
    assert texts(memory) == []
    faltering.batches = 9
    memory.remember("Tea.")
    assert texts(memory) == ["Tea."]


def test_the_first_fact_writes_down_the_model(memory: Memory, store: Store, embedder: HashedWords) -> None:
    assert store.read_record(MODEL_RECORD) is None
    memory.remember("Tea.")
    record = store.read_record(MODEL_RECORD)
    assert record is not None
    assert StoredModel.decode(record.value).model == embedder.model


def test_a_model_of_unknown_mean_is_measured_first(open_memory: Opening, store: Store) -> None:
    embedder = HashedWords(measured=False)
    open_memory(embedder).remember("Tea.")
    record = store.read_record(MODEL_RECORD)
    assert record is not None
    assert StoredModel.decode(record.value).mean[0] > 0.5
    assert len(embedder.calls) == 2


def test_without_an_embedder_facts_have_no_vector(wordy: Memory, store: Store) -> None:
    wordy.remember("Tea.")
    assert store.read_size().embedded == 0
    assert store.read_record(MODEL_RECORD) is None


def test_words_are_counted_from_the_first_fact_on(memory: Memory, store: Store) -> None:
    memory.remember("green tea")
    assert store.read_word_statistics(["default"], ["tea"]).holding == (1,)


def test_words_are_counted_anew_when_a_scope_has_grown(memory: Memory, store: Store) -> None:
    memory.remember([f"tea number {number}" for number in range(20)])
    memory.remember("tea again")
    assert store.read_word_statistics(["default"], ["tea"]).holding == (20,)
    memory.remember(["tea once more", "tea at last"])
    assert store.read_word_statistics(["default"], ["tea"]).holding == (23,)


@pytest.mark.parametrize("given", [7, None, 3.5, object()])
def test_what_is_neither_text_nor_list_is_refused(memory: Memory, given: object) -> None:
    with pytest.raises(InvalidFact):
        memory.remember(given)


@pytest.mark.parametrize("given", [[7], [None], [["nested"]], b"bytes"])
def test_a_list_of_what_is_no_fact_is_refused(memory: Memory, given: object) -> None:
    with pytest.raises(InvalidFact):
        memory.remember(given)


def test_told_again_for_another_time_a_fact_holds_then_and_no_longer_before(memory: Memory, clock: Clock) -> None:
    closed = memory.remember("The pool is closed.", valid_until=clock.now + timedelta(days=90))
    memory.remember("The pool is closed.", valid_from=clock.now + timedelta(days=120))
    assert stored(memory, closed).valid_until is None
    memory.remember("The pool is closed.", valid_until=clock.now + timedelta(days=30))
    assert stored(memory, closed).valid_from is None
    assert memory.update(closed, tags=["pool"]).tags == ("pool",)


def test_names_of_an_enumeration_are_plain_text(memory: Memory) -> None:
    class Team(StrEnum):
        DATA = "data"

    id = memory.remember("Redis runs.", scope=Team.DATA, session=Team.DATA, speaker=Team.DATA)
    assert [fact.id for fact in memory.facts(scope=Team.DATA, session=Team.DATA)] == [id]
    assert memory.recall("Redis", scope=Team.DATA).ids == (id,)
    assert type(stored(memory, id).scope) is str
    own = type("Own", (str,), {})(id)
    assert (memory.portrait(own).fact.id, memory.neighbours(own), memory.use(own).helped) == (id, [], 0)


def test_a_fact_that_ran_out_lives_again_when_it_is_told_again_without_an_end(memory: Memory, clock: Clock) -> None:
    memory.remember("Tea.", expires="2026-03-02")
    clock.now = datetime(2026, 4, 1, tzinfo=UTC)
    id = memory.remember("Tea.")
    assert [hit.id for hit in memory.recall("tea")] == [id]


def test_a_fact_that_ran_out_lives_again_when_it_is_told_again(memory: Memory, clock: Clock) -> None:
    memory.remember("Tea.", expires="2026-03-02")
    clock.now = datetime(2026, 4, 1, tzinfo=UTC)
    id = memory.remember("Tea.", expires="2027-01-01")
    assert [hit.id for hit in memory.recall("tea")] == [id]
