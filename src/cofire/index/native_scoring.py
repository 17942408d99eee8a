"""Native scoring: candidate features, links of the walk, ranking and coverage."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import POINTER, Structure, addressof, byref, c_double, c_int64, c_void_p
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.index.native import address_of, bind_function, check_count, check_sizes, to_native_array
from cofire.index.native_vectors import RowMeasures, VectorTable, check_measures
from cofire.index.native_words import Bm25ParametersStruct, NativeQueryTerms

# The rows of a table that facts are weighed into: those of `verbs.slates`.
FEATURE_ROW_COUNT = 10

FloatArray = NDArray[np.float64]
StoredVectors = tuple[VectorTable, NDArray[np.int64], RowMeasures | None]


class FeatureInputStruct(Structure):
    """Facts and the turns around them: `evidence` in weighing.c."""

    _fields_ = (
        *(("table", c_void_p), ("size", c_int64), ("is_half", c_int64), ("dimension", c_int64), ("known", c_void_p)),
        *(("at", c_void_p), ("embedded", c_void_p), ("near", c_int64)),
        *((name, c_void_p) for name in ("counts", "hints", "lengths")),
        *(("rows", c_int64), ("around", c_void_p), ("told", c_int64)),
        *(("asks", c_void_p), ("timed", c_void_p), ("facts", c_int64)),
    )


class QueryMeasuresStruct(Structure):
    """What the question is: `measures` in weighing.c."""

    _fields_ = (
        *(("axes", c_void_p), ("means", c_void_p), ("means_reach", c_int64), ("means_short", c_double)),
        *(("lends", c_void_p), ("lends_reach", c_int64), ("asked", c_void_p), ("by", c_void_p)),
    )


class ShapeWeightsStruct(Structure):
    """What a fact counts before its content does: `shape` in weighing.c."""

    _fields_ = (
        *(("saying", c_void_p), ("most", c_int64)),
        *((name, c_double) for name in ("asks", "timed", "short")),
    )


_weigh_facts = bind_function(
    "weigh_facts", POINTER(FeatureInputStruct), POINTER(QueryMeasuresStruct), POINTER(ShapeWeightsStruct), c_void_p
)

# As `Evidence` has them after the vectors: who has one, counts, hints, lengths, the turns around, who asks, who speaks of a time.
_FEATURE_INPUT_TYPES: tuple[Any, ...] = (np.bool_, np.float32, np.float32, np.float32, np.int32, np.bool_, np.bool_)


@dataclass(frozen=True, slots=True)
class ContextWeights:
    """What the turns around a fact count, those before it and those after, and from how many words on it borrows less."""

    weights: FloatArray
    short: float


@dataclass(frozen=True, slots=True)
class ShapePriors:
    """What counts before the content does: by the number of words, the last for all beyond; to ask, and to speak of a time, as far as
    a fact is short."""

    saying: FloatArray
    asks: float
    timed: float
    short: float


class NativeQueryMeasures:
    """What facts are weighed by, as C reads it: `axes` (see `dynamics.likeness.axes`), None without a vector, and the words; what turns
    lend to the meaning of a fact; the constants of words, and what turns lend to those."""

    def __init__(
        self,
        axes: NDArray[np.float32] | None,
        words: NativeQueryTerms,
        *,
        meaning: ContextWeights,
        weights: Bm25ParametersStruct,
        lends: FloatArray,
        before: ShapePriors,
    ) -> None:
        self.axes, self.words = None if axes is None else to_native_array(axes, np.float32), words
        means, lends, saying = (to_native_array(one, np.float64) for one in (meaning.weights, lends, before.saying))
        self._kept = (means, weights, lends, saying)
        self.measures = QueryMeasuresStruct(
            None if self.axes is None else address_of(self.axes),
            *(address_of(means), len(means) // 2, meaning.short),
            *(address_of(lends), len(lends) // 2, addressof(words.in_c), addressof(weights)),
        )
        self.shape = ShapeWeightsStruct(address_of(saying), len(saying) - 1, before.asks, before.timed, before.short)


def score_features(
    stored: StoredVectors, held: Sequence[NDArray[Any]], by: NativeQueryMeasures, found: FloatArray
) -> None:
    """Fill in rows of a slate's table (see `verbs.slates`): what facts hold of the words, what is known before, how alike they are, their
    lengths, and who has a vector. `stored` is a table of vectors, where in it a row is, and what was measured of it before; `held`
    is in the order of `FeatureInputStruct`."""
    table, at, known = stored
    arrays = [to_native_array(array, kind) for array, kind in zip(held, _FEATURE_INPUT_TYPES, strict=True)]
    facts, at = found.shape[1], to_native_array(at, np.int64)
    check_measures(table, known)
    check_sizes((len(found), FEATURE_ROW_COUNT), (found.dtype, np.float64))
    _check_feature_sizes(arrays, by, facts, len(at), table.shape[1])
    embedded, counts, hints, lengths, around, asks, timed = map(address_of, arrays)
    evidence = FeatureInputStruct(
        *(
            address_of(table),
            len(table),
            table.itemsize == 2,
            table.shape[1],
            None if known is None else address_of(known),
        ),
        *(address_of(at), embedded, len(at), counts, hints, lengths, len(arrays[3]), around, arrays[4].shape[1] // 2),
        *(asks, timed, facts),
    )
    check_count(_weigh_facts(byref(evidence), byref(by.measures), byref(by.shape), address_of(found)))


def _check_feature_sizes(
    arrays: Sequence[NDArray[Any]], by: NativeQueryMeasures, facts: int, near: int, dimension: int
) -> None:
    """Refuse what C would read beyond its end."""
    embedded, counts, hints, lengths, around, asks, timed = arrays
    words, rows = by.words.many, len(lengths)
    check_sizes(
        *((counts.shape, (rows, words)), (hints.shape, (facts, words)), (embedded.shape, (near,))),
        *((one.shape, (facts,)) for one in (asks, timed)),
        *((len(around), facts), (facts, min(facts, rows))),
    )
    if by.axes is not None:
        check_sizes((by.axes.shape, (3, dimension)), (facts, min(facts, near)))


IntArray = NDArray[np.int64]
LinkFloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

LINK_FEATURES = ("about", "shared", "rare", "fits", "adds_there", "adds", "repeats")


class WalkPathsStruct(Structure):
    """Names and links: `paths` in walk.c."""

    _fields_ = (
        *((name, c_void_p) for name in ("holder", "count", "sentences", "turn", "own", "weight")),
        ("steps", c_int64),
        *((name, c_void_p) for name in ("step", "target", "there", "strength")),
        ("links", c_int64),
    )


class WalkFactsStruct(Structure):
    """Facts on the paths: `facts` in walk.c."""

    _fields_ = (("near", c_void_p), ("seed", c_void_p), ("loose", c_void_p), ("many", c_int64))


class LinkedFactsStruct(Structure):
    """Linked facts: `linked` in walk.c."""

    _fields_ = (*((name, c_void_p) for name in ("target", "source", "link", "about", "shared")), ("many", c_int64))


class CandidatesStruct(Structure):
    """Facts that were weighed: `slate` in walk.c."""

    _fields_ = (*((name, c_void_p) for name in ("holds", "direct", "keyword", "lengths", "placed")), ("many", c_int64))


class QueryWordsStruct(Structure):
    """The words of the question: `question` in walk.c."""

    _fields_ = (("shares", c_void_p), ("words", c_int64), ("places", c_void_p))


class LinkRulesStruct(Structure):
    """Constants: `rules` in walk.c."""

    _fields_ = (
        *((name, c_double) for name in ("sure", "room", "short", "most", "least")),
        ("weights", c_double * len(LINK_FEATURES)),
    )


_best_links = bind_function("best_links", POINTER(WalkPathsStruct), POINTER(WalkFactsStruct), c_int64, *[c_void_p] * 4)
_judge_links = bind_function(
    "judge_links",
    POINTER(WalkPathsStruct),
    POINTER(LinkedFactsStruct),
    POINTER(CandidatesStruct),
    POINTER(QueryWordsStruct),
    POINTER(LinkRulesStruct),
    c_void_p,
)


class NativeWalkPaths:
    """Names that seeds hold and links over them, as C reads them: arrays in the order of `paths` in walk.c."""

    def __init__(self, steps: Sequence[NDArray[Any]], links: Sequence[NDArray[Any]]) -> None:
        kinds = [*[np.int64] * 4, *[np.float64] * 2, *[np.int64] * 3, np.float64]
        self._kept = [to_native_array(array, kind) for array, kind in zip((*steps, *links), kinds, strict=True)]
        places = list(map(address_of, self._kept))
        self.in_c = WalkPathsStruct(*places[: len(steps)], len(steps[0]), *places[len(steps) :], len(links[0]))


@dataclass(frozen=True, slots=True)
class BestLinkRows:
    """Rows of facts that are linked, the row of the best link to each, and what it carries, about a name and over a shared one."""

    at: IntArray
    link: IntArray
    about: LinkFloatArray
    shared: LinkFloatArray


def find_best_links(
    paths: NativeWalkPaths, near: LinkFloatArray, seeds: LinkFloatArray, loose: BoolArray, expanded: int
) -> BestLinkRows:
    """The best link to each fact of either kind, and of those the strongest; see `verbs.ways.best_links`."""
    near, seeds, loose = (
        to_native_array(near, np.float64),
        to_native_array(seeds, np.float64),
        to_native_array(loose, np.bool_),
    )
    numbers, worths = np.empty((2, len(near)), np.int64), np.empty((2, len(near)))
    facts = WalkFactsStruct(address_of(near), address_of(seeds), address_of(loose), len(near))
    count = check_count(
        _best_links(byref(paths.in_c), byref(facts), expanded, *map(address_of, numbers), *map(address_of, worths)),
    )
    return BestLinkRows(numbers[0, :count], numbers[1, :count], worths[0, :count], worths[1, :count])


def score_links(
    paths: NativeWalkPaths,
    linked: Sequence[NDArray[Any]],
    slate: Sequence[NDArray[Any]],
    *,
    shares: LinkFloatArray,
    places: IntArray,
    rules: tuple[float, float, float, float, float],
    weights: Sequence[float],
) -> dict[str, LinkFloatArray]:
    """What features give linked facts, over all of a slate; see `verbs.walk.judged`. `linked`, `slate` and `rules` are in the order of
    the structures in walk.c."""
    ones = [
        to_native_array(array, kind) for array, kind in zip(linked, [*[np.int64] * 3, *[np.float64] * 2], strict=True)
    ]
    kinds = [np.bool_, *[np.float64] * 3, np.int64]
    weighed = [to_native_array(array, kind) for array, kind in zip(slate, kinds, strict=True)]
    shares, places = to_native_array(shares, np.float64), to_native_array(places, np.int64)
    check_sizes((len(shares), weighed[0].shape[1]), (len(shares), places.shape[1]))
    gives = np.zeros((len(LINK_FEATURES), len(weighed[0])))
    check_count(
        _judge_links(
            byref(paths.in_c),
            byref(LinkedFactsStruct(*map(address_of, ones), len(ones[0]))),
            byref(CandidatesStruct(*map(address_of, weighed), len(weighed[0]))),
            byref(QueryWordsStruct(address_of(shares), len(shares), address_of(places))),
            byref(LinkRulesStruct(*rules, tuple(weights))),
            address_of(gives),
        )
    )
    return dict(zip(LINK_FEATURES, gives, strict=True))


RowArray = NDArray[np.int64]
ScoreArray = NDArray[np.float64]

# The words of a fact are the bits of a number.
MAX_COVERED_WORDS = 64


class CoverageStruct(Structure):
    """Facts, and the words of the question that they hold: `covering` in picking.c."""

    _fields_ = (
        *((name, c_void_p) for name in ("scores", "holds", "turns")),
        *(("facts", c_int64), ("words", c_int64), ("weights", c_void_p), ("reward", c_double)),
    )


_best_rows = bind_function("best_rows", c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_void_p)
_pick_by_covering = bind_function("pick_by_covering", POINTER(CoverageStruct), c_int64, c_void_p)


def rank_rows(scores: ScoreArray, count: int) -> tuple[RowArray, ScoreArray, bool]:
    """Rows by falling score, rounded, with the scores in millionths: the first `count` and all that equal the last of them; and
    whether any are equal. Those at minus infinity are none."""
    scores = to_native_array(scores, np.float64)
    rows, steps, equals = np.empty(len(scores), np.int64), np.empty(len(scores)), c_int64()
    many = check_count(
        _best_rows(address_of(scores), len(scores), count, address_of(rows), address_of(steps), byref(equals))
    )
    return rows[:many], steps[:many], bool(equals.value)


def compute_coverage_bonus(
    scores: ScoreArray, holds: NDArray[np.bool_], weights: ScoreArray, turns: RowArray, *, count: int, reward: float
) -> ScoreArray:
    """What covering adds to each score; see `dynamics.covering.picked`. Of equals the one with the later turn is picked first."""
    kinds: tuple[Any, ...] = (np.float64, np.bool_, np.int64, np.float64)
    given = (scores, holds, turns, weights)
    scores, holds, turns, weights = (to_native_array(array, kind) for array, kind in zip(given, kinds, strict=True))
    facts, words = holds.shape
    check_sizes(
        (len(scores), facts), (len(turns), facts), (len(weights), words), (words, min(words, MAX_COVERED_WORDS))
    )
    bonus = np.empty(facts)
    asked = CoverageStruct(
        address_of(scores), address_of(holds), address_of(turns), facts, words, address_of(weights), reward
    )
    check_count(_pick_by_covering(byref(asked), count, address_of(bonus)))
    return bonus
