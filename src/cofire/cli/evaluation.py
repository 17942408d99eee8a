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

from cofire.cli.input_lines import InputLine, read_lines
from cofire.cli.layout import show_label_values
from cofire.cli.options import GlobalOptions, SharedFilterOptions, expand_options, handle_group_options, parse_pairs
from cofire.cli.terminal import (
    progress_bar,
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

# Loaded when they are used, because they bring numpy and the whole of memory with them.
QUALITY_MODULE = "cofire.evaluation.recall_quality"
TABLES_MODULE = "cofire.evaluation.tables"
COMPARISON_MODULE = "cofire.evaluation.metrics"
PROVENANCE_MODULE = "cofire.evaluation.provenance"

TABLE_WIDTH = 150
EXIT_BELOW_BASELINE = 1

bench_app = typer.Typer(name="bench")
bench_app.callback(invoke_without_command=True, help="Measure how well recall works.")(handle_group_options)

DataFoldersArgument = Annotated[
    list[Path] | None,
    typer.Argument(metavar="DATA…", help="A set (corpus.jsonl and queries.jsonl), or a folder with sets in it."),
]


@dataclass(frozen=True)
class BenchCommandOptions:
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
class BenchStoreOptions:
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


OutFileOption = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write all figures there, as JSON.")]
CompareFilesOption = Annotated[
    tuple[Path, Path] | None,
    typer.Option(
        "--compare",
        metavar="A B",
        help="Measure nothing; tell what changed from one file of --out to another.",
    ),
]


@bench_app.command("quality")
@expand_options
def bench_quality(
    *,
    data: DataFoldersArgument = None,
    choice: BenchCommandOptions,
    stocking: BenchStoreOptions,
    out_file: OutFileOption = None,
    compare: CompareFilesOption = None,
    call: GlobalOptions,
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
    figures = measure_figures(data, choice, stocking)
    if out_file is not None:
        import_module(PROVENANCE_MODULE).write_json(figures, out_file)
    show_json(figures) if call.as_json else show_figures(figures)
    if not import_module(QUALITY_MODULE).is_passing(figures):
        raise typer.Exit(EXIT_BELOW_BASELINE)


def measure_figures(data: Sequence[Path], choice: BenchCommandOptions, stocking: BenchStoreOptions) -> dict[str, Any]:
    """All figures, with a bar while they are measured."""
    benching = import_module(QUALITY_MODULE)
    wanted = benching.QualityOptions(
        folders=data,
        sets=_split_names(choice.sets),
        arms=_split_names(choice.arms),
        half=choice.half,
        limit=choice.limit,
        titles=not stocking.no_titles,
        sessions=stocking.sessions,
        dream=stocking.dream,
        joined=stocking.joined,
        ablate=choice.ablate,
        keep=stocking.keep,
        cache=stocking.cache,
        settings=parse_pairs(stocking.settings or [], "--set"),
    )
    with progress_bars() as watch:
        found: dict[str, Any] = benching.measure_quality(wanted, watch)
    return found


def show_figures(figures: Mapping[str, Any]) -> None:
    tables, screen = import_module(TABLES_MODULE), _make_wide_console()
    show_text(import_module(PROVENANCE_MODULE).format_provenance(figures))
    for table in tables.make_tables(figures):
        screen.print(table)
    for complaint in tables.list_complaints(figures):
        show_warning(complaint)
    if figures["run"]["limit"]:
        show_note("These are not all questions: --limit was given.")


def show_changes(before: Path, after: Path, call: GlobalOptions) -> None:
    """What changed between two runs, question by question."""
    compared = import_module(COMPARISON_MODULE).compare_runs(_read_figures(before), _read_figures(after))
    if call.as_json:
        return show_json(compared)
    _make_wide_console().print(import_module(TABLES_MODULE).make_changes_table(compared))


@contextmanager
def progress_bars() -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar for each thing that is done, on standard error; nothing is drawn where it is not a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    console, tasks = stderr_console(), dict[str, TaskID]()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:

        def watch(doing: str, done: int, total: int) -> None:
            for other in [one for one in tasks if one != doing]:
                progress.remove_task(tasks.pop(other))
            if doing not in tasks:
                tasks[doing] = progress.add_task(doing, total=total)
            progress.update(tasks[doing], completed=done)

        yield watch


def _make_wide_console() -> Console:
    """Standard output, wide enough for the tables: a line that is broken can still be read, a column cut off cannot."""
    console = stdout_console()
    console.width = max(console.width, TABLE_WIDTH)
    return console


def _read_figures(file: Path) -> dict[str, Any]:
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


def _split_names(given: Sequence[str] | None) -> list[str]:
    """Names from options that may hold several.

    >>> _split_names(["musique,locomo", "2wiki"])
    ['musique', 'locomo', '2wiki']
    """
    return [name.strip() for one in given or () for name in one.split(",") if name.strip()]


THRESHOLD_SETTING = "abstention.threshold"

CalibrationFileArgument = Annotated[
    Path,
    typer.Argument(metavar="FILE", help='One question a line, or JSON lines with a "text"; - is standard input.'),
]
FalseSilenceOption = Annotated[
    float | None,
    typer.Option("--false-silence", metavar="SHARE", help="How many of them may fall silent. Without it: 0.01."),
]
CalibrationScopeOption = Annotated[
    list[str] | None,
    typer.Option("--scope", metavar="NAME", help="Where they are asked. Repeatable. Without it: default."),
]
CalibrationDryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only tell the threshold; keep nothing.")]


def calibrate(
    *,
    file: CalibrationFileArgument,
    false_silence: FalseSilenceOption = None,
    scope: CalibrationScopeOption = None,
    dry_run: CalibrationDryRunOption = False,
    call: GlobalOptions,
) -> None:
    """Find the evidence below which memory is silent, from questions of your own.

    Give 200 or more that memory can answer. The threshold under which one in a hundred of them falls silent is kept in the
    store, for everybody who opens it. Take it out again with: cofire config reset abstention.threshold --in-store

    cofire calibrate questions.txt --dry-run
    """
    asked = [parse_question(line) for line in read_lines(file, as_json=False)]
    share = {} if false_silence is None else {"false_silence": false_silence}
    with call.memory() as memory, progress_bar("asking") as advance:
        found = memory.calibrate(asked, scope=scope, dry_run=dry_run, progress=advance, **share)
        settings = memory.settings()
    if call.as_json:
        return show_json(asdict(found))
    spread = "  ".join(f"{name} {value:.3f}" for name, value in found.evidence.items())
    show_text(f"Evidence of {format_count(found.questions, 'question')}: {spread}")
    show_text(describe_calibration(found, call.place))
    for warning in (*found.warnings, *list_override_warnings(found, settings)):
        show_warning(warning)


def parse_question(line: InputLine) -> str:
    """What a line asks."""
    given = line.given()
    text = given if isinstance(given, str) else given.get("text")
    if not isinstance(text, str):
        raise InvalidInput(
            f"Line {line.number} of {line.origin} holds no question.",
            way_out='A line is a text, or an object as in {"text": "When is tea?"}',
        )
    return text


def describe_calibration(found: Any, place: str) -> str:
    """The threshold in a sentence."""
    before = "words alone decided" if found.before is None else f"it was {found.before:g}"
    lost = f"{found.silent:,} of them {'falls' if found.silent == 1 else 'fall'} silent"
    fate = f"kept in {place}" if found.kept else "not kept"
    return f"{THRESHOLD_SETTING} = {found.threshold:g}, under which {lost}; {before}. It is {fate}."


def list_override_warnings(found: Any, settings: Settings) -> list[str]:
    """Whether another layer lies over what was kept."""
    chosen = find_knob(THRESHOLD_SETTING)
    if not found.kept or settings[chosen] == found.threshold:
        return []
    return [f"It has no effect yet: the {settings.layer_of(chosen)} lays {settings[chosen]} over it."]


QuestionFileArgument = Annotated[
    Path,
    typer.Argument(metavar="FILE", help='One question a line, or JSON lines with a "text"; - is standard input.'),
]
ConfigurationAOption = Annotated[
    str | None,
    typer.Option("--a", metavar="CONFIGURATION", help="What to begin with. Without it: the settings as they are."),
]
ConfigurationBOption = Annotated[
    str,
    typer.Option("--b", metavar="CONFIGURATION", help="What to compare with: a preset, or NAME=VALUE,… or JSON."),
]
ComparedFactsOption = Annotated[
    int | None, typer.Option("-k", metavar="N", help="At most so many facts. Without it: the setting recall.k.")
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
    """Ask the same questions under two configurations, and see what changes.

    Overlap is the share of facts that both bring, tau how alike their order is: 1 the same, -1 the reverse. Promoted facts stand
    higher under b or are new there, demoted ones lower or gone. Nothing is kept.

    cofire compare questions.txt --a balanced --b research-max
    """
    asked = [parse_question(line) for line in read_lines(file, as_json=False)]
    with call.memory() as memory, progress_bar("comparing") as advance:
        found = memory.compare(asked, a=a, b=b, k=k, progress=advance, **filters.keywords)
    if call.as_json:
        return show_json(found.to_dict())
    _show_comparisons(found)


def _show_comparisons(found: CompareResult) -> None:
    show_text(Text(f"overlap@{found.k}     tau   up  down  question", "dim"))
    for one in found.questions:
        show_text(styled_text(one.question), lead=_format_comparison(one), indent=32)
    same = f"{found.same:,} of {format_count(len(found.questions), 'question')} answered alike"
    show_text(Text.assemble((f"overlap@{found.k} {found.overlap:.3f}, tau {found.tau:.3f}", "bold"), f"; {same}."))


def _format_comparison(one: QuestionComparison) -> Text:
    both = one.comparison
    moved = f"{len(both.promoted):>5}{len(both.demoted):>6}"
    return Text(f"{both.overlap:>10.3f}{both.tau:>8.3f}{moved}  ", "cyan")


shadow_app = typer.Typer(name="shadow")
shadow_app.callback(invoke_without_command=True, help="See what shadow recalls came to, or remove them.")(
    handle_group_options
)

ShadowKindOption = Annotated[
    str | None,
    typer.Option("--kind", metavar="NAME", help="Only recall (shadow.enabled) or assist (shadow.assist)."),
]


@shadow_app.command("report")
@expand_options
def report_shadows(*, kind: ShadowKindOption = None, call: GlobalOptions) -> None:
    """Tell how alike real and shadow recalls were, and which facts moved most often.

    Shadow recalls are run beside real ones once shadow.enabled or shadow.assist is on.

    cofire shadow report
    """
    with call.shelf() as memory:
        found = memory.shadow_report(kind)
    if call.as_json:
        return show_json(found.to_dict())
    if not found.count:
        return show_text("There is no shadow recall yet. Switch them on with: cofire config set shadow.enabled true")
    _show_shadow_report(found)


@shadow_app.command("clear")
@expand_options
def clear_shadows(*, call: GlobalOptions) -> None:
    """Remove all comparisons and snapshots, and with them the questions that they hold.

    cofire shadow clear
    """
    with call.shelf() as memory:
        removed = memory.shadow_clear()
    if call.as_json:
        return show_json({"removed": removed})
    show_text(f"Removed {format_count(removed, 'line')}.")


def _show_shadow_report(found: ShadowReport) -> None:
    figures = {
        "shadow recalls": f"{found.count:,}, {found.same:,} of them answered alike",
        "overlap": "none" if found.overlap is None else f"{found.overlap:.3f}",
        "tau": "none" if found.tau is None else f"{found.tau:.3f}",
        "failed": f"{found.failures:,}",
        "kept in": found.place or "this process",
    }
    show_label_values(figures)
    _show_moved_facts("Promoted most often", found.promoted)
    _show_moved_facts("Demoted most often", found.demoted)
    for failed in found.reasons:
        show_text(styled_text(f"failed {failed.times:,}×: {failed.reason}"))


def _show_moved_facts(title: str, facts: tuple[MovedFact, ...]) -> None:
    if facts:
        show_text()
        show_text(Text(title, "bold"))
    for fact in facts:
        show_text(styled_text(shorten_text(fact.text)), lead=Text(f"{fact.times:>5,}×  ", "cyan"), indent=8)
        show_text(styled_text(fact.id, "dim"), indent=8)
