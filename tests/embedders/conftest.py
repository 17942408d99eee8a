"""Shared by the embedder tests: the bundled model, loaded once, and a server with prepared replies."""

from collections.abc import Iterator

import pytest

from cofire.embedders.bundled import BundledEmbedder
from tests.embedders.embedding_server import EmbeddingServer


@pytest.fixture(scope="session")
def bundled() -> Iterator[BundledEmbedder]:
    embedder = BundledEmbedder()
    yield embedder
    embedder.close()


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer.running() as server:
        yield server


@pytest.fixture
def sleeps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits of the code under test, written down instead of waited for."""
    waited: list[float] = []
    monkeypatch.setattr("cofire.embedders.http_client.sleep", waited.append)
    return waited
