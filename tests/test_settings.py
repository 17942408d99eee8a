"""Settings: parsing, ranges and layers."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from cofire.errors import InvalidSetting, UnknownSetting
from cofire.settings.knobs import KNOBS, Knob
from cofire.settings.presets import PRESETS
from cofire.settings.table import (
    FUSION_METHOD,
    FUSION_RRF_K,
    KEYWORD_B,
    KEYWORD_ENABLED,
    KEYWORD_K1,
    PRESET,
    RECALL_K,
    SEMANTIC_WEIGHT,
    SETTING_ALIASES,
    SETTING_LAYERS,
    Settings,
    find_knob,
)

NAMES = list(KNOBS)


@pytest.mark.parametrize("name", NAMES)
def test_a_default_fits_its_own_knob(name: str) -> None:
    knob = KNOBS[name]
    assert knob.read(knob.default) == knob.default
    assert type(knob.read(knob.default)) is type(knob.default)


@pytest.mark.parametrize("name", NAMES)
def test_a_default_can_be_written_as_text_and_read_again(name: str) -> None:
    knob = KNOBS[name]
    assert knob.read(str(knob.default)) == knob.default


@pytest.mark.parametrize("name", NAMES)
def test_a_knob_says_what_it_is_for_and_where_it_comes_from(name: str) -> None:
    knob = KNOBS[name]
    assert knob.help.endswith(".")
    assert knob.source
    assert knob.allowed


@pytest.mark.parametrize("name", [name for name in NAMES if KNOBS[name].low is not None])
def test_the_ends_of_a_range_belong_to_it_and_what_is_beyond_does_not(name: str) -> None:
    knob = KNOBS[name]
    assert knob.low is not None
    assert knob.high is not None
    assert [knob.read(knob.low), knob.read(knob.high)] == [knob.low, knob.high]
    for beyond in (knob.low - 1, knob.high + 1):
        with pytest.raises(InvalidSetting, match="It must be"):
            knob.read(beyond)


@pytest.mark.parametrize("name", [name for name in NAMES if KNOBS[name].choices])
def test_only_the_choices_can_be_chosen(name: str) -> None:
    knob = KNOBS[name]
    assert [knob.read(choice) for choice in knob.choices] == list(knob.choices)
    with pytest.raises(InvalidSetting, match="one of"):
        knob.read("something else")


@pytest.mark.parametrize("name", [name for name in NAMES if isinstance(KNOBS[name].default, int | float)])
def test_a_number_has_a_range_unless_it_is_a_truth(name: str) -> None:
    knob = KNOBS[name]
    assert isinstance(knob.default, bool) or (knob.low is not None and knob.high is not None)


@pytest.mark.parametrize(
    ("text", "value"),
    [("true", True), ("YES", True), (" on ", True), ("1", True), ("false", False), ("no", False), ("off", False)],
)
def test_truth_is_read_from_words(text: str, value: bool) -> None:
    assert KEYWORD_ENABLED.read(text) is value


@pytest.mark.parametrize("value", ["maybe", "", 1, None, 2.0, []])
def test_what_is_no_truth_is_refused(value: object) -> None:
    with pytest.raises(InvalidSetting, match="true or false"):
        KEYWORD_ENABLED.read(value)


@pytest.mark.parametrize("value", [7, 7.0, "7", " 7 ", "7.0"])
def test_a_whole_number_is_read_from_what_means_one(value: object) -> None:
    assert RECALL_K.read(value) == 7
    assert type(RECALL_K.read(value)) is int


@pytest.mark.parametrize("value", [7.5, "7.5", "seven", True, None, math.nan, math.inf, "", 10**400])
def test_what_is_no_whole_number_is_refused(value: object) -> None:
    with pytest.raises(InvalidSetting, match="a whole number from 1 to 1,000"):
        RECALL_K.read(value)


@pytest.mark.parametrize("value", ["much", True, None, math.nan, math.inf, "nan", [], b"1"])
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(InvalidSetting, match="a number from 0 to 10"):
        KEYWORD_K1.read(value)


def test_a_number_too_large_for_a_float_is_refused() -> None:
    with pytest.raises(InvalidSetting):
        KEYWORD_K1.read(10**400)


def test_the_message_names_the_setting_the_value_and_the_way_out() -> None:
    with pytest.raises(InvalidSetting) as refused:
        KEYWORD_K1.read(11)
    assert str(refused.value) == "keyword.k1 cannot be 11. It must be a number from 0 to 10 (default 0.8)."


def test_a_variable_is_named_after_its_setting() -> None:
    assert KEYWORD_K1.variable == "COFIRE_KEYWORD_K1"
    assert len({knob.variable for knob in KNOBS.values()}) == len(KNOBS)


def test_a_near_miss_is_suggested() -> None:
    with pytest.raises(UnknownSetting, match=r"Did you mean keyword\.k1\?"):
        find_knob("keyword.k2")


def test_nothing_is_suggested_for_what_is_like_nothing() -> None:
    with pytest.raises(UnknownSetting) as refused:
        find_knob("zzzzzzzzzz")
    assert "Did you mean" not in str(refused.value)
    assert "cofire config list" in str(refused.value)


def test_the_last_part_of_a_name_suggests_the_whole() -> None:
    with pytest.raises(UnknownSetting, match=r"Did you mean spreading_activation\.tau_gate\?"):
        find_knob("tau_gate")


def test_an_unknown_setting_is_an_invalid_one() -> None:
    with pytest.raises(InvalidSetting):
        Settings.layered(call={"no.such": 1})


@pytest.mark.parametrize("alias", list(SETTING_ALIASES))
def test_an_alias_is_the_setting_it_stands_for(alias: str) -> None:
    knob = find_knob(alias)
    assert knob is KNOBS[SETTING_ALIASES[alias]]
    assert Settings.layered(call={alias: knob.default}).layer_of(knob) == "call"


def test_an_alias_is_known_as_soon_as_a_knob_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cofire.settings.table.SETTING_ALIASES", {"keywordSaturation": "keyword.k1"})
    assert find_knob("keywordSaturation") is KEYWORD_K1
    assert Settings.layered(call={"keywordSaturation": 2})[KEYWORD_K1] == 2.0


def test_no_alias_is_the_name_of_another_setting() -> None:
    assert set(SETTING_ALIASES) & set(KNOBS) == set()


def test_without_any_layer_the_defaults_hold() -> None:
    settings = Settings.layered()
    assert {knob.name: value for knob, value in settings} == {name: knob.default for name, knob in KNOBS.items()}
    assert {settings.layer_of(knob) for knob in KNOBS.values()} == {"default"}


@pytest.mark.parametrize(("lower", "upper"), list(pairwise(SETTING_LAYERS[1:])))
def test_each_layer_lies_over_the_one_before(lower: str, upper: str) -> None:
    settings = Settings.layered(**{upper: {"keyword.k1": 2}, lower: {"keyword.k1": 1, "keyword.b": 0.1}})
    assert (settings[KEYWORD_K1], settings.layer_of(KEYWORD_K1)) == (2.0, upper)
    assert (settings[KEYWORD_B], settings.layer_of(KEYWORD_B)) == (0.1, lower)


def test_layers_are_laid_in_this_order() -> None:
    assert SETTING_LAYERS == ("default", "preset", "file", "store", "environment", "call")


@pytest.mark.parametrize("layer", ["file", "store", "environment", "call"])
def test_a_preset_may_be_named_in_any_layer(layer: str) -> None:
    settings = Settings.layered(**{layer: {"preset": "documented-rrf"}})
    assert (settings[FUSION_METHOD], settings.layer_of(FUSION_METHOD)) == ("rrf", "preset")
    assert settings.layer_of(PRESET) == layer


def test_what_the_user_says_lies_over_the_preset_wherever_it_was_said() -> None:
    settings = Settings.layered(file={"fusion.rrf_k": 7}, call={"preset": "documented-rrf"})
    assert (settings[FUSION_RRF_K], settings[SEMANTIC_WEIGHT]) == (7, 1.0)


def test_the_preset_of_the_upper_layer_is_the_one_that_holds() -> None:
    settings = Settings.layered(file={"preset": "documented-rrf"}, call={"preset": "default"})
    assert settings[FUSION_METHOD] == FUSION_METHOD.default


@pytest.mark.parametrize("name", list(PRESETS))
def test_a_preset_sets_what_exists_to_what_is_allowed_and_says_why(name: str) -> None:
    assert PRESETS[name].help.endswith(".")
    for setting, value in PRESETS[name].settings.items():
        assert find_knob(setting).read(value) == value


def test_settings_of_a_call_lie_over_all_others() -> None:
    settings = Settings.layered(environment={"keyword.k1": 1}, store={"keyword.b": 0.2})
    over = settings.over({"keyword.k1": 2})
    assert (over[KEYWORD_K1], over.layer_of(KEYWORD_K1)) == (2.0, "call")
    assert (over[KEYWORD_B], over.layer_of(KEYWORD_B)) == (0.2, "store")
    assert settings[KEYWORD_K1] == 1.0


def test_a_call_may_choose_another_preset() -> None:
    settings = Settings.layered(file={"preset": "documented-rrf", "keyword.weight": 3})
    over = settings.over({"preset": "default"})
    assert (over[FUSION_METHOD], over[SEMANTIC_WEIGHT]) == (FUSION_METHOD.default, SEMANTIC_WEIGHT.default)
    assert over[find_knob("keyword.weight")] == 3.0


def test_a_call_that_says_nothing_changes_nothing() -> None:
    settings = Settings.layered(file={"keyword.k1": 1})
    assert settings.over({}) is settings


def test_every_knob_is_a_knob_under_its_own_name() -> None:
    assert all(isinstance(knob, Knob) and name == knob.name for name, knob in KNOBS.items())
