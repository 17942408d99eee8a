"""Facts built from parsed text, and records of opened files and skipped items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from cofire.model import Fact


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file that could be read; what it says follows."""

    name: str


@dataclass(frozen=True, slots=True)
class SkippedInput:
    """Something that was left out: where it is, why, and how many of the kind."""

    where: str
    reason: str
    count: int = 1


IngestItem = Fact | SkippedInput | OpenedFile


def build_fact(
    about: Fact,
    text: str,
    *,
    subject: str | None,
    speaker: str | None,
    session: str | None,
    at: datetime | None,
    tags: tuple[str, ...],
    metadata: Mapping[str, Any],
) -> Fact:
    """A fact as its text tells it: it goes before what is said of all in `about`; tags and metadata are joined.

    >>> about = Fact("", speaker="Ana", tags=("work",))
    >>> fact = build_fact(
    ...     about, "Tea at four.", subject="Tea", speaker=None, session=None, at=None, tags=("habit",), metadata={}
    ... )
    >>> fact.subject, fact.speaker, fact.tags
    ('Tea', 'Ana', ('work', 'habit'))
    """
    return replace(
        about,
        text=text,
        subject=subject or about.subject,
        speaker=speaker or about.speaker,
        session=session or about.session,
        at=at or about.at,
        tags=(*about.tags, *tags),
        metadata={**about.metadata, **metadata},
    )
