"""Rows: facts and filters in Cypher, there and back. The node of a fact is `f` everywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cofire.metadata_filter import Condition, encoded_entries
from cofire.model import Fact, Where
from cofire.stores.fact_rows import fact_of
from cofire.stores.index.moments import stamp, stamp_or_none
from cofire.stores.index.terms import mark
from cofire.stores.linking import content_order

FACT = """[f.id, f.scope, f.text, f.subject, f.category, f.speaker, f.session, f.position, f.source, f.at, f.stored_at,
  f.valid_from, f.valid_until, f.expires, f.reinforced, f.reinforced_at, f.pinned, f.archived, f.metadata, f.tags]"""

_ESCAPE = "\ud7ff"
_HIGH = re.compile("[\ud7ff-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter as Cypher over `f`, with its parameters, all of which begin with `where_`."""

    clause: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


def fact(row: Sequence[Any]) -> Fact:
    """A row of FACT as a fact."""
    return fact_of(row[:-1], row[-1] or ())


def properties(one: Fact) -> dict[str, Any]:
    """All that a node has of a fact itself, without what search adds; what is None takes a property away."""
    assert one.stored_at is not None, "a fact on its way into the store knows when it is stored"
    return {
        **{name: getattr(one, name) for name in ("id", "scope", "text", "subject", "category", "speaker", "session")},
        **{name: getattr(one, name) for name in ("position", "source", "reinforced", "pinned", "archived")},
        **{name: stamp_or_none(getattr(one, name)) for name in ("at", "valid_from", "valid_until", "expires")},
        "stored_at": stamp(one.stored_at),
        "reinforced_at": stamp_or_none(one.reinforced_at),
        "told": stamp(one.at or one.stored_at),
        "hash": one.hash.hex(),
        "content": content_order(one.hash),
        "tags": list(one.tags),
        "metadata": json.dumps(dict(one.metadata), ensure_ascii=False) if one.metadata else None,
        **metadata_properties(one),
    }


def metadata_properties(one: Fact) -> dict[str, Any]:
    """What filters look at: the metadata as a list of tokens, and all marks, which hold them as well."""
    return {
        "metadata_values": [token(key, value) for key, value in encoded_entries(one.metadata)] or None,
        "marks": " ".join(marking(kind, value) for kind, value in marked(one)),
    }


def token(key: str, encoded: str) -> str:
    """A key of metadata with an encoded value. Tokens of one key compare like their values; no two keys share a token.

    The server compares text by UTF-16 units, where a character beyond the first 65,536 comes before some within. So characters from
    U+D7FF on, of which that one is never used, are written as U+D7FF and six hexadecimal digits.

    >>> token("project", "sx"), token("mood", "s\U0001f600") == "4:mood:s\ud7ff01f600"
    ('7:project:sx', True)
    """
    return f"{len(key)}:{key}:{_HIGH.sub(lambda found: f'{_ESCAPE}{ord(found[0]):06x}', encoded)}"


def marked(one: Fact) -> list[tuple[str, str]]:
    """All that a fact can be filtered by inside the full-text index."""
    single = (("scope", one.scope), ("category", one.category), ("speaker", one.speaker), ("session", one.session))
    entries = encoded_entries(one.metadata)
    return [
        *((kind, value) for kind, value in single if value is not None),
        *(("tag", tag) for tag in one.tags),
        *(("metadata key", key) for key in dict(entries)),
        *(("metadata", token(key, value)) for key, value in entries),
    ]


def metadata_marks(where: Where) -> list[tuple[str, list[str]]]:
    """Marks of which a fact must have one each to pass the conditions on metadata: its value, or for a comparison its key. What a
    condition excludes has no mark."""
    return [
        ("metadata", [token(condition.key, value) for value in condition.encoded])
        if condition.operator == "eq"
        else ("metadata key", [condition.key])
        for condition in where.metadata
        if not condition.negated
    ]


def metadata_query(where: Where) -> str:
    """A Lucene query for the marks that the scopes and the conditions on metadata require; empty if no condition has a mark."""
    required = [require_any(kind, values) for kind, values in metadata_marks(where)]
    scope = [require_any("scope", where.scopes)] if required and where.scopes is not None else []
    return " ".join([*scope, *required])


def require_any(kind: str, values: Sequence[str]) -> str:
    """A Lucene clause: a fact must have the mark of one of these values."""
    return f"+marks:({' '.join(marking(kind, value) for value in values) or 'none'})"


def marking(kind: str, value: str) -> str:
    """A scope, tag, category, speaker, session or part of metadata as a word that no text has.

    >>> marking("tag", "hot tea")
    '5442a4af246c5e7e'
    """
    return f"{mark(kind, value) & 0xFFFF_FFFF_FFFF_FFFF:016x}"


def condition(where: Where) -> Filter:
    """What a fact must be to pass."""
    clauses: list[str] = []
    bound: dict[str, Any] = {}

    def require(clause: str, name: str, value: Any) -> None:
        clauses.append(clause)
        bound[f"where_{name}"] = value

    if where.scopes is not None:
        require("f.scope IN $where_scopes", "scopes", list(where.scopes))
    for name, values in (("category", where.categories), ("speaker", where.speakers), ("session", where.sessions)):
        if values:
            require(f"f.{name} IN $where_{name}", name, sorted(values))
    if where.tags:
        require("all(tag IN $where_tags WHERE tag IN f.tags)", "tags", sorted(where.tags))
    for number, one in enumerate(where.metadata):
        _require_metadata(one, f"metadata_{number}", require)
    if where.community is not None:
        require("f.community = $where_community", "community", where.community)
    if not where.archived:
        clauses.append("NOT f.archived")
    if where.pinned:
        clauses.append("f.pinned")
    _require_times(where, require)
    return Filter(" AND ".join(clauses) or "true", bound)


def _require_metadata(condition: Condition, name: str, require: Any) -> None:
    if condition.operator in ("eq", "ne"):
        values = [token(condition.key, value) for value in condition.encoded]
        clause = f"any(value IN $where_{name} WHERE value IN coalesce(f.metadata_values, []))"
    else:
        values = [token(condition.key, value) for value in condition.span]
        within = f"value >= $where_{name}[0] AND value < $where_{name}[1]"
        clause = f"any(value IN coalesce(f.metadata_values, []) WHERE {within})"
    require(f"NOT {clause}" if condition.negated else clause, name, values)


def _require_times(where: Where, require: Any) -> None:
    if not where.whenever:
        # No OR: the server would look up facts once for either side of it, and in no order.
        valid = "coalesce(f.valid_from <= $where_now, true) AND coalesce(f.valid_until > $where_now, true)"
        require(f"{valid} AND coalesce(f.expires > $where_now, true)", "now", stamp(where.as_of or where.now))
    if where.since is not None:
        require("f.told >= $where_since", "since", stamp(where.since))
    if where.until is not None:
        require("f.told <= $where_until", "until", stamp(where.until))
    if where.as_of is not None:
        require("f.stored_at <= $where_as_of", "as_of", stamp(where.as_of))
