"""Shapes: what the verbs return, as plain values for JSON; the same as the command line prints, where it prints it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, Protocol

from cofire import AsyncMemory, Fact, Settings, xray
from cofire.doors.cli.configuring import setting_json
from cofire.doors.cli.listing import facts_json
from cofire.doors.cli.portraying import Portrait, portrait_json
from cofire.doors.http.words import JSON_KINDS, settable
from cofire.revising import Radius, Receipt, Skipped
from cofire.settings import Knob


class Forgotten(Protocol):
    """What was forgotten, or would be."""

    @property
    def facts(self) -> tuple[Fact, ...]: ...
    @property
    def dry_run(self) -> bool: ...
    @property
    def radius(self) -> Radius: ...
    @property
    def receipt(self) -> Receipt | None: ...


class Restored(Protocol):
    """What came back."""

    @property
    def facts(self) -> tuple[Fact, ...]: ...
    @property
    def edges(self) -> int: ...
    @property
    def skipped(self) -> tuple[Skipped, ...]: ...


class Proposal(Protocol):
    """Two facts that seem to disagree."""

    @property
    def old(self) -> Fact: ...
    @property
    def new(self) -> Fact: ...
    @property
    def why(self) -> str: ...
    @property
    def state(self) -> str: ...


class Community(Protocol):
    """Facts that hang together."""

    @property
    def scope(self) -> str: ...
    @property
    def number(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def facts(self) -> tuple[Fact, ...]: ...


async def texts_of(memory: AsyncMemory, ids: Iterable[str]) -> dict[str, str]:
    """The texts of facts, by id."""
    return {fact.id: fact.text for fact in await memory.facts(set(ids))}


def whole_fact_json(portrait: Portrait, texts: Mapping[str, str]) -> dict[str, Any]:
    """A fact, and beside it what hangs on it."""
    fact = xray.fact_json(portrait.fact)
    flat = portrait_json(portrait, dict(texts))
    return {"fact": fact, **{name: value for name, value in flat.items() if name not in fact}}


def forgotten_json(told: Forgotten) -> dict[str, Any]:
    """What went, or would go. The path of the receipt stays on this side."""
    receipt = told.receipt
    return {
        "forgotten": bool(told.facts) and not told.dry_run,
        "dry_run": told.dry_run,
        "facts": facts_json(list(told.facts)),
        "radius": asdict(told.radius),
        "receipt": {"id": receipt.id, "expires": receipt.expires.isoformat()} if receipt else None,
    }


def restored_json(back: Restored) -> dict[str, Any]:
    return {
        "facts": facts_json(list(back.facts)),
        "edges": back.edges,
        "skipped": [asdict(one) for one in back.skipped],
    }


def proposal_json(one: Proposal) -> dict[str, Any]:
    return {"old": xray.fact_json(one.old), "new": xray.fact_json(one.new), "why": one.why, "state": one.state}


def community_json(one: Community) -> dict[str, Any]:
    return {
        "scope": one.scope,
        "number": one.number,
        "size": one.size,
        "name": one.name,
        "facts": [{"id": fact.id, "text": fact.text} for fact in one.facts],
    }


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
