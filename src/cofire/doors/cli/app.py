"""The command line as a whole: which commands there are, where each lives, and what may be said before them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

import cofire
from cofire.doors.cli.calling import JsonOption, StoreOption, begin_group, spread
from cofire.doors.cli.screen import show, show_json

CARE = "Settings and care"

# Commands by panel, each with the module in this folder where it lives: only the one that is called is loaded.
PANELS: dict[str, dict[str, str]] = {
    "Memory": {
        "remember": "remembering:remember",
        "recall": "recalling:recall",
        "feedback": "learning:feedback",
        "why": "explaining:why",
        "ingest": "ingesting:ingest",
        "list": "listing:list_facts",
        "show": "portraying:show_facts",
        "update": "updating:update",
        "forget": "forgetting:forget",
        "undo": "forgetting:undo",
        "pin": "pinning:pin",
        "unpin": "pinning:unpin",
        "archive": "pinning:archive",
        "unarchive": "pinning:unarchive",
        "stats": "listing:stats",
    },
    "The graph": {
        "dream": "dreaming:dream",
        "curate": "curating:curate",
        "connect": "connecting:connect",
        "supersede": "reviewing:supersede",
        "edges": "connecting:list_edges",
        "explore": "exploring:explore",
        "graph": "picturing:graph",
        "communities": "learning:communities",
    },
    "For other programs": {
        "mcp": "serving_mcp:serve_mcp",
        "serve": "serving:serve",
        "hook": "hooking:hook",
    },
    CARE: {
        "doctor": "doctor:doctor",
        "backup": "tending:backup",
        "restore": "tending:restore",
        "copy": "copying:copy",
        "reembed": "tending:reembed",
        "calibrate": "calibrating:calibrate",
        "compare": "comparing:compare",
        "export": "moving:export",
        "import": "moving:load",
        "guide": "guiding:show_guide",
        "demo": "demo:demo",
    },
}
# Commands that have commands of their own.
GROUPS: dict[str, dict[str, str]] = {
    "The graph": {"review": "reviewing:app"},
    CARE: {"config": "configuring:app", "shadow": "shadowing:app", "bench": "benching:app"},
}
EVERY_COMMAND = frozenset(name for panels in (PANELS, GROUPS) for commands in panels.values() for name in commands)

Version = Annotated[bool, typer.Option("--version", help="Print the version.")]


def program(given: Sequence[str]) -> typer.Typer:
    """The program for these arguments: with the command that they call, or with all where they call none."""
    called = called_by(given)
    wanted = {called} if called in EVERY_COMMAND else EVERY_COMMAND
    app = typer.Typer(
        name="cofire",
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["--help", "-h"]},
        epilog="New here? Run: cofire demo",
    )
    app.callback(invoke_without_command=True)(begin)
    for panel, name, home in _homes(PANELS):
        if name in wanted:
            app.command(name, rich_help_panel=panel)(spread(_loaded(home)))
    for panel, name, home in _homes(GROUPS):
        if name in wanted:
            app.add_typer(_loaded(home), rich_help_panel=panel)
    return app


def called_by(given: Sequence[str]) -> str:
    """The first word that is none of the options for every command.

    >>> called_by(["--store", "team.db", "--json", "hook", "stop"]), called_by(["--help", "recall"]), called_by([])
    ('hook', '--help', '')
    """
    words = iter(given)
    for word in words:
        if word == "--store":
            next(words, "")
        elif word != "--json" and not word.startswith("--store="):
            return word
    return ""


def begin(ctx: typer.Context, version: Version = False, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Associative memory for AI agents: remember facts, recall what belongs to a question."""
    if version:
        show_json({"version": cofire.__version__}) if as_json else show(f"cofire {cofire.__version__}")
        raise typer.Exit
    begin_group(ctx, store, as_json)


def _homes(panels: dict[str, dict[str, str]]) -> Iterable[tuple[str, str, str]]:
    return ((panel, name, home) for panel, commands in panels.items() for name, home in commands.items())


def _loaded(home: str) -> Any:
    module, _, name = home.partition(":")
    return getattr(import_module(f"cofire.doors.cli.{module}"), name)
