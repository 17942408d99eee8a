"""Assumptions: records as they were last seen, and whether they are so still. A verb learns that with its first answer."""

from __future__ import annotations

from cofire.model import Record
from cofire.stores.base import Overtaken
from cofire.stores.neo4j import facts
from cofire.stores.neo4j.bringing import Brought
from cofire.stores.neo4j.querying import Begun, Query, Querying, Rows, T, joined

Records = dict[str, Record | None]


def look(seen: Records, name: str) -> Querying[Record | None]:
    """A record as it is, remembered for those who will assume it."""
    seen[name] = yield from facts.record(name)
    return seen[name]


def confirm(seen: Records, brought: Brought) -> Querying[None]:
    """See whether records are as a verb assumes."""
    _judge(seen, brought, (yield _question(brought)))


def _question(brought: Brought) -> Query:
    return Query(_RECORDS, {"names": sorted(brought.assumed)})


_RECORDS = """
UNWIND $names AS name MATCH (r:Record {name: name}) WHERE r.value IS NOT NULL RETURN [r.name, r.value, r.version] AS row
"""


def _judge(seen: Records, brought: Brought, found: Rows) -> None:
    """Where a record is not as it was assumed to be, the verb is stopped, and it is looked at anew the next time."""
    now = {name: Record(name, bytes(value), version) for name, value, version in found}
    others = [name for name, record in brought.assumed.items() if now.get(name) != record]
    brought.assumed.clear()
    for name in others:
        seen.pop(name, None)
    if others:
        raise Overtaken(*others)


def with_reading(seen: Records, brought: Brought, begun: Begun[T]) -> Querying[T]:
    """A reading, and in the round trip of its first query whether what was assumed is so."""
    reading = begun()
    try:
        query = next(reading)
        [[rows, found]] = yield joined([query, _question(brought)])
        _judge(seen, brought, found)
        while True:
            rows = yield reading.send(rows)
    except StopIteration as done:
        answer: T = done.value
        return answer


def before_writing(seen: Records, brought: Brought, begun: Begun[T]) -> Querying[T]:
    """A writing that is not begun where what was assumed is not so. The driver may begin it again, when it is sure already."""
    if brought.assumed:
        yield from confirm(seen, brought)
    return (yield from begun())
