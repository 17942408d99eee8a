"""The walk in C: the best link to each fact, and what linked facts are worth."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import POINTER, Structure, byref, c_double, c_int64, c_void_p
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.kernels.library import counted, fitting, function, start, whole

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]

FEATURES = ("about", "shared", "rare", "fits", "adds_there", "adds", "repeats")


class Paths(Structure):
    """Names and links: `paths` in walk.c."""

    _fields_ = (
        *((name, c_void_p) for name in ("holder", "count", "sentences", "turn", "own", "weight")),
        ("steps", c_int64),
        *((name, c_void_p) for name in ("step", "target", "there", "strength")),
        ("links", c_int64),
    )


class OnPaths(Structure):
    """Facts on the paths: `facts` in walk.c."""

    _fields_ = (("near", c_void_p), ("seed", c_void_p), ("loose", c_void_p), ("many", c_int64))


class Linked(Structure):
    """Linked facts: `linked` in walk.c."""

    _fields_ = (*((name, c_void_p) for name in ("target", "source", "link", "about", "shared")), ("many", c_int64))


class Slate(Structure):
    """Facts that were weighed: `slate` in walk.c."""

    _fields_ = (*((name, c_void_p) for name in ("holds", "direct", "keyword", "lengths", "placed")), ("many", c_int64))


class Question(Structure):
    """The words of the question: `question` in walk.c."""

    _fields_ = (("shares", c_void_p), ("words", c_int64), ("places", c_void_p))


class Rules(Structure):
    """Constants: `rules` in walk.c."""

    _fields_ = (
        *((name, c_double) for name in ("sure", "room", "short", "most", "least")),
        ("weights", c_double * len(FEATURES)),
    )


_best_links = function("best_links", POINTER(Paths), POINTER(OnPaths), c_int64, *[c_void_p] * 4)
_judge_links = function(
    "judge_links", POINTER(Paths), POINTER(Linked), POINTER(Slate), POINTER(Question), POINTER(Rules), c_void_p
)


class PathsInC:
    """Names that seeds hold and links over them, as C reads them: arrays in the order of `paths` in walk.c."""

    def __init__(self, steps: Sequence[NDArray[Any]], links: Sequence[NDArray[Any]]) -> None:
        kinds = [*[np.int64] * 4, *[np.float64] * 2, *[np.int64] * 3, np.float64]
        self._kept = [whole(array, kind) for array, kind in zip((*steps, *links), kinds, strict=True)]
        places = list(map(start, self._kept))
        self.in_c = Paths(*places[: len(steps)], len(steps[0]), *places[len(steps) :], len(links[0]))


@dataclass(frozen=True, slots=True)
class Found:
    """Rows of facts that are linked, the row of the best link to each, and what it carries, about a name and over a shared one."""

    at: Numbers
    link: Numbers
    about: Floats
    shared: Floats


def best_links(paths: PathsInC, near: Floats, seeds: Floats, loose: Masks, expanded: int) -> Found:
    """The best link to each fact of either kind, and of those the strongest; see `verbs.ways.best_links`."""
    near, seeds, loose = whole(near, np.float64), whole(seeds, np.float64), whole(loose, np.bool_)
    numbers, worths = np.empty((2, len(near)), np.int64), np.empty((2, len(near)))
    facts = OnPaths(start(near), start(seeds), start(loose), len(near))
    count = counted(
        _best_links(byref(paths.in_c), byref(facts), expanded, *map(start, numbers), *map(start, worths)),
    )
    return Found(numbers[0, :count], numbers[1, :count], worths[0, :count], worths[1, :count])


def judged(
    paths: PathsInC,
    linked: Sequence[NDArray[Any]],
    slate: Sequence[NDArray[Any]],
    *,
    shares: Floats,
    places: Numbers,
    rules: tuple[float, float, float, float, float],
    weights: Sequence[float],
) -> dict[str, Floats]:
    """What features give linked facts, over all of a slate; see `verbs.walk.judged`. `linked`, `slate` and `rules` are in the order of
    the structures in walk.c."""
    ones = [whole(array, kind) for array, kind in zip(linked, [*[np.int64] * 3, *[np.float64] * 2], strict=True)]
    kinds = [np.bool_, *[np.float64] * 3, np.int64]
    weighed = [whole(array, kind) for array, kind in zip(slate, kinds, strict=True)]
    shares, places = whole(shares, np.float64), whole(places, np.int64)
    fitting((len(shares), weighed[0].shape[1]), (len(shares), places.shape[1]))
    gives = np.zeros((len(FEATURES), len(weighed[0])))
    counted(
        _judge_links(
            byref(paths.in_c),
            byref(Linked(*map(start, ones), len(ones[0]))),
            byref(Slate(*map(start, weighed), len(weighed[0]))),
            byref(Question(start(shares), len(shares), start(places))),
            byref(Rules(*rules, tuple(weights))),
            start(gives),
        )
    )
    return dict(zip(FEATURES, gives, strict=True))
