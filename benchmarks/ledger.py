"""Ledgers: a file per writer with a line for each action, before and after it. The file survives the process.

A line is written before the action (`will`) and after it (`did`). So a ledger shows what must be in the store, what must not,
and what may be either because its writer was killed in between.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

Act = Literal["remember", "forget"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line. `texts` are remembered, `ids` are acknowledged or to be forgotten, `milliseconds` is the duration."""

    act: Act
    done: bool
    texts: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    milliseconds: float = 0.0


class Ledger:
    """A ledger for writing. Opened again after a kill, it continues where it stopped."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(self._file, b"\n")

    def will(self, act: Act, *, texts: Iterable[str] = (), ids: Iterable[str] = ()) -> None:
        self._write(Entry(act, False, tuple(texts), tuple(ids)))

    def did(self, act: Act, *, texts: Iterable[str] = (), ids: Iterable[str] = (), milliseconds: float = 0.0) -> None:
        self._write(Entry(act, True, tuple(texts), tuple(ids), milliseconds))

    def close(self) -> None:
        os.close(self._file)

    def _write(self, entry: Entry) -> None:
        """Write a line in one system call: a killed writer leaves at most one incomplete last line."""
        os.write(self._file, json.dumps(asdict(entry)).encode() + b"\n")


class Reader:
    """Follow the ledger of another process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._at = 0

    def more(self) -> list[Entry]:
        """The entries since the last call; an incomplete line is left for the next."""
        if not self.path.exists():
            return []
        with self.path.open("rb") as file:
            file.seek(self._at)
            seen = file.read()
        whole = seen[: seen.rfind(b"\n") + 1]
        self._at += len(whole)
        return list(entries(whole))


def entries(lines: bytes) -> Iterator[Entry]:
    """The entries of complete lines; an incomplete line of a killed writer is skipped."""
    for line in lines.splitlines():
        try:
            read = json.loads(line or b"null")
        except ValueError:
            continue
        if read is not None:
            yield Entry(**{**read, "texts": tuple(read["texts"]), "ids": tuple(read["ids"])})
