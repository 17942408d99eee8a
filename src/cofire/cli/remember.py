"""The commands `remember` and `ingest`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer

import cofire
from cofire.cli.options import GlobalOptions, parse_pairs
from cofire.cli.terminal import (
    STREAM_PATH,
    InputLine,
    ProgressCount,
    ProgressStep,
    progress_bar,
    read_lines,
    read_standard_input,
    show_json,
    show_note,
    show_text,
    show_warning,
    styled_text,
)
from cofire.errors import CofireError, InvalidInput
from cofire.explain import format_count
from cofire.interfaces.reports import translate_item_error


def _fact_field_option(flag: str, metavar: str, text: str) -> Any:
    return typer.Option(flag, metavar=metavar, help=text)


TextsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="TEXT", help="The text of a fact. Repeatable; - reads one text from standard input."),
]
FileOption = Annotated[
    Path | None,
    typer.Option(
        "--file",
        metavar="PATH",
        help="Store every line of a file as a fact; - is standard input. A line of a .jsonl file is a string, or an "
        "object with the fields of a fact: text, tags, at, …",
    ),
]
SkipErrorsOption = Annotated[
    bool,
    typer.Option("--skip-errors", help="Skip invalid lines of --file and report them. Default: store nothing."),
]
JsonLinesOption = Annotated[
    bool, typer.Option("--jsonl", help="Parse the lines of --file as JSON, regardless of its name.")
]


@dataclass(frozen=True)
class FactFieldOptions:
    """Fields of facts besides the text. A fact keeps its own values; tags and metadata are added."""

    tag: Annotated[list[str] | None, _fact_field_option("--tag", "NAME", "A tag. Repeatable.")] = None
    category: Annotated[str | None, _fact_field_option("--category", "NAME", "The category.")] = None
    subject: Annotated[str | None, _fact_field_option("--subject", "NAME", "The subject.")] = None
    at: Annotated[
        str | None, _fact_field_option("--at", "TIME", "The time of the event, for example 2026-05-08T13:56.")
    ] = None
    session: Annotated[str | None, _fact_field_option("--session", "NAME", "The conversation.")] = None
    speaker: Annotated[str | None, _fact_field_option("--speaker", "NAME", "The speaker.")] = None
    scope: Annotated[
        str | None,
        _fact_field_option("--scope", "NAME", "The scope. Recall searches the scope default unless another is given."),
    ] = None
    source: Annotated[
        str | None, _fact_field_option("--source", "NAME", "The origin, for example a file or a URL.")
    ] = None
    meta: Annotated[
        list[str] | None, _fact_field_option("--meta", "KEY=VALUE", "Metadata, stored as text. Repeatable.")
    ] = None
    valid_from: Annotated[str | None, _fact_field_option("--valid-from", "TIME", "The start of its validity.")] = None
    valid_until: Annotated[str | None, _fact_field_option("--valid-until", "TIME", "The end of its validity.")] = None
    expires: Annotated[
        str | None, _fact_field_option("--expires", "TIME", "Exclude it from recall from this time on.")
    ] = None
    supersedes: Annotated[
        list[str] | None, _fact_field_option("--supersedes", "ID", "An older fact that this one replaces. Repeatable.")
    ] = None

    @property
    def keywords(self) -> dict[str, Any]:
        """The fields that are set, as keyword arguments of Memory.remember."""
        values = {
            "category": self.category,
            "subject": self.subject,
            "at": self.at,
            "session": self.session,
            "speaker": self.speaker,
            "scope": self.scope,
            "source": self.source,
            "valid_from": self.valid_from,
            "valid_until": self.valid_until,
            "expires": self.expires,
            "supersedes": self.supersedes,
            "tags": self.tag,
            "metadata": parse_pairs(self.meta or [], "--meta"),
        }
        return {name: value for name, value in values.items() if value not in (None, [], {})}


def remember(
    *,
    texts: TextsArgument = None,
    file: FileOption = None,
    jsonl: JsonLinesOption = False,
    skip_errors: SkipErrorsOption = False,
    fields: FactFieldOptions,
    call: GlobalOptions,
) -> None:
    """Store facts and print their ids.

    A fact that is already stored keeps its id. All facts are checked before the first is stored. With --file, --tag and --meta
    add to the fields of each line; other options apply to lines without that field. Put quotes around each TEXT:

    cofire remember "Ana leads the Berlin office." --tag team
    """
    if file is None:
        if skip_errors:
            raise InvalidInput("--skip-errors needs --file.", way_out="Add --file PATH, or leave --skip-errors out.")
        _remember_texts(call, fields, _collect_texts(texts or []))
    elif texts:
        raise InvalidInput("Both TEXT and --file were given.", way_out="Give one of the two.")
    else:
        _remember_file(call, fields, read_lines(file, as_json=jsonl), skip_errors=skip_errors)


def _collect_texts(texts: list[str]) -> list[str]:
    """The texts to store. Several single words are most likely one text without quotes, and are rejected."""
    if not texts:
        raise InvalidInput(
            "No text was given.", way_out='Put it in quotes: cofire remember "Ana leads the Berlin office."'
        )
    if len(texts) > 1 and all(_is_single_word(text) for text in texts):
        raise InvalidInput(
            f"{len(texts)} single words were given; each would become a fact.",
            way_out='Put quotes around the text: cofire remember "Ana leads the Berlin office."',
        )
    return [read_standard_input() if text == STREAM_PATH else text for text in texts]


def _is_single_word(text: str) -> bool:
    """Whether the text is one word, in a script that separates words by spaces."""
    return text != STREAM_PATH and not any(letter.isspace() or letter >= "\u2e80" for letter in text)


def _remember_texts(call: GlobalOptions, fields: FactFieldOptions, texts: list[str]) -> None:
    with call.open_memory(may_create=True) as memory:
        try:
            ids: list[str] = memory.remember(texts, **fields.keywords)
        except CofireError as error:
            raise translate_item_error(error, len(texts)) from error
    if call.as_json:
        return show_json({"ids": ids})
    for id in ids:
        show_text(id)
    show_note(_describe_stored(ids, "text"))


def _remember_file(call: GlobalOptions, fields: FactFieldOptions, lines: list[InputLine], *, skip_errors: bool) -> None:
    with call.open_memory(may_create=True) as memory:
        ids, skipped = _store_lines(memory, lines, fields.keywords, skip_errors=skip_errors)
    if call.as_json:
        return show_json({"ids": ids, "skipped": [asdict(line) for line in skipped]})
    show_text(_describe_stored([id for id in ids if id is not None], "line"))
    for line in skipped:
        show_warning(f"Skipped line {line.line}: {line.problem} {line.way_out}")


def _describe_stored(ids: list[str], unit: str) -> str:
    """The number of facts stored. Equal texts become one fact.

    >>> _describe_stored(["a", "b"], "line"), _describe_stored(["a", "b", "a"], "line")
    ('Stored 2 facts.', 'Stored 2 facts from 3 lines.')
    """
    facts = len(set(ids))
    origin = f" from {format_count(len(ids), unit)}" if facts < len(ids) else ""
    return f"Stored {format_count(facts, 'fact')}{origin}."


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """A line of a file that was not stored: its number, the problem and the way out."""

    line: int
    problem: str
    way_out: str


def _store_lines(
    memory: cofire.Memory, lines: list[InputLine], common: dict[str, Any], *, skip_errors: bool
) -> tuple[list[str | None], list[SkippedLine]]:
    """Store all lines, or nothing if one is invalid; with `skip_errors`, all valid lines."""
    facts: list[str | dict[str, Any]] = []
    valid_lines: list[InputLine] = []
    skipped: list[SkippedLine] = []
    for line in lines:
        try:
            facts.append(_merge_line_fields(line.parse(), common))
            valid_lines.append(line)
        except InvalidInput as error:
            if not skip_errors:
                raise _make_line_error(line, error) from error
            skipped.append(SkippedLine(line.number, error.problem, error.way_out))
    stored: Iterable[str | None]
    with progress_bar("storing", len(lines)) as advance:
        if skip_errors:
            result = memory.remember(facts, errors="skip", progress=advance, **common)
            skipped += [
                SkippedLine(valid_lines[item.index].number, item.problem, item.way_out) for item in result.skipped
            ]
            stored = result
        else:
            stored = _store_facts(memory, facts, valid_lines, common, advance)
    ids = dict(zip((line.number for line in valid_lines), stored, strict=True))
    return [ids.get(line.number) for line in lines], sorted(skipped, key=lambda line: line.line)


def _store_facts(
    memory: cofire.Memory,
    facts: list[str | dict[str, Any]],
    lines: list[InputLine],
    common: dict[str, Any],
    advance: Callable[[ProgressStep], None],
) -> list[str]:
    """Store all facts. The error of an invalid fact names its line."""
    try:
        ids: list[str] = memory.remember(facts, progress=advance, **common)
        return ids
    except CofireError as error:
        cause = error.__cause__
        if error.index is None or not isinstance(cause, CofireError):
            raise
        raise _make_line_error(lines[error.index], cause) from cause


def _merge_line_fields(line: str | dict[str, Any], common: dict[str, Any]) -> str | dict[str, Any]:
    """A line with the common tags and metadata added. Values of a wrong type are left for `remember` to reject.

    >>> _merge_line_fields({"text": "Tea at four.", "tags": "tea"}, {"tags": ["habit"], "scope": "home"})
    {'text': 'Tea at four.', 'tags': ['habit', 'tea']}
    """
    if isinstance(line, str):
        return line
    merged = dict(line)
    tags = [line["tags"]] if isinstance(line.get("tags"), str) else line.get("tags")
    if isinstance(tags, list):
        merged["tags"] = [*common.get("tags", ()), *tags]
    metadata = line.get("metadata")
    if isinstance(metadata, dict):
        merged["metadata"] = {**common.get("metadata", {}), **metadata}
    return merged


def _make_line_error(line: InputLine, error: CofireError) -> CofireError:
    return type(error)(
        f"Line {line.number} of {line.origin}: {error.problem} Nothing was stored.",
        way_out=f"{error.way_out} Correct the line, or skip invalid lines with --skip-errors.",
    )


MAX_EXAMPLES = 3

PathsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH",
        help="Files and folders: Markdown, plain text, chat exports, and messages as JSON or JSON Lines.",
    ),
]
SystemOption = Annotated[bool, typer.Option("--system", help="Include the system messages of conversations.")]


class SkippedSourceLike(Protocol):
    """A skipped item and the reason."""

    @property
    def where(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def count(self) -> int: ...


class IngestResultLike(Protocol):
    """The result of ingesting one path."""

    @property
    def ids(self) -> tuple[str, ...]: ...
    @property
    def fresh(self) -> int: ...
    @property
    def known(self) -> int: ...
    @property
    def files(self) -> tuple[str, ...]: ...
    @property
    def skipped(self) -> tuple[SkippedSourceLike, ...]: ...


@dataclass(frozen=True)
class IngestTotals:
    """The sums over all paths."""

    ids: tuple[str, ...] = ()
    fresh: int = 0
    known: int = 0
    files: tuple[str, ...] = ()
    skipped: tuple[SkippedSourceLike, ...] = ()

    def plus(self, result: IngestResultLike) -> IngestTotals:
        return IngestTotals(
            self.ids + result.ids,
            self.fresh + result.fresh,
            self.known + result.known,
            self.files + result.files,
            self.skipped + result.skipped,
        )


def ingest(
    *, paths: PathsArgument, system: SystemOption = False, fields: FactFieldOptions, call: GlobalOptions
) -> None:
    """Store conversations and documents, one fact per turn or paragraph.

    Facts that are already stored stay unchanged, so a second run stores nothing twice. Options apply to facts without that
    field.

    cofire ingest notes/ chat.json --scope team
    """
    if STREAM_PATH in paths:
        raise InvalidInput(
            "ingest reads files and folders, not standard input.",
            way_out="Save the text to a file, or store it as one fact with: cofire remember -",
        )
    with call.open_memory(may_create=True) as memory:
        totals = _ingest_paths(memory, paths, {**fields.keywords, "system": system})
        advice = memory.stats().advice
    if call.as_json:
        return show_json(asdict(totals))
    files = format_count(len(totals.files), "file")
    show_text(f"{format_count(totals.fresh, 'new fact')}, {totals.known:,} already stored, {files}")
    _show_skipped(totals.skipped)
    if advice:
        show_note(advice)


def _ingest_paths(memory: cofire.Memory, paths: Sequence[str], keywords: dict[str, Any]) -> IngestTotals:
    totals = IngestTotals()
    with progress_bar("ingesting") as advance:
        for path in paths:
            totals = totals.plus(_ingest_path(memory, path, keywords, totals, advance))
    return totals


def _ingest_path(
    memory: cofire.Memory,
    path: str,
    keywords: dict[str, Any],
    totals: IngestTotals,
    advance: Callable[[ProgressStep], None],
) -> IngestResultLike:
    def advance_total(step: ProgressStep) -> None:
        advance(ProgressCount(len(totals.ids) + step.done, None))

    try:
        return memory.ingest(path, progress=advance_total, **keywords)
    except InvalidInput as error:
        if not totals.files:
            raise
        stored = (
            f"{format_count(len(totals.files), 'earlier file')} {'is' if len(totals.files) == 1 else 'are'} stored."
        )
        raise InvalidInput(
            f"{error.problem} {stored}",
            way_out=f"{error.way_out} If you give a folder, its unreadable files are skipped.",
        ) from error


def _show_skipped(skipped: Iterable[SkippedSourceLike]) -> None:
    """The skipped items, one line per reason, with a few places."""
    items_by_reason: dict[str, list[SkippedSourceLike]] = defaultdict(list)
    for item in skipped:
        items_by_reason[item.reason].append(item)
    for reason, items in items_by_reason.items():
        places = list(dict.fromkeys(item.where for item in items))
        more = f", … {len(places) - MAX_EXAMPLES:,} more" if len(places) > MAX_EXAMPLES else ""
        show_text(f"{sum(item.count for item in items):,} skipped: {reason}")
        show_text(styled_text(f"{', '.join(places[:MAX_EXAMPLES])}{more}", "dim"), indent=4)
