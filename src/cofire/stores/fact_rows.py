"""Fact rows: what a store tells of a fact, column by column, as a fact. The same columns in the same order in every store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from cofire.model import Fact
from cofire.stores.index.moments import moment


def fact_of(row: Sequence[Any], tags: Iterable[str]) -> Fact:
    """A row from the id to the metadata as a fact, with its tags."""
    (id, scope, text, subject, category, speaker, session, position, source, at, stored_at) = row[:11]
    (valid_from, valid_until, expires, reinforced, reinforced_at, pinned, archived, metadata) = row[11:]
    return Fact(
        text=text,
        tags=tuple(tags),
        category=category,
        subject=subject,
        at=moment(at),
        session=session,
        speaker=speaker,
        scope=scope,
        source=source,
        metadata=json.loads(metadata) if metadata else {},
        valid_from=moment(valid_from),
        valid_until=moment(valid_until),
        expires=moment(expires),
        id=id,
        position=position,
        stored_at=moment(stored_at),
        reinforced=reinforced,
        reinforced_at=moment(reinforced_at),
        pinned=bool(pinned),
        archived=bool(archived),
    )
