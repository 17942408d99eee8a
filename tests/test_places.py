"""Places: a ~ that stands for nobody's home is told, whatever was to be found there."""

from __future__ import annotations

import json

import pytest

from cofire import Memory
from cofire.errors import InvalidInput
from cofire.hooks import events
from cofire.stores.journal_file import Journal

NOBODYS = "~nosuchuser/kept"


def test_a_receipt_in_nobodys_home_is_told(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match=r"~nosuchuser/kept cannot be found.*Give the whole path"):
        memory.undo(NOBODYS)


def test_a_journal_in_nobodys_home_is_told() -> None:
    with pytest.raises(InvalidInput, match="Give the whole path"):
        Journal(None).place(NOBODYS)


def test_a_transcript_in_nobodys_home_is_told() -> None:
    told = json.dumps({"session_id": "s", "transcript_path": NOBODYS, "cwd": "/tmp", "hook_event_name": "Stop"})
    with pytest.raises(InvalidInput, match="Give the whole path"):
        events.parse_event("stop", told)
