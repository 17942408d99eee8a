"""Conversations: chat messages become facts, a turn each, long ones several. Says where a message is wrong. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from cofire.errors import InvalidInput
from cofire.ingesting.cutting import LONGEST, pieces
from cofire.ingesting.exports import Told, unfold
from cofire.ingesting.harvest import Skipped, told
from cofire.ingesting.turns import SYSTEM, Turn, Unsaid
from cofire.model import Fact


@dataclass(frozen=True, slots=True)
class Item:
    """A message or a whole conversation as given, and its place: "Line 3"; a number where it is one of several."""

    place: str
    value: object
    number: int | None = None


def numbered(values: Iterable[object]) -> Iterator[Item]:
    """Messages, or conversations, one after the other."""
    return (Item(f"Message {number}", value, number) for number, value in enumerate(values, start=1))


def read_items(items: Iterable[Item], about: Fact, *, where: str, system: bool) -> Iterator[Fact | Skipped]:
    """Facts from messages in whatever shape they come."""
    for item in items:
        yield from read_turns(_turns(item, about), about, where=where, system=system)


def read_turns(turns: Iterable[Told], about: Fact, *, where: str, system: bool) -> Iterator[Fact | Skipped]:
    """Facts from turns; what nobody said is skipped, and the system's words unless they are wanted."""
    for turn in turns:
        if isinstance(turn, Unsaid):
            yield Skipped(where, turn.reason)
        elif turn.role == "system" and not system:
            yield Skipped(where, SYSTEM)
        else:
            yield from _facts(turn, about)


def _turns(item: Item, about: Fact) -> Iterator[Told]:
    """The turns of an item. Conversations without a name of their own, one of several, are told apart by number."""
    try:
        unfolded = unfold(item.value)
        apart = about.session if unfolded.whole and item.number is not None else None
        for turn in unfolded.turns:
            if apart is None or isinstance(turn, Unsaid) or turn.session:
                yield turn
            else:
                yield _in_session(turn, f"{apart}#{item.number}")
    except InvalidInput as error:
        raise InvalidInput(f"{item.place}: {error.problem}", way_out=error.way_out) from error


def _in_session(turn: Turn, session: str) -> Turn:
    return Turn(turn.text, turn.speaker, turn.role, turn.at, session, turn.title)


def _facts(turn: Turn, about: Fact) -> Iterator[Fact]:
    parts = pieces(turn.text, longest=LONGEST)
    for number, part in enumerate(parts, start=1):
        yield told(
            about,
            part,
            subject=None,
            speaker=turn.speaker,
            session=turn.session,
            at=turn.at,
            tags=(),
            metadata={**_notes(turn), **({"part": number, "parts": len(parts)} if len(parts) > 1 else {})},
        )


def _notes(turn: Turn) -> dict[str, Any]:
    """What is kept of a turn besides who, when and where: a role that is not the speaker's name, the conversation's title."""
    notes = {"role": turn.role if turn.role != turn.speaker else None, "title": turn.title}
    return {label: value for label, value in notes.items() if value}
