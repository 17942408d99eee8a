"""Links of an earlier moment, from the tables: the arrays in memory know only what is linked now."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from cofire.stores.base import Conducting, Expansion
from cofire.stores.expanding import expansion, other
from cofire.stores.index import looking
from cofire.stores.index.index import Index
from cofire.stores.sqlite import graph_reading
from cofire.stores.sqlite.live_index import LiveIndex

EVERY_LINK = 1_000_000


def expand(
    connection: apsw.Connection, live: LiveIndex, index: Index, ids: Sequence[str], conducting: Conducting
) -> Expansion:
    """The links that left these facts at the moment of the filter, over edges that had come by then and had not ended."""
    wanted = tuple(dict.fromkeys(ids))
    links = {id: graph_reading.links(connection, id, EVERY_LINK, conducting.where.as_of) for id in wanted}
    near = list(dict.fromkeys(other(id, link) for id, found in links.items() for link in found))
    positions = live.positions(connection, near)
    seen = positions[live.admitted(connection, conducting.where)[positions]]
    order = index.columns["hash"][seen].tolist()
    return expansion(wanted, links, conducting, dict(zip(looking.ids_of(index, seen), order, strict=True)))
