"""Recall, end to end: what is found, in which order, within which limits, and what is said when nothing is."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from cofire.errors import EmbedderFailed, InvalidInput, InvalidQuestion, OtherModel, StoreClosed, UnknownSetting
from cofire.memory import Memory
from cofire.results import Recollection
from cofire.stores.base import Store
from tests.conftest import Clock, Faltering, HashedWords, Opening

DRIVES = "A red automobile stands in the yard."
READS = "The pupil reads a long book."
BOILS = "Water boils in the kettle."


@pytest.fixture
def filled(memory: Memory) -> Memory:
    memory.remember([DRIVES, READS, BOILS])
    return memory


def texts(found: Recollection) -> list[str]:
    return [hit.text for hit in found]


def statuses(found: Recollection) -> dict[str, str]:
    return {report.name: report.status for report in found.channels}


def test_the_fact_that_answers_comes_first(filled: Memory) -> None:
    assert texts(filled.recall("Where is the kettle?"))[0] == BOILS


def test_meaning_finds_what_shares_no_word(filled: Memory) -> None:
    found = filled.recall("car")
    assert texts(found)[0] == DRIVES
    assert found[0].channels["keyword"].rank is None
    assert found[0].channels["semantic"].rank == 1


def test_words_find_what_meaning_is_not_asked_for(filled: Memory) -> None:
    found = filled.recall("kettle", mode="minimal")
    assert texts(found) == [BOILS]
    others = dict.fromkeys(("semantic", "entity", "temporal", "activation"), "disabled")
    assert statuses(found) == {"keyword": "ok", **others}
    assert set(found[0].channels) == {"keyword", "prior", "coverage"}


def test_scores_fall_and_are_what_the_channels_give_together(filled: Memory) -> None:
    found = filled.recall("the pupil and the kettle")
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    for hit in found:
        assert hit.score == pytest.approx(sum(heard.gives for heard in hit.channels.values()))


def test_a_recall_is_the_same_every_time(filled: Memory) -> None:
    first, second = (filled.recall("the kettle of a pupil").to_dict() for _ in range(2))
    assert {**first, "id": None} == {**second, "id": None}


def test_of_equals_the_newer_comes_first(wordy: Memory) -> None:
    ids = [wordy.remember("Tea at four.", session=session) for session in ("one", "two", "three")]
    assert list(wordy.recall("tea").ids) == ids[::-1]


@pytest.mark.parametrize("settings", [{}, {"fusion.method": "rrf"}])
def test_of_equals_the_newer_comes_first_whatever_the_fusion(memory: Memory, settings: dict[str, object]) -> None:
    ids = [memory.remember("Tea at four.", session=session) for session in ("one", "two", "three")]
    assert list(memory.recall("tea", settings=settings).ids) == ids[::-1]


def test_k_is_the_most_that_come_back(filled: Memory) -> None:
    assert [len(filled.recall("the kettle", k=k)) for k in (1, 2, 1_000)] == [1, 2, 3]


def test_without_k_ten_come_back(memory: Memory) -> None:
    memory.remember([f"tea number {number}" for number in range(15)])
    assert len(memory.recall("tea")) == 10


def test_a_budget_of_tokens_cuts_the_list(filled: Memory) -> None:
    assert len(filled.recall("kettle", budget=10)) == 1
    assert len(filled.recall("kettle", budget=1_000)) == 3


def test_a_budget_too_small_for_anything_says_so(filled: Memory) -> None:
    found = filled.recall("kettle", budget=1)
    assert not found.known
    assert "budget" in found.reason


def test_an_empty_memory_knows_nothing_and_says_why(memory: Memory) -> None:
    found = memory.recall("tea")
    assert (found.known, texts(found)) == (False, [])
    assert found.reason
    assert set(statuses(found).values()) == {"empty"}


def test_a_scope_that_nobody_uses_knows_nothing(filled: Memory) -> None:
    assert not filled.recall("kettle", scope="elsewhere").known


FILTERED = {
    "scope": ({"scope": "other"}, {"scope": "other"}),
    "session": ({"session": "s"}, {"session": "s"}),
    "tags": ({"tags": ["a", "b"]}, {"tags": ["A"]}),
    "category": ({"category": "note"}, {"category": ["note", "log"]}),
    "speaker": ({"speaker": "Ana"}, {"speaker": "Ana"}),
    "since": ({"at": "2026-02-01"}, {"since": "2026-01-15", "until": "2026-02-15"}),
    "until": ({"at": "2020-01-01"}, {"until": "2021-01-01"}),
}


@pytest.mark.parametrize("filter", FILTERED)
def test_each_filter_lets_through_what_it_names_and_nothing_else(memory: Memory, filter: str) -> None:
    parts, asked = FILTERED[filter]
    memory.remember(["Tea in the house.", "Tea in the garden."])
    wanted = memory.remember("Tea on the hill.", **parts)
    assert list(memory.recall("tea", **asked).ids) == [wanted]


def test_filters_hold_for_both_channels(memory: Memory) -> None:
    memory.remember("An automobile.", speaker="Ana")
    memory.remember("A vehicle.", speaker="Ben")
    assert texts(memory.recall("car", speaker="Ben")) == ["A vehicle."]


def test_several_scopes_are_searched_together(memory: Memory) -> None:
    memory.remember("Tea.", scope="a")
    memory.remember("Tea!", scope="b")
    memory.remember("Tea?", scope="c")
    found = memory.recall("tea", scope=["b", "a"])
    assert {hit.fact.scope for hit in found} == {"a", "b"}
    assert found.scopes == ("a", "b")


def test_a_scope_is_not_seen_from_the_default_one(memory: Memory) -> None:
    memory.remember("Tea.", scope="secret")
    assert not memory.recall("tea").known


def test_what_ran_out_or_is_not_yet_valid_is_not_recalled(memory: Memory) -> None:
    memory.remember("Tea once.", valid_until="2026-01-01")
    memory.remember("Tea later.", valid_from="2027-01-01")
    memory.update(memory.remember("Tea gone."), expires="2026-01-01")
    memory.remember("Tea now.")
    assert texts(memory.recall("tea")) == ["Tea now."]


def test_as_of_recalls_what_was_known_then(memory: Memory, clock: Clock) -> None:
    clock.now = datetime(2026, 1, 1, tzinfo=UTC)
    memory.remember("Tea early.", valid_until="2026-02-01")
    clock.now = datetime(2026, 3, 1, tzinfo=UTC)
    memory.remember("Tea late.")
    assert texts(memory.recall("tea")) == ["Tea late."]
    assert texts(memory.recall("tea", as_of="2026-01-15")) == ["Tea early."]


def test_as_of_a_day_is_its_end_and_as_of_today_is_now(memory: Memory, clock: Clock) -> None:
    clock.now = datetime(2026, 1, 1, 9, tzinfo=UTC)
    memory.remember("Tea at nine.", expires="2026-01-02T20:00")
    clock.now = datetime(2026, 1, 2, 9, tzinfo=UTC)
    memory.remember("Tea today.")
    assert texts(memory.recall("tea", as_of="2026-01-01")) == ["Tea at nine."]
    assert set(texts(memory.recall("tea", as_of=date(2026, 1, 2)))) == {"Tea at nine.", "Tea today."}


def test_the_meaning_of_a_very_long_question_is_read_at_its_ends(memory: Memory, embedder: HashedWords) -> None:
    memory.remember("Tea steams.")
    memory.recall("What of the tea? " + "It was on line seven of the trace. " * 2_000 + "So, what of it?")
    read = embedder.embedded[-1]
    assert len(read) < 10_000
    assert (read[:16], read[-15:]) == ("What of the tea?", "So, what of it?")


def test_no_community_is_known_before_a_dream(filled: Memory) -> None:
    assert not filled.recall("kettle", community=0).known


def test_no_recall_finds_nothing_on_purpose(filled: Memory) -> None:
    found = filled.recall("kettle", mode="no_recall")
    assert (found.known, found.channels) == (False, ())
    assert "no_recall" in found.reason


def test_without_an_embedder_words_are_searched_and_it_says_so(wordy: Memory) -> None:
    wordy.remember([DRIVES, BOILS])
    found = wordy.recall("kettle")
    assert texts(found) == [BOILS]
    assert (statuses(found)["semantic"], statuses(found)["keyword"]) == ("no_embedder", "ok")
    assert found.channels[0].note == "only words were searched"


def test_channels_tell_how_many_they_heard(filled: Memory) -> None:
    found = filled.recall("kettle")
    counts = {report.name: report.heard for report in found.channels}
    assert counts == {"semantic": 3, "keyword": 1, "entity": 0, "temporal": 0, "activation": 0}


def test_a_failing_embedder_is_named_and_words_still_answer(open_memory: Opening) -> None:
    faltering = Faltering(batches=1)
    memory = open_memory(faltering)
    memory.remember([DRIVES, BOILS])
    found = memory.recall("kettle")
    assert texts(found) == [BOILS]
    assert (statuses(found)["semantic"], statuses(found)["keyword"]) == ("failed", "ok")
    assert "out of breath" in found.channels[0].note


def test_a_failing_embedder_without_words_fails_the_recall(open_memory: Opening) -> None:
    memory = open_memory(Faltering(batches=1))
    memory.remember(BOILS)
    with pytest.raises(EmbedderFailed):
        memory.recall("kettle", settings={"keyword.enabled": False})


def test_a_store_that_fails_is_never_an_empty_answer(filled: Memory, store: Store) -> None:
    store.close()
    with pytest.raises(StoreClosed):
        filled.recall("kettle")


CHANNELS = ("semantic", "keyword", "entity", "temporal")


@pytest.mark.parametrize("channel", CHANNELS)
def test_a_channel_can_be_switched_off(filled: Memory, channel: str) -> None:
    found = filled.recall("kettle", settings={f"{channel}.enabled": False})
    assert statuses(found)[channel] == "disabled"
    assert found.known
    assert all(set(CHANNELS) - set(hit.channels) == {channel} for hit in found)


def test_with_every_channel_off_it_says_so(filled: Memory) -> None:
    found = filled.recall("kettle", settings={f"{channel}.enabled": False for channel in CHANNELS})
    assert (found.known, found.reason) == (False, "Every channel is switched off.")


def test_settings_of_a_call_hold_for_that_call_alone(filled: Memory) -> None:
    before = filled.recall("kettle")[0].score
    assert filled.recall("kettle", settings={"keyword.weight": 9})[0].score > before
    assert filled.recall("kettle")[0].score == before


def test_a_preset_of_a_call_holds_for_that_call_alone(filled: Memory) -> None:
    """Both channels have it first: 1/61 + 1/61."""
    assert filled.recall("kettle", preset="documented-rrf")[0].score == pytest.approx(2 / 61)
    assert filled.recall("kettle")[0].score > 1


def test_words_only_can_be_asked_for_in_a_call(filled: Memory) -> None:
    assert statuses(filled.recall("kettle", preset="words-only"))["semantic"] == "disabled"


def test_an_unknown_setting_or_preset_of_a_call_is_refused(filled: Memory) -> None:
    with pytest.raises(UnknownSetting, match=r"Did you mean keyword\.weight"):
        filled.recall("kettle", settings={"keyword.wieght": 1})
    with pytest.raises(InvalidInput, match="documented-rrf"):
        filled.recall("kettle", preset="no such preset")


def test_an_unknown_keyword_is_refused_by_name(filled: Memory) -> None:
    with pytest.raises(TypeError, match="colour"):
        filled.recall("kettle", colour="green")


@pytest.mark.parametrize("question", ["", "   ", None, 7, "a\x00b"])
def test_a_question_that_is_none_is_refused(filled: Memory, question: object) -> None:
    with pytest.raises(InvalidQuestion):
        filled.recall(question)


@pytest.mark.parametrize("question", ["?!", "🙂", '"*(', "the of and", "x" * 50_000, "tea " * 5_000])
def test_any_text_can_be_asked(filled: Memory, question: str) -> None:
    assert len(filled.recall(question)) <= 10


def test_the_memory_is_asked_in_the_role_of_a_question(filled: Memory, embedder: HashedWords) -> None:
    filled.recall("kettle")
    assert embedder.calls[-1] == (("kettle",), "question")


def test_recall_changes_nothing(filled: Memory) -> None:
    before = filled.facts()
    filled.recall("kettle")
    assert filled.facts() == before


def test_another_model_is_refused_when_it_moved_in_meanwhile(open_memory: Opening) -> None:
    first = open_memory(HashedWords("first"))
    first.remember(BOILS)
    open_memory(HashedWords("second"), reembedding=True).reembed()
    with pytest.raises(OtherModel, match=r"second.*first"):
        first.recall("kettle")


def test_a_question_in_another_script_is_answered(memory: Memory) -> None:
    memory.remember(["東京タワーは高いです", "Water boils."])
    assert texts(memory.recall("タワー"))[0] == "東京タワーは高いです"


def test_until_a_day_includes_that_day(memory: Memory) -> None:
    memory.remember("Tea.", at="2023-05-08T13:56:00")
    assert memory.recall("tea", until="2023-05-08").known


@pytest.mark.parametrize("name", ["Tomás", "Tomas"])
def test_a_speaker_is_asked_for_with_accents_or_without(wordy: Memory, name: str) -> None:
    said = [("Tomás", "I changed the port."), ("Ana", "I changed the lock."), ("Ben", "Nobody changed it.")]
    ids = [wordy.remember(text, speaker=speaker, session="s") for speaker, text in said]
    assert wordy.recall(f"What did {name} change?").ids[0] == ids[0]
