"""Conversations, also as JSON or JSON Lines, become facts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from cofire.errors import InvalidInput
from cofire.ingest.chat_exports import ParsedTurn, parse_item
from cofire.ingest.facts import SkippedInput, build_fact
from cofire.ingest.messages import SYSTEM_REASON, ChatTurn, SkippedTurn
from cofire.ingest.text_pieces import MAX_PIECE_LENGTH, split_text
from cofire.model import Fact


@dataclass(frozen=True, slots=True)
class ConversationItem:
    """A message or a whole conversation as given, and its place: "Line 3"; a number where it is one of several."""

    place: str
    value: object
    number: int | None = None


def number_items(values: Iterable[object]) -> Iterator[ConversationItem]:
    """Messages, or conversations, one after the other."""
    return (ConversationItem(f"Message {number}", value, number) for number, value in enumerate(values, start=1))


def build_item_facts(
    items: Iterable[ConversationItem], about: Fact, *, where: str, system: bool
) -> Iterator[Fact | SkippedInput]:
    """Facts from messages in whatever shape they come."""
    for item in items:
        yield from build_turn_facts(_parse_item_turns(item, about), about, where=where, system=system)


def build_turn_facts(
    turns: Iterable[ParsedTurn], about: Fact, *, where: str, system: bool
) -> Iterator[Fact | SkippedInput]:
    """Facts from turns; what nobody said is skipped, and the system's words unless they are wanted."""
    for turn in turns:
        if isinstance(turn, SkippedTurn):
            yield SkippedInput(where, turn.reason)
        elif turn.role == "system" and not system:
            yield SkippedInput(where, SYSTEM_REASON)
        else:
            yield from _split_turn(turn, about)


def _parse_item_turns(item: ConversationItem, about: Fact) -> Iterator[ParsedTurn]:
    """The turns of an item. Conversations without a name of their own, one of several, are told apart by number."""
    try:
        unfolded = parse_item(item.value)
        apart = about.session if unfolded.whole and item.number is not None else None
        for turn in unfolded.turns:
            if apart is None or isinstance(turn, SkippedTurn) or turn.session:
                yield turn
            else:
                yield _with_session(turn, f"{apart}#{item.number}")
    except InvalidInput as error:
        raise InvalidInput(f"{item.place}: {error.problem}", way_out=error.way_out) from error


def _with_session(turn: ChatTurn, session: str) -> ChatTurn:
    return ChatTurn(turn.text, turn.speaker, turn.role, turn.at, session, turn.title)


def _split_turn(turn: ChatTurn, about: Fact) -> Iterator[Fact]:
    parts = split_text(turn.text, longest=MAX_PIECE_LENGTH)
    for number, part in enumerate(parts, start=1):
        yield build_fact(
            about,
            part,
            subject=None,
            speaker=turn.speaker,
            session=turn.session,
            at=turn.at,
            tags=(),
            metadata={**_turn_metadata(turn), **({"part": number, "parts": len(parts)} if len(parts) > 1 else {})},
        )


def _turn_metadata(turn: ChatTurn) -> dict[str, Any]:
    """What is kept of a turn besides who, when and where: a role that is not the speaker's name, the conversation's title."""
    notes = {"role": turn.role if turn.role != turn.speaker else None, "title": turn.title}
    return {label: value for label, value in notes.items() if value}


_JSON_WAY_OUT = "Mend the place, or export the file again."


def is_like_json(text: str) -> bool:
    """Whether a text opens as an object or a list does."""
    return text.lstrip().startswith(("{", "["))


def parse_json_items(text: str, *, by_line: bool) -> Iterator[ConversationItem]:
    """The elements of a list, the lines of JSON Lines, which need not be called so, or the one object there is."""
    if by_line:
        return _parse_json_lines(text)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg != "Extra data":
            raise _make_json_error(error, error.lineno) from error
        return _parse_json_lines(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"This is not JSON: {error}.", way_out=_JSON_WAY_OUT) from error
    return _list_elements(value)


def _list_elements(value: Any) -> Iterator[ConversationItem]:
    if not isinstance(value, list):
        return iter([ConversationItem("The file", value)])
    return (ConversationItem(f"Element {number}", element, number) for number, element in enumerate(value, start=1))


def _parse_json_lines(text: str) -> Iterator[ConversationItem]:
    """One value a line. Only line ends part lines: JSON texts may hold any other separator."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield ConversationItem(f"Line {number}", _parse_json_line(line, number), number)


def _parse_json_line(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _make_json_error(error, number) from error


def _make_json_error(error: Exception, line: int) -> InvalidInput:
    what = f"{error.msg}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
    return InvalidInput(f"Line {line} is not JSON: {what}.", way_out=_JSON_WAY_OUT)
