"""Refusing: which filters a fact does not pass, by name, and how each would have to be loosened. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from cofire.metadata_filter import as_mapping
from cofire.model import Fact, Where
from cofire.reasons import Refusal

_MOMENT = timedelta(microseconds=1)


def refusals(where: Where, fact: Fact, community: int | None) -> tuple[Refusal, ...]:
    """Every filter that the fact does not pass, each looked at alone. `community` is that of the fact."""
    found = [
        Refusal(name, _shown(asked), _shown(has))
        for name, (alone, asked, has) in _filters(where, fact).items()
        if not alone.admits(fact)
    ]
    if where.community is not None and where.community != community:
        found.append(Refusal("community", str(where.community), _shown(community)))
    return (*found, *_of_validity(where, fact))


def loosened(refused: Collection[Refusal], where: Where, fact: Fact) -> dict[str, Any] | None:
    """What to ask for so that the fact passes, with the least change; None where nothing can be said to that end."""
    changes: dict[str, Any] = {}
    for one in refused:
        change = _loosened(one.filter, where, fact)
        if change is None:
            return None
        changes |= change
    return changes


def _loosened(name: str, where: Where, fact: Fact) -> dict[str, Any] | None:
    several = {
        "scope": (where.scopes or (), fact.scope),
        "category": (where.categories, fact.category),
        "speaker": (where.speakers, fact.speaker),
        "session": (where.sessions, fact.session),
    }
    if name in several:
        asked, own = several[name]
        return {name: sorted({*asked, own}) if own else None}
    if name == "tags":
        return {"tags": sorted(where.tags & set(fact.tags)) or None}
    if name == "where":
        return {"where": as_mapping(one for one in where.metadata if one.holds(fact.metadata)) or None}
    if name in ("since", "until"):
        return {name: fact.time.isoformat() if fact.time else None}
    if name in ("as_of", "community"):
        return {name: None}
    held = _when_it_held(fact)
    return {"as_of": held.isoformat()} if held and name != "archived" else None


def _when_it_held(fact: Fact) -> datetime | None:
    """The last moment at which memory knew the fact and it held, or the first where it has no end."""
    ends = [end for end in (fact.valid_until, fact.expires) if end]
    begins = [begin for begin in (fact.stored_at, fact.valid_from) if begin]
    moment = min(ends) - _MOMENT if ends else max(begins, default=None)
    return moment if moment is not None and all(begin <= moment for begin in begins) else None


def _filters(where: Where, fact: Fact) -> Mapping[str, tuple[Where, object, object]]:
    """For each filter one that looks at nothing else, what it asks for, and what the fact has."""
    every = Where(now=where.now, scopes=None, archived=True, whenever=True)
    return {
        "scope": (replace(every, scopes=where.scopes), where.scopes, fact.scope),
        "tags": (replace(every, tags=where.tags), where.tags, fact.tags),
        "category": (replace(every, categories=where.categories), where.categories, fact.category),
        "speaker": (replace(every, speakers=where.speakers), where.speakers, fact.speaker),
        "session": (replace(every, sessions=where.sessions), where.sessions, fact.session),
        "where": (replace(every, metadata=where.metadata), as_mapping(where.metadata), dict(fact.metadata)),
        "since": (replace(every, since=where.since), where.since, fact.time),
        "until": (replace(every, until=where.until), where.until, fact.time),
        "as_of": (replace(every, as_of=where.as_of), where.as_of, fact.stored_at),
        "archived": (replace(every, archived=where.archived), where.archived, fact.archived),
    }


def _of_validity(where: Where, fact: Fact) -> list[Refusal]:
    if where.whenever:
        return []
    moment = where.as_of or where.now
    found = []
    if fact.valid_from and fact.valid_from > moment:
        found.append(Refusal("valid_from", _shown(moment), _shown(fact.valid_from)))
    if fact.valid_until and fact.valid_until <= moment:
        found.append(Refusal("valid_until", _shown(moment), _shown(fact.valid_until)))
    if fact.expires and fact.expires <= moment:
        found.append(Refusal("expires", _shown(moment), _shown(fact.expires)))
    return found


def _shown(value: object) -> str:
    """
    >>> _shown(("b", "a")), _shown(None), _shown(())
    ('a, b', 'none', 'none')
    """
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple | frozenset):
        return ", ".join(sorted(value)) or "none"
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False) if value else "none"
    return "none" if value is None else str(value)
