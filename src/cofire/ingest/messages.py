"""Parse one chat message: speaker, role, text, time and session."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cofire.errors import InvalidInput
from cofire.ingest.facts import parse_time

ROLES_BY_NAME = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "ai", "bot", "model", "gpt"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function"), "tool"),
}

EMPTY_REASON = "An empty message."
WORDLESS_REASON = "A tool call, tool result, image or reasoning."
SYSTEM_REASON = "A system message."
NOTICE_REASON = "A notice, not a message."
MEDIA_REASON = "A picture, recording or file."

_UNWRITABLE_CHARACTER = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """One message of a speaker. The role is user, assistant or system, if the log states it."""

    text: str
    speaker: str | None
    role: str | None
    at: datetime | None
    session: str | None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class SkippedTurn:
    """A message without text of its own, and the reason."""

    reason: str


def clean_text(text: str) -> str:
    """Unix line ends, stripped. Lone surrogates and NUL become replacement characters."""
    return _UNWRITABLE_CHARACTER.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


_WORDLESS_TYPES = re.compile(
    r"tool|function|image|audio(?!_transcription)|video|file|document|thinking|thought|reasoning"
)

_CONTINUATION = re.compile(r"[\s,.;:?)\]}…’”»，。、；：！？]|!(?!\[)")  # not the start of an image


@dataclass(frozen=True, slots=True)
class MessageText:
    """The text of a message. `besides` means that it had other content as well."""

    text: str
    besides: bool = False


def extract_message_text(content: object, *, running: bool) -> MessageText:
    """The text of any content. Blocks become paragraphs, unless they continue a sentence or are `running`.

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
    is_wordless = isinstance(kind, str) and _WORDLESS_TYPES.search(kind) is not None
    if is_wordless or block.get("thought") is True:
        return MessageText("", besides=True)
    for label in ("text", "value", "parts", "refusal"):
        if block.get(label):
            return extract_message_text(block[label], running=running)
    return MessageText("", besides=True)


def _join_texts(parts: list[MessageText], *, running: bool) -> MessageText:
    text = ""
    for part in parts:
        text += part.text if running or _is_continuation(text, part.text) else f"\n\n{part.text}"
    return MessageText(text, besides=any(part.besides for part in parts))


def _is_continuation(before: str, after: str) -> bool:
    """Whether a block continues a sentence, as citations in blocks of their own do.

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
    """Whether a mapping is a message: it has a known role or is a step, or has a speaker and content."""
    role = _read_role(item)
    return (
        role in ROLES_BY_NAME
        or _is_step(item)
        or ((role or _read_speaker_name(item)) is not None and any(label in item for label in CONTENT_LABELS))
    )


def _is_step(item: MessageMapping) -> bool:
    """Whether an item is a call, its output or reasoning (OpenAI Responses API), or a Telegram service entry."""
    kind = item.get("type")
    return "role" not in item and isinstance(kind, str) and _STEP_TYPE.fullmatch(kind) is not None


def read_turn(message: MessageMapping) -> ChatTurn | SkippedTurn:
    """The turn of a message, or why it has none."""
    role = _read_role(message)
    if role == "tool" or _is_step(message):
        return SkippedTurn(WORDLESS_REASON)
    content = extract_message_text(first_value(message, CONTENT_LABELS), running=_is_split_in_runs(message))
    text = clean_text(content.text)
    if not text:
        return SkippedTurn(WORDLESS_REASON if content.besides or message.get("tool_calls") else EMPTY_REASON)
    return ChatTurn(text, _read_speaker_name(message) or role, role, read_time(message), read_session(message))


def _is_split_in_runs(message: MessageMapping) -> bool:
    """Whether the text is a list of formatted runs, as in Telegram exports."""
    return isinstance(message.get("text"), list)


def read_time(message: MessageMapping) -> datetime | None:
    """The time of a message, if it has one."""
    return parse_time(first_value(message, TIME_LABELS))


def read_session(message: MessageMapping) -> str | None:
    """The conversation of a message, if it has one."""
    return to_label(first_value(message, SESSION_LABELS))


def to_label(value: object) -> str | None:
    """A string or a number as a name. None for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return " ".join(clean_text(str(value)).split()) or None


def first_value(message: MessageMapping, labels: tuple[str, ...]) -> Any:
    """The first value that is present and not empty."""
    return next((message[label] for label in labels if message.get(label) not in (None, "", [], {})), None)


def _read_role(message: MessageMapping) -> str | None:
    """The role as user, assistant, system or tool. It may be in the place of the speaker's name.

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
    for label in ("type", *SPEAKER_LABELS):
        role = _to_known_role(message.get(label))
        if role:
            return role
    return None


def _read_speaker_name(message: MessageMapping) -> str | None:
    """The name of the speaker, unless it is only a role."""
    for label in SPEAKER_LABELS:
        name = _to_proper_name(message.get(label))
        if name:
            return name
    return None


def _to_proper_name(value: object) -> str | None:
    name = to_label(first_value(value, _AUTHOR_NAME_LABELS) if isinstance(value, Mapping) else value)
    return None if name is None or _to_known_role(name) else name


def _to_known_role(value: object) -> str | None:
    return ROLES_BY_NAME.get(value.casefold()) if isinstance(value, str) else None
