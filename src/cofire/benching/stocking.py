"""Stocking: an evaluation set, or several, remembered in a store through the public interface, for one run or for the next ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cofire import Memory, __version__
from cofire.benching.evaluation_sets import EvaluationSet
from cofire.benching.kept_vectors import KeptVectors
from cofire.configuration import gather
from cofire.opening import open_store
from cofire.stores.base import Store

# What is done, how much of it, and of how much.
Watch = Callable[[str, int, int], None]

# A run must leave a kept store as it found it.
UNLOGGED = {"recall_log.enabled": False}

_BESIDES = ("", "-wal", "-shm", ".rows.json")


@dataclass(frozen=True)
class Stock:
    """An open memory that holds sets, the store behind it, and by set the fact that each row became. Rows alike are one fact."""

    memory: Memory
    store: Store
    embedder: KeptVectors | None
    fact_of: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Manner:
    """How sets are remembered: with what settings, whether a dream follows, and where the store is kept, if anywhere."""

    settings: Mapping[str, Any]
    dream: bool
    keep: Path | None


@contextmanager
def stocked(
    name: str, sets: Sequence[EvaluationSet], embedder: KeptVectors | None, manner: Manner, watch: Watch
) -> Iterator[Stock]:
    """Sets in a memory, remembered now or in an earlier run."""
    made_of = fingerprint(sets, embedder, manner)
    with _folder(manner.keep) as folder:
        place = folder / f"{name}-{made_of[:12]}.db"
        ids = _kept(place)
        if ids is None:
            _remove(place)
        store = open_store(place, gather(record=None, call=manner.settings))
        settings = {**manner.settings, **UNLOGGED}
        with Memory(store, embedder=embedder, settings=settings, clock=after_the_last(sets)) as memory:
            if ids is None:
                ids = _remember(memory, sets, manner, watch)
                _beside(place).write_text(json.dumps(ids), encoding="utf-8")
            yield Stock(memory, store, embedder, _by_set(sets, ids))


def after_the_last(sets: Sequence[EvaluationSet]) -> Callable[[], datetime] | None:
    """A clock that stands where the last fact was told, so that "last week" means the same on whatever day a set is measured;
    None, which is the world's clock, where no fact has a time.

    >>> told = [{"text": "I sail.", "at": "2024-05-01T10:00:00"}, {"text": "I sing.", "at": "2024-05-02T10:00:00"}]
    >>> clock = after_the_last([EvaluationSet("chat", ("1", "2"), tuple(told), ())])
    >>> clock().isoformat() if clock else ""
    '2024-05-02T10:00:00+00:00'
    """
    told = [datetime.fromisoformat(fact["at"]) for one in sets for fact in one.facts if "at" in fact]
    last = max((one if one.tzinfo else one.replace(tzinfo=UTC) for one in told), default=None)
    return None if last is None else lambda: last


def fingerprint(sets: Sequence[EvaluationSet], embedder: KeptVectors | None, manner: Manner) -> str:
    """Tells stores apart: by all that is remembered, the model, the version and the settings that decide how memory is written."""
    settings = gather(record=None, call=manner.settings)
    known = [
        __version__,
        embedder.model.name if embedder else None,
        embedder.model.fingerprint if embedder else None,
        {knob.name: value for knob, value in settings if knob.kept},
        manner.dream,
        [one.facts for one in sets],
    ]
    return sha256(json.dumps(known).encode()).hexdigest()


def _remember(memory: Memory, sets: Sequence[EvaluationSet], manner: Manner, watch: Watch) -> list[str]:
    facts = [fact for one in sets for fact in one.facts]
    ids = memory.remember(facts, progress=lambda so_far: watch("remembering", so_far.done, len(facts)))
    if manner.dream:
        memory.dream(progress=lambda so_far: watch("dreaming", so_far.done, len(facts)))
    return ids


def _by_set(sets: Sequence[EvaluationSet], ids: Sequence[str]) -> dict[str, dict[str, str]]:
    following = iter(ids)
    return {one.name: dict(zip(one.rows, islice(following, len(one.rows)), strict=True)) for one in sets}


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
        return
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _kept(place: Path) -> list[str] | None:
    """The facts of the rows, if the store was made to its end: they are written last."""
    if not (place.exists() and _beside(place).exists()):
        return None
    ids: list[str] = json.loads(_beside(place).read_text(encoding="utf-8"))
    return ids


def _beside(place: Path) -> Path:
    return place.with_name(f"{place.name}.rows.json")


def _remove(place: Path) -> None:
    for ending in _BESIDES:
        place.with_name(place.name + ending).unlink(missing_ok=True)
