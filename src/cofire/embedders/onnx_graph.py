"""A small writer of ONNX models: nodes in, protobuf bytes out. Weights stay outside, named and typed but not copied.

Field numbers are those of onnx.proto3; only what one transformer needs is here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]

_IR_VERSION = 8
_OPSET = 18
_MICROSOFT = "com.microsoft"
_TYPE_NUMBERS = {"float32": 1, "int64": 7}
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT = 1, 2
_EXTERNAL = 1


@dataclass(frozen=True, slots=True)
class Node:
    """One operation: what it takes and gives, by name. `microsoft` marks onnxruntime's own operations."""

    operation: str
    takes: Sequence[str]
    gives: Sequence[str]
    attributes: Mapping[str, int | float] = field(default_factory=dict)
    microsoft: bool = False


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output of the whole graph, all float32; a name in the shape is a dimension known only when run."""

    name: str
    shape: Sequence[str | int]


def model_bytes(nodes: Iterable[Node], weights: Mapping[str, Array], takes: Port, gives: Port) -> bytes:
    """The ModelProto. Its initialisers are marked external: whoever opens the model hands the arrays over by name."""
    graph = b"".join(
        [
            *(_block(1, _node(node)) for node in nodes),
            _block(2, "graph"),
            *(_block(5, _initialiser(name, array)) for name, array in weights.items()),
            _block(11, _port(takes)),
            _block(12, _port(gives)),
        ]
    )
    return _number(1, _IR_VERSION) + _block(7, graph) + _block(8, _opset("", _OPSET)) + _block(8, _opset(_MICROSOFT, 1))


def _opset(domain: str, version: int) -> bytes:
    return _block(1, domain) + _number(2, version)


def _node(node: Node) -> bytes:
    return b"".join(
        [
            *(_block(1, name) for name in node.takes),
            *(_block(2, name) for name in node.gives),
            _block(4, node.operation),
            *(_block(5, _attribute(name, value)) for name, value in node.attributes.items()),
            _block(7, _MICROSOFT if node.microsoft else ""),
        ]
    )


def _attribute(name: str, value: int | float) -> bytes:
    if isinstance(value, float):
        return _block(1, name) + _key(2, 5) + struct.pack("<f", value) + _number(20, _ATTRIBUTE_FLOAT)
    return _block(1, name) + _number(3, value) + _number(20, _ATTRIBUTE_INT)


def _initialiser(name: str, array: Array) -> bytes:
    shape = b"".join(_number(1, extent) for extent in array.shape)
    elsewhere = _block(13, _block(1, "location") + _block(2, "memory")) + _number(14, _EXTERNAL)
    return shape + _number(2, _TYPE_NUMBERS[array.dtype.name]) + _block(8, name) + elsewhere


def _port(port: Port) -> bytes:
    shape = b"".join(_block(1, _extent(extent)) for extent in port.shape)
    tensor = _number(1, _TYPE_NUMBERS["float32"]) + _block(2, shape)
    return _block(1, port.name) + _block(2, _block(1, tensor))


def _extent(extent: str | int) -> bytes:
    return _block(2, extent) if isinstance(extent, str) else _number(1, extent)


def _block(number: int, content: str | bytes) -> bytes:
    octets = content.encode() if isinstance(content, str) else content
    return _key(number, 2) + _varint(len(octets)) + octets


def _number(number: int, value: int) -> bytes:
    return _key(number, 0) + _varint(value)


def _key(number: int, wire_type: int) -> bytes:
    return _varint(number << 3 | wire_type)


def _varint(value: int) -> bytes:
    """Seven bits a byte, lowest first, the high bit set on all but the last; below zero as 64-bit two's complement.

    >>> _varint(300).hex()
    'ac02'
    """
    value &= (1 << 64) - 1
    octets = bytearray()
    while value > 0x7F:
        octets.append(value & 0x7F | 0x80)
        value >>= 7
    octets.append(value)
    return bytes(octets)
