"""The bundled embedder: granite-embedding-30m-english on onnxruntime."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from cofire.algorithms.vector_similarity import normalise_vectors
from cofire.embedders.base import Embedder, LazyResource, Model, Role, Vectors
from cofire.embedders.byte_pair import BytePairTokenizer
from cofire.embedders.calibration import measure_mean_and_spread
from cofire.embedders.granite import (
    PACK_SHA256,
    Array,
    QuantisedMatrix,
    build_granite_model,
    build_position_embeddings,
    collect_graph_weights,
    find_pack,
    open_pack,
)
from cofire.errors import EmbedderFailed, EmbedderUnavailable, map_exceptions

if TYPE_CHECKING:
    from onnxruntime import InferenceSession


def split_windows(tokens: Sequence[int], *, size: int, overlap: int) -> list[Sequence[int]]:
    """Consecutive windows that overlap, so that no sentence is only seen in halves.

    >>> split_windows([1, 2, 3, 4, 5], size=3, overlap=1)
    [[1, 2, 3], [3, 4, 5]]
    """
    starts = range(0, max(len(tokens) - overlap, 1), size - overlap)
    return [tokens[start : start + size] for start in starts]


def pool_vectors(vectors: Vectors, lengths: Sequence[int]) -> Vectors:
    """The average of the windows' unit vectors, weighted by length: unit(Σ length · vector).

    >>> pool_vectors(np.eye(2, dtype=np.float32), [0, 4]).tolist()
    [0.0, 1.0]
    """
    weights = np.asarray(lengths, np.float32)[:, None]
    return normalise_vectors((vectors * weights).sum(axis=0))


GRANITE_MEAN_FILE = Path(__file__).with_name("granite_mean.npy")
GRANITE_SPREAD = (-0.01037, 0.08536)

# The threshold at which fewer than 1 % of the answerable questions of the tuning halves abstain:
# benchmarks/abstention.py.
GRANITE_ABSTENTION_THRESHOLD = 0.548


@cache
def load_granite_mean() -> Vectors:
    mean: Vectors = np.load(GRANITE_MEAN_FILE)
    mean.flags.writeable = False
    return mean


def write_granite_mean(embedder: Embedder, path: Path) -> tuple[float, float]:
    """Measure again after a change of the calibration texts. Returns the new GRANITE_SPREAD.

    `write_granite_mean(BundledEmbedder(), GRANITE_MEAN_FILE)`. Existing stores keep their own mean.
    """
    mean, spread = measure_mean_and_spread(embedder)
    np.save(path, mean)
    return spread


BUNDLED_MODEL = Model("granite-embedding-30m-english", 384, fingerprint=PACK_SHA256)

_WINDOW_TOKENS = 510  # The model reads 512 tokens, the opening and the closing one included.
_OVERLAP_TOKENS = 32
_MAX_TOKENS_PER_RUN = 256


class BundledEmbedder:
    """Loads its model for the first text. All embedders of a process share one loaded model."""

    def __init__(self) -> None:
        self._granite = LazyResource(lambda: SHARED_MODELS.get(find_pack()))

    @property
    def model(self) -> Model:
        return BUNDLED_MODEL

    @property
    def mean(self) -> Vectors:
        return load_granite_mean()

    @property
    def resting(self) -> tuple[float, float]:
        return GRANITE_SPREAD

    @property
    def silent_below(self) -> float:
        return GRANITE_ABSTENTION_THRESHOLD

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """One row per text. The model treats facts and questions alike."""
        return embed_texts(self._granite.get(), texts)

    def close(self) -> None:
        """Release the model. The last embedder to do so frees it; a later text loads it again."""
        self._granite.let_go()


@dataclass(frozen=True, slots=True, weakref_slot=True)
class LoadedGranite:
    """The loaded model. The session reads `weights` in place, so they must stay alive."""

    tokenizer: BytePairTokenizer
    words: QuantisedMatrix
    places: Vectors
    session: InferenceSession
    weights: dict[str, Array]


class SharedModels:
    """The loaded models of this process by path. Weak references: closing the last embedder frees a model."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all models. After a fork the lock may be held and the sessions belong to the parent."""
        self._lock = Lock()
        self._models: WeakValueDictionary[Path, LoadedGranite] = WeakValueDictionary()

    def get(self, path: Path) -> LoadedGranite:
        """The model of a file, loaded if it is not loaded yet."""
        with self._lock:
            granite = self._models.get(path)
            if granite is None:
                granite = load_granite(path)
                self._models[path] = granite
            return granite


SHARED_MODELS = SharedModels()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=SHARED_MODELS.clear)


def load_granite(path: Path) -> LoadedGranite:
    pack = open_pack(path)
    weights = collect_graph_weights(pack)
    return LoadedGranite(
        BytePairTokenizer(pack.tokenizer),
        pack.quantised["word_emb"],
        build_position_embeddings(pack),
        _create_session(build_granite_model(pack.architecture, weights, width=BUNDLED_MODEL.dimension), weights),
        weights,
    )


def embed_texts(granite: LoadedGranite, texts: Sequence[str]) -> Vectors:
    """The unit vectors of texts. Texts longer than the window of the model are split."""
    windows_of_text = [
        split_windows(granite.tokenizer.encode(text), size=_WINDOW_TOKENS, overlap=_OVERLAP_TOKENS) for text in texts
    ]
    vectors = _embed_windows(granite, [window for windows in windows_of_text for window in windows])
    if len(vectors) == len(texts):
        return vectors
    pooled = []
    start = 0
    for windows in windows_of_text:
        rows = vectors[start : start + len(windows)]
        start += len(windows)
        lengths = [len(window) for window in windows]
        pooled.append(rows[0] if len(rows) == 1 else pool_vectors(rows, lengths))
    return np.stack(pooled)


def _embed_windows(granite: LoadedGranite, windows: Sequence[Sequence[int]]) -> Vectors:
    opening, closing = granite.tokenizer.opening, granite.tokenizer.closing
    vectors = np.empty((len(windows), BUNDLED_MODEL.dimension), np.float32)
    for rows in batch_by_length([len(window) for window in windows], most=_MAX_TOKENS_PER_RUN):
        tokens = np.array([[opening, *windows[row], closing] for row in rows])
        vectors[rows] = normalise_vectors(_run_session(granite, tokens))
    return vectors


def batch_by_length(lengths: Sequence[int], *, most: int) -> Iterator[list[int]]:
    """Indices of texts of equal length, at most `most` tokens per batch.

    Equal lengths need no padding, so that each row is bitwise the same in any batch.

    >>> list(batch_by_length([3, 2, 3, 3], most=6))
    [[0, 2], [3], [1]]
    """
    alike: defaultdict[int, list[int]] = defaultdict(list)
    for place, length in enumerate(lengths):
        alike[length].append(place)
    for length, places in alike.items():
        size = max(1, most // max(1, length))
        yield from (places[start : start + size] for start in range(0, len(places), size))


def _run_session(granite: LoadedGranite, tokens: Array) -> Vectors:
    embedded = granite.words.floats(tokens) + granite.places[: tokens.shape[1]]
    with _map_onnxruntime_errors():
        states: Vectors = granite.session.run(None, {"embedded": embedded})[0]
    return states[:, 0]


def _create_session(model: bytes, weights: dict[str, Array]) -> InferenceSession:
    runtime = _import_onnxruntime()
    with _map_onnxruntime_errors():
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        # The graph is optimised already, and text lengths vary too much for memory patterns.
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.enable_mem_pattern = False
        values = [runtime.OrtValue.ortvalue_from_numpy(array) for array in weights.values()]
        options.add_external_initializers(list(weights), values)
        return runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _import_onnxruntime() -> Any:
    """Imported for the first text: the import takes longer than a short command."""
    with map_exceptions(
        {ImportError: EmbedderUnavailable},
        problem="The bundled embedding model needs onnxruntime: {error}.",
        way_out="Install it with: pip install onnxruntime",
    ):
        import onnxruntime
    onnxruntime.disable_telemetry_events()
    return onnxruntime


def _map_onnxruntime_errors() -> AbstractContextManager[None]:
    return map_exceptions(
        {Exception: EmbedderFailed},
        problem="onnxruntime cannot run the bundled model: {error}.",
        way_out="Update it with: pip install --upgrade onnxruntime",
    )
