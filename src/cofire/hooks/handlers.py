"""The handler of each hook event, with a deadline, and the JSON response."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
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


# Events whose response can add context for the agent. Others only show a message to the user.
CONTEXT_EVENTS = frozenset({"session-start", "prompt-submit"})


@dataclass(frozen=True, slots=True)
class HookSettings:
    """The scope, the limits of recalled facts, and the folder for the read offsets of transcripts."""

    scope: str
    k: int
    budget: int
    offsets: Path


@dataclass(frozen=True, slots=True)
class HookOutcome:
    """A message for the user, and a delimited block of facts for the agent, which may be empty."""

    message: str
    context: str = ""


def handle_event(memory: cofire.Memory, event: HookEvent, settings: HookSettings) -> HookOutcome:
    """Run the handler of the event."""
    return EVENT_HANDLERS[event.event](memory, event, settings)


def recall_for_session(memory: cofire.Memory, event: HookEvent, settings: HookSettings) -> HookOutcome:
    """Pinned facts, facts about the working folder, and the latest facts, those from this folder first."""
    facts = memory.facts(pinned=True, limit=settings.k, scope=settings.scope)
    if event.folder is not None and event.folder.name:
        recollection = memory.recall(event.folder.name, k=settings.k, scope=settings.scope)
        facts += [hit.fact for hit in recollection]
    source = _find_source(event)
    latest = memory.facts(limit=LATEST_FACTS_LIMIT, scope=settings.scope)
    facts += sorted(latest, key=lambda fact: fact.source != source)
    distinct = list({fact.id: fact for fact in facts}.values())
    return _make_outcome(distinct[: settings.k], settings, "No facts for this session.")


def recall_for_prompt(memory: cofire.Memory, event: HookEvent, settings: HookSettings) -> HookOutcome:
    """Facts relevant to the prompt, except those from this session."""
    question = event.prompt.strip()[:MAX_QUESTION_LENGTH]
    if not question or question.startswith("/"):
        return HookOutcome("Nothing to search for.")
    recollection = memory.recall(question, k=2 * settings.k, scope=settings.scope)
    facts = [hit.fact for hit in recollection if event.session is None or hit.fact.session != event.session]
    otherwise = recollection.reason or "All relevant facts are from this session."
    return _make_outcome(facts[: settings.k], settings, otherwise)


def remember_transcript(memory: cofire.Memory, event: HookEvent, settings: HookSettings) -> HookOutcome:
    """Store the new turns of the transcript."""
    if event.transcript is None or not event.transcript.exists():
        return HookOutcome("There is no transcript to store.")
    stored = 0
    # Reject an invalid scope before any line counts as read.
    memory.facts(limit=1, scope=settings.scope)
    # Save the offset after each batch: after a timeout, the next call continues there.
    for batch in transcripts.read_new_lines(event.transcript, settings.offsets):
        stored += _ingest_items(memory, batch.items, event, settings)
        transcripts.save_offset(event.transcript, settings.offsets, batch.end)
    return HookOutcome(f"Stored {format_count(stored, 'new turn')}.")


def _ingest_items(
    memory: cofire.Memory, items: Sequence[transcripts.TranscriptItem], event: HookEvent, settings: HookSettings
) -> int:
    """Store items and return the number of new facts. An invalid item does not prevent storing the others."""
    try:
        result = memory.ingest(items, scope=settings.scope, session=event.session, source=_find_source(event))
    except InvalidInput:
        if len(items) == 1:
            return 0
        return sum(_ingest_items(memory, [item], event, settings) for item in items)
    return result.fresh


EVENT_HANDLERS: Mapping[str, Callable[[cofire.Memory, HookEvent, HookSettings], HookOutcome]] = {
    "session-start": recall_for_session,
    "prompt-submit": recall_for_prompt,
    "stop": remember_transcript,
    "pre-compact": remember_transcript,
}


def _find_source(event: HookEvent) -> str | None:
    return str(event.folder) if event.folder else None


def _make_outcome(facts: list[Fact], settings: HookSettings, otherwise: str) -> HookOutcome:
    if not facts:
        return HookOutcome(otherwise)
    entries = format_prompt_entries(facts, settings.budget)
    if not entries:
        return HookOutcome("The budget is too small for the best fact.")
    message = f"Recalled {len(entries)} of {format_count(len(facts), 'fact')}."
    return HookOutcome(message, delimit_entries(entries))


def run_with_deadline(seconds: float, handler: Callable[[], HookOutcome]) -> HookOutcome | None:
    """Run a handler in a thread. An error becomes an outcome; None means that the deadline has passed."""
    outcomes: list[HookOutcome] = []
    thread = threading.Thread(target=lambda: outcomes.append(_run_safely(handler)), daemon=True)
    thread.start()
    # Clamp values that a thread cannot wait for, such as NaN and infinity.
    thread.join(min(max(0.0, seconds), threading.TIMEOUT_MAX))
    return outcomes[0] if outcomes else None


def _run_safely(handler: Callable[[], HookOutcome]) -> HookOutcome:
    try:
        return handler()
    except Exception as error:  # noqa: BLE001 - the agent continues without memory
        return make_error_outcome(error)


def make_error_outcome(error: Exception) -> HookOutcome:
    """An error as a message for the user."""
    if isinstance(error, CofireError):
        return HookOutcome(f"{error.problem} {error.way_out}")
    return HookOutcome(f"Unexpected error: {type(error).__name__}: {' '.join(str(error).split())}")


def make_timeout_outcome(seconds: float) -> HookOutcome:
    return HookOutcome(f"Stopped after the time limit of {seconds:g} s.")


def make_hook_response(event: str, outcome: HookOutcome) -> dict[str, Any]:
    """The response in the format of Claude Code's hooks."""
    response: dict[str, Any] = {
        "continue": True,
        "suppressOutput": True,
        "systemMessage": f"cofire: {outcome.message}",
    }
    if outcome.context and event in CONTEXT_EVENTS:
        response["hookSpecificOutput"] = {
            "hookEventName": EVENT_NAMES[event],
            "additionalContext": outcome.context,
        }
    return response
