"""Evaluation sets: corpus and questions read from JSONL files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from cofire.errors import InvalidInput, map_exceptions

CORPUS_FILE, QUERIES_FILE = "corpus.jsonl", "queries.jsonl"

# Questions about things that are not in the corpus. The usual protocol leaves them out.
EXCLUDED_CATEGORY = "adversarial"

# Questions of these sets share a conversation, so the halves consist of whole conversations.
TUNING_SCOPES = {"locomo": frozenset({"conv-26", "conv-30", "conv-41", "conv-42", "conv-43"})}

# Scopes of rows without a scope when several sets share a store.
DOCUMENTS_SCOPE, CHATS_SCOPE = "documents", "chats"

_ROW_TO_FACT = {"title": "subject", "timestamp": "at", "session": "session", "speaker": "speaker"}


@dataclass(frozen=True, slots=True)
class EvaluationQuestion:
    """A question of a set, and the rows that answer it."""

    id: str
    text: str
    gold: tuple[str, ...]
    category: str
    scope: str | tuple[str, ...]
    tuning: bool


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """A corpus as facts for `remember`, the ids of its rows in the same order, and the questions."""

    name: str
    rows: tuple[str, ...]
    facts: tuple[dict[str, Any], ...]
    questions: tuple[EvaluationQuestion, ...]


def find_sets(folders: Sequence[Path]) -> list[Path]:
    """The folders with a set: those given, or those inside them."""
    set_folders = [inside for folder in folders for inside in _find_sets_in(folder)]
    if not set_folders:
        raise InvalidInput(
            f"No {CORPUS_FILE} with {QUERIES_FILE} in {', '.join(map(str, folders))}.",
            way_out="Give the folder of a set, or one with sets in folders of their own.",
        )
    return set_folders


def load_set(folder: Path, *, limit: int | None) -> EvaluationSet:
    """A set from its folder. A limit applies to the questions, not to the corpus."""
    with map_exceptions(
        {KeyError: InvalidInput, ValueError: InvalidInput},
        problem=f"The set in {folder} cannot be read: {{error}}.",
        way_out=f'Lines of {CORPUS_FILE} need "id" and "text", those of {QUERIES_FILE} "id", "text" and "gold".',
    ):
        rows = list(_read_lines(folder / CORPUS_FILE))
        lines = [
            line
            for line in _read_lines(folder / QUERIES_FILE)
            if line["gold"] and line.get("category") != EXCLUDED_CATEGORY
        ]
        evaluation_set = EvaluationSet(
            name=folder.resolve().name,
            rows=tuple(row["id"] for row in rows),
            facts=tuple(_parse_fact(row, folder.resolve().name) for row in rows),
            questions=tuple(_parse_question(line, folder.resolve().name) for line in lines[:limit]),
        )
    _refuse_unknown_gold(evaluation_set)
    return evaluation_set


def load_unanswerable(folder: Path) -> tuple[EvaluationQuestion, ...]:
    """The questions of a set about things that are not in its corpus."""
    name = folder.resolve().name
    return tuple(
        _parse_question(line, name)
        for line in _read_lines(folder / QUERIES_FILE)
        if line.get("category") == EXCLUDED_CATEGORY
    )


def select_half(chosen: EvaluationSet, half: str) -> EvaluationSet:
    """The set with the questions of one half, or all."""
    if half == "all":
        return chosen
    return replace(
        chosen, questions=tuple(question for question in chosen.questions if question.tuning == (half == "tuning"))
    )


def limit_questions(chosen: EvaluationSet, limit: int | None) -> EvaluationSet:
    """The set with its first questions and the whole corpus."""
    return replace(chosen, questions=chosen.questions[:limit])


def withhold_titles(chosen: EvaluationSet) -> EvaluationSet:
    """The set without titles."""
    return replace(chosen, facts=tuple(_drop_fields(fact, {"subject"}) for fact in chosen.facts))


def withhold_sessions(chosen: EvaluationSet) -> EvaluationSet:
    """The set without speakers, times and sessions."""
    return replace(chosen, facts=tuple(_drop_fields(fact, {"session", "speaker", "at"}) for fact in chosen.facts))


def merge_sessions(chosen: EvaluationSet) -> EvaluationSet:
    """The set with one fact per session. A row without a session stays as it is."""
    sessions: dict[tuple[str, str], list[int]] = {}
    for at, (row, fact) in enumerate(zip(chosen.rows, chosen.facts, strict=True)):
        sessions.setdefault((fact["scope"], fact.get("session") or row), []).append(at)
    merged_row = {chosen.rows[at]: chosen.rows[turns[0]] for turns in sessions.values() for at in turns}
    return replace(
        chosen,
        rows=tuple(chosen.rows[turns[0]] for turns in sessions.values()),
        facts=tuple(_merge_turns([chosen.facts[at] for at in turns]) for turns in sessions.values()),
        questions=tuple(
            replace(question, gold=tuple(dict.fromkeys(merged_row[row] for row in question.gold)))
            for question in chosen.questions
        ),
    )


def _merge_turns(turns: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {**_drop_fields(turns[0], {"session", "speaker"}), "text": "\n".join(turn["text"] for turn in turns)}


def _drop_fields(fact: Mapping[str, Any], withheld: Set[str]) -> dict[str, Any]:
    return {name: fact[name] for name in fact if name not in withheld}


def join_sets(sets: Sequence[EvaluationSet]) -> list[EvaluationSet]:
    """Sets for one store: passages share a scope, chats keep theirs or share one."""
    return [_use_shared_scopes(evaluation_set) for evaluation_set in sets]


def is_in_tuning_half(set_name: str, question: str, scope: str) -> bool:
    """Whether a question is in the tuning half: by scope, or by the parity of the sha256 of its id.

    >>> is_in_tuning_half("locomo", "conv-26/q0", "conv-26"), is_in_tuning_half("locomo", "conv-50/q0", "conv-50")
    (True, False)
    >>> is_in_tuning_half("musique", "q0", "musique"), is_in_tuning_half("musique", "q1", "musique")
    (True, False)
    """
    if set_name in TUNING_SCOPES:
        return scope in TUNING_SCOPES[set_name]
    return int(sha256(question.encode()).hexdigest(), 16) % 2 == 0


def choose_shared_scope(fact: Mapping[str, Any], set_name: str) -> str:
    """The scope of a row in a store of several sets.

    >>> turn = {"text": "I sail.", "scope": "conv-1", "speaker": "Ana"}
    >>> (
    ...     choose_shared_scope(turn, "chat"),
    ...     choose_shared_scope({**turn, "scope": "chat"}, "chat"),
    ...     choose_shared_scope({"scope": "wiki"}, "wiki"),
    ... )
    ('conv-1', 'chats', 'documents')
    """
    if not ("speaker" in fact or "session" in fact):
        return DOCUMENTS_SCOPE
    own: str = fact["scope"]
    return CHATS_SCOPE if own == set_name else own


def _use_shared_scopes(chosen: EvaluationSet) -> EvaluationSet:
    scopes: dict[str, dict[str, None]] = {}
    for fact in chosen.facts:
        scopes.setdefault(fact["scope"], {})[choose_shared_scope(fact, chosen.name)] = None
    return replace(
        chosen,
        facts=tuple({**fact, "scope": choose_shared_scope(fact, chosen.name)} for fact in chosen.facts),
        questions=tuple(
            replace(question, scope=tuple(scopes.get(str(question.scope), {CHATS_SCOPE: None})))
            for question in chosen.questions
        ),
    )


def _find_sets_in(folder: Path) -> list[Path]:
    if _is_set(folder):
        return [folder]
    return [inside for inside in sorted(folder.iterdir()) if _is_set(inside)] if folder.is_dir() else []


def _is_set(folder: Path) -> bool:
    return (folder / CORPUS_FILE).is_file() and (folder / QUERIES_FILE).is_file()


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


def _parse_fact(row: dict[str, Any], set_name: str) -> dict[str, Any]:
    fields = {label: row[name] for name, label in _ROW_TO_FACT.items() if row.get(name)}
    return {"text": row["text"], "scope": row.get("scope") or set_name, "metadata": {"row": row["id"]}, **fields}


def _parse_question(line: dict[str, Any], set_name: str) -> EvaluationQuestion:
    scope = line.get("scope") or set_name
    return EvaluationQuestion(
        id=line["id"],
        text=line["text"],
        gold=tuple(line["gold"]),
        category=line.get("category") or "",
        scope=scope,
        tuning=is_in_tuning_half(set_name, line["id"], scope),
    )


def _refuse_unknown_gold(evaluation_set: EvaluationSet) -> None:
    row_ids = set(evaluation_set.rows)
    for question in evaluation_set.questions:
        if unknown := [row for row in question.gold if row not in row_ids]:
            raise InvalidInput(
                f"Question {question.id} of {evaluation_set.name} is answered by {unknown[0]}, which is no row of its corpus.",
                way_out=f"Correct {QUERIES_FILE}, or add the row to {CORPUS_FILE}.",
            )
