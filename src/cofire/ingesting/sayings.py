"""Sayings: the words in a message's content, which is a text or a list of blocks. Tool traffic, images and thoughts are not words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cofire.errors import InvalidInput

_WORDLESS = re.compile(r"tool|function|image|audio(?!_transcription)|video|file|document|thinking|thought|reasoning")

_GOES_ON = re.compile(r"[\s,.;:?)\]}…’”»，。、；：！？]|!(?!\[)")  # not what opens a picture


@dataclass(frozen=True, slots=True)
class Saying:
    """The words of a message, and whether it held something besides."""

    text: str
    besides: bool = False


def saying(content: object, *, running: bool) -> Saying:
    """The words of any content. The blocks are paragraphs, unless one goes on with a sentence or all are `running` text.

    >>> saying([{"type": "text", "text": "Look:"}, {"type": "image", "source": {}}], running=False)
    Saying(text='Look:', besides=True)
    """
    if content is None:
        return Saying("")
    if isinstance(content, str):
        return Saying(content)
    if isinstance(content, Mapping):
        return _of_block(content, running=running)
    if isinstance(content, Sequence):
        return _joined([saying(block, running=running) for block in content], running=running)
    raise InvalidInput(
        f"The content of a message cannot be {type(content).__name__}.",
        way_out="Give it as text, or as a list of blocks.",
    )


def _of_block(block: Mapping[str, object], *, running: bool) -> Saying:
    kind = block.get("type") or block.get("content_type")
    if block.get("thought") is True or (isinstance(kind, str) and _WORDLESS.search(kind)):
        return Saying("", besides=True)
    words = next((block[label] for label in ("text", "value", "parts", "refusal") if block.get(label)), None)
    return saying(words, running=running) if words is not None else Saying("", besides=True)


def _joined(parts: list[Saying], *, running: bool) -> Saying:
    text = ""
    for part in parts:
        text += part.text if running or _goes_on(text, part.text) else f"\n\n{part.text}"
    return Saying(text, besides=any(part.besides for part in parts))


def _goes_on(before: str, after: str) -> bool:
    """Whether a block stands in the midst of a sentence, as where each citation is a block of its own.

    >>> _goes_on("The grass is", " green"), _goes_on("It is green", "."), _goes_on("I look it up.", "It is green.")
    (True, True, False)
    """
    return not before or not after or before[-1].isspace() or _GOES_ON.match(after) is not None
