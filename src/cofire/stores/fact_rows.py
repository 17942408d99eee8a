"""Facts and their past versions as rows, the same in every store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cofire.index.timestamps import from_microseconds, to_microseconds_or_none
from cofire.model import Fact, FactVersion

_TIME_FIELDS = ("at", "valid_from", "valid_until", "expires")
_PLAIN_FIELDS = ("text", "subject", "category", "source", "metadata")
# What an update of a fact may change.
REVISABLE_FIELDS = ("text", "tags", "category", "subject", "at", "metadata", "valid_from", "valid_until", "expires")


def fact_from_row(row: Sequence[Any], tags: Iterable[str]) -> Fact:
    """A row from the id to the metadata as a fact, with its tags."""
    (id, scope, text, subject, category, speaker, session, position, source, at, stored_at, *rest) = row
    (valid_from, valid_until, expires, reinforced, reinforced_at, pinned, archived, metadata) = rest
    # By position: a recall decodes ten rows, and matching twenty names each time takes a good part of that.
    return Fact(
        text,
        tuple(tags),
        category,
        subject,
        None if at is None else from_microseconds(at),
        session,
        speaker,
        scope,
        source,
        json.loads(metadata) if metadata else {},
        None if valid_from is None else from_microseconds(valid_from),
        None if valid_until is None else from_microseconds(valid_until),
        None if expires is None else from_microseconds(expires),
        (),
        id,
        position,
        from_microseconds(stored_at),
        reinforced,
        None if reinforced_at is None else from_microseconds(reinforced_at),
        bool(pinned),
        bool(archived),
    )


def past_to_json(fact: Fact, **more: Any) -> str:
    """What a fact said before it was revised, with moments as microseconds."""
    values: dict[str, Any] = {label: getattr(fact, label) for label in _PLAIN_FIELDS} | {"tags": fact.tags}
    times = {label: to_microseconds_or_none(getattr(fact, label)) for label in _TIME_FIELDS}
    return json.dumps(values | times | more, ensure_ascii=False)


def past_from_json(current: Fact, until: int, past: Mapping[str, Any]) -> FactVersion:
    """A past version of a fact. Whatever a revision cannot change is as it is now."""
    values = {label: past[label] for label in _PLAIN_FIELDS}
    times: dict[str, Any] = {label: from_microseconds(past[label]) for label in _TIME_FIELDS}
    ended = from_microseconds(until)
    assert ended is not None, "a past version has an end"
    return FactVersion(ended, replace(current, **values, **times, tags=tuple(past["tags"])))
