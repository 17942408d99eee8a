"""Validate callers' arguments and convert them to plain values. No effects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import UTC, date, datetime, time
from os import PathLike
from typing import Any

from cofire.errors import InvalidFact, InvalidInput, InvalidQuestion
from cofire.model import DEFAULT_SCOPE, Fact
from cofire.settings.table import REMEMBER_MAX_CHARACTERS, Settings
from cofire.verbs.keyword_arguments import find_near_miss

_ALL_FIELDS = [field.name for field in fields(Fact)]
# The fields that a caller may set; those from `id` on are set by the store.
FACT_FIELDS = tuple(_ALL_FIELDS[: _ALL_FIELDS.index("id")])
# Names that other tools use for the fields of a fact.
FIELD_ALIASES = {"timestamp": "at", "created_at": "at", "content": "text", "memory": "text"}
_MAX_NAME_LENGTH = 1_000
MAX_METADATA_DEPTH = 100
_DECODE_HINT = "Decode it first: data.decode('utf-8')."


def parse_fact(value: Fact | str | Mapping[str, Any], settings: Settings) -> Fact:
    """A validated fact, from a Fact, a text, or a mapping with the keywords of `remember`."""
    parts = _read_fields(value)
    checked: dict[str, Any] = {
        "text": _check_text(parts.get("text"), settings),
        "tags": parse_tags(parts.get("tags"), InvalidFact),
        "metadata": _parse_metadata(parts.get("metadata")),
        "scope": parse_name(parts.get("scope"), "scope", InvalidFact) or DEFAULT_SCOPE,
    }
    for label in ("category", "subject", "session", "speaker", "source"):
        checked[label] = parse_name(parts.get(label), label, InvalidFact)
    for label in ("at", "valid_from", "valid_until", "expires"):
        checked[label] = parse_time(parts.get(label), label, InvalidFact)
    _check_order(checked["valid_from"], checked["valid_until"])
    checked["supersedes"] = parse_superseded_ids(parts.get("supersedes"))
    return Fact(**checked)


def refuse_expired(fact: Fact, now: datetime) -> None:
    """Refuse a new fact that no recall could return."""
    if fact.expires and fact.expires <= now:
        raise InvalidFact(
            f"expires is {fact.expires.isoformat()}, which is in the past: no recall would return the fact.",
            way_out="Give a time in the future, or leave expires out. For a fact that is no longer true, use valid_until.",
        )


def parse_superseded_ids(value: object) -> tuple[str, ...]:
    """The ids of the facts that a new fact supersedes, in order without repetition.

    >>> parse_superseded_ids("01A"), parse_superseded_ids(["01A", "01B", "01A"]), parse_superseded_ids(None)
    (('01A',), ('01A', '01B'), ())
    """
    if value is None:
        return ()
    candidates = [value] if isinstance(value, str) else value
    if not isinstance(candidates, Iterable) or isinstance(candidates, Mapping | bytes):
        raise InvalidFact(
            f"supersedes must be an id or a list of ids, not {value!r}.",
            way_out="Use the ids that recall and list give.",
        )
    ids = [parse_name(id, "supersedes", InvalidFact) for id in candidates]
    if None in ids:
        raise InvalidFact("An id in supersedes is missing.", way_out="Leave it out of the list.")
    return tuple(id for id in dict.fromkeys(ids) if id is not None)


def parse_question(text: object) -> str:
    """The question: a text that is not empty and can be encoded."""
    if not isinstance(text, str):
        way_out = _DECODE_HINT if isinstance(text, bytes | bytearray | memoryview) else "Give it as a string."
        raise InvalidQuestion(f"A question must be text, not {type(text).__name__}.", way_out=way_out)
    if not text.strip():
        raise InvalidQuestion("The question is empty.", way_out='Ask something, as in: cofire recall "What do we use?"')
    return _check_writable(text, "question", InvalidQuestion)


def parse_tags(value: object, error: type[InvalidInput]) -> tuple[str, ...]:
    """Tags as a sorted tuple of lower-case texts, from one text or several."""
    if value is None:
        return ()
    tags = [value] if isinstance(value, str) else value
    if not isinstance(tags, Iterable) or isinstance(tags, Mapping):
        raise error(f"Tags must be a list of words, not {value!r}.", way_out='Give them as in tags=["db", "prod"].')
    return tuple(sorted({_parse_tag(tag, error) for tag in tags}))


def parse_names(value: object, label: str, error: type[InvalidInput]) -> frozenset[str]:
    """One name or several, for a filter that matches any of them."""
    if value is None:
        return frozenset()
    candidates = [value] if isinstance(value, str) else value
    if not isinstance(candidates, Iterable):
        raise error(
            f"{label} must be a name or a list of names, not {value!r}.", way_out="Give text, or a list of texts."
        )
    names = [parse_name(candidate, label, error) for candidate in candidates]
    return frozenset(name for name in names if name is not None)


def parse_scopes(value: object, error: type[InvalidInput]) -> tuple[str, ...] | None:
    """The scopes in order, or None for all. An empty list is refused: it could mean all or none."""
    if value is None:
        return None
    scopes = parse_names(value, "scope", error)
    if not scopes:
        raise error("No scope is named.", way_out="Name one or several, or leave scope out.")
    return tuple(sorted(scopes))


def parse_name(value: object, label: str, error: type[InvalidInput]) -> str | None:
    """A short text such as a speaker or a scope; None stays None."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise error(f"{label} must be text, not {type(value).__name__}.", way_out="Give it as a string.")
    if not value.strip():
        raise error(f"{label} is empty.", way_out=f"Give some text, or leave {label} out.")
    if len(value) > _MAX_NAME_LENGTH:
        raise error(f"{label} has {len(value):,} characters.", way_out=f"Keep it to {_MAX_NAME_LENGTH:,}.")
    return _check_writable(value, label, error)


def parse_path(value: object) -> str:
    """The path of a file as text."""
    path = value.__fspath__() if isinstance(value, PathLike) else value
    if not isinstance(path, str) or not path:
        raise InvalidInput(f"A file cannot be at {value!r}.", way_out="Give its path as text or as a Path.")
    return path


def parse_time(value: object, label: str, error: type[InvalidInput]) -> datetime | None:
    """An aware datetime in UTC, from a datetime, a date or ISO text. A time without a zone is UTC.

    >>> parse_time("2023-05-08", "at", InvalidFact)
    datetime.datetime(2023, 5, 8, 0, 0, tzinfo=datetime.timezone.utc)
    """
    if value is None:
        return None
    try:
        moment = _to_datetime(value)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, TypeError, OverflowError) as problem:
        raise error(
            f"{label} cannot be {value!r}.",
            way_out="Give a datetime, a date, or ISO text as in 2026-05-08T13:56:00+02:00.",
        ) from problem


def parse_share(value: Any, label: str) -> float | None:
    """A number from 0 to 1, such as the weight of an edge."""
    if value is None:
        return None
    if type(value) not in {int, float} or not 0 <= value <= 1:
        raise InvalidInput(f"{label} cannot be {value!r}.", way_out="Give a number from 0 to 1.")
    return float(value)


def check_count(value: object, label: str, *, low: int, high: int) -> int:
    """A whole number from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidQuestion(f"{label} cannot be {value!r}.", way_out=f"Give a whole number from {low:,} to {high:,}.")
    return value


def _read_fields(value: Fact | str | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(value, str):
        return {"text": value}
    if isinstance(value, Fact):
        return {label: getattr(value, label) for label in FACT_FIELDS}
    refuse_bytes(value)
    if not isinstance(value, Mapping):
        raise InvalidFact(
            f"A fact cannot be made of {type(value).__name__}.", way_out="Give a text, a Fact or a mapping."
        )
    parts = _resolve_aliases(value)
    unknown = [str(label) for label in parts if label not in FACT_FIELDS]
    if unknown:
        raise InvalidFact(f"A fact has no {', '.join(unknown)}.", way_out=_suggest_fields(unknown))
    return parts


def _resolve_aliases(mapping: Mapping[str, Any]) -> Mapping[str, Any]:
    """The mapping with the field names of other tools replaced by those of a fact."""
    aliases = [label for label in mapping if label in FIELD_ALIASES]
    if not aliases:
        return mapping
    parts = {label: value for label, value in mapping.items() if label not in FIELD_ALIASES}
    for alias in aliases:
        label = FIELD_ALIASES[alias]
        if label in parts:
            raise InvalidFact(f"The fact has {label} twice, also as {alias}.", way_out=f"Give {label} alone.")
        parts[label] = mapping[alias]
    return parts


def _suggest_fields(unknown: list[str]) -> str:
    """The fields of a fact, after the field that was probably meant."""
    near = find_near_miss(unknown[0], frozenset([*FACT_FIELDS, *FIELD_ALIASES]))
    hint = f"Did you mean {FIELD_ALIASES.get(near, near)}? " if near else ""
    return f"{hint}It has {', '.join(FACT_FIELDS)}."


def refuse_bytes(value: object) -> None:
    """Refuse bytes as the text of a fact; the error says how to decode them."""
    if isinstance(value, bytes | bytearray | memoryview):
        raise InvalidFact("A fact's text must be text, not bytes.", way_out=_DECODE_HINT)


def _check_text(value: object, settings: Settings) -> str:
    refuse_bytes(value)
    if not isinstance(value, str):
        raise InvalidFact(f"A fact's text must be text, not {type(value).__name__}.", way_out="Give it as a string.")
    if not value.strip():
        raise InvalidFact("The text of the fact is empty.", way_out="Say what to remember.")
    if len(value) > settings[REMEMBER_MAX_CHARACTERS]:
        raise InvalidFact(
            f"The text has {len(value):,} characters; the longest fact has {settings[REMEMBER_MAX_CHARACTERS]:,}.",
            way_out=f"Split it into several facts, or raise the setting {REMEMBER_MAX_CHARACTERS.name}.",
        )
    return _check_writable(value, "text", InvalidFact)


def _check_writable(text: str, label: str, error: type[InvalidInput]) -> str:
    """The text as a plain `str`, if it can be encoded. Some stores refuse subclasses (StrEnum)."""
    if "\x00" in text:
        raise error(f"The {label} holds a NUL character.", way_out="Remove it; the input may not be text at all.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as problem:
        raise error(
            f"The {label} holds half of a character (a lone surrogate) at place {problem.start}.",
            way_out="Decode the input as UTF-8 again, or drop it with text.encode('utf-8', 'replace').decode().",
        ) from problem
    return str.__str__(text)


def _parse_tag(value: object, error: type[InvalidInput]) -> str:
    tag = parse_name(value, "tag", error)
    if tag is None:
        raise error("A tag is missing.", way_out="Leave it out of the list.")
    return tag.strip().lower()


def _parse_metadata(value: object) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(label, str) for label in value):
        raise InvalidFact(
            "metadata must be a mapping with text as keys.", way_out='Give it as in metadata={"page": 3}.'
        )
    try:
        text = _check_writable(json.dumps(dict(value), ensure_ascii=False, allow_nan=False), "metadata", InvalidFact)
    except (TypeError, ValueError, RecursionError) as problem:
        if isinstance(problem, InvalidFact):
            raise
        raise InvalidFact(
            f"metadata cannot be written as JSON: {problem}.",
            way_out="Use texts, numbers, true, false, lists and mappings.",
        ) from problem
    metadata: dict[str, Any] = json.loads(text)
    _check_depth(metadata)
    return metadata


def _check_depth(value: object, depth: int = 0) -> None:
    """Refuse deep nesting: it could be stored, but not every reader could parse it."""
    if depth > MAX_METADATA_DEPTH:
        raise InvalidFact(f"metadata is nested more than {MAX_METADATA_DEPTH} deep.", way_out="Give flatter metadata.")
    children: Iterable[object] = ()
    if isinstance(value, Mapping):
        children = value.values()
    elif isinstance(value, list):
        children = value
    for child in children:
        _check_depth(child, depth + 1)


def _to_datetime(value: object) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime.combine(value, time())
    if isinstance(value, str):
        return datetime.fromisoformat(value.strip())
    raise TypeError(type(value).__name__)


def _check_order(start: datetime | None, end: datetime | None) -> None:
    if start and end and start >= end:
        raise InvalidFact(
            f"The fact would be valid from {start.isoformat()} until {end.isoformat()}, which is never.",
            way_out="Let valid_from be earlier than valid_until.",
        )
