"""Connecting: how the two connections of a file are set up."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from cofire.stores.sqlite.connections import SqliteOptions, open_connections

OPTIONS = SqliteOptions(busy_seconds=1.0, synchronous="full", index="signs")


@pytest.mark.parametrize("line", ["reader", "writer"])
@pytest.mark.parametrize(
    ("pragma", "value"),
    [
        ("synchronous", 2),
        ("foreign_keys", 1),
        ("secure_delete", 1),
        ("temp_store", 2),
    ],
)
def test_every_pragma_holds_on_both_connections(tmp_path: Path, line: str, pragma: str, value: int) -> None:
    lines = open_connections(str(tmp_path / "store.db"), OPTIONS)
    try:
        assert getattr(lines, line).connection.pragma(pragma) == value
    finally:
        lines.close()


@pytest.mark.parametrize("line", ["reader", "writer"])
def test_no_statement_is_planned_anew_for_what_is_bound_to_it(tmp_path: Path, line: str) -> None:
    lines = open_connections(str(tmp_path / "store.db"), OPTIONS)
    try:
        assert getattr(lines, line).connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, -1) == 1
    finally:
        lines.close()
