"""Small evaluation sets in the common form, made up for these tests."""

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

# Passages that answer only together: one leads to the other by a name.
ISLES = [
    {"id": "p0", "title": "Merrow Light", "text": "Merrow Light is a lighthouse on Skellan Isle, built of red stone."},
    {"id": "p1", "title": "Skellan Isle", "text": "Skellan Isle lies in the Brennick Sound and has two harbours."},
    {"id": "p2", "title": "Brennick Sound", "text": "Brennick Sound is known for herring and for sudden fog."},
    {"id": "p3", "title": "Orla Vane", "text": "Orla Vane designed Merrow Light and taught at Dunmarrow College."},
    {"id": "p4", "title": "Dunmarrow College", "text": "Dunmarrow College was founded by glass merchants in 1782."},
    {"id": "p5", "title": "Tam Oswin", "text": "Tam Oswin keeps bees and sells honey at the market."},
    {"id": "p6", "title": "Honey", "text": "Honey of heather is dark and sets slowly."},
    {"id": "p7", "title": "Fog", "text": "Fog forms where warm air passes over cold water."},
    {"id": "p8", "title": "Herring", "text": "Herring move in large schools and are salted in barrels."},
    {"id": "p9", "title": "Red stone", "text": "Red stone is quarried on the mainland and carried by barge."},
]
OF_ISLES = [
    {"id": "i0", "text": "Where does the isle of Merrow Light lie?", "gold": ["p0", "p1"], "category": "bridge"},
    {"id": "i1", "text": "Who founded the college where the designer of Merrow Light taught?", "gold": ["p3", "p4"], "category": "bridge"},
    {"id": "i2", "text": "What is quarried on the mainland?", "gold": ["p9"], "category": "plain"},
    {"id": "i3", "text": "Who keeps bees?", "gold": ["p5"], "category": "plain"},
    {"id": "i4", "text": "What is Brennick Sound known for?", "gold": ["p2"], "category": "plain"},
]  # fmt: skip


def write_set(folder: Path, rows: Sequence[dict[str, Any]], questions: Sequence[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True)
    for name, lines in (("corpus.jsonl", rows), ("queries.jsonl", questions)):
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder
