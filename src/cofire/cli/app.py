"""The table of all commands; runs one and turns errors into messages and exit codes."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any, TextIO

import typer

import cofire
from cofire.cli.options import JsonOption, StoreOption, expand_options, handle_group_options
from cofire.cli.terminal import show_error, show_json, show_json_error, show_text, stderr_console
from cofire.errors import CofireError, InvalidInput, map_exceptions

MAINTENANCE_PANEL = "Settings and maintenance"

# Commands by help panel, with their function in this folder. Only the module of the called command is loaded.
PANELS: dict[str, dict[str, str]] = {
    "Memory": {
        "remember": "remember:remember",
        "recall": "recall:recall",
        "feedback": "graph:feedback",
        "why": "recall:why",
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
    "Graph": {
        "dream": "graph:dream",
        "curate": "graph:curate",
        "connect": "graph:connect",
        "supersede": "forget:supersede",
        "edges": "graph:list_edges",
        "explore": "graph:explore",
        "graph": "picture:graph",
        "communities": "graph:communities",
    },
    "Integrations": {
        "mcp": "servers:serve_mcp",
        "serve": "servers:serve",
        "hook": "hook:hook",
    },
    MAINTENANCE_PANEL: {
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
# Commands with subcommands.
GROUPS: dict[str, dict[str, str]] = {
    "Graph": {"review": "forget:review_app"},
    MAINTENANCE_PANEL: {
        "config": "config:config_app",
        "shadow": "evaluation:shadow_app",
        "bench": "evaluation:bench_app",
    },
}
COMMAND_NAMES = frozenset(name for panels in (PANELS, GROUPS) for commands in panels.values() for name in commands)

VersionOption = Annotated[bool, typer.Option("--version", help="Print the version and exit.")]


def build_app(arguments: Sequence[str]) -> typer.Typer:
    """The program with the command that the arguments call, or with all commands."""
    called = find_command_name(arguments)
    loaded = {called} if called in COMMAND_NAMES else COMMAND_NAMES
    app = typer.Typer(
        name="cofire",
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["--help", "-h"]},
        epilog="New here? Run: cofire demo",
    )
    app.callback(invoke_without_command=True)(handle_global_options)
    for panel, commands in PANELS.items():
        for name, target in commands.items():
            if name in loaded:
                app.command(name, rich_help_panel=panel)(expand_options(_load_target(target)))
    for panel, groups in GROUPS.items():
        for name, target in groups.items():
            if name in loaded:
                app.add_typer(_load_target(target), rich_help_panel=panel)
    return app


def find_command_name(arguments: Sequence[str]) -> str:
    """The first argument that is not a global option or its value.

    >>> find_command_name(["--store", "team.db", "--json", "hook", "stop"])
    'hook'
    >>> find_command_name(["--help", "recall"]), find_command_name([])
    ('--help', '')
    """
    words = iter(arguments)
    for word in words:
        if word == "--store":
            next(words, "")
        elif word != "--json" and not word.startswith("--store="):
            return word
    return ""


def handle_global_options(
    ctx: typer.Context, version: VersionOption = False, store: StoreOption = None, as_json: JsonOption = False
) -> None:
    """Associative memory for AI agents: store facts and recall those that answer a question."""
    if version:
        show_json({"version": cofire.__version__}) if as_json else show_text(f"cofire {cofire.__version__}")
        raise typer.Exit
    handle_group_options(ctx, store, as_json)


def _load_target(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(import_module(f"cofire.cli.{module}"), name)


PROGRAM_NAME = "cofire"
DEBUG_VARIABLE = "COFIRE_DEBUG"
COMPLETE_VARIABLE = "_COFIRE_COMPLETE"

EXIT_OK = 0
EXIT_PROBLEM = 1
EXIT_UNEXPECTED = 70
EXIT_INTERRUPTED = 130
EXIT_PIPE_CLOSED = 141


def run_command(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. Hooks always return 0: other codes can stop a coding agent."""
    _make_output_tolerant()
    code = _run_to_exit_code(arguments)
    return EXIT_OK if _is_hook_command(arguments) else code


def _run_to_exit_code(arguments: Sequence[str]) -> int:
    try:
        return _invoke_command(arguments)
    except BrokenPipeError:
        return _discard_output(EXIT_PIPE_CLOSED)
    except (KeyboardInterrupt, typer.Abort):
        show_text("Interrupted.", console=stderr_console())
        return EXIT_INTERRUPTED
    except typer.TyperException as error:
        hint = _format_usage_hint(error)
        return _report_failure(arguments, "UsageError", error.format_message(), hint, code=error.exit_code)
    except CofireError as error:
        return _report_failure(arguments, type(error).__name__, error.problem, error.way_out, code=error.exit_code)
    except OSError as error:
        _discard_output(EXIT_PROBLEM)
        way_out = "Check the path in the message and the free disk space."
        return _report_failure(arguments, type(error).__name__, f"Operating system error: {error}.", way_out)
    except Exception as error:  # noqa: BLE001 - tracebacks are shown on request only
        return _report_unexpected_error(arguments, error)


def _invoke_command(arguments: Sequence[str]) -> int:
    if COMPLETE_VARIABLE in os.environ:
        every_command = typer.main.get_command(build_app([]))
        every_command.main(list(arguments), prog_name=PROGRAM_NAME, complete_var=COMPLETE_VARIABLE)
    command = typer.main.get_command(build_app(arguments))
    _refuse_undecodable_arguments(arguments)
    try:
        with command.make_context(PROGRAM_NAME, list(arguments)) as context:
            command.invoke(context)
        code = EXIT_OK
    except typer.Exit as end:
        code = end.exit_code
    sys.stdout.flush()
    return code


def _refuse_undecodable_arguments(arguments: Sequence[str]) -> None:
    """Reject bytes that are not UTF-8. Python passes them on as surrogates, which cannot be written to a store."""
    for argument in arguments:
        with map_exceptions(
            {UnicodeEncodeError: InvalidInput},
            problem=f"The argument {argument!r} is not UTF-8 text.",
            way_out="Check the encoding of your terminal or script.",
        ):
            argument.encode("utf-8")


def _report_failure(
    arguments: Sequence[str], kind: str, problem: str, way_out: str, *, code: int = EXIT_PROBLEM
) -> int:
    """Print an error as text or JSON and return the exit code, also if standard error is closed."""
    with suppress(OSError):
        if "--json" in arguments:
            show_json_error(kind, problem, way_out)
        else:
            show_error(problem, way_out)
    return code


def _report_unexpected_error(arguments: Sequence[str], error: Exception) -> int:
    if os.environ.get(DEBUG_VARIABLE):
        raise error
    message = " ".join(str(error).split())
    problem = f"Unexpected error: {type(error).__name__}: {message}"
    way_out = f"Please report it with the traceback, which {DEBUG_VARIABLE}=1 in the environment shows."
    _report_failure(arguments, "Unexpected", problem, way_out)
    return EXIT_UNEXPECTED


def _is_hook_command(arguments: Sequence[str]) -> bool:
    """Whether the arguments call `hook`, even with options that do not exist.

    >>> _is_hook_command(["--store", "team.db", "--wrong", "hook", "stop"])
    True
    >>> _is_hook_command(["remember", "hook"])
    False
    """
    words = [word for word in arguments if word == "--store" or not word.startswith("-")]
    return find_command_name(words) == "hook"


def _format_usage_hint(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    return f"See: {context.command_path if context else PROGRAM_NAME} --help"


def _discard_output(code: int) -> int:
    """Send remaining output to the null device, so that the interpreter can exit without another error."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _make_output_tolerant() -> None:
    """Escape characters that the output encoding lacks, and replace closed streams by the null device."""
    sys.stdout = sys.stdout or _open_null_device()
    sys.stderr = sys.stderr or _open_null_device()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _open_null_device() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")
