"""Terminal input and output: text, JSON, messages, progress bars, and input files line by line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console
from rich.text import Text

from cofire.errors import InvalidFact, InvalidInput, decode_utf8, map_exceptions
from cofire.interfaces.plain_text import escape_controls

MAX_WIDTH = 100

JSON_LINES_SUFFIXES = (".jsonl", ".ndjson")
STREAM_PATH = "-"
TYPING_HINT = "Type the text; end with Ctrl-D on a line of its own."
_INPUT_NAME = "The input"
_LINE_EXAMPLE = 'A line is an object such as {"text": "Tea at four."}'


class ProgressStep(Protocol):
    """Progress of a long operation."""

    @property
    def done(self) -> int: ...
    @property
    def total(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class ProgressCount:
    """The number of items done, and the total if it is known."""

    done: int
    total: int | None


class _PipeAwareConsole(Console):
    """A console that raises BrokenPipeError, so that the program can end with the right exit code."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def stdout_console() -> Console:
    """A console on the current standard output."""
    return _PipeAwareConsole(highlight=False, markup=False, emoji=False)


def stderr_console() -> Console:
    """A console on the current standard error."""
    return _PipeAwareConsole(stderr=True, highlight=False, markup=False, emoji=False)


def styled_text(text: object, style: str = "") -> Text:
    """Text in a style, with control characters escaped."""
    return Text(escape_controls(str(text)), style)


def show_text(
    line: Text | str = "", *, lead: Text | None = None, indent: int = 0, console: Console | None = None
) -> None:
    """Print text beside its lead. A terminal wraps long lines at the indent; a pipe gets them whole."""
    console = console or stdout_console()
    text = styled_text(line) if isinstance(line, str) else line
    first = Text().append_text(lead) if lead else Text()
    first.pad_right(indent - first.cell_len)
    if not console.is_terminal:
        console.file.write(_format_unwrapped(first, text, " " * indent))
        return
    width = max(20, min(console.width, MAX_WIDTH) - indent)
    for number, wrapped in enumerate(text.wrap(console, width) or [Text()]):
        wrapped.rstrip()
        start = Text(" " * indent) if number else first
        console.print(start.append_text(wrapped), soft_wrap=True)


def _format_unwrapped(first: Text, text: Text, margin: str) -> str:
    lines = f"{first.plain}{text.plain}".split("\n")
    indented = [f"{margin if number else ''}{line}".rstrip() for number, line in enumerate(lines)]
    return "".join(line + "\n" for line in indented)


def show_json(value: Any) -> None:
    """Print a value as JSON, in ASCII if the output encoding is not Unicode."""
    ascii_only = "utf" not in (sys.stdout.encoding or "").lower()
    sys.stdout.write(json.dumps(value, ensure_ascii=ascii_only, indent=2) + "\n")


def show_note(text: str) -> None:
    """Print a hint to standard error if it is a terminal."""
    console = stderr_console()
    if console.is_terminal:
        show_text(styled_text(text, "dim"), console=console)


def show_warning(text: str) -> None:
    """Print a warning to standard error."""
    message = Text.assemble(("warning: ", "bold yellow"), styled_text(text))
    show_text(message, console=stderr_console())


def show_error(problem: str, way_out: str) -> None:
    """Print an error and its way out to standard error."""
    console = stderr_console()
    show_text(Text.assemble(("error: ", "bold red"), styled_text(problem)), console=console)
    show_text(styled_text(way_out), console=console)


def show_json_error(kind: str, problem: str, way_out: str) -> None:
    """Print an error as JSON to standard error."""
    error = {"error": {"kind": kind, "problem": problem, "way_out": way_out}}
    sys.stderr.write(json.dumps(error, ensure_ascii=True) + "\n")


@contextmanager
def progress_bar(label: str, total: int | None = None) -> Iterator[Callable[[ProgressStep], None]]:
    """A progress bar on standard error; not drawn unless that is a terminal."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    console = stderr_console()
    count = TextColumn("{task.fields[count]}")
    columns = (SpinnerColumn(), TextColumn(label), BarColumn(), count, TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(label, total=total, count="")

        def advance(step: ProgressStep) -> None:
            progress.update(task, completed=step.done, total=step.total, count=_format_count(step))

        yield advance


def _format_count(step: ProgressStep) -> str:
    """The number of items done, with the total if it is known.

    >>> _format_count(ProgressCount(1_251, None)), _format_count(ProgressCount(251, 300))
    ('1,251', '251/300')
    """
    return f"{step.done:,}" if step.total is None else f"{step.done:,}/{step.total:,}"


@dataclass(frozen=True, slots=True)
class InputLine:
    """One non-blank line of an input file, undecoded."""

    number: int
    origin: str
    raw: bytes
    as_json: bool

    def parse(self) -> str | dict[str, Any]:
        """The line as text, or as the fields of a fact."""
        text = decode_utf8(self.raw, _INPUT_NAME, InvalidFact).strip()
        return _parse_json_line(text) if self.as_json else text


def read_standard_input() -> str:
    """All of standard input as one text, without its last line end."""
    text = decode_utf8(read_input_bytes(TYPING_HINT), _INPUT_NAME, InvalidFact)
    return text.removesuffix("\n").removesuffix("\r")


def is_stream(path: Path) -> bool:
    """Whether the path stands for standard input or output."""
    return str(path) == STREAM_PATH


def describe_origin(path: Path) -> str:
    """The name of the input for messages."""
    return "standard input" if is_stream(path) else str(path)


def read_lines(path: Path, *, as_json: bool) -> list[InputLine]:
    """The non-blank lines of a file or of standard input."""
    if path.suffix.lower() == ".json" and not as_json:
        raise InvalidInput(
            f"{path} is one JSON document; --file expects one fact per line.",
            way_out="Write one object per line to a .jsonl file, or add --jsonl if the file has that "
            "form. For chats: cofire ingest FILE",
        )
    raw = read_input_bytes(TYPING_HINT) if is_stream(path) else _read_file(path)
    lines_are_json = as_json or path.suffix.lower() in JSON_LINES_SUFFIXES
    origin = describe_origin(path)
    return [
        InputLine(number, origin, line, lines_are_json)
        for number, line in enumerate(raw.split(b"\n"), start=1)
        if line.strip()
    ]


def refuse_unreadable_file(path: Path) -> None:
    """Raise if the file cannot be read, before a store is created for its contents."""
    with _translate_read_errors(path), path.open("rb"):
        pass


def read_input_bytes(hint: str) -> bytes:
    """All of standard input; empty if it is closed. Shows the hint if it is a terminal."""
    if sys.stdin is None:
        return b""
    if sys.stdin.isatty():
        show_note(hint)
    return sys.stdin.buffer.read()


def _read_file(path: Path) -> bytes:
    with _translate_read_errors(path):
        return path.read_bytes()


def _translate_read_errors(path: Path) -> AbstractContextManager[None]:
    return map_exceptions(
        {OSError: InvalidInput, ValueError: InvalidInput},
        problem=f"The file {path} cannot be read: {{error}}.",
        way_out="Check the file name and the permissions.",
    )


def _parse_json_line(text: str) -> str | dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidFact(f"Invalid JSON: {error}.", way_out=_LINE_EXAMPLE) from error
    if not isinstance(value, str | dict):
        raise InvalidFact(f"A fact cannot be a JSON {type(value).__name__}.", way_out=_LINE_EXAMPLE)
    return value
