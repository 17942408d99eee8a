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

# Texts that are kept in mind as shown, and sessions that are kept apart; the oldest make room.
MAX_SHOWN_TEXTS = 10_000
MAX_SESSIONS = 1_000

_LIST_NUMBER = re.compile(r"^\[\d+\]\s*(?:\([^)]*\)\s*)?")


ProgressListener = Callable[[Any], None] | None


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool says: text for whoever reads text, the same as values, and a word besides where there is one."""

    text: str
    structured: dict[str, Any]
    besides: str = ""


@dataclass(frozen=True)
class ServedMemory:
    """A memory that one or many clients use, all in one scope. `listen` hears how far long work has come."""

    memory: cofire.AsyncMemory
    scope: str = DEFAULT_SCOPE
    listen: ProgressListener = None
    _shown: OrderedDict[str, str] = field(default_factory=OrderedDict)
    _sessions: OrderedDict[str, cofire.AsyncMemory] = field(default_factory=OrderedDict)

    async def for_session(self, session: str | None) -> ServedMemory:
        """The desk as one client sees it; without a session of its own, as it is."""
        if session is None:
            return self
        if session not in self._sessions:
            self._sessions[session] = await self.memory.in_session(session)
            _drop_oldest(self._sessions, MAX_SESSIONS)
        return replace(self, memory=self._sessions[session])

    async def facts(self, ids: str | Sequence[str]) -> list[Fact]:
        """Facts by id, in this scope alone: an id of another scope is no id here."""
        try:
            return await self.memory.facts(ids, scope=self.scope)
        except NotFound as error:
            raise NotFound(error.problem, way_out="Use an id that recall or remember gave.") from error

    def show(self, facts: Iterable[Fact]) -> None:
        """Keep in mind that these were shown."""
        for fact in facts:
            self._shown[_normalise_text(fact.text)] = fact.id
            self._shown.move_to_end(_normalise_text(fact.text))
        _drop_oldest(self._shown, MAX_SHOWN_TEXTS)

    async def shown(self, text: str) -> str | None:
        """The id of the fact that was shown with this text, however it was numbered and dressed, if it still says so."""
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
    """A text as it is known again: without number, marks, case and the signs that a fence takes away.

    >>> _normalise_text("[2] (2026-05-08, Ana)  Tea at  four.") == _normalise_text("tea at four.")
    True
    """
    return disarm_tags(" ".join(_LIST_NUMBER.sub("", text.strip()).split())).casefold()


def _drop_oldest(kept: OrderedDict[str, Any], most: int) -> None:
    while len(kept) > most:
        kept.popitem(last=False)
