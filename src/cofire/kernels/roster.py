"""Roster in C: which row a fact has, by where it stands in an index."""

from __future__ import annotations

from ctypes import POINTER, Structure, byref, c_int64, c_void_p

import numpy as np
from numpy.typing import NDArray

from cofire.kernels.library import function, start, whole

Numbers = NDArray[np.int64]

# Room for so many rows, which most walks do not fill, as a power of two.
FEW_BITS = 11


class Roster(Structure):
    """Who was met: `roster` in roster.c."""

    _fields_ = (*((name, c_void_p) for name in ("places", "slots")), ("bits", c_int64), ("many", c_int64))


_meet = function("meet", POINTER(Roster), c_void_p, c_int64, c_void_p)


class MetInC:
    """Places that were met, a row each in that order."""

    def __init__(self) -> None:
        self._make_room(FEW_BITS)

    def __len__(self) -> int:
        return int(self._in_c.many)

    @property
    def places(self) -> Numbers:
        """The place of each row."""
        return self._places[: self._in_c.many]

    def meet(self, places: Numbers) -> Numbers:
        """The rows of places; one that was not met before gets the next."""
        wanted = self._in_c.many + len(places)
        if wanted > len(self._places):
            known = self.places
            self._make_room(int(wanted).bit_length() + 1)
            self.meet(known)
        places, rows = whole(places, np.int64), np.empty(len(places), np.int64)
        _meet(byref(self._in_c), start(places), len(places), start(rows))
        return rows

    def _make_room(self, bits: int) -> None:
        """For 2^bits rows, in twice as many slots."""
        self._places, self._slots = np.empty(1 << bits, np.int64), np.zeros(2 << bits, np.int32)
        self._in_c = Roster(start(self._places), start(self._slots), bits + 1, 0)
