"""Where settings come from and where they are kept: the user's TOML file, the environment, the store's own record."""

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
from cofire.places import path_of
from cofire.settings import KNOBS, Knob, Settings, by_name, from_record, knob

FILE_VARIABLE = "COFIRE_CONFIG"
STORE_VARIABLE = "COFIRE_STORE"
PREFIX = "COFIRE_"
# Variables with the prefix that are no settings. Those of the tests begin with TEST_PREFIX.
OTHER_VARIABLES = frozenset(
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
TEST_PREFIX = "COFIRE_TEST_"
HERE = "given here"

_WAY_OUT = f"Mend or move the file, or point {FILE_VARIABLE} at another one."


def file_path() -> Path:
    """The user's settings file: COFIRE_CONFIG, or config.toml in the user's configuration folder."""
    given = os.environ.get(FILE_VARIABLE)
    return path_of(given) if given else Path(platformdirs.user_config_dir("cofire")) / "config.toml"


def default_store() -> str:
    """The store used when none is named: COFIRE_STORE, or memory.db in the user's data folder."""
    return os.environ.get(STORE_VARIABLE) or str(Path(platformdirs.user_data_dir("cofire")) / "memory.db")


def from_environment(environment: Mapping[str, str]) -> dict[str, object]:
    """The settings given by environment variables such as COFIRE_KEYWORD_K1. An unknown variable with the prefix is refused."""
    names = {setting.variable: setting.name for setting in KNOBS.values()}
    variables = sorted(variable for variable in environment if variable.startswith(PREFIX))
    for variable in variables:
        if variable not in names and variable not in OTHER_VARIABLES and not variable.startswith(TEST_PREFIX):
            raise _unknown_variable(variable, [*names, *OTHER_VARIABLES])
    return {names[variable]: environment[variable] for variable in variables if variable in names}


def _unknown_variable(variable: str, variables: list[str]) -> UnknownSetting:
    """Compared without the prefix, which all of them share."""
    endings = [name.removeprefix(PREFIX) for name in variables]
    similar = get_close_matches(variable.removeprefix(PREFIX), endings, n=1)
    hint = f"Did you mean {PREFIX}{similar[0]}? " if similar else ""
    return UnknownSetting(
        f"The environment variable {variable} names no setting.",
        way_out=f"{hint}Unset it, or see the variables of all settings with: cofire config list --json",
    )


def from_file(path: Path) -> dict[str, object]:
    """The settings of a TOML file, tables flattened to dotted names; a file that is not there sets nothing."""
    return dict(_flat(_read(path)[1]))


def gather(*, record: bytes | None, call: Mapping[str, object]) -> Settings:
    """All layers as they stand now."""
    layers = {
        "file": (f"in {file_path()}", from_file(file_path())),
        "store": ("in the store", from_record(record)),
        "environment": ("in the environment", from_environment(os.environ)),
        "call": (HERE, by_name(call)),
    }
    for place, values in layers.values():
        _check(place, values)
    return Settings.layered(**{layer: values for layer, (_, values) in layers.items()})


def _check(place: str, values: Mapping[str, object]) -> None:
    """Read every value once, so that one that cannot be used is named with the place it stands in."""
    for name, value in values.items():
        try:
            knob(name).read(value)
        except InvalidSetting as error:
            mend = "" if place == HERE else "Mend it there, or take it out. "
            raise type(error)(f"{error.problem.rstrip('.')} ({place}).", way_out=mend + error.way_out) from error


def set_in_file(path: Path, name: str, text: object) -> Any:
    """Keep a setting in the user's file, leaving its comments and order alone; returns the value as understood."""
    chosen = knob(name)
    value = chosen.read(text)
    document = _document(path)
    table, leaf = _table_for(document, chosen)
    table[leaf] = value
    _save(path, document)
    return value


def reset_in_file(path: Path, name: str) -> bool:
    """Take a setting out of the user's file; tells whether it was there."""
    chosen = knob(name)
    if chosen.name not in from_file(path):
        return False
    document = _document(path)
    table, leaf = _table_for(document, chosen)
    del table[leaf]
    _save(path, document)
    return True


def commented_file() -> str:
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


def _document(path: Path) -> tomlkit.TOMLDocument:
    text, _ = _read(path)
    with _file_errors(path):
        return tomlkit.parse(text)


def _read(path: Path) -> tuple[str, dict[str, Any]]:
    """The text of the file and what it says; one parser tells of mistakes, wherever they are met."""
    with _file_errors(path):
        text = path.read_text(encoding="utf-8-sig") if path.exists() else ""
    try:
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        why = str(error).replace("at end of document", f"at its end, line {len(text.rstrip().splitlines())}")
        raise InvalidSetting(f"The settings file {path} cannot be used: {why}.", way_out=_WAY_OUT) from error


def _table_for(document: tomlkit.TOMLDocument, chosen: Knob[Any]) -> tuple[Any, str]:
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


def _save(path: Path, document: tomlkit.TOMLDocument) -> None:
    with _file_errors(path):
        # A link stays a link, to wherever its owner keeps the file.
        path = path.resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".new")
        unfinished.write_text(tomlkit.dumps(document), encoding="utf-8")
        unfinished.replace(path)


def _flat(table: Mapping[str, Any], above: str = "") -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for name, value in table.items():
        found += _flat(value, f"{above}{name}.") if isinstance(value, dict) else [(above + name, value)]
    return found


def _file_errors(path: Path) -> Any:
    return map_exceptions(
        {
            TOMLKitError: InvalidSetting,
            UnicodeDecodeError: InvalidSetting,
            OSError: StoreNotOpened,
        },
        problem=f"The settings file {path} cannot be used: {{error}}.",
        way_out=_WAY_OUT,
    )
