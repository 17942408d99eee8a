"""The command `doctor`: checks installation, settings, store, embedder and disk."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

import cofire
from cofire.cli.facts import fetch_stats_json
from cofire.cli.options import IN_MEMORY, GlobalOptions
from cofire.cli.terminal import show_json, show_text, styled_text
from cofire.errors import CofireError
from cofire.explain import format_count
from cofire.installation import missing_page_way_out, page_is_built
from cofire.settings import sources
from cofire.settings.table import EMBEDDER_NAME, SETTING_LAYERS, Settings

OK, WARNING, PROBLEM = "ok", "warning", "problem"
LOW_DISK_SPACE = 100_000_000
# Loaded when it is looked at: it brings numpy, which nobody needs who asks for help.
NATIVE_MODULE = "cofire.index.native"

_STATE_MARKS = {OK: ("ok", "green"), WARNING: ("warning", "bold yellow"), PROBLEM: ("problem", "bold red")}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, how it is, and the way out where it is not well."""

    about: str
    state: str
    says: str
    way_out: str = ""


def doctor(*, call: GlobalOptions) -> None:
    """Check the installation, the store and the embedder; every problem comes with a way out.

    The exit code is 1 when there is a problem.
    """
    found = list(run_checks(call))
    well = all(finding.state != PROBLEM for finding in found)
    if call.as_json:
        show_json({"ok": well, "findings": [asdict(finding) for finding in found]})
    else:
        for finding in found:
            _show_finding(finding)
    if not well:
        raise typer.Exit(1)


def run_checks(call: GlobalOptions) -> Iterator[Finding]:
    """All findings, each made only when the one before is."""
    yield Finding("Python", OK, f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    yield Finding("cofire", OK, cofire.__version__)
    yield _check_native_code()
    yield _check_page()
    settings = list(_run_check("settings", _check_settings))
    if all(finding.state != PROBLEM for finding in settings):
        yield from settings
        yield from _run_check("SQLite", _check_sqlite)
        yield from _run_check("store", lambda: _check_store(call))
        yield from _run_check("embedder", _check_embedder)
    else:
        yield from (_with_rerun_hint(finding) for finding in settings)
    yield from _run_check("disk", lambda: _check_disk(call))


def _run_check(about: str, look: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """What a look finds; where it cannot look, that is the finding."""
    try:
        yield from look()
    except CofireError as error:
        yield Finding(about, PROBLEM, error.problem, error.way_out)


def _check_native_code() -> Finding:
    """Whether the compiled kernels are in use, and why not."""
    library: Any = import_module(NATIVE_MODULE)
    if library.LIBRARY is not None:
        return Finding("kernels", OK, f"compiled ones are in use ({library.FILE})")
    if os.environ.get(library.SWITCH) == "off":
        says = f"switched off by {library.SWITCH}: numpy does the same, slower. Unset it to use them."
        return Finding("kernels", OK, says)
    if not library.library_path().exists():
        way_out = "Install a wheel that is for your platform, or install a C compiler, and then cofire again."
        return Finding("kernels", WARNING, "not built: numpy does the same, slower.", way_out)
    says = f"{library.FILE} is of another version or for another machine: numpy does the same, slower."
    return Finding("kernels", WARNING, says, "Install cofire again.")


def _check_page() -> Finding:
    """Whether the page of `cofire serve` is part of this installation."""
    if page_is_built():
        return Finding("page", OK, "there; cofire serve shows it")
    return Finding("page", WARNING, "not there: cofire serve has its API only.", missing_page_way_out())


def _check_settings() -> Iterator[Finding]:
    path, held = sources.settings_file_path(), sources.load_settings(record=None, call={})
    yield Finding("settings file", OK, str(path) if path.exists() else f"{path} (not there, which is fine)")
    yield Finding("settings", OK, _describe_layers(held))


def _with_rerun_hint(finding: Finding) -> Finding:
    """Without settings nothing can be opened, so that to look further would find the same again."""
    more = "Then run cofire doctor again: the store and the embedder could not be looked at."
    return replace(finding, way_out=f"{finding.way_out} {more}")


def _describe_layers(settings: Settings) -> str:
    """Which settings are not at their default, by the layer that sets them."""
    changed = [one for one, value in settings if value != one.default]
    by_layer = {layer: [one.name for one in changed if settings.layer_of(one) == layer] for layer in SETTING_LAYERS[1:]}
    said = [f"{', '.join(names)} from the {layer}" for layer, names in by_layer.items() if names]
    return "; ".join(said) or "all at their defaults"


def _check_sqlite() -> Iterator[Finding]:
    with cofire.Memory(IN_MEMORY, embedder=None) as memory:
        yield Finding("SQLite", OK, fetch_stats_json(memory)["details"].get("sqlite", "of an unknown version"))


def _check_store(call: GlobalOptions) -> Iterator[Finding]:
    if not call.store_exists:
        yield Finding("store", OK, f"{call.place} is not there yet; the first fact makes it.")
        return
    with call.shelf() as memory:
        held = fetch_stats_json(memory)
        yield Finding(
            "store",
            OK,
            f"{held['store']}, schema {held['details'].get('schema', '?')}, {format_count(held['facts'], 'fact')}",
        )
        own = [one.name for one, _ in memory.settings() if memory.settings().layer_of(one) == "store"]
        yield Finding("store settings", OK, ", ".join(own) or "none of its own")
        yield _make_integrity_finding(memory.check())
        yield _make_model_finding(held)
        yield _make_reader_finding(held["reading_failures"])


def _make_integrity_finding(problems: list[str]) -> Finding:
    if not problems:
        return Finding("integrity", OK, "no damage found")
    return Finding("integrity", PROBLEM, "; ".join(problems), "Restore a backup with: cofire restore FILE --force")


def _make_model_finding(held: dict[str, Any]) -> Finding:
    if held["model"] is None:
        return Finding("model", OK, "none yet; the first embedded fact settles it")
    if held["without_vector"]:
        says = f"{held['model']}, but {format_count(held['without_vector'], 'fact')} without a vector"
        return Finding("model", WARNING, says, "Give them one with: cofire reembed")
    return Finding("model", OK, f"{held['model']}, every fact has its vector")


def _make_reader_finding(failures: dict[str, Any]) -> Finding:
    """Facts on which a reading rule failed when they were stored."""
    if not failures["facts"]:
        return Finding("reading", OK, "no rule has failed")
    rules = ", ".join(f"{rule} {times}" for rule, times in failures["rules"].items())
    says = f"Rules failed on {format_count(failures['facts'], 'fact')} ({rules}). They are stored and found by words and meaning."
    way_out = f"Report the text, which this shows: cofire show {failures['ids'][-1]}"
    return Finding("reading", WARNING, says, way_out)


def _check_embedder() -> Iterator[Finding]:
    """The embedder of the settings, tried on one text in a store that nobody sees."""
    with cofire.Memory(IN_MEMORY) as memory:
        name = memory.settings()[EMBEDDER_NAME]
        if name == "none":
            yield Finding("embedder", OK, "none, by the setting embedder.name: search goes by words alone")
            return
        memory.remember("The doctor asks: does the embedder work?")
        yield Finding("embedder", OK, f"{name} works ({memory.stats().model})")


def _check_disk(call: GlobalOptions) -> Iterator[Finding]:
    if call.file is None:
        return
    folder = _find_existing_folder(call.file.absolute())
    free = shutil.disk_usage(folder).free
    says = f"{free / 1e9:,.1f} GB free in {folder}"
    if free < LOW_DISK_SPACE:
        yield Finding("disk", WARNING, says, "Free some space before the store has to grow.")
    else:
        yield Finding("disk", OK, says)


def _find_existing_folder(path: Path) -> Path:
    return next(folder for folder in (path, *path.parents) if folder.is_dir())


def _show_finding(finding: Finding) -> None:
    mark, style = _STATE_MARKS[finding.state]
    lead = Text.assemble((f"{mark:<9}", style), (f"{finding.about:<15}", "bold"))
    show_text(styled_text(finding.says), lead=lead, indent=lead.cell_len)
    if finding.way_out:
        show_text(styled_text(finding.way_out), lead=Text(" " * lead.cell_len), indent=lead.cell_len)
