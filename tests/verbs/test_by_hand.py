"""Verbs without a database: what they ask for, in which order, and what they make of the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from cofire.algorithms.vector_similarity import VectorRows
from cofire.embedders.base import EmbedderInfo, Model, StoredModel
from cofire.errors import Conflict, EmbedderFailed, OtherModel, StoreBusy
from cofire.model import Fact, ScopeSize, StoredFact, StoreRecord, WriteResult
from cofire.recall.custom_channels import ListCustomChannels
from cofire.recall.recall import recall
from cofire.runtime.effects import AnalyseFacts, EmbedTexts, Emit, IdentifyEmbedder, MintIds, ReadClock
from cofire.settings.table import Settings, decode_settings_record, encode_settings_record
from cofire.stores.base import MODEL_RECORD, FactFeatures, NameLinkTable, WordStatistics
from cofire.text.base import create_reader
from cofire.verbs.embedding_model import check_model, ensure_stored_model
from cofire.verbs.maintenance import SETTINGS_TRIES, reset_setting, store_setting
from cofire.verbs.remember import is_recount_due, remember
from tests.conftest import START
from tests.verbs.answering import Answers, Turns, answers_from
from tests.verbs.wandering import expansion

PLAIN = Settings.layered(call={"multi_graph.enabled": False})
MODEL = StoredModel(Model("two", 2), np.zeros(2, np.float32), (0.0, 0.5))
RESIDENT = EmbedderInfo(MODEL.model, MODEL.mean, MODEL.resting)
RECORD = StoreRecord(MODEL_RECORD, MODEL.encode(), 1)
NOBODY = WordStatistics(0, 0.0, (0,), np.zeros((0, 2), np.float32))
CONFLICT = Conflict("Somebody wrote.", way_out="Again.")


def evidence(ids: list[str]) -> FactFeatures:
    """Facts that all hold the word once; the first is nearest to (1, 0)."""
    rows = np.array([[1.0, place / 10] for place in range(len(ids))], np.float32).reshape(len(ids), 2)
    ones = np.ones((len(ids), 1), np.float32)
    count = len(ids)
    return FactFeatures(
        ids=tuple(ids),
        stored=VectorRows.of(rows),
        embedded=np.ones(count, np.bool_),
        counts=ones,
        lengths=ones[:, 0],
        hints=np.zeros_like(ones),
        around=np.full((count, 12), -1, np.int32),
        times=np.zeros(count),
        asks=np.zeros(count, np.bool_),
        timed=np.zeros(count, np.bool_),
        speakers=(None,) * count,
    )


TEXTS = {"a": "Ana drinks tea.", "b": "The kettle leaks again.", "c": "Lunch is served at noon."}


def nowhere(ids: Sequence[str]) -> NameLinkTable:
    """Facts that hold no names."""
    rows, numbers = np.zeros(0, np.int64), np.zeros(0)
    loose = np.ones(len(ids), np.bool_)
    return NameLinkTable(tuple(ids), loose, (), rows, rows, rows, numbers, numbers, rows, rows, numbers, rows)


def hearing(others: Mapping[Any, Any] | None = None) -> Answers:
    """A store in which words find b and c, and meaning finds a and b."""
    return answers_from(
        {
            "read_word_statistics": NOBODY,
            "match_speakers": frozenset(),
            "look_up_names": [],
            ListCustomChannels: {},
            "fetch_name_links": lambda ask: nowhere(ask.ids),
            "expand_links": lambda ask: expansion({}, ask),
            "locate_words": lambda ask: np.zeros((len(ask.ids), len(ask.words)), np.int64),
            IdentifyEmbedder: RESIDENT,
            "read_record": RECORD,
            EmbedTexts: np.array([[1.0, 0.0]], np.float32),
            "search_vectors": ["a", "b"],
            "search_words": ["b", "c"],
            "fetch_features": lambda ask: evidence(list(ask.ids)),
            "read_facts": lambda ask: [Fact(TEXTS.get(id, id), id=id, stored_at=START) for id in ask.ids],
            **(others or {}),
        }
    )


def test_recall_weighs_all_that_any_channel_proposed_once() -> None:
    answers = hearing()
    answers.run(recall("tea", {}, PLAIN))
    [weighed] = answers.of("fetch_features")
    assert list(weighed.ids) == ["a", "b", "c"]
    assert list(weighed.words) == ["tea"]


def test_recall_reads_the_best_once() -> None:
    answers = hearing()
    found = answers.run(recall("tea", {"k": 2}, PLAIN))
    [read] = answers.of("read_facts")
    assert list(read.ids) == ["a", "b", "c"]
    assert list(found.ids) == ["a", "b"]


def test_recall_asks_the_channels_for_k_and_headroom() -> None:
    answers = hearing()
    answers.run(recall("tea", {"k": 3, "settings": {"recall.headroom": 4, "semantic.candidates": 9}}, PLAIN))
    [nearest], [matching] = answers.of("search_vectors"), answers.of("search_words")
    assert (nearest.k, matching.k, nearest.candidates) == (7, 7, 9)


def test_recall_asks_every_channel_with_the_same_filter() -> None:
    answers = hearing()
    answers.run(recall("tea", {"scope": ["b", "a"], "tags": ["x"], "speaker": "Ana", "since": "2026-01-01"}, PLAIN))
    [nearest], [matching] = answers.of("search_vectors"), answers.of("search_words")
    assert nearest.where is matching.where
    assert nearest.where.scopes == ("a", "b")
    assert (nearest.where.tags, nearest.where.speakers) == (frozenset({"x"}), frozenset({"Ana"}))
    assert nearest.where.now == START


def test_a_fact_forgotten_between_ranking_and_reading_is_not_shown() -> None:
    answers = hearing({"read_facts": lambda ask: [None, *(Fact(id, id=id) for id in ask.ids[1:])]})
    assert answers.run(recall("tea", {}, PLAIN)).ids == ("b", "c")


def test_no_embedder_means_no_vector_is_asked_for() -> None:
    answers = hearing({IdentifyEmbedder: None})
    found = answers.run(recall("tea", {}, PLAIN))
    assert answers.of("search_vectors") == answers.of(EmbedTexts) == []
    assert [(report.name, report.status) for report in found.channels[:2]] == [
        ("semantic", "no_embedder"),
        ("keyword", "ok"),
    ]


def test_a_store_without_vectors_is_not_asked_for_near_ones() -> None:
    answers = hearing({"read_record": None})
    found = answers.run(recall("tea", {}, PLAIN))
    assert answers.of(EmbedTexts) == []
    assert found.channels[0].status == "empty"


def test_a_failing_channel_is_named_and_the_other_answers() -> None:
    busy = StoreBusy("The index is busy.", way_out="Wait.")
    found = hearing({"search_vectors": busy}).run(recall("tea", {}, PLAIN))
    assert [(report.status, report.note) for report in found.channels[:2]] == [("failed", str(busy)), ("ok", "")]
    assert set(found.ids) == {"b", "c"}


def test_a_failing_embedder_is_named_and_words_still_answer() -> None:
    found = hearing({EmbedTexts: EmbedderFailed("Out of breath.", way_out="Wait.")}).run(recall("tea", {}, PLAIN))
    assert found.channels[0].status == "failed"
    assert "Out of breath." in found.channels[0].note
    assert set(found.ids) == {"b", "c"}


def test_when_every_channel_fails_so_does_the_recall() -> None:
    busy = StoreBusy("The index is busy.", way_out="Wait.")
    with pytest.raises(StoreBusy):
        hearing({"search_vectors": busy, "search_words": busy}).run(recall("tea", {}, PLAIN))


def test_a_failing_embedder_and_failing_words_are_a_failed_recall() -> None:
    failed, busy = EmbedderFailed("Out of breath.", way_out="Wait."), StoreBusy("Busy.", way_out="Wait.")
    with pytest.raises((EmbedderFailed, StoreBusy)):
        hearing({EmbedTexts: failed, "search_words": busy}).run(recall("tea", {}, PLAIN))


def test_a_failing_embedder_is_no_empty_answer_when_words_are_switched_off() -> None:
    answers = hearing({EmbedTexts: EmbedderFailed("Out of breath.", way_out="Wait.")})
    with pytest.raises(EmbedderFailed):
        answers.run(recall("tea", {"settings": {"keyword.enabled": False}}, PLAIN))


def test_another_model_is_refused_at_recall_too() -> None:
    with pytest.raises(OtherModel, match=r"two \(2 dimensions\).*three \(3 dimensions\)"):
        hearing({IdentifyEmbedder: EmbedderInfo(Model("three", 3), None, None)}).run(recall("tea", {}, PLAIN))


def test_no_recall_asks_for_nothing_but_the_time() -> None:
    answers = answers_from({})
    found = answers.run(recall("tea", {"mode": "no_recall"}, PLAIN))
    assert [type(ask) for ask in answers.asked] == [ReadClock]
    assert not found.known
    assert "no_recall" in found.reason


def test_minimal_recall_goes_by_words_alone() -> None:
    answers = hearing()
    found = answers.run(recall("tea", {"mode": "minimal"}, PLAIN))
    assert answers.of(EmbedTexts) == answers.of("search_vectors") == []
    assert found.channels[0].status == "disabled"


def storing(others: Mapping[Any, Any] | None = None) -> Answers:
    """A store that takes everything as new."""
    reader = create_reader("rules")
    return answers_from(
        {
            "find_ids_by_hash": {},
            IdentifyEmbedder: RESIDENT,
            "read_record": RECORD,
            EmbedTexts: lambda ask: np.ones((len(ask.texts), 2), np.float32),
            MintIds: lambda ask: [f"id {number}" for number in range(ask.count)],
            AnalyseFacts: lambda ask: [reader.read(fact) for fact in ask.facts],
            "write": lambda ask: WriteResult(
                tuple(StoredFact(new.fact.id, True) for new in ask.change.facts), sizes={"default": ScopeSize(100, 100)}
            ),
            **(others or {}),
        }
    )


def test_remember_writes_a_batch_in_one_change() -> None:
    answers = storing()
    assert answers.run(remember(["one", "two"], {}, PLAIN)) == ["id 0", "id 1"]
    [written] = answers.of("write")
    assert [new.fact.text for new in written.change.facts] == ["one", "two"]
    assert all(new.fact.stored_at == START and new.vector for new in written.change.facts)


def test_remember_embeds_only_what_is_not_known_yet() -> None:
    answers = storing({"find_ids_by_hash": {Fact("one").hash: "known"}})
    answers.run(remember(["one", "two"], {}, PLAIN))
    [embedded] = answers.of(EmbedTexts)
    assert list(embedded.texts) == ["two"]


def test_remember_embeds_nothing_when_all_is_known() -> None:
    answers = storing({"find_ids_by_hash": {Fact("one").hash: "known"}})
    answers.run(remember("one", {}, PLAIN))
    assert answers.of(EmbedTexts) == answers.of(IdentifyEmbedder) == []


def test_vectors_are_written_as_half_floats() -> None:
    answers = storing()
    answers.run(remember("one", {}, PLAIN))
    assert answers.of("write")[0].change.facts[0].vector == np.ones(2, np.float16).tobytes()


def test_words_are_counted_anew_only_when_due() -> None:
    answers = storing(
        {
            "write": Turns(
                WriteResult((StoredFact("x", True),), sizes={"a": ScopeSize(12, 10), "b": ScopeSize(11, 10)}),
                WriteResult(),
            )
        }
    )
    answers.run(remember("one", {}, PLAIN))
    assert [ask.change.recount for ask in answers.of("write")] == [(), ("a",)]


def test_progress_is_emitted_after_each_batch() -> None:
    answers = storing()
    answers.run(remember(["one", "two", "three"], {}, PLAIN.over({"remember.batch": 2})))
    assert [(ask.value.doing, ask.value.done, ask.value.total) for ask in answers.of(Emit)] == [
        ("remember", 2, 3),
        ("remember", 3, 3),
    ]


def test_a_failing_embedder_stores_nothing() -> None:
    answers = storing({EmbedTexts: EmbedderFailed("Out of breath.", way_out="Wait.")})
    with pytest.raises(EmbedderFailed):
        answers.run(remember("one", {}, PLAIN))
    assert answers.of("write") == []


@pytest.mark.parametrize(
    ("facts", "counted", "due"),
    [(0, 0, False), (1, 0, True), (11, 10, False), (12, 10, True), (9, 10, False), (8, 10, True)],
)
def test_a_scope_is_due_when_it_grew_or_shrank_by_more_than_its_share(facts: int, counted: int, due: bool) -> None:
    assert is_recount_due(ScopeSize(facts, counted), 0.1) is due


def test_the_first_vector_writes_down_its_model() -> None:
    answers = answers_from({IdentifyEmbedder: RESIDENT, "read_record": None, "write": WriteResult()})
    settled = answers.run(ensure_stored_model())
    [written] = answers.of("write")
    assert (settled.model.model, settled.version) == (MODEL.model, 1)
    assert written.expects == {MODEL_RECORD: 0}


def test_whoever_writes_down_the_model_first_is_believed() -> None:
    answers = answers_from({IdentifyEmbedder: RESIDENT, "read_record": Turns(None, RECORD), "write": CONFLICT})
    assert answers.run(ensure_stored_model()).model.model == MODEL.model


def test_another_model_written_down_in_between_is_refused() -> None:
    other = StoreRecord(MODEL_RECORD, StoredModel(Model("three", 3), np.zeros(3, np.float32), (0.0, 1.0)).encode(), 1)
    answers = answers_from({IdentifyEmbedder: RESIDENT, "read_record": Turns(None, other), "write": CONFLICT})
    with pytest.raises(OtherModel):
        answers.run(ensure_stored_model())


def test_a_model_without_a_mean_is_measured_before_it_moves_in() -> None:
    unmeasured = EmbedderInfo(MODEL.model, None, None)
    made = np.array([[1, 0], [0, 1]], np.float32)
    answers = answers_from(
        {IdentifyEmbedder: unmeasured, "read_record": None, "write": WriteResult(), EmbedTexts: made}
    )
    settled = answers.run(ensure_stored_model())
    assert settled.model.mean.tolist() == [0.5, 0.5]
    assert settled.model.resting == pytest.approx((-1.0, 0.0))


def test_without_an_embedder_any_store_may_be_opened() -> None:
    assert answers_from({IdentifyEmbedder: None, "read_record": RECORD}).run(check_model()) is None


def test_configure_expects_the_version_it_read() -> None:
    answers = answers_from(
        {"read_record": StoreRecord("settings", encode_settings_record({"recall.k": 3}), 4), "write": WriteResult()}
    )
    assert answers.run(store_setting("keyword.k1", "1.5")) == 1.5
    [written] = answers.of("write")
    assert written.expects == {"settings": 4}
    assert decode_settings_record(written.change.records[0].value) == {"recall.k": 3, "keyword.k1": 1.5}


def test_configure_begins_anew_when_somebody_else_wrote() -> None:
    theirs = StoreRecord("settings", encode_settings_record({"recall.k": 3}), 1)
    answers = answers_from({"read_record": Turns(None, theirs), "write": Turns(CONFLICT, WriteResult())})
    answers.run(store_setting("keyword.k1", 1))
    assert decode_settings_record(answers.of("write")[-1].change.records[0].value) == {
        "recall.k": 3,
        "keyword.k1": 1.0,
    }


def test_configure_gives_up_in_the_end() -> None:
    answers = answers_from({"read_record": None, "write": CONFLICT})
    with pytest.raises(Conflict):
        answers.run(store_setting("keyword.k1", 1))
    assert len(answers.of("write")) == SETTINGS_TRIES


def test_reset_tells_whether_it_was_there() -> None:
    kept = StoreRecord("settings", encode_settings_record({"recall.k": 3}), 1)
    assert answers_from({"read_record": kept, "write": WriteResult()}).run(reset_setting("recall.k")) is True
    assert answers_from({"read_record": kept, "write": WriteResult()}).run(reset_setting("keyword.k1")) is False


def test_vectors_are_written_only_while_their_model_still_holds() -> None:
    """Between embedding and writing another process may have moved the store to another model."""
    answers = storing()
    answers.run(remember("one", {}, PLAIN))
    [written] = answers.of("write")
    assert written.expects == {MODEL_RECORD: RECORD.version}


def test_time_is_asked_for_once_a_batch() -> None:
    answers = storing()
    answers.answers[ReadClock] = Turns(*(START + timedelta(seconds=second) for second in range(9)))
    answers.run(remember(["one", "two"], {}, PLAIN))
    assert len({new.fact.stored_at for new in answers.of("write")[0].change.facts}) == 1
