"""Receipts: what was forgotten, each in a file of its own beside the store, until it runs out. Knows nothing of what the rows mean."""

from __future__ import annotations

import base64
import gzip
import json
import logging
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cofire import receipt_rows
from cofire.errors import InvalidInput, StoreError, map_exceptions
from cofire.places import path_of
from cofire.revising import Kept, Receipt, Taken

_log = logging.getLogger("cofire")

FORMAT, VERSION = "cofire receipt", 1
ENDING = ".json.gz"
_STAMP = "%Y%m%dT%H%M%SZ"


class Receipts:
    """Receipts in a folder, or in this process alone. A file tells by its name when it runs out."""

    def __init__(self, home: Path | None) -> None:
        self._home = home
        self._kept: dict[str, Kept] = {}

    def keep(self, receipt: Receipt, taken: Taken) -> Receipt:
        """Write a receipt, in place of an earlier one of its id."""
        if self._home is None:
            self._kept[receipt.id] = Kept(receipt, taken)
            return receipt
        path = self._home / f"{receipt.id}.{receipt.expires.astimezone(UTC):{_STAMP}}{ENDING}"
        kept = replace(receipt, path=str(path))
        with _errors(self._home):
            self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(path, _encoded(kept, taken))
        return kept

    def find(self, given: str) -> Kept | None:
        """A receipt by its id, or by the path of its file."""
        if given in self._kept:
            return self._kept[given]
        path = self._path(given)
        if path is None:
            return None
        with _errors(path.parent):
            return _decoded(path)

    def others(self, receipt: Receipt) -> list[Kept]:
        """All but one, the latest first. One that cannot be read is left to who asks for it."""
        found = list(self._kept.values())
        for path in self._files():
            try:
                found.append(_decoded(path))
            except (InvalidInput, OSError) as error:
                _log.warning("A receipt was left aside: %s", error)
        others = (one for one in found if one.receipt.id != receipt.id)
        return sorted(others, key=lambda one: (one.receipt.made, one.receipt.id), reverse=True)

    def mark_undone(self, kept: Kept, now: datetime) -> None:
        """Note when it was brought back, in its place. What is back is back, even where that cannot be noted."""
        undone = replace(kept.receipt, undone=now)
        if undone.id in self._kept:
            self._kept[undone.id] = replace(kept, receipt=undone)
        if undone.path:
            try:
                _write(Path(undone.path), _encoded(undone, kept.taken))
            except OSError as error:
                _log.warning("That the receipt %s was undone could not be noted: %s", undone.id, error)

    def drop(self, receipt: Receipt) -> None:
        """Remove a receipt."""
        self._kept.pop(receipt.id, None)
        if receipt.path:
            with _errors(Path(receipt.path).parent):
                Path(receipt.path).unlink(missing_ok=True)

    def sweep(self, now: datetime) -> int:
        """Remove those that have run out; tells how many. What cannot be removed now will be another time."""
        stale = [kept.receipt for kept in self._kept.values() if kept.receipt.expires <= now]
        stale += [Receipt(path.name, str(path), now, now, ()) for path in self._files() if _runs_out(path) <= now]
        with suppress(StoreError):
            for receipt in stale:
                self.drop(receipt)
        return len(stale)

    def strike(self, ids: Sequence[str]) -> None:
        """Take facts out of all receipts, and remove a receipt that has no others."""
        gone = frozenset(ids)
        for kept in [*self._kept.values(), *map(_decoded, self._files())]:
            left = replace(kept.receipt, ids=tuple(id for id in kept.receipt.ids if id not in gone))
            rows = receipt_rows.without(kept.taken.rows, gone)
            if not left.ids:
                self.drop(kept.receipt)
            elif rows != kept.taken.rows:
                self.keep(left, replace(kept.taken, rows=rows))

    @property
    def is_empty(self) -> bool:
        return not self._kept and not self._files()

    def _files(self) -> list[Path]:
        return sorted(self._home.glob(f"*{ENDING}")) if self._home is not None else []

    def _path(self, given: str) -> Path | None:
        if given.isalnum():
            return next((path for path in self._files() if path.name.startswith(f"{given}.")), None)
        path = path_of(given)
        return path if path.is_file() else None


def _runs_out(path: Path) -> datetime:
    """What a name says of the end of a receipt; a file that was named otherwise never ends."""
    try:
        return datetime.strptime(path.name.removesuffix(ENDING).rpartition(".")[2], _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)


def _write(path: Path, content: bytes) -> None:
    """For the owner's eyes, and on the disk before anything is removed."""
    unfinished = path.with_suffix(".unfinished")
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    unfinished.replace(path)


def _encoded(receipt: Receipt, taken: Taken) -> bytes:
    said = {
        "is": FORMAT,
        "version": VERSION,
        "id": receipt.id,
        "made": receipt.made.isoformat(),
        "expires": receipt.expires.isoformat(),
        "facts": receipt.ids,
        "scopes": sorted(receipt.scopes),
        "undone": receipt.undone and receipt.undone.isoformat(),
        "rows": taken.rows,
    }
    return gzip.compress(json.dumps(said, ensure_ascii=False, default=_bytes).encode("utf-8"))


def _bytes(value: Any) -> dict[str, str]:
    return {"base64": base64.b64encode(value).decode("ascii")}


def _decoded(path: Path) -> Kept:
    with map_exceptions(
        dict.fromkeys((EOFError, gzip.BadGzipFile, zlib.error, ValueError, KeyError, TypeError), InvalidInput),
        problem=f"{path} is not a receipt that can be read: {{error}}.",
        way_out="Give the id or the path of a receipt that forget has made.",
    ):
        said = json.loads(gzip.decompress(path.read_bytes()), object_hook=_revived)
        if not isinstance(said, dict) or said.get("is") != FORMAT or said.get("version", VERSION + 1) > VERSION:
            raise ValueError("it was not made by forget, or by a newer cofire")
        made, expires = (datetime.fromisoformat(said[label]) for label in ("made", "expires"))
        undone = datetime.fromisoformat(said["undone"]) if said.get("undone") else None
        scopes = frozenset(said.get("scopes", ()))
        receipt = Receipt(said["id"], str(path), made, expires, tuple(said["facts"]), scopes, undone)
        return Kept(receipt, Taken(rows=said["rows"]))


def _revived(value: dict[str, Any]) -> Any:
    return base64.b64decode(value["base64"]) if value.keys() == {"base64"} else value


@contextmanager
def _errors(folder: Path) -> Iterator[None]:
    with map_exceptions(
        {OSError: StoreError},
        problem=f"The receipts in {folder} cannot be used: {{error}}.",
        way_out="Check the folder and its permissions, or forget with purge, which writes none.",
    ):
        yield
