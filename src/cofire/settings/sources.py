"""Load settings from their layers, and edit the user's settings file (TOML)."""

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
# Variables with the prefix that are not settings. The tests use TEST_VARIABLE_PREFIX.
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

_FILE_WAY_OUT = f"Correct or move the file, or set {FILE_VARIABLE} to the path of another one."


def settings_file_path() -> Path:
    """COFIRE_CONFIG, or config.toml in the user's configuration folder."""
    configured = os.environ.get(FILE_VARIABLE)
    if configured:
        return expand_path(configured)
    return Path(platformdirs.user_config_dir("cofire")) / "config.toml"


def default_store() -> str:
    """COFIRE_STORE, or memory.db in the user's data folder."""
    configured = os.environ.get(STORE_VARIABLE)
    return configured or str(Path(platformdirs.user_data_dir("cofire")) / "memory.db")


def read_environment(environment: Mapping[str, str]) -> dict[str, object]:
    """Settings from variables such as COFIRE_KEYWORD_K1. Raises on an unknown variable."""
    names = {setting.variable: setting.name for setting in KNOBS.values()}
    variables = sorted(variable for variable in environment if variable.startswith(VARIABLE_PREFIX))
    for variable in variables:
        ignored = variable in NON_SETTING_VARIABLES or variable.startswith(TEST_VARIABLE_PREFIX)
        if variable not in names and not ignored:
            raise _unknown_variable(variable, [*names, *NON_SETTING_VARIABLES])
    return {names[variable]: environment[variable] for variable in variables if variable in names}


def _unknown_variable(variable: str, variables: list[str]) -> UnknownSetting:
    # Compare without the prefix, which would make all variables similar.
    endings = [name.removeprefix(VARIABLE_PREFIX) for name in variables]
    similar = get_close_matches(variable.removeprefix(VARIABLE_PREFIX), endings, n=1)
    hint = f"Did you mean {VARIABLE_PREFIX}{similar[0]}? " if similar else ""
    return UnknownSetting(
        f"The environment variable {variable} names no setting.",
        way_out=f"{hint}Unset it, or see the variables of all settings with: cofire config list --json",
    )


def read_settings_file(path: Path) -> dict[str, object]:
    """Settings from a TOML file, with tables flattened to dotted names. No file, no settings."""
    return dict(_flatten_table(_read_toml(path)[1]))


def load_settings(*, record: bytes | None, call: Mapping[str, object]) -> Settings:
    """Read all layers."""
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
    """Parse every value of a layer. An error names the place of the value."""
    for name, value in values.items():
        try:
            find_knob(name).read(value)
        except InvalidSetting as error:
            hint = "" if place == CALL_LAYER_LABEL else "Correct or remove it there. "
            problem = f"{error.problem.rstrip('.')} ({place})."
            raise type(error)(problem, way_out=hint + error.way_out) from error


def set_in_file(path: Path, name: str, text: object) -> Any:
    """Write a setting to the user's file and return its parsed value. Comments and order stay."""
    knob = find_knob(name)
    value = knob.read(text)
    document = _load_document(path)
    table, leaf = _find_table(document, knob)
    table[leaf] = value
    _save_document(path, document)
    return value


def reset_in_file(path: Path, name: str) -> bool:
    """Remove a setting from the user's file. Returns whether it was there."""
    knob = find_knob(name)
    if knob.name not in read_settings_file(path):
        return False
    document = _load_document(path)
    table, leaf = _find_table(document, knob)
    del table[leaf]
    _save_document(path, document)
    return True


def render_commented_file() -> str:
    """A settings file that lists every setting, commented out, with its help and default."""
    lines = ["# Settings of cofire. Remove the # of a line to change the setting.", ""]
    section = ""
    for knob in sorted(KNOBS.values(), key=lambda knob: ("." in knob.name, knob.name)):
        group, _, leaf = knob.name.rpartition(".")
        if group != section:
            lines.append(f"[{group}]")
            section = group
        default = tomlkit.item(knob.default).as_string()
        lines += [f"# {knob.help} ({knob.allowed})", f"# {leaf} = {default}", ""]
    return "\n".join(lines)


def _load_document(path: Path) -> tomlkit.TOMLDocument:
    text, _ = _read_toml(path)
    with _translate_file_errors(path):
        return tomlkit.parse(text)


def _read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """The text of the file and its parsed content. All syntax errors are reported here."""
    with _translate_file_errors(path):
        text = path.read_text(encoding="utf-8-sig") if path.exists() else ""
    try:
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        last_line = len(text.rstrip().splitlines())
        reason = str(error).replace("at end of document", f"at its end, line {last_line}")
        raise InvalidSetting(f"The settings file {path} cannot be used: {reason}.", way_out=_FILE_WAY_OUT) from error


def _find_table(document: tomlkit.TOMLDocument, knob: Knob[Any]) -> tuple[Any, str]:
    group, _, leaf = knob.name.rpartition(".")
    if not group or knob.name in document:
        return document, knob.name
    if group not in document:
        document[group] = tomlkit.table()
    if not isinstance(document[group], dict):
        raise InvalidSetting(
            f"The settings file has a value {group} where a table is needed.",
            way_out=f"Remove {group} from it.",
        )
    return document[group], leaf


def _save_document(path: Path, document: tomlkit.TOMLDocument) -> None:
    with _translate_file_errors(path):
        # Write to the target of a symbolic link, so that the link stays.
        path = path.resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".new")
        unfinished.write_text(tomlkit.dumps(document), encoding="utf-8")
        unfinished.replace(path)


def _flatten_table(table: Mapping[str, Any], prefix: str = "") -> list[tuple[str, object]]:
    settings: list[tuple[str, object]] = []
    for name, value in table.items():
        if isinstance(value, dict):
            settings += _flatten_table(value, f"{prefix}{name}.")
        else:
            settings.append((prefix + name, value))
    return settings


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
