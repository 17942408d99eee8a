"""Embedder for models of the package sentence-transformers.

It pads batches: the last bits of a vector may depend on the other texts of its batch.
"""

from __future__ import annotations

from typing import Any

from cofire.embedders.adapters import ExternalEmbedder, TextPrefixes
from cofire.embedders.base import LazyResource, Role
from cofire.errors import EmbedderFailed, EmbedderUnavailable, install_command, map_exceptions

# Names of the prompts that models define.
_PROMPTS: dict[Role, tuple[str, ...]] = {"question": ("query",), "fact": ("document", "passage", "corpus")}


class SentenceTransformers(ExternalEmbedder):
    """Uses the prompts of the model unless a prefix is given. `device` is that of torch, such as "cuda"."""

    def __init__(
        self,
        model: str,
        *,
        device: str | None = None,
        fact_prefix: str = "",
        question_prefix: str = "",
        batch: int = 32,
    ) -> None:
        super().__init__(model, dimension=None, prefixes=TextPrefixes(fact_prefix, question_prefix))
        self._batch = batch
        self._transformer = LazyResource(lambda: load_sentence_transformer(model, device))

    def _vectors(self, texts: list[str], role: Role) -> Any:
        transformer = self._transformer.get()
        with map_exceptions(
            {Exception: EmbedderFailed},
            problem="sentence-transformers failed: {error}.",
            way_out=f"Give a smaller batch, or another device or model than {self._name}.",
        ):
            return transformer.encode(
                texts, prompt=self._prompt(transformer, role), batch_size=self._batch, show_progress_bar=False
            )

    def _prompt(self, transformer: Any, role: Role) -> str | None:
        if self._prefixes.before("", role):
            return ""
        prompts: dict[str, str] = transformer.prompts
        return next((prompts[name] for name in _PROMPTS[role] if name in prompts), None)

    def close(self) -> None:
        self._transformer.let_go()


def load_sentence_transformer(model: str, device: str | None) -> Any:
    with map_exceptions(
        {ImportError: EmbedderUnavailable},
        problem="The package sentence-transformers is missing: {error}.",
        way_out=f"Install it with: {install_command('sentence-transformers')}",
    ):
        from sentence_transformers import SentenceTransformer
    with map_exceptions(
        {Exception: EmbedderUnavailable},
        problem="The model cannot be loaded: {error}.",
        way_out=f"Check the name {model}; its first use downloads it.",
    ):
        return SentenceTransformer(model, device=device)
