"""Recalls under two configurations: compared on request, or in the shadow of every recall."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from math import isfinite
from typing import Any, cast

from cofire.algorithms.rank_comparison import compare_rankings
from cofire.errors import InvalidInput, InvalidQuestion, InvalidSetting
from cofire.model import Fact
from cofire.recall.recall import recall
from cofire.recall.request import FilterOptions, RecallOptions, apply_call_settings
from cofire.results import (
    CompareResult,
    ConfigurationSettings,
    MovedFact,
    QuestionComparison,
    Recollection,
    ShadowFailure,
    ShadowReport,
    comparison_json,
)
from cofire.runtime.effects import Emit, ReadClock, Steps
from cofire.runtime.file_effects import AppendJournalLine, DeleteJournalLines, FetchJournalLines, LocateJournal
from cofire.runtime.store_proxy import store
from cofire.settings.knobs import KNOBS
from cofire.settings.presets import PRESETS
from cofire.settings.table import (
    GRAPH_ASSIST_ENABLED,
    PRESET,
    RECALL_K,
    SHADOW_ASSIST,
    SHADOW_ENABLED,
    SHADOW_PRESET,
    SHADOW_SETTINGS,
    SNAPSHOTS_ENABLED,
    SNAPSHOTS_FOLDER,
    SNAPSHOTS_MOST,
    Settings,
    find_knob,
)
from cofire.verbs import validation
from cofire.verbs.remember import Progress

# A preset by its name, settings by theirs, or nothing at all: the settings as they hold.
ConfigurationInput = str | Mapping[str, object] | None

# What says nothing about how a question is answered.
_IGNORED_PREFIXES = ("shadow.", "snapshots.")


def compare_configurations(
    questions: Iterable[str],
    filters: FilterOptions,
    pair: tuple[ConfigurationInput, ConfigurationInput],
    k: int | None,
    settings: Settings,
) -> Steps[CompareResult]:
    """Ask every question twice, under each configuration of the pair."""
    asked = _check_questions(questions)
    first, second = (parse_configuration(given) for given in pair)
    k = validation.check_count(settings[RECALL_K] if k is None else k, "k", low=1, high=1_000)
    found = []
    for done, text in enumerate(asked, start=1):
        before = yield from recall(text, override_options(filters, first, k), settings)
        after = yield from recall(text, override_options(filters, second, k), settings)
        found.append(QuestionComparison(before.question, compare_rankings(before.ids, after.ids, k=k)))
        yield Emit(Progress("compare", done, len(asked)))
    return CompareResult(
        k=k,
        a=describe_settings(settings.over(first)),
        b=describe_settings(settings.over(second)),
        questions=tuple(found),
        overlap=_compute_mean([one.comparison.overlap for one in found]),
        tau=_compute_mean([one.comparison.tau for one in found]),
        same=sum(not one.comparison.promoted and not one.comparison.demoted for one in found),
    )


def parse_configuration(given: ConfigurationInput) -> dict[str, object]:
    """What a configuration sets: a preset, settings, or settings written as NAME=VALUE,… or in JSON.

    >>> (
    ...     parse_configuration("balanced"),
    ...     parse_configuration("recall.k=3, bridges.enabled=true"),
    ...     parse_configuration(None),
    ... )
    ({'preset': 'balanced'}, {'recall.k': '3', 'bridges.enabled': 'true'}, {})
    """
    if isinstance(given, Mapping):
        named = given
    elif not isinstance(given, str | None):
        raise _make_configuration_error(given)
    elif given is None or not given.strip():
        return {}
    elif given.strip() in PRESETS:
        return {PRESET.name: given.strip()}
    else:
        named = _parse_json(given) if given.lstrip().startswith("{") else _parse_pairs(given)
    Settings.layered(call=named)
    return {find_knob(name).name: value for name, value in named.items()}


def override_options(asked: FilterOptions | RecallOptions, over: Mapping[str, object], k: int) -> RecallOptions:
    """What is asked, with other settings laid over those of the call, and as many results."""
    said = cast(RecallOptions, asked)
    own: dict[str, object] = {find_knob(name).name: value for name, value in (said.get("settings") or {}).items()}
    if said.get("preset") is not None:
        own[PRESET.name] = said["preset"]
    return cast(RecallOptions, {**said, "preset": None, "settings": {**own, **over}, "k": k})


def describe_settings(settings: Settings) -> ConfigurationSettings:
    """What settings set that decides about an answer, besides the defaults."""
    return {name: settings[KNOBS[name]] for name in sorted(settings.origins) if not name.startswith(_IGNORED_PREFIXES)}


def _check_questions(given: object) -> list[str]:
    asked = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []
    if not asked:
        raise InvalidQuestion("There is no question to compare by.", way_out="Give a list of questions.")
    return asked


def _parse_json(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidSetting(
            f"These settings are not JSON: {error}.", way_out='Give an object as in {"recall.k": 3}'
        ) from error
    return cast(Mapping[str, Any], found)


def _parse_pairs(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(name.strip() and equals for name, equals, _ in pairs):
        raise _make_configuration_error(text)
    return {name.strip(): value.strip() for name, _, value in pairs}


def _make_configuration_error(given: object) -> InvalidInput:
    return InvalidInput(
        f"{given!r} is neither a preset nor settings.",
        way_out=f"Give NAME=VALUE, separated by commas, or one of {', '.join(PRESETS)}.",
    )


def _compute_mean(values: list[float]) -> float:
    return sum(values) / len(values)


COMPARISONS_JOURNAL, RECALLS_JOURNAL = "shadow", "recalls"
SHADOW_KINDS = ("recall", "assist")

# Facts and reasons that a report shows: the most frequent.
MAX_REPORTED = 10

_log = logging.getLogger("cofire")


def recall_with_shadow(text: object, options: RecallOptions, settings: Settings) -> Steps[Recollection]:
    """A recall; where the settings say so, others are run after it and compared, and a snapshot is kept."""
    found = yield from recall(text, options, settings)
    held = apply_call_settings(options, settings)
    if found.mode != "no_recall" and (held[SHADOW_ENABLED] or held[SHADOW_ASSIST] or held[SNAPSHOTS_ENABLED]):
        yield from _record_shadows(found, options, held, settings)
    return found


def _record_shadows(found: Recollection, options: RecallOptions, held: Settings, settings: Settings) -> Steps[None]:
    """All that is kept of a recall. A journal that cannot be written is told to whoever reads the log, and to nobody else."""
    now: datetime = yield ReadClock()
    k = options.get("k") or held[RECALL_K]
    begun = {"at": now.isoformat(), "question": found.question, "scopes": list(found.scopes), "k": k}
    try:
        if held[SNAPSHOTS_ENABLED]:
            yield _make_note(RECALLS_JOURNAL, {**begun, **_make_snapshot(found)}, held)
        for kind, second in _list_shadow_configurations(held).items():
            line = yield from _compare_with_shadow(found, second, options, settings, k)
            yield _make_note(
                COMPARISONS_JOURNAL, {**begun, "kind": kind, "a": dict(describe_settings(held)), **line}, held
            )
    except Exception as error:  # noqa: BLE001 - the answer is there already, and nothing beside it may take it away
        _log.warning("A recall was answered, but nothing could be noted beside it: %s", error)


def _make_note(name: str, line: Mapping[str, Any], held: Settings) -> AppendJournalLine:
    return AppendJournalLine(name, line, held[SNAPSHOTS_FOLDER], held[SNAPSHOTS_MOST])


def _list_shadow_configurations(held: Settings) -> dict[str, Callable[[], dict[str, object]]]:
    """The configurations to try, by kind. They are read later, where it is noted if they cannot be."""
    wanted: dict[str, Callable[[], dict[str, object]]] = {}
    if held[SHADOW_ENABLED]:
        wanted["recall"] = lambda: {"preset": held[SHADOW_PRESET], **parse_configuration(held[SHADOW_SETTINGS])}
    if held[SHADOW_ASSIST]:
        wanted["assist"] = lambda: {GRAPH_ASSIST_ENABLED.name: not held[GRAPH_ASSIST_ENABLED]}
    return wanted


def _compare_with_shadow(
    found: Recollection, second: Callable[[], dict[str, object]], options: RecallOptions, settings: Settings, k: int
) -> Steps[dict[str, Any]]:
    """The same question under another configuration, compared; or why that failed."""
    over: dict[str, object] = {}
    try:
        over = second()
        shadow = yield from recall(found.question, override_options(options, over, k), settings)
    except Exception as error:  # noqa: BLE001 - whatever fails here is noted, and the answer stays
        return {"b": over, "failed": str(error)}
    both = comparison_json(compare_rankings(found.ids, shadow.ids, k=k))
    return {
        "b": dict(describe_settings(settings.over(override_options(options, over, k)["settings"] or {}))),
        **both,
        "failed": None,
    }


def _make_snapshot(found: Recollection) -> dict[str, Any]:
    """A recall by its ids."""
    return {
        "known": found.known,
        "evidence": found.judgement.evidence if found.judgement and isfinite(found.judgement.evidence) else None,
        "mode": found.mode,
        "strategy": found.strategy,
        "dynamics": found.plan.dynamics if found.plan else None,
        "channels": {report.name: report.status for report in found.channels},
        "seeds": [list(seeds) for seeds in found.ranking.seeds] if found.ranking else [],
        "hits": [{"id": hit.id, "score": hit.score, "path": list(hit.path)} for hit in found.hits],
    }


def shadow_report(kind: str | None, settings: Settings) -> Steps[ShadowReport]:
    """What the shadow recalls that are kept came to; of one kind, or of all."""
    if kind is not None and kind not in SHADOW_KINDS:
        raise InvalidInput(f"There is no kind of shadow {kind!r}.", way_out=f"Choose one of {', '.join(SHADOW_KINDS)}.")
    folder, most = settings[SNAPSHOTS_FOLDER], settings[SNAPSHOTS_MOST]
    lines: list[dict[str, Any]] = yield FetchJournalLines(COMPARISONS_JOURNAL, folder, most)
    lines = [line for line in lines if line.get("kind") in ((kind,) if kind else SHADOW_KINDS)]
    well = [line for line in lines if not line.get("failed")]
    reasons = Counter(line["failed"] for line in lines if line.get("failed"))
    return ShadowReport(
        count=len(lines),
        overlap=_mean_or_none([line["overlap"] for line in well]),
        tau=_mean_or_none([line["tau"] for line in well]),
        same=sum(not line["promoted"] and not line["demoted"] for line in well),
        promoted=(yield from _count_moves(well, "promoted")),
        demoted=(yield from _count_moves(well, "demoted")),
        failures=len(lines) - len(well),
        reasons=tuple(ShadowFailure(reason, times) for reason, times in reasons.most_common(MAX_REPORTED)),
        place=(yield LocateJournal(folder)),
    )


def shadow_clear(settings: Settings) -> Steps[int]:
    """Remove every comparison and snapshot; tells how many there were."""
    gone: int = yield DeleteJournalLines(None, settings[SNAPSHOTS_FOLDER])
    return gone


def _count_moves(lines: Iterable[Mapping[str, Any]], way: str) -> Steps[tuple[MovedFact, ...]]:
    """The facts that moved one way most often; those that were forgotten since are left out."""
    times = Counter(move["id"] for line in lines for move in line[way])
    often = sorted(times, key=lambda id: (-times[id], id))[:MAX_REPORTED]
    facts: Sequence[Fact | None] = (yield from store.read_facts(often)) if often else []
    return tuple(MovedFact(fact.id, fact.text, times[fact.id]) for fact in facts if fact is not None)


def _mean_or_none(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
