"""Hints on how to install an extra name a source that exists."""

import json
from importlib.metadata import Distribution
from typing import Any

import pytest

from cofire.errors import install_command
from cofire.interfaces.installation import launch_command


def install_from(monkeypatch: pytest.MonkeyPatch, source: dict[str, Any] | None) -> None:
    record = json.dumps(source) if source else None
    monkeypatch.setattr(Distribution, "read_text", lambda self, name: record, raising=False)
    monkeypatch.setattr("importlib.metadata.PathDistribution.read_text", lambda self, name: record)


@pytest.mark.parametrize(
    ("source", "command"),
    [
        (None, 'pip install "cofire[mcp]"'),
        ({"url": "file:///src/cofire", "dir_info": {"editable": True}}, 'pip install --editable "/src/cofire[mcp]"'),
        ({"url": "file:///src/cofire", "dir_info": {}}, 'pip install "cofire[mcp] @ file:///src/cofire"'),
        ({"url": "file:///dist/c.whl", "archive_info": {}}, 'pip install "cofire[mcp] @ file:///dist/c.whl"'),
        (
            {"url": "https://git.example/cofire", "vcs_info": {"vcs": "git", "commit_id": "1"}},
            'pip install "cofire[mcp] @ git+https://git.example/cofire"',
        ),
    ],
)
def test_an_extra_is_installed_from_where_cofire_was(
    source: dict[str, Any] | None, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_from(monkeypatch, source)
    assert install_command("mcp") == command


def test_other_programs_start_this_installation_unless_an_index_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    install_from(monkeypatch, {"url": "file:///src/cofire", "dir_info": {}})
    assert launch_command("mcp")[1:] == ["-m", "cofire"]
    install_from(monkeypatch, None)
    assert launch_command("mcp") == ["uvx", "--from", "cofire[mcp]", "cofire"]
