"""Recalls under two configurations, compared on request or as shadow recalls beside every recall."""

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

# The name of a preset, settings by name, or None for the current settings.
ConfigurationInput = str | Mapping[str, object] | None

# Settings that do not change the answer to a question.
_IGNORED_PREFIXES = ("shadow.", "snapshots.")


def compare_configurations(
    questions: Iterable[str],
    filters: FilterOptions,
    pair: tuple[ConfigurationInput, ConfigurationInput],
    k: int | None,
    settings: Settings,
) -> Steps[CompareResult]:
    """Recall every question under both configurations of the pair, and compare the rankings."""
    texts = _check_questions(questions)
    first, second = (parse_configuration(configuration) for configuration in pair)
    k = validation.check_count(settings[RECALL_K] if k is None else k, "k", low=1, high=1_000)
    questions_compared = []
    for done, text in enumerate(texts, start=1):
        before = yield from recall(text, override_options(filters, first, k), settings)
        after = yield from recall(text, override_options(filters, second, k), settings)
        comparison = compare_rankings(before.ids, after.ids, k=k)
        questions_compared.append(QuestionComparison(before.question, comparison))
        yield Emit(Progress("compare", done, len(texts)))
    comparisons = [question.comparison for question in questions_compared]
    return CompareResult(
        k=k,
        a=describe_settings(settings.over(first)),
        b=describe_settings(settings.over(second)),
        questions=tuple(questions_compared),
        overlap=sum(comparison.overlap for comparison in comparisons) / len(comparisons),
        tau=sum(comparison.tau for comparison in comparisons) / len(comparisons),
        same=sum(not comparison.promoted and not comparison.demoted for comparison in comparisons),
    )


def parse_configuration(configuration: ConfigurationInput) -> dict[str, object]:
    """The settings of a configuration: the name of a preset, a mapping, or text as NAME=VALUE,… or JSON.

    >>> (
    ...     parse_configuration("balanced"),
    ...     parse_configuration("recall.k=3, bridges.enabled=true"),
    ...     parse_configuration(None),
    ... )
    ({'preset': 'balanced'}, {'recall.k': '3', 'bridges.enabled': 'true'}, {})
    """
    if configuration is None:
        return {}
    if isinstance(configuration, Mapping):
        values = configuration
    elif not isinstance(configuration, str):
        raise _make_configuration_error(configuration)
    else:
        text = configuration.strip()
        if not text:
            return {}
        if text in PRESETS:
            return {PRESET.name: text}
        values = _parse_json(configuration) if text.startswith("{") else _parse_pairs(configuration)
    # Checks names and values.
    Settings.layered(call=values)
    return {find_knob(name).name: value for name, value in values.items()}


def override_options(options: FilterOptions | RecallOptions, overrides: Mapping[str, object], k: int) -> RecallOptions:
    """The options of a call with its settings overridden by others, and with another k."""
    call_options = cast(RecallOptions, options)
    call_settings = call_options.get("settings") or {}
    values: dict[str, object] = {find_knob(name).name: value for name, value in call_settings.items()}
    preset = call_options.get("preset")
    if preset is not None:
        values[PRESET.name] = preset
    return cast(RecallOptions, {**call_options, "preset": None, "settings": {**values, **overrides}, "k": k})


def describe_settings(settings: Settings) -> ConfigurationSettings:
    """The settings that are not at their default and that change answers."""
    names = [name for name in sorted(settings.origins) if not name.startswith(_IGNORED_PREFIXES)]
    return {name: settings[KNOBS[name]] for name in names}


def _check_questions(questions: object) -> list[str]:
    texts = list(questions) if isinstance(questions, Iterable) and not isinstance(questions, str) else []
    if not texts:
        raise InvalidQuestion("There are no questions to compare.", way_out="Give a list of questions.")
    return texts


def _parse_json(text: str) -> Mapping[str, Any]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidSetting(
            f"These settings are not JSON: {error}.", way_out='Give an object as in {"recall.k": 3}'
        ) from error
    return cast(Mapping[str, Any], values)


def _parse_pairs(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(name.strip() and equals for name, equals, _ in pairs):
        raise _make_configuration_error(text)
    return {name.strip(): value.strip() for name, _, value in pairs}


def _make_configuration_error(configuration: object) -> InvalidInput:
    return InvalidInput(
        f"{configuration!r} is neither a preset nor settings.",
        way_out=f"Give NAME=VALUE, separated by commas, or one of {', '.join(PRESETS)}.",
    )


COMPARISONS_JOURNAL, RECALLS_JOURNAL = "shadow", "recalls"
SHADOW_KINDS = ("recall", "assist")

# Number of facts and failure reasons in a report, the most frequent first.
MAX_REPORTED = 10

_log = logging.getLogger("cofire")


def recall_with_shadow(text: object, options: RecallOptions, settings: Settings) -> Steps[Recollection]:
    """Answer a question. If the settings say so, also run and compare shadow recalls, and store a snapshot."""
    recollection = yield from recall(text, options, settings)
    call_settings = apply_call_settings(options, settings)
    records = call_settings[SHADOW_ENABLED] or call_settings[SHADOW_ASSIST] or call_settings[SNAPSHOTS_ENABLED]
    if records and recollection.mode != "no_recall":
        yield from _record_shadows(recollection, options, call_settings, settings)
    return recollection


def _record_shadows(
    recollection: Recollection, options: RecallOptions, call_settings: Settings, settings: Settings
) -> Steps[None]:
    """Write the snapshot and the shadow comparisons of a recall. A failure is logged and does not change the answer."""
    now: datetime = yield ReadClock()
    k = options.get("k") or call_settings[RECALL_K]
    header = {
        "at": now.isoformat(),
        "question": recollection.question,
        "scopes": list(recollection.scopes),
        "k": k,
    }
    try:
        if call_settings[SNAPSHOTS_ENABLED]:
            snapshot = {**header, **_make_snapshot(recollection)}
            yield _make_journal_line(RECALLS_JOURNAL, snapshot, call_settings)
        first_settings = dict(describe_settings(call_settings))
        for kind, read_configuration in _list_shadow_configurations(call_settings).items():
            outcome = yield from _compare_with_shadow(recollection, read_configuration, options, settings, k)
            line = {**header, "kind": kind, "a": first_settings, **outcome}
            yield _make_journal_line(COMPARISONS_JOURNAL, line, call_settings)
    except Exception as error:  # noqa: BLE001 - the recall has its answer; a journal must not take it away
        _log.warning("The recall was answered, but its shadow recalls or snapshot could not be recorded: %s", error)


def _make_journal_line(journal: str, line: Mapping[str, Any], settings: Settings) -> AppendJournalLine:
    return AppendJournalLine(journal, line, settings[SNAPSHOTS_FOLDER], settings[SNAPSHOTS_MOST])


def _list_shadow_configurations(settings: Settings) -> dict[str, Callable[[], dict[str, object]]]:
    """Functions that return the configuration of each kind of shadow. Invalid ones raise when called."""
    configurations: dict[str, Callable[[], dict[str, object]]] = {}
    if settings[SHADOW_ENABLED]:
        configurations["recall"] = lambda: {
            "preset": settings[SHADOW_PRESET],
            **parse_configuration(settings[SHADOW_SETTINGS]),
        }
    if settings[SHADOW_ASSIST]:
        configurations["assist"] = lambda: {GRAPH_ASSIST_ENABLED.name: not settings[GRAPH_ASSIST_ENABLED]}
    return configurations


def _compare_with_shadow(
    recollection: Recollection,
    read_configuration: Callable[[], dict[str, object]],
    options: RecallOptions,
    settings: Settings,
    k: int,
) -> Steps[dict[str, Any]]:
    """Recall the question under another configuration and compare; on failure, the reason."""
    overrides: dict[str, object] = {}
    try:
        overrides = read_configuration()
        shadow_options = override_options(options, overrides, k)
        shadow = yield from recall(recollection.question, shadow_options, settings)
    except Exception as error:  # noqa: BLE001 - recorded as a failure; the answer stays
        return {"b": overrides, "failed": str(error)}
    comparison = comparison_json(compare_rankings(recollection.ids, shadow.ids, k=k))
    shadow_settings = describe_settings(settings.over(shadow_options["settings"] or {}))
    return {"b": dict(shadow_settings), **comparison, "failed": None}


def _make_snapshot(recollection: Recollection) -> dict[str, Any]:
    """The ids, scores and paths of a recall."""
    verdict, plan, ranking = recollection.judgement, recollection.plan, recollection.ranking
    return {
        "known": recollection.known,
        "evidence": verdict.evidence if verdict and isfinite(verdict.evidence) else None,
        "mode": recollection.mode,
        "strategy": recollection.strategy,
        "dynamics": plan.dynamics if plan else None,
        "channels": {report.name: report.status for report in recollection.channels},
        "seeds": [list(seeds) for seeds in ranking.seeds] if ranking else [],
        "hits": [{"id": hit.id, "score": hit.score, "path": list(hit.path)} for hit in recollection.hits],
    }


def shadow_report(kind: str | None, settings: Settings) -> Steps[ShadowReport]:
    """Summarise the recorded shadow comparisons, of one kind or of all."""
    if kind is not None and kind not in SHADOW_KINDS:
        raise InvalidInput(f"There is no kind of shadow {kind!r}.", way_out=f"Choose one of {', '.join(SHADOW_KINDS)}.")
    folder, most = settings[SNAPSHOTS_FOLDER], settings[SNAPSHOTS_MOST]
    lines: list[dict[str, Any]] = yield FetchJournalLines(COMPARISONS_JOURNAL, folder, most)
    kinds = (kind,) if kind else SHADOW_KINDS
    lines = [line for line in lines if line.get("kind") in kinds]
    compared = [line for line in lines if not line.get("failed")]
    reasons = Counter(line["failed"] for line in lines if line.get("failed"))
    return ShadowReport(
        count=len(lines),
        overlap=_mean_or_none([line["overlap"] for line in compared]),
        tau=_mean_or_none([line["tau"] for line in compared]),
        same=sum(not line["promoted"] and not line["demoted"] for line in compared),
        promoted=(yield from _count_moves(compared, "promoted")),
        demoted=(yield from _count_moves(compared, "demoted")),
        failures=len(lines) - len(compared),
        reasons=tuple(ShadowFailure(reason, times) for reason, times in reasons.most_common(MAX_REPORTED)),
        place=(yield LocateJournal(folder)),
    )


def shadow_clear(settings: Settings) -> Steps[int]:
    """Delete every comparison and snapshot. Returns their number."""
    count: int = yield DeleteJournalLines(None, settings[SNAPSHOTS_FOLDER])
    return count


def _count_moves(lines: Iterable[Mapping[str, Any]], direction: str) -> Steps[tuple[MovedFact, ...]]:
    """The facts that moved most often in this direction. Facts that were deleted since are left out."""
    times = Counter(move["id"] for line in lines for move in line[direction])
    most_moved = sorted(times, key=lambda id: (-times[id], id))[:MAX_REPORTED]
    if not most_moved:
        return ()
    facts: Sequence[Fact | None] = yield from store.read_facts(most_moved)
    return tuple(MovedFact(fact.id, fact.text, times[fact.id]) for fact in facts if fact is not None)


def _mean_or_none(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
