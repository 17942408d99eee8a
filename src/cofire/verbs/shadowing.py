"""Shadowing: a recall with others beside it that change nothing, and what they came to. What goes wrong there never reaches the answer."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from math import isfinite
from typing import Any

from cofire.asks import Asking, Now, Read
from cofire.dynamics.comparing import compared
from cofire.errors import InvalidInput
from cofire.journal_asks import Note, Noted, Unnote, WhereNoted
from cofire.model import Fact
from cofire.recall_settings import ASSIST
from cofire.recollection import Recollection
from cofire.settings import K, Settings
from cofire.shadow_settings import (
    SHADOW,
    SHADOW_ASSIST,
    SHADOW_PRESET,
    SHADOW_SETTINGS,
    SNAPSHOTS,
    SNAPSHOTS_FOLDER,
    SNAPSHOTS_MOST,
)
from cofire.shadows import Failed, Moved, ShadowReport, comparison_json
from cofire.verbs.asking import Asked, settings_of
from cofire.verbs.comparing import configuration, laid, told
from cofire.verbs.recall import recall

COMPARISONS, RECALLS = "shadow", "recalls"
KINDS = ("recall", "assist")

# Facts and reasons that a report shows: the most frequent.
SHOWN = 10

_log = logging.getLogger("cofire")


def recall_beside(text: object, asked: Asked, settings: Settings) -> Asking[Recollection]:
    """A recall; where the settings say so, others are run after it and compared, and a snapshot is kept."""
    found = yield from recall(text, asked, settings)
    held = settings_of(asked, settings)
    if found.mode != "no_recall" and (held[SHADOW] or held[SHADOW_ASSIST] or held[SNAPSHOTS]):
        yield from _beside(found, asked, held, settings)
    return found


def _beside(found: Recollection, asked: Asked, held: Settings, settings: Settings) -> Asking[None]:
    """All that is kept of a recall. A journal that cannot be written is told to whoever reads the log, and to nobody else."""
    now: datetime = yield Now()
    k = asked.get("k") or held[K]
    begun = {"at": now.isoformat(), "question": found.question, "scopes": list(found.scopes), "k": k}
    try:
        if held[SNAPSHOTS]:
            yield _note(RECALLS, {**begun, **_snapshot(found)}, held)
        for kind, second in _seconds(held).items():
            line = yield from _shadow(found, second, asked, settings, k)
            yield _note(COMPARISONS, {**begun, "kind": kind, "a": dict(told(held)), **line}, held)
    except Exception as error:  # noqa: BLE001 - the answer is there already, and nothing beside it may take it away
        _log.warning("A recall was answered, but nothing could be noted beside it: %s", error)


def _note(name: str, line: Mapping[str, Any], held: Settings) -> Note:
    return Note(name, line, held[SNAPSHOTS_FOLDER], held[SNAPSHOTS_MOST])


def _seconds(held: Settings) -> dict[str, Callable[[], dict[str, object]]]:
    """The configurations to try, by kind. They are read later, where it is noted if they cannot be."""
    wanted: dict[str, Callable[[], dict[str, object]]] = {}
    if held[SHADOW]:
        wanted["recall"] = lambda: {"preset": held[SHADOW_PRESET], **configuration(held[SHADOW_SETTINGS])}
    if held[SHADOW_ASSIST]:
        wanted["assist"] = lambda: {ASSIST.name: not held[ASSIST]}
    return wanted


def _shadow(
    found: Recollection, second: Callable[[], dict[str, object]], asked: Asked, settings: Settings, k: int
) -> Asking[dict[str, Any]]:
    """The same question under another configuration, compared; or why that failed."""
    over: dict[str, object] = {}
    try:
        over = second()
        shadow = yield from recall(found.question, laid(asked, over, k), settings)
    except Exception as error:  # noqa: BLE001 - whatever fails here is noted, and the answer stays
        return {"b": over, "failed": str(error)}
    both = comparison_json(compared(found.ids, shadow.ids, k=k))
    return {"b": dict(told(settings.over(laid(asked, over, k)["settings"] or {}))), **both, "failed": None}


def _snapshot(found: Recollection) -> dict[str, Any]:
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


def shadow_report(kind: str | None, settings: Settings) -> Asking[ShadowReport]:
    """What the shadow recalls that are kept came to; of one kind, or of all."""
    if kind is not None and kind not in KINDS:
        raise InvalidInput(f"There is no kind of shadow {kind!r}.", way_out=f"Choose one of {', '.join(KINDS)}.")
    folder, most = settings[SNAPSHOTS_FOLDER], settings[SNAPSHOTS_MOST]
    lines: list[dict[str, Any]] = yield Noted(COMPARISONS, folder, most)
    lines = [line for line in lines if line.get("kind") in ((kind,) if kind else KINDS)]
    well = [line for line in lines if not line.get("failed")]
    reasons = Counter(line["failed"] for line in lines if line.get("failed"))
    return ShadowReport(
        count=len(lines),
        overlap=_mean([line["overlap"] for line in well]),
        tau=_mean([line["tau"] for line in well]),
        same=sum(not line["promoted"] and not line["demoted"] for line in well),
        promoted=(yield from _moved(well, "promoted")),
        demoted=(yield from _moved(well, "demoted")),
        failures=len(lines) - len(well),
        reasons=tuple(Failed(reason, times) for reason, times in reasons.most_common(SHOWN)),
        place=(yield WhereNoted(folder)),
    )


def shadow_clear(settings: Settings) -> Asking[int]:
    """Remove every comparison and snapshot; tells how many there were."""
    gone: int = yield Unnote(None, settings[SNAPSHOTS_FOLDER])
    return gone


def _moved(lines: Iterable[Mapping[str, Any]], way: str) -> Asking[tuple[Moved, ...]]:
    """The facts that moved one way most often; those that were forgotten since are left out."""
    times = Counter(move["id"] for line in lines for move in line[way])
    often = sorted(times, key=lambda id: (-times[id], id))[:SHOWN]
    facts: Sequence[Fact | None] = (yield Read(often)) if often else []
    return tuple(Moved(fact.id, fact.text, times[fact.id]) for fact in facts if fact is not None)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
