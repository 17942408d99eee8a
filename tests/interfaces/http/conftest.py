"""What the tests of the HTTP door share: a server with a few facts that hang together, and a client of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from cofire import Memory
from tests.interfaces.http.serving import client, running

TEXTS = (
    "PgBouncer runs in transaction mode.",
    "Serverless functions reach PostgreSQL through PgBouncer.",
    "Ana leads the Berlin office.",
)


@dataclass(frozen=True)
class Served:
    """A server, a client with its token, and the facts it holds."""

    url: str
    api: httpx.Client
    ids: list[str]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A server of a store with three facts, two of which share a name."""
    path = tmp_path / "memory.db"
    with Memory(path, embedder=None) as memory:
        ids = memory.remember(list(TEXTS), tags=["db"])
    with running(path) as url, client(url) as api:
        yield Served(url, api, ids)
