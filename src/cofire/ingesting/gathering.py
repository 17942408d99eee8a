"""Gathering: facts from what was given, messages or a path, one file after the other. A bad file in a folder stops no other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from cofire.errors import InvalidInput
from cofire.ingesting import kinds
from cofire.ingesting.conversations import Item, numbered, read_items
from cofire.ingesting.files import text_of, walk
from cofire.ingesting.harvest import Found, Opened, Skipped
from cofire.model import Fact

Messages = Iterable[Mapping[str, Any]] | Mapping[str, Any]
Accept = Callable[[Fact], Fact]

MESSAGES = "messages"
NO_TEXT = "It holds no text."


def gather(given: object, about: Fact, *, system: bool, largest: int, accept: Accept) -> Iterator[Found]:
    """Everything there is to tell. `about` holds for each fact that does not say otherwise; `accept` checks it."""
    if isinstance(given, str | PathLike):
        return _from_path(_existing(os.fsdecode(given)), about, system=system, largest=largest, accept=accept)
    if isinstance(given, Mapping):
        return _from_items([Item("The mapping", given)], about, system=system, accept=accept)
    if isinstance(given, Iterable) and not isinstance(given, bytes | bytearray):
        return _from_items(numbered(given), about, system=system, accept=accept)
    raise InvalidInput(
        f"Nothing can be ingested from {type(given).__name__}.",
        way_out="Give a list of messages, or the path of a file or folder.",
    )


def _from_items(items: Iterable[Item], about: Fact, *, system: bool, accept: Accept) -> Iterator[Found]:
    for found in read_items(items, about, where=MESSAGES, system=system):
        yield accept(found) if isinstance(found, Fact) else found


def _from_path(root: Path, about: Fact, *, system: bool, largest: int, accept: Accept) -> Iterator[Found]:
    for path in walk(root):
        if isinstance(path, Skipped):
            yield path
            continue
        name = path.as_posix()
        try:
            found = _of_file(path, about, system=system, largest=largest, accept=accept)
        except InvalidInput as error:
            if path == root:
                raise InvalidInput(f"{name} cannot be ingested. {error.problem}", way_out=error.way_out) from error
            yield Skipped(name, error.problem)
        else:
            yield from found


def _of_file(path: Path, about: Fact, *, system: bool, largest: int, accept: Accept) -> list[Found]:
    """All that a file tells, or nothing of it: it is read to its end before anything is remembered."""
    name = path.as_posix()
    text = text_of(path, largest=largest)
    if not text.strip():
        return [Skipped(name, NO_TEXT)]
    known = replace(about, source=about.source or name, session=about.session or name)
    pieces = kinds.read(text, known, suffix=path.suffix.lower(), stem=path.stem, where=name, system=system)
    found = [accept(piece) if isinstance(piece, Fact) else piece for piece in pieces]
    return [Opened(name), *found] if found else [Skipped(name, NO_TEXT)]


def _existing(path: str) -> Path:
    if path.strip() and os.path.exists(path):
        return Path(path)
    shown = f"{path[:80]}…" if len(path) > 80 else path
    raise InvalidInput(
        f"There is no file or folder {shown!r}.",
        way_out="Check the path; a text itself is kept with remember.",
    )
