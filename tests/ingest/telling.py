"""Shared by the ingest tests: read a source, and return its facts and what was skipped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cofire.ingest import sources
from cofire.ingest.facts import IngestItem, OpenedFile, SkippedInput
from cofire.ingest.sources import MAX_FILE_BYTES, read_source
from cofire.model import Fact

ABOUT = Fact("")


def gathered(
    given: Any, about: Fact = ABOUT, *, system: bool = False, largest: int = MAX_FILE_BYTES
) -> list[IngestItem]:
    return list(read_source(given, about, system=system, largest=largest, accept=lambda fact: fact))


def facts(given: Any, about: Fact = ABOUT, *, system: bool = False) -> list[Fact]:
    """The facts in messages, or in the file or folder of a path."""
    return [found for found in gathered(given, about, system=system) if isinstance(found, Fact)]


def texts(given: Any, **options: Any) -> list[str]:
    return [fact.text for fact in facts(given, **options)]


def skipped(given: Any, *, largest: int = MAX_FILE_BYTES) -> list[tuple[str, str]]:
    """What was left out: where, and why."""
    return [
        (found.where, found.reason) for found in gathered(given, largest=largest) if isinstance(found, SkippedInput)
    ]


def opened(given: Any) -> list[str]:
    return [found.name for found in gathered(given) if isinstance(found, OpenedFile)]


def read(text: str, suffix: str, about: Fact = ABOUT) -> list[Fact]:
    """The facts of a file's text."""
    found = sources.read_file_facts(text, about, suffix=suffix, stem="notes", where="notes", system=False)
    return [piece for piece in found if isinstance(piece, Fact)]


def read_skipped(text: str, suffix: str) -> list[str]:
    """Why parts of a file's text were left out."""
    found = sources.read_file_facts(text, ABOUT, suffix=suffix, stem="notes", where="notes", system=False)
    return [piece.reason for piece in found if isinstance(piece, SkippedInput)]


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path
