"""`cofire demo`: a small story told to a memory of its own, asked about, and in part forgotten."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from rich.text import Text

import cofire
from cofire.doors.cli import story
from cofire.doors.cli.calling import Call
from cofire.doors.cli.drawing import show_found
from cofire.doors.cli.dreaming import in_words
from cofire.doors.cli.listing import facts_json
from cofire.doors.cli.screen import show, show_json, styled, warn
from cofire.doors.cli.walking import show_walk, step_json, walk
from cofire.errors import EmbedderError
from cofire.xray import counted

NEXT = (
    ("cofire remember", '"Something worth knowing."', "keep a fact of your own"),
    ("cofire recall", '"What do I know?"', "ask for it"),
    ("cofire recall … --xray", "", "see why each fact came back"),
    ("cofire ingest", "notes/", "take in what you have written already"),
    ("cofire dream", "", "connect what was learned"),
    ("cofire list", "", "see what is there"),
    ("cofire config list", "", "see what can be changed"),
    ("cofire --help", "", "see everything else"),
)


def demo(*, call: Call) -> None:
    """See in a few seconds what memory does. Your own store is not touched."""
    with TemporaryDirectory(prefix="cofire-demo-", ignore_cleanup_errors=True) as folder:
        start = perf_counter()
        with _told(Path(folder)) as memory:
            if call.as_json:
                show_json(_as_json(memory))
            else:
                _show(memory, perf_counter() - start)


def _told(folder: Path) -> cofire.Memory:
    """A memory that knows the story, by words and meaning or, where the embedder does not work, by words alone."""
    try:
        return _remembered(cofire.Memory(folder / "demo.db"))
    except EmbedderError as error:
        warn(f"{error.problem} The demo goes on without an embedder: search goes by words alone.")
        return _remembered(cofire.Memory(folder / "words.db", embedder=None))


def _remembered(memory: cofire.Memory) -> cofire.Memory:
    try:
        memory.remember(story.FACTS)
    except BaseException:
        memory.close()
        raise
    return memory


def _as_json(memory: cofire.Memory) -> dict[str, Any]:
    recalls = [memory.recall(question, **asked).to_dict() for question, asked in story.QUESTIONS]
    dreamed = asdict(memory.dream())
    path = [step_json(step) for step in walk(memory, story.PATH)]
    forgotten = memory.forget(tags=story.SECRET_TAG)
    return {
        "mode": memory.stats().mode,
        "facts": facts_json(memory.facts()),
        "recalls": recalls,
        "dreamed": dreamed,
        "path": path,
        "forgotten": facts_json(list(forgotten.facts)),
    }


def _show(memory: cofire.Memory, seconds: float) -> None:
    _show_story(
        f"{counted(len(story.FACTS), 'fact')} remembered in {seconds:.2f} s, searched by {memory.stats().mode}."
    )
    for question, asked in story.QUESTIONS:
        _ask(memory, question, **asked)
    _dream(memory)
    _forget(memory)
    _say_what_next()


def _show_story(summary: str) -> None:
    _head("A team's memory", "Notes from a handbook, and what was said in two chats.")
    for fact in story.FACTS:
        who = f"{fact['speaker']}: " if "speaker" in fact else ""
        show(Text.assemble((who, "bold"), fact["text"]), lead=Text("  • ", "cyan"), indent=4)
    show(styled(summary, "dim"))


def _ask(memory: cofire.Memory, question: str, **asked: Any) -> None:
    options = " ".join(f"{'-' if len(name) == 1 else '--'}{name} {value}" for name, value in asked.items())
    _head(question, f'cofire recall "{question}" {options}')
    start = perf_counter()
    found = memory.recall(question, **asked)
    if found.known:
        show_found(found, explained=True)
    else:
        show(found.reason)
    show(styled(f"{(perf_counter() - start) * 1000:.0f} ms", "dim"))


def _dream(memory: cofire.Memory) -> None:
    _head("Dreaming", "cofire dream")
    show(in_words(memory.dream()))
    steps = list(walk(memory, story.PATH))
    _head(
        "From PostgreSQL to serverless",
        "The first and the last share no name. What links each to the next:",
    )
    show_walk(steps)
    show(styled("cofire show ID lists the links of any fact.", "dim"))


def _forget(memory: cofire.Memory) -> None:
    _ask(memory, story.SECRET_QUESTION, k=1)
    _head("Forgetting", f"cofire forget --tag {story.SECRET_TAG}")
    gone = memory.forget(tags=story.SECRET_TAG)
    show(f"Forgot {counted(len(gone.facts), 'fact')}: {gone.facts[0].text}")
    held = any(story.SECRET_TAG in hit.fact.tags for hit in memory.recall(story.SECRET_QUESTION))
    show(
        "Asked again, memory still knows it."
        if held
        else "Asked again, memory no longer knows it, by word or by meaning."
    )


def _say_what_next() -> None:
    _head("Your turn", "The demo's store is gone; yours was not touched.")
    for command, argument, what in NEXT:
        line = f"{command} {argument}".strip()
        show(styled(what, "dim"), lead=Text.assemble("  ", (line, "bold")), indent=46)


def _head(title: str, under: str) -> None:
    show()
    show(styled(title, "bold cyan"))
    if under:
        show(styled(under, "dim"))
