"""What a store in a file keeps of its use, as its part of the protocol: the log, uses and communities."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

import apsw

from cofire.learned import Group, Keeping, Occasion, Shown, Use
from cofire.stores.sqlite import learning, occasions, recall_log
from cofire.stores.sqlite.connecting import Lines


class Learning:
    """What use asks of a store in a file."""

    _lines: Lines | None
    _unlogged: recall_log.Shelved

    def _reading(self) -> AbstractContextManager[apsw.Connection]:
        raise NotImplementedError

    def _glancing(self) -> AbstractContextManager[apsw.Connection]:
        raise NotImplementedError

    def _open_lines(self) -> Lines:
        raise NotImplementedError

    def log(self, shown: Shown, keeping: Keeping) -> None:
        if self._open_lines().writer is not None and self._unlogged.add(shown, keeping):
            self._write_log()

    def shown(self, id: str) -> Shown | None:
        with self._reading() as connection:
            return self._unlogged.find(id) or recall_log.find(connection, id)

    def uses(self, ids: Sequence[str]) -> dict[str, Use]:
        with self._reading() as connection:
            return learning.uses(connection, ids)

    def occasions(self, ids: Sequence[str], limit: int) -> list[Occasion]:
        with self._glancing() as connection:
            return occasions.alike(connection, ids, limit)

    def groups(self, scopes: Sequence[str] | None, limit: int, most: int) -> list[Group]:
        with self._reading() as connection:
            return learning.groups(connection, scopes, limit, most)

    def _write_log(self) -> None:
        """Unless others are writing: then what was shown waits, and a recall does not."""
        if not self._unlogged or self._lines is None or self._lines.writer is None:
            return
        try:
            with self._unlogged.leaving() as leaving, self._lines.writer.trying() as connection:
                if connection is not None:
                    self._unlogged.write(connection, leaving)
        except apsw.Error as error:
            recall_log.give_up(error)
