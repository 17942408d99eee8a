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
    # By place: a recall makes ten of them, and matching twenty names each time is a good part of that.
    return Fact(
        text,
        tuple(tags),
        category,
        subject,
        None if at is None else moment(at),
        session,
        speaker,
        scope,
        source,
        json.loads(metadata) if metadata else {},
        None if valid_from is None else moment(valid_from),
        None if valid_until is None else moment(valid_until),
        None if expires is None else moment(expires),
        (),
        id,
        position,
        moment(stored_at),
        reinforced,
        None if reinforced_at is None else moment(reinforced_at),
        bool(pinned),
        bool(archived),
    )
