"""The hot functions of the index, compiled or in numpy: chosen at import, arrays in, arrays out.

The compiled library is optional. Each function has its numpy twin beside it, which defines what it returns.
"""

from __future__ import annotations

import ctypes
import os
import sys
from ctypes import addressof, c_char, c_double, c_int64, c_void_p
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms import bm25
from cofire.algorithms.array_ops import widen_half_floats
from cofire.algorithms.session_context import borrowing_factors
from cofire.index.postings import PostingRuns, PostingSegment, lookup_counts, merge_counts

# As in native.c. A library of another edition is ignored.
EDITION = 15
OUT_OF_RANGE = -2
SWITCH = "COFIRE_KERNELS"
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
FILE = f"cofire_kernels{SUFFIX}"

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Int32s = NDArray[np.int32]
Mask = NDArray[np.bool_]
Vectors = NDArray[np.float32]

_EmptyBuffer = c_char * 0


def library_path() -> Path:
    """The path of the compiled library, whether it was built or not."""
    return Path(__file__).parent / FILE


def _load_library() -> Any:
    """The library that was built with this package. None if it is missing, switched off or of another edition.

    Its functions keep the interpreter's lock: they take less time than releasing it.
    """
    path = library_path()
    if os.environ.get(SWITCH) == "off" or ctypes.sizeof(c_void_p) != 8 or not path.exists():
        return None
    try:
        library = ctypes.PyDLL(str(path))
        return library if library.edition() == EDITION else None
    except (OSError, AttributeError):
        return None


LIBRARY: Any = _load_library()


def bind_function(name: str, parameters: str) -> Any:
    """A function of the library; None without one. `parameters`: a for an array, i for an integer."""
    if LIBRARY is None:
        return None
    function = getattr(LIBRARY, name, None)
    if function is None:
        raise ImportError(f"{FILE} is of an older build, without {name}. Build it again: python hatch_build.py")
    function.restype = c_int64
    function.argtypes = [{"a": c_void_p, "i": c_int64, "d": c_double}[kind] for kind in parameters]
    return function


def address_of(array: Any) -> int:
    """The address of a contiguous array. The caller keeps the array alive."""
    try:
        return addressof(_EmptyBuffer.from_buffer(array))
    except TypeError:
        if array.flags.writeable or not array.flags.c_contiguous:
            raise
        return int(array.ctypes.data)


def to_native_array(array: NDArray[Any], kind: Any) -> NDArray[Any]:
    """The array itself if it is contiguous, aligned and of this kind; else a copy that is."""
    if array.dtype.type is kind and array.dtype.isnative and array.flags.carray:
        return array
    return np.require(array, kind, ("C", "A"))


def check_count(count: int) -> int:
    """What a function counted. The error code becomes an exception."""
    if count == OUT_OF_RANGE:
        raise IndexError("A position lies outside the array that it points into.")
    return count


def check_sizes(*pairs: tuple[Any, Any]) -> None:
    """Refuse arrays whose sizes do not fit: compiled code would read beyond their ends, where numpy raises."""
    for actual, expected in pairs:
        if actual != expected:
            raise ValueError(f"Arrays do not fit: {actual} and {expected}.")


class _Scratch:
    """Memory that all calls reuse. One call at a time has it."""

    def __init__(self) -> None:
        self.lock = Lock()
        self._size = -1
        self.vectors, self.cosines = np.zeros(0, np.float32), np.zeros(0)

    def make_room(self, facts: int) -> None:
        """For all facts. Between two calls `row_of` is -1."""
        if facts <= self._size:
            return
        self._size = facts + facts // 8 + 64
        # A holder in native.c has three numbers of 64 bits.
        self.holders = np.zeros((self._size, 3))
        self.met = np.zeros(self._size, np.int32)
        self.found, self.found_scores = np.zeros(self._size, np.int64), np.zeros(self._size)
        self.row_of = np.full(self._size, -1, np.int32)

    def make_vector_room(self, rows: int, dimension: int) -> None:
        """For vectors at single precision, their lengths and cosines, and for one vector more."""
        if rows > len(self.cosines) or (rows + 1) * dimension + rows > len(self.vectors):
            self.cosines = np.zeros(2 * rows)
            self.vectors = np.zeros((2 * rows + 1) * dimension + 2 * rows, np.float32)


_scratch = _Scratch()

# 1. Postings

# A word that more facts hold is only looked up for facts that can still be among the best.
COMMON_WORD_LIMIT = 2_048
# Scores are compared to the sixth decimal, so that a smaller difference decides nothing.
SCORE_TOLERANCE = 2e-6

_score_postings = bind_function("score_postings", "aiaiaaaiaaaaiaaaiiaaaaa")


def score_postings_compiled(
    texts: PostingRuns,
    descriptions: PostingRuns,
    *,
    weights: Floats,
    is_lent: Mask,
    constants: Floats,
    lengths: Int32s,
    alive: Mask,
    admitted: Mask,
    turns: tuple[Int32s, Int32s] | None,
    lends: Floats,
    k: int,
) -> tuple[Ints, Floats]:
    """The k best facts by BM25 and all that equal the last of them, in any order: positions, and scores as shares of the total weight.

    A run a word. `is_lent` says which words also count for the turns around a fact, by `lends`; `turns` has the
    turn before and after each fact. `constants`: the weight of descriptions, k₁, b, the mean length, the length from which on a fact
    borrows less, and the total weight.
    """
    facts, words, order = len(lengths), len(weights), np.argsort(-weights, kind="stable")
    weights, constants, lends = (to_native_array(values, np.float64) for values in (weights, constants, lends))
    is_lent, admitted, alive = (to_native_array(mask, np.bool_) for mask in (is_lent, admitted, alive))
    lengths = to_native_array(lengths, np.int32)
    check_sizes((len(alive), facts), (len(admitted), facts), (len(constants), 6), (len(is_lent), words))
    text_runs = _pass_runs(texts, words)
    description_runs = _pass_runs(descriptions, words)
    before = after = None
    if turns is not None:
        before, after = (to_native_array(chain, np.int32) for chain in turns)
        check_sizes((min(len(before), len(after), facts), facts))
    with _scratch.lock:
        _scratch.make_room(facts)
        count = check_count(
            _score_postings(
                *text_runs,
                *description_runs,
                address_of(weights),
                address_of(is_lent),
                address_of(order),
                words,
                address_of(constants),
                address_of(lengths),
                address_of(alive),
                address_of(admitted),
                facts,
                None if before is None else address_of(before),
                None if after is None else address_of(after),
                address_of(lends),
                len(lends) // 2,
                max(k, 0),
                *map(address_of, (_scratch.row_of, _scratch.holders, _scratch.met)),
                address_of(_scratch.found),
                address_of(_scratch.found_scores),
            )
        )
        return _scratch.found[:count].copy(), _scratch.found_scores[:count].copy()


def _pass_runs(runs: PostingRuns, words: int) -> tuple[int, int]:
    """The address of an array with three numbers a run: the addresses of its positions and counts, and its size; and the runs a word."""
    check_sizes((runs.terms, words))
    if runs.table is None:
        parts = [_tabulate_segment(segment, first, sizes) for segment, first, sizes in runs.parts]
        runs.table = np.ascontiguousarray(np.stack(parts, axis=1)) if parts else np.zeros((words, 0, 3), np.int64)
    return address_of(runs.table), len(runs.parts)


def _tabulate_segment(segment: PostingSegment, first: Ints, sizes: Ints) -> Ints:
    positions, counts = segment.positions, segment.counts
    check_sizes((positions.dtype, np.int32), (counts.dtype, np.uint16), (len(counts), len(positions)))
    if len(first) and (min(first.min(), sizes.min()) < 0 or (first + sizes).max() > len(positions)):
        raise IndexError("A run of postings lies outside its segment.")
    return np.stack([address_of(positions) + 4 * first, address_of(counts) + 2 * first, sizes], axis=1)


def score_postings_numpy(
    texts: PostingRuns,
    descriptions: PostingRuns,
    *,
    weights: Floats,
    is_lent: Mask,
    constants: Floats,
    lengths: Int32s,
    alive: Mask,
    admitted: Mask,
    turns: tuple[Int32s, Int32s] | None,
    lends: Floats,
    k: int,
) -> tuple[Ints, Floats]:
    """The same in numpy."""
    description_weight, k1, b, mean_length, short, total = constants.tolist()
    scores = np.zeros(len(lengths))

    def gains(word: int, positions: NDArray[np.integer], counts: NDArray[Any]) -> Floats:
        norm = bm25.length_normalisation(lengths[positions], k1=k1, b=b, mean_length=mean_length)
        return np.asarray(weights[word] * bm25.term_saturation(counts, norm))

    left = total
    lent_left = 0 if turns is None else int(np.count_nonzero(is_lent))
    rivals: Ints | None = None
    for word in np.argsort(-weights, kind="stable").tolist():
        positions, counts = texts.run(word)
        if description_weight:
            described, times = descriptions.run(word)
            if len(described):
                positions, counts = merge_counts(positions, counts, described, description_weight * times)
        if rivals is None and not lent_left and len(positions) > COMMON_WORD_LIMIT:
            rivals = _find_rivals(scores, admitted, k, left, SCORE_TOLERANCE * total)
        if rivals is not None:
            if len(positions):
                scores[rivals] += gains(word, rivals, lookup_counts(rivals.astype(np.int32), positions, counts))
            continue
        if turns is not None and is_lent[word]:
            lent_left -= 1
            living = alive[positions]
            positions, counts = _lend_word(
                positions[living], counts[living], turns, lends=lends, lengths=lengths, short=short
            )
        # A position that occurs twice has the same count both times, so that it is added once.
        scores[positions] += gains(word, positions, counts)
        left -= weights[word]
    candidates = np.flatnonzero((scores > 0) & admitted) if rivals is None else rivals
    shares = scores[candidates] / total
    if len(candidates) > k:
        kept = shares >= np.partition(shares, len(shares) - k)[len(shares) - k] - SCORE_TOLERANCE
        candidates, shares = candidates[kept], shares[kept]
    return candidates, shares


def _find_rivals(scores: Floats, admitted: Mask, k: int, left: float, tolerance: float) -> Ints | None:
    """The facts that can still be among the k best, if words that give at most `left` lift no other fact there."""
    ahead = scores[(scores > left) & admitted]
    if len(ahead) < k:
        return None
    least = float(np.partition(ahead, len(ahead) - k)[len(ahead) - k]) - tolerance
    return np.flatnonzero((scores >= least - left) & admitted) if least > left else None


def _lend_word(
    positions: Int32s,
    counts: NDArray[Any],
    turns: tuple[Int32s, Int32s],
    *,
    lends: Floats,
    lengths: Int32s,
    short: float,
) -> tuple[Int32s, NDArray[Any]]:
    """Who holds a word or is lent it by the turns around, and how much; some positions occur more than once."""
    around = list_turns(*turns, positions, len(lends) // 2)
    others = around[around >= 0]
    if not len(others):
        return positions, counts
    # The last place is that of turns that do not exist.
    own, lent = np.zeros((2, len(lengths) + 1))
    np.add.at(lent, around.ravel(), np.multiply.outer(counts, lends).ravel())
    own[positions] = counts
    holders = np.concatenate([positions, others])
    return holders, own[holders] + lent[holders] * borrowing_factors(lengths[holders], short=short)


def list_turns(before: Int32s, after: Int32s, positions: NDArray[np.integer], reach: int) -> Int32s:
    """The turns around facts, a row each: those before it, the nearest first, then those after it; -1 where there is none."""
    around = np.full((2 * reach, len(positions)), -1, np.int32)
    for first, chain in ((0, before), (reach, after)):
        turn = positions
        for step in range(first, first + reach):
            # -1 is the last place of a chain, where no fact stands either.
            around[step] = turn = chain[turn]
            if not (turn >= 0).any():
                break
    return around.T


# 2. Rows

_gather_rows = bind_function("gather_rows", "aiaaiiiaiaiiaaaaaa")


def gather_rows_compiled(
    positions: Ints,
    texts: PostingRuns,
    descriptions: PostingRuns,
    *,
    turns: tuple[Int32s, Int32s] | None,
    facts: int,
    reach: int,
    near: int,
) -> tuple[Ints, int, Int32s, Vectors, Vectors]:
    """Facts and the turns around them as rows, and how often each row holds each word.

    First the facts, then the `near` turns on either side of each, then the others of the `reach` turns. Returns the position of each row,
    how many rows are facts and near turns, for each fact the rows of the turns around it (as `list_turns`), the counts with a column a
    word, and those of words of descriptions for the facts alone.
    """
    asked, words = len(positions), texts.terms
    positions = to_native_array(positions, np.int64)
    text_runs = _pass_runs(texts, words)
    description_runs = _pass_runs(descriptions, words)
    before = after = None
    if turns is not None:
        before, after = (to_native_array(chain, np.int32) for chain in turns)
        check_sizes((min(len(before), len(after), facts), facts))
    most = asked * (1 + 2 * reach)
    rows = np.empty(most, np.int64)
    around = np.full((asked, 2 * reach), -1, np.int32)
    counts, description_counts = np.zeros((most, words), np.float32), np.zeros((asked, words), np.float32)
    first = np.zeros(1, np.int64)
    with _scratch.lock:
        _scratch.make_room(facts)
        count = check_count(
            _gather_rows(
                address_of(positions),
                asked,
                None if before is None else address_of(before),
                None if after is None else address_of(after),
                facts,
                reach,
                near,
                *text_runs,
                *description_runs,
                words,
                address_of(_scratch.row_of),
                *map(address_of, (rows, around, counts, description_counts, first)),
            )
        )
    return rows[:count], int(first[0]), around, counts[:count], description_counts


def gather_rows_numpy(
    positions: Ints,
    texts: PostingRuns,
    descriptions: PostingRuns,
    *,
    turns: tuple[Int32s, Int32s] | None,
    facts: int,
    reach: int,
    near: int,
) -> tuple[Ints, int, Int32s, Vectors, Vectors]:
    """The same in numpy."""
    around = np.full((len(positions), 2 * reach), -1, np.int32)
    first = rows = positions
    # By position the row of a fact, -1 for all others; the last place is that of turns that do not exist.
    row_of = np.full(facts + 1, -1, np.int32)
    row_of[positions] = np.arange(len(positions), dtype=np.int32)
    if turns is not None and reach:
        around = list_turns(*turns, positions, reach)
        first = _append_new_rows(row_of, positions, np.hstack([around[:, :near], around[:, reach : reach + near]]))
        rows = _append_new_rows(row_of, first, around)
    counts = _count_words(texts, rows, row_of)
    description_counts = _count_words(descriptions, rows, row_of)[: len(positions)]
    return rows, len(first), row_of[around], counts, description_counts


def _append_new_rows(row_of: Int32s, rows: Ints, turns: Int32s) -> Ints:
    """The rows, and after them the turns that have no row yet, each once. Fills in `row_of`."""
    new = turns[(row_of[turns] < 0) & (turns >= 0)]
    # A turn may occur several times: the last one written stays, and is the one that is kept.
    row_of[new] = order = np.arange(len(new), dtype=np.int32)
    new = new[row_of[new] == order]
    row_of[new] = np.arange(len(rows), len(rows) + len(new), dtype=np.int32)
    return np.concatenate([rows, new])


def _count_words(runs: PostingRuns, rows: Ints, row_of: Int32s) -> Vectors:
    """How often each word occurs in each row. Rows are looked up in long runs, and short runs are scanned together."""
    held = [runs.run(word) for word in range(runs.terms)]
    table = np.zeros((len(rows), len(held)), np.float32)
    short = [word for word, (positions, _) in enumerate(held) if 0 < len(positions) <= 16 * len(rows)]
    if short:
        found = row_of[np.concatenate([held[word][0] for word in short])]
        there = np.flatnonzero(found >= 0)
        words = np.repeat(short, [len(held[word][0]) for word in short])
        table[found[there], words[there]] = np.concatenate([held[word][1] for word in short])[there]
        # Of facts that are asked for twice, the last row was filled in.
        table = table[row_of[rows]]
    wanted = rows.astype(np.int32)
    for word, (positions, counts) in enumerate(held):
        if len(positions) > 16 * len(rows):
            table[:, word] = lookup_counts(wanted, positions, counts)
    return table


# 3. Sign bits

# Differing signs are counted in 16 bits.
MAX_SIGN_WORDS = 1_023

_count_differing_signs = bind_function("count_differing_signs", "aiiiaa")


def count_differing_signs_compiled(
    bits: NDArray[np.uint64], asked: NDArray[np.uint64], size: int
) -> NDArray[np.unsignedinteger]:
    """In how many signs each of the first `size` columns differs. `bits` has a row a word of 64 signs and a column a vector."""
    bits, asked = to_native_array(bits, np.uint64), to_native_array(asked, np.uint64)
    words, stride = bits.shape
    check_sizes((len(asked), words))
    distances = np.empty(size, np.uint16)
    check_count(_count_differing_signs(address_of(bits), stride, words, size, address_of(asked), address_of(distances)))
    return distances


def count_differing_signs_numpy(
    bits: NDArray[np.uint64], asked: NDArray[np.uint64], size: int
) -> NDArray[np.unsignedinteger]:
    """The same in numpy, in as small a kind of number as holds them all and one more.

    >>> count_differing_signs_numpy(np.array([[0b11, 0b01]], np.uint64), np.array([0b01], np.uint64), 2).tolist()
    [1, 0]
    """
    distances = np.zeros(size, np.min_scalar_type(64 * len(asked) + 1))
    for row, sign in zip(bits[:, :size], asked, strict=True):
        distances += np.bitwise_count(row ^ sign)
    return distances


# 4. Vectors

# A shorter vector has no direction.
MIN_VECTOR_LENGTH = 1e-6

_context_cosines = bind_function("context_cosines", "aiiiaaiaaaiiaaaa")


def context_cosines_compiled(
    table: NDArray[Any], at: Ints, embedded: Mask, *, axes: Vectors, turns: Int32s, weights: Floats
) -> tuple[Floats, Floats]:
    """Cosines of facts with a question: with what the turns around each mean, centred, and by itself as the model says.

    `at` are the rows of a table of vectors, of facts and then of turns; `embedded` says which have a vector. `turns` has a row a fact:
    indices of `at`, -1 for none; `weights` what each counts. `axes` are the centred question q, the resting point m of the model and
    the question p as it is. Alone c = (v·q − m·q) / |v − m|; with turns Σ wₜcₜ / |Σ wₜuₜ|, u being (v − m) / |v − m|.
    """
    if table.dtype.char not in "ef":
        table, at = table[at].astype(np.float32), np.arange(len(at))
    is_half = table.dtype.char == "e"
    table = to_native_array(table, np.float16 if is_half else np.float32)
    at, embedded = to_native_array(at, np.int64), to_native_array(embedded, np.bool_)
    axes, turns = to_native_array(axes, np.float32), to_native_array(turns, np.int32)
    weights = to_native_array(weights, np.float64)
    facts, width = turns.shape
    check_sizes((axes.shape, (3, table.shape[1])), (weights.shape, turns.shape), (len(embedded), len(at)))
    cosines, plain = np.empty(facts), np.empty(facts)
    with _scratch.lock:
        _scratch.make_vector_room(len(at), table.shape[1])
        check_count(
            _context_cosines(
                address_of(table),
                is_half,
                *table.shape,
                address_of(at),
                address_of(embedded),
                len(at),
                address_of(axes),
                address_of(turns),
                address_of(weights),
                width,
                facts,
                *map(address_of, (_scratch.vectors, _scratch.cosines, cosines, plain)),
            )
        )
    return cosines, plain


def context_cosines_numpy(
    table: NDArray[Any], at: Ints, embedded: Mask, *, axes: Vectors, turns: Int32s, weights: Floats
) -> tuple[Floats, Floats]:
    """The same in numpy.

    >>> table, axes = np.array([[1.0, 0.0], [0.0, 2.0]], np.float32), np.array([[1, 0], [0, 0], [1, 0]], np.float32)
    >>> cosines, plain = context_cosines_numpy(
    ...     table, np.arange(2), np.ones(2, bool), axes=axes, turns=np.array([[1]]), weights=np.ones((1, 1))
    ... )
    >>> cosines.round(3).tolist(), plain.tolist()
    ([0.707], [1.0])
    """
    vectors = table.take(at, axis=0)
    vectors = widen_half_floats(vectors) if vectors.dtype == np.float16 else vectors.astype(np.float32, copy=False)
    question, mean, _ = axes
    # Row by row: a product of matrices wakes the threads of BLAS, which costs more than it saves here.
    on_question, on_mean, on_plain = np.vecdot(vectors[:, None, :], axes).T
    squared = np.vecdot(vectors, vectors) - 2 * on_mean + float(mean @ mean)
    lengths = np.sqrt(np.maximum(squared, 0.0)) * embedded
    inverse = np.divide(1.0, lengths, out=np.zeros(len(at)), where=lengths > MIN_VECTOR_LENGTH)
    cosines = (on_question - float(mean @ question)) * inverse
    facts, plain = len(turns), on_plain[: len(turns)].astype(np.float64)
    if not (turns >= 0).any():
        return cosines[:facts], plain
    rows = np.hstack([np.arange(facts)[:, None], turns])
    all_weights = np.hstack([np.ones((facts, 1)), np.where(turns >= 0, weights, 0.0)])
    shares = (all_weights * inverse[rows]).astype(np.float32)
    mixed = np.matmul(shares[:, None, :], vectors[rows])[:, 0] - shares.sum(axis=1)[:, None] * mean
    mixed_lengths = np.sqrt(np.vecdot(mixed, mixed))
    towards = (all_weights * cosines[rows]).sum(axis=1)
    together = np.divide(towards, mixed_lengths, out=np.zeros(facts), where=mixed_lengths > MIN_VECTOR_LENGTH)
    return np.where((turns >= 0).any(axis=1), together, cosines[:facts]), plain


# 5. Neighbours

_keep_highest = bind_function("keep_highest", "aiiaaaiiaa")


def keep_highest_compiled(
    block: Vectors, names: Ints, *, owners: Ints, own_names: Ints, best: Vectors, best_names: Ints
) -> None:
    """Merge the numbers of a block into the highest of each row, the highest first; of equals the first stays.

    `names` names the columns. Row i of the block counts for row owners[i] of `best` and `best_names`, without the column own_names[i].
    """
    block, names = to_native_array(block, np.float32), to_native_array(names, np.int64)
    owners, own_names = to_native_array(owners, np.int64), to_native_array(own_names, np.int64)
    check_sizes((block.shape, (len(owners), len(names))), (len(own_names), len(owners)), (best.shape, best_names.shape))
    check_sizes((best.dtype, np.float32), (best_names.dtype, np.int64))
    check_count(
        _keep_highest(
            address_of(block),
            *block.shape,
            *map(address_of, (names, owners, own_names)),
            *best.shape,
            address_of(best),
            address_of(best_names),
        )
    )


def keep_highest_numpy(
    block: Vectors, names: Ints, *, owners: Ints, own_names: Ints, best: Vectors, best_names: Ints
) -> None:
    """The same in numpy.

    >>> best, best_names = np.full((1, 2), -np.inf, np.float32), np.full((1, 2), -1)
    >>> block, names = np.array([[0.1, 0.9, 0.5]], np.float32), np.array([7, 8, 9])
    >>> own = {"owners": np.array([0]), "own_names": np.array([8])}
    >>> keep_highest_numpy(block, names, **own, best=best, best_names=best_names)
    >>> best_names.tolist()
    [[9, 7]]
    """
    most = best.shape[1]
    block = np.where(own_names[:, None] == names, np.float32(-np.inf), block)
    if block.shape[1] > most:
        columns = np.sort(np.argpartition(-block, most - 1, axis=1)[:, :most], axis=1)
        block, column_names = np.take_along_axis(block, columns, axis=1), names[columns]
    else:
        column_names = np.broadcast_to(names, block.shape)
    merged = np.hstack([best[owners], block])
    merged_names = np.hstack([best_names[owners], np.where(np.isneginf(block), -1, column_names)])
    order = np.argsort(-merged, axis=1, kind="stable")[:, :most]
    best[owners] = np.take_along_axis(merged, order, axis=1)
    best_names[owners] = np.take_along_axis(merged_names, order, axis=1)


IS_COMPILED = LIBRARY is not None

score_postings = score_postings_compiled if IS_COMPILED else score_postings_numpy
gather_rows = gather_rows_compiled if IS_COMPILED else gather_rows_numpy
count_differing_signs = count_differing_signs_compiled if IS_COMPILED else count_differing_signs_numpy
context_cosines = context_cosines_compiled if IS_COMPILED else context_cosines_numpy
keep_highest = keep_highest_compiled if IS_COMPILED else keep_highest_numpy
