"""Parse one chat message: speaker, role, text, time and session."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cofire.errors import InvalidInput
from cofire.ingest.timestamps import parse_time

ROLES_BY_NAME = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "ai", "bot", "model", "gpt"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function"), "tool"),
}

EMPTY_REASON = "An empty message."
WORDLESS_REASON = "A tool call, result, image or thought."
SYSTEM_REASON = "A system message."
NOTICE_REASON = "A notice or other line that nobody said."
MEDIA_REASON = "A picture, recording or file."

_UNWRITABLE_CHARACTER = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """What one speaker said at once. The role is user, assistant or system where the log tells."""

    text: str
    speaker: str | None
    role: str | None
    at: datetime | None
    session: str | None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class SkippedTurn:
    """A turn without words of its own, and why."""

    reason: str


def clean_text(text: str) -> str:
    """A text with plain line ends and no blank edges; half characters and NUL, which nothing can write, are shown as missing."""
    return _UNWRITABLE_CHARACTER.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


_WORDLESS_TYPES = re.compile(
    r"tool|function|image|audio(?!_transcription)|video|file|document|thinking|thought|reasoning"
)

_CONTINUATION = re.compile(r"[\s,.;:?)\]}…’”»，。、；：！？]|!(?!\[)")  # not what opens a picture


@dataclass(frozen=True, slots=True)
class MessageText:
    """The words of a message, and whether it held something besides."""

    text: str
    besides: bool = False


def extract_message_text(content: object, *, running: bool) -> MessageText:
    """The words of any content. The blocks are paragraphs, unless one goes on with a sentence or all are `running` text.

    >>> extract_message_text([{"type": "text", "text": "Look:"}, {"type": "image", "source": {}}], running=False)
    MessageText(text='Look:', besides=True)
    """
    if content is None:
        return MessageText("")
    if isinstance(content, str):
        return MessageText(content)
    if isinstance(content, Mapping):
        return _extract_block_text(content, running=running)
    if isinstance(content, Sequence):
        return _join_texts([extract_message_text(block, running=running) for block in content], running=running)
    raise InvalidInput(
        f"The content of a message cannot be {type(content).__name__}.",
        way_out="Give it as text, or as a list of blocks.",
    )


def _extract_block_text(block: Mapping[str, object], *, running: bool) -> MessageText:
    kind = block.get("type") or block.get("content_type")
    if block.get("thought") is True or (isinstance(kind, str) and _WORDLESS_TYPES.search(kind)):
        return MessageText("", besides=True)
    words = next((block[label] for label in ("text", "value", "parts", "refusal") if block.get(label)), None)
    return extract_message_text(words, running=running) if words is not None else MessageText("", besides=True)


def _join_texts(parts: list[MessageText], *, running: bool) -> MessageText:
    text = ""
    for part in parts:
        text += part.text if running or _is_continuation(text, part.text) else f"\n\n{part.text}"
    return MessageText(text, besides=any(part.besides for part in parts))


def _is_continuation(before: str, after: str) -> bool:
    """Whether a block stands in the midst of a sentence, as where each citation is a block of its own.

    >>> (
    ...     _is_continuation("The grass is", " green"),
    ...     _is_continuation("It is green", "."),
    ...     _is_continuation("I look it up.", "It is green."),
    ... )
    (True, True, False)
    """
    return not before or not after or before[-1].isspace() or _CONTINUATION.match(after) is not None


MessageMapping = Mapping[str, Any]

SPEAKER_LABELS = ("speaker", "author", "name", "user", "sender", "from", "username")
CONTENT_LABELS = ("content", "text", "value", "parts", "body", "refusal")
TIME_LABELS = ("timestamp", "created_at", "ts", "date", "time", "create_time", "at")
SESSION_LABELS = ("session", "session_id", "sessionId", "conversation_id", "conversation", "thread", "thread_id")
TITLE_LABELS = ("title", "name")
_AUTHOR_NAME_LABELS = ("name", "real_name", "display_name", "username")
_STEP_TYPE = re.compile(r"reasoning|item_reference|\w+_call(?:_output)?|mcp_\w+|service")


def is_message(item: MessageMapping) -> bool:
    """Whether a mapping tells who spoke and what; one with a role every log knows, or a step between messages, may be without words."""
    role = _read_role(item)
    return (
        role in ROLES_BY_NAME
        or _is_step(item)
        or ((role or _read_speaker_name(item)) is not None and any(label in item for label in CONTENT_LABELS))
    )


def _is_step(item: MessageMapping) -> bool:
    """Whether this is a call, its output or a thought, which OpenAI's Responses API puts beside messages, or what Telegram notes of
    a chat."""
    kind = item.get("type")
    return "role" not in item and isinstance(kind, str) and _STEP_TYPE.fullmatch(kind) is not None


def read_turn(message: MessageMapping) -> ChatTurn | SkippedTurn:
    """What a message says, or why it says nothing."""
    role = _read_role(message)
    if role == "tool" or _is_step(message):
        return SkippedTurn(WORDLESS_REASON)
    said = extract_message_text(first_value(message, CONTENT_LABELS), running=_is_split_in_runs(message))
    text = clean_text(said.text)
    if not text:
        return SkippedTurn(WORDLESS_REASON if said.besides or message.get("tool_calls") else EMPTY_REASON)
    return ChatTurn(text, _read_speaker_name(message) or role, role, read_time(message), read_session(message))


def _is_split_in_runs(message: MessageMapping) -> bool:
    """Whether the words are runs of one text, each with its format, as in Telegram's export."""
    return isinstance(message.get("text"), list)


def read_time(message: MessageMapping) -> datetime | None:
    """When it was said, if the message tells."""
    return parse_time(first_value(message, TIME_LABELS))


def read_session(message: MessageMapping) -> str | None:
    """Which conversation it belongs to, if the message tells."""
    return to_label(first_value(message, SESSION_LABELS))


def to_label(given: object) -> str | None:
    """A name or a number as a name; None for anything else."""
    if isinstance(given, bool) or not isinstance(given, str | int):
        return None
    return " ".join(clean_text(str(given)).split()) or None


def first_value(message: MessageMapping, labels: tuple[str, ...]) -> Any:
    """The first of these that is there and not empty."""
    return next((message[label] for label in labels if message.get(label) not in (None, "", [], {})), None)


def _read_role(message: MessageMapping) -> str | None:
    """The role as user, assistant, system or tool; it may stand where others put the speaker's name.

    >>> (
    ...     _read_role({"sender": "human"}),
    ...     _read_role({"author": {"role": "assistant"}}),
    ...     _read_role({"role": "critic"}),
    ...     _read_role({"author": "Ana"}),
    ... )
    ('user', 'assistant', 'critic', None)
    """
    author = message.get("author")
    role = to_label(message.get("role") or (author.get("role") if isinstance(author, Mapping) else None))
    if role is not None:
        return ROLES_BY_NAME.get(role.casefold(), role)
    return next((found for label in ("type", *SPEAKER_LABELS) if (found := _to_known_role(message.get(label)))), None)


def _read_speaker_name(message: MessageMapping) -> str | None:
    """The speaker's name, where it is more than a role."""
    return next((found for label in SPEAKER_LABELS if (found := _to_proper_name(message.get(label)))), None)


def _to_proper_name(given: object) -> str | None:
    found = to_label(first_value(given, _AUTHOR_NAME_LABELS) if isinstance(given, Mapping) else given)
    return None if found is None or _to_known_role(found) else found


def _to_known_role(given: object) -> str | None:
    return ROLES_BY_NAME.get(given.casefold()) if isinstance(given, str) else None
