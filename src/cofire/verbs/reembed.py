"""Re-embed: give every fact a vector of the embedder at hand. What is done stays done; the old vectors serve until the end."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from cofire.asks import Asking, Embed, Emit, Now, Recorded, Size, Unembedded, WhichModel, Write
from cofire.embedders.base import Resident, StoredModel, Vectors
from cofire.errors import EmbedderUnavailable
from cofire.model import Change, Fact, Record
from cofire.settings import BATCH, SAMPLE, Settings
from cofire.stores.base import INCOMING_RECORD, MODEL_RECORD, StoreSize
from cofire.verbs.model_of_store import measure
from cofire.verbs.remember import Progress


def reembed(settings: Settings) -> Asking[int]:
    """Embed what still lacks a vector of this model, then let the model move in. Returns how many facts were embedded."""
    resident: Resident | None = yield WhichModel()
    if resident is None:
        raise EmbedderUnavailable(
            "There is no embedder.", way_out="Set one with: cofire config set embedder.name bundled"
        )
    target = yield from _target(resident)
    done = yield from _fill(target, settings)
    now: datetime = yield Now()
    yield Write(Change(now=now, records=(Record(MODEL_RECORD, target),), adopt_vectors=True))
    return done + (yield from _fill_and_adopt_latecomers(target, settings))


def _target(resident: Resident) -> Asking[bytes]:
    """The model that is to move in, as a record: the one in the store when it is the same, else the one begun before, else a new one."""
    for name in (MODEL_RECORD, INCOMING_RECORD):
        record: Record | None = yield Recorded(name)
        if record is not None and StoredModel.decode(record.value).model == resident.model:
            return record.value
    made = yield from measure(resident)
    now: datetime = yield Now()
    yield Write(Change(now=now, records=(Record(INCOMING_RECORD, made.encode()),)))
    return made.encode()


def _fill(target: bytes, settings: Settings) -> Asking[int]:
    size: StoreSize = yield Size()
    done = 0
    while batch := (yield Unembedded(target, settings[BATCH])):
        yield from _embed_batch(batch, target)
        done += len(batch)
        yield Emit(Progress("reembed", done, max(done, size.facts)))
    return done


def _embed_batch(batch: list[Fact], target: bytes) -> Asking[None]:
    made: Vectors = yield Embed([fact.reading for fact in batch], "fact")
    rows = made.astype(np.float16)
    now: datetime = yield Now()
    vectors = {fact.id: row.tobytes() for fact, row in zip(batch, rows, strict=True)}
    yield Write(Change(now=now, vectors=vectors, records=(Record(INCOMING_RECORD, target),)))


def _fill_and_adopt_latecomers(target: bytes, settings: Settings) -> Asking[int]:
    """Facts that others stored meanwhile, and the word statistics, whose sample must be of the new model."""
    late = yield from _fill(target, settings)
    now: datetime = yield Now()
    size: StoreSize = yield Size()
    change = Change(
        now=now,
        records=(Record(MODEL_RECORD, target),),
        adopt_vectors=True,
        recount=tuple(size.scopes),
        sample=settings[SAMPLE],
    )
    yield Write(change)
    return late
