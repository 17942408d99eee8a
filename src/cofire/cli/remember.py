"""The commands `remember` and `ingest`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer

import cofire
from cofire.cli import input_lines
from cofire.cli.input_lines import STREAM_PATH, InputLine
from cofire.cli.options import GlobalOptions, parse_pairs
from cofire.cli.terminal import (
    ProgressCount,
    ProgressStep,
    progress_bar,
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
    typer.Argument(
        metavar="TEXT", help="What to remember, each TEXT a fact of its own; - reads one from standard input."
    ),
]
FileOption = Annotated[
    Path | None,
    typer.Option(
        "--file",
        metavar="PATH",
        help="Remember every line of a file; - is standard input. A line of a .jsonl file is a text, or an object with "
        "the fields of a fact: text, tags, at, …",
    ),
]
SkipErrorsOption = Annotated[
    bool,
    typer.Option(
        "--skip-errors", help="Leave lines of --file that are refused out, and say why; else nothing is stored."
    ),
]
JsonLinesOption = Annotated[bool, typer.Option("--jsonl", help="Take the lines of --file as JSON, whatever its name.")]


@dataclass(frozen=True)
class FactFieldOptions:
    """What may be said of a fact besides its text. Of many it holds for each that does not say otherwise; tags and metadata are added."""

    tag: Annotated[list[str] | None, _fact_field_option("--tag", "NAME", "A tag. Repeatable.")] = None
    category: Annotated[str | None, _fact_field_option("--category", "NAME", "What kind of fact it is.")] = None
    subject: Annotated[str | None, _fact_field_option("--subject", "NAME", "What it is about.")] = None
    at: Annotated[str | None, _fact_field_option("--at", "TIME", "When it happened, as in 2026-05-08T13:56.")] = None
    session: Annotated[str | None, _fact_field_option("--session", "NAME", "The conversation it belongs to.")] = None
    speaker: Annotated[str | None, _fact_field_option("--speaker", "NAME", "Who said it.")] = None
    scope: Annotated[
        str | None, _fact_field_option("--scope", "NAME", "Whose memory it is; recall sees one scope unless told.")
    ] = None
    source: Annotated[str | None, _fact_field_option("--source", "NAME", "Where it was found.")] = None
    meta: Annotated[
        list[str] | None, _fact_field_option("--meta", "KEY=VALUE", "Anything else, kept as text. Repeatable.")
    ] = None
    valid_from: Annotated[str | None, _fact_field_option("--valid-from", "TIME", "From when on it holds.")] = None
    valid_until: Annotated[str | None, _fact_field_option("--valid-until", "TIME", "Until when it holds.")] = None
    expires: Annotated[str | None, _fact_field_option("--expires", "TIME", "When it is no longer to be recalled.")] = (
        None
    )
    supersedes: Annotated[
        list[str] | None, _fact_field_option("--supersedes", "ID", "An older fact that this one replaces. Repeatable.")
    ] = None

    @property
    def keywords(self) -> dict[str, Any]:
        """What was said, in the keywords of Memory.remember."""
        said = {
            **{
                label: getattr(self, label)
                for label in ("category", "subject", "at", "session", "speaker", "scope", "source")
            },
            **{label: getattr(self, label) for label in ("valid_from", "valid_until", "expires", "supersedes")},
            "tags": self.tag,
            "metadata": parse_pairs(self.meta or [], "--meta"),
        }
        return {label: value for label, value in said.items() if value not in (None, [], {})}


def remember(
    *,
    texts: TextsArgument = None,
    file: FileOption = None,
    jsonl: JsonLinesOption = False,
    skip_errors: SkipErrorsOption = False,
    about: FactFieldOptions,
    call: GlobalOptions,
) -> None:
    """Remember facts, and print their ids.

    A fact that is stored already keeps its id. Every fact is checked before the first is stored. With --file, --tag and --meta are
    added to the fields of a line; the other options hold for lines without the field. Put quotes around each TEXT:

    cofire remember "Ana leads the Berlin office." --tag team
    """
    if file is None:
        if skip_errors:
            raise InvalidInput("--skip-errors is about the lines of --file.", way_out="Name a file, or leave it out.")
        _remember_texts(call, about, _collect_texts(texts or []))
    elif texts:
        raise InvalidInput("Facts were given both as TEXT and by --file.", way_out="Give one of the two.")
    else:
        _remember_file(call, about, input_lines.read_lines(file, as_json=jsonl), skip_errors=skip_errors)


def _collect_texts(given: list[str]) -> list[str]:
    """The texts to remember. Several bare words are one fact without its quotes, not a fact each."""
    if not given:
        raise InvalidInput(
            "Nothing was given to remember.", way_out='Say it in quotes: cofire remember "Ana leads the Berlin office."'
        )
    if len(given) > 1 and all(_is_single_word(text) for text in given):
        raise InvalidInput(
            f"{len(given)} single words were given, each as a fact of its own.",
            way_out='Put quotes around the text, as in: cofire remember "Ana leads the Berlin office."',
        )
    return [input_lines.read_standard_input() if text == STREAM_PATH else text for text in given]


def _is_single_word(text: str) -> bool:
    """One word of a script that puts spaces between words."""
    return text != STREAM_PATH and not any(letter.isspace() or letter >= "\u2e80" for letter in text)


def _remember_texts(call: GlobalOptions, about: FactFieldOptions, texts: list[str]) -> None:
    with call.memory(may_begin=True) as memory:
        ids = _store_texts(memory, texts, about.keywords)
    if call.as_json:
        return show_json({"ids": ids})
    for id in ids:
        show_text(id)
    show_note(_describe_stored(ids, "text"))


def _store_texts(memory: cofire.Memory, texts: list[str], common: dict[str, Any]) -> list[str]:
    """Store all texts, or none and say which is refused."""
    try:
        ids: list[str] = memory.remember(texts, **common)
        return ids
    except CofireError as error:
        raise translate_item_error(error, len(texts)) from error


def _remember_file(call: GlobalOptions, about: FactFieldOptions, lines: list[InputLine], *, skip_errors: bool) -> None:
    with call.memory(may_begin=True) as memory:
        ids, skipped = _store_lines(memory, lines, about.keywords, skip_errors=skip_errors)
    if call.as_json:
        return show_json({"ids": ids, "skipped": [asdict(line) for line in skipped]})
    show_text(_describe_stored([id for id in ids if id is not None], "line"))
    for line in skipped:
        show_warning(f"Skipped line {line.line}: {line.problem} {line.way_out}")


def _describe_stored(ids: list[str], given: str) -> str:
    """How many facts came of it; said twice they are one.

    >>> _describe_stored(["a", "b"], "line"), _describe_stored(["a", "b", "a"], "line")
    ('Remembered 2 facts.', 'Remembered 2 facts from 3 lines.')
    """
    facts = len(set(ids))
    return f"Remembered {format_count(facts, 'fact')}{f' from {format_count(len(ids), given)}' if facts < len(ids) else ''}."


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """A line of a file that was not stored: its number, what is wrong, and what to do."""

    line: int
    problem: str
    way_out: str


def _store_lines(
    memory: cofire.Memory, lines: list[InputLine], common: dict[str, Any], *, skip_errors: bool
) -> tuple[list[str | None], list[SkippedLine]]:
    """Store every line or, where one is refused, nothing; with `skip_errors` all lines but those that are refused."""
    facts: list[str | dict[str, Any]] = []
    sources: list[InputLine] = []
    skipped: list[SkippedLine] = []
    for line in lines:
        try:
            facts.append(_merge_line_fields(line.given(), common))
            sources.append(line)
        except InvalidInput as error:
            if not skip_errors:
                raise _make_line_error(line, error) from error
            skipped.append(SkippedLine(line.number, error.problem, error.way_out))
    ids: dict[int, str | None] = {}
    with progress_bar("remembering", len(lines)) as advance:
        if skip_errors:
            result = memory.remember(facts, errors="skip", progress=advance, **common)
            skipped += [SkippedLine(sources[item.index].number, item.problem, item.way_out) for item in result.skipped]
            ids.update(zip((line.number for line in sources), result, strict=True))
        else:
            stored = _store_facts(memory, facts, sources, common, advance)
            ids.update(zip((line.number for line in sources), stored, strict=True))
    return [ids.get(line.number) for line in lines], sorted(skipped, key=lambda item: item.line)


def _store_facts(
    memory: cofire.Memory,
    facts: list[str | dict[str, Any]],
    sources: list[InputLine],
    common: dict[str, Any],
    advance: Callable[[ProgressStep], None],
) -> list[str]:
    """Store all facts; the error of one that is refused names its line."""
    try:
        ids: list[str] = memory.remember(facts, progress=advance, **common)
        return ids
    except CofireError as error:
        refusal = error.__cause__
        if error.index is None or not isinstance(refusal, CofireError):
            raise
        raise _make_line_error(sources[error.index], refusal) from refusal


def _merge_line_fields(given: str | dict[str, Any], common: dict[str, Any]) -> str | dict[str, Any]:
    """What a line says, with the tags and metadata that are said of all. What is neither is left for memory to refuse.

    >>> _merge_line_fields({"text": "Tea at four.", "tags": "tea"}, {"tags": ["habit"], "scope": "home"})
    {'text': 'Tea at four.', 'tags': ['habit', 'tea']}
    """
    if isinstance(given, str):
        return given
    tags, metadata = given.get("tags"), given.get("metadata")
    own = [tags] if isinstance(tags, str) else tags
    more: dict[str, Any] = {"tags": [*common.get("tags", ()), *own]} if isinstance(own, list) else {}
    if isinstance(metadata, dict):
        more["metadata"] = {**common.get("metadata", {}), **metadata}
    return {**given, **more}


def _make_line_error(line: InputLine, error: CofireError) -> CofireError:
    return type(error)(
        f"Line {line.number} of {line.origin}: {error.problem} Nothing was stored.",
        way_out=f"{error.way_out} Correct the line, or leave such lines out with --skip-errors.",
    )


MAX_EXAMPLES = 3

PathsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH", help="Files and folders: Markdown, text, chat exports, and messages in JSON or JSON lines."
    ),
]
SystemOption = Annotated[bool, typer.Option("--system", help="Take in the system's messages of a conversation too.")]


class SkippedSourceLike(Protocol):
    """Something that was left out, and why."""

    @property
    def where(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def count(self) -> int: ...


class IngestResultLike(Protocol):
    """What came of one path."""

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
    """What came of all paths together."""

    ids: tuple[str, ...] = ()
    fresh: int = 0
    known: int = 0
    files: tuple[str, ...] = ()
    skipped: tuple[SkippedSourceLike, ...] = ()

    def and_also(self, found: IngestResultLike) -> IngestTotals:
        return IngestTotals(
            self.ids + found.ids,
            self.fresh + found.fresh,
            self.known + found.known,
            self.files + found.files,
            self.skipped + found.skipped,
        )


def ingest(*, paths: PathsArgument, system: SystemOption = False, about: FactFieldOptions, call: GlobalOptions) -> None:
    """Remember conversations and documents, each turn or paragraph a fact.

    What is known already is left as it is, so a second run stores nothing twice. Options hold for every fact whose text does
    not say otherwise.

    cofire ingest notes/ chat.json --scope team
    """
    _refuse_standard_input(paths)
    with call.memory(may_begin=True) as memory:
        taken = _ingest_paths(memory, paths, {**about.keywords, "system": system})
        advice = memory.stats().advice
    if call.as_json:
        return show_json(asdict(taken))
    show_text(f"{taken.fresh:,} new, {taken.known:,} known, {format_count(len(taken.files), 'file')}")
    _show_skipped(taken.skipped)
    if advice:
        show_note(advice)


def _refuse_standard_input(paths: Sequence[str]) -> None:
    """What a text is, and what to call it, is seen from its file."""
    if STREAM_PATH in paths:
        raise InvalidInput(
            "ingest reads files and folders, not standard input.",
            way_out="Save it to a file and give that, or keep the text as one fact with: cofire remember -",
        )


def _ingest_paths(memory: cofire.Memory, paths: Sequence[str], keywords: dict[str, Any]) -> IngestTotals:
    taken = IngestTotals()
    with progress_bar("ingesting") as advance:
        for path in paths:
            taken = taken.and_also(_ingest_path(memory, path, keywords, taken, advance))
    return taken


def _ingest_path(
    memory: cofire.Memory,
    path: str,
    keywords: dict[str, Any],
    before: IngestTotals,
    advance: Callable[[ProgressStep], None],
) -> IngestResultLike:
    def go_on(step: ProgressStep) -> None:
        advance(ProgressCount(len(before.ids) + step.done, None))

    try:
        return memory.ingest(path, progress=go_on, **keywords)
    except InvalidInput as error:
        if not before.files:
            raise
        raise _make_partial_error(before, error) from error


def _make_partial_error(taken: IngestTotals, error: InvalidInput) -> InvalidInput:
    kept = f"The {format_count(len(taken.files), 'file')} before it {'is' if len(taken.files) == 1 else 'are'} kept."
    return InvalidInput(
        f"{error.problem} {kept}",
        way_out=f"{error.way_out} A folder can be given as a whole: what cannot be read in it is passed over.",
    )


def _show_skipped(skipped: Iterable[SkippedSourceLike]) -> None:
    """What was left out, a line for each reason, with a few places."""
    by_reason: dict[str, list[SkippedSourceLike]] = defaultdict(list)
    for one in skipped:
        by_reason[one.reason].append(one)
    for reason, those in by_reason.items():
        places = list(dict.fromkeys(one.where for one in those))
        more = f", … {len(places) - MAX_EXAMPLES:,} more" if len(places) > MAX_EXAMPLES else ""
        show_text(f"{sum(one.count for one in those):,} skipped: {reason}")
        show_text(styled_text(f"{', '.join(places[:MAX_EXAMPLES])}{more}", "dim"), indent=4)
