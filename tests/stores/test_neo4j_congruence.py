"""Congruence on a server: the same operations on the reference, on SQLite and on Neo4j leave stores that answer alike."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings

from cofire.stores.base import Store
from tests.neo4j_server import empty_store
from tests.stores.test_congruence import TwoStores


class ThreeStores(TwoStores):
    """Does everything a third time, on a server."""

    def __init__(self) -> None:
        super().__init__()
        self.served: Store = empty_store()

    @property
    def others(self) -> list[Store]:
        return [self.sqlite, self.served]


# Without shrinking, which would ask the server thousands of questions; the history that fails is told all the same.
ThreeStores.TestCase.settings = settings(max_examples=4, stateful_step_count=12, phases=[Phase.generate])


@pytest.mark.slow
@pytest.mark.usefixtures("neo4j_url")
class TestAnyHistoryLeavesThreeStoresThatAnswerAlike(ThreeStores.TestCase):
    """Fewer histories than for two: every answer is a round trip."""
