"""Fact rows: what a store tells of a fact, column by column, as a fact. The same columns in the same order in every store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from cofire.model import Fact
from cofire.stores.index.moments import moment


def fact_of(row: Sequence[Any], tags: Iterable[str]) -> Fact:
    """A row from the id to the metadata as a fact, with its tags."""
    (id, scope, text, subject, category, speaker, session, position, source, at, stored_at, *rest) = row
    (valid_from, valid_until, expires, reinforced, reinforced_at, pinned, archived, metadata) = rest
    return Fact(
        text=text,
        tags=tuple(tags),
        category=category,
        subject=subject,
        at=None if at is None else moment(at),
        session=session,
        speaker=speaker,
        scope=scope,
        source=source,
        metadata=json.loads(metadata) if metadata else {},
        valid_from=None if valid_from is None else moment(valid_from),
        valid_until=None if valid_until is None else moment(valid_until),
        expires=None if expires is None else moment(expires),
        id=id,
        position=position,
        stored_at=moment(stored_at),
        reinforced=reinforced,
        reinforced_at=None if reinforced_at is None else moment(reinforced_at),
        pinned=bool(pinned),
        archived=bool(archived),
    )
