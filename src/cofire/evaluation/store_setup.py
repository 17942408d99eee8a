"""Load evaluation sets into a store, with embeddings cached between runs."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b, sha256
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
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
    """An embedder with a cache in a file. `spent` is the CPU time in seconds spent in `embed`."""

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
        """One row per text. New vectors are stored in small batches, so that an interrupted run loses little."""
        started = process_time()
        keys = [vector_key(text, role) for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if self._kept(key) is None}
        for start in range(0, len(missing), EMBED_BATCH):
            self._make(dict(list(missing.items())[start : start + EMBED_BATCH]), role)
        rows = np.array([np.frombuffer(self._kept(key) or b"", np.float32) for key in keys])
        self.spent += process_time() - started
        return rows

    def close(self) -> None:
        self._embedder.close()
        self._file.close()

    def _kept(self, key: bytes) -> bytes | None:
        row = self._file.execute("SELECT vector FROM kept WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def _make(self, missing: dict[bytes, str], role: Role) -> None:
        vectors = self._embedder.embed(list(missing.values()), role).astype(np.float32)
        rows = [(key, row.tobytes()) for key, row in zip(missing, vectors, strict=True)]
        self._file.execute("BEGIN")
        self._file.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?)", rows)
        self._file.execute("COMMIT")


def vector_key(text: str, role: Role) -> bytes:
    return blake2b(f"{role}\0{text}".encode(), digest_size=16).digest()


def cache_file_name(model: Model) -> str:
    """The file of a model: its name, dimension and fingerprint.

    >>> cache_file_name(Model("ollama/nomic:v1", 768, "6a1cc24734a57e45"))
    'ollama-nomic-v1-768-6a1cc24734a5.vectors'
    """
    plain = re.sub(r"[^A-Za-z0-9.]+", "-", model.name)
    return "-".join(filter(None, [plain, str(model.dimension), model.fingerprint[:12]])) + ".vectors"


def default_cache_folder() -> Path:
    """The default folder of cached vectors, in the user's cache folder."""
    return Path(platformdirs.user_cache_dir("cofire")) / "benchmarks"


# Activity, steps done, steps in total.
ProgressCallback = Callable[[str, int, int], None]

# A run does not change a kept store.
NO_RECALL_LOG = {"recall_log.enabled": False}

_FILE_SUFFIXES = ("", "-wal", "-shm", ".rows.json")


@dataclass(frozen=True)
class LoadedMemory:
    """An open memory with sets, its store, and for each set the fact of each row. Equal rows share a fact."""

    memory: Memory
    store: Store
    embedder: CachingEmbedder | None
    fact_of: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How sets are remembered: settings, whether a dream follows, and where the store is kept, if at all."""

    settings: Mapping[str, Any]
    dream: bool
    keep: Path | None


@contextmanager
def open_loaded_memory(
    name: str,
    sets: Sequence[EvaluationSet],
    embedder: CachingEmbedder | None,
    options: LoadOptions,
    progress: ProgressCallback,
) -> Iterator[LoadedMemory]:
    """A memory with the sets, remembered now or in an earlier run."""
    fingerprint = fingerprint_sets(sets, embedder, options)
    with _open_folder(options.keep) as folder:
        path = folder / f"{name}-{fingerprint[:12]}.db"
        ids = _read_kept_ids(path)
        if ids is None:
            _delete_store_files(path)
        store = open_store(path, load_settings(record=None, call=options.settings))
        settings = {**options.settings, **NO_RECALL_LOG}
        with Memory(store, embedder=embedder, settings=settings, clock=make_clock_after(sets)) as memory:
            if ids is None:
                ids = _remember_sets(memory, sets, options, progress)
                _ids_file(path).write_text(json.dumps(ids), encoding="utf-8")
            yield LoadedMemory(memory, store, embedder, _group_by_set(sets, ids))


def make_clock_after(sets: Sequence[EvaluationSet]) -> Callable[[], datetime] | None:
    """A clock that stops at the last fact, so that "last week" always means the same.

    None (the system clock) if no fact has a time.

    >>> facts = [{"text": "I sail.", "at": "2024-05-01T10:00:00"}, {"text": "I sing.", "at": "2024-05-02T10:00:00"}]
    >>> clock = make_clock_after([EvaluationSet("chat", ("1", "2"), tuple(facts), ())])
    >>> clock().isoformat() if clock else ""
    '2024-05-02T10:00:00+00:00'
    """
    times = []
    for evaluation_set in sets:
        for fact in evaluation_set.facts:
            if "at" in fact:
                time = datetime.fromisoformat(fact["at"])
                times.append(time if time.tzinfo else time.replace(tzinfo=UTC))
    last = max(times, default=None)
    return None if last is None else lambda: last


def fingerprint_sets(sets: Sequence[EvaluationSet], embedder: CachingEmbedder | None, options: LoadOptions) -> str:
    """A digest of everything that determines the store: facts, model, version, settings kept in the store."""
    settings = load_settings(record=None, call=options.settings)
    parts = [
        __version__,
        embedder.model.name if embedder else None,
        embedder.model.fingerprint if embedder else None,
        {knob.name: value for knob, value in settings if knob.kept_in_store},
        options.dream,
        [evaluation_set.facts for evaluation_set in sets],
    ]
    return sha256(json.dumps(parts).encode()).hexdigest()


def _remember_sets(
    memory: Memory, sets: Sequence[EvaluationSet], options: LoadOptions, progress: ProgressCallback
) -> list[str]:
    facts = [fact for evaluation_set in sets for fact in evaluation_set.facts]
    ids = memory.remember(facts, progress=lambda state: progress("remembering", state.done, len(facts)))
    if options.dream:
        memory.dream(progress=lambda state: progress("dreaming", state.done, len(facts)))
    return ids


def _group_by_set(sets: Sequence[EvaluationSet], ids: Sequence[str]) -> dict[str, dict[str, str]]:
    remaining_ids = iter(ids)
    return {
        evaluation_set.name: dict(
            zip(evaluation_set.rows, islice(remaining_ids, len(evaluation_set.rows)), strict=True)
        )
        for evaluation_set in sets
    }


@contextmanager
def _open_folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
        return
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _read_kept_ids(path: Path) -> list[str] | None:
    """The facts of the rows, if the store is complete: they are written last."""
    if not (path.exists() and _ids_file(path).exists()):
        return None
    ids: list[str] = json.loads(_ids_file(path).read_text(encoding="utf-8"))
    return ids


def _ids_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.rows.json")


def _delete_store_files(path: Path) -> None:
    for suffix in _FILE_SUFFIXES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)
