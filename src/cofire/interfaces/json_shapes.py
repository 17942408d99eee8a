"""Results as plain values for JSON, the same on the command line and over HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol

from cofire import explain
from cofire.activation_paths import ExploreResult
from cofire.model import (
    CascadeCounts,
    Edge,
    Fact,
    FactImportance,
    FactVersion,
    ForgetReceipt,
    Link,
    SkippedRestore,
)
from cofire.settings.dependencies import describe_effect
from cofire.settings.knobs import Knob
from cofire.settings.presets import PRESETS
from cofire.settings.table import Settings
from cofire.stores.learning_rows import FeedbackCounts


class PortraitLike(Protocol):
    """A fact with its links, descriptions, importance and history."""

    @property
    def fact(self) -> Fact: ...
    @property
    def links(self) -> Sequence[Link]: ...
    @property
    def descriptions(self) -> Sequence[str]: ...
    @property
    def importance(self) -> FactImportance | None: ...
    @property
    def history(self) -> Sequence[FactVersion]: ...
    @property
    def use(self) -> FeedbackCounts: ...
    @property
    def archived_because(self) -> str | None: ...


class ForgetResultLike(Protocol):
    """Facts that were removed, or would be."""

    @property
    def facts(self) -> tuple[Fact, ...]: ...
    @property
    def dry_run(self) -> bool: ...
    @property
    def radius(self) -> CascadeCounts: ...
    @property
    def receipt(self) -> ForgetReceipt | None: ...


class UndoResultLike(Protocol):
    """Facts and edges that were restored."""

    @property
    def facts(self) -> tuple[Fact, ...]: ...
    @property
    def edges(self) -> int: ...
    @property
    def skipped(self) -> tuple[SkippedRestore, ...]: ...


class ReviewPairLike(Protocol):
    """Two facts that seem to contradict each other."""

    @property
    def old(self) -> Fact: ...
    @property
    def new(self) -> Fact: ...
    @property
    def why(self) -> str: ...
    @property
    def state(self) -> str: ...


class CommunityLike(Protocol):
    """A group of densely linked facts."""

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


def facts_json(facts: list[Fact]) -> list[dict[str, Any]]:
    return [explain.fact_json(fact) for fact in facts]


def stats_result_json(stats: Any) -> dict[str, Any]:
    """The result of `stats`."""
    return {
        "store": stats.size.place,
        "bytes": stats.size.bytes,
        "facts": stats.size.facts,
        "archived": stats.size.archived,
        "scopes": dict(stats.size.scopes),
        "edges": stats.size.edges,
        "mentions": stats.size.mentions,
        "waiting": stats.size.waiting,
        "mode": stats.mode,
        "model": stats.model,
        "without_vector": stats.without_vector,
        "advice": stats.advice,
        "reading_failures": asdict(stats.reading_failures),
        "details": dict(stats.size.details),
    }


def portrait_json(portrait: PortraitLike, texts: dict[str, str]) -> dict[str, Any]:
    """A fact with its links, descriptions, importance and history."""
    id = portrait.fact.id
    importance = portrait.importance
    return {
        **explain.fact_json(portrait.fact),
        "links": [{**explain.link_json(link), "text": texts[find_other_end(link, id)]} for link in portrait.links],
        "descriptions": list(portrait.descriptions),
        "importance": {"pagerank": importance.pagerank, "community": importance.community} if importance else None,
        "use": use_json(portrait.use),
        "history": [past_version_json(version) for version in portrait.history],
        "archived_because": portrait.archived_because,
    }


def find_other_end(link: Edge, id: str) -> str:
    """The fact at the other end of a link."""
    return link.target if link.source == id else link.source


def past_version_json(version: FactVersion) -> dict[str, Any]:
    """A fact as it was before a change."""
    return {"until": version.until.isoformat(), **explain.fact_json(version.fact)}


def use_json(use: FeedbackCounts) -> dict[str, Any]:
    """How often a fact helped and hurt."""
    return {"helped": use.helped, "hurt": use.hurt, "success": use.success}


def exploration_json(result: ExploreResult, texts: Mapping[str, str]) -> dict[str, Any]:
    """The result of `explore`, with the texts of the facts."""
    plain = result.to_dict()
    facts = [{**fact, "text": texts[fact["id"]]} for fact in plain["facts"]]
    return {**plain, "facts": facts}


def setting_json(knob: Knob[Any], settings: Settings) -> dict[str, Any]:
    """A setting with its value, source and help."""
    return {
        "name": knob.name,
        "value": settings[knob],
        "layer": settings.layer_of(knob),
        "default": knob.default,
        "allowed": knob.allowed,
        "help": knob.help,
        "kept_in_store": knob.kept_in_store,
        "variable": knob.variable,
        "alias": knob.alias,
        "effect": describe_effect(knob, settings),
    }


def presets_json() -> list[dict[str, Any]]:
    return [{"name": name, "help": preset.help, "settings": dict(preset.settings)} for name, preset in PRESETS.items()]


def forget_json(result: ForgetResultLike, *, dry_run: bool) -> dict[str, Any]:
    """The result of `forget`."""
    receipt = result.receipt
    return {
        "forgotten": bool(result.facts) and not result.dry_run,
        "dry_run": dry_run,
        "facts": facts_json(list(result.facts)),
        "radius": asdict(result.radius),
        "receipt": {"id": receipt.id, "path": receipt.path, "expires": receipt.expires.isoformat()}
        if receipt
        else None,
    }


def undo_json(result: UndoResultLike) -> dict[str, Any]:
    """The result of `undo`."""
    return {
        "facts": facts_json(list(result.facts)),
        "edges": result.edges,
        "skipped": [asdict(item) for item in result.skipped],
    }


def review_pair_json(pair: ReviewPairLike) -> dict[str, Any]:
    """A pair of facts proposed for review."""
    return {
        "old": explain.fact_json(pair.old),
        "new": explain.fact_json(pair.new),
        "why": pair.why,
        "state": pair.state,
    }


def community_json(community: CommunityLike) -> dict[str, Any]:
    """A community with its most central facts."""
    return {
        "scope": community.scope,
        "number": community.number,
        "size": community.size,
        "name": community.name,
        "facts": [{"id": fact.id, "text": fact.text} for fact in community.facts],
    }
