"""Checks of callers' arguments and conversion to plain values. Effect-free."""

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

FACT_FIELDS = tuple(one.name for one in fields(Fact))[: [one.name for one in fields(Fact)].index("id")]
# What other tools call the fields of a fact.
FIELD_ALIASES = {"timestamp": "at", "created_at": "at", "content": "text", "memory": "text"}
_MAX_NAME_LENGTH = 1_000
MAX_METADATA_DEPTH = 100
_DECODE_HINT = "Decode it first: data.decode('utf-8')."


def parse_fact(given: Fact | str | Mapping[str, Any], settings: Settings) -> Fact:
    """A fact from a Fact, a plain text, or a mapping of the keywords of `remember`."""
    parts = _read_fields(given)
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


def parse_superseded_ids(given: object) -> tuple[str, ...]:
    """The ids of facts that a new fact replaces: one id, or several in order without repetition.

    >>> parse_superseded_ids("01A"), parse_superseded_ids(["01A", "01B", "01A"]), parse_superseded_ids(None)
    (('01A',), ('01A', '01B'), ())
    """
    if given is None:
        return ()
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, Iterable) or isinstance(listed, Mapping | bytes):
        raise InvalidFact(
            f"supersedes must be an id or a list of ids, not {given!r}.",
            way_out="Use the ids that recall and list give.",
        )
    ids = [parse_name(id, "supersedes", InvalidFact) for id in listed]
    if None in ids:
        raise InvalidFact("An id in supersedes is missing.", way_out="Leave it out of the list.")
    return tuple(id for id in dict.fromkeys(ids) if id is not None)


def parse_question(text: object) -> str:
    """The question itself: some text that can be written down."""
    if not isinstance(text, str):
        way_out = _DECODE_HINT if isinstance(text, bytes | bytearray | memoryview) else "Give it as a string."
        raise InvalidQuestion(f"A question must be text, not {type(text).__name__}.", way_out=way_out)
    if not text.strip():
        raise InvalidQuestion("The question is empty.", way_out='Ask something, as in: cofire recall "What do we use?"')
    return _check_writable(text, "question", InvalidQuestion)


def parse_tags(given: object, error: type[InvalidInput]) -> tuple[str, ...]:
    """Tags as a sorted tuple of lower-case words; one tag may be given as a plain text."""
    if given is None:
        return ()
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, Iterable) or isinstance(listed, Mapping):
        raise error(f"Tags must be a list of words, not {given!r}.", way_out='Give them as in tags=["db", "prod"].')
    return tuple(sorted({_parse_tag(one, error) for one in listed}))


def parse_names(given: object, label: str, error: type[InvalidInput]) -> frozenset[str]:
    """One name or several, for a filter that any of them passes."""
    if given is None:
        return frozenset()
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, Iterable):
        raise error(
            f"{label} must be a name or a list of names, not {given!r}.", way_out="Give text, or a list of texts."
        )
    return frozenset(found for one in listed if (found := parse_name(one, label, error)) is not None)


def parse_scopes(given: object, error: type[InvalidInput]) -> tuple[str, ...] | None:
    """The scopes named, in order; None for all where none is asked for. An empty list is a mistake: it would mean all or nothing."""
    if given is None:
        return None
    found = parse_names(given, "scope", error)
    if not found:
        raise error("No scope is named.", way_out="Name one or several, or leave scope out.")
    return tuple(sorted(found))


def parse_name(given: object, label: str, error: type[InvalidInput]) -> str | None:
    """A short text such as a speaker or a scope; None stays None."""
    if given is None:
        return None
    if not isinstance(given, str):
        raise error(f"{label} must be text, not {type(given).__name__}.", way_out="Give it as a string.")
    if not given.strip():
        raise error(f"{label} is empty.", way_out=f"Give some text, or leave {label} out.")
    if len(given) > _MAX_NAME_LENGTH:
        raise error(f"{label} has {len(given):,} characters.", way_out=f"Keep it to {_MAX_NAME_LENGTH:,}.")
    return _check_writable(given, label, error)


def parse_path(given: object) -> str:
    """Where a file is, from text or a path."""
    found = given.__fspath__() if isinstance(given, PathLike) else given
    if not isinstance(found, str) or not found:
        raise InvalidInput(f"A file cannot be at {given!r}.", way_out="Give its path as text or as a Path.")
    return found


def parse_time(given: object, label: str, error: type[InvalidInput]) -> datetime | None:
    """A time as an aware datetime in UTC, from a datetime, a date or ISO text. Without a time zone it is taken as UTC.

    >>> parse_time("2023-05-08", "at", InvalidFact)
    datetime.datetime(2023, 5, 8, 0, 0, tzinfo=datetime.timezone.utc)
    """
    if given is None:
        return None
    try:
        found = _to_datetime(given)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, TypeError, OverflowError) as problem:
        raise error(
            f"{label} cannot be {given!r}.",
            way_out="Give a datetime, a date, or ISO text as in 2026-05-08T13:56:00+02:00.",
        ) from problem


def parse_share(given: Any, label: str) -> float | None:
    """A number from 0 to 1, as edges have them."""
    if given is None:
        return None
    if type(given) not in {int, float} or not 0 <= given <= 1:
        raise InvalidInput(f"{label} cannot be {given!r}.", way_out="Give a number from 0 to 1.")
    return float(given)


def check_count(given: object, label: str, *, low: int, high: int) -> int:
    """A whole number within bounds."""
    if isinstance(given, bool) or not isinstance(given, int) or not low <= given <= high:
        raise InvalidQuestion(f"{label} cannot be {given!r}.", way_out=f"Give a whole number from {low:,} to {high:,}.")
    return given


def _read_fields(given: Fact | str | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(given, str):
        return {"text": given}
    if isinstance(given, Fact):
        return {label: getattr(given, label) for label in FACT_FIELDS}
    refuse_bytes(given)
    if not isinstance(given, Mapping):
        raise InvalidFact(
            f"A fact cannot be made of {type(given).__name__}.", way_out="Give a text, a Fact or a mapping."
        )
    parts = _resolve_aliases(given)
    unknown = [str(label) for label in parts if label not in FACT_FIELDS]
    if unknown:
        raise InvalidFact(f"A fact has no {', '.join(unknown)}.", way_out=_suggest_fields(unknown))
    return parts


def _resolve_aliases(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The mapping with the labels of a fact for those that other tools use."""
    aliases = [label for label in given if label in FIELD_ALIASES]
    if not aliases:
        return given
    parts = {label: value for label, value in given.items() if label not in FIELD_ALIASES}
    for alias in aliases:
        label = FIELD_ALIASES[alias]
        if label in parts:
            raise InvalidFact(f"The fact has {label} twice, also as {alias}.", way_out=f"Give {label} alone.")
        parts[label] = given[alias]
    return parts


def _suggest_fields(unknown: list[str]) -> str:
    """The fields of a fact, the near miss first."""
    near = find_near_miss(unknown[0], frozenset([*FACT_FIELDS, *FIELD_ALIASES]))
    hint = f"Did you mean {FIELD_ALIASES.get(near, near)}? " if near else ""
    return f"{hint}It has {', '.join(FACT_FIELDS)}."


def refuse_bytes(given: object) -> None:
    """Refuse bytes in place of the text of a fact, with the way to decode them."""
    if isinstance(given, bytes | bytearray | memoryview):
        raise InvalidFact("A fact's text must be text, not bytes.", way_out=_DECODE_HINT)


def _check_text(given: object, settings: Settings) -> str:
    refuse_bytes(given)
    if not isinstance(given, str):
        raise InvalidFact(f"A fact's text must be text, not {type(given).__name__}.", way_out="Give it as a string.")
    if not given.strip():
        raise InvalidFact("The text of the fact is empty.", way_out="Say what to remember.")
    if len(given) > settings[REMEMBER_MAX_CHARACTERS]:
        raise InvalidFact(
            f"The text has {len(given):,} characters; the longest fact has {settings[REMEMBER_MAX_CHARACTERS]:,}.",
            way_out=f"Split it into several facts, or raise the setting {REMEMBER_MAX_CHARACTERS.name}.",
        )
    return _check_writable(given, "text", InvalidFact)


def _check_writable(text: str, label: str, error: type[InvalidInput]) -> str:
    """The text if it can be written down, as a plain string: one of an enumeration is no text to every store."""
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


def _parse_tag(given: object, error: type[InvalidInput]) -> str:
    found = parse_name(given, "tag", error)
    if found is None:
        raise error("A tag is missing.", way_out="Leave it out of the list.")
    return found.strip().lower()


def _parse_metadata(given: object) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(label, str) for label in given):
        raise InvalidFact(
            "metadata must be a mapping with text as keys.", way_out='Give it as in metadata={"page": 3}.'
        )
    try:
        text = _check_writable(json.dumps(dict(given), ensure_ascii=False, allow_nan=False), "metadata", InvalidFact)
    except (TypeError, ValueError, RecursionError) as problem:
        if isinstance(problem, InvalidFact):
            raise
        raise InvalidFact(
            f"metadata cannot be written as JSON: {problem}.",
            way_out="Use texts, numbers, true, false, lists and mappings.",
        ) from problem
    kept: dict[str, Any] = json.loads(text)
    _check_depth(kept)
    return kept


def _check_depth(kept: object, depth: int = 0) -> None:
    """What nests deeper than anybody means could be kept, but not read by everyone."""
    if depth > MAX_METADATA_DEPTH:
        raise InvalidFact(f"metadata is nested more than {MAX_METADATA_DEPTH} deep.", way_out="Give flatter metadata.")
    for one in kept.values() if isinstance(kept, Mapping) else kept if isinstance(kept, list) else ():
        _check_depth(one, depth + 1)


def _to_datetime(given: object) -> datetime:
    if isinstance(given, datetime):
        return given
    if isinstance(given, date):
        return datetime.combine(given, time())
    if isinstance(given, str):
        return datetime.fromisoformat(given.strip())
    raise TypeError(type(given).__name__)


def _check_order(start: datetime | None, end: datetime | None) -> None:
    if start and end and start >= end:
        raise InvalidFact(
            f"The fact would be valid from {start.isoformat()} until {end.isoformat()}, which is never.",
            way_out="Let valid_from be earlier than valid_until.",
        )
