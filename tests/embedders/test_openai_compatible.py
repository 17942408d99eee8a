"""The API of OpenAI: requests, and parsing of responses."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cofire.algorithms.vector_similarity import normalise_vectors
from cofire.embedders.base import Model
from cofire.embedders.openai_compatible import OpenAICompatible
from cofire.errors import EmbedderFailed, EmbedderUnavailable
from tests.embedders.embedding_server import EmbeddingServer, Reply, vector_of

TEXTS = ["first", "second", "third"]


@pytest.fixture
def embedder(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAICompatible]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    embedder = OpenAICompatible("small", base_url=f"{server.url}/v1/")
    yield embedder
    embedder.close()


def expected(*texts: str, dimension: int = 8) -> Any:
    return normalise_vectors(np.array([vector_of(text, dimension) for text in texts], np.float32))


def test_texts_become_unit_vectors_in_their_order(embedder: OpenAICompatible) -> None:
    np.testing.assert_allclose(embedder.embed(TEXTS, "fact"), expected(*TEXTS), atol=1e-6)


def test_an_answer_in_another_order_is_put_in_order(embedder: OpenAICompatible, server: EmbeddingServer) -> None:
    server.backwards = True
    np.testing.assert_allclose(embedder.embed(TEXTS, "fact"), expected(*TEXTS), atol=1e-6)


def test_model_and_texts_are_posted_to_the_embeddings(embedder: OpenAICompatible, server: EmbeddingServer) -> None:
    embedder.embed(TEXTS, "fact")
    [asked] = server.asked
    assert asked.path == "/v1/embeddings"
    assert asked.body == {"model": "small", "input": TEXTS}


def test_without_a_key_none_is_sent(embedder: OpenAICompatible, server: EmbeddingServer) -> None:
    embedder.embed(TEXTS, "fact")
    assert "Authorization" not in server.asked[0].headers


@pytest.mark.parametrize(("given", "sent"), [(None, "Bearer from-env"), ("mine", "Bearer mine")])
def test_the_key_is_the_given_one_or_the_environments(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch, given: str | None, sent: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "from-env\n")
    embedder = OpenAICompatible("small", base_url=server.url, api_key=given)
    embedder.embed(TEXTS, "fact")
    embedder.close()
    assert server.asked[0].headers["Authorization"] == sent


def test_many_texts_go_in_batches(server: EmbeddingServer) -> None:
    embedder = OpenAICompatible("small", base_url=server.url, batch=2)
    vectors = embedder.embed([*TEXTS, "fourth", "fifth"], "fact")
    embedder.close()
    assert [asked.texts for asked in server.asked] == [["first", "second"], ["third", "fourth"], ["fifth"]]
    np.testing.assert_allclose(vectors[4:], expected("fifth"), atol=1e-6)


def test_each_role_has_its_prefix(server: EmbeddingServer) -> None:
    embedder = OpenAICompatible("e5", base_url=server.url, fact_prefix="passage: ", question_prefix="query: ")
    embedder.embed(["sun"], "fact")
    embedder.embed(["sun"], "question")
    embedder.close()
    assert [asked.texts for asked in server.asked] == [["passage: sun"], ["query: sun"]]


def test_the_first_answer_tells_the_dimension(embedder: OpenAICompatible, server: EmbeddingServer) -> None:
    assert embedder.model == Model("small", 8)
    assert embedder.model == Model("small", 8)
    assert len(server.asked) == 1


def test_asked_dimensions_are_sent_and_known_beforehand(server: EmbeddingServer) -> None:
    embedder = OpenAICompatible("small", base_url=server.url, dimensions=4)
    assert embedder.model == Model("small", 4)
    assert server.asked == []
    server.dimension = 4
    embedder.embed(TEXTS, "fact")
    embedder.close()
    assert server.asked[0].body["dimensions"] == 4


def test_openais_own_models_are_known_beforehand() -> None:
    assert OpenAICompatible("text-embedding-3-small").model.dimension == 1536


def test_its_mean_and_spread_are_still_to_be_measured(embedder: OpenAICompatible) -> None:
    assert embedder.mean is None
    assert embedder.resting is None


def test_a_change_of_dimension_is_refused(embedder: OpenAICompatible, server: EmbeddingServer) -> None:
    embedder.embed(TEXTS, "fact")
    server.dimension = 4
    with pytest.raises(EmbedderFailed, match="4 dimensions instead of 8"):
        embedder.embed(TEXTS, "fact")


def test_no_texts_ask_nothing_once_the_dimension_is_known(embedder: OpenAICompatible, server: EmbeddingServer) -> None:
    embedder.embed(TEXTS, "fact")
    assert embedder.embed([], "fact").shape == (0, 8)
    assert len(server.asked) == 1


def test_texts_that_json_or_servers_refuse_are_sent_all_the_same(
    embedder: OpenAICompatible, server: EmbeddingServer
) -> None:
    embedder.embed(["", "half\ud800"], "fact")
    assert server.asked[0].texts == [" ", "half?"]


def rows(*vectors: list[Any]) -> dict[str, Any]:
    return {"data": [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("<html>", "not JSON: “<html>”"),
        ([], "not in the form of OpenAI's"),
        ({"data": None}, "not in the form of OpenAI's"),
        ({"data": ["vector"]}, "not in the form of OpenAI's"),
        ({"embeddings": [[1.0]]}, "not in the form of OpenAI's"),
        (rows([1.0]), "given 2 texts and did not answer each"),
        ({"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]}, "did not answer each"),
        ({"data": [{"index": "a", "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]}, "did not answer each"),
        (rows([1.0], [1.0, 2.0]), "no vectors of equal length"),
        (rows(["one"], ["two"]), "no vectors of equal length"),
        (rows([1.0], [float("nan")]), "zero or not made of numbers"),
        (rows([1.0, 1.0], [0.0, 0.0]), "zero or not made of numbers"),
        (rows(1.0, 2.0), "shape"),  # type: ignore[arg-type]
    ],
)
def test_a_senseless_answer_is_an_error(
    embedder: OpenAICompatible, server: EmbeddingServer, body: Any, problem: str
) -> None:
    server.replies.append(Reply(body=body))
    with pytest.raises(EmbedderFailed, match=problem):
        embedder.embed(["one", "two"], "fact")


def test_a_refused_key_names_the_variable(embedder: OpenAICompatible, server: EmbeddingServer) -> None:
    server.replies.append(Reply(401, {"error": {"message": "no key"}}))
    with pytest.raises(EmbedderUnavailable, match="OPENAI_API_KEY"):
        embedder.embed(TEXTS, "fact")


def test_an_unknown_model_or_address_is_named(embedder: OpenAICompatible, server: EmbeddingServer) -> None:
    server.replies.append(Reply(404, {"error": {"message": "no such model"}}))
    with pytest.raises(EmbedderUnavailable, match="no such model") as caught:
        embedder.embed(TEXTS, "fact")
    assert "model small" in caught.value.way_out
    assert server.url in caught.value.problem
