"""`cofire remember`: texts from the command line, from standard input or from a file become facts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import cofire
from cofire.doors.cli import incoming
from cofire.doors.cli.calling import Call
from cofire.doors.cli.incoming import STREAM, Line
from cofire.doors.cli.pairs import pairs
from cofire.doors.cli.screen import Step, bar, note, show, show_json, warn
from cofire.doors.refused_items import refusal_in_words
from cofire.errors import CofireError, InvalidInput
from cofire.xray import counted


def _option(flag: str, metavar: str, text: str) -> Any:
    return typer.Option(flag, metavar=metavar, help=text)


Texts = Annotated[
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
SkipErrors = Annotated[
    bool,
    typer.Option(
        "--skip-errors", help="Leave lines of --file that are refused out, and say why; else nothing is stored."
    ),
]
JsonLines = Annotated[bool, typer.Option("--jsonl", help="Take the lines of --file as JSON, whatever its name.")]


@dataclass(frozen=True)
class About:
    """What may be said of a fact besides its text. Of many it holds for each that does not say otherwise; tags and metadata are added."""

    tag: Annotated[list[str] | None, _option("--tag", "NAME", "A tag. Repeatable.")] = None
    category: Annotated[str | None, _option("--category", "NAME", "What kind of fact it is.")] = None
    subject: Annotated[str | None, _option("--subject", "NAME", "What it is about.")] = None
    at: Annotated[str | None, _option("--at", "TIME", "When it happened, as in 2026-05-08T13:56.")] = None
    session: Annotated[str | None, _option("--session", "NAME", "The conversation it belongs to.")] = None
    speaker: Annotated[str | None, _option("--speaker", "NAME", "Who said it.")] = None
    scope: Annotated[
        str | None, _option("--scope", "NAME", "Whose memory it is; recall sees one scope unless told.")
    ] = None
    source: Annotated[str | None, _option("--source", "NAME", "Where it was found.")] = None
    meta: Annotated[list[str] | None, _option("--meta", "KEY=VALUE", "Anything else, kept as text. Repeatable.")] = None
    valid_from: Annotated[str | None, _option("--valid-from", "TIME", "From when on it holds.")] = None
    valid_until: Annotated[str | None, _option("--valid-until", "TIME", "Until when it holds.")] = None
    expires: Annotated[str | None, _option("--expires", "TIME", "When it is no longer to be recalled.")] = None
    supersedes: Annotated[
        list[str] | None, _option("--supersedes", "ID", "An older fact that this one replaces. Repeatable.")
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
            "metadata": pairs(self.meta or [], "--meta"),
        }
        return {label: value for label, value in said.items() if value not in (None, [], {})}


def remember(
    *,
    texts: Texts = None,
    file: FileOption = None,
    jsonl: JsonLines = False,
    skip_errors: SkipErrors = False,
    about: About,
    call: Call,
) -> None:
    """Remember facts, and print their ids.

    A fact that is stored already keeps its id. Every fact is checked before the first is stored. With --file, --tag and --meta are
    added to the fields of a line; the other options hold for lines without the field. Put quotes around each TEXT:

    cofire remember "Ana leads the Berlin office." --tag team
    """
    if file is None:
        if skip_errors:
            raise InvalidInput("--skip-errors is about the lines of --file.", way_out="Name a file, or leave it out.")
        _remember_texts(call, about, _texts(texts or []))
    elif texts:
        raise InvalidInput("Facts were given both as TEXT and by --file.", way_out="Give one of the two.")
    else:
        _remember_file(call, about, incoming.lines(file, as_json=jsonl), skip_errors=skip_errors)


def _texts(given: list[str]) -> list[str]:
    """The texts to remember. Several bare words are one fact without its quotes, not a fact each."""
    if not given:
        raise InvalidInput(
            "Nothing was given to remember.", way_out='Say it in quotes: cofire remember "Ana leads the Berlin office."'
        )
    if len(given) > 1 and all(_is_bare(text) for text in given):
        raise InvalidInput(
            f"{len(given)} single words were given, each as a fact of its own.",
            way_out='Put quotes around the text, as in: cofire remember "Ana leads the Berlin office."',
        )
    return [incoming.standard_input() if text == STREAM else text for text in given]


def _is_bare(text: str) -> bool:
    """One word of a script that puts spaces between words."""
    return text != STREAM and not any(letter.isspace() or letter >= "\u2e80" for letter in text)


def _remember_texts(call: Call, about: About, texts: list[str]) -> None:
    with call.memory(may_begin=True) as memory:
        ids = _remember_all_texts(memory, texts, about.keywords)
    if call.as_json:
        return show_json({"ids": ids})
    for id in ids:
        show(id)
    note(_in_words(ids, "text"))


def _remember_all_texts(memory: cofire.Memory, texts: list[str], common: dict[str, Any]) -> list[str]:
    """Store all texts, or none and say which is refused."""
    try:
        ids: list[str] = memory.remember(texts, **common)
        return ids
    except CofireError as error:
        raise refusal_in_words(error, len(texts)) from error


def _remember_file(call: Call, about: About, lines: list[Line], *, skip_errors: bool) -> None:
    with call.memory(may_begin=True) as memory:
        ids, skipped = _remember_lines(memory, lines, about.keywords, skip_errors=skip_errors)
    if call.as_json:
        return show_json({"ids": ids, "skipped": [asdict(line) for line in skipped]})
    show(_in_words([id for id in ids if id is not None], "line"))
    for line in skipped:
        warn(f"Skipped line {line.line}: {line.problem} {line.way_out}")


def _in_words(ids: list[str], given: str) -> str:
    """How many facts came of it; said twice they are one.

    >>> _in_words(["a", "b"], "line"), _in_words(["a", "b", "a"], "line")
    ('Remembered 2 facts.', 'Remembered 2 facts from 3 lines.')
    """
    facts = len(set(ids))
    return f"Remembered {counted(facts, 'fact')}{f' from {counted(len(ids), given)}' if facts < len(ids) else ''}."


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """A line of a file that was not stored: its number, what is wrong, and what to do."""

    line: int
    problem: str
    way_out: str


def _remember_lines(
    memory: cofire.Memory, lines: list[Line], common: dict[str, Any], *, skip_errors: bool
) -> tuple[list[str | None], list[SkippedLine]]:
    """Store every line or, where one is refused, nothing; with `skip_errors` all lines but those that are refused."""
    facts: list[str | dict[str, Any]] = []
    sources: list[Line] = []
    skipped: list[SkippedLine] = []
    for line in lines:
        try:
            facts.append(_joined(line.given(), common))
            sources.append(line)
        except InvalidInput as error:
            if not skip_errors:
                raise _at_line(line, error) from error
            skipped.append(SkippedLine(line.number, error.problem, error.way_out))
    ids: dict[int, str | None] = {}
    with bar("remembering", len(lines)) as advance:
        if skip_errors:
            result = memory.remember(facts, errors="skip", progress=advance, **common)
            skipped += [SkippedLine(sources[item.index].number, item.problem, item.way_out) for item in result.skipped]
            ids.update(zip((line.number for line in sources), result, strict=True))
        else:
            stored = _remember_all(memory, facts, sources, common, advance)
            ids.update(zip((line.number for line in sources), stored, strict=True))
    return [ids.get(line.number) for line in lines], sorted(skipped, key=lambda item: item.line)


def _remember_all(
    memory: cofire.Memory,
    facts: list[str | dict[str, Any]],
    sources: list[Line],
    common: dict[str, Any],
    advance: Callable[[Step], None],
) -> list[str]:
    """Store all facts; the error of one that is refused names its line."""
    try:
        ids: list[str] = memory.remember(facts, progress=advance, **common)
        return ids
    except CofireError as error:
        refusal = error.__cause__
        if error.index is None or not isinstance(refusal, CofireError):
            raise
        raise _at_line(sources[error.index], refusal) from refusal


def _joined(given: str | dict[str, Any], common: dict[str, Any]) -> str | dict[str, Any]:
    """What a line says, with the tags and metadata that are said of all. What is neither is left for memory to refuse.

    >>> _joined({"text": "Tea at four.", "tags": "tea"}, {"tags": ["habit"], "scope": "home"})
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


def _at_line(line: Line, error: CofireError) -> CofireError:
    return type(error)(
        f"Line {line.number} of {line.origin}: {error.problem} Nothing was stored.",
        way_out=f"{error.way_out} Correct the line, or leave such lines out with --skip-errors.",
    )
