"""Embedder for OpenAI's embeddings API and compatible servers."""

from __future__ import annotations

import os
from typing import Any

from cofire.embedders.adapters import ExternalEmbedder, TextPrefixes
from cofire.embedders.base import Role
from cofire.embedders.http_client import EmbeddingClient, ErrorAdvice, RetryPolicy, sanitise_text, split_batches
from cofire.errors import EmbedderFailed, map_exceptions

OPENAI_URL = "https://api.openai.com/v1"
DEFAULT_RETRY_POLICY = RetryPolicy(timeout=60.0, attempts=5, first_wait=0.5, longest_wait=30.0)

# Known in advance, so that opening a memory sends no request.
_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}


class OpenAICompatible(ExternalEmbedder):
    """`dimensions` requests shortened vectors, if the model supports it. The default of `api_key` is
    OPENAI_API_KEY.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = OPENAI_URL,
        api_key: str | None = None,
        dimensions: int | None = None,
        fact_prefix: str = "",
        question_prefix: str = "",
        batch: int = 128,
        patience: RetryPolicy = DEFAULT_RETRY_POLICY,
    ) -> None:
        known_dimension = _DIMENSIONS.get(model) if base_url == OPENAI_URL else None
        super().__init__(
            model, dimension=dimensions or known_dimension, prefixes=TextPrefixes(fact_prefix, question_prefix)
        )
        self._request = {"model": model} if dimensions is None else {"model": model, "dimensions": dimensions}
        self._batch = batch
        key = os.environ.get("OPENAI_API_KEY", "") if api_key is None else api_key
        self._server = EmbeddingClient(base_url, advice=_make_advice(model), patience=patience, key=key)

    def _vectors(self, texts: list[str], role: Role) -> Any:
        return [row for batch in split_batches(texts, size=self._batch) for row in self._rows(batch)]

    def _rows(self, texts: list[str]) -> list[Any]:
        answer = self._server.post("/embeddings", {**self._request, "input": [sanitise_text(text) for text in texts]})
        return order_vectors(answer, count=len(texts), name=self._name)

    def close(self) -> None:
        self._server.close()


def order_vectors(answer: Any, *, count: int, name: str) -> list[Any]:
    """The vectors in the order of the texts. Servers may return another order, given by `index`.

    >>> order_vectors({"data": [{"index": 1, "embedding": [3]}, {"index": 0, "embedding": [2]}]}, count=2, name="m")
    [[2], [3]]
    """
    with map_exceptions(
        {KeyError: EmbedderFailed, TypeError: EmbedderFailed, AttributeError: EmbedderFailed},
        problem="The answer is not in the form of OpenAI's embeddings: {error!r}.",
        way_out="Check the address: it should end before /embeddings, often with /v1.",
    ):
        rows = {item.get("index", place): item["embedding"] for place, item in enumerate(answer["data"])}
    if set(rows) != set(range(count)):
        raise EmbedderFailed(
            f"{name} was given {count} texts and did not answer each of them with one vector.",
            way_out="Give a smaller batch, and check that the server is up to date.",
        )
    return [rows[place] for place in range(count)]


def _make_advice(model: str) -> ErrorAdvice:
    return ErrorAdvice(
        unreachable="Check the address and that the server runs.",
        refused="Set OPENAI_API_KEY, or give api_key, to a key that may use this model.",
        unknown=f"Check that the server has the model {model}, and the address: it should end before /embeddings.",
    )
