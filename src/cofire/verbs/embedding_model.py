"""The embedding model of a store: recorded once, and compared with the embedder in use."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

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
    """The model of the store, and the version of its record.

    A write that expects this version fails if the model has changed.
    """

    model: StoredModel
    version: int


def ensure_stored_model() -> Steps[VersionedModel | None]:
    """The model of the store, recorded with its first vector; None without an embedder."""
    resident: EmbedderInfo | None = yield IdentifyEmbedder()
    if resident is None:
        return None
    stored = yield from _read_versioned_model()
    if stored is None:
        measured = yield from measure_model(resident)
        stored = yield from _store_model(measured)
    refuse_other_model(stored.model.model, resident.model)
    return stored


def check_model() -> Steps[None]:
    """Refuse an embedder whose model differs from the model of the stored vectors."""
    resident: EmbedderInfo | None = yield IdentifyEmbedder()
    stored = yield from read_stored_model()
    if resident is not None and stored is not None:
        refuse_other_model(stored.model, resident.model)


def read_stored_model() -> Steps[StoredModel | None]:
    """The model of the store; None before the first vector is stored."""
    stored = yield from _read_versioned_model()
    return stored.model if stored else None


def _read_versioned_model() -> Steps[VersionedModel | None]:
    record = yield from store.read_record(MODEL_RECORD)
    return VersionedModel(StoredModel.decode(record.value), record.version) if record else None


def measure_model(resident: EmbedderInfo) -> Steps[StoredModel]:
    """The model with its mean vector and the spread of similarities around it.

    Values that the embedder does not supply are measured on calibration texts.
    """
    if resident.mean is not None and resident.resting is not None:
        return StoredModel(resident.model, resident.mean, resident.resting, resident.silent_below)
    vectors: Vectors = yield EmbedTexts(calibration.CALIBRATION_TEXTS, "fact")
    mean = resident.mean if resident.mean is not None else np.asarray(vectors.mean(axis=0), dtype=np.float32)
    spread = vector_similarity.cosine_spread(vectors, mean)
    return StoredModel(resident.model, mean, spread, resident.silent_below)


def refuse_other_model(stored: Model, resident: Model) -> None:
    """Refuse to compare vectors of two models."""
    if stored != resident:
        raise OtherModel(
            f"This store holds vectors of {_format_model(stored)}, but the embedder is {_format_model(resident)}.",
            way_out="Open it with the first, or move all facts to the second with: cofire reembed",
        )


def _store_model(model: StoredModel) -> Steps[VersionedModel]:
    """Record the model. If another writer was first, return the model that it recorded."""
    now: datetime = yield ReadClock()
    record = StoreRecord(MODEL_RECORD, model.encode())
    try:
        yield from store.write(Change(now=now, records=(record,)), expects={MODEL_RECORD: 0})
    except Conflict:
        stored = yield from _read_versioned_model()
        return stored or VersionedModel(model, 1)
    return VersionedModel(model, 1)


def _format_model(model: Model) -> str:
    fingerprint = f", {model.fingerprint[:8]}" if model.fingerprint else ""
    return f"{model.name} ({model.dimension} dimensions{fingerprint})"
