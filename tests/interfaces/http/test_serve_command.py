"""`cofire serve`: a real process that listens, says where, keeps its token to itself, and ends when it is told to."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from cofire.cli import servers
from cofire.errors import StoreNotOpened
from cofire.http.access import load_or_make_token, token_path
from tests.interfaces.calling import Store, call, start_process
from tests.interfaces.cli.test_json_shapes import EXAMPLES

SERVER = {"fastapi", "sse_starlette", "starlette", "uvicorn"}


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A data folder of the test, where the token is kept."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@contextmanager
def serve(*options: str) -> Iterator[tuple[subprocess.Popen[bytes], Any]]:
    """A server in a process of its own, and what it said at its start."""
    process = start_process("serve", "--port", "0", "--json", *options, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield process, json.loads(_object(process))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        process.stdout.close()


def _object(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    lines = []
    while not lines or lines[-1] not in {b"}\n", b""}:
        lines.append(process.stdout.readline())
    return b"".join(lines)


def test_it_serves_until_it_is_stopped(store: Store) -> None:
    [id] = store.holds("Tea is at four.")
    with serve() as (process, said):
        token = said["open"].partition("#token=")[2]
        bearer = {"Authorization": f"Bearer {token}"}
        answer = httpx.get(f"{said['url']}/api/v1/facts/{id}", headers=bearer)
        assert answer.json()["fact"]["text"] == "Tea is at four."
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    assert store.texts == {"Tea is at four."}


def test_what_it_says_in_json_is_as_described() -> None:
    with serve() as (_, said):
        assert said.keys() == EXAMPLES["cofire serve"].keys()
        assert said["url"].startswith("http://127.0.0.1:")


def test_the_token_is_made_once_and_only_its_owner_can_read_it() -> None:
    with serve() as (_, first):
        path = Path(first["token_file"])
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with serve() as (_, second):
        assert first["open"].partition("#")[2] == second["open"].partition("#")[2]
        assert httpx.get(f"{second['url']}/api/v1/stats").status_code == 401


def test_without_a_token_programs_on_this_machine_come_in() -> None:
    with serve("--no-token") as (_, said):
        assert (said["token_file"], said["open"]) == (None, f"{said['url']}/")
        assert httpx.get(f"{said['url']}/api/v1/stats").json()["facts"] == 0
        foreign = {"Host": "evil.example"}
        assert httpx.get(f"{said['url']}/api/v1/stats", headers=foreign).status_code == 403


def test_behind_a_proxy_it_goes_by_the_name_it_was_told() -> None:
    with serve("--no-token", "--allow-host", "memory.example") as (_, said):
        assert httpx.get(f"{said['url']}/api/v1/stats", headers={"Host": "memory.example"}).status_code == 200


def test_a_stream_does_not_keep_it_from_stopping(store: Store) -> None:
    store.holds(*(f"Service {number} calls service {number + 1}." for number in range(300)))
    with serve("--no-token") as (process, said):
        accepted = {"Accept": "text/event-stream"}
        with httpx.stream("POST", f"{said['url']}/api/v1/dream", json={}, headers=accepted, timeout=60) as stream:
            assert stream.status_code == 200
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "memory.example"])
def test_without_a_token_it_listens_on_this_machine_only(host: str) -> None:
    ran = call("serve", "--no-token", "--host", host, "--json")
    assert (ran.code, ran.error["kind"]) == (2, "InvalidInput")
    assert "--no-token" in ran.error["way_out"]


def test_a_token_that_others_may_have_read_is_refused() -> None:
    token_path().parent.mkdir(parents=True)
    token_path().write_text("a" * 43, encoding="ascii")
    token_path().chmod(0o644)
    ran = call("serve", "--port", "0", "--json")
    assert (ran.code, "Others may have read" in ran.error["problem"]) == (2, True)


@pytest.mark.parametrize("text", ["", "short", "ä" * 40, "a\x00" * 40])
def test_a_file_that_holds_no_token_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "token"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    with pytest.raises(ValueError, match="holds no token"):
        load_or_make_token(path)


def test_a_link_in_place_of_the_token_file_is_not_followed(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(StoreNotOpened, match="cannot be used"):
        load_or_make_token(path)
    assert not (tmp_path / "nowhere").exists()


def test_tokens_are_long_and_differ(tmp_path: Path) -> None:
    first, second = load_or_make_token(tmp_path / "a"), load_or_make_token(tmp_path / "b")
    assert first != second
    assert re.fullmatch(r"[\w-]{43}", first)


def test_a_port_in_use_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = call("serve", "--no-token", "--port", str(taken.getsockname()[1]), "--json")
    assert (ran.code, "in use" in ran.error["problem"]) == (2, True)
    assert "--port" in ran.error["way_out"]


def test_a_store_that_cannot_be_opened_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "broken.db").write_bytes(b"this is no store" * 1000)
    ran = call("serve", "--no-token", "--port", "0", "--json", "--store", str(tmp_path / "broken.db"))
    assert (ran.code, ran.error["kind"]) == (4, "StoreCorrupt")


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "HTTP_PACKAGES", ("no_such_package",))
    ran = call("serve", "--json")
    assert (ran.code, "[serve]" in ran.error["way_out"]) == (2, True)


def test_no_other_command_loads_the_server() -> None:
    program = "import sys; from cofire.cli.main import main; main(['stats']); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ)
    assert SERVER & set(ran.stdout.split()) == set()
