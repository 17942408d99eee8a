"""From the name of an embedder, as settings write it, to the embedder. Loads no model and no package of its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches

from cofire.embedders.base import Embedder
from cofire.embedders.bundled import Bundled
from cofire.embedders.fastembed import FastEmbed
from cofire.embedders.ollama import Ollama
from cofire.embedders.openai_compatible import OpenAICompatible
from cofire.embedders.sentence_transformers import SentenceTransformers
from cofire.errors import InvalidSetting

FORMS = {
    "bundled": "bundled",
    "none": "none",
    "openai": "openai:MODEL or openai:MODEL@http://host:port/v1",
    "ollama": "ollama:MODEL or ollama:MODEL@http://host:port",
    "sentence-transformers": "sentence-transformers:MODEL",
    "fastembed": "fastembed:MODEL",
}

# A model's own name may hold colons, slashes and @ signs, so only @http:// or @https:// ends it.
_SPEC = re.compile(r"(?P<kind>[^:]*)(?::(?P<model>.*?)(?:@(?P<url>https?://.*))?)?", re.DOTALL)


def embedder_for(name: str) -> Embedder:
    """The embedder that a name describes; nothing is loaded or asked before the first text."""
    found = _SPEC.fullmatch(name.strip())
    kind, model, url = found.group("kind", "model", "url") if found else ("", None, None)
    if kind not in FORMS:
        raise _unknown(name, kind)
    if kind == "bundled" and model is None:
        return Bundled()
    if not model or kind in _PLAIN or (url and kind not in _SERVED):
        raise InvalidSetting(f"“{name}” does not describe an embedder.", way_out=f"Write it as {FORMS[kind]}.")
    return _SERVED[kind](model, url) if kind in _SERVED else _LOCAL[kind](model)


# These take no model; whoever opens a memory without vectors asks for no embedder.
_PLAIN = ("bundled", "none")
_SERVED: dict[str, Callable[[str, str | None], Embedder]] = {
    "openai": lambda model, url: OpenAICompatible(model, base_url=url) if url else OpenAICompatible(model),
    "ollama": lambda model, url: Ollama(model, host=url),
}
_LOCAL: dict[str, Callable[[str], Embedder]] = {
    "sentence-transformers": SentenceTransformers,
    "fastembed": FastEmbed,
}


def _unknown(name: str, kind: str) -> InvalidSetting:
    near = get_close_matches(kind.lower(), FORMS, n=1)
    hint = f"Did you mean {FORMS[near[0]]}? " if near else ""
    return InvalidSetting(f"There is no embedder “{name}”.", way_out=f"{hint}There are: {', '.join(FORMS.values())}.")
