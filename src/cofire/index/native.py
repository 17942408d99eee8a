"""The compiled library: location, function signatures and argument checks. Optional."""

from __future__ import annotations

import ctypes
import os
import sys
from ctypes import addressof, c_char, c_int64, c_void_p
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# As in kernels.h. A library of another edition is left alone.
EDITION = 14
OUT_OF_RANGE = -3
SWITCH = "COFIRE_KERNELS"
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
FILE = f"cofire_kernels{SUFFIX}"

_EmptyBuffer = c_char * 0


def library_path() -> Path:
    """Where the compiled library of this package is, or would be."""
    return Path(__file__).parent / "kernels" / FILE


def _load_library() -> Any:
    """The library that was built with this package, or None: it was not built, it was switched off, or it is of another edition.

    Its functions keep the interpreter's lock: they take less time than to give it away and get it back.
    """
    path = library_path()
    if os.environ.get(SWITCH) == "off" or ctypes.sizeof(c_void_p) != 8 or not path.exists():
        return None
    try:
        found = ctypes.PyDLL(str(path))
        return found if found.edition() == EDITION else None
    except (OSError, AttributeError):
        return None


LIBRARY: Any = _load_library()


def bind_function(name: str, *takes: Any) -> Any:
    """A function of the library that counts something, by what it takes; without a library there is none."""
    if LIBRARY is None:
        return None
    found = getattr(LIBRARY, name, None)
    if found is None:
        raise ImportError(f"The kernels are of an older build, without {name}. Build them again: python hatch_build.py")
    found.restype, found.argtypes = c_int64, takes
    return found


def address_of(array: Any) -> int:
    """Where the numbers of an array begin. It must be in one piece, and whoever asks must hold on to it."""
    try:
        return addressof(_EmptyBuffer.from_buffer(array))
    except TypeError:
        if array.flags.writeable or not array.flags.c_contiguous:
            raise
        return int(array.ctypes.data)


def to_native_array(array: NDArray[Any], kind: Any) -> NDArray[Any]:
    """The array itself if it is as C expects it, in one piece and of this kind; else a copy that is."""
    if array.dtype.type is kind and array.dtype.isnative and array.flags.carray:
        return array
    return np.require(array, kind, ("C", "A"))


def check_count(found: int) -> int:
    """What a function counted, unless it found no room, or was asked for what is not there."""
    if found == OUT_OF_RANGE:
        raise IndexError("A row was asked for that the table does not have.")
    if found < 0:
        raise MemoryError("There is no memory left for a search.")
    return found


def check_sizes(*pairs: tuple[Any, Any]) -> None:
    """Refuse arrays whose sizes do not fit: C would read beyond their ends, where numpy raises by itself."""
    for one, other in pairs:
        if one != other:
            raise ValueError(f"Arrays do not fit: {one} and {other}.")
