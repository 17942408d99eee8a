"""The screen: what is printed, wrapped and made harmless."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console
from rich.text import Text

from cofire.cli.terminal import escape_controls, show_text


def terminal(width: int) -> Console:
    return Console(file=StringIO(), force_terminal=True, width=width, color_system=None, highlight=False)


def shown(console: Console) -> str:
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_text_is_wrapped_beside_its_lead() -> None:
    console = terminal(30)
    show_text("one two three four five six seven", lead=Text("1  "), indent=3, console=console)
    assert shown(console) == "1  one two three four five six\n   seven\n"


def test_wide_letters_count_double() -> None:
    console = terminal(24)
    show_text("東京は日本の首都です。京都は古都です。", indent=2, console=console)
    assert shown(console) == "  東京は日本の首都です。\n  京都は古都です。\n"


def test_very_wide_terminal_keeps_lines_readable() -> None:
    console = terminal(400)
    show_text("tea " * 100, console=console)
    assert max(len(line) for line in shown(console).splitlines()) <= 100


def test_pipe_keeps_lines_whole() -> None:
    console = Console(file=StringIO(), width=20)
    show_text("tea " * 100 + "end\nnext", lead=Text("1  "), indent=3, console=console)
    assert shown(console) == "1  " + "tea " * 100 + "end\n   next\n"


def test_markup_is_only_text() -> None:
    console = terminal(80)
    show_text("[bold]tea[/bold] :smile: [link=x]", console=console)
    assert shown(console) == "[bold]tea[/bold] :smile: [link=x]\n"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb", "a\nb"),
        ("a\rb", "a␍b"),
        ("\x1b]0;x\x07", "␛]0;x␇"),
        ("\x7f\u009b", "␡\ufffd"),
    ],
)
def test_control_characters_become_pictures(text: str, seen: str) -> None:
    assert escape_controls(text) == seen
