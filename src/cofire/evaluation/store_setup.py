"""Load evaluation sets into a store, with embeddings cached between runs."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b, sha256
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import platformdirs

from cofire import Memory, __version__
from cofire.embedders.base import Embedder, Model, Role, Vectors
from cofire.evaluation.datasets import EvaluationSet
from cofire.runtime.session import open_store
from cofire.settings.sources import load_settings
from cofire.stores.base import Store

EMBED_BATCH = 64


class CachingEmbedder:
    """Another embedder, remembered. `spent` is the CPU time its callers have waited for vectors, in seconds."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder = embedder
        folder.mkdir(parents=True, exist_ok=True)
        self._file = sqlite3.connect(folder / cache_file_name(embedder.model), isolation_level=None)
        self._file.execute("CREATE TABLE IF NOT EXISTS kept(key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID")
        self.spent = 0.0

    @property
    def model(self) -> Model:
        return self._embedder.model

    @property
    def mean(self) -> Vectors | None:
        return self._embedder.mean

    @property
    def resting(self) -> tuple[float, float] | None:
        return self._embedder.resting

    @property
    def silent_below(self) -> float | None:
        return self._embedder.silent_below

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """One row a text, made or kept; what is made is kept a few texts at a time, so that a stopped run loses little."""
        begun = time.process_time()
        keys = [vector_key(text, role) for text in texts]
        lacking = {key: text for key, text in zip(keys, texts, strict=True) if self._kept(key) is None}
        for start in range(0, len(lacking), EMBED_BATCH):
            self._make(dict(list(lacking.items())[start : start + EMBED_BATCH]), role)
        rows = np.array([np.frombuffer(self._kept(key) or b"", np.float32) for key in keys])
        self.spent += time.process_time() - begun
        return rows

    def close(self) -> None:
        self._embedder.close()
        self._file.close()

    def _kept(self, key: bytes) -> bytes | None:
        found = self._file.execute("SELECT vector FROM kept WHERE key = ?", (key,)).fetchone()
        return found[0] if found else None

    def _make(self, lacking: dict[bytes, str], role: Role) -> None:
        made = self._embedder.embed(list(lacking.values()), role).astype(np.float32)
        rows = [(key, row.tobytes()) for key, row in zip(lacking, made, strict=True)]
        self._file.execute("BEGIN")
        self._file.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?)", rows)
        self._file.execute("COMMIT")


def vector_key(text: str, role: Role) -> bytes:
    return blake2b(f"{role}\0{text}".encode(), digest_size=16).digest()


def cache_file_name(model: Model) -> str:
    """A file a model: its name with what tells it from others of that name.

    >>> cache_file_name(Model("ollama/nomic:v1", 768, "6a1cc24734a57e45"))
    'ollama-nomic-v1-768-6a1cc24734a5.vectors'
    """
    plain = re.sub(r"[^A-Za-z0-9.]+", "-", model.name)
    return "-".join(filter(None, [plain, str(model.dimension), model.fingerprint[:12]])) + ".vectors"


def default_cache_folder() -> Path:
    """Where vectors are kept unless another folder is named: the user's cache folder."""
    return Path(platformdirs.user_cache_dir("cofire")) / "benchmarks"


# What is done, how much of it, and of how much.
ProgressCallback = Callable[[str, int, int], None]

# A run must leave a kept store as it found it.
NO_RECALL_LOG = {"recall_log.enabled": False}

_FILE_SUFFIXES = ("", "-wal", "-shm", ".rows.json")


@dataclass(frozen=True)
class LoadedMemory:
    """An open memory that holds sets, the store behind it, and by set the fact that each row became. Rows alike are one fact."""

    memory: Memory
    store: Store
    embedder: CachingEmbedder | None
    fact_of: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How sets are remembered: with what settings, whether a dream follows, and where the store is kept, if anywhere."""

    settings: Mapping[str, Any]
    dream: bool
    keep: Path | None


@contextmanager
def open_loaded_memory(
    name: str,
    sets: Sequence[EvaluationSet],
    embedder: CachingEmbedder | None,
    manner: LoadOptions,
    watch: ProgressCallback,
) -> Iterator[LoadedMemory]:
    """Sets in a memory, remembered now or in an earlier run."""
    made_of = fingerprint_sets(sets, embedder, manner)
    with _open_folder(manner.keep) as folder:
        place = folder / f"{name}-{made_of[:12]}.db"
        ids = _read_kept_ids(place)
        if ids is None:
            _delete_store_files(place)
        store = open_store(place, load_settings(record=None, call=manner.settings))
        settings = {**manner.settings, **NO_RECALL_LOG}
        with Memory(store, embedder=embedder, settings=settings, clock=make_clock_after(sets)) as memory:
            if ids is None:
                ids = _remember_sets(memory, sets, manner, watch)
                _ids_file(place).write_text(json.dumps(ids), encoding="utf-8")
            yield LoadedMemory(memory, store, embedder, _group_by_set(sets, ids))


def make_clock_after(sets: Sequence[EvaluationSet]) -> Callable[[], datetime] | None:
    """A clock that stands where the last fact was told, so that "last week" means the same on whatever day a set is measured;
    None, which is the world's clock, where no fact has a time.

    >>> told = [{"text": "I sail.", "at": "2024-05-01T10:00:00"}, {"text": "I sing.", "at": "2024-05-02T10:00:00"}]
    >>> clock = make_clock_after([EvaluationSet("chat", ("1", "2"), tuple(told), ())])
    >>> clock().isoformat() if clock else ""
    '2024-05-02T10:00:00+00:00'
    """
    told = [datetime.fromisoformat(fact["at"]) for one in sets for fact in one.facts if "at" in fact]
    last = max((one if one.tzinfo else one.replace(tzinfo=UTC) for one in told), default=None)
    return None if last is None else lambda: last


def fingerprint_sets(sets: Sequence[EvaluationSet], embedder: CachingEmbedder | None, manner: LoadOptions) -> str:
    """Tells stores apart: by all that is remembered, the model, the version and the settings that decide how memory is written."""
    settings = load_settings(record=None, call=manner.settings)
    known = [
        __version__,
        embedder.model.name if embedder else None,
        embedder.model.fingerprint if embedder else None,
        {knob.name: value for knob, value in settings if knob.kept_in_store},
        manner.dream,
        [one.facts for one in sets],
    ]
    return sha256(json.dumps(known).encode()).hexdigest()


def _remember_sets(
    memory: Memory, sets: Sequence[EvaluationSet], manner: LoadOptions, watch: ProgressCallback
) -> list[str]:
    facts = [fact for one in sets for fact in one.facts]
    ids = memory.remember(facts, progress=lambda so_far: watch("remembering", so_far.done, len(facts)))
    if manner.dream:
        memory.dream(progress=lambda so_far: watch("dreaming", so_far.done, len(facts)))
    return ids


def _group_by_set(sets: Sequence[EvaluationSet], ids: Sequence[str]) -> dict[str, dict[str, str]]:
    following = iter(ids)
    return {one.name: dict(zip(one.rows, islice(following, len(one.rows)), strict=True)) for one in sets}


@contextmanager
def _open_folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
        return
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _read_kept_ids(place: Path) -> list[str] | None:
    """The facts of the rows, if the store was made to its end: they are written last."""
    if not (place.exists() and _ids_file(place).exists()):
        return None
    ids: list[str] = json.loads(_ids_file(place).read_text(encoding="utf-8"))
    return ids


def _ids_file(place: Path) -> Path:
    return place.with_name(f"{place.name}.rows.json")


def _delete_store_files(place: Path) -> None:
    for ending in _FILE_SUFFIXES:
        place.with_name(place.name + ending).unlink(missing_ok=True)
