"""The command line with a store on a server: it looks there and not for a file of that name, and tells no password."""

from __future__ import annotations

from pathlib import Path

import pytest

from cofire import Memory
from cofire.copying import restore
from cofire.errors import StoreNotOpened
from tests.interfaces.calling import call
from tests.neo4j_server import empty, in_turn

# Nobody listens there: what needs the server fails, and says so without the password.
NOWHERE = "bolt://ana:only-ana-knows@127.0.0.1:1"


@pytest.fixture
def served(neo4j_url: str) -> str:
    empty(neo4j_url)
    return neo4j_url


@in_turn
def test_doctor_looks_at_the_server(served: str) -> None:
    call("remember", "Tea is at four.", "--store", served)
    found = {one["about"]: one for one in call("doctor", "--store", served, "--json").json["findings"]}
    assert "1 fact" in found["store"]["says"]
    assert "disk" not in found


@in_turn
def test_settings_kept_in_a_server_are_seen_and_taken_out_again(served: str) -> None:
    call("config", "set", "recall.k", "5", "--in-store", "--store", served)
    assert call("config", "get", "recall.k", "--store", served).out == "5\n"
    assert "was removed from" in call("config", "reset", "recall.k", "--in-store", "--store", served).out
    assert call("config", "get", "recall.k", "--store", served).out == "10\n"


@in_turn
def test_an_export_names_the_server_without_its_password(served: str, tmp_path: Path) -> None:
    told = call("export", str(tmp_path / "all.jsonl"), "--store", served, "--json").json
    assert told["store"] == f"bolt://{served.rpartition('@')[2]}"


@in_turn
def test_what_a_command_forgot_on_a_server_another_brings_back(served: str) -> None:
    (id,) = call("remember", "Tea is at four.", "--store", served, "--json").json["ids"]
    gone = call("forget", id, "--store", served, "--json").json
    assert call("undo", gone["receipt"]["id"], "--store", served).out.startswith("Restored 1 fact")


def test_a_server_is_not_restored_to_a_file_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Memory("team.db", embedder=None) as memory:
        memory.backup("backup.db")
    ran = call("restore", "backup.db", "--store", NOWHERE)
    assert ran.code == 4
    assert "cofire copy FILE" in ran.err
    assert not Path("bolt:").exists()
    with pytest.raises(StoreNotOpened, match="keeps its own backups"):
        restore("backup.db", NOWHERE)


@pytest.mark.parametrize(
    "command", [["doctor"], ["config", "list"], ["config", "reset", "recall.k", "--in-store"], ["list"]]
)
def test_no_command_tells_the_password(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFIRE_STORE_BUSY_SECONDS", "0.1")
    ran = call(*command, "--store", NOWHERE)
    assert ran.code != 0
    assert "127.0.0.1:1" in ran.out + ran.err
    assert "only-ana-knows" not in ran.out + ran.err
