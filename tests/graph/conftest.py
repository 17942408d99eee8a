"""A memory whose threshold for auto-links is the documented one, on every store."""

from __future__ import annotations

import pytest

from cofire import Memory
from tests.conftest import HashedWords, Opening


@pytest.fixture
def memory(open_memory: Opening, embedder: HashedWords) -> Memory:
    return open_memory(embedder, settings={"auto_link.threshold": 0.7})
