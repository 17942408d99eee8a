"""Terminal output: text, JSON, notes, warnings, errors and progress bars."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from rich.console import Console
from rich.text import Text

MAX_WIDTH = 100

_CONTROL_PICTURES = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"} | {127: "\u2421"}
_CONTROL_PICTURES |= dict.fromkeys(range(0x80, 0xA0), "\ufffd")


class ProgressStep(Protocol):
    """How far a piece of work has come."""

    @property
    def done(self) -> int: ...
    @property
    def total(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class ProgressCount:
    """How many items are done, and the total if it is known."""

    done: int
    total: int | None


class _PipeAwareConsole(Console):
    """A console that lets a closed pipe be seen by whoever ends the program."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def stdout_console() -> Console:
    """Standard output, as it is now."""
    return _PipeAwareConsole(highlight=False, markup=False, emoji=False)


def stderr_console() -> Console:
    """Standard error, as it is now."""
    return _PipeAwareConsole(stderr=True, highlight=False, markup=False, emoji=False)


def escape_controls(text: str) -> str:
    """Text that cannot steer the terminal: control characters become their pictures, line ends and tabs stay.

    >>> escape_controls("a\\x1b[2Jb")
    'a␛[2Jb'
    """
    return text.replace("\r\n", "\n").translate(_CONTROL_PICTURES)


def styled_text(text: object, style: str = "") -> Text:
    """A piece of a line, made harmless."""
    return Text(escape_controls(str(text)), style)


def show_text(
    line: Text | str = "", *, lead: Text | None = None, indent: int = 0, console: Console | None = None
) -> None:
    """Print a text beside its lead; on a terminal its lines are wrapped to fit, in a pipe they stay whole."""
    console = console or stdout_console()
    text = styled_text(line) if isinstance(line, str) else line
    first = Text().append_text(lead) if lead else Text()
    first.pad_right(indent - first.cell_len)
    if not console.is_terminal:
        console.file.write(_format_unwrapped(first, text, " " * indent))
        return
    lines = text.wrap(console, max(20, min(console.width, MAX_WIDTH) - indent)) or [Text()]
    for place, each in enumerate(lines):
        each.rstrip()
        console.print((Text(" " * indent) if place else first).append_text(each), soft_wrap=True)


def _format_unwrapped(first: Text, text: Text, margin: str) -> str:
    lines = f"{first.plain}{text.plain}".split("\n")
    return "".join(f"{margin if place else ''}{line}".rstrip() + "\n" for place, line in enumerate(lines))


def show_json(value: Any) -> None:
    """Print a value for programs, in letters that the output can carry."""
    plain = "utf" not in (sys.stdout.encoding or "").lower()
    sys.stdout.write(json.dumps(value, ensure_ascii=plain, indent=2) + "\n")


def show_note(text: str) -> None:
    """A word to whoever watches; nothing where nobody does."""
    console = stderr_console()
    if console.is_terminal:
        show_text(styled_text(text, "dim"), console=console)


def show_warning(text: str) -> None:
    """Something that should be known, even where nobody watches."""
    show_text(Text.assemble(("warning: ", "bold yellow"), styled_text(text)), console=stderr_console())


def show_error(problem: str, way_out: str) -> None:
    """What went wrong, and under it what to do."""
    console = stderr_console()
    show_text(Text.assemble(("error: ", "bold red"), styled_text(problem)), console=console)
    show_text(styled_text(way_out), console=console)


def show_json_error(kind: str, problem: str, way_out: str) -> None:
    """The same for programs."""
    said = {"error": {"kind": kind, "problem": problem, "way_out": way_out}}
    sys.stderr.write(json.dumps(said, ensure_ascii=True) + "\n")


@contextmanager
def progress_bar(doing: str, total: int | None = None) -> Iterator[Callable[[ProgressStep], None]]:
    """A progress bar on standard error while some work goes on; nothing is drawn where it is not a terminal."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    console = stderr_console()
    count = TextColumn("{task.fields[count]}")
    columns = (SpinnerColumn(), TextColumn(doing), BarColumn(), count, TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(doing, total=total, count="")

        def advance(step: ProgressStep) -> None:
            progress.update(task, completed=step.done, total=step.total, count=_format_count(step))

        yield advance


def _format_count(step: ProgressStep) -> str:
    """The number of items done, and of how many if that is known.

    >>> _format_count(ProgressCount(1_251, None)), _format_count(ProgressCount(251, 300))
    ('1,251', '251/300')
    """
    return f"{step.done:,}" if step.total is None else f"{step.done:,}/{step.total:,}"
