"""Open a store file, run read and write transactions, and translate SQLite's errors."""

from __future__ import annotations

import logging
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from threading import RLock
from urllib.parse import quote

import apsw

from cofire.errors import (
    CofireError,
    StoreBusy,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreNotOpened,
    StoreReadOnly,
)
from cofire.stores.sqlite import schema
from cofire.stores.store_location import expand_store_path

_ERROR_TRANSLATIONS: tuple[tuple[type[apsw.Error], type[CofireError], str, str], ...] = (
    (apsw.BusyError, StoreBusy, "is locked by another process", "Try again, or raise the setting store.busy_seconds."),
    (
        apsw.LockedError,
        StoreBusy,
        "is locked by another process",
        "Try again, or raise the setting store.busy_seconds.",
    ),
    (
        apsw.FullError,
        StoreFull,
        "cannot grow: the disk is full",
        "Free some space; nothing of this write was kept, nothing else was lost.",
    ),
    (
        apsw.ReadOnlyError,
        StoreReadOnly,
        "may be read but not written",
        "Give write permission on the file and its folder, or use another store.",
    ),
    (
        apsw.PermissionsError,
        StoreReadOnly,
        "may not be written",
        "Give write permission on the file and its folder, or use another store.",
    ),
    (
        apsw.CantOpenError,
        StoreNotOpened,
        "cannot be opened",
        "Check that the folder exists and may be read and written.",
    ),
    (apsw.AuthError, StoreNotOpened, "cannot be opened", "Check the permissions of the file."),
    (
        apsw.NotADBError,
        StoreCorrupt,
        "is not a cofire store",
        "Give the path of a cofire store, or of a file that does not exist yet.",
    ),
    (apsw.CorruptError, StoreCorrupt, "is damaged", "Restore a backup with: cofire restore FILE"),
    (apsw.IOError, StoreError, "cannot be read or written", "Check the disk, then run: cofire doctor"),
    (apsw.ConnectionClosedError, StoreClosed, "was closed", "Open the memory again."),
    (apsw.Error, StoreError, "refused", "Run: cofire doctor"),
)


@contextmanager
def translate_errors(path: str) -> Iterator[None]:
    """Turn what apsw raises into a StoreError that names the file."""
    try:
        yield
    except apsw.Error as error:
        raise to_store_error(error, path) from error


def to_store_error(error: apsw.Error, path: str) -> CofireError:
    """What apsw complains about, as an error of the store at a path."""
    ours, what, way_out = next(
        (ours, what, way) for theirs, ours, what, way in _ERROR_TRANSLATIONS if isinstance(error, theirs)
    )
    return ours(f"The store {path} {what} ({error}).", way_out=way_out)


_log = logging.getLogger("cofire")

IN_MEMORY = ":memory:"
PRAGMAS = (("foreign_keys", True), ("secure_delete", True), ("temp_store", "memory"))
# What a large change touches is kept in memory until it is whole; with SQLite's own 2 MB a dream would go over its pages again and again.
WRITER_CACHE_KB = 32_000
# A recall looks at some fifty pages here and there; with 2 MB most of them would be read anew each time.
READER_CACHE_KB = 16_000
# A statement is prepared anew when so many others were done since it was; the rare ones of a verb come back after a few hundred.
STATEMENT_CACHE_SIZE = 512
MIN_BUSY_WAIT, MAX_BUSY_WAIT = 0.0005, 0.0035


@dataclass(frozen=True, slots=True)
class SqliteOptions:
    """How a file is opened: how long to wait for others, how safe a commit is, and which vector index serves."""

    busy_seconds: float
    synchronous: str
    index: str


class SqliteConnection(apsw.Connection):
    """A connection that knows the moment it reads: a number for each reading, 0 outside of one and in a writing. `seen` is the epoch and
    the version of the store at that moment."""

    moment = 0
    seen: tuple[str, int] = "", -1


_snapshot_numbers = count(1)


def read_state(connection: apsw.Connection) -> tuple[str, int]:
    """The epoch and the version of the store at the moment that the connection reads, or as it is writing them."""
    if isinstance(connection, SqliteConnection) and connection.moment and not connection.in_transaction:
        return connection.seen
    epoch, version = connection.execute(_SELECT_STATE).get
    return str(epoch), int(version)


_SELECT_STATE = "SELECT epoch, version FROM state"


class LockedConnection:
    """A connection with the lock that keeps it to one thread at a time."""

    def __init__(self, connection: SqliteConnection, busy_seconds: float) -> None:
        self.connection = connection
        self._patience = busy_seconds
        self.lock = RLock()
        self._depth = 0
        self._look: apsw.Cursor | None = None

    def begin_reading(self) -> apsw.Connection:
        """All that is read from now on is of one moment; a reading within a reading is part of it.

        SQLite stays at a moment as long as a statement is not at its end. So one look at the state serves for three statements.
        """
        self.lock.acquire()
        self._depth += 1
        try:
            if self._depth == 1 and not self.connection.in_transaction:
                self.look_again()
                self._look = self.connection.execute(_SELECT_STATE)
                self.connection.seen = next(self._look)
                self.connection.moment = next(_snapshot_numbers)
        except BaseException:
            self.end_reading()
            raise
        return self.connection

    def look_again(self) -> None:
        """Make sure that the connection sees what others wrote. SQLite does by itself."""

    def end_reading(self) -> None:
        """Let go of the moment."""
        try:
            self._depth -= 1
            if self._depth == 0:
                self.connection.moment = 0
                look, self._look = self._look, None
                if look is not None:
                    look.close()
        finally:
            self.lock.release()

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """All that is written inside is kept, or none of it; kept at the end, unless that was done inside."""
        with self.lock:
            try:
                # Inside, since an interrupt may come when it has just begun, and nobody else could write before this process ends.
                self.connection.execute("BEGIN IMMEDIATE")
                yield self.connection
                if self.connection.in_transaction:
                    self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise

    @contextmanager
    def trying(self) -> Iterator[apsw.Connection | None]:
        """The same as writing where nobody else writes at the moment, else nothing."""
        if not self.lock.acquire(blocking=False):
            yield None
            return
        try:
            begun = self._begun_at_once()
            yield self.connection if begun else None
            if begun:
                self.connection.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise
        finally:
            self.lock.release()

    def _begun_at_once(self) -> bool:
        """Begin to write without waiting for others; tells whether that was possible."""
        if self.connection.in_transaction or self._look is not None:
            return False
        with self.at_once():
            try:
                self.connection.execute("BEGIN IMMEDIATE")
            except apsw.BusyError:
                return False
        return True

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """What is done inside waits for nobody."""
        self.connection.set_busy_handler(None)
        try:
            yield
        finally:
            self.connection.set_busy_handler(make_busy_handler(self._patience))


class ReadOnlyConnection(LockedConnection):
    """A line for reading alone. Where the file is taken as it stands it is opened anew when others have written to it, or begin to."""

    def __init__(self, path: str, options: SqliteOptions) -> None:
        self._path, self._options = os.path.abspath(path), options
        self._stands = _read_file_state(self._path)
        super().__init__(_open_read_only(path, options), options.busy_seconds)

    def look_again(self) -> None:
        if self._look is not None or not self.connection.open_flags & apsw.SQLITE_OPEN_URI:
            return
        now = _read_file_state(self._path)
        if now != self._stands:
            fresh = _open_read_only(self._path, self._options)
            self.connection.close()
            self.connection, self._stands = fresh, now


class CurrentProcess:
    """The process that this is. A recall asks a dozen times; the system is asked once, and again where a fork begins."""

    process = os.getpid()

    @classmethod
    def look_again(cls) -> None:
        cls.process = os.getpid()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=CurrentProcess.look_again)


@dataclass(frozen=True)
class ConnectionPair:
    """The two connections of a store; one and the same for a store in memory, no writer for a file that may only be read."""

    path: str
    reader: LockedConnection
    writer: LockedConnection | None
    process: int = field(default_factory=lambda: CurrentProcess.process)

    @property
    def are_of_another_process(self) -> bool:
        """Whether a fork carried them here. SQLite's locks stayed behind, so they must not be touched; one in memory has none."""
        return self.process != CurrentProcess.process and self.path != IN_MEMORY

    def for_writing(self) -> LockedConnection:
        if self.writer is None:
            raise StoreReadOnly(
                f"The store {self.path} may be read but not written.",
                way_out="Give write permission on the file and its folder, or use another store.",
            )
        return self.writer

    def settle(self, *, patient: bool) -> bool:
        """Bring all that was written into the file and empty its log, unless somebody reads just now; then it is done later. One who
        is `patient` waits for those who read, and keeps others from writing meanwhile. Tells whether it was done."""
        with (line := self.for_writing()).lock, nullcontext() if patient else line.at_once():
            level = logging.WARNING if patient else logging.DEBUG
            empty = partial(line.connection.wal_checkpoint, mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            return _try_maintenance(empty, "The log is not emptied yet", level)

    def write_anew(self) -> None:
        """Write the whole file anew. Where somebody goes on reading, the log would only hold a second one."""
        if self.settle(patient=True):
            with (line := self.for_writing()).lock:
                said = "The file was not written anew, so that traces may be left in it"
                _try_maintenance(partial(line.connection.execute, "VACUUM"), said, logging.WARNING)
            self.settle(patient=True)

    def close(self) -> None:
        for line in {id(line): line for line in (self.writer, self.reader) if line}.values():
            with line.lock:
                line.connection.close()


def _try_maintenance(act: Callable[[], object], otherwise: str, level: int) -> bool:
    """Whether something could be done. If not, it is done another time; it has no say in what was kept already."""
    try:
        act()
    except apsw.Error as error:
        _log.log(level, "%s: %s", otherwise, error)
        return False
    return True


def open_connections(path: str, options: SqliteOptions) -> ConnectionPair:
    """Open or create a store; a file that may not be written is opened for reading."""
    with translate_errors(path):
        if path == IN_MEMORY:
            only = LockedConnection(_prepare_writer(_open_connection(path), path, options), options.busy_seconds)
            return ConnectionPair(path, only, only)
        path = str(expand_store_path(path))
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        writer = _open_writer(path, options)
        if writer is None:
            return ConnectionPair(path, ReadOnlyConnection(path, options), None)
        reader = _open_connection(path)
        _configure_connection(reader, options)
        reader.pragma("cache_size", -READER_CACHE_KB)
        return ConnectionPair(
            path, LockedConnection(reader, options.busy_seconds), LockedConnection(writer, options.busy_seconds)
        )


def _open_connection(path: str) -> SqliteConnection:
    return SqliteConnection(path, statementcachesize=STATEMENT_CACHE_SIZE)


def _open_writer(path: str, options: SqliteOptions) -> SqliteConnection | None:
    try:
        return _prepare_writer(_open_connection(path), path, options)
    except apsw.ReadOnlyError:
        return None
    except apsw.CantOpenError:
        if Path(path).is_file():
            return None
        raise


def _prepare_writer(connection: SqliteConnection, path: str, options: SqliteOptions) -> SqliteConnection:
    _configure_connection(connection, options)
    connection.pragma("cache_size", -WRITER_CACHE_KB)
    schema.check_owner(connection, path)
    if connection.readonly("main"):
        raise apsw.ReadOnlyError(path)
    _enable_wal(connection, options)
    schema.migrate_schema(connection)
    return connection


def _enable_wal(connection: apsw.Connection, options: SqliteOptions) -> None:
    """Switch to write-ahead logging. SQLite does not wait here when others open the new file too, so this does."""
    deadline = time.monotonic() + options.busy_seconds
    while True:
        try:
            connection.pragma("journal_mode", "wal")
            return
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _configure_connection(connection: apsw.Connection, options: SqliteOptions) -> None:
    connection.set_busy_handler(make_busy_handler(options.busy_seconds))
    # Else a statement is planned anew for every value that is bound to it, which takes longer than most of them.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    # One by one: what a pragma answers would end the reading of those after it.
    for name, value in (("synchronous", options.synchronous), *PRAGMAS):
        connection.pragma(name, value)


def make_busy_handler(seconds: float) -> Callable[[int], bool]:
    """Wait for others a short while of chance length, again and again until the time is up.

    SQLite's own way is to sleep longer each time, up to a tenth of a second: among many writers those who have waited the
    longest then look the least often, and the file lies idle meanwhile.
    """
    deadline = 0.0

    def waits(times: int) -> bool:
        nonlocal deadline
        if times == 0:
            deadline = time.monotonic() + seconds
        if time.monotonic() >= deadline:
            return False
        time.sleep(random.uniform(MIN_BUSY_WAIT, MAX_BUSY_WAIT))
        return True

    return waits


def _read_file_state(path: str) -> tuple[object, ...]:
    """What tells whether a file, or the log beside it, is another than before."""
    return tuple(_stat_file(path + end) for end in ("", "-wal"))


def _stat_file(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _open_read_only(path: str, options: SqliteOptions) -> SqliteConnection:
    """For reading alone. In a folder that may not be written SQLite cannot share a log, so the file is taken as it stands."""
    try:
        connection = SqliteConnection(path, flags=apsw.SQLITE_OPEN_READONLY)
        schema.check_owner(connection, path)
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        uri = f"file:{quote(path)}?immutable=1"
        connection = SqliteConnection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        schema.check_owner(connection, path)
    schema.check_current_version(connection, path)
    connection.set_busy_handler(make_busy_handler(options.busy_seconds))
    return connection


class SqliteReadTransaction:
    """A reading of a store, in a `with`. It is one small object, since a recall has dozens of them."""

    __slots__ = ("_line", "_path")

    def __init__(self, line: LockedConnection, path: str) -> None:
        self._line, self._path = line, path

    def __enter__(self) -> apsw.Connection:
        try:
            return self._line.begin_reading()
        except apsw.Error as error:
            raise to_store_error(error, self._path) from error

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            self._line.end_reading()
        except apsw.Error as late:
            raise to_store_error(late, self._path) from late
        if isinstance(error, apsw.Error):
            raise to_store_error(error, self._path) from error


class SqliteStatementRead(SqliteReadTransaction):
    """The same for a single statement, which is of one moment by itself."""

    __slots__ = ()

    def __enter__(self) -> apsw.Connection:
        self._line.lock.acquire()
        try:
            self._line.look_again()
        except apsw.Error as error:
            self._line.lock.release()
            raise to_store_error(error, self._path) from error
        except BaseException:
            self._line.lock.release()
            raise
        return self._line.connection

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._line.lock.release()
        if isinstance(error, apsw.Error):
            raise to_store_error(error, self._path) from error
