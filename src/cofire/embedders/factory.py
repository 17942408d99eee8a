"""Create an embedder from its setting name."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches

from cofire.embedders.base import Embedder
from cofire.embedders.bundled import BundledEmbedder
from cofire.embedders.fastembed import FastEmbed
from cofire.embedders.ollama import Ollama
from cofire.embedders.openai_compatible import OpenAICompatible
from cofire.embedders.sentence_transformers import SentenceTransformers
from cofire.errors import InvalidSetting

EMBEDDER_FORMS = {
    "bundled": "bundled",
    "none": "none",
    "openai": "openai:MODEL or openai:MODEL@http://host:port/v1",
    "ollama": "ollama:MODEL or ollama:MODEL@http://host:port",
    "sentence-transformers": "sentence-transformers:MODEL",
    "fastembed": "fastembed:MODEL",
}

# The name of a model may contain colons, slashes and @: only @http:// or @https:// ends it.
_EMBEDDER_NAME = re.compile(r"(?P<kind>[^:]*)(?::(?P<model>.*?)(?:@(?P<url>https?://.*))?)?", re.DOTALL)


def create_embedder(name: str) -> Embedder:
    """The embedder of a setting. Nothing is loaded or requested before the first text."""
    match = _EMBEDDER_NAME.fullmatch(name.strip())
    kind, model, url = match.group("kind", "model", "url") if match else ("", None, None)
    if kind not in EMBEDDER_FORMS:
        raise _make_unknown_error(name, kind)
    if kind == "bundled" and model is None:
        return BundledEmbedder()
    if not model or kind in _NAMES_WITHOUT_MODEL or (url and kind not in _SERVER_EMBEDDERS):
        raise InvalidSetting(f"“{name}” does not describe an embedder.", way_out=f"Write it as {EMBEDDER_FORMS[kind]}.")
    return _SERVER_EMBEDDERS[kind](model, url) if kind in _SERVER_EMBEDDERS else _LOCAL_EMBEDDERS[kind](model)


# These take no model. A memory without vectors uses no embedder.
_NAMES_WITHOUT_MODEL = ("bundled", "none")
_SERVER_EMBEDDERS: dict[str, Callable[[str, str | None], Embedder]] = {
    "openai": lambda model, url: OpenAICompatible(model, base_url=url) if url else OpenAICompatible(model),
    "ollama": lambda model, url: Ollama(model, host=url),
}
_LOCAL_EMBEDDERS: dict[str, Callable[[str], Embedder]] = {
    "sentence-transformers": SentenceTransformers,
    "fastembed": FastEmbed,
}


def _make_unknown_error(name: str, kind: str) -> InvalidSetting:
    similar = get_close_matches(kind.lower(), EMBEDDER_FORMS, n=1)
    hint = f"Did you mean {EMBEDDER_FORMS[similar[0]]}? " if similar else ""
    return InvalidSetting(
        f"There is no embedder “{name}”.", way_out=f"{hint}There are: {', '.join(EMBEDDER_FORMS.values())}."
    )
