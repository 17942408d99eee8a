"""The screen: what is written to standard output and standard error, for people and for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from rich.console import Console
from rich.text import Text

WIDEST = 100

_PICTURES = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"} | {127: "\u2421"}
_PICTURES |= dict.fromkeys(range(0x80, 0xA0), "\ufffd")


class Step(Protocol):
    """How far a piece of work has come."""

    @property
    def done(self) -> int: ...
    @property
    def total(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class Done:
    """How many items are done, and the total if it is known."""

    done: int
    total: int | None


class _Screen(Console):
    """A console that lets a closed pipe be seen by whoever ends the program."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def out() -> Console:
    """Standard output, as it is now."""
    return _Screen(highlight=False, markup=False, emoji=False)


def err() -> Console:
    """Standard error, as it is now."""
    return _Screen(stderr=True, highlight=False, markup=False, emoji=False)


def harmless(text: str) -> str:
    """Text that cannot steer the terminal: control characters become their pictures, line ends and tabs stay.

    >>> harmless("a\\x1b[2Jb")
    'a␛[2Jb'
    """
    return text.replace("\r\n", "\n").translate(_PICTURES)


def styled(text: object, style: str = "") -> Text:
    """A piece of a line, made harmless."""
    return Text(harmless(str(text)), style)


def show(line: Text | str = "", *, lead: Text | None = None, indent: int = 0, console: Console | None = None) -> None:
    """Print a text beside its lead; on a terminal its lines are wrapped to fit, in a pipe they stay whole."""
    console = console or out()
    text = styled(line) if isinstance(line, str) else line
    first = Text().append_text(lead) if lead else Text()
    first.pad_right(indent - first.cell_len)
    if not console.is_terminal:
        console.file.write(_whole(first, text, " " * indent))
        return
    lines = text.wrap(console, max(20, min(console.width, WIDEST) - indent)) or [Text()]
    for place, each in enumerate(lines):
        each.rstrip()
        console.print((Text(" " * indent) if place else first).append_text(each), soft_wrap=True)


def _whole(first: Text, text: Text, margin: str) -> str:
    lines = f"{first.plain}{text.plain}".split("\n")
    return "".join(f"{margin if place else ''}{line}".rstrip() + "\n" for place, line in enumerate(lines))


def show_json(value: Any) -> None:
    """Print a value for programs, in letters that the output can carry."""
    plain = "utf" not in (sys.stdout.encoding or "").lower()
    sys.stdout.write(json.dumps(value, ensure_ascii=plain, indent=2) + "\n")


def note(text: str) -> None:
    """A word to whoever watches; nothing where nobody does."""
    console = err()
    if console.is_terminal:
        show(styled(text, "dim"), console=console)


def warn(text: str) -> None:
    """Something that should be known, even where nobody watches."""
    show(Text.assemble(("warning: ", "bold yellow"), styled(text)), console=err())


def complain(problem: str, way_out: str) -> None:
    """What went wrong, and under it what to do."""
    console = err()
    show(Text.assemble(("error: ", "bold red"), styled(problem)), console=console)
    show(styled(way_out), console=console)


def complain_in_json(kind: str, problem: str, way_out: str) -> None:
    """The same for programs."""
    said = {"error": {"kind": kind, "problem": problem, "way_out": way_out}}
    sys.stderr.write(json.dumps(said, ensure_ascii=True) + "\n")


@contextmanager
def bar(doing: str, total: int | None = None) -> Iterator[Callable[[Step], None]]:
    """A progress bar on standard error while some work goes on; nothing is drawn where it is not a terminal."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    console = err()
    count = TextColumn("{task.fields[count]}")
    columns = (SpinnerColumn(), TextColumn(doing), BarColumn(), count, TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(doing, total=total, count="")

        def advance(step: Step) -> None:
            progress.update(task, completed=step.done, total=step.total, count=_count(step))

        yield advance


def _count(step: Step) -> str:
    """The number of items done, and of how many if that is known.

    >>> _count(Done(1_251, None)), _count(Done(251, 300))
    ('1,251', '251/300')
    """
    return f"{step.done:,}" if step.total is None else f"{step.done:,}/{step.total:,}"
