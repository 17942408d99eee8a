"""Sources of settings: the user's file, the environment and the store record."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from cofire.errors import InvalidSetting, StoreNotOpened, UnknownSetting
from cofire.settings import sources
from cofire.settings.knobs import KNOBS
from cofire.settings.sources import (
    load_settings,
    read_environment,
    read_settings_file,
    render_commented_file,
    reset_in_file,
    set_in_file,
)
from cofire.settings.table import KEYWORD_B, KEYWORD_K1, decode_settings_record, encode_settings_record

WRITTEN = """\
# My settings
preset = "default"   # as it is

[keyword]
# how soon repeating stops helping
k1 = 1.5
b = 0.5  # longer texts

[recall]
k = 20
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's settings file, not yet there."""
    path = tmp_path / "settings" / "config.toml"
    monkeypatch.setenv(sources.FILE_VARIABLE, str(path))
    return path


@pytest.fixture
def written(file: Path) -> Path:
    file.parent.mkdir()
    file.write_text(WRITTEN, encoding="utf-8")
    return file


def test_a_file_that_is_not_there_sets_nothing(file: Path) -> None:
    assert read_settings_file(file) == {}


def test_tables_become_dotted_names(written: Path) -> None:
    assert read_settings_file(written) == {"preset": "default", "keyword.k1": 1.5, "keyword.b": 0.5, "recall.k": 20}


def test_dotted_keys_are_as_good_as_tables(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("keyword.k1 = 1.5\n", encoding="utf-8")
    assert read_settings_file(file) == {"keyword.k1": 1.5}


@pytest.mark.parametrize("broken", ["k1 = ", "[keyword", "a = 1\na = 2", "\x00"])
def test_a_broken_file_is_named_with_the_way_out(file: Path, broken: str) -> None:
    file.parent.mkdir()
    file.write_text(broken, encoding="utf-8")
    with pytest.raises(InvalidSetting) as refused:
        read_settings_file(file)
    assert str(file) in str(refused.value)
    assert "COFIRE_CONFIG" in refused.value.way_out


def test_a_file_that_is_not_text_is_refused(file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(b"\xff\xfe\x00k")
    with pytest.raises(InvalidSetting):
        read_settings_file(file)


def test_a_folder_in_place_of_the_file_is_refused(file: Path) -> None:
    file.mkdir(parents=True)
    with pytest.raises(StoreNotOpened):
        read_settings_file(file)


def test_a_path_with_braces_is_only_a_path(tmp_path: Path) -> None:
    path = tmp_path / "{odd}.toml"
    path.write_text("k1 = ", encoding="utf-8")
    with pytest.raises(InvalidSetting):
        read_settings_file(path)


def test_setting_a_value_makes_the_file_and_its_folder(file: Path) -> None:
    assert set_in_file(file, "keyword.k1", "1.5") == 1.5
    assert read_settings_file(file) == {"keyword.k1": 1.5}


def test_setting_a_value_leaves_comments_and_order_alone(written: Path) -> None:
    set_in_file(written, "keyword.k1", 2.0)
    assert written.read_text(encoding="utf-8") == WRITTEN.replace("k1 = 1.5", "k1 = 2.0")


def test_setting_a_value_adds_it_to_its_table(written: Path) -> None:
    set_in_file(written, "keyword.enabled", "no")
    set_in_file(written, "semantic.weight", 1)
    assert read_settings_file(written)["keyword.enabled"] is False
    assert read_settings_file(written)["semantic.weight"] == 1.0
    assert "# how soon repeating stops helping" in written.read_text(encoding="utf-8")


def test_a_setting_without_a_table_is_set_above_all_tables(written: Path) -> None:
    set_in_file(written, "preset", "documented-rrf")
    assert read_settings_file(written)["preset"] == "documented-rrf"


def test_a_setting_written_with_a_dotted_key_is_changed_in_place(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("keyword.k1 = 1.5  # mine\n", encoding="utf-8")
    set_in_file(file, "keyword.k1", 2.0)
    assert file.read_text(encoding="utf-8") == "keyword.k1 = 2.0  # mine\n"


def test_a_value_out_of_range_is_never_written(written: Path) -> None:
    with pytest.raises(InvalidSetting):
        set_in_file(written, "keyword.k1", 99)
    with pytest.raises(UnknownSetting):
        set_in_file(written, "keyword.k9", 1)
    assert written.read_text(encoding="utf-8") == WRITTEN


def test_nothing_is_written_into_a_broken_file(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("k1 = ", encoding="utf-8")
    with pytest.raises(InvalidSetting):
        set_in_file(file, "keyword.k1", 1)
    assert file.read_text(encoding="utf-8") == "k1 = "


def test_a_value_where_a_table_should_be_is_refused(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("keyword = 3\n", encoding="utf-8")
    with pytest.raises(InvalidSetting):
        set_in_file(file, "keyword.k1", 1)


def test_no_half_written_file_is_left_behind(written: Path) -> None:
    set_in_file(written, "keyword.k1", 2.0)
    assert [path.name for path in written.parent.iterdir()] == ["config.toml"]


def test_resetting_takes_one_setting_out_and_leaves_the_rest(written: Path) -> None:
    assert reset_in_file(written, "keyword.b")
    assert read_settings_file(written) == {"preset": "default", "keyword.k1": 1.5, "recall.k": 20}
    assert "# how soon repeating stops helping" in written.read_text(encoding="utf-8")


def test_resetting_what_is_not_set_tells_so(written: Path, tmp_path: Path) -> None:
    assert not reset_in_file(written, "semantic.weight")
    assert not reset_in_file(tmp_path / "nowhere.toml", "semantic.weight")
    assert written.read_text(encoding="utf-8") == WRITTEN


def test_a_setting_under_a_quoted_key_can_be_reset(file: Path) -> None:
    file.parent.mkdir()
    file.write_text('"keyword.k1" = 1.5\n', encoding="utf-8")
    assert read_settings_file(file) == {"keyword.k1": 1.5}
    assert reset_in_file(file, "keyword.k1")
    assert read_settings_file(file) == {}


def test_the_commented_file_sets_nothing() -> None:
    assert sources._flatten_table(tomllib.loads(render_commented_file())) == []


def test_the_commented_file_without_its_marks_says_all_the_defaults() -> None:
    lines = [
        line.removeprefix("# ") if re.match(r"# \w+ = ", line) else line
        for line in render_commented_file().splitlines()
    ]
    values = dict(sources._flatten_table(tomllib.loads("\n".join(lines))))
    assert values == {name: one.default for name, one in KNOBS.items()}


def test_the_commented_file_explains_every_setting() -> None:
    text = render_commented_file()
    assert [name for name, one in KNOBS.items() if f"# {one.help} ({one.allowed})" not in text] == []


def test_the_environment_sets_by_variable() -> None:
    found = read_environment({"COFIRE_KEYWORD_K1": "1.5", "_COFIRE_COMPLETE": "x", "PATH": "/bin"})
    assert found == {"keyword.k1": "1.5"}


def test_an_unknown_variable_is_refused_with_the_one_that_was_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFIRE_RECALL_KK", "3")
    with pytest.raises(UnknownSetting, match=r"COFIRE_RECALL_KK names no setting.*Did you mean COFIRE_RECALL_K\?"):
        load_settings(record=None, call={})


@pytest.mark.parametrize(
    ("wrong", "meant"), [("COFIRE_STOR", "COFIRE_STORE"), ("COFIRE_KEYWORDS_K1", "COFIRE_KEYWORD_K1")]
)
def test_near_misses_are_named_for_settings_and_other_variables(wrong: str, meant: str) -> None:
    with pytest.raises(UnknownSetting, match=rf"Did you mean {meant}\?"):
        read_environment({wrong: "x"})


def test_a_variable_unlike_any_other_is_refused_without_a_guess() -> None:
    with pytest.raises(UnknownSetting, match="COFIRE_QWXYZ names no setting") as refused:
        read_environment({"COFIRE_QWXYZ": "x"})
    assert "Did you mean" not in refused.value.way_out


def test_every_variable_that_the_code_reads_is_accepted() -> None:
    texts = [path.read_text(encoding="utf-8") for path in Path(sources.__file__).parents[1].rglob("*.py")]
    variables = {name for text in texts for name in re.findall(r'"(COFIRE_[A-Z0-9_]*[A-Z0-9])"', text)}
    assert {"COFIRE_STORE", "COFIRE_DEBUG", "COFIRE_NEO4J_USER"} <= variables
    assert read_environment(dict.fromkeys(variables | {"COFIRE_TEST_NEO4J"}, "x")) == {}


def test_all_layers_are_gathered(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFIRE_RECALL_K", "30")
    settings = load_settings(record=encode_settings_record({"keyword.b": 0.9}), call={"keyword.enabled": False})
    assert (settings[KEYWORD_K1], settings.layer_of(KEYWORD_K1)) == (1.5, "file")
    assert (settings[KEYWORD_B], settings.layer_of(KEYWORD_B)) == (0.9, "store")
    assert [settings.layer_of(KNOBS[name]) for name in ("recall.k", "keyword.enabled")] == ["environment", "call"]


def test_a_bad_value_in_the_environment_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFIRE_KEYWORD_K1", "much")
    with pytest.raises(InvalidSetting, match=r"keyword\.k1"):
        load_settings(record=None, call={})


def test_a_bad_value_in_the_file_is_refused_with_the_file(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("[keyword]\nk1 = 99\n", encoding="utf-8")
    with pytest.raises(InvalidSetting, match=re.escape(str(file))):
        load_settings(record=None, call={})


def test_an_unknown_setting_in_the_file_is_refused_with_the_file(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("[keyword]\nk9 = 1\n", encoding="utf-8")
    with pytest.raises(UnknownSetting, match=re.escape(str(file))) as refused:
        load_settings(record=None, call={})
    assert refused.value.way_out.startswith("Correct or remove it there.")


def test_a_bad_value_in_the_environment_is_refused_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFIRE_KEYWORD_K1", "99")
    with pytest.raises(InvalidSetting, match="in the environment"):
        load_settings(record=None, call={})


def test_the_stores_record_is_the_same_there_and_back() -> None:
    values = {"recall.k": 7, "keyword.enabled": False, "fusion.method": "rrf"}
    assert decode_settings_record(encode_settings_record(values)) == values
    assert decode_settings_record(None) == {}


def test_the_record_does_not_depend_on_the_order_of_settings() -> None:
    assert encode_settings_record({"a": 1, "b": 2}) == encode_settings_record({"b": 2, "a": 1})


def test_the_file_is_where_the_variable_says(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sources.settings_file_path() == file
    monkeypatch.delenv(sources.FILE_VARIABLE)
    assert sources.settings_file_path().name == "config.toml"


def test_the_store_is_where_the_variable_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(sources.STORE_VARIABLE, "team.db")
    assert sources.default_store() == "team.db"
    monkeypatch.setenv(sources.STORE_VARIABLE, "")
    assert sources.default_store().endswith("memory.db")
