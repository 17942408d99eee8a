"""The transformer of granite-embedding-30m-english, a RoBERTa encoder, as ONNX nodes. Weights have the pack's names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from cofire.embedders.base import Vectors
from cofire.embedders.bundled_pack import Architecture, Pack
from cofire.embedders.onnx_graph import Array, Node, Port, model_bytes

# A text's vector is read at its first token, so the last layer computes only the front of each text. Two tokens, not
# one: a matrix of a single row may go to a kernel of its own, which adds in another order than the one for batches.
_FRONT = [0, 1]


def graph_weights(pack: Pack) -> dict[str, Array]:
    """Every constant of the graph, by name. Matrices become floats: exact, stable in batches, fast on any machine."""
    matrices = {name: matrix.floats() for name, matrix in pack.quantised.items() if name != "word_emb"}
    vectors = {name: vector for name, vector in pack.floats.items() if name not in {"pos_emb", "type_emb"}}
    return {**matrices, **vectors, "front": np.array(_FRONT, np.int64)}


def granite_model(architecture: Architecture, weights: Mapping[str, Array], *, width: int) -> bytes:
    """From embedded tokens (texts, tokens, width) to the last states of the first two (texts, 2, width)."""
    embedded = Port("embedded", ["texts", "tokens", width])
    states = Port("states", ["texts", len(_FRONT), width])
    return model_bytes(_nodes(architecture), weights, embedded, states)


def token_places(pack: Pack) -> Vectors:
    """What the position in the text adds to a token, the (only) segment's share included."""
    places: Vectors = pack.floats["pos_emb"][pack.architecture.position_offset :] + pack.floats["type_emb"][0]
    return places


def _nodes(architecture: Architecture) -> Iterator[Node]:
    epsilon = architecture.epsilon
    yield Node("LayerNormalization", ["embedded", "emb_ln.w", "emb_ln.b"], ["l0.in"], {"epsilon": epsilon})
    for number in range(architecture.layers - 1):
        yield from _attend(f"l{number}", architecture.heads)
        yield from _think(f"l{number}", f"l{number}.in", epsilon, gives=f"l{number + 1}.in")
    yield from _read_front(f"l{architecture.layers - 1}", architecture)


def _read_front(layer: str, architecture: Architecture) -> Iterator[Node]:
    """The last layer, and of it only what the first token needs."""
    yield from _attend(layer, architecture.heads, front=True)
    yield _front(f"{layer}.in")
    yield from _think(layer, f"{layer}.in.front", architecture.epsilon, gives="states")


def _front(name: str) -> Node:
    return Node("Gather", [name, "front"], [f"{name}.front"], {"axis": 1})


def _attend(layer: str, heads: int, *, front: bool = False) -> Iterator[Node]:
    """Every token (or only the front ones) looks at all tokens."""
    query = f"{layer}.query"
    yield _product(f"{layer}.in", f"{layer}.qkv.w", gives=f"{layer}.qkv")
    yield Node("Split", [f"{layer}.qkv"], [query, f"{layer}.key", f"{layer}.value"], {"axis": -1, "num_outputs": 3})
    if front:
        yield _front(query)
    asked = f"{query}.front" if front else query
    seen = [asked, f"{layer}.key", f"{layer}.value", f"{layer}.qkv.b"]
    yield Node("MultiHeadAttention", seen, [f"{layer}.seen"], {"num_heads": heads}, microsoft=True)


def _think(layer: str, before: str, epsilon: float, *, gives: str) -> Iterator[Node]:
    """What was seen, then two dense steps, each added to what was there before and normalised."""
    yield _product(f"{layer}.seen", f"{layer}.ao.w", gives=f"{layer}.ao")
    yield _added(f"{layer}.ao", before, f"{layer}.aln", epsilon, gives=f"{layer}.mid")
    yield _product(f"{layer}.mid", f"{layer}.f1.w", gives=f"{layer}.f1")
    yield Node("BiasGelu", [f"{layer}.f1", f"{layer}.f1.b"], [f"{layer}.wide"], microsoft=True)
    yield _product(f"{layer}.wide", f"{layer}.f2.w", gives=f"{layer}.f2")
    yield _added(f"{layer}.f2", f"{layer}.mid", f"{layer}.fln", epsilon, gives=gives)


def _product(rows: str, matrix: str, *, gives: str) -> Node:
    return Node("FusedMatMul", [rows, matrix], [gives], {"transB": 1}, microsoft=True)


def _added(rows: str, before: str, norm: str, epsilon: float, *, gives: str) -> Node:
    """LayerNorm(rows + bias + before); the bias of the product that made `rows` is named after it."""
    takes = [rows, before, f"{norm}.w", f"{norm}.b", f"{rows}.b"]
    return Node("SkipLayerNormalization", takes, [gives], {"epsilon": epsilon}, microsoft=True)
