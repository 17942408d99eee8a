"""Turns: which fact comes before and after which in a session. Kept as two arrays over positions; -1 where there is none."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from cofire.stores.index.columns import Columns
from cofire.stores.index.postings import Postings

Places = NDArray[np.int32]

# With more sessions touched at once it is cheaper to put all of them in order anew.
FEW_SESSIONS = 64


class Turns:
    """Neighbours in a session by time, of one moment in the order of telling. Follows the columns; kept in no snapshot."""

    def __init__(self) -> None:
        self.before: Places = np.zeros(0, np.int32)
        self.after: Places = np.zeros(0, np.int32)

    def follow(self, columns: Columns, sessions: Iterable[int], postings: Postings) -> None:
        """Take in positions that were added to these sessions or died in them. A session is a mark that its facts bear."""
        self._make_room(columns.size + 1)
        touched = {session for session in sessions if session}
        if len(touched) > FEW_SESSIONS:
            return self.chain_all(columns)
        if touched:
            told = np.concatenate([postings.find(session)[0] for session in touched])
            self._chain(columns, told[columns["alive"][told]])

    def has_neighbours(self, positions: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which of these are not alone."""
        return np.asarray((self.before[positions] >= 0) | (self.after[positions] >= 0))

    def around(self, positions: NDArray[np.integer], reach: int) -> NDArray[np.int32]:
        """A row a position: the one before it, the one before that and so on, then those after it."""
        found = np.full((2 * reach, len(positions)), -1, np.int32)
        if not self.has_neighbours(positions).any():
            return found.T
        for first, chain in ((0, self.before), (reach, self.after)):
            at = positions
            for step in range(first, first + reach):
                # Of nobody, -1, the last place tells, where nobody stands either.
                found[step] = at = chain[at]
        return found.T

    def _chain(self, columns: Columns, positions: NDArray[np.integer]) -> None:
        sessions, scopes = columns["session"][positions], columns["scope"][positions]
        order = np.lexsort((columns["turn"][positions], columns["time"][positions], sessions, scopes))
        sorted_, sessions, scopes = positions[order], sessions[order], scopes[order]
        joined = (sessions[1:] == sessions[:-1]) & (scopes[1:] == scopes[:-1])
        self.before[positions] = self.after[positions] = -1
        self.before[sorted_[1:][joined]] = sorted_[:-1][joined]
        self.after[sorted_[:-1][joined]] = sorted_[1:][joined]

    def chain_all(self, columns: Columns) -> None:
        """Put every session in order."""
        self._make_room(columns.size + 1)
        self._chain(columns, np.flatnonzero(columns["alive"] & (columns["session"] != 0)))

    def _make_room(self, size: int) -> None:
        if size > len(self.before):
            more = np.full(max(1_024, 2 * size) - len(self.before), -1, np.int32)
            self.before, self.after = np.concatenate([self.before, more]), np.concatenate([self.after, more])


def chained(columns: Columns) -> Turns:
    """The turns of all that is there."""
    turns = Turns()
    turns.chain_all(columns)
    return turns
