"""Read and write settings: the user's TOML file, environment variables, the store's record."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import platformdirs
import tomlkit
from tomlkit.exceptions import TOMLKitError

from cofire.errors import InvalidSetting, StoreNotOpened, UnknownSetting, map_exceptions
from cofire.settings.knobs import KNOBS, Knob
from cofire.settings.table import Settings, check_settings_mapping, decode_settings_record, find_knob
from cofire.stores.store_location import expand_path

FILE_VARIABLE = "COFIRE_CONFIG"
STORE_VARIABLE = "COFIRE_STORE"
VARIABLE_PREFIX = "COFIRE_"
# Variables with the prefix that are no settings. Those of the tests begin with TEST_PREFIX.
NON_SETTING_VARIABLES = frozenset(
    {
        FILE_VARIABLE,
        STORE_VARIABLE,
        "COFIRE_BUILD_TARGET",
        "COFIRE_DEBUG",
        "COFIRE_KERNELS",
        "COFIRE_MCP_TOKEN",
        "COFIRE_NEO4J_PASSWORD",
        "COFIRE_NEO4J_USER",
    }
)
TEST_VARIABLE_PREFIX = "COFIRE_TEST_"
CALL_LAYER_LABEL = "given here"

_FILE_WAY_OUT = f"Mend or move the file, or point {FILE_VARIABLE} at another one."


def settings_file_path() -> Path:
    """The user's settings file: COFIRE_CONFIG, or config.toml in the user's configuration folder."""
    given = os.environ.get(FILE_VARIABLE)
    return expand_path(given) if given else Path(platformdirs.user_config_dir("cofire")) / "config.toml"


def default_store() -> str:
    """The store used when none is named: COFIRE_STORE, or memory.db in the user's data folder."""
    return os.environ.get(STORE_VARIABLE) or str(Path(platformdirs.user_data_dir("cofire")) / "memory.db")


def read_environment(environment: Mapping[str, str]) -> dict[str, object]:
    """The settings given by environment variables such as COFIRE_KEYWORD_K1. An unknown variable with the prefix is refused."""
    names = {setting.variable: setting.name for setting in KNOBS.values()}
    variables = sorted(variable for variable in environment if variable.startswith(VARIABLE_PREFIX))
    for variable in variables:
        if (
            variable not in names
            and variable not in NON_SETTING_VARIABLES
            and not variable.startswith(TEST_VARIABLE_PREFIX)
        ):
            raise _unknown_variable(variable, [*names, *NON_SETTING_VARIABLES])
    return {names[variable]: environment[variable] for variable in variables if variable in names}


def _unknown_variable(variable: str, variables: list[str]) -> UnknownSetting:
    """Compared without the prefix, which all of them share."""
    endings = [name.removeprefix(VARIABLE_PREFIX) for name in variables]
    similar = get_close_matches(variable.removeprefix(VARIABLE_PREFIX), endings, n=1)
    hint = f"Did you mean {VARIABLE_PREFIX}{similar[0]}? " if similar else ""
    return UnknownSetting(
        f"The environment variable {variable} names no setting.",
        way_out=f"{hint}Unset it, or see the variables of all settings with: cofire config list --json",
    )


def read_settings_file(path: Path) -> dict[str, object]:
    """The settings of a TOML file, tables flattened to dotted names; a file that is not there sets nothing."""
    return dict(_flatten_table(_read_toml(path)[1]))


def load_settings(*, record: bytes | None, call: Mapping[str, object]) -> Settings:
    """All layers as they stand now."""
    layers = {
        "file": (f"in {settings_file_path()}", read_settings_file(settings_file_path())),
        "store": ("in the store", decode_settings_record(record)),
        "environment": ("in the environment", read_environment(os.environ)),
        "call": (CALL_LAYER_LABEL, check_settings_mapping(call)),
    }
    for place, values in layers.values():
        _check_layer(place, values)
    return Settings.layered(**{layer: values for layer, (_, values) in layers.items()})


def _check_layer(place: str, values: Mapping[str, object]) -> None:
    """Read every value once, so that one that cannot be used is named with the place it stands in."""
    for name, value in values.items():
        try:
            find_knob(name).read(value)
        except InvalidSetting as error:
            mend = "" if place == CALL_LAYER_LABEL else "Mend it there, or take it out. "
            raise type(error)(f"{error.problem.rstrip('.')} ({place}).", way_out=mend + error.way_out) from error


def set_in_file(path: Path, name: str, text: object) -> Any:
    """Keep a setting in the user's file, leaving its comments and order alone; returns the value as understood."""
    chosen = find_knob(name)
    value = chosen.read(text)
    document = _load_document(path)
    table, leaf = _find_table(document, chosen)
    table[leaf] = value
    _save_document(path, document)
    return value


def reset_in_file(path: Path, name: str) -> bool:
    """Take a setting out of the user's file; tells whether it was there."""
    chosen = find_knob(name)
    if chosen.name not in read_settings_file(path):
        return False
    document = _load_document(path)
    table, leaf = _find_table(document, chosen)
    del table[leaf]
    _save_document(path, document)
    return True


def render_commented_file() -> str:
    """A settings file with every knob in it, commented out at its default, under its help."""
    lines = ["# Settings of cofire. Take away the # of a line to change it.", ""]
    section = ""
    for one in sorted(KNOBS.values(), key=lambda each: ("." in each.name, each.name)):
        group, _, leaf = one.name.rpartition(".")
        if group != section:
            lines.append(f"[{group}]")
            section = group
        lines += [f"# {one.help} ({one.allowed})", f"# {leaf} = {tomlkit.item(one.default).as_string()}", ""]
    return "\n".join(lines)


def _load_document(path: Path) -> tomlkit.TOMLDocument:
    text, _ = _read_toml(path)
    with _translate_file_errors(path):
        return tomlkit.parse(text)


def _read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """The text of the file and what it says; one parser tells of mistakes, wherever they are met."""
    with _translate_file_errors(path):
        text = path.read_text(encoding="utf-8-sig") if path.exists() else ""
    try:
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        why = str(error).replace("at end of document", f"at its end, line {len(text.rstrip().splitlines())}")
        raise InvalidSetting(f"The settings file {path} cannot be used: {why}.", way_out=_FILE_WAY_OUT) from error


def _find_table(document: tomlkit.TOMLDocument, chosen: Knob[Any]) -> tuple[Any, str]:
    group, _, leaf = chosen.name.rpartition(".")
    if not group or chosen.name in document:
        return document, chosen.name
    if group not in document:
        document[group] = tomlkit.table()
    if not isinstance(document[group], dict):
        raise InvalidSetting(
            f"The settings file has a value {group} where a table is needed.", way_out=f"Remove {group} from it."
        )
    return document[group], leaf


def _save_document(path: Path, document: tomlkit.TOMLDocument) -> None:
    with _translate_file_errors(path):
        # A link stays a link, to wherever its owner keeps the file.
        path = path.resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".new")
        unfinished.write_text(tomlkit.dumps(document), encoding="utf-8")
        unfinished.replace(path)


def _flatten_table(table: Mapping[str, Any], above: str = "") -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for name, value in table.items():
        found += _flatten_table(value, f"{above}{name}.") if isinstance(value, dict) else [(above + name, value)]
    return found


def _translate_file_errors(path: Path) -> Any:
    return map_exceptions(
        {
            TOMLKitError: InvalidSetting,
            UnicodeDecodeError: InvalidSetting,
            OSError: StoreNotOpened,
        },
        problem=f"The settings file {path} cannot be used: {{error}}.",
        way_out=_FILE_WAY_OUT,
    )
