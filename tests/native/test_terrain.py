"""Terrain: compiled code makes the same rows and wires of what is read as numpy does, reading by reading."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cofire.recall.energy_paths import _make_tag_conductance
from cofire.recall.spreading import DIFFUSION_CONDUCTANCE, SYNAPSE_CONDUCTANCE
from cofire.recall.subgraph import ConductanceRule, Subgraph
from cofire.stores.base import ExpansionOptions
from cofire.stores.sqlite.store import SqliteStore
from tests.native.test_links import conductings, seeds, tied, written
from tests.native.twins import NEEDS_LIBRARY, both

pytestmark = NEEDS_LIBRARY

WIRINGS = {
    "fan": SYNAPSE_CONDUCTANCE,
    "trust": DIFFUSION_CONDUCTANCE,
    "tags": _make_tag_conductance(frozenset({"one", "three"}), 0.15),
    "no tags": _make_tag_conductance(frozenset(), 0.15),
}


def walked(
    store: SqliteStore, first: list[str], wiring: ConductanceRule, conducting: ExpansionOptions, most: int
) -> list[object]:
    """All that is known after each of three readings, each of some that were not read yet."""
    terrain, told = Subgraph.of(first, wiring), list[object]()
    rows, needs = np.arange(len(first)), None
    for _ in range(3):
        found = store.expand(terrain.roster.at(rows), conducting, needs)
        terrain = terrain.grown(found, rows, needs)
        columns = (*terrain.wires.columns, terrain.around, terrain.least)
        told += [list(terrain.ids), *(column.tolist() for column in columns)]
        told += [terrain.link(number)[:3] for number in range(terrain.links)]
        rows = np.flatnonzero(np.isinf(terrain.least))[:most]
        needs = None if wiring is SYNAPSE_CONDUCTANCE else np.full(len(rows), 0.1)
        if not len(rows):
            break
    return told


@settings(max_examples=40)
@given(
    seed=seeds, few=tied, wiring=st.sampled_from(sorted(WIRINGS)), conducting=conductings, most=st.sampled_from([1, 5])
)
def test_what_is_read_becomes_the_same_wires(
    seed: int, few: bool, wiring: str, conducting: ExpansionOptions, most: int
) -> None:
    store, ids = written(np.random.default_rng(seed), 30, few=few)
    compiled, numpy = both("grow", lambda: walked(store, ids[:3], WIRINGS[wiring], conducting, most))
    assert compiled == numpy
    store.close()
