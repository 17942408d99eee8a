"""Store conversations and documents, one fact a turn or paragraph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from typing import Annotated, ClassVar, TypeVar, cast

from cofire.ingest.facts import IngestItem, OpenedFile, SkippedInput
from cofire.ingest.sources import MAX_FILE_BYTES, Messages, read_source
from cofire.model import Fact
from cofire.runtime.effects import Effect, Emit, ReadClock, RunContext, Steps
from cofire.settings.table import REMEMBER_BATCH, Settings
from cofire.verbs import validation
from cofire.verbs.remember import Progress, RememberOptions, remember_new

T = TypeVar("T")


class IngestOptions(RememberOptions, total=False):
    """What may be said of all that is ingested; `system` takes in the system's messages too."""

    system: Annotated[bool | None, "Also store the system's messages."]


@dataclass(frozen=True, slots=True)
class IngestResult:
    """What came of it: the id of each piece in order, how many were new or known, the files read, and what was left out and why."""

    ids: tuple[str, ...] = ()
    fresh: int = 0
    known: int = 0
    files: tuple[str, ...] = ()
    skipped: tuple[SkippedInput, ...] = ()


@dataclass(frozen=True, slots=True)
class GatherPieces(Effect):
    """The next of what is to be ingested. An ask, since it reads files: whoever awaits is not held up."""

    blocks: ClassVar[bool] = True
    found: Iterator[IngestItem]
    count: int

    def run(self, context: RunContext) -> list[IngestItem]:
        return list(islice(self.found, self.count))


def ingest(given: Messages | str | PathLike[str], keywords: IngestOptions, settings: Settings) -> Steps[IngestResult]:
    """Remember messages, or what a file or a folder holds, batch by batch. The keywords hold where the input is silent."""
    about = _make_defaults(keywords, settings)
    validation.refuse_expired(about, (yield ReadClock()))
    found = read_source(
        given,
        about,
        system=bool(keywords.get("system")),
        largest=MAX_FILE_BYTES,
        accept=lambda fact: validation.parse_fact(fact, settings),
    )
    ids, files, skipped, fresh = list[str](), list[str](), Counter[tuple[str, str]](), 0
    while batch := (yield GatherPieces(found, settings[REMEMBER_BATCH])):
        stored, new = yield from _suppress_progress(
            remember_new([one for one in batch if isinstance(one, Fact)], settings)
        )
        ids += stored
        fresh += len(new)
        files += [one.name for one in batch if isinstance(one, OpenedFile)]
        skipped.update((one.where, one.reason) for one in batch if isinstance(one, SkippedInput))
        yield Emit(Progress("ingest", len(ids), None))
    return IngestResult(tuple(ids), fresh, len(ids) - fresh, tuple(files), _count_skipped(skipped))


def _make_defaults(keywords: IngestOptions, settings: Settings) -> Fact:
    """The keywords as a fact that has no text yet, checked before anything is read."""
    said = {label: value for label, value in keywords.items() if value is not None and label != "system"}
    return validation.parse_fact({**said, "text": "-"}, settings)


def _suppress_progress(verb: Steps[T]) -> Steps[T]:
    """A verb within a verb, whose own progress is not told: it knows only its part."""
    try:
        ask = next(verb)
        while True:
            try:
                answer = None if isinstance(ask, Emit) else (yield ask)
            except Exception as error:  # noqa: BLE001 - the inner verb decides what an error means
                ask = verb.throw(error)
            else:
                ask = verb.send(answer)
    except StopIteration as end:
        return cast(T, end.value)


def _count_skipped(skipped: Counter[tuple[str, str]]) -> tuple[SkippedInput, ...]:
    """What was left out; the same thing at the same place is told once, with its count."""
    return tuple(SkippedInput(where, reason, count) for (where, reason), count in skipped.items())
