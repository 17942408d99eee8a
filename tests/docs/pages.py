"""The pages of the documentation, taken apart: fenced blocks, links, headings and command lines."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scripts.house import ROOT

DOCS = ROOT / "docs"
README = ROOT / "README.md"
TUTORIAL = DOCS / "tutorial.md"
INDEX = DOCS / "README.md"
PAGES = (README, ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md")))
GUIDES = (README, TUTORIAL, *sorted((DOCS / "how-to").glob("*.md")))

_FENCE = re.compile(r"^ *```(?P<language>\w*)(?: (?P<name>\S+))?\n(?P<text>.*?)^ *```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\((?P<target>[^)\s]+)\)")
_CODE_SPAN = re.compile(r"`(?P<inside>[^`\n]+)`")
_HEADING = re.compile(r"^#+ (?P<title>.+)$", re.MULTILINE)
_NO_SLUG = re.compile(r"[^\w\- ]")
_SHELL = ("sh", "console")


@dataclass(frozen=True, slots=True)
class Block:
    """What stands between two fences. A `name` after the language is the file that the reader saves it as."""

    language: str
    name: str
    text: str


def written(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path) -> list[Block]:
    return [
        Block(found["language"], found["name"] or "", _undented(found["text"]))
        for found in _FENCE.finditer(written(page))
    ]


def prose(page: Path) -> str:
    """A page without its blocks."""
    return _FENCE.sub("", written(page))


def links(page: Path) -> list[str]:
    """Where a page links to, within the repository."""
    targets = (found["target"] for found in _LINK.finditer(prose(page)))
    return [target for target in targets if "://" not in target and not target.startswith("mailto:")]


def anchors(page: Path) -> set[str]:
    """The headings of a page, as links name them."""
    return {slug(found["title"]) for found in _HEADING.finditer(prose(page))}


def slug(title: str) -> str:
    """A heading as the anchor that is made of it.

    >>> slug("Likeness: three kinds")
    'likeness-three-kinds'
    """
    return _NO_SLUG.sub("", title.lower()).strip().replace(" ", "-")


def commands(page: Path) -> Iterator[list[str]]:
    """Every call of cofire on a page, in blocks and in running text, as its arguments."""
    for block in blocks(page):
        if block.language in _SHELL:
            yield from (shell_words(line)[1:] for line in block.text.splitlines() if is_call(line))
    for found in _CODE_SPAN.finditer(prose(page)):
        if is_call(found["inside"]):
            yield shell_words(found["inside"])[1:]


def is_call(line: str) -> bool:
    return line.removeprefix("$ ").startswith("cofire ")


def shell_words(line: str) -> list[str]:
    """A command line as a shell would cut it, without its prompt and comment.

    >>> shell_words('$ cofire recall "Who leads?" -k 2  # best first')
    ['cofire', 'recall', 'Who leads?', '-k', '2']
    """
    return shlex.split(line.removeprefix("$ "), comments=True)


def _undented(text: str) -> str:
    """A block in a list is indented as far as its first line."""
    lines = text.splitlines(keepends=True)
    margin = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)
    return "".join(line[margin:] for line in lines)
