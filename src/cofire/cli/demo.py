"""The command `demo`: stores sample facts and shows recall, dream and forget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from rich.text import Text

import cofire
from cofire import explain
from cofire.cli.graph import describe_dream
from cofire.cli.layout import link_arrow, show_recollection
from cofire.cli.options import GlobalOptions
from cofire.cli.terminal import show_json, show_text, show_warning, styled_text
from cofire.errors import EmbedderError
from cofire.explain import format_count
from cofire.interfaces.json_shapes import facts_json, find_other_end
from cofire.interfaces.plain_text import format_score
from cofire.model import Link

DEMO_FACTS: tuple[dict[str, Any], ...] = (
    {"text": "We use PostgreSQL 15 for the production database.", "tags": ["db"], "source": "handbook.md"},
    {"text": "PostgreSQL connection pooling is configured via PgBouncer.", "tags": ["db"], "source": "handbook.md"},
    {
        "text": "PgBouncer sessions should be set to transaction mode for serverless.",
        "tags": ["db"],
        "source": "runbook.md",
    },
    {"text": "The API runs as serverless functions in Frankfurt.", "tags": ["infra"], "source": "handbook.md"},
    {"text": "Invoices are sent on the first working day of the month.", "category": "process"},
    {"text": "Ana leads the platform team and is on call in odd weeks.", "subject": "Ana", "category": "people"},
    {"text": "Tomás moved from support to the billing team in March.", "subject": "Tomás", "category": "people"},
    {
        "text": "The deploy failed again, too many connections to the database.",
        "speaker": "Tomás",
        "session": "deploy-42",
        "at": "2026-05-08T09:12:00Z",
    },
    {
        "text": "That happens when every function opens its own session. Did somebody change the pool mode?",
        "speaker": "Ana",
        "session": "deploy-42",
        "at": "2026-05-08T09:13:00Z",
    },
    {
        "text": "Yes, I did on Tuesday, to try prepared statements. I will change it back.",
        "speaker": "Tomás",
        "session": "deploy-42",
        "at": "2026-05-08T09:15:00Z",
    },
    {
        "text": "Lunch on Friday is at the Vietnamese place, half past twelve.",
        "speaker": "Mei",
        "session": "office",
        "at": "2026-05-08T10:02:00Z",
    },
    {
        "text": "The door code of the old office is 4471.",
        "speaker": "Mei",
        "session": "office",
        "at": "2026-05-08T10:05:00Z",
        "tags": ["secret"],
    },
)

DEMO_QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("What database configuration do we use for serverless?", {"k": 4}),
    ("Who is on call when a deploy goes wrong?", {"k": 2}),
    ("What was changed, and why?", {"k": 1, "speaker": "Tomás"}),
)

# Three facts in a chain. The first and the last have no content word in common.
DEMO_PATH = tuple(str(fact["text"]) for fact in DEMO_FACTS[:3])

SECRET_QUESTION = "What is the door code?"
SECRET_TAG = "secret"


@dataclass(frozen=True)
class DemoPathStep:
    """Two neighbouring facts of a chain and the links between them, strongest first."""

    start: str
    text: str
    next: str
    links: tuple[Link, ...]


def follow_path(memory: cofire.Memory, texts: Sequence[str]) -> Iterator[DemoPathStep]:
    """The links between each two neighbours of a chain of facts, given by text."""
    ids = {fact.text: fact.id for fact in memory.facts()}
    for text, following in pairwise(texts):
        start = ids[text]
        end = ids[following]
        links = tuple(link for link in memory.neighbours(start) if find_other_end(link, start) == end)
        yield DemoPathStep(start, text, following, links)


def show_path(steps: Sequence[DemoPathStep]) -> None:
    """The facts of a chain with the links between them."""
    for step in steps:
        show_text(step.text, indent=2)
        show_text(styled_text(_format_step_links(step), "cyan"), indent=4)
    show_text(steps[-1].next, indent=2)


def path_step_json(step: DemoPathStep) -> dict[str, Any]:
    """A step of the chain as plain values."""
    return {"from": step.text, "to": step.next, "links": [explain.link_json(link) for link in step.links]}


def _format_step_links(step: DemoPathStep) -> str:
    if not step.links:
        return "no link between these two"
    return " · ".join(_format_link(link, step.start) for link in step.links)


def _format_link(link: Link, seen_from: str) -> str:
    via = f" via {link.via}" if link.via else ""
    return f"{link_arrow(link, seen_from)} {link.kind} {format_score(link.weight or 0.0)}{via}"


NEXT_COMMANDS = (
    ("cofire remember", '"Something worth knowing."', "store your own fact"),
    ("cofire recall", '"What do I know?"', "ask for it"),
    ("cofire recall … --xray", "", "see why each fact is returned"),
    ("cofire ingest", "notes/", "store existing notes"),
    ("cofire dream", "", "link related facts"),
    ("cofire list", "", "list stored facts"),
    ("cofire config list", "", "list all settings"),
    ("cofire --help", "", "see all commands"),
)


def demo(*, call: GlobalOptions) -> None:
    """Run a short demonstration in a temporary store. Your own store is not used."""
    with TemporaryDirectory(prefix="cofire-demo-", ignore_cleanup_errors=True) as folder:
        start = perf_counter()
        with _open_demo_memory(Path(folder)) as memory:
            if call.as_json:
                show_json(_run_demo_as_json(memory))
            else:
                _show_demo(memory, perf_counter() - start)


def _open_demo_memory(folder: Path) -> cofire.Memory:
    """A memory with the demo facts, without an embedder if the configured one fails."""
    try:
        return _store_demo_facts(cofire.Memory(folder / "demo.db"))
    except EmbedderError as error:
        show_warning(f"{error.problem} The demo continues without an embedder and searches by keywords only.")
        return _store_demo_facts(cofire.Memory(folder / "words.db", embedder=None))


def _store_demo_facts(memory: cofire.Memory) -> cofire.Memory:
    try:
        memory.remember(DEMO_FACTS)
    except BaseException:
        memory.close()
        raise
    return memory


def _run_demo_as_json(memory: cofire.Memory) -> dict[str, Any]:
    recalls = [memory.recall(question, **options).to_dict() for question, options in DEMO_QUESTIONS]
    dreamed = asdict(memory.dream())
    path = [path_step_json(step) for step in follow_path(memory, DEMO_PATH)]
    forgotten = memory.forget(tags=SECRET_TAG)
    return {
        "mode": memory.stats().mode,
        "facts": facts_json(memory.facts()),
        "recalls": recalls,
        "dreamed": dreamed,
        "path": path,
        "forgotten": facts_json(list(forgotten.facts)),
    }


def _show_demo(memory: cofire.Memory, seconds: float) -> None:
    _show_story(
        f"{format_count(len(DEMO_FACTS), 'fact')} stored in {seconds:.2f} s. Search mode: {memory.stats().mode}."
    )
    for question, options in DEMO_QUESTIONS:
        _show_recall(memory, question, **options)
    _show_dream(memory)
    _show_forget(memory)
    _show_next_commands()


def _show_story(summary: str) -> None:
    _show_heading("A team's memory", "Notes from a handbook, and messages from two chats.")
    for fact in DEMO_FACTS:
        who = f"{fact['speaker']}: " if "speaker" in fact else ""
        show_text(Text.assemble((who, "bold"), fact["text"]), lead=Text("  • ", "cyan"), indent=4)
    show_text(styled_text(summary, "dim"))


def _show_recall(memory: cofire.Memory, question: str, **options: Any) -> None:
    flags = " ".join(f"{'-' if len(name) == 1 else '--'}{name} {value}" for name, value in options.items())
    _show_heading(question, f'cofire recall "{question}" {flags}')
    start = perf_counter()
    recollection = memory.recall(question, **options)
    if recollection.known:
        show_recollection(recollection, explained=True)
    else:
        show_text(recollection.reason)
    show_text(styled_text(f"{(perf_counter() - start) * 1000:.0f} ms", "dim"))


def _show_dream(memory: cofire.Memory) -> None:
    _show_heading("Dreaming", "cofire dream")
    show_text(describe_dream(memory.dream()))
    steps = list(follow_path(memory, DEMO_PATH))
    _show_heading(
        "From PostgreSQL to serverless",
        "The first and the last fact share no name. The links between them:",
    )
    show_path(steps)
    show_text(styled_text("cofire show ID lists the links of any fact.", "dim"))


def _show_forget(memory: cofire.Memory) -> None:
    _show_recall(memory, SECRET_QUESTION, k=1)
    _show_heading("Forgetting", f"cofire forget --tag {SECRET_TAG}")
    result = memory.forget(tags=SECRET_TAG)
    show_text(f"Removed {format_count(len(result.facts), 'fact')}: {result.facts[0].text}")
    still_recalled = any(SECRET_TAG in hit.fact.tags for hit in memory.recall(SECRET_QUESTION))
    if still_recalled:
        show_text("The same question still returns it.")
    else:
        show_text("The same question no longer returns it, neither by words nor by meaning.")


def _show_next_commands() -> None:
    _show_heading("Next steps", "The store of the demo is deleted; your own was not used.")
    for command, argument, what in NEXT_COMMANDS:
        line = f"{command} {argument}".strip()
        show_text(styled_text(what, "dim"), lead=Text.assemble("  ", (line, "bold")), indent=46)


def _show_heading(title: str, under: str) -> None:
    show_text()
    show_text(styled_text(title, "bold cyan"))
    if under:
        show_text(styled_text(under, "dim"))
