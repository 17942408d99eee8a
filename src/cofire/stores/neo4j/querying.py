"""Querying: Cypher and what is made of its rows, written once as generators that ask, like verbs. Nothing here waits.

A reading or writing is a generator that yields queries and is sent their rows. The store drives it, called or awaited. Every
query returns one column named `row`, a list; so several can be joined into one round trip, whatever they ask.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

T = TypeVar("T")
Row = list[Any]
Rows = list[Row]

_PARAMETER = re.compile(r"\$(\w+)")


@dataclass(frozen=True, slots=True)
class Query:
    """One Cypher statement. It ends in `RETURN [a, b, …] AS row`, with an order and a limit if need be, or returns nothing.

    Parameters stand in the text as `$name`; a dollar stands nowhere else.
    """

    text: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


Querying = Generator[Query, Rows, T]
Begun = Callable[[], Querying[T]]


def joined(queries: Sequence[Query]) -> Query:
    """Several reading queries as one, whose single row holds the rows of each."""
    if len(queries) == 1:
        return Query(_joint_text((queries[0].text,)), _renamed(queries[0].parameters, 0))
    parameters: dict[str, Any] = {}
    for at, query in enumerate(queries):
        parameters |= _renamed(query.parameters, at)
    return Query(_joint_text(tuple(query.text for query in queries)), parameters)


@lru_cache(maxsize=512)
def _joint_text(texts: tuple[str, ...]) -> str:
    """Each in a subquery that always gives one row, so that one that finds nothing silences none of the others."""
    parts = [
        f"CALL () {{ CALL () {{ {_numbered(text, at)} }} RETURN collect(row) AS r{at} }}"
        for at, text in enumerate(texts)
    ]
    return "\n".join([*parts, f"RETURN [{', '.join(f'r{at}' for at in range(len(texts)))}] AS row"])


def _numbered(text: str, at: int) -> str:
    return _PARAMETER.sub(lambda found: f"$p{at}_{found[1]}", text)


def _renamed(parameters: Mapping[str, Any], at: int) -> dict[str, Any]:
    return {f"p{at}_{name}": value for name, value in parameters.items()}


def in_step(parts: Sequence[Querying[Any]]) -> Querying[list[Any]]:
    """Several readings at once: they go on together, and each step of all of them is one query."""
    answers: list[Any] = [None] * len(parts)
    asking = {at: query for at, part in enumerate(parts) if (query := _moved(part, None, answers, at)) is not None}
    while asking:
        [found] = yield joined(list(asking.values()))
        moved = {at: _moved(parts[at], rows, answers, at) for at, rows in zip(list(asking), found, strict=True)}
        asking = {at: query for at, query in moved.items() if query is not None}
    return answers


def _moved(part: Querying[Any], rows: Rows | None, answers: list[Any], at: int) -> Query | None:
    """Send a reading on; its next query, or None when it has its answer."""
    try:
        return next(part) if rows is None else part.send(rows)
    except StopIteration as done:
        answers[at] = done.value
        return None


def both(one: Querying[Any], *others: Querying[Any]) -> Querying[list[Any]]:
    """Readings that need nothing of one another, in as many round trips as the longest of them."""
    return in_step([one, *others])
