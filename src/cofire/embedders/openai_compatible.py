"""OpenAI's embeddings API, as OpenAI, vLLM, LM Studio, llama.cpp, LiteLLM and many others serve it."""

from __future__ import annotations

import os
from typing import Any

from cofire.embedders.base import Role
from cofire.embedders.foreign import Foreign, Prefixes
from cofire.embedders.remote import Advice, Patience, Server, batches, sendable
from cofire.errors import EmbedderFailed, map_exceptions

OPENAI = "https://api.openai.com/v1"
PATIENCE = Patience(timeout=60.0, attempts=5, first_wait=0.5, longest_wait=30.0)

# Known beforehand, so that opening a memory asks nothing of the server.
_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}


class OpenAICompatible(Foreign):
    """`dimensions` asks for shortened vectors, which not every model has. Without `api_key`, OPENAI_API_KEY is used."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str = OPENAI,
        api_key: str | None = None,
        dimensions: int | None = None,
        fact_prefix: str = "",
        question_prefix: str = "",
        batch: int = 128,
        patience: Patience = PATIENCE,
    ) -> None:
        known = _DIMENSIONS.get(model) if base_url == OPENAI else None
        super().__init__(model, dimension=dimensions or known, prefixes=Prefixes(fact_prefix, question_prefix))
        self._request = {"model": model} if dimensions is None else {"model": model, "dimensions": dimensions}
        self._batch = batch
        key = os.environ.get("OPENAI_API_KEY", "") if api_key is None else api_key
        self._server = Server(base_url, advice=_advice(model), patience=patience, key=key)

    def _vectors(self, texts: list[str], role: Role) -> Any:
        return [row for batch in batches(texts, size=self._batch) for row in self._rows(batch)]

    def _rows(self, texts: list[str]) -> list[Any]:
        answer = self._server.post("/embeddings", {**self._request, "input": [sendable(text) for text in texts]})
        return in_order(answer, count=len(texts), name=self._name)

    def close(self) -> None:
        self._server.close()


def in_order(answer: Any, *, count: int, name: str) -> list[Any]:
    """The vectors in the order of the texts: servers may answer in another, and say so by `index`.

    >>> in_order({"data": [{"index": 1, "embedding": [3]}, {"index": 0, "embedding": [2]}]}, count=2, name="m")
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


def _advice(model: str) -> Advice:
    return Advice(
        unreachable="Check the address and that the server runs.",
        refused="Set OPENAI_API_KEY, or give api_key, to a key that may use this model.",
        unknown=f"Check that the server has the model {model}, and the address: it should end before /embeddings.",
    )
