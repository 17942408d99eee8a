"""Ledgers: what a writer is about to do and has done, a line each, in a file that outlives it.

A line is written before the act (`will`) and after it (`did`), so that whoever reads a ledger knows what must be in the store,
what must not, and what may be either way because its writer was killed in between.
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
    """One line. `texts` are what is remembered, `ids` what was acknowledged, or is to be forgotten; `milliseconds` what it took."""

    act: Act
    done: bool
    texts: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    milliseconds: float = 0.0


class Ledger:
    """A ledger to write in. Opened again after a kill, it goes on where it stopped."""

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
        """One system call a line: a killed writer leaves whole lines, or at worst an unfinished last one."""
        os.write(self._file, json.dumps(asdict(entry)).encode() + b"\n")


class Reader:
    """Follows a ledger that somebody else writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._at = 0

    def more(self) -> list[Entry]:
        """The entries written since the last look; an unfinished line is left for the next."""
        if not self.path.exists():
            return []
        with self.path.open("rb") as file:
            file.seek(self._at)
            seen = file.read()
        whole = seen[: seen.rfind(b"\n") + 1]
        self._at += len(whole)
        return list(entries(whole))


def entries(lines: bytes) -> Iterator[Entry]:
    """The entries of whole lines; what a killed writer left of one is no entry."""
    for line in lines.splitlines():
        try:
            read = json.loads(line or b"null")
        except ValueError:
            continue
        if read is not None:
            yield Entry(**{**read, "texts": tuple(read["texts"]), "ids": tuple(read["ids"])})
