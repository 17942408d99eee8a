"""The ONNX graph computes the same as the definition of the transformer in numpy."""

import math

import numpy as np
import pytest

from cofire.algorithms.vector_similarity import normalise_vectors
from cofire.embedders.base import Vectors
from cofire.embedders.bundled import BundledEmbedder
from cofire.embedders.byte_pair import BytePairTokenizer
from cofire.embedders.granite import GranitePack, find_pack, open_pack

TEXTS = ["", "One.", "PgBouncer sessions should be set to transaction mode for serverless.", "word " * 20]

erf = np.vectorize(math.erf, otypes=[np.float32])


@pytest.fixture(scope="module")
def pack() -> GranitePack:
    return open_pack(find_pack())


@pytest.mark.parametrize("text", TEXTS)
def test_the_graph_agrees_with_the_definition(bundled: BundledEmbedder, pack: GranitePack, text: str) -> None:
    [vector] = bundled.embed([text], "fact")
    np.testing.assert_allclose(vector, plain_granite(pack, text), atol=2e-5)


def plain_granite(pack: GranitePack, text: str) -> Vectors:
    """A RoBERTa encoder (Liu et al., 2019), post-norm, exact gelu, read at its first token."""
    tokenizer = BytePairTokenizer(pack.tokenizer)
    tokens = np.array([tokenizer.opening, *tokenizer.encode(text), tokenizer.closing])
    places = np.arange(len(tokens)) + pack.architecture.position_offset
    embedded = pack.quantised["word_emb"].floats(tokens) + pack.floats["pos_emb"][places] + pack.floats["type_emb"][0]
    states = normal(pack, "emb_ln", embedded)
    for layer in range(pack.architecture.layers):
        seen = dense(pack, f"l{layer}.ao", attention(pack, layer, states))
        states = normal(pack, f"l{layer}.aln", states + seen)
        wide = dense(pack, f"l{layer}.f1", states)
        wide = wide * (1 + erf(wide / np.sqrt(2))) / 2
        states = normal(pack, f"l{layer}.fln", states + dense(pack, f"l{layer}.f2", wide))
    return normalise_vectors(states[0])


def attention(pack: GranitePack, layer: int, states: Vectors) -> Vectors:
    heads = pack.architecture.heads
    query, key, value = (
        part.reshape(len(states), heads, -1).swapaxes(0, 1)
        for part in np.split(dense(pack, f"l{layer}.qkv", states), 3, axis=1)
    )
    scores = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]))
    seen = scores / scores.sum(axis=-1, keepdims=True) @ value
    return seen.swapaxes(0, 1).reshape(states.shape)


def dense(pack: GranitePack, name: str, rows: Vectors) -> Vectors:
    return rows @ pack.quantised[f"{name}.w"].floats().T + pack.floats[f"{name}.b"]


def normal(pack: GranitePack, name: str, rows: Vectors) -> Vectors:
    centre = rows - rows.mean(axis=-1, keepdims=True)
    deviation = np.sqrt(np.square(centre).mean(axis=-1, keepdims=True) + pack.architecture.epsilon)
    return centre / deviation * pack.floats[f"{name}.w"] + pack.floats[f"{name}.b"]
