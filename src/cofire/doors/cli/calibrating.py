"""`cofire calibrate`: from questions that memory can answer, when it is to be silent."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from cofire.doors.cli.calling import Call
from cofire.doors.cli.incoming import Line, lines
from cofire.doors.cli.screen import bar, show, show_json, warn
from cofire.errors import InvalidInput
from cofire.settings import Settings, knob
from cofire.xray import counted

THRESHOLD = "abstention.threshold"

QuestionFile = Annotated[
    Path,
    typer.Argument(metavar="FILE", help='One question a line, or JSON lines with a "text"; - is standard input.'),
]
FalseSilence = Annotated[
    float | None,
    typer.Option("--false-silence", metavar="SHARE", help="How many of them may fall silent. Without it: 0.01."),
]
ScopeOption = Annotated[
    list[str] | None,
    typer.Option("--scope", metavar="NAME", help="Where they are asked. Repeatable. Without it: default."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only tell the threshold; keep nothing.")]


def calibrate(
    *,
    file: QuestionFile,
    false_silence: FalseSilence = None,
    scope: ScopeOption = None,
    dry_run: DryRun = False,
    call: Call,
) -> None:
    """Find the evidence below which memory is silent, from questions of your own.

    Give 200 or more that memory can answer. The threshold under which one in a hundred of them falls silent is kept in the
    store, for everybody who opens it. Take it out again with: cofire config reset abstention.threshold --in-store

    cofire calibrate questions.txt --dry-run
    """
    asked = [question(line) for line in lines(file, as_json=False)]
    share = {} if false_silence is None else {"false_silence": false_silence}
    with call.memory() as memory, bar("asking") as advance:
        found = memory.calibrate(asked, scope=scope, dry_run=dry_run, progress=advance, **share)
        settings = memory.settings()
    if call.as_json:
        return show_json(asdict(found))
    spread = "  ".join(f"{name} {value:.3f}" for name, value in found.evidence.items())
    show(f"Evidence of {counted(found.questions, 'question')}: {spread}")
    show(in_words(found, call.place))
    for warning in (*found.warnings, *overlaid(found, settings)):
        warn(warning)


def question(line: Line) -> str:
    """What a line asks."""
    given = line.given()
    text = given if isinstance(given, str) else given.get("text")
    if not isinstance(text, str):
        raise InvalidInput(
            f"Line {line.number} of {line.origin} holds no question.",
            way_out='A line is a text, or an object as in {"text": "When is tea?"}',
        )
    return text


def in_words(found: Any, place: str) -> str:
    """The threshold in a sentence."""
    before = "words alone decided" if found.before is None else f"it was {found.before:g}"
    lost = f"{found.silent:,} of them {'falls' if found.silent == 1 else 'fall'} silent"
    fate = f"kept in {place}" if found.kept else "not kept"
    return f"{THRESHOLD} = {found.threshold:g}, under which {lost}; {before}. It is {fate}."


def overlaid(found: Any, settings: Settings) -> list[str]:
    """Whether another layer lies over what was kept."""
    chosen = knob(THRESHOLD)
    if not found.kept or settings[chosen] == found.threshold:
        return []
    return [f"It has no effect yet: the {settings.layer_of(chosen)} lays {settings[chosen]} over it."]
