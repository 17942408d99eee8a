"""`cofire demo`: a small story told to a memory of its own, asked about, and in part forgotten."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from rich.text import Text

import cofire
from cofire.doors.cli import story
from cofire.doors.cli.calling import Call
from cofire.doors.cli.layout import counted, show_hits
from cofire.doors.cli.listing import facts_json
from cofire.doors.cli.screen import show, show_json, styled, warn
from cofire.errors import EmbedderError
from cofire.recollection import Recollection

NEXT = (
    ("cofire remember", '"Something worth knowing."', "keep a fact of your own"),
    ("cofire recall", '"What do I know?"', "ask for it"),
    ("cofire recall … --xray", "", "see why each fact came back"),
    ("cofire list", "", "see what is there"),
    ("cofire config list", "", "see what can be changed"),
    ("cofire --help", "", "see everything else"),
)


def demo(call: Call) -> None:
    """See in a few seconds what memory does. Your own store is not touched."""
    with (
        TemporaryDirectory(prefix="cofire-demo-", ignore_cleanup_errors=True) as folder,
        _open(str(Path(folder) / "demo.db")) as memory,
    ):
        if call.as_json:
            show_json(_as_json(memory))
        else:
            _tell(memory)


def _open(place: str) -> cofire.Memory:
    """A memory with the embedder of the settings or, where that does not work, without one."""
    memory = cofire.Memory(place)
    try:
        memory.remember(story.FACTS[0])
        return memory
    except EmbedderError as error:
        memory.close()
        warn(f"{error} The demo goes on without: search goes by words alone.")
        return cofire.Memory(place, embedder=None)


def _as_json(memory: cofire.Memory) -> dict[str, Any]:
    memory.remember(story.FACTS)
    recalls = [memory.recall(question, **asked).to_dict() for question, asked in story.QUESTIONS]
    forgotten = memory.forget(tags=story.SECRET_TAG)
    return {
        "mode": memory.stats().mode,
        "facts": facts_json(memory.facts()),
        "recalls": recalls,
        "forgotten": facts_json(list(forgotten.facts)),
    }


def _tell(memory: cofire.Memory) -> None:
    _remember(memory)
    for question, asked in story.QUESTIONS:
        _ask(memory, question, **asked)
    _forget(memory)
    _say_what_next()


def _remember(memory: cofire.Memory) -> None:
    _head("A team's memory", "Notes from a handbook, and what was said in two chats.")
    start = perf_counter()
    memory.remember(story.FACTS)
    for fact in story.FACTS:
        who = f"{fact['speaker']}: " if "speaker" in fact else ""
        show(Text.assemble(("• ", "cyan"), (who, "bold"), fact["text"]), indent=2)
    show(
        styled(
            f"{counted(len(story.FACTS), 'fact')} remembered in {perf_counter() - start:.2f} s; {memory.stats().mode}.",
            "dim",
        )
    )


def _ask(memory: cofire.Memory, question: str, **asked: Any) -> Recollection:
    filters = " ".join(f"--{name} {value}" for name, value in asked.items() if name != "k")
    _head(question, f"cofire recall {filters}".strip() if filters else "")
    start = perf_counter()
    found = memory.recall(question, **asked)
    if found.known:
        show_hits(found)
    else:
        show(f"Nothing known. {found.reason}")
    show(styled(f"{(perf_counter() - start) * 1000:.0f} ms", "dim"))
    return found


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
