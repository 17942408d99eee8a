"""The reference is up to date, and nothing is missing in it."""

from __future__ import annotations

import pytest

from cofire.cli.app import build_app
from cofire.errors import CofireError
from cofire.settings.knobs import KNOBS
from cofire.settings.presets import PRESETS
from scripts import reference

PAGES = {path.name: text for path, text in reference.pages().items()}


@pytest.mark.parametrize("path", reference.pages(), ids=lambda path: path.name)
def test_page_is_what_the_code_says(path: object) -> None:
    written = reference.REFERENCE / getattr(path, "name", "")
    assert written.read_text(encoding="utf-8") == PAGES[written.name], "run: python -m scripts.reference"


def test_every_command_and_option_is_described() -> None:
    for path, command in reference.commands(reference.get_command(build_app([])), "cofire"):
        assert f"## {path}\n" in PAGES["cli.md"]
        assert command.help
        assert all(parameter.help for parameter in command.params), path


def test_every_setting_and_preset_is_described() -> None:
    for knob in KNOBS.values():
        assert f"### {knob.name}\n\n{knob.help}\n" in PAGES["settings.md"]
        assert knob.variable in PAGES["settings.md"]
    assert all(f"### {name}\n\n{preset.help}" in PAGES["settings.md"] for name, preset in PRESETS.items())


def test_every_error_is_described_with_its_code() -> None:
    for kind in reference.kinds(CofireError):
        assert f"| `{kind.__name__}` | {kind.exit_code} | " in PAGES["errors.md"]
        assert kind.exit_code in reference.CODES


def test_no_error_of_the_tree_is_imagined() -> None:
    assert set(reference.meanings()) == {kind.__name__ for kind in reference.kinds(CofireError)}
