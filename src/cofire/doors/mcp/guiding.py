"""The guide behind this door: pages on the tools that are here, with what they take and what comes next here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from cofire import guide as whole
from cofire.doors.mcp.tools import TOOLS
from cofire.guide import Page, looked_up

# Where a tool is not quite what the verb of its name is.
_HERE: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "recall": {
            "what": "Finds the facts that answer a question, or says that nothing is known.",
            "when": "Before answering from memory; narrow it by tags, session, speaker, category, since, until, as_of, where (metadata).",
            "next": "feedback on what helped; why=id about a fact that is missing; supersede or update what is wrong.",
        },
        "feedback": {
            "when": "After an answer that used recalled facts. Give the id of the recall; name only facts that came back.",
            "next": "recall related questions.",
        },
        "update": {
            "when": "When a fact was stored wrongly. If the world has changed, remember the new fact with supersedes=[id].",
            "next": "recall, to see it as it is now.",
        },
        "supersede": {
            "when": "When what was true has changed and both facts are stored. undo=true takes it back.",
        },
        "connect": {"next": "explore, to see it in its place."},
        "forget": {
            "what": "Removes facts by ids, tags, session or where, with their edges and descriptions. The receipt keeps a copy.",
            "when": "When something must not be known any more. The first call only shows what would go; confirm=true removes it.",
            "next": "forget with undo=the receipt brings them back, while it lasts.",
        },
        "explore": {"next": "connect what is missing."},
        "dream": {
            "when": "After many facts, or when guide says that facts are waiting. It can be stopped and run again.",
            "next": "explore, to see what was linked.",
        },
    }
)

PAGES: Mapping[str, Page] = MappingProxyType(
    {
        name: replace(whole.PAGES[name], **_HERE.get(name, {}))
        for name, tool in TOOLS.items()
        if tool.listed and name in whole.PAGES
    }
)


def guide(verb: str | None = None) -> str:
    """The page of a tool, or one line a tool.

    >>> guide("connect").splitlines()[-1]
    '  next: explore, to see it in its place.'
    """
    return looked_up(PAGES, verb)
