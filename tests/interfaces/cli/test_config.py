"""`cofire config`: values, the layers they come from, and where they are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from cofire.settings.knobs import KNOBS
from tests.interfaces.calling import Store, call


def test_list_shows_every_setting_with_its_help() -> None:
    shown = call("config", "list").out
    for knob in KNOBS.values():
        assert f"{knob.name} = " in shown
        assert knob.help in shown


def test_list_says_which_layer_a_value_comes_from(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    call("config", "set", "keyword.k1", "1.2")
    call("config", "set", "keyword.b", "0.5", "--in-store")
    monkeypatch.setenv("COFIRE_RECALL_K", "7")
    call("config", "preset", "documented-rrf")
    listed = {one["name"]: (one["value"], one["layer"]) for one in call("config", "list", "--json").json["settings"]}
    assert listed["keyword.k1"] == (1.2, "file")
    assert listed["keyword.b"] == (0.5, "store")
    assert listed["recall.k"] == (7, "environment")
    assert listed["fusion.method"] == ("rrf", "preset")
    assert listed["recall.headroom"] == (KNOBS["recall.headroom"].default, "default")
    assert "keyword.k1 = 1.2  (from the file, default 0.8)" in call("config", "list").out


def test_list_can_leave_out_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    call("config", "set", "keyword.k1", "1.2")
    names = [one["name"] for one in call("config", "list", "--changed", "--json").json["settings"]]
    assert names == ["embedder.name", "keyword.k1"]
    monkeypatch.delenv("COFIRE_EMBEDDER_NAME")
    call("config", "reset", "keyword.k1")
    assert call("config", "list", "--changed").out == "All settings have their default values.\n"


def test_value_that_is_the_default_is_not_changed_wherever_it_stands() -> None:
    call("config", "preset", "default")
    call("config", "set", "keyword.k1", "0.8", "--in-store")
    assert [one["name"] for one in call("config", "list", "--changed", "--json").json["settings"]] == ["embedder.name"]


def test_looking_at_settings_makes_no_store(store: Store) -> None:
    call("config", "list")
    call("config", "get", "keyword.k1")
    call("config", "reset", "statistics.growth")
    assert not store.path.exists()


def test_get_prints_the_value_alone() -> None:
    assert call("config", "get", "keyword.enabled").out == "true\n"


def test_set_keeps_it_in_the_file_and_leaves_comments_alone(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("# mine\n[keyword]\nb = 0.5  # less\n", encoding="utf-8")
    ran = call("config", "set", "keyword.k1", "1.2")
    assert ran.out == f"keyword.k1 = 1.2 is saved in {file}.\n"
    assert file.read_text(encoding="utf-8") == "# mine\n[keyword]\nb = 0.5  # less\nk1 = 1.2\n"


def test_setting_of_how_memory_is_written_goes_to_the_store(store: Store, tmp_path: Path) -> None:
    ran = call("config", "set", "statistics.growth", "0.2")
    assert str(store.path) in ran.out
    assert not (tmp_path / "config.toml").exists()
    assert call("config", "get", "statistics.growth", "--json").json["layer"] == "store"


def test_value_without_effect_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    call("config", "set", "keyword.k1", "2", "--in-store")
    assert "cofire config reset keyword.k1 --in-store" in call("config", "set", "keyword.k1", "3").err
    monkeypatch.setenv("COFIRE_KEYWORD_K1", "4")
    assert "Unset COFIRE_KEYWORD_K1." in call("config", "set", "keyword.k1", "3").err


def test_reset_lets_the_layer_below_hold_again() -> None:
    call("config", "set", "keyword.k1", "2", "--in-store")
    call("config", "set", "keyword.k1", "3")
    assert "Its value is now 3.0 (from the file)." in call("config", "reset", "keyword.k1", "--in-store").out
    assert "Its value is now 0.8 (default)." in call("config", "reset", "keyword.k1").out
    assert call("config", "reset", "keyword.k1", "--json").json["removed"] is False


def test_settings_act_on_the_next_command(store: Store) -> None:
    store.holds(*(f"Tea number {number}." for number in range(5)))
    call("config", "set", "recall.k", "2")
    assert len(call("recall", "tea", "--json").json["hits"]) == 2


def test_file_says_where_it_is_and_what_may_stand_in_it(tmp_path: Path) -> None:
    assert call("config", "file").out == f"{tmp_path / 'config.toml'}\n"
    default = call("config", "file", "--default").out
    assert all(f"# {knob.name.rpartition('.')[2]} = " in default for knob in KNOBS.values())


def test_default_file_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(call("config", "file", "--default").out, encoding="utf-8")
    assert [one["name"] for one in call("config", "list", "--changed", "--json").json["settings"]] == ["embedder.name"]


def test_presets_are_listed_and_chosen() -> None:
    assert "default (active)" in call("config", "preset").out
    call("config", "preset", "documented-rrf")
    assert "documented-rrf (active)" in call("config", "preset").out
    assert call("config", "get", "fusion.method").out == "rrf\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("get", "keyword.k2"), "Did you mean keyword.k1?"),
        (("set", "keywrd.k1", "1"), "Did you mean keyword.k1?"),
        (("reset", "zzzzzz"), "See all with: cofire config list"),
        (("set", "keyword.k1", "99"), "It must be a number from 0 to 10"),
        (("set", "keyword.k1", "nan"), "keyword.k1 cannot be 'nan'"),
        (("set", "keyword.enabled", "perhaps"), "true or false"),
        (("set", "keyword.k1"), "Missing argument 'VALUE'"),
        (("preset", "best"), "one of default"),
        (("nonsense",), "No such command 'nonsense'"),
    ],
)
def test_what_cannot_be_set_is_refused(arguments: tuple[str, ...], problem: str, tmp_path: Path) -> None:
    ran = call("config", *arguments)
    assert ran.code == 2
    assert problem in ran.err
    assert not (tmp_path / "config.toml").exists()


@pytest.mark.parametrize(
    ("name", "way_out"),
    [
        ("bogus", "There are: bundled, none, openai:MODEL"),
        ("bundle", "Did you mean bundled?"),
        ("ollama", "Write it as ollama:MODEL"),
        ("none:x", "Write it as none."),
    ],
)
def test_name_that_is_no_embedder_is_not_kept(name: str, way_out: str, tmp_path: Path) -> None:
    ran = call("config", "set", "embedder.name", name)
    assert ran.code == 2
    assert way_out in ran.err
    assert not (tmp_path / "config.toml").exists()


@pytest.mark.parametrize("name", ["bundled", "none", "ollama:nomic-embed-text", "openai:m@http://127.0.0.1:9/v1"])
def test_every_form_of_an_embedder_is_kept(name: str) -> None:
    assert f"embedder.name = {name} is saved" in call("config", "set", "embedder.name", name).out


def test_unreadable_settings_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("this is = not toml =", encoding="utf-8")
    ran = call("list")
    assert ran.code == 2
    assert str(tmp_path / "config.toml") in ran.err


@pytest.mark.parametrize("words", ["config set recall.k 3", "config reset recall.k", "config list", "list"])
def test_broken_settings_file_is_told_alike_with_its_line(words: str, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[recall]\nk = 3\nbad = [", encoding="utf-8")
    ran = call(*words.split())
    assert ran.code == 2
    said = f"error: The settings file {tmp_path / 'config.toml'} cannot be used: Invalid value (at its end, line 3).\n"
    assert ran.err.startswith(said)


def test_bad_value_in_the_file_can_be_mended_by_set(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[keyword]\nk1 = 99\n", encoding="utf-8")
    assert call("list").code == 2
    assert call("config", "set", "keyword.k1", "1.2").code == 0
    assert call("list").code == 0


def test_settings_can_be_changed_while_the_embedder_is_broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("COFIRE_EMBEDDER_NAME")
    (tmp_path / "config.toml").write_text('[embedder]\nname = "no-such-embedder"\n', encoding="utf-8")
    assert call("recall", "tea").code != 0
    assert call("config", "set", "embedder.name", "none").code == 0
    assert call("recall", "tea").code == 0


# The names that the documents give to settings (000, 001, 003), with a value that each can have.
DOCUMENTED_NAMES = {
    "multiGraphMemoryEnabled": ("multi_graph.enabled", "false"),
    "graphRecallEnabled": ("graph_recall.enabled", "false"),
    "graphAssistInFullModeEnabled": ("graph_assist.enabled", "false"),
    "graphRecallExplainEnabled": ("graph_recall.explain", "false"),
    "graphRecallShadowEnabled": ("shadow.enabled", "true"),
    "graphAssistShadowEvalEnabled": ("shadow.assist", "true"),
    "graphRecallSnapshotEnabled": ("snapshots.enabled", "true"),
    "graphRecallExplainToolEnabled": ("graph_recall.explain_doors", "false"),
    "maxGraphTraversalSteps": ("graph_recall.steps", "2"),
    "graphRecallMaxSeedNodes": ("graph_recall.seeds", "7"),
    "graphRecallMaxExpandedNodes": ("graph_recall.expanded", "50"),
    "graphRecallMinSeedScore": ("graph_recall.min_seed_score", "0.4"),
    "graphAssistMinSeedResults": ("graph_assist.min_seed_results", "4"),
    "graphTraversalConfidenceFloor": ("graph_recall.confidence_floor", "0.3"),
    "graphTraversalPageRankIterations": ("diffusion.iterations", "5"),
    "memoryOsPreset": ("preset", "balanced"),
    "MAX_DEPTH": ("energy.max_depth", "4"),
    "MIN_ACTIVATION": ("energy.min_activation", "0.01"),
    "TAG_SIM_FLOOR": ("energy.tag_floor", "0.2"),
    "MAX_BRANCHES": ("energy.branches", "2"),
}


@pytest.mark.parametrize("alias", DOCUMENTED_NAMES)
def test_a_documented_name_can_be_set_and_read(store: Store, alias: str) -> None:
    name, value = DOCUMENTED_NAMES[alias]
    assert call("config", "set", alias, value).code == 0
    assert call("config", "get", alias).out == call("config", "get", name).out == f"{value}\n"
    assert call("config", "reset", alias).code == 0
    assert call("config", "get", alias).out != f"{value}\n"
