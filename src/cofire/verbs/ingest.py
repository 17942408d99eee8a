"""Ingest: conversations and documents go in, each turn or paragraph a fact. What memory knows already is left as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from typing import Annotated, ClassVar, TypeVar, cast

from cofire.asks import Asking, Emit, Now, World
from cofire.ingesting.files import LARGEST
from cofire.ingesting.gathering import Messages, gather
from cofire.ingesting.harvest import Found, Opened, Skipped
from cofire.model import Fact
from cofire.settings import BATCH, Settings
from cofire.verbs import accepting
from cofire.verbs.remember import Common, Progress, remember_new

T = TypeVar("T")


class Keywords(Common, total=False):
    """What may be said of all that is ingested; `system` takes in the system's messages too."""

    system: Annotated[bool | None, "Also store the system's messages."]


@dataclass(frozen=True, slots=True)
class Ingested:
    """What came of it: the id of each piece in order, how many were new or known, the files read, and what was left out and why."""

    ids: tuple[str, ...] = ()
    fresh: int = 0
    known: int = 0
    files: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class Gather:
    """The next of what is to be ingested. An ask, since it reads files: whoever awaits is not held up."""

    blocks: ClassVar[bool] = True
    found: Iterator[Found]
    count: int

    def put(self, world: World) -> list[Found]:
        return list(islice(self.found, self.count))


def ingest(given: Messages | str | PathLike[str], keywords: Keywords, settings: Settings) -> Asking[Ingested]:
    """Remember messages, or what a file or a folder holds, batch by batch. The keywords hold where the input is silent."""
    about = _about(keywords, settings)
    accepting.refuse_expired(about, (yield Now()))
    found = gather(
        given,
        about,
        system=bool(keywords.get("system")),
        largest=LARGEST,
        accept=lambda fact: accepting.fact(fact, settings),
    )
    ids, files, skipped, fresh = list[str](), list[str](), Counter[tuple[str, str]](), 0
    while batch := (yield Gather(found, settings[BATCH])):
        stored, new = yield from _unheard(remember_new([one for one in batch if isinstance(one, Fact)], settings))
        ids += stored
        fresh += len(new)
        files += [one.name for one in batch if isinstance(one, Opened)]
        skipped.update((one.where, one.reason) for one in batch if isinstance(one, Skipped))
        yield Emit(Progress("ingest", len(ids), None))
    return Ingested(tuple(ids), fresh, len(ids) - fresh, tuple(files), _told(skipped))


def _about(keywords: Keywords, settings: Settings) -> Fact:
    """The keywords as a fact that has no text yet, checked before anything is read."""
    said = {label: value for label, value in keywords.items() if value is not None and label != "system"}
    return accepting.fact({**said, "text": "-"}, settings)


def _unheard(verb: Asking[T]) -> Asking[T]:
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


def _told(skipped: Counter[tuple[str, str]]) -> tuple[Skipped, ...]:
    """What was left out; the same thing at the same place is told once, with its count."""
    return tuple(Skipped(where, reason, count) for (where, reason), count in skipped.items())
