"""Vectors kept between runs: an embedder that asks another one only for texts it has never seen. Its file lies outside the repository."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
import platformdirs

from cofire.embedders.base import Embedder, Model, Role, Vectors

AT_ONCE = 64


class KeptVectors:
    """Another embedder, remembered. `spent` is the CPU time its callers have waited for vectors, in seconds."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder = embedder
        folder.mkdir(parents=True, exist_ok=True)
        self._file = sqlite3.connect(folder / file_name(embedder.model), isolation_level=None)
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
        keys = [key_of(text, role) for text in texts]
        lacking = {key: text for key, text in zip(keys, texts, strict=True) if self._kept(key) is None}
        for start in range(0, len(lacking), AT_ONCE):
            self._make(dict(list(lacking.items())[start : start + AT_ONCE]), role)
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


def key_of(text: str, role: Role) -> bytes:
    return blake2b(f"{role}\0{text}".encode(), digest_size=16).digest()


def file_name(model: Model) -> str:
    """A file a model: its name with what tells it from others of that name.

    >>> file_name(Model("ollama/nomic:v1", 768, "6a1cc24734a57e45"))
    'ollama-nomic-v1-768-6a1cc24734a5.vectors'
    """
    plain = re.sub(r"[^A-Za-z0-9.]+", "-", model.name)
    return "-".join(filter(None, [plain, str(model.dimension), model.fingerprint[:12]])) + ".vectors"


def default_folder() -> Path:
    """Where vectors are kept unless another folder is named: the user's cache folder."""
    return Path(platformdirs.user_cache_dir("cofire")) / "benchmarks"
