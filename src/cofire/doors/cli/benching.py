"""`cofire bench`: how well recall works, measured on evaluation sets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from cofire.doors.cli.calling import Call, begin_group, spread
from cofire.doors.cli.pairs import pairs
from cofire.doors.cli.screen import err, note, out, show, show_json, warn
from cofire.errors import InvalidInput, map_exceptions

# Loaded when they are used, because they bring numpy and the whole of memory with them.
QUALITY = "cofire.benching.quality"
TABLES = "cofire.benching.tables"
COMPARING = "cofire.benching.comparing"
PROVENANCE = "cofire.benching.provenance"

WIDE = 150
UNWELL = 1

app = typer.Typer(name="bench")
app.callback(invoke_without_command=True, help="Measure how well recall works.")(begin_group)

Folders = Annotated[
    list[Path] | None,
    typer.Argument(metavar="DATA…", help="A set (corpus.jsonl and queries.jsonl), or a folder with sets in it."),
]


@dataclass(frozen=True)
class Choice:
    """What is measured."""

    sets: Annotated[
        list[str] | None, typer.Option("--sets", metavar="NAMES", help="Only these sets, with commas. Repeatable.")
    ] = None
    arms: Annotated[
        list[str] | None,
        typer.Option(
            "--arms",
            metavar="NAMES",
            help="Only these of bm25, dense, rrf, linear, pagerank, synapse, diffusion, energy, graph-off and default, with commas. "
            "Repeatable.",
        ),
    ] = None
    half: Annotated[
        Literal["all", "tuning", "other"], typer.Option("--half", help="Only the questions of one half.")
    ] = "all"
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Only the first N questions of each set.")
    ] = None
    ablate: Annotated[
        bool,
        typer.Option("--ablate", help="Take one thing at a time away from the default, and tell what that loses."),
    ] = False


@dataclass(frozen=True)
class Stocking:
    """How sets are remembered."""

    no_titles: Annotated[bool, typer.Option("--no-titles", help="Withhold the titles of passages.")] = False
    sessions: Annotated[
        Literal["given", "withheld", "whole"],
        typer.Option("--sessions", help="Withhold sessions, speakers and times, or remember whole sessions as facts."),
    ] = "given"
    dream: Annotated[bool, typer.Option("--dream", help="Dream before recalling.")] = False
    joined: Annotated[bool, typer.Option("--joined", help="Remember all sets in one store.")] = False
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="FOLDER", help="Keep the stores there for the next run.")
    ] = None
    cache: Annotated[
        Path | None, typer.Option("--cache", metavar="FOLDER", help="Where vectors are kept; else your cache folder.")
    ] = None
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a setting for this run. Repeatable.")
    ] = None


Out = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write all figures there, as JSON.")]
Compare = Annotated[
    tuple[Path, Path] | None,
    typer.Option(
        "--compare", metavar="A B", help="Measure nothing; tell what changed from one file of --out to another."
    ),
]


@app.command("quality")
@spread
def quality(
    *,
    data: Folders = None,
    choice: Choice,
    stocking: Stocking,
    out_file: Out = None,
    compare: Compare = None,
    call: Call,
) -> None:
    """Measure how much of what answers a question comes back first, beside baselines that ask the same store.

    Prints R@2, R@5, R@10, all@5, all@10, nDCG@10 and MRR overall, by half and by category, with 95 % intervals, and the CPU time
    of a recall without embedding. It ends with 1 where the default is below its better channel, or the graph does harm.

    cofire bench quality sets --sets musique,locomo --arms bm25,default --out figures.json
    """
    if compare is not None:
        return show_changes(*compare, call)
    if not data:
        raise InvalidInput("No set is named.", way_out="Give the folder of a set, or two files to --compare.")
    figures = measured(data, choice, stocking)
    if out_file is not None:
        import_module(PROVENANCE).write_json(figures, out_file)
    show_json(figures) if call.as_json else show_figures(figures)
    if not import_module(QUALITY).is_well(figures):
        raise typer.Exit(UNWELL)


def measured(data: Sequence[Path], choice: Choice, stocking: Stocking) -> dict[str, Any]:
    """All figures, with a bar while they are measured."""
    benching = import_module(QUALITY)
    wanted = benching.Wanted(
        folders=data,
        sets=_names(choice.sets),
        arms=_names(choice.arms),
        half=choice.half,
        limit=choice.limit,
        titles=not stocking.no_titles,
        sessions=stocking.sessions,
        dream=stocking.dream,
        joined=stocking.joined,
        ablate=choice.ablate,
        keep=stocking.keep,
        cache=stocking.cache,
        settings=pairs(stocking.settings or [], "--set"),
    )
    with bars() as watch:
        found: dict[str, Any] = benching.measure(wanted, watch)
    return found


def show_figures(figures: Mapping[str, Any]) -> None:
    tables, screen = import_module(TABLES), _wide()
    show(import_module(PROVENANCE).in_words(figures))
    for table in tables.tables(figures):
        screen.print(table)
    for complaint in tables.complaints(figures):
        warn(complaint)
    if figures["run"]["limit"]:
        note("These are not all questions: --limit was given.")


def show_changes(before: Path, after: Path, call: Call) -> None:
    """What changed between two runs, question by question."""
    compared = import_module(COMPARING).compare(_read(before), _read(after))
    if call.as_json:
        return show_json(compared)
    _wide().print(import_module(TABLES).of_changes(compared))


@contextmanager
def bars() -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar for each thing that is done, on standard error; nothing is drawn where it is not a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    console, tasks = err(), dict[str, TaskID]()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:

        def watch(doing: str, done: int, total: int) -> None:
            for other in [one for one in tasks if one != doing]:
                progress.remove_task(tasks.pop(other))
            if doing not in tasks:
                tasks[doing] = progress.add_task(doing, total=total)
            progress.update(tasks[doing], completed=done)

        yield watch


def _wide() -> Console:
    """Standard output, wide enough for the tables: a line that is broken can still be read, a column cut off cannot."""
    console = out()
    console.width = max(console.width, WIDE)
    return console


def _read(file: Path) -> dict[str, Any]:
    with map_exceptions(
        {OSError: InvalidInput, ValueError: InvalidInput},
        problem=f"{file} cannot be read: {{error}}.",
        way_out="Give a file that cofire bench quality --out has written.",
    ):
        found = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(found, dict) or not all(
        isinstance(one, dict) and "asked" in one for one in found.get("sets", {}).values()
    ):
        raise InvalidInput(
            f"{file} has no figures of questions.", way_out="Give a file that cofire bench quality --out has written."
        )
    return found


def _names(given: Sequence[str] | None) -> list[str]:
    """Names from options that may hold several.

    >>> _names(["musique,locomo", "2wiki"])
    ['musique', 'locomo', '2wiki']
    """
    return [name.strip() for one in given or () for name in one.split(",") if name.strip()]
