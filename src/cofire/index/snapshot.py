"""Snapshots: the arrays of an index as bytes in parts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

PART_SIZE = 4 * 1024 * 1024


def split_arrays(arrays: Mapping[str, NDArray[Any]]) -> Iterator[bytes]:
    """A header that says which arrays follow, then their bytes, cut into parts of a few megabytes."""
    said = [{"name": name, "kind": array.dtype.str, "shape": array.shape} for name, array in arrays.items()]
    yield json.dumps(said).encode("ascii")
    for array in arrays.values():
        whole = array.tobytes()
        for start in range(0, len(whole), PART_SIZE):
            yield whole[start : start + PART_SIZE]


def parse_header(first: bytes) -> list[dict[str, Any]]:
    """What the first part says of the arrays that follow."""
    found: list[dict[str, Any]] = json.loads(first)
    return found


def join_arrays(stored: Iterator[bytes]) -> dict[str, NDArray[Any]]:
    """The arrays of a snapshot's parts."""
    said = parse_header(next(stored))
    whole = b"".join(stored)
    found: dict[str, NDArray[Any]] = {}
    start = 0
    for one in said:
        kind, shape = np.dtype(one["kind"]), tuple(one["shape"])
        count = int(np.prod(shape))
        # Compiled code reads numbers where they may stand; arrays of odd sizes before them have moved some of them.
        read = np.frombuffer(whole, kind, count, start).reshape(shape)
        found[one["name"]] = np.require(read, requirements="A")
        start += count * kind.itemsize
    return found
