"""An edge needs a kind."""

from __future__ import annotations

from typing import Any

import pytest

from cofire import Memory
from cofire.errors import InvalidInput


@pytest.mark.parametrize("kind", ["", " ", None])
def test_an_edge_without_a_kind_is_refused(kind: Any) -> None:
    with Memory(":memory:", embedder=None) as memory:
        first, second = memory.remember(["Tea.", "Milk."])
        with pytest.raises(InvalidInput, match=r"kind cannot be .*Name the kind of the edge"):
            memory.connect(first, second, kind=kind)
        assert memory.edges(origin="user") == []


def test_undo_without_a_receipt_says_why_there_is_none() -> None:
    with Memory(":memory:", embedder=None) as memory:
        forgotten = memory.forget(memory.remember("Tea."), purge=True)
        with pytest.raises(InvalidInput, match="There is no receipt"):
            memory.undo(forgotten.receipt)
