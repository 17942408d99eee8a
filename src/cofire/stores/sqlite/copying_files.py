"""Copying files: a database as a whole, while others use it."""

from __future__ import annotations

from pathlib import Path

import apsw

ALL_PAGES = -1


def copy(connection: apsw.Connection, path: str) -> None:
    """Copy a live database to a new file; one that cannot be finished is taken away again."""
    target = apsw.Connection(path)
    try:
        # All at once: it would begin anew with each page that another process writes meanwhile.
        with target.backup("main", connection, "main") as backup:
            backup.step(ALL_PAGES)
    except BaseException:
        target.close()
        Path(path).unlink(missing_ok=True)
        raise
    target.close()
