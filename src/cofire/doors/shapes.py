"""Shapes: what the verbs return, as plain values for JSON. The command line prints them, and HTTP answers with them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Protocol

from cofire import xray
from cofire.doors.cli.listing import facts_json
from cofire.model import Fact
from cofire.revising import Radius, Receipt, Skipped


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


def forgotten_json(told: Forgotten, *, dry_run: bool) -> dict[str, Any]:
    """What went, or would go."""
    receipt = told.receipt
    return {
        "forgotten": bool(told.facts) and not told.dry_run,
        "dry_run": dry_run,
        "facts": facts_json(list(told.facts)),
        "radius": asdict(told.radius),
        "receipt": {"id": receipt.id, "path": receipt.path, "expires": receipt.expires.isoformat()}
        if receipt
        else None,
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
