"""The OpenAPI file is complete and true: schemathesis compares it with the running server, in all its phases and with all its
checks."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from cofire import AsyncMemory
from cofire.http import routes
from cofire.http.errors import STATUS_DESCRIPTIONS
from cofire.http.server import make_api
from scripts.house import ROOT
from tests.interfaces.http.conftest import Served
from tests.interfaces.http.serving import TOKEN

ROUTES = Path(routes.__file__).parent
PAGE = ROOT / "docs" / "how-to" / "serve-over-http.md"
SETTINGS = Path(__file__).with_name("schemathesis.toml")
SCHEMATHESIS = "import sys; from schemathesis.cli import schemathesis; sys.exit(schemathesis())"
API = make_api(guarded=True).openapi()
OPERATIONS = {
    operation["operationId"]: operation for operations in API["paths"].values() for operation in operations.values()
}


def bodies(operation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The content of the request and of every response."""
    for part in (operation.get("requestBody", {"content": {}}), *operation["responses"].values()):
        yield from part["content"].values()


@pytest.mark.slow
def test_schemathesis_finds_nothing(served: Served, tmp_path: Path) -> None:
    address = f"{served.url}/api/v1/openapi.json"
    options = ["-H", f"Authorization: Bearer {TOKEN}", "--no-color"]
    ran = subprocess.run(
        [sys.executable, "-c", SCHEMATHESIS, "--config-file", str(SETTINGS), "run", address, *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr
    assert "35 selected / 35 total" in ran.stdout, ran.stdout


def test_operations_have_names_that_a_client_can_use() -> None:
    assert len(OPERATIONS) == 35
    assert {"recall", "remember", "why", "explore", "facts", "dream", "connect", "configure"} <= set(OPERATIONS)
    assert [name for name in OPERATIONS if not re.fullmatch(r"[a-z]+(_[a-z]+)?", name)] == []


def test_every_tag_is_described_and_the_server_is_named() -> None:
    described = {tag["name"] for tag in API["tags"] if tag["description"]}
    assert {tag for operation in OPERATIONS.values() for tag in operation["tags"]} == described
    assert [server["url"] for server in API["servers"]] == ["/"]


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_says_what_it_does_and_how_it_may_be_refused(name: str) -> None:
    assert OPERATIONS[name]["description"]
    assert set(OPERATIONS[name]["responses"]) == {"200", *map(str, STATUS_DESCRIPTIONS)}


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_parameter_is_described(name: str) -> None:
    assert [
        parameter["name"] for parameter in OPERATIONS[name].get("parameters", ()) if not parameter["description"]
    ] == []


@pytest.mark.parametrize("name", API["components"]["schemas"])
def test_every_shape_and_every_field_is_described(name: str) -> None:
    schema = API["components"]["schemas"][name]
    assert schema["description"]
    assert [field for field, inner in schema["properties"].items() if not inner["description"]] == []


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_body_has_an_example_of_its_shape(name: str) -> None:
    for content in bodies(OPERATIONS[name]):
        schema = {**content["schema"], "components": API["components"]}
        jsonschema_rs.validator_for(schema).validate(content["example"])


def test_the_page_names_every_verb_without_a_route() -> None:
    """A verb has a route if a route calls it, or has its name."""
    verbs = {name for name, member in vars(AsyncMemory).items() if callable(member) and not name.startswith("_")}
    code = "".join(path.read_text(encoding="utf-8") for path in ROUTES.glob("*.py"))
    without = verbs - set(OPERATIONS) - set(re.findall(r"memory\.(\w+)\(", code)) - {"close"}
    section = PAGE.read_text(encoding="utf-8").partition("## What has no route")[2].partition("\n## ")[0]
    assert verbs & set(re.findall(r"`(\w+)`", section)) == without


def test_every_operation_but_health_asks_for_the_token() -> None:
    assert [name for name, operation in OPERATIONS.items() if "security" not in operation] == ["health"]
    paths = make_api(guarded=False).openapi()["paths"]
    assert all("security" not in operation for methods in paths.values() for operation in methods.values())
