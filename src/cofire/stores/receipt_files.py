"""Receipts of forgotten facts: one file each beside the store, until they expire."""

from __future__ import annotations

import base64
import gzip
import json
import logging
import os
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cofire.errors import InvalidInput, StoreError, map_exceptions
from cofire.model import ForgetReceipt, KeptReceipt, RemovedCascade
from cofire.stores import receipt_rows
from cofire.stores.store_location import expand_path

_log = logging.getLogger("cofire")

RECEIPT_FORMAT, RECEIPT_VERSION = "cofire receipt", 1
RECEIPT_SUFFIX = ".json.gz"
# What a process that was stopped left of a receipt, if nobody has finished it for so many seconds.
UNFINISHED_SUFFIX, UNFINISHED_MAX_SECONDS = ".unfinished", 60.0
_EXPIRY_FORMAT = "%Y%m%dT%H%M%SZ"


class ReceiptFolder:
    """Receipts in a folder, or in this process alone. A file tells by its name when it runs out."""

    def __init__(self, home: Path | None) -> None:
        self._home = home
        self._kept: dict[str, KeptReceipt] = {}

    def keep(self, receipt: ForgetReceipt, taken: RemovedCascade) -> ForgetReceipt:
        """Write a receipt, in place of an earlier one of its id."""
        if self._home is None:
            self._kept[receipt.id] = KeptReceipt(receipt, taken)
            return receipt
        path = self._home / f"{receipt.id}.{receipt.expires.astimezone(UTC):{_EXPIRY_FORMAT}}{RECEIPT_SUFFIX}"
        kept = replace(receipt, path=str(path))
        with _translate_errors(self._home):
            self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write_atomically(path, _encode_receipt(kept, taken))
        return kept

    def find(self, given: str) -> KeptReceipt | None:
        """A receipt by its id, or by the path of its file."""
        if given in self._kept:
            return self._kept[given]
        path = self._path(given)
        return None if path is None else _decode_receipt(path, _OTHER_RECEIPT_WAY_OUT)

    def others(self, receipt: ForgetReceipt) -> list[KeptReceipt]:
        """All but one that keep something, the latest first. One that cannot be read is left to who asks for it."""
        found = list(self._kept.values())
        for path in self._files():
            try:
                found.append(_decode_receipt(path, _REMOVE_FILE_WAY_OUT))
            except (InvalidInput, StoreError) as error:
                _log.warning("A receipt was left aside: %s", error.problem)
        others = (one for one in found if one.receipt.id != receipt.id and one.taken.rows)
        return sorted(others, key=lambda one: (one.receipt.made, one.receipt.id), reverse=True)

    def mark_undone(self, kept: KeptReceipt, now: datetime) -> None:
        """Note when it was brought back, in its place. What is back is back, even where that cannot be noted."""
        undone = replace(kept.receipt, undone=now)
        if undone.id in self._kept:
            self._kept[undone.id] = replace(kept, receipt=undone)
        if undone.path:
            try:
                _write_atomically(Path(undone.path), _encode_receipt(undone, kept.taken))
            except OSError as error:
                _log.warning("That the receipt %s was undone could not be noted: %s", undone.id, error)

    def drop(self, receipt: ForgetReceipt) -> None:
        """Remove a receipt."""
        self._kept.pop(receipt.id, None)
        if receipt.path:
            with _translate_errors(Path(receipt.path).parent):
                Path(receipt.path).unlink(missing_ok=True)

    def sweep(self, now: datetime) -> int:
        """Remove those that have run out; tells how many. What cannot be removed now will be another time."""
        stale = [kept.receipt for kept in self._kept.values() if kept.receipt.expires <= now]
        with suppress(StoreError):
            self._clear_up()
            stale += [
                ForgetReceipt(path.name, str(path), now, now, ())
                for path in self._files()
                if _parse_expiry(path) <= now
            ]
            for receipt in stale:
                self.drop(receipt)
        return len(stale)

    def strike(self, ids: Sequence[str]) -> None:
        """Take facts out of all receipts, and remove a receipt that has no others. Where one cannot be read none is changed: nobody
        knows whose words it keeps."""
        gone = frozenset(ids)
        self._clear_up()
        for kept in [*self._kept.values(), *[_decode_receipt(path, _REMOVE_FILE_WAY_OUT) for path in self._files()]]:
            left = replace(kept.receipt, ids=tuple(id for id in kept.receipt.ids if id not in gone))
            rows = receipt_rows.remove_facts(kept.taken.rows, gone)
            if not left.ids:
                self.drop(kept.receipt)
            elif rows != kept.taken.rows:
                self.keep(left, replace(kept.taken, rows=rows))

    @property
    def is_empty(self) -> bool:
        """Whether there is none for sure: a folder that cannot be read may hold some."""
        with suppress(StoreError):
            return not self._kept and not self._files()
        return False

    def _files(self) -> list[Path]:
        """The files of receipts; none where there is no folder."""
        if self._home is None:
            return []
        with _translate_errors(self._home), suppress(FileNotFoundError, NotADirectoryError):
            return sorted(path for path in self._home.iterdir() if path.name.endswith(RECEIPT_SUFFIX))
        return []

    def _clear_up(self) -> None:
        """Remove receipts that nobody will finish: they keep words too."""
        if self._home is None or not self._home.is_dir():
            return
        with _translate_errors(self._home):
            for path in self._home.glob(f"*{UNFINISHED_SUFFIX}"):
                # Another process may finish it just now.
                with suppress(FileNotFoundError):
                    if time.time() - path.stat().st_mtime > UNFINISHED_MAX_SECONDS:
                        path.unlink()

    def _path(self, given: str) -> Path | None:
        if given.isalnum():
            return next((path for path in self._files() if path.name.startswith(f"{given}.")), None)
        path = expand_path(given)
        with _translate_errors(path.parent):
            return path if path.is_file() else None


def _parse_expiry(path: Path) -> datetime:
    """What a name says of the end of a receipt; a file that was named otherwise never ends."""
    try:
        return datetime.strptime(path.name.removesuffix(RECEIPT_SUFFIX).rpartition(".")[2], _EXPIRY_FORMAT).replace(
            tzinfo=UTC
        )
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)


def _write_atomically(path: Path, content: bytes) -> None:
    """For the owner's eyes, and on the disk before anything is removed. Others may write the same one at the same time."""
    number, name = tempfile.mkstemp(UNFINISHED_SUFFIX, f"{path.name}.", path.parent)
    try:
        with os.fdopen(number, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _encode_receipt(receipt: ForgetReceipt, taken: RemovedCascade) -> bytes:
    said = {
        "is": RECEIPT_FORMAT,
        "version": RECEIPT_VERSION,
        "id": receipt.id,
        "made": receipt.made.isoformat(),
        "expires": receipt.expires.isoformat(),
        "facts": receipt.ids,
        "scopes": sorted(receipt.scopes),
        "undone": receipt.undone and receipt.undone.isoformat(),
        "rows": taken.rows,
    }
    return gzip.compress(json.dumps(said, ensure_ascii=False, default=_encode_bytes).encode("utf-8"))


def _encode_bytes(value: Any) -> dict[str, str]:
    return {"base64": base64.b64encode(value).decode("ascii")}


_DAMAGE_ERRORS = (EOFError, gzip.BadGzipFile, zlib.error, ValueError, KeyError, TypeError, RecursionError)
_OTHER_RECEIPT_WAY_OUT = "Give the id or the path of a receipt that forget has made."
_REMOVE_FILE_WAY_OUT = "Remove this file, then purge again: nobody can tell whose words it keeps."


def _decode_receipt(path: Path, way_out: str) -> KeptReceipt:
    with map_exceptions(
        {**dict.fromkeys(_DAMAGE_ERRORS, InvalidInput), OSError: StoreError},
        problem=f"{path} is not a receipt that can be read: {{error}}.",
        way_out=way_out,
    ):
        said = json.loads(gzip.decompress(path.read_bytes()), object_hook=_decode_bytes)
        if (
            not isinstance(said, dict)
            or said.get("is") != RECEIPT_FORMAT
            or said.get("version", RECEIPT_VERSION + 1) > RECEIPT_VERSION
        ):
            raise ValueError("it was not made by forget, or by a newer cofire")
        if not receipt_rows.has_receipt_form(said["rows"]):
            raise ValueError("its rows are not as forget writes them")
        return KeptReceipt(_parse_receipt(said, path), RemovedCascade(rows=said["rows"]))


def _parse_receipt(said: dict[str, Any], path: Path) -> ForgetReceipt:
    made, expires = _parse_moment(said["made"]), _parse_moment(said["expires"])
    undone = _parse_moment(said["undone"]) if said.get("undone") else None
    (id,), facts, scopes = _parse_texts([said["id"]]), _parse_texts(said["facts"]), _parse_texts(said.get("scopes", []))
    return ForgetReceipt(id, str(path), made, expires, facts, frozenset(scopes), undone)


def _parse_moment(said: Any) -> datetime:
    moment = datetime.fromisoformat(said)
    if moment.tzinfo is None:
        raise ValueError(f"{said} is of no time zone")
    return moment


def _parse_texts(said: Any) -> tuple[str, ...]:
    if not isinstance(said, list) or not all(isinstance(one, str) for one in said):
        raise TypeError("ids and scopes are not text")
    return tuple(said)


def _decode_bytes(value: dict[str, Any]) -> Any:
    return base64.b64decode(value["base64"]) if value.keys() == {"base64"} else value


@contextmanager
def _translate_errors(folder: Path) -> Iterator[None]:
    with map_exceptions(
        {OSError: StoreError},
        problem=f"The receipts in {folder} cannot be used: {{error}}.",
        way_out="Check the folder and its permissions.",
    ):
        yield
