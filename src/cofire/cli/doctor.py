"""The command `doctor`: checks installation, settings, store, embedder and disk."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from typing import Any

import typer
from rich.text import Text

import cofire
from cofire.cli.facts import fetch_stats_json
from cofire.cli.options import IN_MEMORY, GlobalOptions
from cofire.cli.terminal import show_json, show_text, styled_text
from cofire.errors import CofireError
from cofire.explain import format_count
from cofire.interfaces.installation import missing_page_way_out, page_is_built
from cofire.settings import sources
from cofire.settings.table import EMBEDDER_NAME, SETTING_LAYERS, Settings

OK, WARNING, PROBLEM = "ok", "warning", "problem"
LOW_DISK_SPACE = 100_000_000
# Loaded on use, because it imports numpy.
NATIVE_MODULE = "cofire.index.native"

_STATE_MARKS = {OK: ("ok", "green"), WARNING: ("warning", "bold yellow"), PROBLEM: ("problem", "bold red")}


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: its subject, state, description and way out."""

    about: str
    state: str
    says: str
    way_out: str = ""


def doctor(*, call: GlobalOptions) -> None:
    """Check the installation, the settings, the store and the embedder. Each problem comes with a way out.

    The exit code is 1 if there is a problem.
    """
    findings = list(run_checks(call))
    healthy = all(finding.state != PROBLEM for finding in findings)
    if call.as_json:
        show_json({"ok": healthy, "findings": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            _show_finding(finding)
    if not healthy:
        raise typer.Exit(1)


def run_checks(call: GlobalOptions) -> Iterator[Finding]:
    """All findings, in order. Without valid settings, the store and the embedder cannot be checked."""
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
        for finding in settings:
            rerun = "Then run cofire doctor again: the store and the embedder were not checked."
            yield replace(finding, way_out=f"{finding.way_out} {rerun}")
    yield from _run_check("disk", lambda: _check_disk(call))


def _run_check(about: str, check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """The findings of a check. An error is a finding too."""
    try:
        yield from check()
    except CofireError as error:
        yield Finding(about, PROBLEM, error.problem, error.way_out)


def _check_native_code() -> Finding:
    """Whether the compiled code is in use, and if not, why."""
    library: Any = import_module(NATIVE_MODULE)
    if library.LIBRARY is not None:
        return Finding("kernels", OK, f"compiled code is in use ({library.FILE})")
    if os.environ.get(library.SWITCH) == "off":
        description = f"disabled by {library.SWITCH}; numpy is used, which is slower. Unset it to use compiled code."
        return Finding("kernels", OK, description)
    if not library.library_path().exists():
        way_out = "Install a wheel for your platform, or install a C compiler and then reinstall cofire."
        return Finding("kernels", WARNING, "compiled code is missing; numpy is used, which is slower", way_out)
    description = f"{library.FILE} does not match this version or machine; numpy is used, which is slower"
    return Finding("kernels", WARNING, description, "Reinstall cofire.")


def _check_page() -> Finding:
    """Whether the web page of `cofire serve` is installed."""
    if page_is_built():
        return Finding("page", OK, "installed; cofire serve shows it")
    return Finding("page", WARNING, "missing; cofire serve offers its API only", missing_page_way_out())


def _check_settings() -> Iterator[Finding]:
    path = sources.settings_file_path()
    settings = sources.load_settings(record=None, call={})
    yield Finding("settings file", OK, str(path) if path.exists() else f"{path} (does not exist; optional)")
    yield Finding("settings", OK, _describe_layers(settings))


def _describe_layers(settings: Settings) -> str:
    """The settings that differ from their default, by the layer that sets them."""
    changed = [knob for knob, value in settings if value != knob.default]
    parts = []
    for layer in SETTING_LAYERS[1:]:
        names = [knob.name for knob in changed if settings.layer_of(knob) == layer]
        if names:
            parts.append(f"{', '.join(names)} from the {layer}")
    return "; ".join(parts) or "all at their defaults"


def _check_sqlite() -> Iterator[Finding]:
    with cofire.Memory(IN_MEMORY, embedder=None) as memory:
        yield Finding("SQLite", OK, fetch_stats_json(memory)["details"].get("sqlite", "unknown version"))


def _check_store(call: GlobalOptions) -> Iterator[Finding]:
    if not call.store_exists:
        yield Finding("store", OK, f"{call.location} does not exist yet; the first fact creates it")
        return
    with call.open_without_embedder() as memory:
        stats = fetch_stats_json(memory)
        facts = format_count(stats["facts"], "fact")
        yield Finding("store", OK, f"{stats['store']}, schema {stats['details'].get('schema', '?')}, {facts}")
        settings = memory.settings()
        in_store = [knob.name for knob, _ in settings if settings.layer_of(knob) == "store"]
        yield Finding("store settings", OK, ", ".join(in_store) or "none")
        yield _make_integrity_finding(memory.check())
        yield _make_model_finding(stats)
        yield _make_reader_finding(stats["reading_failures"])


def _make_integrity_finding(problems: list[str]) -> Finding:
    if not problems:
        return Finding("integrity", OK, "no damage found")
    return Finding("integrity", PROBLEM, "; ".join(problems), "Restore a backup with: cofire restore FILE --force")


def _make_model_finding(stats: dict[str, Any]) -> Finding:
    if stats["model"] is None:
        return Finding("model", OK, "none yet; the first embedded fact determines it")
    if stats["without_vector"]:
        description = f"{stats['model']}; {format_count(stats['without_vector'], 'fact')} without a vector"
        return Finding("model", WARNING, description, "Embed them with: cofire reembed")
    return Finding("model", OK, f"{stats['model']}; every fact has a vector")


def _make_reader_finding(failures: dict[str, Any]) -> Finding:
    """Facts on which a reader rule failed when they were stored."""
    if not failures["facts"]:
        return Finding("reading", OK, "no rule has failed")
    rules = ", ".join(f"{rule} {times}" for rule, times in failures["rules"].items())
    facts = format_count(failures["facts"], "fact")
    description = f"rules failed on {facts} ({rules}), which are stored and searchable by words and meaning"
    way_out = f"Please report the text of such a fact; show it with: cofire show {failures['ids'][-1]}"
    return Finding("reading", WARNING, description, way_out)


def _check_embedder() -> Iterator[Finding]:
    """Embed one text in a temporary store with the embedder of the settings."""
    with cofire.Memory(IN_MEMORY) as memory:
        name = memory.settings()[EMBEDDER_NAME]
        if name == "none":
            yield Finding("embedder", OK, "none (setting embedder.name); search uses keywords only")
            return
        memory.remember("Test text of cofire doctor.")
        yield Finding("embedder", OK, f"{name} works ({memory.stats().model})")


def _check_disk(call: GlobalOptions) -> Iterator[Finding]:
    if call.file is None:
        return
    path = call.file.absolute()
    folder = next(folder for folder in (path, *path.parents) if folder.is_dir())
    free = shutil.disk_usage(folder).free
    description = f"{free / 1e9:,.1f} GB free in {folder}"
    if free < LOW_DISK_SPACE:
        yield Finding("disk", WARNING, description, "Free some disk space before the store has to grow.")
    else:
        yield Finding("disk", OK, description)


def _show_finding(finding: Finding) -> None:
    mark, style = _STATE_MARKS[finding.state]
    lead = Text.assemble((f"{mark:<9}", style), (f"{finding.about:<15}", "bold"))
    show_text(styled_text(finding.says), lead=lead, indent=lead.cell_len)
    if finding.way_out:
        show_text(styled_text(finding.way_out), lead=Text(" " * lead.cell_len), indent=lead.cell_len)
