"""Acting: what memory does at each event, and what the agent is told. Recalls or remembers; waits for nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import cofire
from cofire.doors.hooks import transcripts
from cofire.doors.hooks.events import Moment
from cofire.errors import InvalidInput
from cofire.fencing import fenced
from cofire.model import Fact
from cofire.xray import counted, prompt_entries

LATEST = 20
LONGEST_QUESTION = 4_000


@dataclass(frozen=True, slots=True)
class Manner:
    """Whose memory is used, how many facts at most, in how many tokens, and where it is noted how far transcripts were read."""

    scope: str
    k: int
    budget: int
    notes: Path


@dataclass(frozen=True, slots=True)
class Done:
    """What came of an event: a fenced block for the agent, or none, and a word to the person."""

    said: str
    context: str = ""


def act(memory: cofire.Memory, moment: Moment, manner: Manner) -> Done:
    """Do what belongs to the event."""
    return ACTS[moment.event](memory, moment, manner)


def begin(memory: cofire.Memory, moment: Moment, manner: Manner) -> Done:
    """What is pinned, what is known about the folder, and what was told last."""
    known = _distinct(_worth_knowing(memory, moment, manner))
    return _told(list(known)[: manner.k], manner, "Memory has nothing to begin with.")


def recall(memory: cofire.Memory, moment: Moment, manner: Manner) -> Done:
    """What memory knows about the prompt, besides what this session said itself."""
    question = moment.prompt.strip()[:LONGEST_QUESTION]
    if not question or question.startswith("/"):
        return Done("There was nothing to look up.")
    found = memory.recall(question, k=2 * manner.k, scope=manner.scope)
    others = [hit.fact for hit in found if moment.session is None or hit.fact.session != moment.session]
    return _told(others[: manner.k], manner, found.reason or "All that memory knows about it was said in this session.")


def remember(memory: cofire.Memory, moment: Moment, manner: Manner) -> Done:
    """What was said since the last time."""
    if moment.transcript is None or not moment.transcript.exists():
        return Done("There is no transcript to remember.")
    fresh = 0
    # A scope that cannot be one is refused before anything counts as read.
    memory.facts(limit=1, scope=manner.scope)
    # Few at a time, each noted: where time runs out, the next reading goes on from there.
    for some in transcripts.unread(moment.transcript, manner.notes):
        fresh += _kept(memory, some.items, moment, manner)
        transcripts.note(moment.transcript, manner.notes, some.end)
    return Done(f"{counted(fresh, 'new turn')} remembered.")


def _kept(memory: cofire.Memory, items: Sequence[transcripts.Item], moment: Moment, manner: Manner) -> int:
    """How many of these are new. One that cannot be read keeps no other from being remembered."""
    try:
        return memory.ingest(items, scope=manner.scope, session=moment.session, source=_place(moment)).fresh
    except InvalidInput:
        return sum(_kept(memory, [one], moment, manner) for one in items) if len(items) > 1 else 0


ACTS: Mapping[str, Callable[[cofire.Memory, Moment, Manner], Done]] = {
    "session-start": begin,
    "prompt-submit": recall,
    "stop": remember,
    "pre-compact": remember,
}


def _worth_knowing(memory: cofire.Memory, moment: Moment, manner: Manner) -> Iterator[Fact]:
    yield from memory.facts(pinned=True, limit=manner.k, scope=manner.scope)
    if moment.folder is not None and moment.folder.name:
        about = memory.recall(moment.folder.name, k=manner.k, scope=manner.scope)
        yield from (hit.fact for hit in about)
    place, latest = _place(moment), memory.facts(limit=LATEST, scope=manner.scope)
    yield from sorted(latest, key=lambda fact: fact.source != place)


def _told(facts: list[Fact], manner: Manner, otherwise: str) -> Done:
    if not facts:
        return Done(otherwise)
    entries = prompt_entries(facts, manner.budget)
    if not entries:
        return Done("The budget is too small for even the best fact.")
    return Done(f"{len(entries)} of {counted(len(facts), 'fact')} recalled.", fenced(entries))


def _distinct(facts: Iterable[Fact]) -> Iterable[Fact]:
    return {fact.id: fact for fact in facts}.values()


def _place(moment: Moment) -> str | None:
    return str(moment.folder) if moment.folder else None
