"""Shapes: what the verbs return, as plain values for JSON; the same as the command line prints, where it prints it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cofire import AsyncMemory, Fact, Settings, xray
from cofire.doors.cli.configuring import setting_json
from cofire.doors.cli.portraying import Portrait, portrait_json
from cofire.doors.http.words import JSON_KINDS, settable
from cofire.doors.shapes import Forgotten, forgotten_json
from cofire.errors import NotFound
from cofire.settings import Knob


async def texts_of(memory: AsyncMemory, ids: Iterable[str]) -> dict[str, str]:
    """The texts of facts, by id. One that was forgotten since it was looked for has none left: its text is empty."""
    wanted = sorted(set(ids))
    try:
        found = await memory.facts(wanted)
    except NotFound:
        found = [fact for id in wanted for fact in await _if_there(memory, id)]
    return dict.fromkeys(wanted, "") | {fact.id: fact.text for fact in found}


async def _if_there(memory: AsyncMemory, id: str) -> list[Fact]:
    try:
        return await memory.facts(id)
    except NotFound:
        return []


def whole_fact_json(portrait: Portrait, texts: Mapping[str, str]) -> dict[str, Any]:
    """A fact, and beside it what hangs on it."""
    fact = xray.fact_json(portrait.fact)
    flat = portrait_json(portrait, dict(texts))
    return {"fact": fact, **{name: value for name, value in flat.items() if name not in fact}}


def gone_json(told: Forgotten) -> dict[str, Any]:
    """What went, or would go. The path of the receipt stays on this side."""
    said = forgotten_json(told, dry_run=told.dry_run)
    kept = said["receipt"]
    return {**said, "receipt": {"id": kept["id"], "expires": kept["expires"]} if kept else None}


def full_setting_json(one: Knob[Any], settings: Settings) -> dict[str, Any]:
    """A setting, with what a form needs to offer it."""
    return {
        **setting_json(one, settings),
        "kind": JSON_KINDS[type(one.default)],
        "choices": list(one.choices),
        "low": one.low,
        "high": one.high,
        "settable": one in settable() and not one.opens,
    }
