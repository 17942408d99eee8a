"""Review: facts that seem to say otherwise of the same thing. Memory proposes, somebody decides; nothing is applied silently."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime

from cofire.asks import Asking, Now, Read, Recorded, Write
from cofire.curate_asks import Reviews, Rivals
from cofire.curate_settings import REVIEW
from cofire.curating import Curation, Review
from cofire.errors import NotFound
from cofire.graph_asks import Edges
from cofire.kinds import SUPERSEDES
from cofire.model import Change, Edge, Fact, Record
from cofire.reading.disagreeing import disagreement
from cofire.reading.failures import attempt
from cofire.settings import Settings
from cofire.stores.base import EdgeFilter
from cofire.verbs.supersede import supersede
from cofire.verbs.superseding import MANY

RECORD = "review"
PAGE = 2_000


@dataclass(frozen=True, slots=True)
class Proposal:
    """Two facts that seem to disagree, the older and the newer, and why."""

    old: Fact
    new: Fact
    why: str
    state: str


def review(everything: bool) -> Asking[list[Proposal]]:
    """What waits for a decision, with the reason that holds now; with `everything` also what was decided.

    A pair that was settled another way waits no more: by now one of the two is archived or has ended, one takes the place of the
    other, or they say nothing against each other.
    """
    now: datetime = yield Now()
    found: list[Review] = yield Reviews(open_only=not everything)
    facts: list[Fact | None] = yield Read(sorted({id for one in found for id in (one.old, one.new)}))
    known = {fact.id: fact for fact in facts if fact is not None}
    replaced = yield from _replaced(known)
    return [
        Proposal(known[one.old], known[one.new], why, one.state)
        for one in found
        if one.old in known and one.new in known and (why := _standing(one, known, replaced, now))
    ]


def _replaced(known: Mapping[str, Fact]) -> Asking[set[frozenset[str]]]:
    """The pairs of which one takes the place of the other, be it later than now."""
    ending = frozenset(id for id, fact in known.items() if fact.valid_until is not None)
    if not ending:
        return set()
    held: list[Edge] = yield Edges(EdgeFilter(kinds=frozenset([SUPERSEDES]), ids=ending), MANY)
    return {frozenset((edge.source, edge.target)) for edge in held if edge.target in ending}


def _standing(one: Review, known: Mapping[str, Fact], replaced: Set[frozenset[str]], now: datetime) -> str | None:
    """Why a pair is told: as it was when it was decided, or as it is now; None where it is settled."""
    if one.state != "open":
        return one.why
    return None if frozenset((one.old, one.new)) in replaced else _why(known[one.old], known[one.new], now)


def accept(old: str, new: str, settings: Settings) -> Asking[Edge]:
    """The newer one is right: it supersedes the older."""
    held = yield from _proposed(old, new)
    decided = Review(held.old, held.new, held.why, "accepted")
    return (yield from supersede(old, new, settings, (decided,)))


def dismiss(old: str, new: str) -> Asking[None]:
    """Both are right; the pair is not proposed again."""
    held = yield from _proposed(old, new)
    now: datetime = yield Now()
    yield Write(Change(now=now, curation=Curation(reviews=(Review(held.old, held.new, held.why, "dismissed"),))))


def propose(dry_run: bool, settings: Settings) -> Asking[int]:
    """Look at the facts that came to be alike since the last time. Returns how many pairs are new."""
    if not settings[REVIEW]:
        return 0
    now: datetime = yield Now()
    record: Record | None = yield Recorded(RECORD)
    since = datetime.fromisoformat(json.loads(record.value)["at"]) if record else now
    # A last time that is still to come was told by a clock that went ahead: how far it looked, nobody knows.
    pairs: list[tuple[str, str]] = yield Rivals(since if since < now else None)
    known: list[Review] = yield Reviews(open_only=False)
    seen = {(one.old, one.new) for one in known}
    found = yield from _disagreeing([pair for pair in pairs if pair not in seen], now)
    if not dry_run:
        noted = Record(RECORD, json.dumps({"at": now.isoformat()}).encode("ascii"))
        yield Write(Change(now=now, curation=Curation(reviews=tuple(found)), records=(noted,)))
    return len(found)


def _disagreeing(pairs: Sequence[tuple[str, str]], now: datetime) -> Asking[list[Review]]:
    found: list[Review] = []
    for start in range(0, len(pairs), PAGE):
        page = pairs[start : start + PAGE]
        facts: list[Fact | None] = yield Read(sorted({id for pair in page for id in pair}))
        held = {fact.id: fact for fact in facts if fact is not None}
        for old, new in page:
            why = _why(held.get(old), held.get(new), now)
            found += [Review(old, new, why)] if why else []
    return found


def _why(old: Fact | None, new: Fact | None, now: datetime) -> str | None:
    if old is None or new is None or _is_over(old, now) or _is_over(new, now):
        return None
    return attempt("contradictions", lambda: disagreement(old.reading, new.reading), None)


def _is_over(fact: Fact, now: datetime) -> bool:
    return fact.archived or any(end is not None and end <= now for end in (fact.valid_until, fact.expires))


def _proposed(old: str, new: str) -> Asking[Review]:
    held: list[Review] = yield Reviews()
    found = next((one for one in held if (one.old, one.new) == (old, new)), None)
    if found is None:
        raise NotFound(
            f"{old} and {new} do not wait for a decision.", way_out="List those that do with: cofire review list"
        )
    return found
