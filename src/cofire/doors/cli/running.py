"""Running a command: each end becomes an exit code, and a failure words, never a traceback."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TextIO

import typer

from cofire.doors.cli.app import called_by, program
from cofire.doors.cli.screen import complain, complain_in_json, show
from cofire.doors.cli.screen import err as standard_error
from cofire.errors import CofireError, InvalidInput, map_exceptions

PROGRAM = "cofire"
DEBUG_VARIABLE = "COFIRE_DEBUG"
COMPLETE_VARIABLE = "_COFIRE_COMPLETE"

OK = 0
PROBLEM = 1
UNEXPECTED = 70
STOPPED = 130
PIPE_CLOSED = 141


def run(given: Sequence[str]) -> int:
    """Run one command and return its exit code. To a coding agent one that is not 0 may mean that it must not go on."""
    _be_able_to_write_anything()
    code = _ended(given)
    return OK if _is_hook(given) else code


def _ended(given: Sequence[str]) -> int:
    try:
        return _run(given)
    except BrokenPipeError:
        return _end_of_output(PIPE_CLOSED)
    except (KeyboardInterrupt, typer.Abort):
        return _stopped()
    except typer.TyperException as error:
        return _fail(given, "UsageError", error.format_message(), _usage(error), code=error.exit_code)
    except CofireError as error:
        return _fail(given, type(error).__name__, error.problem, error.way_out, code=error.exit_code)
    except OSError as error:
        _end_of_output(PROBLEM)
        way_out = "Check the place it names, and the space left there."
        return _fail(given, type(error).__name__, f"The system refused: {error}.", way_out)
    except Exception as error:  # noqa: BLE001 - nothing may end in a traceback unless it was asked for
        return _unexpected(given, error)


def _run(given: Sequence[str]) -> int:
    if COMPLETE_VARIABLE in os.environ:
        whole = typer.main.get_command(program([]))
        whole.main(list(given), prog_name=PROGRAM, complete_var=COMPLETE_VARIABLE)
    command = typer.main.get_command(program(given))
    _refuse_what_is_no_text(given)
    try:
        with command.make_context(PROGRAM, list(given)) as context:
            command.invoke(context)
        code = OK
    except typer.Exit as end:
        code = end.exit_code
    sys.stdout.flush()
    return code


def _refuse_what_is_no_text(given: Sequence[str]) -> None:
    """Bytes that are no UTF-8 reach Python as halves of characters, which nothing behind here could write down."""
    for argument in given:
        with map_exceptions(
            {UnicodeEncodeError: InvalidInput},
            problem=f"The argument {argument!r} is not text in UTF-8.",
            way_out="Check the encoding of your terminal or script.",
        ):
            argument.encode("utf-8")


def _fail(given: Sequence[str], kind: str, problem: str, way_out: str, *, code: int = PROBLEM) -> int:
    """Say what went wrong, in the manner that was asked for; the code says it too, where no word can be written."""
    with suppress(OSError):
        if "--json" in given:
            complain_in_json(kind, problem, way_out)
        else:
            complain(problem, way_out)
    return code


def _unexpected(given: Sequence[str], error: Exception) -> int:
    if os.environ.get(DEBUG_VARIABLE):
        raise error
    said = " ".join(str(error).split())
    _fail(
        given,
        "Unexpected",
        f"cofire failed in a way it should not: {type(error).__name__}: {said}",
        f"Please report it, with the traceback that {DEBUG_VARIABLE}=1 in the environment shows.",
    )
    return UNEXPECTED


def _is_hook(given: Sequence[str]) -> bool:
    """Whether a coding agent calls.

    >>> _is_hook(["--store", "team.db", "--wrong", "hook", "stop"]), _is_hook(["remember", "hook"])
    (True, False)
    """
    return called_by([word for word in given if word == "--store" or not word.startswith("-")]) == "hook"


def _usage(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    return f"See: {context.command_path if context else PROGRAM} --help"


def _stopped() -> int:
    show("Stopped.", console=standard_error())
    return STOPPED


def _end_of_output(code: int) -> int:
    """Nobody reads any more: what is still to be written goes nowhere, so that the interpreter can end in peace."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _be_able_to_write_anything() -> None:
    """Letters that the output cannot carry are spelled out, and a closed output swallows them all."""
    sys.stdout, sys.stderr = sys.stdout or _nowhere(), sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")
