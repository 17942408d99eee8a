"""Turns: what somebody said in a conversation, whichever log it comes from, and why some turns say nothing. No I/O."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

ROLES = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "ai", "bot", "model", "gpt"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function"), "tool"),
}

EMPTY = "An empty message."
WORDLESS = "A tool call, result, image or thought."
SYSTEM = "A system message."
NOTICE = "A notice or other line that nobody said."
MEDIA = "A picture, recording or file."

_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker said at once. The role is user, assistant or system where the log tells."""

    text: str
    speaker: str | None
    role: str | None
    at: datetime | None
    session: str | None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Unsaid:
    """A turn without words of its own, and why."""

    reason: str


def clean(text: str) -> str:
    """A text with plain line ends and no blank edges; half characters and NUL, which nothing can write, are shown as missing."""
    return _UNWRITABLE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n")).strip()
