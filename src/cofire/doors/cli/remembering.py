"""`cofire remember`: texts from the command line, from standard input or from a file become facts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import cofire
from cofire.doors.cli import incoming
from cofire.doors.cli.calling import Call
from cofire.doors.cli.incoming import STREAM, Line
from cofire.doors.cli.layout import counted
from cofire.doors.cli.pairs import pairs
from cofire.doors.cli.screen import Done, bar, note, show, show_json
from cofire.errors import CofireError, InvalidFact, InvalidInput
from cofire.settings import BATCH


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
    *, texts: Texts = None, file: FileOption = None, jsonl: JsonLines = False, about: About, call: Call
) -> None:
    """Remember facts, and print their ids.

    The same fact told again keeps its id. With --file, --tag and --meta are added to what a line says; the other options hold
    for lines that do not say otherwise. Put quotes around each TEXT:

    cofire remember "Ana leads the Berlin office." --tag team
    """
    if file is None:
        _remember_texts(call, about, _texts(texts or []))
    elif texts:
        raise InvalidInput("Facts were given both as TEXT and by --file.", way_out="Give one of the two.")
    else:
        _remember_file(call, about, incoming.lines(file, as_json=jsonl))


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
        ids = memory.remember(texts, **about.keywords)
    if call.as_json:
        return show_json({"ids": ids})
    for id in ids:
        show(id)
    note(_in_words(ids, "text"))


def _remember_file(call: Call, about: About, lines: list[Line]) -> None:
    with call.memory(may_begin=True) as memory:
        ids = _remember_lines(memory, lines, about.keywords)
    if call.as_json:
        return show_json({"ids": ids})
    show(_in_words(ids, "line"))


def _in_words(ids: list[str], given: str) -> str:
    """How many facts came of it; said twice they are one.

    >>> _in_words(["a", "b"], "line"), _in_words(["a", "b", "a"], "line")
    ('Remembered 2 facts.', 'Remembered 2 facts from 3 lines.')
    """
    facts = len(set(ids))
    return f"Remembered {counted(facts, 'fact')}{f' from {counted(len(ids), given)}' if facts < len(ids) else ''}."


def _remember_lines(memory: cofire.Memory, lines: list[Line], common: dict[str, Any]) -> list[str]:
    size, ids = memory.settings()[BATCH], list[str]()
    with bar("remembering", len(lines)) as advance:
        for start in range(0, len(lines), size):
            ids += _remember_batch(memory, lines[start : start + size], common, before=ids)
            advance(Done(len(ids), len(lines)))
    return ids


def _remember_batch(
    memory: cofire.Memory, batch: list[Line], common: dict[str, Any], *, before: list[str]
) -> list[str]:
    """All lines at once or, where one of them cannot be used, those before it, and then the complaint about it."""
    try:
        return memory.remember([_joined(line.given(), common) for line in batch], **common)
    except InvalidInput:
        return _one_by_one(memory, batch, common, before=before)


def _one_by_one(memory: cofire.Memory, batch: list[Line], common: dict[str, Any], *, before: list[str]) -> list[str]:
    ids: list[str] = []
    for line in batch:
        try:
            ids.append(memory.remember(_joined(line.given(), common), **common))
        except InvalidInput as error:
            raise _at_line(line, error, len({*before, *ids})) from error
    return ids


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


def _at_line(line: Line, error: CofireError, kept: int) -> InvalidFact:
    before = (
        f"The {counted(kept, 'fact')} before it {'is' if kept == 1 else 'are'} kept." if kept else "Nothing was kept."
    )
    return InvalidFact(
        f"Line {line.number} of {line.origin}: {error.problem} {before}",
        way_out=f"{error.way_out} Mend the line and run the command again; what is known already is not stored twice.",
    )
