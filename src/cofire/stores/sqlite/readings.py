"""Readings: a look at a store over its reading line, in a `with`. What SQLite complains of is told in our words."""

from __future__ import annotations

import apsw

from cofire.stores.sqlite.connecting import Line
from cofire.stores.sqlite.faults import in_our_words


class Reading:
    """A reading of a store, in a `with`. It is one small object, since a recall has dozens of them."""

    __slots__ = ("_line", "_path")

    def __init__(self, line: Line, path: str) -> None:
        self._line, self._path = line, path

    def __enter__(self) -> apsw.Connection:
        try:
            return self._line.begin_reading()
        except apsw.Error as error:
            raise in_our_words(error, self._path) from error

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            self._line.end_reading()
        except apsw.Error as late:
            raise in_our_words(late, self._path) from late
        if isinstance(error, apsw.Error):
            raise in_our_words(error, self._path) from error


class Glance(Reading):
    """The same for a single statement, which is of one moment by itself."""

    __slots__ = ()

    def __enter__(self) -> apsw.Connection:
        self._line.lock.acquire()
        try:
            self._line.look_again()
        except apsw.Error as error:
            self._line.lock.release()
            raise in_our_words(error, self._path) from error
        except BaseException:
            self._line.lock.release()
            raise
        return self._line.connection

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._line.lock.release()
        if isinstance(error, apsw.Error):
            raise in_our_words(error, self._path) from error
