"""New lines of a session transcript since the last call, without recalled text.

The read offset of each transcript is stored in a file, so that a forgotten turn is not stored again.
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


LINES_PER_BATCH = 16


@dataclass(frozen=True, slots=True)
class TranscriptBatch:
    """The messages in a batch of lines, and the offset after them."""

    items: tuple[TranscriptItem, ...]
    end: int


def find_offsets_folder(store: str, scope: str) -> Path:
    """The folder with the read offsets of transcripts for a scope of a store."""
    return Path(platformdirs.user_state_dir("cofire")) / "hooks" / _digest(store) / _digest(scope)


def read_new_lines(transcript: Path, offsets: Path) -> Iterator[TranscriptBatch]:
    """The complete lines after the saved offset, in batches; all lines if the file has become shorter."""
    end = _load_offset(transcript, offsets)
    with transcript.open("rb") as file:
        size = file.seek(0, 2)
        end = end if end <= size else 0
        file.seek(end)
        content = file.read()
    lines = content[: content.rfind(b"\n") + 1].splitlines(keepends=True)
    for start in range(0, len(lines), LINES_PER_BATCH):
        batch = lines[start : start + LINES_PER_BATCH]
        end += sum(len(line) for line in batch)
        yield TranscriptBatch(tuple(_parse_items(batch)), end)


def clear_offsets(offsets: Path) -> None:
    """Delete the offsets of a store in all scopes; used when the store does not exist."""
    rmtree(offsets.parent, ignore_errors=True)


def save_offset(transcript: Path, offsets: Path, end: int) -> None:
    """Save the read offset of a transcript, atomically because hooks may run concurrently."""
    offsets.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=offsets)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(str(end))
    Path(temporary).replace(_find_offset_file(transcript, offsets))


def _load_offset(transcript: Path, offsets: Path) -> int:
    file = _find_offset_file(transcript, offsets)
    content = file.read_text(encoding="ascii").strip() if file.exists() else ""
    return int(content) if content.isdecimal() else 0


def _find_offset_file(transcript: Path, offsets: Path) -> Path:
    return offsets / _digest(str(transcript.absolute()))


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()


def _parse_items(lines: Sequence[bytes]) -> Iterator[TranscriptItem]:
    """The messages in the lines. Incomplete or invalid lines are skipped; an agent may be stopped while writing."""
    for line in lines:
        try:
            item = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(item, dict) and isinstance(item.get("message"), Mapping):
            yield {**item, "message": _strip_recalled_text(item["message"])}


def _strip_recalled_text(message: Mapping[str, Any]) -> TranscriptItem:
    """Remove recalled text from a message, so that it is not stored again."""
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
