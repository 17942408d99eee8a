"""The pen that tests of stores write with."""

from __future__ import annotations

import pytest

from cofire.stores.base import Store
from tests.stores.making import Pen


@pytest.fixture
def pen(store: Store) -> Pen:
    return Pen(store)
