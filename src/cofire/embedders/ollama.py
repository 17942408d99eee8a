"""Embedder for an Ollama server."""

from __future__ import annotations

import os
from typing import Any

from cofire.embedders.adapters import ExternalEmbedder, TextPrefixes
from cofire.embedders.base import Role
from cofire.embedders.http_client import EmbeddingClient, ErrorAdvice, RetryPolicy, sanitise_text, split_batches
from cofire.errors import EmbedderFailed, map_exceptions

DEFAULT_PORT = 11434
# The first answer may wait for the model to load. An unreachable server fails at once.
DEFAULT_RETRY_POLICY = RetryPolicy(timeout=300.0, attempts=3, first_wait=0.2, longest_wait=30.0)


class Ollama(ExternalEmbedder):
    """The default of `host` is OLLAMA_HOST, or this machine."""

    def __init__(
        self,
        model: str,
        *,
        host: str | None = None,
        fact_prefix: str = "",
        question_prefix: str = "",
        batch: int = 32,
        patience: RetryPolicy = DEFAULT_RETRY_POLICY,
    ) -> None:
        super().__init__(model, dimension=None, prefixes=TextPrefixes(fact_prefix, question_prefix))
        self._batch = batch
        where = normalise_address(host or os.environ.get("OLLAMA_HOST", ""))
        self._server = EmbeddingClient(where, advice=_make_advice(model), patience=patience)

    def _vectors(self, texts: list[str], role: Role) -> Any:
        return [row for batch in split_batches(texts, size=self._batch) for row in self._rows(batch)]

    def _rows(self, texts: list[str]) -> list[Any]:
        answer = self._server.post(
            "/api/embed", {"model": self._name, "input": [sanitise_text(text) for text in texts]}
        )
        with map_exceptions(
            {KeyError: EmbedderFailed, TypeError: EmbedderFailed},
            problem="The answer is not in the form of Ollama's embeddings: {error!r}.",
            way_out="Check that the address is that of an Ollama server, version 0.3 or later.",
        ):
            return list(answer["embeddings"])

    def close(self) -> None:
        self._server.close()


def normalise_address(host: str) -> str:
    """The URL for an OLLAMA_HOST, in which scheme and port are optional and 0.0.0.0 is the bind address.

    >>> (
    ...     normalise_address(""),
    ...     normalise_address("0.0.0.0"),
    ...     normalise_address("gpu.local:8080"),
    ...     normalise_address("https://ollama.example.org"),
    ... )
    ('http://127.0.0.1:11434', 'http://127.0.0.1:11434', 'http://gpu.local:8080', 'https://ollama.example.org')
    """
    scheme, separator, place = host.strip().rpartition("://")
    name, _, port = place.partition(":")
    name = "127.0.0.1" if name in {"", "0.0.0.0"} else name
    port = port or ("" if separator else str(DEFAULT_PORT))
    return f"{scheme or 'http'}://{name}{':' if port else ''}{port}"


def _make_advice(model: str) -> ErrorAdvice:
    return ErrorAdvice(
        unreachable=f"Start it with: ollama serve, and fetch the model with: ollama pull {model}",
        refused="Check who may use this server; OLLAMA_HOST may hold a user and a password.",
        unknown=f"Fetch the model with: ollama pull {model}, and update Ollama if it is older than 0.3.",
    )
