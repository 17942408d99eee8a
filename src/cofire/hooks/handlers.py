"""What memory does at each hook event, within a deadline, and the JSON response."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cofire
from cofire.errors import CofireError, InvalidInput
from cofire.explain import format_count, format_prompt_entries
from cofire.hooks import transcripts
from cofire.hooks.events import EVENT_NAMES, HookEvent
from cofire.model import Fact
from cofire.text.prompt_text import delimit_entries

LATEST_FACTS_LIMIT = 20
MAX_QUESTION_LENGTH = 4_000


@dataclass(frozen=True, slots=True)
class HookSettings:
    """Whose memory is used, how many facts at most, in how many tokens, and where it is noted how far transcripts were read."""

    scope: str
    k: int
    budget: int
    notes: Path


@dataclass(frozen=True, slots=True)
class HookOutcome:
    """What came of an event: a fenced block for the agent, or none, and a word to the person."""

    said: str
    context: str = ""


def handle_event(memory: cofire.Memory, moment: HookEvent, manner: HookSettings) -> HookOutcome:
    """Do what belongs to the event."""
    return EVENT_HANDLERS[moment.event](memory, moment, manner)


def recall_for_session(memory: cofire.Memory, moment: HookEvent, manner: HookSettings) -> HookOutcome:
    """What is pinned, what is known about the folder, and what was told last."""
    known = _drop_duplicates(_select_session_facts(memory, moment, manner))
    return _make_outcome(list(known)[: manner.k], manner, "Memory has nothing to begin with.")


def recall_for_prompt(memory: cofire.Memory, moment: HookEvent, manner: HookSettings) -> HookOutcome:
    """What memory knows about the prompt, besides what this session said itself."""
    question = moment.prompt.strip()[:MAX_QUESTION_LENGTH]
    if not question or question.startswith("/"):
        return HookOutcome("There was nothing to look up.")
    found = memory.recall(question, k=2 * manner.k, scope=manner.scope)
    others = [hit.fact for hit in found if moment.session is None or hit.fact.session != moment.session]
    return _make_outcome(
        others[: manner.k], manner, found.reason or "All that memory knows about it was said in this session."
    )


def remember_transcript(memory: cofire.Memory, moment: HookEvent, manner: HookSettings) -> HookOutcome:
    """What was said since the last time."""
    if moment.transcript is None or not moment.transcript.exists():
        return HookOutcome("There is no transcript to remember.")
    fresh = 0
    # A scope that cannot be one is refused before anything counts as read.
    memory.facts(limit=1, scope=manner.scope)
    # Few at a time, each noted: where time runs out, the next reading goes on from there.
    for some in transcripts.read_new_lines(moment.transcript, manner.notes):
        fresh += _ingest_items(memory, some.items, moment, manner)
        transcripts.save_offset(moment.transcript, manner.notes, some.end)
    return HookOutcome(f"{format_count(fresh, 'new turn')} remembered.")


def _ingest_items(
    memory: cofire.Memory, items: Sequence[transcripts.TranscriptItem], moment: HookEvent, manner: HookSettings
) -> int:
    """How many of these are new. One that cannot be read keeps no other from being remembered."""
    try:
        return memory.ingest(items, scope=manner.scope, session=moment.session, source=_find_source(moment)).fresh
    except InvalidInput:
        return sum(_ingest_items(memory, [one], moment, manner) for one in items) if len(items) > 1 else 0


EVENT_HANDLERS: Mapping[str, Callable[[cofire.Memory, HookEvent, HookSettings], HookOutcome]] = {
    "session-start": recall_for_session,
    "prompt-submit": recall_for_prompt,
    "stop": remember_transcript,
    "pre-compact": remember_transcript,
}


def _select_session_facts(memory: cofire.Memory, moment: HookEvent, manner: HookSettings) -> Iterator[Fact]:
    yield from memory.facts(pinned=True, limit=manner.k, scope=manner.scope)
    if moment.folder is not None and moment.folder.name:
        about = memory.recall(moment.folder.name, k=manner.k, scope=manner.scope)
        yield from (hit.fact for hit in about)
    place, latest = _find_source(moment), memory.facts(limit=LATEST_FACTS_LIMIT, scope=manner.scope)
    yield from sorted(latest, key=lambda fact: fact.source != place)


def _make_outcome(facts: list[Fact], manner: HookSettings, otherwise: str) -> HookOutcome:
    if not facts:
        return HookOutcome(otherwise)
    entries = format_prompt_entries(facts, manner.budget)
    if not entries:
        return HookOutcome("The budget is too small for even the best fact.")
    return HookOutcome(f"{len(entries)} of {format_count(len(facts), 'fact')} recalled.", delimit_entries(entries))


def _drop_duplicates(facts: Iterable[Fact]) -> Iterable[Fact]:
    return {fact.id: fact for fact in facts}.values()


def _find_source(moment: HookEvent) -> str | None:
    return str(moment.folder) if moment.folder else None


# These take in what a hook tells; the others only show it to the person.
CONTEXT_EVENTS = frozenset({"session-start", "prompt-submit"})


def run_with_deadline(seconds: float, act: Callable[[], HookOutcome]) -> HookOutcome | None:
    """What an act comes to, or what went wrong in words; None when time ran out first. It is then left behind."""
    came: list[HookOutcome] = []
    thread = threading.Thread(target=lambda: came.append(_run_safely(act)), daemon=True)
    thread.start()
    # What is no number of seconds, or more than a thread can wait for, is as little or as much as there is.
    thread.join(min(max(0.0, seconds), threading.TIMEOUT_MAX))
    return came[0] if came else None


def make_timeout_outcome(seconds: float) -> HookOutcome:
    return HookOutcome(f"Memory took longer than {seconds:g} s and was not waited for.")


def make_hook_response(event: str, done: HookOutcome) -> dict[str, Any]:
    """The answer in the form of Claude Code's hooks."""
    said: dict[str, Any] = {"continue": True, "suppressOutput": True, "systemMessage": f"cofire: {done.said}"}
    if done.context and event in CONTEXT_EVENTS:
        said["hookSpecificOutput"] = {"hookEventName": EVENT_NAMES[event], "additionalContext": done.context}
    return said


def make_error_outcome(error: Exception) -> HookOutcome:
    """A failure as the person may read it."""
    if isinstance(error, CofireError):
        return HookOutcome(f"{error.problem} {error.way_out}")
    return HookOutcome(f"Memory failed: {type(error).__name__}: {' '.join(str(error).split())}")


def _run_safely(act: Callable[[], HookOutcome]) -> HookOutcome:
    try:
        return act()
    except Exception as error:  # noqa: BLE001 - an agent goes on without memory, and is told why
        return make_error_outcome(error)
