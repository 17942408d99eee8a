"""`cofire ingest`: conversations and documents become facts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Protocol

import typer

import cofire
from cofire.doors.cli.calling import Call
from cofire.doors.cli.incoming import STREAM
from cofire.doors.cli.remembering import About
from cofire.doors.cli.screen import Done, Step, bar, note, show, show_json, styled
from cofire.errors import InvalidInput
from cofire.xray import counted

EXAMPLES_SHOWN = 3

Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH", help="Files and folders: Markdown, text, chat exports, and messages in JSON or JSON lines."
    ),
]
SystemOption = Annotated[bool, typer.Option("--system", help="Take in the system's messages of a conversation too.")]


class Skipped(Protocol):
    """Something that was left out, and why."""

    @property
    def where(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def count(self) -> int: ...


class Ingested(Protocol):
    """What came of one path."""

    @property
    def ids(self) -> tuple[str, ...]: ...
    @property
    def fresh(self) -> int: ...
    @property
    def known(self) -> int: ...
    @property
    def files(self) -> tuple[str, ...]: ...
    @property
    def skipped(self) -> tuple[Skipped, ...]: ...


@dataclass(frozen=True)
class Taken:
    """What came of all paths together."""

    ids: tuple[str, ...] = ()
    fresh: int = 0
    known: int = 0
    files: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()

    def and_also(self, found: Ingested) -> Taken:
        return Taken(
            self.ids + found.ids,
            self.fresh + found.fresh,
            self.known + found.known,
            self.files + found.files,
            self.skipped + found.skipped,
        )


def ingest(*, paths: Paths, system: SystemOption = False, about: About, call: Call) -> None:
    """Remember conversations and documents, each turn or paragraph a fact.

    What is known already is left as it is, so a second run stores nothing twice. Options hold for every fact whose text does
    not say otherwise.

    cofire ingest notes/ chat.json --scope team
    """
    _refuse_standard_input(paths)
    with call.memory(may_begin=True) as memory:
        taken = _take_in(memory, paths, {**about.keywords, "system": system})
        advice = memory.stats().advice
    if call.as_json:
        return show_json(asdict(taken))
    show(f"{taken.fresh:,} new, {taken.known:,} known, {counted(len(taken.files), 'file')}")
    _show_skipped(taken.skipped)
    if advice:
        note(advice)


def _refuse_standard_input(paths: Sequence[str]) -> None:
    """What a text is, and what to call it, is seen from its file."""
    if STREAM in paths:
        raise InvalidInput(
            "ingest reads files and folders, not standard input.",
            way_out="Save it to a file and give that, or keep the text as one fact with: cofire remember -",
        )


def _take_in(memory: cofire.Memory, paths: Sequence[str], keywords: dict[str, Any]) -> Taken:
    taken = Taken()
    with bar("ingesting") as advance:
        for path in paths:
            taken = taken.and_also(_ingest(memory, path, keywords, taken, advance))
    return taken


def _ingest(
    memory: cofire.Memory, path: str, keywords: dict[str, Any], before: Taken, advance: Callable[[Step], None]
) -> Ingested:
    def go_on(step: Step) -> None:
        advance(Done(len(before.ids) + step.done, None))

    try:
        return memory.ingest(path, progress=go_on, **keywords)
    except InvalidInput as error:
        if not before.files:
            raise
        raise _stopped_after(before, error) from error


def _stopped_after(taken: Taken, error: InvalidInput) -> InvalidInput:
    kept = f"The {counted(len(taken.files), 'file')} before it {'is' if len(taken.files) == 1 else 'are'} kept."
    return InvalidInput(
        f"{error.problem} {kept}",
        way_out=f"{error.way_out} A folder can be given as a whole: what cannot be read in it is passed over.",
    )


def _show_skipped(skipped: Iterable[Skipped]) -> None:
    """What was left out, a line for each reason, with a few places."""
    by_reason: dict[str, list[Skipped]] = defaultdict(list)
    for one in skipped:
        by_reason[one.reason].append(one)
    for reason, those in by_reason.items():
        places = list(dict.fromkeys(one.where for one in those))
        more = f", … {len(places) - EXAMPLES_SHOWN:,} more" if len(places) > EXAMPLES_SHOWN else ""
        show(f"{sum(one.count for one in those):,} skipped: {reason}")
        show(styled(f"{', '.join(places[:EXAMPLES_SHOWN])}{more}", "dim"), indent=4)
