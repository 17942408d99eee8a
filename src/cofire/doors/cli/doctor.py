"""`cofire doctor`: is everything in order, and if not, what to do about it."""

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
from cofire import configuration
from cofire.doors.cli.calling import IN_MEMORY, Call
from cofire.doors.cli.listing import stats_json
from cofire.doors.cli.screen import show, show_json, styled
from cofire.errors import CofireError
from cofire.installation import page_is_built, page_way_out
from cofire.settings import EMBEDDER, LAYERS, Settings
from cofire.xray import counted

OK, WARNING, PROBLEM = "ok", "warning", "problem"
LITTLE_SPACE = 100_000_000
# Loaded when it is looked at: it brings numpy, which nobody needs who asks for help.
KERNELS = "cofire.kernels.library"

_MARKS = {OK: ("ok", "green"), WARNING: ("warning", "bold yellow"), PROBLEM: ("problem", "bold red")}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, how it is, and the way out where it is not well."""

    about: str
    state: str
    says: str
    way_out: str = ""


def doctor(*, call: Call) -> None:
    """Check the installation, the store and the embedder; every problem comes with a way out.

    The exit code is 1 when there is a problem.
    """
    found = list(examine(call))
    well = all(finding.state != PROBLEM for finding in found)
    if call.as_json:
        show_json({"ok": well, "findings": [asdict(finding) for finding in found]})
    else:
        for finding in found:
            _show(finding)
    if not well:
        raise typer.Exit(1)


def examine(call: Call) -> Iterator[Finding]:
    """All findings, each made only when the one before is."""
    yield Finding("Python", OK, f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    yield Finding("cofire", OK, cofire.__version__)
    yield _kernels()
    yield _page()
    settings = list(_guarded("settings", _settings))
    if all(finding.state != PROBLEM for finding in settings):
        yield from settings
        yield from _guarded("SQLite", _sqlite)
        yield from _guarded("store", lambda: _store(call))
        yield from _guarded("embedder", _embedder)
    else:
        yield from (_then_again(finding) for finding in settings)
    yield from _guarded("disk", lambda: _disk(call))


def _guarded(about: str, look: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """What a look finds; where it cannot look, that is the finding."""
    try:
        yield from look()
    except CofireError as error:
        yield Finding(about, PROBLEM, error.problem, error.way_out)


def _kernels() -> Finding:
    """Whether the compiled kernels are in use, and why not."""
    library: Any = import_module(KERNELS)
    if library.LIBRARY is not None:
        return Finding("kernels", OK, f"compiled ones are in use ({library.FILE})")
    if os.environ.get(library.SWITCH) == "off":
        says = f"switched off by {library.SWITCH}: numpy does the same, slower. Unset it to use them."
        return Finding("kernels", OK, says)
    if not Path(library.__file__).with_name(library.FILE).exists():
        way_out = "Install a wheel that is for your platform, or install a C compiler, and then cofire again."
        return Finding("kernels", WARNING, "not built: numpy does the same, slower.", way_out)
    says = f"{library.FILE} is of another version or for another machine: numpy does the same, slower."
    return Finding("kernels", WARNING, says, "Install cofire again.")


def _page() -> Finding:
    """Whether the page of `cofire serve` is part of this installation."""
    if page_is_built():
        return Finding("page", OK, "there; cofire serve shows it")
    return Finding("page", WARNING, "not there: cofire serve has its API only.", page_way_out())


def _settings() -> Iterator[Finding]:
    path, held = configuration.file_path(), configuration.gather(record=None, call={})
    yield Finding("settings file", OK, str(path) if path.exists() else f"{path} (not there, which is fine)")
    yield Finding("settings", OK, _layers(held))


def _then_again(finding: Finding) -> Finding:
    """Without settings nothing can be opened, so that to look further would find the same again."""
    more = "Then run cofire doctor again: the store and the embedder could not be looked at."
    return replace(finding, way_out=f"{finding.way_out} {more}")


def _layers(settings: Settings) -> str:
    """Which settings are not at their default, by the layer that sets them."""
    changed = [one for one, value in settings if value != one.default]
    by_layer = {layer: [one.name for one in changed if settings.layer_of(one) == layer] for layer in LAYERS[1:]}
    said = [f"{', '.join(names)} from the {layer}" for layer, names in by_layer.items() if names]
    return "; ".join(said) or "all at their defaults"


def _sqlite() -> Iterator[Finding]:
    with cofire.Memory(IN_MEMORY, embedder=None) as memory:
        yield Finding("SQLite", OK, stats_json(memory)["details"].get("sqlite", "of an unknown version"))


def _store(call: Call) -> Iterator[Finding]:
    if not call.store_exists:
        yield Finding("store", OK, f"{call.place} is not there yet; the first fact makes it.")
        return
    with call.shelf() as memory:
        held = stats_json(memory)
        yield Finding(
            "store",
            OK,
            f"{held['store']}, schema {held['details'].get('schema', '?')}, {counted(held['facts'], 'fact')}",
        )
        own = [one.name for one, _ in memory.settings() if memory.settings().layer_of(one) == "store"]
        yield Finding("store settings", OK, ", ".join(own) or "none of its own")
        yield _integrity(memory.check())
        yield _model(held)
        yield _readings(held["reading_failures"])


def _integrity(problems: list[str]) -> Finding:
    if not problems:
        return Finding("integrity", OK, "no damage found")
    return Finding("integrity", PROBLEM, "; ".join(problems), "Restore a backup with: cofire restore FILE --force")


def _model(held: dict[str, Any]) -> Finding:
    if held["model"] is None:
        return Finding("model", OK, "none yet; the first embedded fact settles it")
    if held["without_vector"]:
        says = f"{held['model']}, but {counted(held['without_vector'], 'fact')} without a vector"
        return Finding("model", WARNING, says, "Give them one with: cofire reembed")
    return Finding("model", OK, f"{held['model']}, every fact has its vector")


def _readings(failures: dict[str, Any]) -> Finding:
    """Facts on which a reading rule failed when they were stored."""
    if not failures["facts"]:
        return Finding("reading", OK, "no rule has failed")
    rules = ", ".join(f"{rule} {times}" for rule, times in failures["rules"].items())
    says = f"Rules failed on {counted(failures['facts'], 'fact')} ({rules}). They are stored and found by words and meaning."
    way_out = f"Report the text, which this shows: cofire show {failures['ids'][-1]}"
    return Finding("reading", WARNING, says, way_out)


def _embedder() -> Iterator[Finding]:
    """The embedder of the settings, tried on one text in a store that nobody sees."""
    with cofire.Memory(IN_MEMORY) as memory:
        name = memory.settings()[EMBEDDER]
        if name == "none":
            yield Finding("embedder", OK, "none, by the setting embedder.name: search goes by words alone")
            return
        memory.remember("The doctor asks: does the embedder work?")
        yield Finding("embedder", OK, f"{name} works ({memory.stats().model})")


def _disk(call: Call) -> Iterator[Finding]:
    if call.file is None:
        return
    folder = _existing_folder(call.file.absolute())
    free = shutil.disk_usage(folder).free
    says = f"{free / 1e9:,.1f} GB free in {folder}"
    if free < LITTLE_SPACE:
        yield Finding("disk", WARNING, says, "Free some space before the store has to grow.")
    else:
        yield Finding("disk", OK, says)


def _existing_folder(path: Path) -> Path:
    return next(folder for folder in (path, *path.parents) if folder.is_dir())


def _show(finding: Finding) -> None:
    mark, style = _MARKS[finding.state]
    lead = Text.assemble((f"{mark:<9}", style), (f"{finding.about:<15}", "bold"))
    show(styled(finding.says), lead=lead, indent=lead.cell_len)
    if finding.way_out:
        show(styled(finding.way_out), lead=Text(" " * lead.cell_len), indent=lead.cell_len)
