"""The embedder that comes along: granite-embedding-30m-english from its wheel, run by onnxruntime on one thread."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from cofire.embedders.base import Model, Role, Vectors
from cofire.embedders.bundled_pack import SHA256, Quantised, open_pack, pack_path
from cofire.embedders.byte_pair import BytePair
from cofire.embedders.centring import unit
from cofire.embedders.granite_graph import granite_model, graph_weights, token_places
from cofire.embedders.granite_rest import SILENT_BELOW, SPREAD, granite_mean
from cofire.embedders.onnx_graph import Array
from cofire.embedders.when_needed import WhenNeeded
from cofire.embedders.windows import pooled, windows
from cofire.errors import EmbedderFailed, EmbedderUnavailable, map_exceptions

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

MODEL = Model("granite-embedding-30m-english", 384, fingerprint=SHA256)

_WINDOW = 510  # The model reads 512 tokens, the opening and the closing one included.
_OVERLAP = 32
_TOKENS_A_RUN = 256


class Bundled:
    """The bundled embedder. The first text loads the model; all embedders of a process share one loaded model."""

    def __init__(self) -> None:
        self._granite = WhenNeeded(lambda: SHARED.get(pack_path()))

    @property
    def model(self) -> Model:
        return MODEL

    @property
    def mean(self) -> Vectors:
        return granite_mean()

    @property
    def resting(self) -> tuple[float, float]:
        return SPREAD

    @property
    def silent_below(self) -> float:
        return SILENT_BELOW

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """One row a text. Facts and questions are read alike, as the model was trained."""
        return embed_with(self._granite.get(), texts)

    def close(self) -> None:
        """Release the model. It is freed with the last embedder that uses it; a later text loads it again."""
        self._granite.let_go()


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Granite:
    """The loaded model. `weights` are kept because the session reads them where they are."""

    tokenizer: BytePair
    words: Quantised
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
        self._models: WeakValueDictionary[Path, Granite] = WeakValueDictionary()

    def get(self, path: Path) -> Granite:
        """The model of a file; loaded if no embedder of this process has it loaded."""
        with self._lock:
            granite = self._models.get(path)
            if granite is None:
                granite = load_granite(path)
                self._models[path] = granite
            return granite


SHARED = SharedModels()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=SHARED.clear)


def load_granite(path: Path) -> Granite:
    pack = open_pack(path)
    weights = graph_weights(pack)
    return Granite(
        BytePair(pack.tokenizer),
        pack.quantised["word_emb"],
        token_places(pack),
        _session(granite_model(pack.architecture, weights, width=MODEL.dimension), weights),
        weights,
    )


def embed_with(granite: Granite, texts: Sequence[str]) -> Vectors:
    """Texts to unit vectors; a text longer than the model's reach is read in windows."""
    cut = [windows(granite.tokenizer.encode(text), size=_WINDOW, overlap=_OVERLAP) for text in texts]
    vectors = _read(granite, [window for text in cut for window in text])
    if len(vectors) == len(texts):
        return vectors
    ends = np.cumsum([len(text) for text in cut])
    split = np.split(vectors, ends[:-1])
    return np.stack([_whole(seen, text) for seen, text in zip(split, cut, strict=True)])


def _whole(vectors: Vectors, text: Sequence[Sequence[int]]) -> Vectors:
    return vectors[0] if len(text) == 1 else pooled(vectors, [len(window) for window in text])


def _read(granite: Granite, cut: Sequence[Sequence[int]]) -> Vectors:
    vectors = np.empty((len(cut), MODEL.dimension), np.float32)
    for places in runs([len(window) for window in cut], most=_TOKENS_A_RUN):
        vectors[places] = unit(_run(granite, np.array([_enclosed(granite.tokenizer, cut[place]) for place in places])))
    return vectors


def runs(lengths: Sequence[int], *, most: int) -> Iterator[list[int]]:
    """Places of equally long texts, at most `most` tokens together.

    Equal lengths need no padding, and without padding every row is computed as if it were alone, to the last bit.

    >>> list(runs([3, 2, 3, 3], most=6))
    [[0, 2], [3], [1]]
    """
    alike: defaultdict[int, list[int]] = defaultdict(list)
    for place, length in enumerate(lengths):
        alike[length].append(place)
    for length, places in alike.items():
        size = max(1, most // max(1, length))
        yield from (places[start : start + size] for start in range(0, len(places), size))


def _enclosed(tokenizer: BytePair, window: Sequence[int]) -> list[int]:
    return [tokenizer.opening, *window, tokenizer.closing]


def _run(granite: Granite, tokens: Array) -> Vectors:
    embedded = granite.words.floats(tokens) + granite.places[: tokens.shape[1]]
    with _onnxruntime_working():
        states: Vectors = granite.session.run(None, {"embedded": embedded})[0]
    return states[:, 0]


def _session(model: bytes, weights: dict[str, Array]) -> InferenceSession:
    runtime = _onnxruntime()
    with _onnxruntime_working():
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        # The graph is written as fast as the optimiser would make it, and texts of every length come by.
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.enable_mem_pattern = False
        values = [runtime.OrtValue.ortvalue_from_numpy(array) for array in weights.values()]
        options.add_external_initializers(list(weights), values)
        return runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _onnxruntime() -> Any:
    """Imported at the first text: it costs more than all the rest of a short command."""
    with map_exceptions(
        {ImportError: EmbedderUnavailable},
        problem="The bundled embedding model needs onnxruntime: {error}.",
        way_out="Install it with: pip install onnxruntime",
    ):
        import onnxruntime
    onnxruntime.disable_telemetry_events()
    return onnxruntime


def _onnxruntime_working() -> AbstractContextManager[None]:
    return map_exceptions(
        {Exception: EmbedderFailed},
        problem="onnxruntime cannot run the bundled model: {error}.",
        way_out="Update it with: pip install --upgrade onnxruntime",
    )
