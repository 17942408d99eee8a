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
    """Fields of the ingested facts where the input has none, and what to read of the input."""

    system: Annotated[bool | None, "Also store the system's messages."]


@dataclass(frozen=True, slots=True)
class IngestResult:
    """The ids of the pieces in order, how many were new or known, and what was read and skipped."""

    ids: tuple[str, ...] = ()
    fresh: int = 0
    known: int = 0
    files: tuple[str, ...] = ()
    skipped: tuple[SkippedInput, ...] = ()


@dataclass(frozen=True, slots=True)
class GatherPieces(Effect):
    """Read the next items of a source. An effect because it reads files, which blocks."""

    blocks: ClassVar[bool] = True
    items: Iterator[IngestItem]
    count: int

    def run(self, context: RunContext) -> list[IngestItem]:
        return list(islice(self.items, self.count))


def ingest(source: Messages | str | PathLike[str], keywords: IngestOptions, settings: Settings) -> Steps[IngestResult]:
    """Store messages, a file or a folder, batch by batch.

    The keywords supply what the input leaves out. They are checked before anything is read.
    """
    defaults = _make_defaults(keywords, settings)
    validation.refuse_expired(defaults, (yield ReadClock()))
    items = read_source(
        source,
        defaults,
        system=bool(keywords.get("system")),
        largest=MAX_FILE_BYTES,
        accept=lambda fact: validation.parse_fact(fact, settings),
    )
    ids: list[str] = []
    files: list[str] = []
    fresh = 0
    # Equal reasons at the same place are reported once, with their count.
    skipped: Counter[tuple[str, str]] = Counter()
    while batch := (yield GatherPieces(items, settings[REMEMBER_BATCH])):
        facts = [item for item in batch if isinstance(item, Fact)]
        batch_ids, new_ids = yield from _suppress_progress(remember_new(facts, settings))
        ids += batch_ids
        fresh += len(new_ids)
        files += [item.name for item in batch if isinstance(item, OpenedFile)]
        skipped.update((item.where, item.reason) for item in batch if isinstance(item, SkippedInput))
        yield Emit(Progress("ingest", len(ids), None))
    skipped_inputs = tuple(SkippedInput(where, reason, count) for (where, reason), count in skipped.items())
    return IngestResult(tuple(ids), fresh, len(ids) - fresh, tuple(files), skipped_inputs)


def _make_defaults(keywords: IngestOptions, settings: Settings) -> Fact:
    """The keywords as a fact with a placeholder text."""
    fields = {label: value for label, value in keywords.items() if value is not None and label != "system"}
    return validation.parse_fact({**fields, "text": "-"}, settings)


def _suppress_progress(verb: Steps[T]) -> Steps[T]:
    """Run a verb inside a verb without its progress, which covers only one batch."""
    try:
        effect = next(verb)
        while True:
            try:
                result = None if isinstance(effect, Emit) else (yield effect)
            except Exception as error:  # noqa: BLE001 - the inner verb decides what an error means
                effect = verb.throw(error)
            else:
                effect = verb.send(result)
    except StopIteration as end:
        return cast(T, end.value)
