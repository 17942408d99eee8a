"""Three ways to call the command line: in this process, in one of its own, and in one that sits at a terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from cofire import Memory
from cofire.doors.cli.main import main
from cofire.model import Fact
from scripts.house import ROOT

PROGRAM = (sys.executable, "-m", "cofire")


@dataclass(frozen=True)
class Ran:
    """How a call ended, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, str]:
        found: dict[str, str] = json.loads(self.err)["error"]
        return found


@dataclass(frozen=True)
class Store:
    """A store to look into from behind."""

    path: Path

    def facts(self, **filters: Any) -> list[Fact]:
        with Memory(self.path, embedder=None) as memory:
            return memory.facts(**filters)

    @property
    def texts(self) -> set[str]:
        return {fact.text for fact in self.facts()}

    def holds(self, *texts: str, **common: Any) -> list[str]:
        """Remember these, and return their ids."""
        with Memory(self.path, embedder=None) as memory:
            return memory.remember(list(texts), **common)


def call(*arguments: str, given: str | bytes | None = None) -> Ran:
    """Call the command line in this process; quick."""
    with CliRunner().isolation(input=given) as (out, err, _):
        code = main(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        return Ran(code, out.getvalue().decode(), err.getvalue().decode())


def call_process(*arguments: str, given: bytes = b"", **environment: str) -> Ran:
    """Call the command line in a process of its own, with pipes."""
    ran = subprocess.run(
        [*PROGRAM, *arguments], input=given, capture_output=True, env=_environment(environment), check=False
    )
    return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())


def start_process(*arguments: str, **streams: Any) -> subprocess.Popen[bytes]:
    """Begin a call in a process of its own."""
    return subprocess.Popen([*PROGRAM, *arguments], env=_environment({}), **streams)


def call_at_terminal(*arguments: str, typed: str = "", **environment: str) -> Ran:
    """Call the command line in a process that sits at a terminal; what it writes is seen together."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*PROGRAM, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=_environment(environment),
        start_new_session=True,
    ) as process:
        os.close(theirs)
        os.write(ours, typed.encode())
        seen = _read_all(ours)
        os.close(ours)
        code = process.wait(timeout=60)
    return Ran(code, seen.replace("\r\n", "\n"), "")


def _read_all(terminal: int) -> str:
    seen = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # how Linux says that nobody holds the other end any more
            return seen.decode()
        if not piece:
            return seen.decode()
        seen += piece


def _environment(changes: dict[str, str]) -> dict[str, str]:
    inherited = {
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
        "TERM": "xterm-256color",
    }
    return {**os.environ, **inherited, **changes}
