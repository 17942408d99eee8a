"""Three ways to call the command line: in this process, in one of its own, and in one that sits at a terminal."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from cofire import Memory
from cofire.cli.main import main
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


def start_process(
    *arguments: str, environment: dict[str, str] | None = None, **streams: Any
) -> subprocess.Popen[bytes]:
    """Begin a call in a process of its own."""
    return subprocess.Popen(
        [*PROGRAM, *arguments],
        env=_environment(environment or {}),
        preexec_fn=_hear_interrupts,  # noqa: PLW1509 - nothing but a signal is set
        **streams,
    )


def _hear_interrupts() -> None:
    """Whoever runs the tests in the background may have told their children not to hear Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def call_at_terminal(*arguments: str, typed: str = "", **environment: str) -> Ran:
    """Call the command line in a process that sits at a terminal; what it writes is seen together."""
    process, terminal = _start_at_terminal(arguments, environment)
    os.write(terminal, typed.encode())
    return _ended(process, terminal, _read(terminal))


def interrupt_at_terminal(*arguments: str, when: str) -> Ran:
    """The same, stopped by SIGINT as soon as it says something.

    A signal that comes in the moment before a read begins is noted, and the read waits all the same; so it is sent again.
    """
    process, terminal = _start_at_terminal(arguments, {})
    seen = _read(terminal, until=when)
    process.send_signal(signal.SIGINT)
    while not select.select([terminal], [], [], 2.0)[0] and process.poll() is None:
        process.send_signal(signal.SIGINT)
    return _ended(process, terminal, seen + _read(terminal))


def _start_at_terminal(arguments: Sequence[str], environment: dict[str, str]) -> tuple[subprocess.Popen[bytes], int]:
    ours, theirs = pty.openpty()
    process = start_process(*arguments, environment=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    return process, ours


def _ended(process: subprocess.Popen[bytes], terminal: int, seen: bytes) -> Ran:
    os.close(terminal)
    return Ran(process.wait(timeout=60), seen.decode().replace("\r\n", "\n"), "")


def _read(terminal: int, until: str | None = None) -> bytes:
    """What is written to a terminal, until some words are seen or nobody holds the other end."""
    seen = b""
    while until is None or until.encode() not in seen:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # how Linux says that the other end is closed
            return seen
        if not piece:
            return seen
        seen += piece
    return seen


def _environment(changes: dict[str, str]) -> dict[str, str]:
    inherited = {
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
        "TERM": "xterm-256color",
    }
    return {**os.environ, **inherited, **changes}
