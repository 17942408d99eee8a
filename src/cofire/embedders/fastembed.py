"""Embedder for models of the package fastembed.

It pads batches: the last bits of a vector may depend on the other texts of its batch.
"""

from __future__ import annotations

from typing import Any

from cofire.embedders.adapters import ExternalEmbedder, TextPrefixes
from cofire.embedders.base import LazyResource, Role
from cofire.errors import EmbedderFailed, EmbedderUnavailable, install_command, map_exceptions


class FastEmbed(ExternalEmbedder):
    """fastembed adds the prompts of its models itself; the prefixes are added to those."""

    def __init__(
        self,
        model: str,
        *,
        threads: int = 1,
        fact_prefix: str = "",
        question_prefix: str = "",
        batch: int = 32,
    ) -> None:
        super().__init__(model, dimension=None, prefixes=TextPrefixes(fact_prefix, question_prefix))
        self._batch = batch
        self._embedding = LazyResource(lambda: load_fastembed(model, threads))

    def _vectors(self, texts: list[str], role: Role) -> Any:
        embedding = self._embedding.get()
        with map_exceptions(
            {Exception: EmbedderFailed},
            problem="fastembed failed: {error}.",
            way_out=f"Give a smaller batch, or another model than {self._name}.",
        ):
            read = embedding.query_embed if role == "question" else embedding.passage_embed
            return list(read(texts, batch_size=self._batch))

    def close(self) -> None:
        self._embedding.let_go()


def load_fastembed(model: str, threads: int) -> Any:
    with map_exceptions(
        {ImportError: EmbedderUnavailable},
        problem="The package fastembed is missing: {error}.",
        way_out=f"Install it with: {install_command('fastembed')}",
    ):
        from fastembed import TextEmbedding
    with map_exceptions(
        {Exception: EmbedderUnavailable},
        problem="The model cannot be loaded: {error}.",
        way_out=f"Check that fastembed supports {model}; its first use downloads it.",
    ):
        return TextEmbedding(model_name=model, threads=threads)
