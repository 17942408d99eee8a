"""The API of Ollama, and the forms of its address."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cofire.algorithms.vector_similarity import normalise_vectors
from cofire.embedders.base import Model
from cofire.embedders.ollama import Ollama, normalise_address
from cofire.errors import EmbedderFailed, EmbedderUnavailable
from tests.embedders.embedding_server import EmbeddingServer, Reply, unused_url, vector_of


@pytest.fixture
def embedder(server: EmbeddingServer) -> Iterator[Ollama]:
    embedder = Ollama("nomic-embed-text", host=server.url, question_prefix="search_query: ", batch=2)
    yield embedder
    embedder.close()


def test_texts_become_unit_vectors_in_their_order(embedder: Ollama) -> None:
    texts = ["first", "second", "third"]
    raw = np.array([vector_of(text, 8) for text in texts], np.float32)
    np.testing.assert_allclose(embedder.embed(texts, "fact"), normalise_vectors(raw), atol=1e-6)


def test_model_and_texts_are_posted_in_batches(embedder: Ollama, server: EmbeddingServer) -> None:
    embedder.embed(["a", "b", "c"], "question")
    assert [asked.path for asked in server.asked] == ["/api/embed", "/api/embed"]
    assert server.asked[0].body == {"model": "nomic-embed-text", "input": ["search_query: a", "search_query: b"]}
    assert server.asked[1].texts == ["search_query: c"]


def test_the_first_answer_tells_the_dimension(embedder: Ollama) -> None:
    assert embedder.model == Model("nomic-embed-text", 8)


def test_the_environment_says_where_it_is(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", f"0.0.0.0:{server.server_port}")
    embedder = Ollama("m")
    embedder.embed(["text"], "fact")
    embedder.close()
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        (" 0.0.0.0 ", "http://127.0.0.1:11434"),
        ("192.168.1.5", "http://192.168.1.5:11434"),
        (":8080", "http://127.0.0.1:8080"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("https://ollama.example.org/", "https://ollama.example.org/"),
        ("http://host:80/behind/proxy", "http://host:80/behind/proxy"),
        ("http://ana:pass@host:80", "http://ana:pass@host:80"),
    ],
)
def test_an_address_may_be_short(host: str, url: str) -> None:
    assert normalise_address(host) == url


def test_a_server_that_does_not_run_is_to_be_started(sleeps: list[float]) -> None:
    embedder = Ollama("nomic-embed-text", host=unused_url())
    with pytest.raises(EmbedderUnavailable) as caught:
        embedder.embed(["text"], "fact")
    embedder.close()
    assert "ollama serve" in caught.value.way_out
    assert "ollama pull nomic-embed-text" in caught.value.way_out
    assert sum(sleeps) < 1


def test_a_missing_model_is_to_be_pulled(embedder: Ollama, server: EmbeddingServer) -> None:
    server.replies.append(Reply(404, {"error": 'model "nomic-embed-text" not found, try pulling it first'}))
    with pytest.raises(EmbedderUnavailable, match="try pulling it first") as caught:
        embedder.embed(["text"], "fact")
    assert "ollama pull nomic-embed-text" in caught.value.way_out


@pytest.mark.parametrize("body", ["Ollama is running", [], {}, {"embeddings": None}, {"embeddings": [[1.0], [2.0]]}])
def test_a_senseless_answer_is_an_error(embedder: Ollama, server: EmbeddingServer, body: Any) -> None:
    server.replies.append(Reply(body=body))
    with pytest.raises(EmbedderFailed):
        embedder.embed(["text"], "fact")
