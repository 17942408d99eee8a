"""The memory that MCP clients use: one scope, sessions, and texts already shown."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import cofire
from cofire.errors import NotFound
from cofire.model import DEFAULT_SCOPE, Fact
from cofire.text.prompt_text import disarm_tags

# Limits of shown texts and sessions; the oldest are dropped.
MAX_SHOWN_TEXTS = 10_000
MAX_SESSIONS = 1_000

_LIST_NUMBER = re.compile(r"^\[\d+\]\s*(?:\([^)]*\)\s*)?")


ProgressListener = Callable[[Any], None] | None


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer of a tool as text and as values, with an optional second text."""

    text: str
    structured: dict[str, Any]
    besides: str = ""


@dataclass(frozen=True)
class ServedMemory:
    """A memory for one or several clients, restricted to one scope. `on_progress` receives the progress of long work."""

    memory: cofire.AsyncMemory
    scope: str = DEFAULT_SCOPE
    on_progress: ProgressListener = None
    _shown: OrderedDict[str, str] = field(default_factory=OrderedDict)
    _sessions: OrderedDict[str, cofire.AsyncMemory] = field(default_factory=OrderedDict)

    async def for_session(self, session: str | None) -> ServedMemory:
        """The same memory in the session of a client."""
        if session is None:
            return self
        if session not in self._sessions:
            self._sessions[session] = await self.memory.in_session(session)
            _drop_oldest(self._sessions, MAX_SESSIONS)
        return replace(self, memory=self._sessions[session])

    async def facts(self, ids: str | Sequence[str]) -> list[Fact]:
        """Facts by id. Ids of other scopes are not found."""
        try:
            return await self.memory.facts(ids, scope=self.scope)
        except NotFound as error:
            raise NotFound(error.problem, way_out="Use an id that recall or remember returned.") from error

    def show(self, facts: Iterable[Fact]) -> None:
        """Record that these facts were shown to a client."""
        for fact in facts:
            self._shown[_normalise_text(fact.text)] = fact.id
            self._shown.move_to_end(_normalise_text(fact.text))
        _drop_oldest(self._shown, MAX_SHOWN_TEXTS)

    async def shown(self, text: str) -> str | None:
        """The id of the shown fact with this text, ignoring numbering and marks, if the fact is unchanged and current."""
        id = self._shown.get(_normalise_text(text))
        if id is None:
            return None
        try:
            [fact] = await self.memory.facts(id, scope=self.scope)
        except NotFound:
            return None
        is_current = not fact.archived and not fact.superseded_by
        return id if is_current and _normalise_text(fact.text) == _normalise_text(text) else None


def _normalise_text(text: str) -> str:
    """The text without list number, marks, case and delimiter tags.

    >>> _normalise_text("[2] (2026-05-08, Ana)  Tea at  four.") == _normalise_text("tea at four.")
    True
    """
    return disarm_tags(" ".join(_LIST_NUMBER.sub("", text.strip()).split())).casefold()


def _drop_oldest(items: OrderedDict[str, Any], limit: int) -> None:
    while len(items) > limit:
        items.popitem(last=False)
