"""Sayings: the words in a message's content, which is a text or a list of blocks. Tool traffic, images and thoughts are not words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cofire.errors import InvalidInput

_WORDLESS = re.compile(r"tool|function|image|audio(?!_transcription)|video|file|document|thinking|thought|reasoning")


@dataclass(frozen=True, slots=True)
class Saying:
    """The words of a message, and whether it held something besides."""

    text: str
    besides: bool = False


def saying(content: object) -> Saying:
    """The words of any content.

    >>> saying([{"type": "text", "text": "Look:"}, {"type": "image", "source": {}}])
    Saying(text='Look:', besides=True)
    """
    if content is None:
        return Saying("")
    if isinstance(content, str):
        return Saying(content)
    if isinstance(content, Mapping):
        return _of_block(content)
    if isinstance(content, Sequence):
        return _joined([saying(block) for block in content])
    raise InvalidInput(
        f"The content of a message cannot be {type(content).__name__}.",
        way_out="Give it as text, or as a list of blocks.",
    )


def _of_block(block: Mapping[str, object]) -> Saying:
    kind = block.get("type") or block.get("content_type")
    if isinstance(kind, str) and _WORDLESS.search(kind):
        return Saying("", besides=True)
    words = next((block[label] for label in ("text", "value", "parts") if block.get(label)), None)
    return saying(words) if words is not None else Saying("", besides=True)


def _joined(parts: list[Saying]) -> Saying:
    texts = [part.text for part in parts if part.text.strip()]
    return Saying("\n\n".join(texts), besides=any(part.besides for part in parts))
