"""Fact columns as growing arrays, and membership and counts on arrays of keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from cofire.index.timestamps import DISTANT_FUTURE, DISTANT_PAST
from cofire.stores.lazy_ids import DecodedIds, IdTable, LazyIds, decode_ids

Mask = NDArray[np.bool_]

# Scopes whose standing facts are kept in mind, a byte a fact each.
MAX_CACHED_SCOPES = 8
# Ids that are kept as text, some 200 bytes each.
MAX_CACHED_IDS = 200_000

COLUMN_TYPES: Mapping[str, Any] = {
    "key": np.int64,
    "id": np.dtype("S26"),
    "scope": np.int32,
    "time": np.int64,
    "stored": np.int64,
    "starts": np.int64,
    "ends": np.int64,
    "length": np.int32,
    "hash": np.int64,
    "session": np.int64,
    "turn": np.int32,
    "speaker": np.int32,
    "archived": np.bool_,
    "embedded": np.bool_,
    "alive": np.bool_,
}


class Columns:
    """Arrays of one length, appended to in batches. A changed fact is appended anew and its old position dies."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]] | None = None) -> None:
        self._room = {name: np.array(arrays[name] if arrays else [], dtype=kind) for name, kind in COLUMN_TYPES.items()}
        self.size = len(self._room["key"])
        self.limited = bool(np.any(self["starts"] > DISTANT_PAST) or np.any(self["ends"] < DISTANT_FUTURE))
        # Whether there ever was a fact without a vector.
        self.bare = not self["embedded"].all()
        self.dead = self.size - int(np.count_nonzero(self["alive"]))
        self._standing: dict[int | None, Mask] = {}
        self.highest = int(self["key"].max(initial=0))
        self._places: NDArray[np.int32] | None = None
        # Ids that were told, by position, and back.
        self._told: NDArray[Any] = np.empty(0, np.object_)
        self._at: dict[str, int] = {}
        # Ids are told to those who look later, too, when others may change what is here.
        self._telling = Lock()
        self._ground: IdTable | None = None

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._room[name][: self.size]

    def add(self, rows: Mapping[str, Sequence[Any]]) -> NDArray[np.int32]:
        """Append rows; returns their positions."""
        keys = rows["key"]
        new = slice(self.size, self.size + len(keys))
        self._make_room(new.stop)
        for name, array in self._room.items():
            if len(keys) == 1:
                array[new.start] = rows[name][0]
            else:
                array[new] = rows[name]
        positions = np.arange(new.start, new.stop, dtype=np.int32)
        self.size = new.stop
        self.limited = self.limited or max(rows["starts"]) > DISTANT_PAST or min(rows["ends"]) < DISTANT_FUTURE
        self.bare = self.bare or not all(rows["embedded"])
        for scope, standing in self._standing.items():
            told = zip(rows["alive"], rows["archived"], rows["scope"], strict=True)
            standing[new] = [alive and not archived and scope in (None, own) for alive, archived, own in told]
        self.highest = max(self.highest, *keys)
        if self._places is not None:
            self.places()[keys] = positions
        return positions

    def kill(self, keys: Iterable[int]) -> NDArray[np.int64]:
        """The facts with these keys are gone, or will be appended anew. Returns the positions that died."""
        known = sorted({key for key in keys if key <= self.highest})
        if not known:
            return np.zeros(0, np.int64)
        places = self.places()
        dying = places[known].astype(np.int64)
        dying = dying[dying >= 0]
        for mask in (self["alive"], *self._standing.values()):
            mask[dying] = False
        self.dead += len(dying)
        places[known] = -1
        self._ground = None
        with self._telling:
            for id in self._told[dying[dying < len(self._told)]].tolist():
                self._at.pop(id, None)
        return dying

    @property
    def ground(self) -> IdTable:
        """Where facts stand now; another one as soon as any of them has moved."""
        if self._ground is None:
            self._ground = IdTable(self, self._room["id"])
        return self._ground

    def ids(self, positions: NDArray[np.integer]) -> list[str]:
        """The ids at these positions. An id that was told before is the same string again, which knows its hash."""
        with self._telling:
            if len(self._told) < self.size:
                more = np.empty(len(self._room["key"]) - len(self._told), np.object_)
                self._told = np.concatenate([self._told, more])
            found: list[str] = self._told[positions].tolist()
            # No id is empty, and to look for None would compare each with it.
            if not all(found):
                found = decode_ids(self._room["id"][positions])
                self._tell(found, positions)
            return found

    def spelled(self, positions: NDArray[np.int64]) -> DecodedIds:
        """The same, with these positions at hand."""
        return DecodedIds(self.ground, positions, self.ids(positions))

    def stand(self, ids: Sequence[str]) -> TypeGuard[LazyIds]:
        """Whether these were told of here, and nobody has moved since: then they know their places."""
        return isinstance(ids, LazyIds) and ids.ground is self.ground

    def _tell(self, ids: list[str], positions: NDArray[np.integer]) -> None:
        if len(self._at) > MAX_CACHED_IDS:
            self._told[:] = None
            self._at.clear()
        self._told[positions] = ids
        alive = self._room["alive"][positions].tolist()
        told = zip(ids, positions.tolist(), alive, strict=True)
        self._at.update([(id, position) for id, position, lives in told if lives])

    def all_at(self, ids: Sequence[str]) -> NDArray[np.int64] | None:
        """The positions of facts whose ids were told, of all of them or of none."""
        try:
            return np.fromiter(map(self._at.__getitem__, ids), np.int64, len(ids))
        except KeyError:
            return None

    def at(self, ids: Iterable[str]) -> list[int | None]:
        """The positions of facts whose ids were told; None for all others, which may be there nevertheless."""
        return list(map(self._at.get, ids))

    def standing(self, scope: int | None = None) -> Mask:
        """Facts that are there and not archived, of one scope or of all. Looked up once, then it follows what comes and goes."""
        if scope not in self._standing:
            if len(self._standing) >= MAX_CACHED_SCOPES:
                self._standing.clear()
            stand = self._room["alive"] & ~self._room["archived"]
            self._standing[scope] = stand if scope is None else stand & (self._room["scope"] == scope)
        return self._standing[scope][: self.size]

    def places(self, room: int = 0) -> NDArray[np.int32]:
        """The positions of facts by key, -1 where there is none; for at least so many keys."""
        if self._places is None:
            there = np.flatnonzero(self["alive"])
            self._places = np.full(self.highest + 1, -1, np.int32)
            self._places[self["key"][there]] = there
        more = max(room, self.highest + 1) - len(self._places)
        if more > 0:
            more = max(more, 1_024, len(self._places) // 8)
            self._places = np.concatenate([self._places, np.full(more, -1, np.int32)])
        return self._places

    def mask_of(self, keys: NDArray[np.int64]) -> Mask:
        """Which positions hold a fact with one of these keys."""
        places = self.places()
        positions = places[keys[keys < len(places)]]
        mask = np.zeros(self.size, np.bool_)
        mask[positions[positions >= 0]] = True
        return mask

    def survivors(self) -> tuple[dict[str, NDArray[Any]], NDArray[np.int64]]:
        """The living rows, and the new position of each old one (-1 for the dead)."""
        alive = self["alive"]
        moved = np.where(alive, np.cumsum(alive) - 1, -1)
        return {name: self[name][alive] for name in COLUMN_TYPES}, moved

    def _make_room(self, wanted: int) -> None:
        if wanted <= len(self._room["key"]):
            return
        self._standing.clear()
        self._ground = None
        capacity = max(wanted, 1_024, 2 * len(self._room["key"]))
        for name, kind in COLUMN_TYPES.items():
            grown = np.zeros(capacity, dtype=kind)
            grown[: self.size] = self[name]
            self._room[name] = grown


Int32Array = NDArray[np.int32]
Int64Array = NDArray[np.int64]

# More keys than this are marked in a mask rather than put in order.
MASK_THRESHOLD = 1_024


def find_members(known: Int64Array, wanted: Int64Array) -> Mask:
    """Which of the wanted are among those that are known."""
    if not len(known):
        return np.zeros(len(wanted), np.bool_)
    known = np.sort(known)
    at = np.searchsorted(known, wanted)
    return np.asarray(known[np.minimum(at, len(known) - 1)] == wanted)


def find_members_by_mask(keys: Int32Array, wanted: Int64Array) -> Mask:
    """Which of the wanted are among many keys, without putting them in order."""
    marks = np.zeros(int(wanted.max(initial=0)) + 1, np.bool_)
    marks[keys[keys < len(marks)]] = True
    return marks[wanted]


def count_distinct(keys: Int32Array) -> int:
    """How many different ones there are."""
    if len(keys) <= MASK_THRESHOLD:
        return len(np.unique(keys))
    marks = np.zeros(int(keys.max()) + 1, np.bool_)
    marks[keys] = True
    return int(np.count_nonzero(marks))


def count_neighbours(pairs: Int64Array, room: int) -> Int64Array:
    """How many neighbours each owner has, of pairs of owner and neighbour in one number.

    >>> count_neighbours(np.array([0 << 32 | 7, 2 << 32 | 7, 2 << 32 | 7, 2 << 32 | 8]), 3).tolist()
    [1, 0, 2]
    """
    pairs = np.sort(pairs)
    fresh = np.concatenate([np.ones(min(1, len(pairs)), np.bool_), pairs[1:] != pairs[:-1]])
    return np.bincount(pairs[fresh] >> 32, minlength=room)
