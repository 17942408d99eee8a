"""The model of a store: every store holds the vectors of one model, and is never given another's by accident."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cofire.asks import Asking, Embed, Now, Recorded, WhichModel, Write
from cofire.dynamics import likeness
from cofire.embedders import calibration
from cofire.embedders.base import Model, Resident, StoredModel, Vectors
from cofire.errors import Conflict, OtherModel
from cofire.model import Change, Record
from cofire.stores.base import MODEL_RECORD


@dataclass(frozen=True)
class Settled:
    """The model of the store and the version of its record, by which a writer notices that another has moved in."""

    model: StoredModel
    version: int


def settle_model() -> Asking[Settled | None]:
    """The model of the store, written down the first time a vector is about to be stored; None without an embedder."""
    resident: Resident | None = yield WhichModel()
    if resident is None:
        return None
    settled = yield from _settled()
    if settled is None:
        made = yield from measure(resident)
        settled = yield from _move_in(made)
    refuse_other(settled.model.model, resident.model)
    return settled


def check_model() -> Asking[None]:
    """Refuse to work on a store with an embedder that did not make its vectors."""
    resident: Resident | None = yield WhichModel()
    stored = yield from stored_model()
    if resident is not None and stored is not None:
        refuse_other(stored.model, resident.model)


def stored_model() -> Asking[StoredModel | None]:
    settled = yield from _settled()
    return settled.model if settled else None


def _settled() -> Asking[Settled | None]:
    record: Record | None = yield Recorded(MODEL_RECORD)
    return Settled(StoredModel.decode(record.value), record.version) if record else None


def measure(resident: Resident) -> Asking[StoredModel]:
    """What must be known of a model before its vectors are stored: its resting point, and the spread around it."""
    if resident.mean is not None and resident.resting is not None:
        return StoredModel(resident.model, resident.mean, resident.resting, resident.silent_below)
    vectors: Vectors = yield Embed(calibration.TEXTS, "fact")
    mean = resident.mean if resident.mean is not None else np.asarray(vectors.mean(axis=0), dtype=np.float32)
    return StoredModel(resident.model, mean, likeness.spread(vectors, mean), resident.silent_below)


def refuse_other(stored: Model, resident: Model) -> None:
    if stored != resident:
        raise OtherModel(
            f"This store holds vectors of {_named(stored)}, but the embedder is {_named(resident)}.",
            way_out="Open it with the first, or move all facts to the second with: cofire reembed",
        )


def _move_in(made: StoredModel) -> Asking[Settled]:
    now = yield Now()
    try:
        yield Write(Change(now=now, records=(Record(MODEL_RECORD, made.encode()),)), expects={MODEL_RECORD: 0})
    except Conflict:
        return (yield from _settled()) or Settled(made, 1)
    return Settled(made, 1)


def _named(model: Model) -> str:
    mark = f", {model.fingerprint[:8]}" if model.fingerprint else ""
    return f"{model.name} ({model.dimension} dimensions{mark})"
