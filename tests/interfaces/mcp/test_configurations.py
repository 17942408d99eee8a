"""Ready configurations: each client gets the file it reads, and what stands in it starts cofire."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import cofire
from cofire.interfaces import installation
from cofire.mcp.clients import CLIENTS
from scripts.house import ROOT
from tests.interfaces.calling import call
from tests.interfaces.cli.test_json_shapes import EXAMPLES, shape

SERVERS = {"vscode": "servers", "codex": "mcp_servers"}


def read(name: str, text: str) -> dict[str, Any]:
    return tomllib.loads(text) if name == "codex" else json.loads(text)


LAUNCH = [sys.executable, "-m", "cofire", "mcp"]
FROM_INDEX = ["uvx", "--from", "cofire[mcp]", "cofire", "mcp"]


@pytest.fixture
def from_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if cofire had been installed from a package index."""
    monkeypatch.setattr(installation, "read_install_source", lambda: None)


@pytest.mark.parametrize("name", CLIENTS)
def test_configuration_starts_cofire_from_an_index_with_uvx(
    name: str, monkeypatch: pytest.MonkeyPatch, from_index: None
) -> None:
    monkeypatch.delenv("COFIRE_STORE")
    printed = read(name, call("mcp", "--config", name).out)
    server = printed[SERVERS.get(name, "mcpServers")]["cofire"]
    assert [server["command"], *server["args"]] == FROM_INDEX


@pytest.mark.parametrize("name", CLIENTS)
def test_configuration_starts_this_installation(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COFIRE_STORE")
    printed = read(name, call("mcp", "--config", name).out)
    server = printed[SERVERS.get(name, "mcpServers")]["cofire"]
    assert [server["command"], *server["args"]] == LAUNCH


@pytest.mark.parametrize("name", CLIENTS)
def test_configuration_as_json_says_where_it_belongs(name: str) -> None:
    told = call("mcp", "--config", name, "--json").json
    assert told.keys() == {"client", "file", "configuration", "text"}
    assert read(name, told["text"]) == told["configuration"]
    assert told["file"]


def test_configuration_as_json_is_as_described() -> None:
    assert shape(call("mcp", "--config", "cursor", "--json").json) == shape(EXAMPLES["cofire mcp"])


def test_configuration_has_the_options_that_were_given(tmp_path: Path) -> None:
    options = ("--store", str(tmp_path / "team.db"), "--scope", "team", "--compat")
    told = call("mcp", "--config", "cursor", *options, "--json").json
    assert told["configuration"]["mcpServers"]["cofire"]["args"] == [*LAUNCH[1:], *options]


def test_configuration_has_the_store_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COFIRE_STORE", "tutorial.db")
    told = call("mcp", "--config", "cursor", "--json").json
    assert told["configuration"]["mcpServers"]["cofire"]["args"][-2:] == ["--store", str(tmp_path / "tutorial.db")]


def test_configuration_holds_no_password() -> None:
    told = call("mcp", "--config", "cursor", "--store", "neo4j://ana:secret@localhost:7687", "--json").json
    assert told["configuration"]["mcpServers"]["cofire"]["args"][-1] == "neo4j://localhost:7687"


def test_the_address_of_a_store_is_kept_as_it_is() -> None:
    told = call("mcp", "--config", "cursor", "--store", "neo4j://localhost:7687", "--json").json
    assert told["configuration"]["mcpServers"]["cofire"]["args"][-1] == "neo4j://localhost:7687"


def test_a_store_on_a_server_is_launched_with_its_driver(from_index: None) -> None:
    told = call("mcp", "--config", "cursor", "--store", "neo4j://localhost:7687", "--json").json
    assert "cofire[mcp,neo4j]" in told["configuration"]["mcpServers"]["cofire"]["args"]


def test_an_unknown_client_is_told_which_there_are() -> None:
    ran = call("mcp", "--config", "emacs")
    assert ran.code == 2
    assert all(name in ran.err for name in CLIENTS)


def test_the_registry_is_told_the_same_launch_line() -> None:
    server = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    [package] = server["packages"]
    runtime = [part for one in package["runtimeArguments"] for part in (one["name"], one["value"])]
    line = [
        package["runtimeHint"],
        *runtime,
        package["identifier"],
        *(one["value"] for one in package["packageArguments"]),
    ]
    assert line == [*FROM_INDEX[:2], f"{FROM_INDEX[2]}=={cofire.__version__}", *FROM_INDEX[3:]]
    assert server["version"] == package["version"] == cofire.__version__
    assert len(server["description"]) <= 100


def test_the_registry_finds_the_name_of_the_server_in_the_readme() -> None:
    server = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    assert f"<!-- mcp-name: {server['name']} -->" in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_configuration_in_a_pipe_names_its_file_beside_the_output(name: str) -> None:
    ran = call("mcp", "--config", name)
    assert ran.err.startswith("Add this to ")
    assert read(name, ran.out)
