"""Front matter: title, date and tags that stand plainly between --- lines above a Markdown document. No YAML beyond that, no I/O."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from cofire.ingesting.moments import plain_moment

_FRONT = re.compile(r"---[ \t]*\n(?P<inside>(?:.*\n)*?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_FIELD = re.compile(r"(?P<label>title|date|tags|keywords)[ \t]*:[ \t]*(?P<value>.*?)[ \t]*", re.IGNORECASE)
_LISTED = re.compile(r"[ \t]*-[ \t]+(?P<value>.*?)[ \t]*")
_ANY_FIELD = re.compile(r"[\w-]+[ \t]*:")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands above a document, and how many lines it takes."""

    title: str | None = None
    at: datetime | None = None
    tags: tuple[str, ...] = ()
    lines: int = 0


def front_matter(text: str) -> FrontMatter:
    """The front matter of a text; nothing where it has none.

    >>> found = front_matter("---\\ntitle: Tea\\ndate: 2024-05-01\\ntags: [habit, home]\\n---\\nTea at four.")
    >>> found.title, found.at.date().isoformat(), found.tags, found.lines
    ('Tea', '2024-05-01', ('habit', 'home'), 5)
    """
    found = _FRONT.match(text)
    if found is None or not any(_ANY_FIELD.match(line) for line in found["inside"].split("\n")):
        return FrontMatter()
    fields = _fields(found["inside"].split("\n"))
    return FrontMatter(
        title=" ".join(fields.get("title", ())) or None,
        at=plain_moment(" ".join(fields.get("date", ()))),
        tags=tuple(tag for label in ("tags", "keywords") for tag in fields.get(label, ())),
        lines=found[0].count("\n"),
    )


def _fields(lines: list[str]) -> dict[str, list[str]]:
    """The fields that matter, each with its values: `tags` may list them in one line or below."""
    fields: dict[str, list[str]] = {}
    label: str | None = None
    for line in lines:
        field, listed = _FIELD.fullmatch(line), _LISTED.fullmatch(line)
        if field is not None:
            label = field["label"].lower()
            fields[label] = _values(field["value"]) if label in ("tags", "keywords") else [_bare(field["value"])]
        elif listed is not None and label is not None:
            fields[label].append(_bare(listed["value"]))
        elif line.strip():
            label = None
    return {label: [value for value in values if value] for label, values in fields.items()}


def _values(text: str) -> list[str]:
    return [_bare(part) for part in text.strip("[]").split(",")]


def _bare(text: str) -> str:
    """Without quotes around it, and a tag without its #."""
    return text.strip().strip("\"'").removeprefix("#").strip()
