"""The command line as a whole: which commands there are, and what may be said before them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

import cofire
from cofire.doors.cli import benching, configuring, reviewing, shadowing
from cofire.doors.cli.calibrating import calibrate
from cofire.doors.cli.calling import JsonOption, StoreOption, begin_group, spread
from cofire.doors.cli.comparing import compare
from cofire.doors.cli.connecting import connect, list_edges
from cofire.doors.cli.copying import copy
from cofire.doors.cli.curating import curate
from cofire.doors.cli.demo import demo
from cofire.doors.cli.doctor import doctor
from cofire.doors.cli.dreaming import dream
from cofire.doors.cli.explaining import why
from cofire.doors.cli.exploring import explore
from cofire.doors.cli.forgetting import forget, undo
from cofire.doors.cli.guiding import show_guide
from cofire.doors.cli.hooking import hook
from cofire.doors.cli.ingesting import ingest
from cofire.doors.cli.learning import communities, feedback
from cofire.doors.cli.listing import list_facts, stats
from cofire.doors.cli.moving import export, load
from cofire.doors.cli.picturing import graph
from cofire.doors.cli.pinning import archive, pin, unarchive, unpin
from cofire.doors.cli.portraying import show_facts
from cofire.doors.cli.recalling import recall
from cofire.doors.cli.remembering import remember
from cofire.doors.cli.reviewing import supersede
from cofire.doors.cli.screen import show, show_json
from cofire.doors.cli.serving import serve
from cofire.doors.cli.serving_mcp import serve_mcp
from cofire.doors.cli.tending import backup, reembed, restore
from cofire.doors.cli.updating import update

CARE = "Settings and care"

app = typer.Typer(
    name="cofire",
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
    epilog="New here? Run: cofire demo",
)

PANELS: dict[str, dict[str, Callable[..., None]]] = {
    "Memory": {
        "remember": remember,
        "recall": recall,
        "feedback": feedback,
        "why": why,
        "ingest": ingest,
        "list": list_facts,
        "show": show_facts,
        "update": update,
        "forget": forget,
        "undo": undo,
        "pin": pin,
        "unpin": unpin,
        "archive": archive,
        "unarchive": unarchive,
        "stats": stats,
    },
    "The graph": {
        "dream": dream,
        "curate": curate,
        "connect": connect,
        "supersede": supersede,
        "edges": list_edges,
        "explore": explore,
        "graph": graph,
        "communities": communities,
    },
    "For other programs": {
        "mcp": serve_mcp,
        "serve": serve,
        "hook": hook,
    },
    CARE: {
        "doctor": doctor,
        "backup": backup,
        "restore": restore,
        "copy": copy,
        "reembed": reembed,
        "calibrate": calibrate,
        "compare": compare,
        "export": export,
        "import": load,
        "guide": show_guide,
        "demo": demo,
    },
}

for panel, commands in PANELS.items():
    for name, command in commands.items():
        app.command(name, rich_help_panel=panel)(spread(command))
app.add_typer(reviewing.app, rich_help_panel="The graph")
app.add_typer(configuring.app, rich_help_panel=CARE)
app.add_typer(shadowing.app, rich_help_panel=CARE)
app.add_typer(benching.app, rich_help_panel=CARE)

Version = Annotated[bool, typer.Option("--version", help="Print the version.")]


@app.callback(invoke_without_command=True)
def begin(ctx: typer.Context, version: Version = False, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Associative memory for AI agents: remember facts, recall what belongs to a question."""
    if version:
        show_json({"version": cofire.__version__}) if as_json else show(f"cofire {cofire.__version__}")
        raise typer.Exit
    begin_group(ctx, store, as_json)
