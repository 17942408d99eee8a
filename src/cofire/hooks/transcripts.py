"""New lines of a session transcript since the last read, without recalled text.

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

from cofire.text.prompt_text import strip_recalled_blocks

TranscriptItem = dict[str, Any]


# So many lines are remembered at a time.
LINES_PER_BATCH = 16


@dataclass(frozen=True, slots=True)
class TranscriptBatch:
    """What is new in some lines of a transcript, and how far it was read with them."""

    items: tuple[TranscriptItem, ...]
    end: int


def find_offsets_folder(store: str, scope: str) -> Path:
    """Where it is noted what of transcripts a scope of a store has been told."""
    return Path(platformdirs.user_state_dir("cofire")) / "hooks" / _digest(store) / _digest(scope)


def read_new_lines(transcript: Path, notes: Path) -> Iterator[TranscriptBatch]:
    """The whole lines after the place that was noted, some at a time; all of them if the file has become shorter since."""
    end = _load_offset(transcript, notes)
    with transcript.open("rb") as file:
        end = end if end <= file.seek(0, 2) else 0
        file.seek(end)
        lines = file.read()
    whole = lines[: lines.rfind(b"\n") + 1].splitlines(keepends=True)
    for begin in range(0, len(whole), LINES_PER_BATCH):
        some = whole[begin : begin + LINES_PER_BATCH]
        end += sum(map(len, some))
        yield TranscriptBatch(tuple(_parse_items(some)), end)


def clear_offsets(notes: Path) -> None:
    """Forget how far transcripts were read, by any scope: a store that is not there has been told nothing."""
    rmtree(notes.parent, ignore_errors=True)


def save_offset(transcript: Path, notes: Path, end: int) -> None:
    """Note how far a transcript was read."""
    notes.mkdir(parents=True, exist_ok=True)
    # Other hooks may note the same at the same time.
    number, fresh = tempfile.mkstemp(dir=notes)
    with os.fdopen(number, "w", encoding="ascii") as out:
        out.write(str(end))
    Path(fresh).replace(_find_offset_file(transcript, notes))


def _load_offset(transcript: Path, notes: Path) -> int:
    page = _find_offset_file(transcript, notes)
    said = page.read_text(encoding="ascii").strip() if page.exists() else ""
    return int(said) if said.isdecimal() else 0


def _find_offset_file(transcript: Path, notes: Path) -> Path:
    return notes / _digest(str(transcript.absolute()))


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()


def _parse_items(lines: Sequence[bytes]) -> Iterator[TranscriptItem]:
    """A line that is cut or broken says nothing; the agent writes them, and may have been stopped at it."""
    for line in lines:
        try:
            item = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(item, dict) and isinstance(item.get("message"), Mapping):
            yield {**item, "message": _strip_recalled_text(item["message"])}


def _strip_recalled_text(message: Mapping[str, Any]) -> TranscriptItem:
    """A message without recalled text in it, which would else be remembered again and again."""
    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": strip_recalled_blocks(content)}
    if isinstance(content, list):
        return {**message, "content": [_strip_recalled_block(block) for block in content]}
    return dict(message)


def _strip_recalled_block(block: Any) -> Any:
    if not isinstance(block, Mapping) or not isinstance(block.get("text"), str):
        return block
    return {**block, "text": strip_recalled_blocks(block["text"])}
