"""`cofire doctor`: what is well, what is not, and the way out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import cofire
from cofire.index import native
from cofire.interfaces import installation
from cofire.stores.sqlite.schema import MIGRATIONS
from tests.interfaces.calling import Store, call, call_process


def findings(*arguments: str) -> dict[str, dict[str, Any]]:
    ran = call("doctor", "--json", *arguments)
    assert ran.code in (0, 1), ran.err
    return {one["about"]: one for one in json.loads(ran.out)["findings"]}


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are in use, whether this machine could build them or not."""
    monkeypatch.setattr(native, "LIBRARY", native.LIBRARY or object())


def test_healthy_memory_is_well_in_every_respect(store: Store, compiled: None) -> None:
    store.holds("Tea is at four.")
    ran = call("doctor")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.splitlines()] == ["ok"] * len(ran.out.splitlines())
    found = findings()
    assert found["cofire"]["says"] == cofire.__version__
    assert f"schema {len(MIGRATIONS)}, 1 fact" in found["store"]["says"]
    assert "keywords only" in found["embedder"]["says"]
    assert {"Python", "SQLite", "integrity", "disk", "settings file"} <= set(found)


def test_kernels_in_use_are_named_by_their_file(compiled: None) -> None:
    found = findings()["kernels"]
    assert (found["state"], found["says"]) == ("ok", f"compiled code is in use ({native.FILE})")


def test_kernels_that_are_switched_off_are_told_with_the_switch() -> None:
    ran = call_process("doctor", "--json", COFIRE_KERNELS="off")
    [found] = [one for one in ran.json["findings"] if one["about"] == "kernels"]
    assert found["state"] == "ok"
    assert "disabled by COFIRE_KERNELS" in found["says"]
    assert "Unset it" in found["says"]


def test_kernels_that_were_not_built_are_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "LIBRARY", None)
    monkeypatch.setattr(native, "library_path", lambda: tmp_path / native.FILE)
    found = findings()["kernels"]
    assert (found["state"], found["says"]) == ("warning", "compiled code is missing; numpy is used, which is slower")
    assert "a C compiler" in found["way_out"]
    assert call("doctor").code == 0


def test_kernels_that_cannot_be_loaded_are_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / native.FILE).touch()
    monkeypatch.setattr(native, "LIBRARY", None)
    monkeypatch.setattr(native, "library_path", lambda: tmp_path / native.FILE)
    found = findings()["kernels"]
    assert (found["state"], found["way_out"]) == ("warning", "Reinstall cofire.")
    assert "does not match this version or machine" in found["says"]


def test_doctor_makes_no_store(store: Store) -> None:
    assert "does not exist yet" in findings()["store"]["says"]
    assert not store.path.exists()


def test_settings_that_are_changed_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    call("config", "set", "keyword.k1", "1.2")
    assert findings()["settings"]["says"] == "keyword.k1 from the file; embedder.name from the environment"


def test_settings_at_their_default_are_not_named_as_changed() -> None:
    call("config", "preset", "default")
    assert findings()["settings"]["says"] == "embedder.name from the environment"


def test_embedder_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFIRE_EMBEDDER_NAME", "bundled")
    assert "bundled works" in findings()["embedder"]["says"]


def test_embedder_that_does_not_work_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFIRE_EMBEDDER_NAME", "ollama:nobody@http://127.0.0.1:9")
    assert call("doctor").code == 1
    found = findings()["embedder"]
    assert found["state"] == "problem"
    assert found["way_out"]


def test_facts_without_vectors_are_a_warning(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFIRE_EMBEDDER_NAME", "bundled")
    call("remember", "Tea is at four.")
    store.holds("Coffee is at ten.")
    found = findings()["model"]
    assert (found["state"], found["way_out"]) == ("warning", "Embed them with: cofire reembed")
    assert call("doctor").code == 0


def test_file_that_is_no_store_is_a_problem_and_the_rest_is_still_looked_at(tmp_path: Path) -> None:
    (tmp_path / "letter.db").write_text("Dear Ana, " * 1_000, encoding="utf-8")
    found = findings("--store", str(tmp_path / "letter.db"))
    assert found["store"]["state"] == "problem"
    assert found["store"]["way_out"]
    assert found["disk"]["state"] == "ok"


def test_bad_settings_are_a_problem(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[keyword]\nk1 = 99\n", encoding="utf-8")
    assert findings()["settings"]["state"] == "problem"


def test_broken_settings_file_is_one_problem_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[keyword]\nbad = [\n", encoding="utf-8")
    found = findings()
    assert [about for about, one in found.items() if one["state"] == "problem"] == ["settings"]
    assert found["settings"]["says"].count(f"The settings file {tmp_path / 'config.toml'} cannot be used") == 1
    assert "line 2" in found["settings"]["says"]
    assert "Then run cofire doctor again" in found["settings"]["way_out"]
    assert found.keys() == {"Python", "cofire", "kernels", "page", "settings", "disk"}
    assert call("doctor").code == 1


def test_facts_whose_reading_failed_are_counted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> object:
        raise ValueError("not enough values to unpack")

    monkeypatch.setattr("cofire.text.rule_reader.find_subjects", fail)
    (id,) = store.holds("Tea is at four.")
    found = findings()["reading"]
    assert found["state"] == "warning"
    assert "failed on 1 fact (subjects 1)" in found["says"]
    assert found["way_out"].endswith(f"cofire show {id}")


def test_the_page_is_named_when_it_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "index.html").touch()
    monkeypatch.setattr(installation, "PAGE_FOLDER", tmp_path)
    assert findings()["page"]["state"] == "ok"


def test_a_page_that_is_missing_is_a_warning_without_npm_for_an_installed_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "PAGE_FOLDER", tmp_path)
    monkeypatch.setattr(installation, "PACKAGE_FOLDER", tmp_path / "site-packages" / "cofire")
    finding = findings()["page"]
    assert finding["state"] == "warning"
    assert finding["way_out"] == "Reinstall cofire from a wheel or an sdist that contains the page."
