"""The commands `backup`, `restore`, `reembed`, `copy`, `export` and `import`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from cofire.cli import input_lines
from cofire.cli.options import GlobalOptions, SharedFilterOptions
from cofire.cli.terminal import progress_bar, show_json, show_note, show_text
from cofire.errors import InvalidInput, StoreNotOpened
from cofire.explain import format_count

# Loaded when it is used, because it brings SQLite with it.
RESTORE_MODULE = "cofire.copying"

NewBackupArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The file to make.")]
BackupFileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="A file that cofire backup made.")]
ForceReplaceOption = Annotated[bool, typer.Option("--force", help="Replace a store that is there already.")]


def backup(*, file: NewBackupArgument, call: GlobalOptions) -> None:
    """Copy the store to a new file, while others use it."""
    with call.shelf() as memory:
        memory.backup(file)
        facts = memory.stats().size.facts
    if call.as_json:
        return show_json({"backup": str(file), "store": call.place, "facts": facts, "bytes": file.stat().st_size})
    show_text(f"Copied {format_count(facts, 'fact')} to {file}. Bring them back with: cofire restore {file}")


def restore(*, file: BackupFileArgument, force: ForceReplaceOption = False, call: GlobalOptions) -> None:
    """Make a store from a backup.

    A store that is there already is replaced only with --force.
    """
    replaced: str | None = import_module(RESTORE_MODULE).restore(str(file), str(call.file or call.place), force=force)
    with call.shelf() as memory:
        facts = memory.stats().size.facts
    if call.as_json:
        return show_json({"store": call.place, "backup": str(file), "facts": facts, "replaced": replaced})
    show_text(f"Restored {format_count(facts, 'fact')} from {file} to {call.place}.")
    if replaced:
        show_text(f"What was there before is kept in {replaced}")


def reembed(*, call: GlobalOptions) -> None:
    """Give every fact a vector of the embedder in the settings, when that has changed.

    It can be stopped and taken up again; until it is done, the old vectors serve.
    """
    with call.memory(reembedding=True) as memory, progress_bar("embedding") as advance:
        done = memory.reembed(progress=advance)
        model = memory.stats().model
    if call.as_json:
        return show_json({"embedded": done, "model": model})
    show_text(f"Embedded {format_count(done, 'fact')} with {model}.")


# Loaded when it is used, because it brings the stores with it.
COPY_MODULE = "cofire.copying"

CopySourceArgument = Annotated[
    str, typer.Argument(metavar="SOURCE", help="The store to copy: a file, or the URL of a server.")
]
CopyTargetArgument = Annotated[
    str, typer.Argument(metavar="TARGET", help="Where to: a new file, or the URL of a server.")
]
VerifyOnlyOption = Annotated[bool, typer.Option("--verify-only", help="Copy nothing, only compare the two.")]


def copy(
    *,
    source: CopySourceArgument,
    target: CopyTargetArgument,
    verify_only: VerifyOnlyOption = False,
    call: GlobalOptions,
) -> None:
    """Copy a whole memory to another store, and compare the two to the last byte.

    It can be stopped and taken up again. Nobody should write to either store meanwhile.

    cofire copy team.db neo4j://localhost:7687
    """
    if call.store is not None:
        raise InvalidInput("copy takes no --store.", way_out="Say: cofire copy SOURCE TARGET")
    copying = import_module(COPY_MODULE)
    with progress_bar("comparing" if verify_only else "copying") as advance:
        done = (copying.compare if verify_only else copying.copy)(source, target, advance=advance)
    if call.as_json:
        places = {"source": copying.describe_location(source), "target": copying.describe_location(target)}
        return show_json({**places, "copied": done.copied, "there": done.there, **_tally_json(done.tally)})
    if not verify_only:
        there = f"; {done.there:,} were there already" if done.there else ""
        show_text(f"Copied {format_count(done.copied, 'fact')} to {copying.describe_location(target)}{there}.")
    _show_tally(done.tally)


def _tally_json(tally: Any) -> dict[str, object]:
    return {
        "rows": dict(tally.rows),
        "scopes": dict(tally.scopes),
        "edges": dict(tally.kinds),
        "checksums": dict(tally.checksums),
        "checksum": tally.checksum,
    }


def _show_tally(tally: Any) -> None:
    held = [format_count(tally.rows["facts"], "fact"), format_count(tally.rows["vectors"], "vector")]
    held += [format_count(sum(tally.kinds.values()), "edge"), format_count(tally.rows["mentions"], "mention")]
    show_text(f"Both hold the same: {', '.join(held)}. Checksum {tally.checksum}")


NewExportArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="The file to make: GraphML if it ends in .graphml, else lines of JSON; - writes these to standard output.",
    ),
]
ExportFileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="A file of JSON lines that cofire export made; - is standard input.")
]
ForceOverwriteOption = Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")]


def export(
    *, file: NewExportArgument, force: ForceOverwriteOption = False, filters: SharedFilterOptions, call: GlobalOptions
) -> None:
    """Write facts and the edges between them to a file, of every scope unless told.

    Lines of JSON come back with cofire import; GraphML is for Gephi, networkx and the like.

    cofire export team.jsonl --scope team
    """
    if input_lines.is_stream(file):
        return _export_to_stdout(filters, call)
    refuse_to_overwrite(file, call, force=force)
    done = _export_to_file(file, filters, call)
    if call.as_json:
        return show_json({**asdict(done), "store": call.place})
    return show_text(f"Wrote {_describe_transfer(done)} to {done.path}.")


def _export_to_stdout(filters: SharedFilterOptions, call: GlobalOptions) -> None:
    """The lines alone, once all of them are there: what fails midway is no half export to whoever reads."""
    with TemporaryDirectory() as folder:
        whole = Path(folder, "export.jsonl")
        done = _export_to_file(whole, filters, call)
        sys.stdout.flush()
        with whole.open("rb") as lines:
            shutil.copyfileobj(lines, sys.stdout.buffer)
    show_note(f"Wrote {_describe_transfer(done)}.")


def _export_to_file(file: Path, filters: SharedFilterOptions, call: GlobalOptions) -> Any:
    with call.shelf() as memory, progress_bar("exporting") as advance:
        return memory.export(file, progress=advance, **filters.keywords)


def load(*, file: ExportFileArgument, call: GlobalOptions) -> None:
    """Read facts and edges that cofire export wrote.

    What is known already is recognised, not stored twice, and left as it is by now.
    """
    with _open_import_file(file) as path, call.memory(may_begin=True) as memory, progress_bar("importing") as advance:
        done = memory.load(path, progress=advance)
    if call.as_json:
        said = {"path": str(file), "facts": done.facts, "edges": done.edges, "new": done.new}
        return show_json({**said, "store": call.place})
    new = f"{format_count(done.new, 'fact')} {'is' if done.new == 1 else 'are'} new"
    return show_text(f"Read {_describe_transfer(done)} from {input_lines.describe_origin(file)}; {new}.")


@contextmanager
def _open_import_file(file: Path) -> Iterator[Path]:
    """The file itself, which must be there, or one that holds what standard input says; errors do not tell its name."""
    if not input_lines.is_stream(file):
        input_lines.refuse_unreadable_file(file)
        yield file
        return
    with TemporaryDirectory() as folder:
        kept = Path(folder, "import.jsonl")
        kept.write_bytes(
            input_lines.read_input_bytes("Give the lines of an export; end with Ctrl-D on a line of its own.")
        )
        try:
            yield kept
        except InvalidInput as error:
            named = error.problem.replace(f"The file {kept}", "The input").replace(
                str(kept), input_lines.describe_origin(file)
            )
            raise type(error)(named[0].upper() + named[1:], way_out=error.way_out) from error


def _describe_transfer(moved: Any) -> str:
    return f"{format_count(moved.facts, 'fact')} and {format_count(moved.edges, 'edge')}"


def refuse_to_overwrite(file: Path, call: GlobalOptions, *, force: bool) -> None:
    """The store itself is never overwritten, anything else only if that was said."""
    if not file.exists():
        return
    if call.file is not None and call.file.exists() and file.samefile(call.file):
        raise StoreNotOpened(f"{file} is the store itself.", way_out="Give the name of another file.")
    if not force:
        raise StoreNotOpened(f"{file} exists already.", way_out="Give the name of a new file, or say --force.")
