"""JSON lines beside the store that several processes may append to."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import IO, Any

from cofire.errors import StoreError, map_exceptions
from cofire.stores.store_location import expand_path

if sys.platform == "win32":
    import msvcrt

    def _lock_exclusively(file: IO[bytes]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)

else:
    import fcntl

    def _lock_exclusively(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)


FILE_PATTERN = "*.jsonl"
LOCK_FILE = ".lock"

JournalLine = Mapping[str, Any]


class Journal:
    """Lines by the name of their file, in the folder that is named, else in `home`, else nowhere but in this process."""

    def __init__(self, home: Path | None) -> None:
        self._home = home
        self._kept: dict[str, list[bytes]] = {}
        self._turn = Lock()

    def append(self, name: str, line: JournalLine, *, folder: str, most: int) -> None:
        """Add a line. A file that holds twice as many as are kept is cut to the newest."""
        written = json.dumps(line, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
        if (place := self.place(folder)) is None:
            with self._turn:
                self._kept[name] = [*self._kept.get(name, ()), written][-most:]
            return
        with _translate_errors(place), self._turn, _exclusive_lock(place):
            path = place / f"{name}.jsonl"
            _append_line(path, written)
            lines = path.read_bytes().splitlines(keepends=True)
            if len(lines) >= 2 * most:
                _replace_file(path, lines[-most:])

    def lines(self, name: str, *, folder: str, most: int) -> list[dict[str, Any]]:
        """The newest lines, the oldest of them first. One that a crash cut short is passed over."""
        place = self.place(folder)
        if place is None:
            return _parse_lines(self._kept.get(name, ()))
        path = place / f"{name}.jsonl"
        with _translate_errors(place):
            return _parse_lines(path.read_bytes().splitlines()[-most:]) if path.exists() else []

    def drop(self, ids: Sequence[str], *, folder: str) -> int:
        """Take out every line that mentions one of these ids; tells how many that were."""
        named = [id.encode("utf-8") for id in ids]
        return self._keep_only(lambda line: not any(id in line for id in named), folder)

    def clear(self, *, folder: str) -> int:
        """Remove all lines and the folder that is then empty; tells how many lines that were."""
        gone = self._keep_only(lambda line: False, folder)
        place = self.place(folder)
        if place is not None and place.is_dir():
            with _translate_errors(place), self._turn, _exclusive_lock(place), suppress(PermissionError):
                (place / LOCK_FILE).unlink()
            with suppress(OSError):
                place.rmdir()
        return gone

    def place(self, folder: str) -> Path | None:
        """Where lines are kept; None is in this process alone."""
        return expand_path(folder) if folder else self._home

    def _keep_only(self, wanted: Callable[[bytes], bool], folder: str) -> int:
        place = self.place(folder)
        if place is None:
            with self._turn:
                before = sum(map(len, self._kept.values()))
                self._kept = {name: [line for line in lines if wanted(line)] for name, lines in self._kept.items()}
                return before - sum(map(len, self._kept.values()))
        if not place.is_dir():
            return 0
        with _translate_errors(place), self._turn, _exclusive_lock(place):
            return sum(_filter_file(path, wanted) for path in sorted(place.glob(FILE_PATTERN)))


def _filter_file(path: Path, wanted: Callable[[bytes], bool]) -> int:
    """Leave only the wanted lines in a file, or no file at all; tells how many went."""
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if wanted(line)]
    if not kept:
        path.unlink()
    elif len(kept) < len(lines):
        _replace_file(path, kept)
    return len(lines) - len(kept)


def _append_line(path: Path, line: bytes) -> None:
    """In one write; after a line that a crash cut short, on a line of its own."""
    with path.open("ab+") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            line = line if file.read(1) == b"\n" else b"\n" + line
        file.write(line)


def _replace_file(path: Path, lines: Sequence[bytes]) -> None:
    unfinished = path.with_suffix(".new")
    unfinished.write_bytes(b"".join(lines))
    unfinished.replace(path)


def _parse_lines(lines: Sequence[bytes]) -> list[dict[str, Any]]:
    found = []
    for line in lines:
        with suppress(ValueError):
            found.append(json.loads(line))
    return [one for one in found if isinstance(one, dict)]


@contextmanager
def _exclusive_lock(folder: Path) -> Iterator[None]:
    """While no other process writes there. The lock file may have been removed while it was waited for; then once more."""
    while True:
        file = _open_lock_file(folder)
        if file is None:
            continue
        with file:
            _lock_exclusively(file)
            if _is_same_file(folder / LOCK_FILE, file):
                yield
                return


def _open_lock_file(folder: Path) -> IO[bytes] | None:
    """The lock file, made with its folder if need be; None where somebody took the folder away in between."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return (folder / LOCK_FILE).open("ab")
    except FileNotFoundError:
        return None
    except FileExistsError:
        if folder.exists() and not folder.is_dir():
            raise
        return None


def _is_same_file(path: Path, file: IO[bytes]) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _translate_errors(folder: Path) -> Any:
    return map_exceptions(
        {OSError: StoreError},
        problem=f"The snapshots in {folder} cannot be used: {{error}}.",
        way_out="Name another folder with: cofire config set snapshots.folder PATH",
    )
