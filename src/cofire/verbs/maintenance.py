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
    """The settings that hold."""
    yield ReadClock()
    return settings


def store_setting(name: str, value: object) -> Steps[object]:
    """Keep a setting in the store; returns the value as understood."""
    chosen = find_knob(name)
    if chosen.needed_to_open:
        raise InvalidSetting(
            f"{chosen.name} is needed to open the store, so it cannot be kept in it.",
            way_out=f"Keep it in your settings file with: cofire config set {chosen.name} {value}",
        )
    understood: object = chosen.read(value)
    yield from _edit_settings(lambda values: {**values, chosen.name: understood})
    return understood


def reset_setting(name: str) -> Steps[bool]:
    """Take a setting out of the store; tells whether it was there."""
    chosen = find_knob(name)
    before = yield from _edit_settings(
        lambda values: {one: value for one, value in values.items() if one != chosen.name}
    )
    return chosen.name in before


def _edit_settings(edited: Callable[[dict[str, object]], dict[str, object]]) -> Steps[dict[str, object]]:
    """Change the record of settings, anew if somebody else changed it in between. Returns it as it was."""

    def attempt() -> Steps[dict[str, object]]:
        now: datetime = yield ReadClock()
        record = yield from store.read_record(SETTINGS_RECORD)
        before = decode_settings_record(record.value if record else None)
        change = Change(now=now, records=(StoreRecord(SETTINGS_RECORD, encode_settings_record(edited(before))),))
        yield from store.write(change, expects={SETTINGS_RECORD: record.version if record else 0})
        return before

    return retry_on_conflict(attempt, tries=SETTINGS_TRIES)


def back_up_store(path: str | PathLike[str]) -> Steps[None]:
    """Copy the live store to a new file."""
    target = validation.parse_path(path)
    with map_exceptions(
        {ValueError: InvalidInput, OSError: StoreNotOpened},
        problem=f"No backup can be made at {target!r}: {{error}}.",
        way_out="Give the path of a new file, in a folder that may be written.",
    ):
        yield from store.backup(target)


def check_store() -> Steps[list[str]]:
    """What is wrong with the store, in words; empty when all is well."""
    problems = yield from store.check()
    return problems


def reembed(settings: Settings) -> Steps[int]:
    """Embed what still lacks a vector of this model, then let the model move in. Returns how many facts were embedded."""
    resident: EmbedderInfo | None = yield IdentifyEmbedder()
    if resident is None:
        raise EmbedderUnavailable(
            "There is no embedder.", way_out="Set one with: cofire config set embedder.name bundled"
        )
    target = yield from _choose_target_record(resident)
    done = yield from _embed_missing(target, settings)
    now: datetime = yield ReadClock()
    yield from store.write(Change(now=now, records=(StoreRecord(MODEL_RECORD, target),), adopt_vectors=True))
    return done + (yield from _embed_late_facts(target, settings))


def _choose_target_record(resident: EmbedderInfo) -> Steps[bytes]:
    """The model that is to move in, as a record: the one in the store when it is the same, else the one begun before, else a new one."""
    for name in (MODEL_RECORD, INCOMING_RECORD):
        record = yield from store.read_record(name)
        if record is not None and StoredModel.decode(record.value).model == resident.model:
            return record.value
    made = yield from measure_model(resident)
    now: datetime = yield ReadClock()
    yield from store.write(Change(now=now, records=(StoreRecord(INCOMING_RECORD, made.encode()),)))
    return made.encode()


def _embed_missing(target: bytes, settings: Settings) -> Steps[int]:
    size = yield from store.read_size()
    done = 0
    while batch := (yield from store.list_facts(UnembeddedSelection(target), settings[REMEMBER_BATCH])):
        yield from _embed_batch(batch, target)
        done += len(batch)
        yield Emit(Progress("reembed", done, max(done, size.facts)))
    return done


def _embed_batch(batch: list[Fact], target: bytes) -> Steps[None]:
    made: Vectors = yield EmbedTexts([fact.reading for fact in batch], "fact")
    rows = made.astype(np.float16)
    now: datetime = yield ReadClock()
    vectors = {fact.id: row.tobytes() for fact, row in zip(batch, rows, strict=True)}
    yield from store.write(Change(now=now, vectors=vectors, records=(StoreRecord(INCOMING_RECORD, target),)))


def _embed_late_facts(target: bytes, settings: Settings) -> Steps[int]:
    """Facts that others stored meanwhile, and the word statistics, whose sample must be of the new model."""
    late = yield from _embed_missing(target, settings)
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
    return late


# One in a hundred of two hundred questions are two: with fewer, chance decides. With less than twenty it does so alone.
RECOMMENDED_QUESTIONS, MIN_QUESTIONS = 200, 20
EVIDENCE_QUANTILES = {"least": 0.0, "1%": 0.01, "5%": 0.05, "median": 0.5, "95%": 0.95, "most": 1.0}

# Any threshold makes the rule weigh evidence, also for a model that nobody calibrated.
_EVIDENCE_SETTINGS = {ABSTENTION_RULE.name: "evidence", ABSTENTION_THRESHOLD.name: 1.0}


@dataclass(frozen=True, slots=True)
class CalibrateResult:
    """The threshold that follows from questions which memory can answer, and how their evidence is spread.

    `before` is what held until now, None where words alone decided; `silent` counts the questions that stay below the threshold,
    `kept` tells whether the store keeps it. `warnings` say what to mistrust.
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
    """Ask them all, and keep the highest threshold under which at most this share of them falls silent."""
    asked, share = _check_questions(questions), _check_false_silence(false_silence)
    before = yield from _read_current_threshold(scope, settings)
    found = yield from _measure_evidence(asked, scope, settings)
    threshold = _round_threshold(quantile_threshold(found, false_silence=share))
    if not dry_run:
        yield from store_setting(ABSTENTION_THRESHOLD.name, threshold)
    return CalibrateResult(
        threshold=threshold,
        before=before,
        questions=len(found),
        silent=sum(one < threshold for one in found),
        evidence={name: round(float(np.quantile(found, at)), 4) for name, at in EVIDENCE_QUANTILES.items()},
        kept=not dry_run,
        warnings=tuple(_list_warnings(len(found), settings)),
    )


def _check_questions(given: object) -> list[str]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidQuestion("Questions are a list of texts.", way_out="Give at least 200 that memory can answer.")
    asked = list(given)
    if len(asked) < MIN_QUESTIONS:
        raise InvalidQuestion(
            f"A threshold needs at least {MIN_QUESTIONS} questions, not {len(asked)}.",
            way_out=f"Give {RECOMMENDED_QUESTIONS} or more, all of which memory can answer.",
        )
    return asked


def _check_false_silence(given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 0.5:
        raise InvalidInput(
            f"A share of {given!r} cannot fall silent.", way_out="Give a number from 0 to 0.5, as in 0.01."
        )
    return float(given)


def _read_current_threshold(scope: NamesInput, settings: Settings) -> Steps[float | None]:
    """What holds until now. Refuses a memory that cannot be calibrated."""
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
            way_out="Remember some first, or name their scope.",
        )
    return settings[ABSTENTION_THRESHOLD] or model.silent_as(resident).silent_below


def _measure_evidence(asked: list[str], scope: NamesInput, settings: Settings) -> Steps[list[float]]:
    found = []
    for done, text in enumerate(asked, start=1):
        answer: Recollection = yield from recall(
            text, {"scope": scope, "k": 1, "settings": _EVIDENCE_SETTINGS}, settings
        )
        found.append(answer.judgement.evidence if answer.judgement else 0.0)
        yield Emit(Progress("calibrate", done, len(asked)))
    return found


def _round_threshold(threshold: float) -> float:
    """Down to four places, so that what reached it still does; 0 would mean the model's own.

    >>> _round_threshold(0.61239), _round_threshold(-0.2)
    (0.6123, 0.0001)
    """
    return max(0.0001, math.floor(threshold * 10_000) / 10_000)


def _list_warnings(questions: int, settings: Settings) -> Iterable[str]:
    if questions < RECOMMENDED_QUESTIONS:
        yield f"{questions} questions are few: another sample may give quite another threshold. Give {RECOMMENDED_QUESTIONS} or more."
    if settings[ABSTENTION_RULE] != "evidence":
        yield f"The rule in force, {ABSTENTION_RULE.name} = {settings[ABSTENTION_RULE]}, does not look at the threshold."
