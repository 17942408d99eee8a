"""Configuring: the store's own settings, on which everybody who opens it agrees."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from cofire.asks import Asking, Now, Recorded, Write, again_on_conflict
from cofire.errors import InvalidSetting
from cofire.model import Change, Record
from cofire.settings import RECORD, Settings, from_record, knob, to_record

TRIES = 10


def current(settings: Settings) -> Asking[Settings]:
    """The settings that hold."""
    yield Now()
    return settings


def configure(name: str, value: object) -> Asking[object]:
    """Keep a setting in the store; returns the value as understood."""
    chosen = knob(name)
    if chosen.opens:
        raise InvalidSetting(
            f"{chosen.name} is needed to open the store, so it cannot be kept in it.",
            way_out=f"Keep it in your settings file with: cofire config set {chosen.name} {value}",
        )
    understood: object = chosen.read(value)
    yield from _edit(lambda values: {**values, chosen.name: understood})
    return understood


def reset(name: str) -> Asking[bool]:
    """Take a setting out of the store; tells whether it was there."""
    chosen = knob(name)
    before = yield from _edit(lambda values: {one: value for one, value in values.items() if one != chosen.name})
    return chosen.name in before


def _edit(edited: Callable[[dict[str, object]], dict[str, object]]) -> Asking[dict[str, object]]:
    """Change the record of settings, anew if somebody else changed it in between. Returns it as it was."""

    def attempt() -> Asking[dict[str, object]]:
        now: datetime = yield Now()
        record: Record | None = yield Recorded(RECORD)
        before = from_record(record.value if record else None)
        change = Change(now=now, records=(Record(RECORD, to_record(edited(before))),))
        yield Write(change, expects={RECORD: record.version if record else 0})
        return before

    return again_on_conflict(attempt, tries=TRIES)
