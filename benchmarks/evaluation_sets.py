"""Evaluation sets in the common form: corpus.jsonl and queries.jsonl in a folder. Reads files; measures nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

CORPUS, QUERIES = "corpus.jsonl", "queries.jsonl"

# Questions about what was never said; there is nothing to recall, so the usual protocol leaves them out.
LEFT_OUT = "adversarial"

# In these sets questions share a conversation, so that whole conversations go to one half.
TUNING_SCOPES = {"locomo": frozenset({"conv-26", "conv-30", "conv-41", "conv-42", "conv-43"})}

_ROW_TO_FACT = {"title": "subject", "timestamp": "at", "session": "session", "speaker": "speaker"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a set, with the rows that answer it."""

    id: str
    text: str
    gold: tuple[str, ...]
    category: str
    scope: str
    tuning: bool


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """A corpus as facts for `remember`, row ids in the same order, and the questions."""

    name: str
    rows: tuple[str, ...]
    facts: tuple[dict[str, Any], ...]
    questions: tuple[Asked, ...]


def find_sets(folders: Sequence[Path]) -> list[Path]:
    """The folders that hold a set: those given, or the sets inside them."""
    found = [inside for folder in folders for inside in _sets_in(folder)]
    if not found:
        raise FileNotFoundError(f"No {CORPUS} with {QUERIES} in {', '.join(map(str, folders))}.")
    return found


def load(folder: Path, *, limit: int | None) -> EvaluationSet:
    """A set from its folder; with a limit only the first questions, over the whole corpus all the same."""
    rows = list(_lines(folder / CORPUS))
    asked = [line for line in _lines(folder / QUERIES) if line.get("category") != LEFT_OUT]
    return EvaluationSet(
        name=folder.name,
        rows=tuple(row["id"] for row in rows),
        facts=tuple(_fact(row, folder.name) for row in rows),
        questions=tuple(_question(line, folder.name) for line in asked[:limit]),
    )


def in_tuning_half(set_name: str, question: str, scope: str) -> bool:
    """Whether a question may be tuned on: by the scopes of the set, else by the parity of its id's sha256.

    >>> in_tuning_half("locomo", "conv-26/q0", "conv-26"), in_tuning_half("locomo", "conv-50/q0", "conv-50")
    (True, False)
    >>> in_tuning_half("musique", "q0", "musique"), in_tuning_half("musique", "q1", "musique")
    (True, False)
    """
    if set_name in TUNING_SCOPES:
        return scope in TUNING_SCOPES[set_name]
    return int(sha256(question.encode()).hexdigest(), 16) % 2 == 0


def _sets_in(folder: Path) -> list[Path]:
    if _is_set(folder):
        return [folder]
    return [inside for inside in sorted(folder.iterdir()) if _is_set(inside)] if folder.is_dir() else []


def _is_set(folder: Path) -> bool:
    return (folder / CORPUS).is_file() and (folder / QUERIES).is_file()


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


def _fact(row: dict[str, Any], set_name: str) -> dict[str, Any]:
    said = {label: row[name] for name, label in _ROW_TO_FACT.items() if row.get(name)}
    return {"text": row["text"], "scope": row.get("scope") or set_name, "metadata": {"row": row["id"]}, **said}


def _question(line: dict[str, Any], set_name: str) -> Asked:
    scope = line.get("scope") or set_name
    return Asked(
        id=line["id"],
        text=line["text"],
        gold=tuple(line["gold"]),
        category=line.get("category") or "",
        scope=scope,
        tuning=in_tuning_half(set_name, line["id"], scope),
    )
