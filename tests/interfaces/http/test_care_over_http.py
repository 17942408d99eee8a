"""The memory as a whole over HTTP: health, stats, scopes, settings, the guide, shadows; and a store that fails."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

import cofire
from cofire.errors import CofireError
from cofire.guide import VERB_GUIDES
from cofire.http.errors import STATUS_BY_ERROR, make_refusal
from cofire.settings.knobs import KNOBS
from cofire.settings.table import EMBEDDER_NAME
from tests.interfaces.http.conftest import Served
from tests.interfaces.http.serving import client, error, running


def test_health_needs_no_token(served: Served) -> None:
    assert httpx.get(f"{served.url}/api/v1/health").json() == {"ok": True, "version": cofire.__version__}


def test_stats_and_scopes_count(served: Served) -> None:
    stats = served.api.get("/stats").json()
    assert (stats["facts"], stats["waiting"], stats["mode"]) == (3, 3, "words only (no embedder)")
    assert served.api.get("/scopes").json() == {"scopes": {"default": 3}}


def test_the_guide_has_every_page_and_each_by_itself(served: Served) -> None:
    assert [page["verb"] for page in served.api.get("/guide").json()["pages"]] == list(VERB_GUIDES)
    assert [page["verb"] for page in served.api.get("/guide/dream").json()["pages"]] == ["dream"]
    answer = served.api.get("/guide/dreem")
    assert (answer.status_code, "dream" in error(answer)["way_out"]) == (404, True)


def test_there_is_no_shadow_yet(served: Served) -> None:
    assert served.api.get("/shadow").json()["count"] == 0
    assert served.api.get("/shadow", params={"kind": "assist"}).json()["count"] == 0


def test_every_setting_is_listed_with_what_a_form_needs(served: Served) -> None:
    settings = {one["name"]: one for one in served.api.get("/settings").json()["settings"]}
    assert set(settings) == set(KNOBS)
    assert settings["keyword.k1"]["kind"] == "number"
    assert (settings["keyword.k1"]["low"], settings["keyword.k1"]["high"]) == (0, 10)
    assert "rrf" in settings["fusion.method"]["choices"]
    assert (settings["snapshots.folder"]["settable"], settings["recall.k"]["settable"]) == (False, True)


def test_a_setting_is_kept_in_the_store_until_it_is_taken_out(served: Served) -> None:
    kept = served.api.put("/settings/recall.k", json={"value": 1}).json()
    assert (kept["value"], kept["layer"]) == (1, "store")
    assert len(served.api.post("/recall", json={"query": "What runs in transaction mode?"}).json()["hits"]) == 1
    reset = served.api.delete("/settings/recall.k").json()
    assert (reset["value"], reset["layer"]) == (10, "default")


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("recall.k", "3", 400),
        ("recall.k", 0, 400),
        ("recall.k", True, 400),
        ("recall.kk", 3, 404),
        ("snapshots.folder", "elsewhere", 400),
        ("embedder.name", "sentence-transformers:evil", 400),
        ("store.busy_seconds", 3, 400),
    ],
)
def test_a_setting_that_cannot_be_is_refused(served: Served, name: str, value: object, status: int) -> None:
    answer = served.api.put(f"/settings/{name}", json={"value": value})
    assert (answer.status_code, name.removesuffix("k") in error(answer)["problem"]) == (status, True)


def test_a_preset_with_another_embedder_waits_for_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(EMBEDDER_NAME.variable)
    with running(tmp_path / "memory.db") as url, client(url) as api:
        refused = api.put("/settings/preset", json={"value": "words-only"})
        assert (refused.status_code, "embedder.name" in error(refused)["problem"]) == (400, True)
        assert "cofire config preset words-only --in-store" in error(refused)["way_out"]
        assert api.put("/settings/preset", json={"value": "balanced"}).json()["value"] == "balanced"
        assert api.delete("/settings/preset").json()["value"] == "default"


def test_a_preset_without_embedder_is_not_left_while_the_server_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(EMBEDDER_NAME.variable)
    path = tmp_path / "memory.db"
    with cofire.Memory(path, embedder=None) as memory:
        memory.configure("preset", "words-only")
    with running(path) as url, client(url) as api:
        assert api.put("/settings/preset", json={"value": "words-only"}).status_code == 200
        for left in (api.put("/settings/preset", json={"value": "default"}), api.delete("/settings/preset")):
            assert (left.status_code, "embedder.name" in error(left)["problem"]) == (400, True)
        assert api.get("/stats").json()["mode"] == "words only (no embedder)"


def test_what_cannot_be_set_from_outside_cannot_be_taken_out_either(served: Served) -> None:
    refused = served.api.delete("/settings/embedder.name")
    assert (refused.status_code, "reset embedder.name --in-store" in error(refused)["way_out"]) == (400, True)


def test_a_store_that_fails_is_never_an_empty_answer(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with cofire.Memory(path, embedder=None) as memory:
        memory.remember("Tea is at four.")
    with running(path) as url, client(url) as api:
        assert api.get("/stats").status_code == 200
        path.write_bytes(b"this is no store" * 1000)
        answer = api.get("/facts")
        assert (answer.status_code, error(answer)["kind"]) == (503, "StoreCorrupt")


def test_every_error_of_cofire_has_a_status() -> None:
    def kinds(above: type[CofireError]) -> list[type[CofireError]]:
        return [above, *(one for below in above.__subclasses__() for one in kinds(below))]

    given = {kind.__name__: make_refusal(kind("It is so.", way_out="Do this.")).status for kind in kinds(CofireError)}
    assert set(given.values()) == set(STATUS_BY_ERROR.values())
    assert given["StoreFull"] == given["EmbedderFailed"] == 503
    assert (given["InvalidFact"], given["UnknownSetting"], given["Conflict"]) == (400, 404, 409)
