"""The OpenAPI file is true: schemathesis compares it with the running server, in all its phases and with all its checks."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cofire import AsyncMemory
from cofire.http import application
from cofire.http.application import make_api
from cofire.http.routing import ERROR_DESCRIPTIONS
from scripts.house import ROOT
from tests.interfaces.http.conftest import Served
from tests.interfaces.http.serving import TOKEN

ROUTES = Path(application.__file__).parent
PAGE = ROOT / "docs" / "how-to" / "serve-over-http.md"
SETTINGS = Path(__file__).with_name("schemathesis.toml")
SCHEMATHESIS = "import sys; from schemathesis.cli import schemathesis; sys.exit(schemathesis())"


@pytest.mark.slow
def test_schemathesis_finds_nothing(served: Served, tmp_path: Path) -> None:
    address = f"{served.url}/api/v1/openapi.json"
    told = ["-H", f"Authorization: Bearer {TOKEN}", "--no-color"]
    ran = subprocess.run(
        [sys.executable, "-c", SCHEMATHESIS, "--config-file", str(SETTINGS), "run", address, *told],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr
    assert "35 selected / 35 total" in ran.stdout, ran.stdout


def test_every_operation_says_what_it_does_and_how_it_may_be_refused() -> None:
    for path, ways in make_api(guarded=True).openapi()["paths"].items():
        for method, one in ways.items():
            assert one["description"], f"{method} {path}"
            assert set(one["responses"]) == {"200", *map(str, ERROR_DESCRIPTIONS)}, f"{method} {path}"


def test_the_page_names_every_verb_without_a_route() -> None:
    """A verb has a route if a route calls it, or bears its name."""
    verbs = {name for name, one in vars(AsyncMemory).items() if callable(one) and not name.startswith("_")}
    code = "".join(path.read_text(encoding="utf-8") for path in ROUTES.glob("*.py"))
    paths = {path.split("/")[3] for path in make_api(guarded=True).openapi()["paths"]}
    without = verbs - paths - set(re.findall(r"memory\.(\w+)\(", code)) - {"close"}
    told = PAGE.read_text(encoding="utf-8").partition("## What has no route")[2].partition("\n## ")[0]
    assert verbs & set(re.findall(r"`(\w+)`", told)) == without


def test_every_operation_but_health_asks_for_the_token() -> None:
    paths = make_api(guarded=True).openapi()["paths"]
    unguarded = [path for path, ways in paths.items() for one in ways.values() if "security" not in one]
    assert unguarded == ["/api/v1/health"]
    assert all(
        "security" not in one for ways in make_api(guarded=False).openapi()["paths"].values() for one in ways.values()
    )
