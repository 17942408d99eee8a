"""Maintenance of a store: its settings, backup, check, re-embedding and calibration."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from os import PathLike

import numpy as np

from cofire.algorithms.abstention import quantile_threshold
from cofire.embedders.base import EmbedderInfo, StoredModel, Vectors
from cofire.errors import (
    EmbedderUnavailable,
    InvalidInput,
    InvalidQuestion,
    InvalidSetting,
    NotFound,
    StoreNotOpened,
    map_exceptions,
)
from cofire.model import Change, Fact, StoreRecord
from cofire.recall.recall import recall
from cofire.recall.request import NamesInput, resolve_scopes
from cofire.results import Recollection
from cofire.runtime.effects import EmbedTexts, Emit, IdentifyEmbedder, ReadClock, Steps
from cofire.runtime.retries import retry_on_conflict
from cofire.runtime.store_proxy import store
from cofire.settings.table import (
    ABSTENTION_RULE,
    ABSTENTION_THRESHOLD,
    REMEMBER_BATCH,
    SETTINGS_RECORD,
    STATISTICS_SAMPLE,
    Settings,
    decode_settings_record,
    encode_settings_record,
    find_knob,
)
from cofire.stores.base import INCOMING_RECORD, MODEL_RECORD, UnembeddedSelection
from cofire.verbs import validation
from cofire.verbs.embedding_model import measure_model, read_stored_model
from cofire.verbs.remember import Progress

SETTINGS_TRIES = 10


def read_settings(settings: Settings) -> Steps[Settings]:
    """The settings in effect."""
    yield ReadClock()
    return settings


def store_setting(name: str, value: object) -> Steps[object]:
    """Store a setting in the store. Returns the parsed value."""
    knob = find_knob(name)
    if knob.needed_to_open:
        raise InvalidSetting(
            f"{knob.name} is needed to open the store, so it cannot be kept in it.",
            way_out=f"Keep it in your settings file with: cofire config set {knob.name} {value}",
        )
    parsed: object = knob.read(value)
    yield from _edit_settings(lambda values: {**values, knob.name: parsed})
    return parsed


def reset_setting(name: str) -> Steps[bool]:
    """Remove a setting from the store. Returns whether it was stored."""
    knob = find_knob(name)
    previous = yield from _edit_settings(
        lambda values: {name: value for name, value in values.items() if name != knob.name}
    )
    return knob.name in previous


def _edit_settings(edit: Callable[[dict[str, object]], dict[str, object]]) -> Steps[dict[str, object]]:
    """Change the stored settings, with a retry after a concurrent change. Returns the previous settings."""

    def attempt() -> Steps[dict[str, object]]:
        now: datetime = yield ReadClock()
        record = yield from store.read_record(SETTINGS_RECORD)
        previous = decode_settings_record(record.value if record else None)
        edited = StoreRecord(SETTINGS_RECORD, encode_settings_record(edit(previous)))
        expected_version = record.version if record else 0
        yield from store.write(Change(now=now, records=(edited,)), expects={SETTINGS_RECORD: expected_version})
        return previous

    return retry_on_conflict(attempt, tries=SETTINGS_TRIES)


def back_up_store(path: str | PathLike[str]) -> Steps[None]:
    """Copy the live store to a new file."""
    target = validation.parse_path(path)
    with map_exceptions(
        {ValueError: InvalidInput, OSError: StoreNotOpened},
        problem=f"No backup can be written to {target!r}: {{error}}.",
        way_out="Give the path of a new file in a writable folder.",
    ):
        yield from store.backup(target)


def check_store() -> Steps[list[str]]:
    """The problems of the store, one text for each. Empty for a sound store."""
    problems = yield from store.check()
    return problems


def reembed(settings: Settings) -> Steps[int]:
    """Embed facts without a vector of the current model, then adopt the model. Returns the number of embedded facts."""
    resident: EmbedderInfo | None = yield IdentifyEmbedder()
    if resident is None:
        raise EmbedderUnavailable(
            "There is no embedder.", way_out="Set one with: cofire config set embedder.name bundled"
        )
    target = yield from _choose_target_record(resident)
    embedded = yield from _embed_missing(target, settings)
    now: datetime = yield ReadClock()
    yield from store.write(Change(now=now, records=(StoreRecord(MODEL_RECORD, target),), adopt_vectors=True))
    embedded_late = yield from _embed_late_facts(target, settings)
    return embedded + embedded_late


def _choose_target_record(resident: EmbedderInfo) -> Steps[bytes]:
    """The record of the model to adopt: that of the store or of an interrupted reembed if it is the same model, else a new one."""
    for name in (MODEL_RECORD, INCOMING_RECORD):
        record = yield from store.read_record(name)
        if record is not None and StoredModel.decode(record.value).model == resident.model:
            return record.value
    stored_model = yield from measure_model(resident)
    target = stored_model.encode()
    now: datetime = yield ReadClock()
    yield from store.write(Change(now=now, records=(StoreRecord(INCOMING_RECORD, target),)))
    return target


def _embed_missing(target: bytes, settings: Settings) -> Steps[int]:
    size = yield from store.read_size()
    done = 0
    while batch := (yield from store.list_facts(UnembeddedSelection(target), settings[REMEMBER_BATCH])):
        yield from _embed_batch(batch, target)
        done += len(batch)
        yield Emit(Progress("reembed", done, max(done, size.facts)))
    return done


def _embed_batch(batch: list[Fact], target: bytes) -> Steps[None]:
    vectors: Vectors = yield EmbedTexts([fact.reading for fact in batch], "fact")
    rows = vectors.astype(np.float16)
    now: datetime = yield ReadClock()
    encoded = {fact.id: row.tobytes() for fact, row in zip(batch, rows, strict=True)}
    yield from store.write(Change(now=now, vectors=encoded, records=(StoreRecord(INCOMING_RECORD, target),)))


def _embed_late_facts(target: bytes, settings: Settings) -> Steps[int]:
    """Embed facts stored during the run, and recount word statistics, whose sample uses vectors of the new model."""
    embedded = yield from _embed_missing(target, settings)
    now: datetime = yield ReadClock()
    size = yield from store.read_size()
    change = Change(
        now=now,
        records=(StoreRecord(MODEL_RECORD, target),),
        adopt_vectors=True,
        recount=tuple(size.scopes),
        sample=settings[STATISTICS_SAMPLE],
    )
    yield from store.write(change)
    return embedded


# A share of 1 % is two of 200 questions. With fewer questions the threshold depends on chance.
RECOMMENDED_QUESTIONS = 200
MIN_QUESTIONS = 20
EVIDENCE_QUANTILES = {"least": 0.0, "1%": 0.01, "5%": 0.05, "median": 0.5, "95%": 0.95, "most": 1.0}

# With any threshold the rule measures evidence, even for a model without calibration.
_EVIDENCE_SETTINGS = {ABSTENTION_RULE.name: "evidence", ABSTENTION_THRESHOLD.name: 1.0}


@dataclass(frozen=True, slots=True)
class CalibrateResult:
    """The threshold computed from questions that memory can answer, and the quantiles of their evidence.

    `before` is the previous threshold, or None if there was none. `silent` counts questions below the
    new threshold. `kept` is whether the threshold was stored. `warnings` lists reasons to distrust it.
    """

    threshold: float
    before: float | None
    questions: int
    silent: int
    evidence: Mapping[str, float]
    kept: bool
    warnings: tuple[str, ...]


def calibrate(
    questions: Iterable[str], scope: NamesInput, false_silence: float, dry_run: bool, settings: Settings
) -> Steps[CalibrateResult]:
    """Recall all questions, and store the highest threshold at which at most this share of them gets no answer."""
    texts = _check_questions(questions)
    share = _check_false_silence(false_silence)
    before = yield from _read_current_threshold(scope, settings)
    evidence = yield from _measure_evidence(texts, scope, settings)
    threshold = _round_threshold(quantile_threshold(evidence, false_silence=share))
    if not dry_run:
        yield from store_setting(ABSTENTION_THRESHOLD.name, threshold)
    return CalibrateResult(
        threshold=threshold,
        before=before,
        questions=len(evidence),
        silent=sum(value < threshold for value in evidence),
        evidence={name: round(float(np.quantile(evidence, level)), 4) for name, level in EVIDENCE_QUANTILES.items()},
        kept=not dry_run,
        warnings=tuple(_list_warnings(len(evidence), settings)),
    )


def _check_questions(questions: object) -> list[str]:
    if isinstance(questions, str) or not isinstance(questions, Iterable):
        raise InvalidQuestion("Questions are a list of texts.", way_out="Give at least 200 that memory can answer.")
    texts = list(questions)
    if len(texts) < MIN_QUESTIONS:
        raise InvalidQuestion(
            f"A threshold needs at least {MIN_QUESTIONS} questions, not {len(texts)}.",
            way_out=f"Give {RECOMMENDED_QUESTIONS} or more, all of which memory can answer.",
        )
    return texts


def _check_false_silence(share: object) -> float:
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 0.5:
        raise InvalidInput(
            f"The share of false silence cannot be {share!r}.", way_out="Give a number from 0 to 0.5, as in 0.01."
        )
    return float(share)


def _read_current_threshold(scope: NamesInput, settings: Settings) -> Steps[float | None]:
    """The threshold in effect. Refuses a memory without embedder or facts."""
    resident: EmbedderInfo | None = yield IdentifyEmbedder()
    if resident is None:
        raise EmbedderUnavailable(
            "There is no embedder, and without one words alone decide: there is no evidence to calibrate.",
            way_out="Set one with: cofire config set embedder.name bundled",
        )
    scopes = resolve_scopes(scope)
    statistics = yield from store.read_word_statistics(scopes, ())
    model = yield from read_stored_model()
    if not statistics.facts or model is None:
        raise NotFound(
            f"There is no fact in {', '.join(scopes)} to ask about.",
            way_out="Remember facts first, or name their scope.",
        )
    return settings[ABSTENTION_THRESHOLD] or model.silent_as(resident).silent_below


def _measure_evidence(texts: list[str], scope: NamesInput, settings: Settings) -> Steps[list[float]]:
    evidence: list[float] = []
    for done, text in enumerate(texts, start=1):
        recollection: Recollection = yield from recall(
            text, {"scope": scope, "k": 1, "settings": _EVIDENCE_SETTINGS}, settings
        )
        judgement = recollection.judgement
        evidence.append(judgement.evidence if judgement else 0.0)
        yield Emit(Progress("calibrate", done, len(texts)))
    return evidence


def _round_threshold(threshold: float) -> float:
    """Round down to four digits, so that no question falls below. 0 is avoided: it means the threshold of the model.

    >>> _round_threshold(0.61239), _round_threshold(-0.2)
    (0.6123, 0.0001)
    """
    return max(0.0001, math.floor(threshold * 10_000) / 10_000)


def _list_warnings(questions: int, settings: Settings) -> Iterable[str]:
    if questions < RECOMMENDED_QUESTIONS:
        yield f"{questions} questions are few: another sample may give quite another threshold. Give {RECOMMENDED_QUESTIONS} or more."
    if settings[ABSTENTION_RULE] != "evidence":
        yield f"The rule in force, {ABSTENTION_RULE.name} = {settings[ABSTENTION_RULE]}, does not look at the threshold."
