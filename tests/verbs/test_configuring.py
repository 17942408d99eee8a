"""Configuring, end to end: the store's own settings, on which all who open it agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cofire.errors import InvalidSetting, UnknownSetting
from cofire.memory import Memory
from cofire.settings.table import RECALL_K, STORE_SYNCHRONOUS, Settings, find_knob
from tests.conftest import Opening


def test_a_setting_of_the_store_holds_for_everybody_who_has_it_open(open_memory: Opening) -> None:
    mine, yours = open_memory(), open_memory()
    mine.remember(["tea one", "tea two", "tea three"])
    assert mine.configure("recall.k", "2") == 2
    assert len(yours.recall("tea")) == 2
    assert yours.settings().layer_of(RECALL_K) == "store"


def test_a_setting_of_the_store_holds_for_whoever_opens_it_later(open_memory: Opening) -> None:
    open_memory().configure("recall.k", 2)
    assert open_memory().settings()[RECALL_K] == 2


def test_resetting_gives_the_default_back_to_everybody(open_memory: Opening) -> None:
    mine, yours = open_memory(), open_memory()
    mine.configure("recall.k", 2)
    assert yours.reset("recall.k") is True
    assert mine.settings()[RECALL_K] == RECALL_K.default
    assert mine.reset("recall.k") is False


def test_settings_are_kept_beside_each_other(open_memory: Opening) -> None:
    memory = open_memory()
    memory.configure("recall.k", 2)
    memory.configure("keyword.k1", 1.5)
    memory.reset("recall.k")
    assert memory.settings()[find_knob("keyword.k1")] == 1.5


def test_the_environment_lies_over_the_store(open_memory: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    open_memory().configure("recall.k", 2)
    monkeypatch.setenv("COFIRE_RECALL_K", "3")
    assert open_memory().settings()[RECALL_K] == 3


def test_the_opener_lies_over_the_environment(open_memory: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFIRE_RECALL_K", "3")
    assert open_memory(settings={"recall.k": 4}).settings()[RECALL_K] == 4


def test_what_is_not_allowed_is_not_kept(memory: Memory) -> None:
    with pytest.raises(InvalidSetting):
        memory.configure("recall.k", 0)
    with pytest.raises(UnknownSetting, match=r"Did you mean recall\.k\?"):
        memory.configure("recall.kk", 1)
    with pytest.raises(UnknownSetting):
        memory.reset("recall.kk")
    assert memory.settings()[RECALL_K] == RECALL_K.default


@pytest.mark.parametrize("name", [None, 5, []])
def test_a_setting_is_called_by_its_name(memory: Memory, name: Any) -> None:
    with pytest.raises(UnknownSetting, match="Give its name"):
        memory.configure(name, 1)
    with pytest.raises(UnknownSetting, match="Give its name"):
        memory.reset(name)


def test_settings_can_be_walked(memory: Memory) -> None:
    settings = memory.settings()
    assert isinstance(settings, Settings)
    assert (RECALL_K, RECALL_K.default) in list(settings)


def test_a_bad_setting_refuses_the_opening(open_memory: Opening) -> None:
    with pytest.raises(InvalidSetting, match=r"recall\.k"):
        open_memory(settings={"recall.k": 0})


def test_what_is_needed_to_open_a_file_cannot_be_kept_in_it(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", embedder=None) as memory:
        with pytest.raises(InvalidSetting, match=r"cofire config set store\.synchronous normal"):
            memory.configure("store.synchronous", "normal")
        assert memory.settings()[STORE_SYNCHRONOUS] == "full"
