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

from cofire.cli.options import GlobalOptions, SharedFilterOptions
from cofire.cli.terminal import (
    describe_origin,
    is_stream,
    progress_bar,
    read_input_bytes,
    refuse_unreadable_file,
    show_json,
    show_note,
    show_text,
)
from cofire.errors import InvalidInput, StoreNotOpened
from cofire.explain import format_count

# Loaded on use, because it imports the stores.
COPYING_MODULE = "cofire.copying"

NewBackupArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The backup file to create.")]
BackupFileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="A file created by cofire backup.")]
ForceReplaceOption = Annotated[bool, typer.Option("--force", help="Replace an existing store.")]


def backup(*, file: NewBackupArgument, call: GlobalOptions) -> None:
    """Copy the store to a new file. Other processes may use the store meanwhile."""
    with call.open_without_embedder() as memory:
        memory.backup(file)
        facts = memory.stats().size.facts
    if call.as_json:
        return show_json({"backup": str(file), "store": call.location, "facts": facts, "bytes": file.stat().st_size})
    show_text(f"Copied {format_count(facts, 'fact')} to {file}. Restore them with: cofire restore {file}")


def restore(*, file: BackupFileArgument, force: ForceReplaceOption = False, call: GlobalOptions) -> None:
    """Create a store from a backup.

    An existing store is replaced only with --force.
    """
    target = str(call.file or call.location)
    replaced: str | None = import_module(COPYING_MODULE).restore(str(file), target, force=force)
    with call.open_without_embedder() as memory:
        facts = memory.stats().size.facts
    if call.as_json:
        return show_json({"store": call.location, "backup": str(file), "facts": facts, "replaced": replaced})
    show_text(f"Restored {format_count(facts, 'fact')} from {file} to {call.location}.")
    if replaced:
        show_text(f"The previous store is kept in {replaced}")


def reembed(*, call: GlobalOptions) -> None:
    """Embed every fact again with the embedder of the settings, after it has changed.

    You can interrupt the command and run it again. Until it is done, recall uses the old vectors.
    """
    with call.open_memory(reembedding=True) as memory, progress_bar("embedding") as advance:
        embedded = memory.reembed(progress=advance)
        model = memory.stats().model
    if call.as_json:
        return show_json({"embedded": embedded, "model": model})
    show_text(f"Embedded {format_count(embedded, 'fact')} with {model}.")


CopySourceArgument = Annotated[
    str, typer.Argument(metavar="SOURCE", help="The store to copy: a file, or the URL of a server.")
]
CopyTargetArgument = Annotated[
    str, typer.Argument(metavar="TARGET", help="The target: a new file, or the URL of a server.")
]
VerifyOnlyOption = Annotated[bool, typer.Option("--verify-only", help="Copy nothing; only compare the two stores.")]


def copy(
    *,
    source: CopySourceArgument,
    target: CopyTargetArgument,
    verify_only: VerifyOnlyOption = False,
    call: GlobalOptions,
) -> None:
    """Copy a whole memory to another store, and compare both by checksum.

    You can interrupt the command and run it again. Do not write to either store meanwhile.

    cofire copy team.db neo4j://localhost:7687
    """
    if call.store is not None:
        raise InvalidInput("copy does not take --store.", way_out="Run: cofire copy SOURCE TARGET")
    copying = import_module(COPYING_MODULE)
    with progress_bar("comparing" if verify_only else "copying") as advance:
        run = copying.compare if verify_only else copying.copy
        result = run(source, target, advance=advance)
    target_location = copying.describe_location(target)
    if call.as_json:
        locations = {"source": copying.describe_location(source), "target": target_location}
        counts = {"copied": result.copied, "there": result.there}
        return show_json({**locations, **counts, **_tally_json(result.tally)})
    if not verify_only:
        existing = f"; {result.there:,} already existed" if result.there else ""
        show_text(f"Copied {format_count(result.copied, 'fact')} to {target_location}{existing}.")
    _show_tally(result.tally)


def _tally_json(tally: Any) -> dict[str, object]:
    return {
        "rows": dict(tally.rows),
        "scopes": dict(tally.scopes),
        "edges": dict(tally.kinds),
        "checksums": dict(tally.checksums),
        "checksum": tally.checksum,
    }


def _show_tally(tally: Any) -> None:
    counts = [
        format_count(tally.rows["facts"], "fact"),
        format_count(tally.rows["vectors"], "vector"),
        format_count(sum(tally.kinds.values()), "edge"),
        format_count(tally.rows["mentions"], "mention"),
    ]
    show_text(f"Both stores are equal: {', '.join(counts)}. Checksum {tally.checksum}")


NewExportArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="The file to create: GraphML if it ends in .graphml, else JSON Lines; - writes JSON Lines to standard output.",
    ),
]
ExportFileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="A JSON Lines file created by cofire export; - is standard input.")
]
ForceOverwriteOption = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]


def export(
    *, file: NewExportArgument, force: ForceOverwriteOption = False, filters: SharedFilterOptions, call: GlobalOptions
) -> None:
    """Write facts and the edges between them to a file. All scopes by default.

    cofire import reads JSON Lines; Gephi and networkx read GraphML.

    cofire export team.jsonl --scope team
    """
    if is_stream(file):
        return _export_to_stdout(filters, call)
    refuse_to_overwrite(file, call, force=force)
    result = _export_to_file(file, filters, call)
    if call.as_json:
        return show_json({**asdict(result), "store": call.location})
    return show_text(f"Wrote {_describe_transfer(result)} to {result.path}.")


def _export_to_stdout(filters: SharedFilterOptions, call: GlobalOptions) -> None:
    """Write to a temporary file first, so that a failure does not leave half an export in the pipe."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "export.jsonl")
        result = _export_to_file(file, filters, call)
        sys.stdout.flush()
        with file.open("rb") as lines:
            shutil.copyfileobj(lines, sys.stdout.buffer)
    show_note(f"Wrote {_describe_transfer(result)}.")


def _export_to_file(file: Path, filters: SharedFilterOptions, call: GlobalOptions) -> Any:
    with call.open_without_embedder() as memory, progress_bar("exporting") as advance:
        return memory.export(file, progress=advance, **filters.keywords)


def load(*, file: ExportFileArgument, call: GlobalOptions) -> None:
    """Read facts and edges from a file that cofire export created.

    Facts that are already stored are recognised and stay unchanged.
    """
    with (
        _open_import_file(file) as path,
        call.open_memory(may_create=True) as memory,
        progress_bar("importing") as advance,
    ):
        result = memory.load(path, progress=advance)
    if call.as_json:
        counts = {"facts": result.facts, "edges": result.edges, "new": result.new}
        return show_json({"path": str(file), **counts, "store": call.location})
    new = format_count(result.new, "new fact")
    return show_text(f"Read {_describe_transfer(result)} from {describe_origin(file)}; {new}.")


@contextmanager
def _open_import_file(file: Path) -> Iterator[Path]:
    """The file to import, or a temporary copy of standard input, which error messages do not name."""
    if not is_stream(file):
        refuse_unreadable_file(file)
        yield file
        return
    with TemporaryDirectory() as folder:
        copied = Path(folder, "import.jsonl")
        copied.write_bytes(read_input_bytes("Paste the lines of an export; end with Ctrl-D on a line of its own."))
        try:
            yield copied
        except InvalidInput as error:
            problem = error.problem.replace(f"The file {copied}", "The input").replace(
                str(copied), describe_origin(file)
            )
            raise type(error)(problem[0].upper() + problem[1:], way_out=error.way_out) from error


def _describe_transfer(result: Any) -> str:
    return f"{format_count(result.facts, 'fact')} and {format_count(result.edges, 'edge')}"


def refuse_to_overwrite(file: Path, call: GlobalOptions, *, force: bool) -> None:
    """Raise if the file exists and --force is missing, or if it is the store itself."""
    if not file.exists():
        return
    if call.file is not None and call.file.exists() and file.samefile(call.file):
        raise StoreNotOpened(f"{file} is the store itself.", way_out="Give the name of another file.")
    if not force:
        raise StoreNotOpened(f"{file} already exists.", way_out="Give the name of a new file, or add --force.")
