"""Update: a fact says something else, under its id; what hung on the old text goes, and its history stays."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cofire import Memory
from cofire.errors import InvalidFact, InvalidInput, NotFound
from cofire.stores.base import Store
from tests.conftest import Clock, HashedWords, Opening

OPEN = {"abstention.rule": "off"}


def test_new_text_is_found_and_the_old_is_not(wordy: Memory) -> None:
    id, _ = wordy.remember(["The kettle whistles.", "Trains are late."])
    wordy.update(id, text="The samovar hums.")
    assert wordy.recall("samovar", settings=OPEN).ids == (id,)
    assert wordy.recall("kettle", settings=OPEN).ids == ()
    assert [fact.text for fact in wordy.facts(id)] == ["The samovar hums."]


def test_meaning_follows(memory: Memory, embedder: HashedWords) -> None:
    id, _ = memory.remember(["The kettle whistles.", "Trains are late."])
    memory.update(id, text="My automobile is red.")
    assert embedder.embedded.count("My automobile is red.") == 1
    assert memory.recall("vehicle", settings=OPEN)[0].id == id


def test_what_is_not_named_stays(memory: Memory) -> None:
    id = memory.remember("Tea.", tags=["a"], speaker="Ana", session="s", metadata={"page": 1}, at="2026-01-01")
    before = memory.facts(id)[0]
    after = memory.update(id, tags=["b", "C"], category="note")
    assert (after.tags, after.category) == (("b", "c"), "note")
    kept = ("id", "text", "speaker", "session", "metadata", "at", "stored_at", "position", "reinforced", "scope")
    assert [getattr(after, label) for label in kept] == [getattr(before, label) for label in kept]
    assert memory.facts(tags=["b"]) == [after]
    assert memory.facts(tags=["a"]) == []


def test_none_takes_a_value_away(memory: Memory) -> None:
    id = memory.remember("Tea.", tags=["a"], subject="Tea time", metadata={"page": 1}, expires="2030-01-01")
    after = memory.update(id, tags=None, subject=None, metadata=None, expires=None)
    assert (after.tags, after.subject, dict(after.metadata), after.expires) == ((), None, {}, None)


def test_history_tells_what_was_said_and_until_when(memory: Memory, clock: Clock) -> None:
    id = memory.remember("Ana lives in Porto.", tags=["home"], at="2026-01-01", metadata={"n": 1})
    memory.update(id, text="Ana lives in Lisbon.")
    memory.update(id, tags=["work"])
    past = memory.history(id)
    assert [(one.fact.text, one.fact.tags) for one in past] == [
        ("Ana lives in Porto.", ("home",)),
        ("Ana lives in Lisbon.", ("home",)),
    ]
    assert (past[0].fact.id, dict(past[0].fact.metadata)) == (id, {"n": 1})
    assert past[0].until < past[1].until <= clock.now
    assert memory.portrait(id).history == tuple(past)


def test_what_changes_nothing_leaves_no_history(memory: Memory) -> None:
    id = memory.remember("Tea.", tags=["a"])
    assert memory.update(id, text="Tea.", tags=["A"]) == memory.facts(id)[0]
    assert memory.update(id) == memory.facts(id)[0]
    assert memory.history(id) == []


def test_names_follow_the_text(wordy: Memory) -> None:
    about, id = wordy.remember(
        [{"text": "It runs pools.", "subject": "PgBouncer"}, {"text": "We asked Ana Lopez about PgBouncer."}]
    )
    assert [link.via for link in wordy.neighbours(id)] == ["pgbouncer"]
    wordy.update(id, text="We asked Ana Lopez about the weather.")
    assert wordy.neighbours(id) == []
    wordy.update(id, text="We asked Ben about PgBouncer.")
    assert {link.target for link in wordy.neighbours(id)} | {link.source for link in wordy.neighbours(id)} == {
        about,
        id,
    }


def test_links_of_the_old_text_end_and_others_stay(open_memory: Opening) -> None:
    memory = open_memory(settings={"auto_link.threshold": 0.3})
    tea, other, train = memory.remember(["Green tea is hot.", "Water is wet.", "Slow trains are late."])
    id = memory.remember("Green tea is hot and good.", session="s")
    after = memory.remember("Something else.", session="s")
    memory.connect(id, other, kind="supports")
    assert {edge.kind for edge in memory.edges(ids=[id, tea]) if tea in (edge.source, edge.target)} == {"auto_link"}
    memory.update(id, text="Slow trains are late and full.")
    linked = {(edge.kind, *sorted({edge.source, edge.target} - {id})) for edge in memory.edges(ids=[id])}
    assert linked == {("supports", other), ("follows", after), ("auto_link", train)}


def test_others_are_no_longer_described_by_the_old_text(open_memory: Opening) -> None:
    memory = open_memory(settings={"auto_link.threshold": 0.3})
    tea = memory.remember("Green tea is hot.")
    id = memory.remember("Green tea is hot and good.", subject="Samovar")
    assert "Samovar" in memory.portrait(tea).descriptions[-1]
    memory.update(id, text="Slow trains are late.", subject="Train")
    assert memory.portrait(tea).descriptions == ()


def test_updated_fact_waits_for_a_dream(memory: Memory) -> None:
    id = memory.remember("Tea.")
    memory.dream()
    assert memory.stats().size.waiting == 0
    memory.update(id, text="Coffee.")
    assert memory.stats().size.waiting == 1


def test_vector_of_the_old_text_goes_without_an_embedder(open_memory: Opening, store: Store) -> None:
    id = open_memory().remember("Tea.")
    open_memory(None).update(id, text="Coffee.")
    assert store.read_size().embedded == 0
    assert open_memory().reembed() == 1


def test_update_into_a_fact_that_exists_is_refused(memory: Memory) -> None:
    tea, coffee = memory.remember(["Tea.", "Coffee."])
    with pytest.raises(InvalidInput, match=f"The fact {coffee} says this already"):
        memory.update(tea, text="Coffee.")
    assert (memory.facts(tea)[0].text, memory.history(tea)) == ("Tea.", [])


def test_old_text_can_be_told_again(memory: Memory) -> None:
    id = memory.remember("Tea.")
    memory.update(id, text="Coffee.")
    assert memory.remember("Tea.") != id
    assert memory.remember("Coffee.") == id


def test_as_of_an_earlier_time_the_fact_says_what_it_says_now(wordy: Memory, clock: Clock) -> None:
    id = wordy.remember("The kettle whistles.")
    then = clock.now
    wordy.update(id, text="The samovar hums.")
    assert wordy.recall("samovar", as_of=then, settings=OPEN)[0].text == "The samovar hums."
    assert wordy.history(id)[0].until > then


def test_history_goes_with_the_fact_and_comes_back(memory: Memory) -> None:
    id = memory.remember("Tea.")
    memory.update(id, text="Coffee.")
    past = memory.history(id)
    gone = memory.forget(id)
    with pytest.raises(NotFound):
        memory.history(id)
    memory.undo(gone)
    assert memory.history(id) == past


def test_times_are_acted_upon(wordy: Memory, clock: Clock) -> None:
    id = wordy.remember("The kettle whistles.")
    wordy.update(id, expires="2020-01-01")
    assert wordy.recall("kettle", settings=OPEN).ids == ()
    wordy.update(id, expires=None, valid_until="2020-01-01")
    assert wordy.recall("kettle", settings=OPEN).ids == ()
    wordy.update(id, valid_until=None)
    assert wordy.recall("kettle", settings=OPEN).ids == (id,)


@pytest.mark.parametrize(
    "said",
    [
        {"text": ""},
        {"text": None},
        {"text": 7},
        {"text": "a\x00"},
        {"tags": 3},
        {"at": "yesterday-ish"},
        {"metadata": [1]},
        {"valid_from": "2026-02-01", "valid_until": "2026-01-01"},
    ],
)
def test_what_cannot_be_said_of_a_fact_is_refused(memory: Memory, said: dict[str, Any]) -> None:
    id = memory.remember("Tea.")
    with pytest.raises(InvalidFact):
        memory.update(id, **said)
    assert memory.history(id) == []


@pytest.mark.parametrize(("id", "error"), [("unknown", NotFound), (7, InvalidInput), ("", InvalidInput)])
def test_unknown_fact_cannot_be_updated(memory: Memory, id: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        memory.update(id, text="Tea.")
    with pytest.raises(error):
        memory.history(id)


def test_words_that_the_new_text_gives_again_still_lead_to_others(open_memory: Opening) -> None:
    memory = open_memory(settings={"auto_link.threshold": 0.05})
    tea = memory.remember("Tea is served at four in the garden house.")
    otto = memory.remember("Tea in the garden house is served by Otto.", subject="samovar")
    memory.update(otto, text="Tea in the garden house is served at four by Anna.")
    assert memory.portrait(tea).descriptions[-1] == "Goes with: samovar"
    found = {hit.id: hit for hit in memory.recall("samovar")}
    assert found[tea].channels["keyword"].score > 0


def test_words_that_the_new_text_no_longer_gives_are_gone_from_others(open_memory: Opening) -> None:
    memory = open_memory(settings={"auto_link.threshold": 0.05})
    tea = memory.remember("Tea is served at four in the garden house.")
    otto = memory.remember("Tea in the garden house is served by Otto.", subject="samovar")
    memory.update(otto, subject="kettle")
    assert memory.portrait(tea).descriptions == ("Goes with: kettle",)
    assert tea not in {hit.id for hit in memory.recall("samovar")}
    memory.forget(otto, purge=True)
    assert memory.portrait(tea).descriptions == ()


class Meanwhile:
    """A clock that lets somebody else do something, once, between what a verb reads and what it writes."""

    def __init__(self) -> None:
        self.other: Callable[[], object] | None = None

    def __call__(self) -> datetime:
        other, self.other = self.other, None
        if other is not None:
            other()
        return datetime(2026, 5, 8, tzinfo=UTC)


def test_an_update_leaves_what_others_changed_meanwhile(tmp_path: Path) -> None:
    clock = Meanwhile()
    path, model = tmp_path / "team.db", HashedWords()
    with Memory(path, embedder=model, clock=clock) as mine, Memory(path, embedder=model) as theirs:
        id = mine.remember("Tea is at four.", tags=["kitchen"])
        clock.other = lambda: theirs.update(id, text="Tea is at five.")
        mine.update(id, tags=["pantry"])
        [found] = mine.facts(id)
        assert (found.text, found.tags) == ("Tea is at five.", ("pantry",))
        assert mine.stats().without_vector == 0


def test_facts_that_supersede_each_other_at_once_do_not_both_go(tmp_path: Path) -> None:
    clock = Meanwhile()
    with Memory(tmp_path / "team.db", embedder=None, clock=clock) as mine:
        old, new = mine.remember(["Tea is at four.", "Tea is at five."])
        with Memory(tmp_path / "team.db", embedder=None) as theirs:
            clock.other = lambda: theirs.supersede(new, old)
            with pytest.raises(InvalidInput, match="itself been superseded"):
                mine.supersede(old, new)
            assert theirs.recall("tea", settings=OPEN).ids == (old,)
