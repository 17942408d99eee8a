"""Keeping: which facts leave recall because nobody uses them, or because there are more than a budget allows; and why. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cofire.curate_settings import BUDGET_BYTES, BUDGET_FACTS, DECAY_CLOCK, RETENTION_DAYS, RETENTION_KEEP
from cofire.curating import Usage
from cofire.dynamics.fading import day_of, days_between
from cofire.dynamics.worth import Worth, worth
from cofire.settings import Settings
from cofire.xray import counted


@dataclass(frozen=True, slots=True)
class Weighed:
    """A fact with the days since it was used, and what it is worth."""

    used: Usage
    unused_days: int
    worth: Worth


def to_archive(usage: Sequence[Usage], days: Sequence[int], now: datetime, settings: Settings) -> dict[str, str]:
    """The facts that are to be archived, with the reason in words. Pinned ones never are."""
    weighed = _weighed(usage, days if settings[DECAY_CLOCK] == "use" else None, now)
    leaving = _unused(weighed, settings)
    left = [one for one in weighed if one.used.id not in leaving]
    return leaving | _beyond_budget(left, settings)


def _weighed(usage: Sequence[Usage], in_use: Sequence[int] | None, now: datetime) -> list[Weighed]:
    today, highest = day_of(now), max((one.importance for one in usage), default=0.0) or 1.0
    unused = days_between([day_of(one.used_at) for one in usage], today, in_use=in_use).tolist()
    old = days_between([day_of(one.stored_at) for one in usage], today, in_use=in_use).tolist()
    return [
        Weighed(
            one,
            days,
            worth(unused_days=days, old_days=age, importance=one.importance / highest, success=one.success),
        )
        for one, days, age in zip(usage, unused, old, strict=True)
    ]


def _unused(weighed: Sequence[Weighed], settings: Settings) -> dict[str, str]:
    """By the retention policy."""
    most, kept = settings[RETENTION_DAYS], {name.strip() for name in settings[RETENTION_KEEP].split(",")}
    if not most:
        return {}
    return {
        one.used.id: f"unused for {counted(one.unused_days, 'day')}; {RETENTION_DAYS.name} is {most}"
        for one in weighed
        if one.unused_days >= most and not one.used.pinned and one.used.category not in kept
    }


def _beyond_budget(weighed: Sequence[Weighed], settings: Settings) -> dict[str, str]:
    """The least valuable first, until the rest is within the budget. A pinned fact counts, and stays."""
    facts, size = len(weighed), sum(one.used.bytes for one in weighed)
    leaving: dict[str, str] = {}
    order = sorted((one for one in weighed if not one.used.pinned), key=lambda one: (one.worth.total, one.used.id))
    for one in order:
        beyond = _exceeded(facts, size, settings)
        if beyond is None:
            break
        leaving[one.used.id] = f"worth {one.worth.total:.2f} ({one.worth.in_words()}), the least when {beyond}"
        facts, size = facts - 1, size - one.used.bytes
    return leaving


def _exceeded(facts: int, size: int, settings: Settings) -> str | None:
    if settings[BUDGET_FACTS] and facts > settings[BUDGET_FACTS]:
        return f"{facts:,} facts were more than {BUDGET_FACTS.name} = {settings[BUDGET_FACTS]:,}"
    if settings[BUDGET_BYTES] and size > settings[BUDGET_BYTES]:
        return f"{size:,} bytes were more than {BUDGET_BYTES.name} = {settings[BUDGET_BYTES]:,}"
    return None
