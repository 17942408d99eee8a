"""Measured figures come into the page on benchmarks, and nothing else changes there."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import report
from cofire.evaluation import provenance
from cofire.index import native
from tests.benchmarks.making import NOTES, QUESTIONS, write_set
from tests.benchmarks.measuring import figures_of

PLACES = "Before.\n<!-- quality -->\nold\n<!-- end of quality -->\nBetween.\n<!-- speed -->kept<!-- end of speed -->\n"
RUN: dict[str, Any] = {
    "cofire": "1.0",
    "commit": None,
    "modified": False,
    "measured": "2026-03-01T12:00:00+00:00",
    "machine": {"cpu": "a processor", "cores": 2, "load": 0.5, "python": "3.11.7"},
}


def test_a_table_takes_its_place(tmp_path: Path) -> None:
    write_set(tmp_path / "sets" / "notes", NOTES, QUESTIONS)
    figures, page = tmp_path / "quality.json", tmp_path / "page.md"
    provenance.write_json(figures_of(tmp_path / "sets", arms=["bm25", "dense"]), figures)
    page.write_text(PLACES, encoding="utf-8")
    report.main(["--quality", str(figures), "--page", str(page)])
    written = page.read_text(encoding="utf-8")
    assert "| notes | one | 2 | 50.0 | 100.0 |" in written
    assert "old" not in written
    assert "Between.\n<!-- speed -->kept<!-- end of speed -->\n" in written


def test_the_page_has_a_place_for_every_table(tmp_path: Path) -> None:
    page = report.PAGE.read_text(encoding="utf-8")
    for name in ("quality", "speed", "processes"):
        assert "table of this test" in report.replaced(page, name, "table of this test")


def test_a_page_without_a_place_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for speed"):
        report.replaced("Nothing here.", "speed", "table")


def test_violations_of_every_run_are_told(tmp_path: Path) -> None:
    run = {**RUN, "writers": 2, "readers": 2, "seconds": 60.0, "stored": 1_234, "writes_a_second": 9.5}
    run |= {"recalls_a_second": 80.0, "remember_one_ms": {"median": 8.0, "p99": 90.0}, "recall_ms": {}}
    files = []
    for name, more in (("peace", {"killed": 0, "violations": []}), ("kill", {"killed": 7, "violations": ["lost"]})):
        files.append(tmp_path / f"{name}.json")
        files[-1].write_text(json.dumps(run | more), encoding="utf-8")
    table = report.processes([report.read(file) for file in files])
    assert "|  | none killed | 7 killed |" in table
    assert "| violations | 0 | 1 |" in table


def test_figures_say_which_code_they_are_of() -> None:
    figures = {**RUN, "facts": 1_000, "figures": []}
    assert report.speed(figures).startswith("A store of 1,000 facts. Measured 2026-03-01 with cofire 1.0 (no commit)")


def test_figures_tell_whether_kernels_were_compiled() -> None:
    known = {"cofire": "1", "commit": None, "modified": False, "machine": provenance.describe_machine()}
    said = {True: "numpy kernels", False: "compiled kernels"}[native.LIBRARY is None]
    assert provenance.format_provenance(known).endswith(said)
