"""Feedback: what helped becomes easier to reach, what hurt harder. Strength is earned here, not by being shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from cofire.asks import Asking, Mint, Now, Read, Write
from cofire.dynamics import hebbian
from cofire.errors import InvalidInput, NotFound
from cofire.graph_settings import IDLE_MINUTES
from cofire.learned import HEBBIAN, Lesson, Occasion, Shown, Use, Way
from cofire.learning_asks import ShownBy, Uses
from cofire.model import Change, Fact, Written
from cofire.recollection import Recollection
from cofire.settings import Settings
from cofire.verbs.listing import checked_ids, fact_by_id, facts_by_id
from cofire.verbs.showing import ways_to

Ids = Iterable[str] | str | None


@dataclass(frozen=True, slots=True)
class Learned:
    """What feedback changed: the facts it was about, and how many edges were made, grew and shrank."""

    helped: tuple[str, ...]
    hurt: tuple[str, ...]
    made: int
    changed: int


def feedback(found: Recollection | str, helped: Ids, hurt: Ids, settings: Settings) -> Asking[Learned]:
    """Strengthen the edges on the ways to facts that helped and between them, weaken those to facts that hurt, and count both."""
    good, bad = checked_ids(helped or ()), checked_ids(hurt or ())
    _check(good, bad)
    now: datetime = yield Now()
    shown = yield from _shown(found, now)
    named = yield from facts_by_id([*good, *bad])
    yield from _check_shown(shown, named)
    lessons = lessons_of(shown.ways, good, bad)
    uses = {id: Use(helped=1) for id in good} | {id: Use(hurt=1) for id in bad}
    occasion = yield from _occasion(shown, good, bad)
    change = Change(
        now=now, lessons=tuple(lessons), uses=uses, occasions=(occasion,), idle_minutes=settings[IDLE_MINUTES]
    )
    written: Written = yield Write(change)
    return Learned(tuple(good), tuple(bad), written.edges.new, written.edges.changed)


def use(id: str) -> Asking[Use]:
    """How often a fact helped and hurt."""
    fact = yield from fact_by_id(id)
    found: dict[str, Use] = yield Uses([fact.id])
    return found.get(fact.id, Use())


def lessons_of(ways: Mapping[str, Sequence[Way]], helped: Sequence[str], hurt: Sequence[str]) -> list[Lesson]:
    """Each edge once. One that led to what helped is not weakened for having led to what hurt as well.

    >>> ways = {"b": [Way("a", "b", "hebbian")], "c": [Way("a", "b", "hebbian"), Way("b", "c", "supports")]}
    >>> [(one.source, one.target, one.kind, one.step) for one in lessons_of(ways, ["a", "b"], ["c"])]
    [('a', 'b', 'hebbian', 0.05), ('b', 'c', 'supports', -0.05)]
    """
    good = dict.fromkeys(way for id in helped for way in ways.get(id, ()))
    led = {frozenset((way.source, way.target)) for way in good}
    good |= {Way(a, b, HEBBIAN): None for a, b in hebbian.pairs(helped) if frozenset((a, b)) not in led}
    bad = dict.fromkeys(way for id in hurt for way in ways.get(id, ()) if way not in good)
    return [_lesson(way, hebbian.STEP) for way in good] + [_lesson(way, -hebbian.STEP) for way in bad]


def _occasion(shown: Shown, helped: Sequence[str], hurt: Sequence[str]) -> Asking[Occasion]:
    """The recall as one that was judged. Where it was not logged it has no id of its own, and gets one."""
    [id] = [shown.id] if shown.id else (yield Mint(shown.at, 1))
    return Occasion(id, frozenset(shown.ids[: hebbian.PLACES_COUNT]), frozenset(helped), frozenset(hurt))


def _lesson(way: Way, step: float) -> Lesson:
    return Lesson(way.source, way.target, way.kind, step)


def _shown(found: object, now: datetime) -> Asking[Shown]:
    """What was shown: as the recollection has it, or as the log does."""
    if isinstance(found, Recollection):
        return Shown(found.id, now, None, found.ids, ways_to(found.hits))
    if not isinstance(found, str) or not found.isprintable():
        raise InvalidInput("Feedback is about a recall.", way_out="Give what recall returned, or its id.")
    shown: Shown | None = yield ShownBy(found)
    if shown is None:
        raise _unknown(found)
    return shown


def _unknown(id: str) -> NotFound:
    return NotFound(
        f"No recall has the id {id}.",
        way_out="Use the id that a recall gives, while recall_log.enabled is on; recall_log.most says how many are kept. "
        "Of another process it is known once that has written something or closed.",
    )


def _check(helped: Sequence[str], hurt: Sequence[str]) -> None:
    both = sorted(set(helped) & set(hurt))
    if both:
        raise InvalidInput(f"{both[0]} cannot have both helped and hurt.", way_out="Name each fact once.")
    if not helped and not hurt:
        raise InvalidInput("Neither helped nor hurt names a fact.", way_out="Give the ids of facts that came back.")


def _check_shown(shown: Shown, named: Sequence[Fact]) -> Asking[None]:
    """Refuse facts that were not shown, and tell which were: only those of the scopes that the caller knows facts of."""
    strange = [fact.id for fact in named if fact.id not in shown.ids]
    if not strange:
        return
    there: Sequence[Fact | None] = yield Read(shown.ids)
    scopes = {fact.scope for fact in named}
    ids = [fact.id for fact in there if fact is not None and fact.scope in scopes]
    if shown.id and shown.ids and not ids:
        raise _unknown(shown.id)
    raise InvalidInput(
        f"{strange[0]} was not among what this recall brought back.",
        way_out=f"Name some of these: {', '.join(ids)}." if ids else "It brought back nothing of that scope.",
    )
