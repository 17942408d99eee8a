"""The embedding model of a store: recorded once, and compared with the embedder in use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cofire.algorithms import vector_similarity
from cofire.embedders import calibration
from cofire.embedders.base import EmbedderInfo, Model, StoredModel, Vectors
from cofire.errors import Conflict, OtherModel
from cofire.model import Change, StoreRecord
from cofire.runtime.effects import EmbedTexts, IdentifyEmbedder, ReadClock, Steps
from cofire.runtime.store_proxy import store
from cofire.stores.base import MODEL_RECORD


@dataclass(frozen=True)
class VersionedModel:
    """The model of the store and the version of its record, by which a writer notices that another has moved in."""

    model: StoredModel
    version: int


def ensure_stored_model() -> Steps[VersionedModel | None]:
    """The model of the store, written down the first time a vector is about to be stored; None without an embedder."""
    resident: EmbedderInfo | None = yield IdentifyEmbedder()
    if resident is None:
        return None
    settled = yield from _read_versioned_model()
    if settled is None:
        made = yield from measure_model(resident)
        settled = yield from _store_model(made)
    refuse_other_model(settled.model.model, resident.model)
    return settled


def check_model() -> Steps[None]:
    """Refuse to work on a store with an embedder that did not make its vectors."""
    resident: EmbedderInfo | None = yield IdentifyEmbedder()
    stored = yield from read_stored_model()
    if resident is not None and stored is not None:
        refuse_other_model(stored.model, resident.model)


def read_stored_model() -> Steps[StoredModel | None]:
    settled = yield from _read_versioned_model()
    return settled.model if settled else None


def _read_versioned_model() -> Steps[VersionedModel | None]:
    record = yield from store.read_record(MODEL_RECORD)
    return VersionedModel(StoredModel.decode(record.value), record.version) if record else None


def measure_model(resident: EmbedderInfo) -> Steps[StoredModel]:
    """What must be known of a model before its vectors are stored: its resting point, and the spread around it."""
    if resident.mean is not None and resident.resting is not None:
        return StoredModel(resident.model, resident.mean, resident.resting, resident.silent_below)
    vectors: Vectors = yield EmbedTexts(calibration.CALIBRATION_TEXTS, "fact")
    mean = resident.mean if resident.mean is not None else np.asarray(vectors.mean(axis=0), dtype=np.float32)
    return StoredModel(resident.model, mean, vector_similarity.cosine_spread(vectors, mean), resident.silent_below)


def refuse_other_model(stored: Model, resident: Model) -> None:
    if stored != resident:
        raise OtherModel(
            f"This store holds vectors of {_format_model(stored)}, but the embedder is {_format_model(resident)}.",
            way_out="Open it with the first, or move all facts to the second with: cofire reembed",
        )


def _store_model(made: StoredModel) -> Steps[VersionedModel]:
    now = yield ReadClock()
    try:
        yield from store.write(
            Change(now=now, records=(StoreRecord(MODEL_RECORD, made.encode()),)), expects={MODEL_RECORD: 0}
        )
    except Conflict:
        return (yield from _read_versioned_model()) or VersionedModel(made, 1)
    return VersionedModel(made, 1)


def _format_model(model: Model) -> str:
    mark = f", {model.fingerprint[:8]}" if model.fingerprint else ""
    return f"{model.name} ({model.dimension} dimensions{mark})"
