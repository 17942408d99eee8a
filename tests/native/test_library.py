"""The library: when there is one and when there is none, and how arrays reach it."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hatch_build
from cofire.index import native
from cofire.index.native import (
    EDITION,
    FILE,
    LIBRARY,
    OUT_OF_RANGE,
    SWITCH,
    address_of,
    bind_function,
    check_count,
    to_native_array,
)
from tests.native.conditions import NEEDS_LIBRARY
from tests.no_skips import in_ci

BUILT = native.library_path()


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the library is looked for, in a folder of its own."""
    monkeypatch.setattr(native, "library_path", lambda: tmp_path / FILE)
    return tmp_path / FILE


def made(source: str, at: Path) -> None:
    """A library of one line of C."""
    command = hatch_build.compiler()
    if command is None:
        pytest.skip(hatch_build.NO_COMPILER)
    lines = at.with_suffix(".c")
    lines.write_text(f"{source}\n", encoding="ascii")
    subprocess.run([*command, "-shared", str(lines), *hatch_build.UNIX_FLAGS, "-o", str(at)], check=True)


def test_a_library_that_was_not_built_fails_ci() -> None:
    built = LIBRARY is not None
    assert built or not in_ci(), f"{BUILT} is missing or cannot be loaded, or {SWITCH} is off: python hatch_build.py"


def test_without_a_file_there_is_no_library(elsewhere: Path) -> None:
    assert not elsewhere.exists()
    assert native._load_library() is None


@pytest.mark.parametrize("content", [b"", b"not a library"])
def test_a_file_that_cannot_be_loaded_is_no_library(elsewhere: Path, content: bytes) -> None:
    elsewhere.write_bytes(content)
    assert native._load_library() is None


def test_a_folder_is_no_library(elsewhere: Path) -> None:
    elsewhere.mkdir()
    assert native._load_library() is None


@pytest.mark.parametrize("edition", [EDITION - 1, EDITION + 1])
def test_a_library_of_another_edition_is_left_alone(elsewhere: Path, edition: int) -> None:
    made(f"long long edition(void) {{ return {edition}; }}", elsewhere)
    assert native._load_library() is None


def test_a_library_of_this_edition_is_taken(elsewhere: Path) -> None:
    made(f"long long edition(void) {{ return {EDITION}; }}", elsewhere)
    assert isinstance(native._load_library(), ctypes.PyDLL)


def test_a_library_that_tells_no_edition_is_left_alone(elsewhere: Path) -> None:
    made("long long something_else(void) { return 1; }", elsewhere)
    assert native._load_library() is None


@NEEDS_LIBRARY
def test_the_library_is_not_loaded_when_it_is_switched_off(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(BUILT, elsewhere)
    assert native._load_library() is not None
    monkeypatch.setenv(SWITCH, "off")
    assert native._load_library() is None


def test_the_library_is_not_loaded_where_addresses_are_short(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(f"long long edition(void) {{ return {EDITION}; }}", elsewhere)
    monkeypatch.setattr(native, "ctypes", SimpleNamespace(sizeof=lambda kind: 4, c_void_p=None, PyDLL=ctypes.PyDLL))
    assert native._load_library() is None


def test_without_a_library_it_has_no_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "LIBRARY", None)
    assert bind_function("edition", "") is None


def test_what_is_written_where_an_array_starts_stands_in_it() -> None:
    array = np.zeros(3, np.int64)
    ctypes.c_int64.from_address(address_of(array)).value = 7
    assert array.tolist() == [7, 0, 0]


@pytest.mark.parametrize("kind", [np.bool_, np.uint16, np.int32, np.uint64, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("size", [0, 1, 5])
def test_the_start_of_an_array_is_the_same_whether_it_may_be_written_to_or_not(kind: Any, size: int) -> None:
    array = np.zeros(size, kind)
    first = address_of(array)
    array.flags.writeable = False
    assert address_of(array) == first == array.ctypes.data


def test_an_array_in_pieces_has_no_start() -> None:
    with pytest.raises(TypeError, match="contiguous"):
        address_of(np.zeros((4, 4))[:, 1])


@pytest.mark.parametrize("size", [0, 4])
def test_what_is_whole_is_not_copied(size: int) -> None:
    array = np.zeros(size, np.int64)
    assert to_native_array(array, np.int64) is array
    array.flags.writeable = False
    assert np.shares_memory(to_native_array(array, np.int64), array) or not size


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12)[::3],
        np.arange(12).reshape(3, 4).T,
        np.arange(4, dtype=np.int32),
        np.arange(4)[::-1],
        np.frombuffer(b"\0" + np.arange(4).tobytes(), np.int64, 4, 1),
        np.broadcast_to(np.int64(3), (4,)),
    ],
    ids=["steps", "columns first", "another kind", "backwards", "at an odd address", "one number many times"],
)
def test_what_is_not_whole_is_copied_as_it_reads(array: Any) -> None:
    made_whole = to_native_array(array, np.int64)
    assert made_whole.tolist() == array.tolist()
    assert made_whole.dtype == np.int64
    assert made_whole.flags.c_contiguous
    assert made_whole.flags.aligned
    assert (
        np.frombuffer(ctypes.string_at(address_of(made_whole), made_whole.nbytes), np.int64).tolist()
        == array.ravel().tolist()
    )


def test_numbers_of_another_byte_order_are_copied_as_they_read() -> None:
    swapped = np.arange(4, dtype=np.int64).astype(np.dtype(np.int64).newbyteorder())
    read = ctypes.string_at(address_of(to_native_array(swapped, np.int64)), swapped.nbytes)
    assert np.frombuffer(read, np.int64).tolist() == [0, 1, 2, 3]


def test_an_error_code_becomes_an_exception() -> None:
    assert check_count(0) == 0
    with pytest.raises(IndexError):
        check_count(OUT_OF_RANGE)
