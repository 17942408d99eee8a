"""Transcripts: the lines that a session gained since it was last read, without what memory itself put there.

How far a session was read is noted in a folder of its own, so that what somebody forgot is not told again by the next reading.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from shutil import rmtree
from typing import Any

import platformdirs

from cofire.fencing import unfenced

Item = dict[str, Any]


# So many lines are remembered at a time.
AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Reading:
    """What is new in some lines of a transcript, and how far it was read with them."""

    items: tuple[Item, ...]
    end: int


def notes_folder(store: str, scope: str) -> Path:
    """Where it is noted what of transcripts a scope of a store has been told."""
    return Path(platformdirs.user_state_dir("cofire")) / "hooks" / _digest(store) / _digest(scope)


def unread(transcript: Path, notes: Path) -> Iterator[Reading]:
    """The whole lines after the place that was noted, some at a time; all of them if the file has become shorter since."""
    end = _noted(transcript, notes)
    with transcript.open("rb") as file:
        end = end if end <= file.seek(0, 2) else 0
        file.seek(end)
        lines = file.read()
    whole = lines[: lines.rfind(b"\n") + 1].splitlines(keepends=True)
    for begin in range(0, len(whole), AT_ONCE):
        some = whole[begin : begin + AT_ONCE]
        end += sum(map(len, some))
        yield Reading(tuple(_items(some)), end)


def begin_anew(notes: Path) -> None:
    """Forget how far transcripts were read, by any scope: a store that is not there has been told nothing."""
    rmtree(notes.parent, ignore_errors=True)


def note(transcript: Path, notes: Path, end: int) -> None:
    """Note how far a transcript was read."""
    notes.mkdir(parents=True, exist_ok=True)
    # Other hooks may note the same at the same time.
    number, fresh = tempfile.mkstemp(dir=notes)
    with os.fdopen(number, "w", encoding="ascii") as out:
        out.write(str(end))
    Path(fresh).replace(_page(transcript, notes))


def _noted(transcript: Path, notes: Path) -> int:
    page = _page(transcript, notes)
    said = page.read_text(encoding="ascii").strip() if page.exists() else ""
    return int(said) if said.isdecimal() else 0


def _page(transcript: Path, notes: Path) -> Path:
    return notes / _digest(str(transcript.absolute()))


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()


def _items(lines: Sequence[bytes]) -> Iterator[Item]:
    """A line that is cut or broken says nothing; the agent writes them, and may have been stopped at it."""
    for line in lines:
        try:
            item = json.loads(line)
        except (ValueError, RecursionError):
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
