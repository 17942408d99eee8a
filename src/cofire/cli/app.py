"""The table of all commands, and running one: failures become messages and exit codes."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any, TextIO

import typer

import cofire
from cofire.cli.options import JsonOption, StoreOption, expand_options, handle_group_options
from cofire.cli.terminal import show_error, show_json, show_json_error, show_text
from cofire.cli.terminal import stderr_console as standard_error
from cofire.errors import CofireError, InvalidInput, map_exceptions

CARE_PANEL = "Settings and care"

# Commands by panel, each with the module in this folder where it lives: only the one that is called is loaded.
PANELS: dict[str, dict[str, str]] = {
    "Memory": {
        "remember": "remember:remember",
        "recall": "recall:recall",
        "feedback": "graph:feedback",
        "why": "why:why",
        "ingest": "remember:ingest",
        "list": "facts:list_facts",
        "show": "facts:show_facts",
        "update": "facts:update",
        "forget": "forget:forget",
        "undo": "forget:undo",
        "pin": "facts:pin",
        "unpin": "facts:unpin",
        "archive": "facts:archive",
        "unarchive": "facts:unarchive",
        "stats": "facts:stats",
    },
    "The graph": {
        "dream": "graph:dream",
        "curate": "graph:curate",
        "connect": "graph:connect",
        "supersede": "forget:supersede",
        "edges": "graph:list_edges",
        "explore": "graph:explore",
        "graph": "picture:graph",
        "communities": "graph:communities",
    },
    "For other programs": {
        "mcp": "mcp_server:serve_mcp",
        "serve": "http_server:serve",
        "hook": "hook:hook",
    },
    CARE_PANEL: {
        "doctor": "doctor:doctor",
        "backup": "stores:backup",
        "restore": "stores:restore",
        "copy": "stores:copy",
        "reembed": "stores:reembed",
        "calibrate": "evaluation:calibrate",
        "compare": "evaluation:compare",
        "export": "stores:export",
        "import": "stores:load",
        "guide": "guide:show_guide",
        "demo": "demo:demo",
    },
}
# Commands that have commands of their own.
GROUPS: dict[str, dict[str, str]] = {
    "The graph": {"review": "forget:review_app"},
    CARE_PANEL: {"config": "config:config_app", "shadow": "evaluation:shadow_app", "bench": "evaluation:bench_app"},
}
COMMAND_NAMES = frozenset(name for panels in (PANELS, GROUPS) for commands in panels.values() for name in commands)

VersionOption = Annotated[bool, typer.Option("--version", help="Print the version.")]


def build_app(given: Sequence[str]) -> typer.Typer:
    """The program for these arguments: with the command that they call, or with all where they call none."""
    called = find_command_name(given)
    wanted = {called} if called in COMMAND_NAMES else COMMAND_NAMES
    app = typer.Typer(
        name="cofire",
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["--help", "-h"]},
        epilog="New here? Run: cofire demo",
    )
    app.callback(invoke_without_command=True)(handle_global_options)
    for panel, name, home in _list_command_targets(PANELS):
        if name in wanted:
            app.command(name, rich_help_panel=panel)(expand_options(_load_target(home)))
    for panel, name, home in _list_command_targets(GROUPS):
        if name in wanted:
            app.add_typer(_load_target(home), rich_help_panel=panel)
    return app


def find_command_name(given: Sequence[str]) -> str:
    """The first word that is none of the options for every command.

    >>> (
    ...     find_command_name(["--store", "team.db", "--json", "hook", "stop"]),
    ...     find_command_name(["--help", "recall"]),
    ...     find_command_name([]),
    ... )
    ('hook', '--help', '')
    """
    words = iter(given)
    for word in words:
        if word == "--store":
            next(words, "")
        elif word != "--json" and not word.startswith("--store="):
            return word
    return ""


def handle_global_options(
    ctx: typer.Context, version: VersionOption = False, store: StoreOption = None, as_json: JsonOption = False
) -> None:
    """Associative memory for AI agents: remember facts, recall what belongs to a question."""
    if version:
        show_json({"version": cofire.__version__}) if as_json else show_text(f"cofire {cofire.__version__}")
        raise typer.Exit
    handle_group_options(ctx, store, as_json)


def _list_command_targets(panels: dict[str, dict[str, str]]) -> Iterable[tuple[str, str, str]]:
    return ((panel, name, home) for panel, commands in panels.items() for name, home in commands.items())


def _load_target(home: str) -> Any:
    module, _, name = home.partition(":")
    return getattr(import_module(f"cofire.cli.{module}"), name)


PROGRAM_NAME = "cofire"
DEBUG_VARIABLE = "COFIRE_DEBUG"
COMPLETE_VARIABLE = "_COFIRE_COMPLETE"

EXIT_OK = 0
EXIT_PROBLEM = 1
EXIT_UNEXPECTED = 70
EXIT_INTERRUPTED = 130
EXIT_PIPE_CLOSED = 141


def run_command(given: Sequence[str]) -> int:
    """Run one command and return its exit code. To a coding agent one that is not 0 may mean that it must not go on."""
    _make_output_tolerant()
    code = _run_to_exit_code(given)
    return EXIT_OK if _is_hook_command(given) else code


def _run_to_exit_code(given: Sequence[str]) -> int:
    try:
        return _invoke_command(given)
    except BrokenPipeError:
        return _discard_output(EXIT_PIPE_CLOSED)
    except (KeyboardInterrupt, typer.Abort):
        return _report_interrupt()
    except typer.TyperException as error:
        return _report_failure(
            given, "UsageError", error.format_message(), _format_usage_hint(error), code=error.exit_code
        )
    except CofireError as error:
        return _report_failure(given, type(error).__name__, error.problem, error.way_out, code=error.exit_code)
    except OSError as error:
        _discard_output(EXIT_PROBLEM)
        way_out = "Check the place it names, and the space left there."
        return _report_failure(given, type(error).__name__, f"The system refused: {error}.", way_out)
    except Exception as error:  # noqa: BLE001 - nothing may end in a traceback unless it was asked for
        return _report_unexpected_error(given, error)


def _invoke_command(given: Sequence[str]) -> int:
    if COMPLETE_VARIABLE in os.environ:
        whole = typer.main.get_command(build_app([]))
        whole.main(list(given), prog_name=PROGRAM_NAME, complete_var=COMPLETE_VARIABLE)
    command = typer.main.get_command(build_app(given))
    _refuse_undecodable_arguments(given)
    try:
        with command.make_context(PROGRAM_NAME, list(given)) as context:
            command.invoke(context)
        code = EXIT_OK
    except typer.Exit as end:
        code = end.exit_code
    sys.stdout.flush()
    return code


def _refuse_undecodable_arguments(given: Sequence[str]) -> None:
    """Bytes that are no UTF-8 reach Python as halves of characters, which nothing behind here could write down."""
    for argument in given:
        with map_exceptions(
            {UnicodeEncodeError: InvalidInput},
            problem=f"The argument {argument!r} is not text in UTF-8.",
            way_out="Check the encoding of your terminal or script.",
        ):
            argument.encode("utf-8")


def _report_failure(given: Sequence[str], kind: str, problem: str, way_out: str, *, code: int = EXIT_PROBLEM) -> int:
    """Say what went wrong, in the manner that was asked for; the code says it too, where no word can be written."""
    with suppress(OSError):
        if "--json" in given:
            show_json_error(kind, problem, way_out)
        else:
            show_error(problem, way_out)
    return code


def _report_unexpected_error(given: Sequence[str], error: Exception) -> int:
    if os.environ.get(DEBUG_VARIABLE):
        raise error
    said = " ".join(str(error).split())
    _report_failure(
        given,
        "Unexpected",
        f"cofire failed in a way it should not: {type(error).__name__}: {said}",
        f"Please report it, with the traceback that {DEBUG_VARIABLE}=1 in the environment shows.",
    )
    return EXIT_UNEXPECTED


def _is_hook_command(given: Sequence[str]) -> bool:
    """Whether a coding agent calls.

    >>> _is_hook_command(["--store", "team.db", "--wrong", "hook", "stop"]), _is_hook_command(["remember", "hook"])
    (True, False)
    """
    return find_command_name([word for word in given if word == "--store" or not word.startswith("-")]) == "hook"


def _format_usage_hint(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    return f"See: {context.command_path if context else PROGRAM_NAME} --help"


def _report_interrupt() -> int:
    show_text("Stopped.", console=standard_error())
    return EXIT_INTERRUPTED


def _discard_output(code: int) -> int:
    """Nobody reads any more: what is still to be written goes nowhere, so that the interpreter can end in peace."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _make_output_tolerant() -> None:
    """Letters that the output cannot carry are spelled out, and a closed output swallows them all."""
    sys.stdout, sys.stderr = sys.stdout or _open_null_device(), sys.stderr or _open_null_device()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _open_null_device() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")
