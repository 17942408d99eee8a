"""Transcripts: the lines that a session gained since it was last read, without what memory itself put there.

How far a session was read is noted in a folder of its own, so that what somebody forgot is not told again by the next reading.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import platformdirs

from cofire.fencing import unfenced

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reading:
    """What is new in a transcript, and how far it was read."""

    items: tuple[Item, ...]
    end: int


def notes_folder() -> Path:
    return Path(platformdirs.user_state_dir("cofire")) / "hooks"


def unread(transcript: Path, notes: Path) -> Reading:
    """The whole lines after the place that was noted; all of them if the file has become shorter since."""
    begin = _noted(transcript, notes)
    with transcript.open("rb") as file:
        begin = begin if begin <= file.seek(0, 2) else 0
        file.seek(begin)
        lines = file.read()
    whole = lines[: lines.rfind(b"\n") + 1]
    return Reading(tuple(_items(whole)), begin + len(whole))


def note(transcript: Path, notes: Path, end: int) -> None:
    """Note how far a transcript was read."""
    notes.mkdir(parents=True, exist_ok=True)
    page = _page(transcript, notes)
    fresh = page.with_suffix(".new")
    fresh.write_text(str(end), encoding="ascii")
    fresh.replace(page)


def _noted(transcript: Path, notes: Path) -> int:
    page = _page(transcript, notes)
    said = page.read_text(encoding="ascii").strip() if page.exists() else ""
    return int(said) if said.isdecimal() else 0


def _page(transcript: Path, notes: Path) -> Path:
    return notes / blake2b(str(transcript.absolute()).encode(), digest_size=12).hexdigest()


def _items(lines: bytes) -> Iterator[Item]:
    """A line that is cut or broken says nothing; the agent writes them, and may have been stopped at it."""
    for line in lines.splitlines():
        try:
            item = json.loads(line)
        except ValueError:
            continue
        if isinstance(item, dict) and isinstance(item.get("message"), Mapping):
            yield {**item, "message": _own_words(item["message"])}


def _own_words(message: Mapping[str, Any]) -> Item:
    """A message without recalled text in it, which would else be remembered again and again."""
    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": unfenced(content)}
    if isinstance(content, list):
        return {**message, "content": [_own_block(block) for block in content]}
    return dict(message)


def _own_block(block: Any) -> Any:
    if not isinstance(block, Mapping) or not isinstance(block.get("text"), str):
        return block
    return {**block, "text": unfenced(block["text"])}
