"""The clock of active hours on a server: the times in which the memory was in use. Inside a transaction of somebody else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cofire.dynamics.active_hours import Span, extended
from cofire.stores.index.moments import moment, stamp
from cofire.stores.neo4j.querying import Query, Querying


@dataclass(frozen=True, slots=True)
class Reading:
    """A time of use, and the hours of those before it."""

    span: Span
    before: float

    @property
    def hours(self) -> float:
        return self.before + self.span.hours


def last_use() -> Querying[Reading | None]:
    """The last time of use, as it is written."""
    found = yield Query(_LAST)
    return _reading(*found[0]) if found else None


_LAST = """
MATCH (s:Span) WHERE s.ended IS NOT NULL RETURN [s.begun, s.ended, s.hours_before] AS row ORDER BY s.ended DESC LIMIT 1
"""


def active_hours() -> Querying[float]:
    """The clock as of the last use."""
    last = yield from last_use()
    return last.hours if last else 0.0


def run_on(last: Reading | None, now: datetime, idle_minutes: float) -> Reading:
    """The memory is used now: the clock runs on, or starts again after a pause."""
    span = extended(last.span if last else None, now, idle=timedelta(minutes=idle_minutes))
    if last is None:
        return Reading(span, 0.0)
    return Reading(span, last.before if span.begun == last.span.begun else last.hours)


def run_through(moments: Iterable[datetime], idle_minutes: float) -> Querying[None]:
    """The memory was used at these moments."""
    last = before = yield from last_use()
    run: list[Reading] = []
    for at in sorted(moments):
        last = run_on(last, at, idle_minutes)
        run = [one for one in run if one.span.begun != last.span.begun] + [last]
    yield from keep([one for one in run if one != before])


def keep(run: Sequence[Reading]) -> Querying[None]:
    """Note times of use. Late in a change, since others who are at work have to wait for it."""
    if run:
        yield Query(_KEEP, {"run": [[stamp(one.span.begun), stamp(one.span.ended), one.before] for one in run]})


_KEEP = """
UNWIND $run AS r MERGE (s:Span {begun: r[0]}) ON CREATE SET s.ended = r[1], s.hours_before = r[2]
SET s.ended = CASE WHEN s.ended < r[1] THEN r[1] ELSE s.ended END
"""


def _reading(begun: int, ended: int, before: float) -> Reading:
    first, last = moment(begun), moment(ended)
    assert first is not None, "a span has a beginning"
    assert last is not None, "a span has an end"
    return Reading(Span(first, last), before)
