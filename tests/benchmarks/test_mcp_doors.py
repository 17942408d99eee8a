"""The measurement of the MCP door runs, and tells all it promises."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import mcp_doors


@pytest.mark.slow
def test_a_small_run_keeps_every_fact_and_writes_its_figures(tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    assert mcp_doors.main(["--rounds", "1", "--clients", "2", "--facts", "2", "--out", str(out)]) == 0
    figures = json.loads(out.read_text(encoding="utf-8"))
    assert figures["facts_told"] == figures["facts_kept"] == 4
    assert 0 < figures["listing_tokens"] <= 1_500
    assert figures["start_to_list_s"] > 0
