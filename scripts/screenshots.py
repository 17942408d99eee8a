"""Make the screenshots of the documentation, with a real server and a real browser.

python -m scripts.screenshots
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scripts import team_story
from scripts.house import ROOT

BROWSER = ROOT / "web" / "browser"
IMAGES = ROOT / "docs" / "images"


def main() -> None:
    """Write all screenshots."""
    IMAGES.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        store = Path(folder) / "team.db"
        team_story.tell(store)
        with served(store, Path(folder)) as address:
            subprocess.run(["node", str(BROWSER / "screenshots.mjs"), chromium(), address, str(IMAGES)], check=True)


def chromium() -> str:
    """The path of Chromium; empty if it is not installed."""
    return shutil.which("chromium") or ""


@contextmanager
def served(store: Path, home: Path) -> Iterator[str]:
    """Run `cofire serve` on a free port and yield its address with the token."""
    environment = {**os.environ, "XDG_DATA_HOME": str(home)}
    command = [sys.executable, "-m", "cofire", "serve", "--store", str(store), "--port", "0", "--json"]
    with running(command, environment) as server:
        yield heard(server)["open"]


@contextmanager
def running(command: list[str], environment: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Run a process with pipes; terminate it at the end of the block."""
    with subprocess.Popen(
        command, env=dict(environment), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


def heard(process: subprocess.Popen[str]) -> dict[str, Any]:
    """The next JSON object that a process prints, on one line or on several."""
    assert process.stdout is not None
    lines: list[str] = []
    while not lines or not lines[-1].rstrip().endswith("}"):
        lines.append(process.stdout.readline())
        if not lines[-1]:
            raise RuntimeError(f"{process.args!r} ended with {process.wait()}")
    said: dict[str, Any] = json.loads("".join(lines))
    return said


if __name__ == "__main__":
    main()
