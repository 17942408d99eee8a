"""The benchmark of activation measures each dynamics on every graph, and the graphs are what it says."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import activation
from cofire.settings.table import ACTIVATION_DYNAMICS, Settings
from cofire.stores.base import EdgeFilter
from cofire.stores.sqlite.store import SqliteStore


@pytest.mark.slow
def test_every_dynamics_is_measured_on_every_graph(tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    assert activation.main(["--edges", "200", "400", "--hub", "50", "--rounds", "2", "--out", str(out)]) == 0
    graphs = json.loads(out.read_text(encoding="utf-8"))["graphs"]
    assert list(graphs) == ["200 edges", "400 edges", "a hub of 50"]
    for figures in graphs.values():
        named = {figure["name"] for figure in figures}
        assert named >= {*activation.dynamics(Settings.layered()), "expand, stored edges", "expand after one edge more"}
        assert all(0 < figure["least"] <= figure["value"] <= figure["most"] for figure in figures)


def test_all_dynamics_but_the_walk_over_names_are_there() -> None:
    assert {"cofire", *activation.dynamics(Settings.layered())} == set(ACTIVATION_DYNAMICS.choices)


def test_a_hub_is_linked_with_all_others(tmp_path: Path) -> None:
    spokes = np.array([[0, 1], [0, 2], [0, 3]])
    ids = activation.written(str(tmp_path), 4, spokes, np.random.default_rng(1))
    store = SqliteStore.open(str(tmp_path / "graph.db"), activation.OPTIONS)
    assert {edge.target for edge in store.list_edges(EdgeFilter(), 10)} == set(ids[1:])
    store.close()
