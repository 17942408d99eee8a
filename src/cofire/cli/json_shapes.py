"""Results of forget, undo, review and communities as JSON, for the CLI and HTTP."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Protocol

from cofire import explain
from cofire.cli.facts import facts_json
from cofire.model import CascadeCounts, Fact, ForgetReceipt, SkippedRestore


class ForgetResultLike(Protocol):
    """What was forgotten, or would be."""

    @property
    def facts(self) -> tuple[Fact, ...]: ...
    @property
    def dry_run(self) -> bool: ...
    @property
    def radius(self) -> CascadeCounts: ...
    @property
    def receipt(self) -> ForgetReceipt | None: ...


class UndoResultLike(Protocol):
    """What came back."""

    @property
    def facts(self) -> tuple[Fact, ...]: ...
    @property
    def edges(self) -> int: ...
    @property
    def skipped(self) -> tuple[SkippedRestore, ...]: ...


class ReviewPairLike(Protocol):
    """Two facts that seem to disagree."""

    @property
    def old(self) -> Fact: ...
    @property
    def new(self) -> Fact: ...
    @property
    def why(self) -> str: ...
    @property
    def state(self) -> str: ...


class CommunityLike(Protocol):
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


def forget_json(told: ForgetResultLike, *, dry_run: bool) -> dict[str, Any]:
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


def undo_json(back: UndoResultLike) -> dict[str, Any]:
    return {
        "facts": facts_json(list(back.facts)),
        "edges": back.edges,
        "skipped": [asdict(one) for one in back.skipped],
    }


def review_pair_json(one: ReviewPairLike) -> dict[str, Any]:
    return {"old": explain.fact_json(one.old), "new": explain.fact_json(one.new), "why": one.why, "state": one.state}


def community_json(one: CommunityLike) -> dict[str, Any]:
    return {
        "scope": one.scope,
        "number": one.number,
        "size": one.size,
        "name": one.name,
        "facts": [{"id": fact.id, "text": fact.text} for fact in one.facts],
    }
