"""Every command line that a guide shows names a command and options that exist, and settings with values they can have."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import typer

from cofire.cli.app import build_app
from cofire.settings.presets import PRESETS
from cofire.settings.table import find_knob
from tests.docs.pages import GUIDES, commands

PROGRAM: Any = typer.main.get_command(build_app([]))
SHOWN = sorted({f"{page.name}: {shlex.join(arguments)}" for page in GUIDES for arguments in commands(page)})
HELP = ("--help", "-h")


@pytest.mark.parametrize("shown", SHOWN)
def test_command_line_is_understood(shown: str) -> None:
    name, given = understood(shlex.split(shown.partition(": ")[2]))
    for setting, value in settings(name, given):
        find_knob(setting) if value is None else find_knob(setting).read(value)
    if name == "preset" and given["name"] is not None:
        assert given["name"] in PRESETS


def test_guides_show_commands() -> None:
    assert len(SHOWN) > 20


@pytest.mark.parametrize(
    "line", ["recal 'Who leads?'", "recall 'Who leads?' --toke 3", "config sett recall.k 3", "forget --older-than 3"]
)
def test_a_line_that_is_wrong_is_noticed(line: str) -> None:
    with pytest.raises(typer.TyperException):
        understood(shlex.split(line))


def understood(arguments: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """The command that a line names, and the values it gives. One named without its arguments, `cofire backup`, lacks nothing."""
    command, context = PROGRAM, PROGRAM.make_context("cofire", [one for one in arguments if one not in HELP])
    while left := [*context._protected_args, *context.args]:
        if not hasattr(command, "resolve_command"):
            break
        name, command, rest = command.resolve_command(context, left)
        context = command.make_context(name, list(rest), parent=context, resilient_parsing=not rest)
    return command.name or "", dict(context.params)


def settings(name: str, given: dict[str, Any]) -> Iterator[tuple[str, str | None]]:
    """The settings that a command line names, with their values; a NAME in capitals stands for any."""
    if name in {"get", "set", "reset"} and given["name"] is not None:
        yield given["name"], given.get("value")
    for pair in given.get("settings") or ():
        setting, _, value = pair.partition("=")
        if not setting.isupper():
            yield setting, value
