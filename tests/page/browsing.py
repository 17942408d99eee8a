"""A browser that plays the scenarios of web/browser, one after the other. A real one: Node and Chromium."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from scripts.house import ROOT
from scripts.screenshots import BROWSER, chromium, heard, running

WEB = ROOT / "web"
PAGE = ROOT / "src" / "cofire" / "http" / "page" / "index.html"
_SENTENCE = re.compile(r'^  "(?P<sentence>[^"]+)": (?:async )?\(', re.MULTILINE)


def missing() -> str:
    """What a browser test would need and does not find; empty when all is there."""
    needs = {
        "Node.js": shutil.which("node"),
        "Chromium": chromium(),
        "playwright-core (npm --prefix web ci)": (WEB / "node_modules" / "playwright-core").is_dir(),
        "built page (npm --prefix web run build)": PAGE.is_file(),
    }
    return ", no ".join(name for name, found in needs.items() if not found)


def sentences(file: str) -> list[str]:
    """The sentences of a file of scenarios, in order."""
    return _SENTENCE.findall((BROWSER / f"{file}.mjs").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Browser:
    """A running browser, which plays one scenario at a time."""

    player: subprocess.Popen[str]
    addresses: Mapping[str, str]

    def play(self, file: str, sentence: str) -> None:
        """Play a scenario; what goes wrong fails the test in its own words."""
        assert self.player.stdin is not None
        scenario = {"file": file, "sentence": sentence, "addresses": dict(self.addresses)}
        self.player.stdin.write(json.dumps(scenario) + "\n")
        self.player.stdin.flush()
        said = heard(self.player)
        assert said["ok"], said["said"]


@contextmanager
def open_browser(addresses: Mapping[str, str]) -> Iterator[Browser]:
    with running(["node", str(BROWSER / "play.mjs"), chromium()], os.environ) as player:
        assert heard(player)["ok"]
        yield Browser(player, addresses)
