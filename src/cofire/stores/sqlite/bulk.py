"""Bulk writes, and scans that keep the page cache small. The caller owns the transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, islice
from typing import Any

import apsw

# From so many rows on they are written in bulk, and it pays to ask first which of them are there already.
BULK_THRESHOLD = 1_000
# Rows that are written by one statement, and those that are held ready for it.
ROWS_PER_STATEMENT, ROWS_PER_BATCH = 32, 2_048
# Pages that are kept while very much is read once.
SCAN_CACHE_KB = 1_000


@contextmanager
def disable_foreign_keys(connection: apsw.Connection) -> Iterator[None]:
    """Rows that are written inside point to facts that the very same transaction has looked up; SQLite would look for each of them
    once more, all over the file. All statements are prepared anew afterwards, so that it pays for many rows only, and one that is
    under way on this connection ends with an error."""
    # An interrupt may come as soon as they are off.
    try:
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, 0)
        yield
    finally:
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, 1)


@contextmanager
def limit_page_cache(connection: apsw.Connection) -> Iterator[None]:
    """What a reader reads inside is not looked at again. SQLite keeps few of its pages meanwhile: whenever somebody has written it lets
    go of all, and that takes the longer the more it ever kept. One who writes keeps what it has."""
    if not getattr(connection, "moment", 0):
        yield
        return
    kept = connection.pragma("cache_size")
    try:
        connection.pragma("cache_size", -SCAN_CACHE_KB)
        yield
    finally:
        connection.pragma("cache_size", kept)


@lru_cache
def _expand_statement(sql: str, columns: int, rows: int) -> str:
    return sql.format(build_placeholders(columns, rows))


def write_rows(connection: apsw.Connection, sql: str, rows: Iterable[Sequence[Any]]) -> None:
    """Write rows by a statement that has {} for their values. It is begun once for some dozens, as that takes long beside a row."""
    rest = iter(rows)
    while ready := list(islice(rest, ROWS_PER_BATCH)):
        whole = len(ready) // ROWS_PER_STATEMENT * ROWS_PER_STATEMENT
        together = [
            tuple(chain.from_iterable(ready[at : at + ROWS_PER_STATEMENT]))
            for at in range(0, whole, ROWS_PER_STATEMENT)
        ]
        for some, many in ((together, ROWS_PER_STATEMENT), (ready[whole:], 1)):
            if some:
                connection.executemany(_expand_statement(sql, len(ready[0]), many), some)


def build_placeholders(columns: int, rows: int) -> str:
    """Places for the values of so many rows.

    >>> build_placeholders(2, 3)
    '(?, ?), (?, ?), (?, ?)'
    """
    return ", ".join([f"({', '.join('?' * columns)})"] * rows)
