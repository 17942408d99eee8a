"""Voices: the speakers that a question names, by any word of their names, as long as something of theirs is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from cofire.stores.base import Store
from cofire.stores.sqlite import live_index
from tests.conftest import sqlite_store
from tests.stores.making import NOW, Pen


def heard(store: Store, *words: str, scopes: tuple[str, ...] = ("default",)) -> set[str]:
    return set(store.match_speakers(scopes, words))


def test_a_speaker_is_known_by_any_word_of_the_name(store: Store, pen: Pen) -> None:
    pen.tell("one", speaker="Ana Lopez")
    pen.tell("two", speaker="Ana Costa")
    pen.tell("three", speaker="Ben")
    assert heard(store, "ana") == {"Ana Lopez", "Ana Costa"}
    assert heard(store, "lopez", "ben", "who") == {"Ana Lopez", "Ben"}
    assert heard(store, "an", "anab") == heard(store) == set()


def test_words_are_asked_for_in_small_letters(store: Store, pen: Pen) -> None:
    pen.tell("one", speaker="ANA Straße")
    assert heard(store, "ana") == heard(store, "strasse") == {"ANA Straße"}
    assert heard(store, "ANA") == heard(store, "straße") == set()


def test_words_are_asked_for_without_accents(store: Store, pen: Pen) -> None:
    pen.tell("one", speaker="Tomás Søndergård")
    assert heard(store, "tomas") == heard(store, "sondergard") == {"Tomás Søndergård"}


def test_speakers_of_other_scopes_are_not_heard(store: Store, pen: Pen) -> None:
    pen.tell("one", speaker="Ana Lopez", scope="a")
    pen.tell("two", speaker="Ana Costa", scope="b")
    assert heard(store, "ana", scopes=("a",)) == {"Ana Lopez"}
    assert heard(store, "ana", scopes=("a", "b", "nowhere")) == {"Ana Lopez", "Ana Costa"}
    assert heard(store, "ana", scopes=("nowhere",)) == heard(store, "ana", scopes=()) == set()


def test_facts_without_a_speaker_have_no_voice(store: Store, pen: Pen) -> None:
    pen.tell("ana")
    assert heard(store, "ana", "none") == set()


def test_a_speaker_is_heard_until_the_last_fact_is_removed(store: Store, pen: Pen) -> None:
    first, second = pen.tell("one", speaker="Ana"), pen.tell("two", speaker="Ana")
    pen.write(pen.new("two", speaker="Ana"), now=NOW)
    assert heard(store, "ana") == {"Ana"}
    pen.forget(first)
    assert heard(store, "ana") == {"Ana"}
    pen.forget(second)
    assert heard(store, "ana") == set()


def test_an_archived_fact_has_a_voice(store: Store, pen: Pen) -> None:
    pen.tell("one", speaker="Ana", archived=True)
    assert heard(store, "ana") == {"Ana"}


@pytest.mark.parametrize("speakers", [("Ana", None), (None, None), ("Ana\0Ben", "Žofie 東京"), ("Ana", "Ana")])
def test_voices_are_the_same_out_of_a_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, speakers: tuple[str | None, ...]
) -> None:
    monkeypatch.setattr(live_index, "MIN_SNAPSHOT_FACTS", 1)
    first = sqlite_store(tmp_path)
    pen = Pen(first)
    ids = [pen.tell(f"fact {number}", speaker=speaker) for number, speaker in enumerate(speakers)]
    pen.recount("default")
    first.close()
    again = sqlite_store(tmp_path)
    assert again.fetch_features(ids, [], 0, 0).speakers == speakers
    assert heard(again, "ana", "ana\0ben", "東京") == {*speakers} - {None}
    Pen(again).forget(*ids)
    assert heard(again, "ana", "ana\0ben", "東京") == set()
    again.close()
