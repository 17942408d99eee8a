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
from cofire.embedders.granite_graph import Array, build_granite_model, build_position_embeddings, collect_graph_weights
from cofire.embedders.granite_pack import PACK_SHA256, QuantisedMatrix, find_pack, open_pack
from cofire.errors import EmbedderFailed, EmbedderUnavailable, map_exceptions

if TYPE_CHECKING:
    from onnxruntime import InferenceSession


def split_windows(tokens: Sequence[int], *, size: int, overlap: int) -> list[Sequence[int]]:
    """Consecutive windows that share `overlap` tokens, so that no sentence is known only by its halves.

    >>> split_windows([1, 2, 3, 4, 5], size=3, overlap=1)
    [[1, 2, 3], [3, 4, 5]]
    """
    starts = range(0, max(len(tokens) - overlap, 1), size - overlap)
    return [tokens[start : start + size] for start in starts]


def pool_vectors(vectors: Vectors, lengths: Sequence[int]) -> Vectors:
    """The windows' unit vectors averaged by length: unit(Σ length · vector).

    >>> pool_vectors(np.eye(2, dtype=np.float32), [0, 4]).tolist()
    [0.0, 1.0]
    """
    weights = np.asarray(lengths, np.float32)[:, None]
    return normalise_vectors((vectors * weights).sum(axis=0))


GRANITE_MEAN_FILE = Path(__file__).with_name("granite_mean.npy")
GRANITE_SPREAD = (-0.01037, 0.08536)

# Under this fewer than one answerable question in a hundred falls silent, over the tuning halves: benchmarks/abstention.py.
GRANITE_ABSTENTION_THRESHOLD = 0.548


@cache
def load_granite_mean() -> Vectors:
    mean: Vectors = np.load(GRANITE_MEAN_FILE)
    mean.flags.writeable = False
    return mean


def write_granite_mean(embedder: Embedder, path: Path) -> tuple[float, float]:
    """Measure again, after a change of the calibration texts; returns what SPREAD has to be.

    `write_mean(BundledEmbedder(), MEAN_FILE)`; every store made before keeps the mean it was made with.
    """
    mean, spread = measure_mean_and_spread(embedder)
    np.save(path, mean)
    return spread


BUNDLED_MODEL = Model("granite-embedding-30m-english", 384, fingerprint=PACK_SHA256)

_WINDOW_TOKENS = 510  # The model reads 512 tokens, the opening and the closing one included.
_OVERLAP_TOKENS = 32
_MAX_TOKENS_PER_RUN = 256


class BundledEmbedder:
    """The bundled embedder. The first text loads the model; all embedders of a process share one loaded model."""

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
        """One row a text. Facts and questions are read alike, as the model was trained."""
        return embed_texts(self._granite.get(), texts)

    def close(self) -> None:
        """Release the model. It is freed with the last embedder that uses it; a later text loads it again."""
        self._granite.let_go()


@dataclass(frozen=True, slots=True, weakref_slot=True)
class LoadedGranite:
    """The loaded model. `weights` are kept because the session reads them where they are."""

    tokenizer: BytePairTokenizer
    words: QuantisedMatrix
    places: Vectors
    session: InferenceSession
    weights: dict[str, Array]


class SharedModels:
    """The loaded models of this process, by file. Only embedders hold them strongly: closing the last one frees the model."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Start anew, as a forked child must: another thread may have held the lock, and a session belongs to its process."""
        self._lock = Lock()
        self._models: WeakValueDictionary[Path, LoadedGranite] = WeakValueDictionary()

    def get(self, path: Path) -> LoadedGranite:
        """The model of a file; loaded if no embedder of this process has it loaded."""
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
    """Texts to unit vectors; a text longer than the model's reach is read in windows."""
    cut = [
        split_windows(granite.tokenizer.encode(text), size=_WINDOW_TOKENS, overlap=_OVERLAP_TOKENS) for text in texts
    ]
    vectors = _embed_windows(granite, [window for text in cut for window in text])
    if len(vectors) == len(texts):
        return vectors
    ends = np.cumsum([len(text) for text in cut])
    split = np.split(vectors, ends[:-1])
    return np.stack([_pool_text(seen, text) for seen, text in zip(split, cut, strict=True)])


def _pool_text(vectors: Vectors, text: Sequence[Sequence[int]]) -> Vectors:
    return vectors[0] if len(text) == 1 else pool_vectors(vectors, [len(window) for window in text])


def _embed_windows(granite: LoadedGranite, cut: Sequence[Sequence[int]]) -> Vectors:
    vectors = np.empty((len(cut), BUNDLED_MODEL.dimension), np.float32)
    for places in batch_by_length([len(window) for window in cut], most=_MAX_TOKENS_PER_RUN):
        vectors[places] = normalise_vectors(
            _run_session(granite, np.array([_add_special_tokens(granite.tokenizer, cut[place]) for place in places]))
        )
    return vectors


def batch_by_length(lengths: Sequence[int], *, most: int) -> Iterator[list[int]]:
    """Places of equally long texts, at most `most` tokens together.

    Equal lengths need no padding, and without padding every row is computed as if it were alone, to the last bit.

    >>> list(batch_by_length([3, 2, 3, 3], most=6))
    [[0, 2], [3], [1]]
    """
    alike: defaultdict[int, list[int]] = defaultdict(list)
    for place, length in enumerate(lengths):
        alike[length].append(place)
    for length, places in alike.items():
        size = max(1, most // max(1, length))
        yield from (places[start : start + size] for start in range(0, len(places), size))


def _add_special_tokens(tokenizer: BytePairTokenizer, window: Sequence[int]) -> list[int]:
    return [tokenizer.opening, *window, tokenizer.closing]


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
        # The graph is written as fast as the optimiser would make it, and texts of every length come by.
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.enable_mem_pattern = False
        values = [runtime.OrtValue.ortvalue_from_numpy(array) for array in weights.values()]
        options.add_external_initializers(list(weights), values)
        return runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _import_onnxruntime() -> Any:
    """Imported at the first text: it costs more than all the rest of a short command."""
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
