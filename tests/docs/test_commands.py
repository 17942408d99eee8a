"""Every command line that a guide shows names a command and options that exist, and settings with values they can have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from cofire.doors.cli.app import app
from cofire.presets import PRESETS
from cofire.settings import knob
from tests.docs.pages import GUIDES, commands, shell_words

PROGRAM: Any = typer.main.get_command(app)
SHOWN = sorted({(page.name, tuple(arguments)) for page in GUIDES for arguments in commands(page)})
HELP = ("--help", "-h")


@pytest.mark.parametrize(("page", "arguments"), SHOWN, ids=lambda value: value if isinstance(value, str) else None)
def test_command_line_is_understood(page: str, arguments: tuple[str, ...]) -> None:
    name, given = understood(arguments)
    for setting, value in configured(name, given):
        knob(setting) if value is None else knob(setting).read(value)
    if name == "preset" and given.get("name"):
        assert given["name"] in PRESETS


def test_guides_show_commands() -> None:
    assert len(SHOWN) > 20


@pytest.mark.parametrize(
    "line",
    [
        "cofire recal 'Who leads?'",
        "cofire recall 'Who leads?' --toke 3",
        "cofire config sett recall.k 3",
        "cofire forget --older-than 3",
    ],
)
def test_a_line_that_is_wrong_is_noticed(line: str) -> None:
    with pytest.raises(typer.TyperException):
        understood(tuple(shell_words(line)[1:]))


def understood(arguments: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    """The command that a line names, and the values it gives; the words … and HELP are passed over."""
    command, rest = PROGRAM, [one for one in arguments if one not in HELP and "…" not in one]
    context = command.make_context("cofire", rest)
    while hasattr(command, "resolve_command"):
        left = [*context._protected_args, *context.args]
        if not left:
            break
        _, command, rest = command.resolve_command(context, left)
        lenient = _is_a_mention(command, rest)
        context = command.make_context(command.name, rest, parent=context, resilient_parsing=lenient)
    return command.name or "", dict(context.params)


def _is_a_mention(command: Any, rest: list[str]) -> bool:
    """A command named in running text without its arguments, as in `cofire backup`."""
    return not rest and not hasattr(command, "resolve_command")


def configured(name: str, given: dict[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Settings that a command line names, with their values."""
    if name in {"get", "set", "reset"} and given.get("name"):
        yield given["name"], given.get("value")
    yield from (tuple(pair.split("=", 1)) for pair in given.get("settings") or [] if "=" in pair)  # type: ignore[misc]


def test_pages_are_read() -> None:
    assert all(isinstance(page, Path) for page in GUIDES)
