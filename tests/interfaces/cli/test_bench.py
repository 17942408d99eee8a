"""`cofire bench quality` measures sets from the command line, and its exit code says whether all is well."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cofire.evaluation import metrics
from scripts.reference import REFERENCE
from tests.benchmarks.making import NOTES, QUESTIONS, write_set
from tests.interfaces.calling import call
from tests.interfaces.cli.test_json_shapes import shape


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    write_set(tmp_path / "sets" / "notes", NOTES, QUESTIONS[:2])
    return tmp_path / "sets"


def test_tables_and_a_file_are_made(sets: Path, tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    ran = call("bench", "quality", str(sets), "--arms", "bm25,default", "--out", str(out))
    assert ran.code == 0, ran.err
    assert "notes (2)" in ran.out
    assert "R@5 interval" in ran.out
    figures = json.loads(out.read_text(encoding="utf-8"))
    assert figures["sets"]["notes"]["arms"]["bm25"]["all"]["R@5"] == 100.0
    assert figures["embedder"] is None


def test_every_arm_works_without_an_embedder(sets: Path) -> None:
    found = call("bench", "quality", str(sets), "--json").json["sets"]["notes"]["arms"]
    assert found["dense"]["all"]["R@10"] == 0.0
    assert found["default"]["all"]["R@10"] == 100.0


def test_json_is_as_described(sets: Path) -> None:
    page = (REFERENCE / "json.md").read_text(encoding="utf-8")
    [example] = re.findall(r"^## cofire bench quality\n.*?```json\n(.+?)```", page, flags=re.DOTALL | re.MULTILINE)
    told = call("bench", "quality", str(sets), "--arms", "default", "--json").json
    expected = json.loads(example)
    del told["sets"]["notes"]["arms"]["default"]["categories"]["two"]
    for one in (told, expected):
        one["settings"], one["commit"], one["sets"] = {}, "", list(one["sets"].values())
        one["embedder"] = None
    assert shape(told) == shape(expected)


def test_ablations_are_told(sets: Path) -> None:
    ran = call("bench", "quality", str(sets), "--ablate")
    assert ran.code == 0, ran.err
    assert "Points of R@5 lost without" in ran.out
    assert "feature about" in ran.out


def test_two_runs_are_compared(sets: Path, tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("a.json", "b.json")]
    for file, settings in zip(
        files, ([], ["--set", "keyword.enabled=false", "--set", "entity.enabled=false"]), strict=True
    ):
        call("bench", "quality", str(sets), "--arms", "default", "--out", file, *settings)
    ran = call("bench", "quality", "--compare", *files)
    assert ran.code == 0, ran.err
    assert "-100.00*" in ran.out
    told = call("bench", "quality", "--compare", *files, "--json").json
    assert told["sets"]["notes"]["arms"]["default"]["all"]["R@5"] == {
        "points": -100.0,
        "interval": [-100.0, -100.0],
        "beyond_chance": True,
    }


def test_it_ends_with_1_when_the_graph_does_harm(sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "find_harm", lambda *_, **__: ["R@5 is 0.60 lower than graph-off"])
    ran = call("bench", "quality", str(sets), "--arms", "graph-off,default")
    assert ran.code == 1
    assert "notes: the graph is harmful: R@5 is 0.60 lower than graph-off" in ran.err


def test_it_ends_with_1_when_a_channel_alone_is_better(sets: Path) -> None:
    silent = ["--set", "abstention.threshold=2", "--set", "abstention.lexical_threshold=1"]
    ran = call("bench", "quality", str(sets), "--arms", "bm25,default", *silent)
    assert ran.code == 1
    assert "worse than its better channel: R@5 0.0 < 100.0 of bm25" in ran.err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "No evaluation set was given."),
        (["nowhere"], "No corpus.jsonl with queries.jsonl in nowhere."),
        (["SETS", "--sets", "locomo"], "There is no set 'locomo'."),
        (["SETS", "--arms", "bm52"], "There is no arm 'bm52'."),
        (["--compare", "SETS", "SETS"], "cannot be read"),
        (["SETS", "--set", "keyword.k2=1"], "There is no setting 'keyword.k2'"),
    ],
)
def test_what_cannot_be_measured_is_refused(sets: Path, given: list[str], said: str) -> None:
    ran = call("bench", "quality", *(str(sets) if one == "SETS" else one for one in given))
    assert ran.code == 2
    assert said in ran.err
