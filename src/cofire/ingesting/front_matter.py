"""Front matter: title, date and tags above a Markdown document, as plain YAML between --- lines or TOML between +++. No I/O."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from datetime import datetime

from cofire.ingesting.moments import plain_moment

_YAML = re.compile(r"---[ \t]*\n(?P<inside>(?:.*\n)*?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_TOML = re.compile(r"\+{3}[ \t]*\n(?P<inside>(?:.*\n)*?)\+{3}[ \t]*(?:\n|\Z)")
_FIELD = re.compile(r"(?P<label>title|date|tags|keywords)[ \t]*:[ \t]*(?P<value>.*?)[ \t]*", re.IGNORECASE)
_LISTED = re.compile(r"[ \t]*-[ \t]+(?P<value>.*?)[ \t]*")
_ANY_FIELD = re.compile(r"[\"']?[\w.-]+(?: [\w.-]+){0,2}[\"']?[ \t]*:(?:[ \t].*)?")
_OTHER_LINE = re.compile(r"(?:[\s#\]}]|-(?:[ \t]|$)).*|")
_FOLDED = re.compile(r"[|>][+-]?\d?[+-]?")

Fields = dict[str, list[str]]


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
    if (found := _YAML.match(text)) and _is_yaml(lines := found["inside"].split("\n")):
        return _front(_yaml_fields(lines), found[0])
    if (found := _TOML.match(text)) and (fields := _toml_fields(found["inside"])) is not None:
        return _front(fields, found[0])
    return FrontMatter()


def _front(fields: Fields, whole: str) -> FrontMatter:
    return FrontMatter(
        title=" ".join(fields.get("title", ())) or None,
        at=plain_moment(" ".join(fields.get("date", ()))),
        tags=tuple(tag for label in ("tags", "keywords") for tag in fields.get(label, ())),
        lines=whole.count("\n"),
    )


def _is_yaml(lines: list[str]) -> bool:
    """Whether fields stand between the lines. What else opens with a rule is a text, and none of it may be lost."""
    return _ANY_FIELD.fullmatch(lines[0]) is not None and all(
        _ANY_FIELD.fullmatch(line) or _OTHER_LINE.fullmatch(line) for line in lines
    )


def _yaml_fields(lines: list[str]) -> Fields:
    """The fields that matter, each with its values, which may go on below.

    >>> _yaml_fields(["title: >-", "  Tea", "  at home", "tags:", "- habit"])
    {'title': ['Tea', 'at home'], 'tags': ['habit']}
    """
    fields: Fields = {}
    label: str | None = None
    for line in lines:
        field, listed = _FIELD.fullmatch(line), _LISTED.fullmatch(line)
        if field is not None:
            label = field["label"].lower()
            fields[label] = [] if _FOLDED.fullmatch(field["value"]) else _values(label, field["value"])
        elif _ANY_FIELD.fullmatch(line):
            label = None
        elif listed is not None and label is not None:
            fields[label].append(_bare(listed["value"]))
        elif line[:1].isspace() and label is not None:
            fields[label] += _values(label, line)
    return {label: [value for value in values if value] for label, values in fields.items()}


def _toml_fields(inside: str) -> Fields | None:
    """The same of TOML; None where it is none.

    >>> _toml_fields('title = "Tea"\\ntags = ["habit", "home"]')
    {'title': ['Tea'], 'tags': ['habit', 'home']}
    """
    try:
        found = tomllib.loads(inside)
    except (ValueError, RecursionError):
        return None
    fields = {label: found[label] for label in ("title", "date", "tags", "keywords") if label in found}
    return {
        label: [str(one) for one in (value if isinstance(value, list) else [value])] for label, value in fields.items()
    }


def _values(label: str, text: str) -> list[str]:
    """Of tags, which may stand in one line, each; of others the one."""
    return [_bare(part) for part in text.strip(" \t[]").split(",")] if label in ("tags", "keywords") else [_bare(text)]


def _bare(text: str) -> str:
    """Without quotes around it, and a tag without its #."""
    return text.strip().strip("\"'").removeprefix("#").strip()
