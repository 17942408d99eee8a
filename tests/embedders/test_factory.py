"""Embedders by their name in the settings."""

import subprocess
import sys

import pytest

from cofire.embedders.bundled import BundledEmbedder
from cofire.embedders.factory import create_embedder
from cofire.embedders.fastembed import FastEmbed
from cofire.embedders.ollama import Ollama
from cofire.embedders.openai_compatible import OpenAICompatible
from cofire.embedders.sentence_transformers import SentenceTransformers
from cofire.errors import InvalidSetting
from tests.embedders.embedding_server import EmbeddingServer


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("bundled", BundledEmbedder),
        (" bundled ", BundledEmbedder),
        ("openai:text-embedding-3-small", OpenAICompatible),
        ("ollama:nomic-embed-text:v1.5", Ollama),
        ("sentence-transformers:BAAI/bge-small-en-v1.5", SentenceTransformers),
        ("fastembed:BAAI/bge-small-en-v1.5", FastEmbed),
    ],
)
def test_a_name_gives_its_embedder(name: str, kind: type) -> None:
    assert type(create_embedder(name)) is kind


@pytest.mark.parametrize(
    ("name", "path", "model"),
    [
        ("openai:small@{url}/v1", "/v1/embeddings", "small"),
        ("openai:@cf/baai/bge@{url}", "/embeddings", "@cf/baai/bge"),
        ("ollama:nomic-embed-text:v1.5@{url}", "/api/embed", "nomic-embed-text:v1.5"),
    ],
)
def test_an_address_after_the_model_is_where_it_is_asked(
    server: EmbeddingServer, name: str, path: str, model: str
) -> None:
    embedder = create_embedder(name.format(url=server.url))
    embedder.embed(["text"], "fact")
    embedder.close()
    [asked] = server.asked
    assert asked.path == path
    assert asked.body["model"] == model
    assert embedder.model.name == model


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("bundle", "bundled"),
        ("Ollama:x", "ollama:MODEL"),
        ("open-ai:x", "openai:MODEL"),
        ("OPENAI:x", "openai:MODEL"),
        ("sentence_transformers:x", "sentence-transformers:MODEL"),
        ("fastembedd:x", "fastembed:MODEL"),
    ],
)
def test_a_near_miss_is_suggested(name: str, meant: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        create_embedder(name)
    assert f"Did you mean {meant}" in caught.value.way_out


@pytest.mark.parametrize("name", ["", "word2vec", "@http://host", "42:x"])
def test_an_unknown_name_gets_the_list(name: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        create_embedder(name)
    assert "Did you mean" not in caught.value.way_out
    for kind in ("bundled", "openai:MODEL", "ollama:MODEL", "sentence-transformers:MODEL", "fastembed:MODEL"):
        assert kind in caught.value.way_out


@pytest.mark.parametrize(
    "name", ["openai", "openai:", "ollama:@http://host", "bundled:granite", "bundled:", "fastembed:m@http://host"]
)
def test_an_incomplete_name_gets_its_form(name: str) -> None:
    with pytest.raises(InvalidSetting, match="Write it as"):
        create_embedder(name)


def test_choosing_loads_no_runtime_and_no_http() -> None:
    program = """
import sys
from cofire.embedders.factory import create_embedder
for name in ("bundled", "openai:m", "ollama:m", "sentence-transformers:m", "fastembed:m"):
    create_embedder(name)
print(sorted({"onnxruntime", "httpx", "sentence_transformers", "fastembed", "torch"} & set(sys.modules)))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
