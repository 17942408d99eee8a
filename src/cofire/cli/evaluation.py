"""The commands `bench`, `calibrate`, `compare` and `shadow`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.text import Text

from cofire.cli.layout import show_label_values
from cofire.cli.options import GlobalOptions, SharedFilterOptions, expand_options, handle_group_options, parse_pairs
from cofire.cli.terminal import (
    InputLine,
    progress_bar,
    read_lines,
    show_json,
    show_note,
    show_text,
    show_warning,
    stderr_console,
    stdout_console,
    styled_text,
)
from cofire.errors import InvalidInput, map_exceptions
from cofire.explain import format_count, shorten_text
from cofire.results import CompareResult, MovedFact, QuestionComparison, ShadowReport
from cofire.settings.table import Settings, find_knob

# Loaded on use, because they import numpy and the whole memory.
QUALITY_MODULE = "cofire.evaluation.recall_quality"
TABLES_MODULE = "cofire.evaluation.tables"
COMPARISON_MODULE = "cofire.evaluation.metrics"
PROVENANCE_MODULE = "cofire.evaluation.provenance"

TABLE_WIDTH = 150
EXIT_BELOW_BASELINE = 1

bench_app = typer.Typer(name="bench")
bench_app.callback(invoke_without_command=True, help="Measure the quality of recall.")(handle_group_options)

DataFoldersArgument = Annotated[
    list[Path] | None,
    typer.Argument(metavar="DATA…", help="An evaluation set (corpus.jsonl and queries.jsonl), or a folder of sets."),
]


@dataclass(frozen=True)
class BenchCommandOptions:
    """The selection of sets, configurations and questions."""

    sets: Annotated[
        list[str] | None,
        typer.Option("--sets", metavar="NAMES", help="Only these sets, separated by commas. Repeatable."),
    ] = None
    arms: Annotated[
        list[str] | None,
        typer.Option(
            "--arms",
            metavar="NAMES",
            help="Only these configurations, separated by commas: bm25, dense, rrf, linear, pagerank, synapse, "
            "diffusion, energy, graph-off, default. Repeatable.",
        ),
    ] = None
    half: Annotated[
        Literal["all", "tuning", "other"], typer.Option("--half", help="Only one half of the questions.")
    ] = "all"
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Only the first N questions of each set.")
    ] = None
    ablate: Annotated[
        bool,
        typer.Option("--ablate", help="Disable one component of the default at a time and report the loss."),
    ] = False


@dataclass(frozen=True)
class BenchStoreOptions:
    """How sets are stored."""

    no_titles: Annotated[bool, typer.Option("--no-titles", help="Store passages without their titles.")] = False
    sessions: Annotated[
        Literal["given", "withheld", "whole"],
        typer.Option(
            "--sessions",
            help="withheld: store without sessions, speakers and times; whole: store each session as one fact.",
        ),
    ] = "given"
    dream: Annotated[bool, typer.Option("--dream", help="Dream before recalling.")] = False
    joined: Annotated[bool, typer.Option("--joined", help="Store all sets in one store.")] = False
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="FOLDER", help="Keep the stores in this folder for the next run.")
    ] = None
    cache: Annotated[
        Path | None,
        typer.Option("--cache", metavar="FOLDER", help="The folder for cached vectors. Default: your cache folder."),
    ] = None
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a setting for this run. Repeatable.")
    ] = None


OutFileOption = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write all figures to this file, as JSON.")
]
CompareFilesOption = Annotated[
    tuple[Path, Path] | None,
    typer.Option(
        "--compare",
        metavar="A B",
        help="Measure nothing; compare two files written by --out.",
    ),
]


@bench_app.command("quality")
@expand_options
def bench_quality(
    *,
    data: DataFoldersArgument = None,
    choice: BenchCommandOptions,
    storing: BenchStoreOptions,
    out_file: OutFileOption = None,
    compare: CompareFilesOption = None,
    call: GlobalOptions,
) -> None:
    """Measure how many of the answers are returned first, beside baselines on the same store.

    Prints R@2, R@5, R@10, all@5, all@10, nDCG@10 and MRR overall, by half and by category, with 95 % intervals, and the CPU time
    of a recall without embedding. The exit code is 1 if the default is worse than its better channel or the graph does harm.

    cofire bench quality sets --sets musique,locomo --arms bm25,default --out figures.json
    """
    if compare is not None:
        return show_changes(*compare, call)
    if not data:
        raise InvalidInput(
            "No evaluation set was given.", way_out="Give the folder of a set, or two files to --compare."
        )
    figures = measure_figures(data, choice, storing)
    if out_file is not None:
        import_module(PROVENANCE_MODULE).write_json(figures, out_file)
    show_json(figures) if call.as_json else show_figures(figures)
    if not import_module(QUALITY_MODULE).is_passing(figures):
        raise typer.Exit(EXIT_BELOW_BASELINE)


def measure_figures(data: Sequence[Path], choice: BenchCommandOptions, storing: BenchStoreOptions) -> dict[str, Any]:
    """Measure all figures, with a progress bar."""
    quality = import_module(QUALITY_MODULE)
    options = quality.QualityOptions(
        folders=data,
        sets=_split_names(choice.sets),
        arms=_split_names(choice.arms),
        half=choice.half,
        limit=choice.limit,
        titles=not storing.no_titles,
        sessions=storing.sessions,
        dream=storing.dream,
        joined=storing.joined,
        ablate=choice.ablate,
        keep=storing.keep,
        cache=storing.cache,
        settings=parse_pairs(storing.settings or [], "--set"),
    )
    with progress_bars() as advance:
        figures: dict[str, Any] = quality.measure_quality(options, advance)
    return figures


def show_figures(figures: Mapping[str, Any]) -> None:
    """Print figures as tables, with warnings about results below the baselines."""
    tables = import_module(TABLES_MODULE)
    console = _make_wide_console()
    show_text(import_module(PROVENANCE_MODULE).format_provenance(figures))
    for table in tables.make_tables(figures):
        console.print(table)
    for complaint in tables.list_complaints(figures):
        show_warning(complaint)
    if figures["run"]["limit"]:
        show_note("Not all questions were measured, because --limit was given.")


def show_changes(before: Path, after: Path, call: GlobalOptions) -> None:
    """Compare two runs question by question."""
    changes = import_module(COMPARISON_MODULE).compare_runs(_read_figures(before), _read_figures(after))
    if call.as_json:
        return show_json(changes)
    _make_wide_console().print(import_module(TABLES_MODULE).make_changes_table(changes))


@contextmanager
def progress_bars() -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar for the current task on standard error; not drawn unless that is a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    console = stderr_console()
    tasks: dict[str, TaskID] = {}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:

        def advance(label: str, done: int, total: int) -> None:
            for other in [name for name in tasks if name != label]:
                progress.remove_task(tasks.pop(other))
            if label not in tasks:
                tasks[label] = progress.add_task(label, total=total)
            progress.update(tasks[label], completed=done)

        yield advance


def _make_wide_console() -> Console:
    """Standard output, wide enough for the tables: a wrapped line is readable, a truncated column is not."""
    console = stdout_console()
    console.width = max(console.width, TABLE_WIDTH)
    return console


def _read_figures(file: Path) -> dict[str, Any]:
    way_out = "Give a file written by cofire bench quality --out."
    with map_exceptions(
        {OSError: InvalidInput, ValueError: InvalidInput},
        problem=f"{file} cannot be read: {{error}}.",
        way_out=way_out,
    ):
        figures = json.loads(file.read_text(encoding="utf-8"))
    sets = figures.get("sets", {}).values() if isinstance(figures, dict) else [None]
    if not all(isinstance(each, dict) and "asked" in each for each in sets):
        raise InvalidInput(f"{file} contains no figures of single questions.", way_out=way_out)
    return dict(figures)


def _split_names(values: Sequence[str] | None) -> list[str]:
    """Names from options that may hold several, separated by commas.

    >>> _split_names(["musique,locomo", "2wiki"])
    ['musique', 'locomo', '2wiki']
    """
    return [name.strip() for value in values or () for name in value.split(",") if name.strip()]


THRESHOLD_SETTING = "abstention.threshold"

QuestionFileArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help='One question per line, or JSON Lines objects with a "text"; - is standard input.'
    ),
]
FalseSilenceOption = Annotated[
    float | None,
    typer.Option(
        "--false-silence", metavar="SHARE", help="The share of these questions that may stay unanswered. Default: 0.01."
    ),
]
CalibrationScopeOption = Annotated[
    list[str] | None,
    typer.Option("--scope", metavar="NAME", help="The scope to search. Repeatable. Default: default."),
]
CalibrationDryRunOption = Annotated[bool, typer.Option("--dry-run", help="Show the threshold, and save nothing.")]


def calibrate(
    *,
    file: QuestionFileArgument,
    false_silence: FalseSilenceOption = None,
    scope: CalibrationScopeOption = None,
    dry_run: CalibrationDryRunOption = False,
    call: GlobalOptions,
) -> None:
    """Find the evidence threshold below which recall abstains, from your own questions.

    Give 200 or more questions that the memory can answer. The threshold that leaves one in a hundred of them unanswered is
    saved in the store, for everyone who opens it. Remove it with: cofire config reset abstention.threshold --in-store

    cofire calibrate questions.txt --dry-run
    """
    questions = [parse_question(line) for line in read_lines(file, as_json=False)]
    share = {} if false_silence is None else {"false_silence": false_silence}
    with call.open_memory() as memory, progress_bar("asking") as advance:
        result = memory.calibrate(questions, scope=scope, dry_run=dry_run, progress=advance, **share)
        settings = memory.settings()
    if call.as_json:
        return show_json(asdict(result))
    quantiles = "  ".join(f"{name} {value:.3f}" for name, value in result.evidence.items())
    show_text(f"Evidence of {format_count(result.questions, 'question')}: {quantiles}")
    show_text(describe_calibration(result, call.location))
    for warning in (*result.warnings, *list_override_warnings(result, settings)):
        show_warning(warning)


def parse_question(line: InputLine) -> str:
    """The question in a line."""
    content = line.parse()
    text = content if isinstance(content, str) else content.get("text")
    if not isinstance(text, str):
        raise InvalidInput(
            f"Line {line.number} of {line.origin} contains no question.",
            way_out='A line is a text, or an object such as {"text": "When is tea?"}',
        )
    return text


def describe_calibration(result: Any, location: str) -> str:
    """The threshold, its effect and whether it is saved."""
    before = "none" if result.before is None else f"{result.before:g}"
    effect = f"{format_count(result.silent, 'question')} would be unanswered"
    saved = f"Saved in {location}." if result.kept else "Not saved."
    return f"{THRESHOLD_SETTING} = {result.threshold:g} (before: {before}); {effect}. {saved}"


def list_override_warnings(result: Any, settings: Settings) -> list[str]:
    """A warning if another layer overrides the saved threshold."""
    knob = find_knob(THRESHOLD_SETTING)
    if not result.kept or settings[knob] == result.threshold:
        return []
    return [f"It has no effect: the {settings.layer_of(knob)} overrides it with {settings[knob]}."]


ConfigurationAOption = Annotated[
    str | None,
    typer.Option("--a", metavar="CONFIGURATION", help="The first configuration. Default: the current settings."),
]
ConfigurationBOption = Annotated[
    str,
    typer.Option("--b", metavar="CONFIGURATION", help="The second configuration: a preset, NAME=VALUE,… or JSON."),
]
ComparedFactsOption = Annotated[
    int | None, typer.Option("-k", metavar="N", help="Maximum number of facts. Default: the setting recall.k.")
]


def compare(
    *,
    file: QuestionFileArgument,
    b: ConfigurationBOption,
    a: ConfigurationAOption = None,
    k: ComparedFactsOption = None,
    filters: SharedFilterOptions,
    call: GlobalOptions,
) -> None:
    """Ask the same questions under two configurations and compare the results.

    overlap is the share of facts that both return; tau is Kendall's rank correlation: 1 for the same order, -1 for the
    reverse. Promoted facts rank higher under b or are new there; demoted ones rank lower or are missing. Nothing is saved.

    cofire compare questions.txt --a balanced --b research-max
    """
    questions = [parse_question(line) for line in read_lines(file, as_json=False)]
    with call.open_memory() as memory, progress_bar("comparing") as advance:
        result = memory.compare(questions, a=a, b=b, k=k, progress=advance, **filters.keywords)
    if call.as_json:
        return show_json(result.to_dict())
    _show_comparisons(result)


def _show_comparisons(result: CompareResult) -> None:
    show_text(Text(f"overlap@{result.k}     tau   up  down  question", "dim"))
    for question in result.questions:
        show_text(styled_text(question.question), lead=_format_comparison(question), indent=32)
    means = f"overlap@{result.k} {result.overlap:.3f}, tau {result.tau:.3f}"
    same = f"{result.same:,} of {format_count(len(result.questions), 'question')} with the same result"
    show_text(Text.assemble((means, "bold"), f"; {same}."))


def _format_comparison(question: QuestionComparison) -> Text:
    comparison = question.comparison
    moved = f"{len(comparison.promoted):>5}{len(comparison.demoted):>6}"
    return Text(f"{comparison.overlap:>10.3f}{comparison.tau:>8.3f}{moved}  ", "cyan")


shadow_app = typer.Typer(name="shadow")
shadow_app.callback(invoke_without_command=True, help="Show or delete the results of shadow recalls.")(
    handle_group_options
)

ShadowKindOption = Annotated[
    str | None,
    typer.Option("--kind", metavar="NAME", help="Only this kind: recall (shadow.enabled) or assist (shadow.assist)."),
]


@shadow_app.command("report")
@expand_options
def report_shadows(*, kind: ShadowKindOption = None, call: GlobalOptions) -> None:
    """Compare real and shadow recalls, and list the facts that moved most often.

    Shadow recalls run beside real ones if shadow.enabled or shadow.assist is on.

    cofire shadow report
    """
    with call.open_without_embedder() as memory:
        report = memory.shadow_report(kind)
    if call.as_json:
        return show_json(report.to_dict())
    if not report.count:
        return show_text("There are no shadow recalls yet. Enable them with: cofire config set shadow.enabled true")
    _show_shadow_report(report)


@shadow_app.command("clear")
@expand_options
def clear_shadows(*, call: GlobalOptions) -> None:
    """Delete all comparisons and snapshots, with the questions that they contain.

    cofire shadow clear
    """
    with call.open_without_embedder() as memory:
        removed = memory.shadow_clear()
    if call.as_json:
        return show_json({"removed": removed})
    show_text(f"Removed {format_count(removed, 'line')}.")


def _show_shadow_report(report: ShadowReport) -> None:
    figures = {
        "shadow recalls": f"{report.count:,}, {report.same:,} of them with the same result",
        "overlap": "none" if report.overlap is None else f"{report.overlap:.3f}",
        "tau": "none" if report.tau is None else f"{report.tau:.3f}",
        "failed": f"{report.failures:,}",
        "saved in": report.place or "memory of this process",
    }
    show_label_values(figures)
    _show_moved_facts("Promoted most often", report.promoted)
    _show_moved_facts("Demoted most often", report.demoted)
    for failure in report.reasons:
        show_text(styled_text(f"failed {failure.times:,}×: {failure.reason}"))


def _show_moved_facts(title: str, facts: tuple[MovedFact, ...]) -> None:
    if facts:
        show_text()
        show_text(Text(title, "bold"))
    for fact in facts:
        show_text(styled_text(shorten_text(fact.text)), lead=Text(f"{fact.times:>5,}×  ", "cyan"), indent=8)
        show_text(styled_text(fact.id, "dim"), indent=8)
