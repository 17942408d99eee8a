"""The bundled transformer as an ONNX graph, and the writer of ONNX bytes.

Field numbers are those of onnx.proto3; only what one transformer needs is here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.embedders.base import Vectors
from cofire.embedders.granite_pack import GraniteArchitecture, GranitePack

Array = NDArray[Any]

_IR_VERSION = 8
_OPSET = 18
_MICROSOFT_DOMAIN = "com.microsoft"
_TYPE_NUMBERS = {"float32": 1, "int64": 7}
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT = 1, 2
_EXTERNAL_DATA = 1


@dataclass(frozen=True, slots=True)
class OnnxNode:
    """One operation: what it takes and gives, by name. `microsoft` marks onnxruntime's own operations."""

    operation: str
    takes: Sequence[str]
    gives: Sequence[str]
    attributes: Mapping[str, int | float] = field(default_factory=dict)
    microsoft: bool = False


@dataclass(frozen=True, slots=True)
class OnnxPort:
    """An input or output of the whole graph, all float32; a name in the shape is a dimension known only when run."""

    name: str
    shape: Sequence[str | int]


def encode_model(nodes: Iterable[OnnxNode], weights: Mapping[str, Array], takes: OnnxPort, gives: OnnxPort) -> bytes:
    """The ModelProto. Its initialisers are marked external: whoever opens the model hands the arrays over by name."""
    graph = b"".join(
        [
            *(_encode_block(1, _encode_node(node)) for node in nodes),
            _encode_block(2, "graph"),
            *(_encode_block(5, _encode_initialiser(name, array)) for name, array in weights.items()),
            _encode_block(11, _encode_port(takes)),
            _encode_block(12, _encode_port(gives)),
        ]
    )
    return (
        _encode_number(1, _IR_VERSION)
        + _encode_block(7, graph)
        + _encode_block(8, _encode_opset("", _OPSET))
        + _encode_block(8, _encode_opset(_MICROSOFT_DOMAIN, 1))
    )


def _encode_opset(domain: str, version: int) -> bytes:
    return _encode_block(1, domain) + _encode_number(2, version)


def _encode_node(node: OnnxNode) -> bytes:
    return b"".join(
        [
            *(_encode_block(1, name) for name in node.takes),
            *(_encode_block(2, name) for name in node.gives),
            _encode_block(4, node.operation),
            *(_encode_block(5, _encode_attribute(name, value)) for name, value in node.attributes.items()),
            _encode_block(7, _MICROSOFT_DOMAIN if node.microsoft else ""),
        ]
    )


def _encode_attribute(name: str, value: int | float) -> bytes:
    if isinstance(value, float):
        return (
            _encode_block(1, name) + _encode_key(2, 5) + struct.pack("<f", value) + _encode_number(20, _ATTRIBUTE_FLOAT)
        )
    return _encode_block(1, name) + _encode_number(3, value) + _encode_number(20, _ATTRIBUTE_INT)


def _encode_initialiser(name: str, array: Array) -> bytes:
    shape = b"".join(_encode_number(1, extent) for extent in array.shape)
    elsewhere = _encode_block(13, _encode_block(1, "location") + _encode_block(2, "memory")) + _encode_number(
        14, _EXTERNAL_DATA
    )
    return shape + _encode_number(2, _TYPE_NUMBERS[array.dtype.name]) + _encode_block(8, name) + elsewhere


def _encode_port(port: OnnxPort) -> bytes:
    shape = b"".join(_encode_block(1, _encode_extent(extent)) for extent in port.shape)
    tensor = _encode_number(1, _TYPE_NUMBERS["float32"]) + _encode_block(2, shape)
    return _encode_block(1, port.name) + _encode_block(2, _encode_block(1, tensor))


def _encode_extent(extent: str | int) -> bytes:
    return _encode_block(2, extent) if isinstance(extent, str) else _encode_number(1, extent)


def _encode_block(number: int, content: str | bytes) -> bytes:
    octets = content.encode() if isinstance(content, str) else content
    return _encode_key(number, 2) + _encode_varint(len(octets)) + octets


def _encode_number(number: int, value: int) -> bytes:
    return _encode_key(number, 0) + _encode_varint(value)


def _encode_key(number: int, wire_type: int) -> bytes:
    return _encode_varint(number << 3 | wire_type)


def _encode_varint(value: int) -> bytes:
    """Seven bits a byte, lowest first, the high bit set on all but the last; below zero as 64-bit two's complement.

    >>> _encode_varint(300).hex()
    'ac02'
    """
    value &= (1 << 64) - 1
    octets = bytearray()
    while value > 0x7F:
        octets.append(value & 0x7F | 0x80)
        value >>= 7
    octets.append(value)
    return bytes(octets)


# A text's vector is read at its first token, so the last layer computes only the front of each text. Two tokens, not
# one: a matrix of a single row may go to a kernel of its own, which adds in another order than the one for batches.
_FRONT_TOKENS = [0, 1]


def collect_graph_weights(pack: GranitePack) -> dict[str, Array]:
    """Every constant of the graph, by name. Matrices become floats: exact, stable in batches, fast on any machine."""
    matrices = {name: matrix.floats() for name, matrix in pack.quantised.items() if name != "word_emb"}
    vectors = {name: vector for name, vector in pack.floats.items() if name not in {"pos_emb", "type_emb"}}
    return {**matrices, **vectors, "front": np.array(_FRONT_TOKENS, np.int64)}


def build_granite_model(architecture: GraniteArchitecture, weights: Mapping[str, Array], *, width: int) -> bytes:
    """From embedded tokens (texts, tokens, width) to the last states of the first two (texts, 2, width)."""
    embedded = OnnxPort("embedded", ["texts", "tokens", width])
    states = OnnxPort("states", ["texts", len(_FRONT_TOKENS), width])
    return encode_model(_build_nodes(architecture), weights, embedded, states)


def build_position_embeddings(pack: GranitePack) -> Vectors:
    """What the position in the text adds to a token, the (only) segment's share included."""
    places: Vectors = pack.floats["pos_emb"][pack.architecture.position_offset :] + pack.floats["type_emb"][0]
    return places


def _build_nodes(architecture: GraniteArchitecture) -> Iterator[OnnxNode]:
    epsilon = architecture.epsilon
    yield OnnxNode("LayerNormalization", ["embedded", "emb_ln.w", "emb_ln.b"], ["l0.in"], {"epsilon": epsilon})
    for number in range(architecture.layers - 1):
        yield from _build_attention(f"l{number}", architecture.heads)
        yield from _build_feed_forward(f"l{number}", f"l{number}.in", epsilon, gives=f"l{number + 1}.in")
    yield from _build_last_layer(f"l{architecture.layers - 1}", architecture)


def _build_last_layer(layer: str, architecture: GraniteArchitecture) -> Iterator[OnnxNode]:
    """The last layer, and of it only what the first token needs."""
    yield from _build_attention(layer, architecture.heads, front=True)
    yield _gather_front(f"{layer}.in")
    yield from _build_feed_forward(layer, f"{layer}.in.front", architecture.epsilon, gives="states")


def _gather_front(name: str) -> OnnxNode:
    return OnnxNode("Gather", [name, "front"], [f"{name}.front"], {"axis": 1})


def _build_attention(layer: str, heads: int, *, front: bool = False) -> Iterator[OnnxNode]:
    """Every token (or only the front ones) looks at all tokens."""
    query = f"{layer}.query"
    yield _build_product(f"{layer}.in", f"{layer}.qkv.w", gives=f"{layer}.qkv")
    yield OnnxNode("Split", [f"{layer}.qkv"], [query, f"{layer}.key", f"{layer}.value"], {"axis": -1, "num_outputs": 3})
    if front:
        yield _gather_front(query)
    asked = f"{query}.front" if front else query
    seen = [asked, f"{layer}.key", f"{layer}.value", f"{layer}.qkv.b"]
    yield OnnxNode("MultiHeadAttention", seen, [f"{layer}.seen"], {"num_heads": heads}, microsoft=True)


def _build_feed_forward(layer: str, before: str, epsilon: float, *, gives: str) -> Iterator[OnnxNode]:
    """What was seen, then two dense steps, each added to what was there before and normalised."""
    yield _build_product(f"{layer}.seen", f"{layer}.ao.w", gives=f"{layer}.ao")
    yield _build_skip_norm(f"{layer}.ao", before, f"{layer}.aln", epsilon, gives=f"{layer}.mid")
    yield _build_product(f"{layer}.mid", f"{layer}.f1.w", gives=f"{layer}.f1")
    yield OnnxNode("BiasGelu", [f"{layer}.f1", f"{layer}.f1.b"], [f"{layer}.wide"], microsoft=True)
    yield _build_product(f"{layer}.wide", f"{layer}.f2.w", gives=f"{layer}.f2")
    yield _build_skip_norm(f"{layer}.f2", f"{layer}.mid", f"{layer}.fln", epsilon, gives=gives)


def _build_product(rows: str, matrix: str, *, gives: str) -> OnnxNode:
    return OnnxNode("FusedMatMul", [rows, matrix], [gives], {"transB": 1}, microsoft=True)


def _build_skip_norm(rows: str, before: str, norm: str, epsilon: float, *, gives: str) -> OnnxNode:
    """LayerNorm(rows + bias + before); the bias of the product that made `rows` is named after it."""
    takes = [rows, before, f"{norm}.w", f"{norm}.b", f"{rows}.b"]
    return OnnxNode("SkipLayerNormalization", takes, [gives], {"epsilon": epsilon}, microsoft=True)
