"""Decode one row of fact columns, the same in every store, into a Fact."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from cofire.index.timestamps import from_microseconds
from cofire.model import Fact


def fact_from_row(row: Sequence[Any], tags: Iterable[str]) -> Fact:
    """A row from the id to the metadata as a fact, with its tags."""
    (id, scope, text, subject, category, speaker, session, position, source, at, stored_at, *rest) = row
    (valid_from, valid_until, expires, reinforced, reinforced_at, pinned, archived, metadata) = rest
    # By place: a recall makes ten of them, and matching twenty names each time is a good part of that.
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
