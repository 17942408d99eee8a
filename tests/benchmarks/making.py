"""Small evaluation sets in the common form."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

NOTES = [
    {"id": "r0", "title": "PgBouncer", "text": "It pools connections in transaction mode."},
    {"id": "r1", "title": "Ana", "text": "She repairs every automobile of the company."},
    {"id": "r2", "title": "Tea", "text": "Served at four in the garden."},
    {"id": "r3", "title": "Tea", "text": "Served at four in the garden."},
    {"id": "r4", "title": "Harbour", "text": "Ships wait there for the tide."},
]
QUESTIONS = [
    {"id": "q0", "text": "How does PgBouncer pool connections?", "gold": ["r0"], "category": "one"},
    {"id": "q1", "text": "When is tea served?", "gold": ["r2", "r3"], "category": "two"},
    {"id": "q2", "text": "Which car?", "gold": ["r1"], "category": "one"},
    {"id": "q3", "text": "What did nobody say?", "gold": ["r4"], "category": "adversarial"},
]
TURNS = [
    {"id": "a1", "text": "Ana: I sail.", "scope": "conv-26", "session": "s1", "speaker": "Ana"},
    {"id": "b1", "text": "Ben: I sail too.", "scope": "conv-50", "session": "s1", "timestamp": "2023-05-08T13:56:00"},
]
OF_TURNS = [
    {"id": "x", "text": "Who sails?", "gold": ["a1"], "scope": "conv-26"},
    {"id": "y", "text": "Who sails?", "gold": ["b1"], "scope": "conv-50"},
]


def write_set(folder: Path, rows: Sequence[dict[str, Any]], questions: Sequence[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True)
    for name, lines in (("corpus.jsonl", rows), ("queries.jsonl", questions)):
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder
