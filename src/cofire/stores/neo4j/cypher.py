"""Cypher queries as generators; facts, filters and session turns in Cypher.

A query generator yields queries and is sent their rows. The store runs it, called or awaited. Every
query returns one column named `row`, a list, so that several queries can be joined into one round trip.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from cofire.index.terms import hash_mark
from cofire.index.timestamps import to_microseconds, to_microseconds_or_none
from cofire.model import Fact, FactFilter
from cofire.stores.fact_rows import fact_from_row
from cofire.stores.link_rules import content_order
from cofire.stores.metadata_filter import Condition, encode_entries

T = TypeVar("T")
Row = list[Any]
Rows = list[Row]

_PARAMETER_PATTERN = re.compile(r"\$(\w+)")


@dataclass(frozen=True, slots=True)
class CypherQuery:
    """One Cypher statement. It ends in `RETURN [a, b, …] AS row`, with an order and a limit if need be, or returns nothing.

    Parameters stand in the text as `$name`; a dollar stands nowhere else.
    """

    text: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


QuerySteps = Generator[CypherQuery, Rows, T]
QueryStepsFactory = Callable[[], QuerySteps[T]]


def join_queries(queries: Sequence[CypherQuery]) -> CypherQuery:
    """Join several reading queries into one, whose single row contains the rows of each."""
    if len(queries) == 1:
        return CypherQuery(_join_texts((queries[0].text,)), _rename_parameters(queries[0].parameters, 0))
    parameters: dict[str, Any] = {}
    for at, query in enumerate(queries):
        parameters |= _rename_parameters(query.parameters, at)
    return CypherQuery(_join_texts(tuple(query.text for query in queries)), parameters)


@lru_cache(maxsize=512)
def _join_texts(texts: tuple[str, ...]) -> str:
    """Each query in a subquery that always returns one row, so that an empty one drops no other."""
    parts = [
        f"CALL () {{ CALL () {{ {_number_parameters(text, at)} }} RETURN collect(row) AS r{at} }}"
        for at, text in enumerate(texts)
    ]
    return "\n".join([*parts, f"RETURN [{', '.join(f'r{at}' for at in range(len(texts)))}] AS row"])


def _number_parameters(text: str, at: int) -> str:
    return _PARAMETER_PATTERN.sub(lambda found: f"$p{at}_{found[1]}", text)


def _rename_parameters(parameters: Mapping[str, Any], at: int) -> dict[str, Any]:
    return {f"p{at}_{name}": value for name, value in parameters.items()}


def run_in_step(parts: Sequence[QuerySteps[Any]]) -> QuerySteps[list[Any]]:
    """Run several query generators in step: each step of all of them is one query."""
    answers: list[Any] = [None] * len(parts)
    asking = {
        at: query for at, part in enumerate(parts) if (query := _advance_steps(part, None, answers, at)) is not None
    }
    while asking:
        [found] = yield join_queries(list(asking.values()))
        moved = {at: _advance_steps(parts[at], rows, answers, at) for at, rows in zip(list(asking), found, strict=True)}
        asking = {at: query for at, query in moved.items() if query is not None}
    return answers


def _advance_steps(part: QuerySteps[Any], rows: Rows | None, answers: list[Any], at: int) -> CypherQuery | None:
    """Resume a query generator. Returns its next query, or None when it has its answer."""
    try:
        return next(part) if rows is None else part.send(rows)
    except StopIteration as done:
        answers[at] = done.value
        return None


def run_together(one: QuerySteps[Any], *others: QuerySteps[Any]) -> QuerySteps[list[Any]]:
    """Run independent query generators, in as many round trips as the longest of them."""
    return run_in_step([one, *others])


FACT_COLUMNS = """[f.id, f.scope, f.text, f.subject, f.category, f.speaker, f.session, f.position, f.source, f.at, f.stored_at,
  f.valid_from, f.valid_until, f.expires, f.reinforced, f.reinforced_at, f.pinned, f.archived, f.metadata, f.tags]"""

_ESCAPE_CHARACTER = "\ud7ff"
_HIGH_CHARACTERS = re.compile("[\ud7ff-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class CypherFilter:
    """A filter as Cypher over `f`, with its parameters, all of which begin with `where_`."""

    clause: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


def decode_fact(row: Sequence[Any]) -> Fact:
    """A row of FACT as a fact."""
    return fact_from_row(row[:-1], row[-1] or ())


def fact_properties(one: Fact) -> dict[str, Any]:
    """The properties of a fact node, without those that search adds. None removes a property."""
    assert one.stored_at is not None, "a fact to be written has its time of storage"
    return {
        **{name: getattr(one, name) for name in ("id", "scope", "text", "subject", "category", "speaker", "session")},
        **{name: getattr(one, name) for name in ("position", "source", "reinforced", "pinned", "archived")},
        **{
            name: to_microseconds_or_none(getattr(one, name)) for name in ("at", "valid_from", "valid_until", "expires")
        },
        "stored_at": to_microseconds(one.stored_at),
        "reinforced_at": to_microseconds_or_none(one.reinforced_at),
        "told": to_microseconds(one.at or one.stored_at),
        "hash": one.hash.hex(),
        "content": content_order(one.hash),
        "tags": list(one.tags),
        "metadata": json.dumps(dict(one.metadata), ensure_ascii=False) if one.metadata else None,
        **metadata_properties(one),
    }


def metadata_properties(one: Fact) -> dict[str, Any]:
    """What filters match: the metadata as a list of tokens, and all marks, which include them."""
    return {
        "metadata_values": [metadata_token(key, value) for key, value in encode_entries(one.metadata)] or None,
        "marks": " ".join(encode_mark(kind, value) for kind, value in list_marks(one)),
    }


def metadata_token(key: str, encoded: str) -> str:
    """A key of metadata with an encoded value. Tokens of one key compare like their values; no two keys share a token.

    The server compares text by UTF-16 units, where a character beyond the first 65,536 comes before some within. So characters from
    U+D7FF on, of which that one is never used, are written as U+D7FF and six hexadecimal digits.

    >>> metadata_token("project", "sx"), metadata_token("mood", "s\U0001f600") == "4:mood:s\ud7ff01f600"
    ('7:project:sx', True)
    """
    return f"{len(key)}:{key}:{_HIGH_CHARACTERS.sub(lambda found: f'{_ESCAPE_CHARACTER}{ord(found[0]):06x}', encoded)}"


def list_marks(one: Fact) -> list[tuple[str, str]]:
    """Everything that a fact can be filtered by inside the full-text index."""
    single = (("scope", one.scope), ("category", one.category), ("speaker", one.speaker), ("session", one.session))
    entries = encode_entries(one.metadata)
    return [
        *((kind, value) for kind, value in single if value is not None),
        *(("tag", tag) for tag in one.tags),
        *(("metadata key", key) for key in dict(entries)),
        *(("metadata", metadata_token(key, value)) for key, value in entries),
    ]


def metadata_marks(where: FactFilter) -> list[tuple[str, list[str]]]:
    """Groups of marks: a fact that passes the conditions on metadata has one of each group, its value
    or for a comparison its key. A negated condition has no group."""
    return [
        ("metadata", [metadata_token(condition.key, value) for value in condition.encoded])
        if condition.operator == "eq"
        else ("metadata key", [condition.key])
        for condition in where.metadata
        if not condition.negated
    ]


def metadata_query(where: FactFilter) -> str:
    """A Lucene query for the marks that scopes and conditions on metadata require; empty if no
    condition has a mark."""
    required = [require_any(kind, values) for kind, values in metadata_marks(where)]
    scope = [require_any("scope", where.scopes)] if required and where.scopes is not None else []
    return " ".join([*scope, *required])


def require_any(kind: str, values: Sequence[str]) -> str:
    """A Lucene clause: a fact must have the mark of one of these values."""
    return f"+marks:({' '.join(encode_mark(kind, value) for value in values) or 'none'})"


def encode_mark(kind: str, value: str) -> str:
    """A scope, tag, category, speaker, session or part of metadata as a word that occurs in no text.

    >>> encode_mark("tag", "hot tea")
    '5442a4af246c5e7e'
    """
    return f"{hash_mark(kind, value) & 0xFFFF_FFFF_FFFF_FFFF:016x}"


def compile_filter(where: FactFilter) -> CypherFilter:
    """A filter as a Cypher clause over `f`."""
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
    return CypherFilter(" AND ".join(clauses) or "true", bound)


def _require_metadata(condition: Condition, name: str, require: Any) -> None:
    if condition.operator in ("eq", "ne"):
        values = [metadata_token(condition.key, value) for value in condition.encoded]
        clause = f"any(value IN $where_{name} WHERE value IN coalesce(f.metadata_values, []))"
    else:
        values = [metadata_token(condition.key, value) for value in condition.span]
        within = f"value >= $where_{name}[0] AND value < $where_{name}[1]"
        clause = f"any(value IN coalesce(f.metadata_values, []) WHERE {within})"
    require(f"NOT {clause}" if condition.negated else clause, name, values)


def _require_times(where: FactFilter, require: Any) -> None:
    if not where.whenever:
        # No OR: the server would look up facts once for either side of it, and in no order.
        valid = "coalesce(f.valid_from <= $where_now, true) AND coalesce(f.valid_until > $where_now, true)"
        require(f"{valid} AND coalesce(f.expires > $where_now, true)", "now", to_microseconds(where.as_of or where.now))
    if where.since is not None:
        require("f.told >= $where_since", "since", to_microseconds(where.since))
    if where.until is not None:
        require("f.told <= $where_until", "until", to_microseconds(where.until))
    if where.as_of is not None:
        require("f.stored_at <= $where_as_of", "as_of", to_microseconds(where.as_of))


def turns_around_clause(fact: str) -> str:
    """Cypher that adds `before` and `after`, at most `$reach` turns each, the nearest first, to the rows of a fact."""
    return _TURNS_AROUND.strip("\n").replace("FACT", fact)


_TURNS_AROUND = """
  CALL (FACT) {
    MATCH (t:Fact) USING INDEX SEEK t:Fact(scope, session, told, position)
    WHERE t.scope = FACT.scope AND t.session = FACT.session AND t.told <= FACT.told AND t.position IS NOT NULL
    WITH FACT, t ORDER BY t.scope DESC, t.session DESC, t.told DESC, t.position DESC
    WITH t WHERE t.told < FACT.told OR t.position < FACT.position LIMIT $reach
    RETURN collect(t) AS before
  }
  CALL (FACT) {
    MATCH (t:Fact) USING INDEX SEEK t:Fact(scope, session, told, position)
    WHERE t.scope = FACT.scope AND t.session = FACT.session AND t.told >= FACT.told AND t.position IS NOT NULL
    WITH FACT, t ORDER BY t.scope, t.session, t.told, t.position
    WITH t WHERE t.told > FACT.told OR t.position > FACT.position LIMIT $reach
    RETURN collect(t) AS after
  }
"""
