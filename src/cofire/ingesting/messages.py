"""Messages: one chat message as a mapping, by whichever names its log gives to speaker, words, time and session. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from cofire.ingesting.moments import moment
from cofire.ingesting.sayings import saying
from cofire.ingesting.turns import EMPTY, ROLES, WORDLESS, Turn, Unsaid, clean

Message = Mapping[str, Any]

NAMES = ("speaker", "author", "name", "user", "sender", "from", "username")
WORDS = ("content", "text", "value", "parts", "body", "refusal")
TIMES = ("timestamp", "created_at", "ts", "date", "time", "create_time", "at")
SESSIONS = ("session", "session_id", "sessionId", "conversation_id", "conversation", "thread", "thread_id")
TITLES = ("title", "name")
_FULL_NAMES = ("name", "real_name", "display_name", "username")
_STEP = re.compile(r"reasoning|item_reference|\w+_call(?:_output)?|mcp_\w+|service")


def is_message(item: Message) -> bool:
    """Whether a mapping tells who spoke and what; one with a role every log knows, or a step between messages, may be without words."""
    role = _role(item)
    return (
        role in ROLES or _is_step(item) or ((role or _name(item)) is not None and any(label in item for label in WORDS))
    )


def _is_step(item: Message) -> bool:
    """Whether this is a call, its output or a thought, which OpenAI's Responses API puts beside messages, or what Telegram notes of
    a chat."""
    kind = item.get("type")
    return "role" not in item and isinstance(kind, str) and _STEP.fullmatch(kind) is not None


def turn(message: Message) -> Turn | Unsaid:
    """What a message says, or why it says nothing."""
    role = _role(message)
    if role == "tool" or _is_step(message):
        return Unsaid(WORDLESS)
    said = saying(first(message, WORDS), running=_is_running(message))
    text = clean(said.text)
    if not text:
        return Unsaid(WORDLESS if said.besides or message.get("tool_calls") else EMPTY)
    return Turn(text, _name(message) or role, role, time_of(message), session_of(message))


def _is_running(message: Message) -> bool:
    """Whether the words are runs of one text, each with its format, as in Telegram's export."""
    return isinstance(message.get("text"), list)


def time_of(message: Message) -> datetime | None:
    """When it was said, if the message tells."""
    return moment(first(message, TIMES))


def session_of(message: Message) -> str | None:
    """Which conversation it belongs to, if the message tells."""
    return label_of(first(message, SESSIONS))


def label_of(given: object) -> str | None:
    """A name or a number as a name; None for anything else."""
    if isinstance(given, bool) or not isinstance(given, str | int):
        return None
    return " ".join(clean(str(given)).split()) or None


def first(message: Message, labels: tuple[str, ...]) -> Any:
    """The first of these that is there and not empty."""
    return next((message[label] for label in labels if message.get(label) not in (None, "", [], {})), None)


def _role(message: Message) -> str | None:
    """The role as user, assistant, system or tool; it may stand where others put the speaker's name.

    >>> (
    ...     _role({"sender": "human"}),
    ...     _role({"author": {"role": "assistant"}}),
    ...     _role({"role": "critic"}),
    ...     _role({"author": "Ana"}),
    ... )
    ('user', 'assistant', 'critic', None)
    """
    author = message.get("author")
    role = label_of(message.get("role") or (author.get("role") if isinstance(author, Mapping) else None))
    if role is not None:
        return ROLES.get(role.casefold(), role)
    return next((found for label in ("type", *NAMES) if (found := _known_role(message.get(label)))), None)


def _name(message: Message) -> str | None:
    """The speaker's name, where it is more than a role."""
    return next((found for label in NAMES if (found := _proper_name(message.get(label)))), None)


def _proper_name(given: object) -> str | None:
    found = label_of(first(given, _FULL_NAMES) if isinstance(given, Mapping) else given)
    return None if found is None or _known_role(found) else found


def _known_role(given: object) -> str | None:
    return ROLES.get(given.casefold()) if isinstance(given, str) else None
