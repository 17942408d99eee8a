"""What no file of the repository says: paths of somebody's machine, numbers of a tracker, hosts of a registry."""

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

from scripts.house import ROOT

UNSAID = {
    "a path of somebody's machine": re.compile(r"(?<![\w.])/(?:work|root|home|Users)/\w"),
    "a number of a tracker": re.compile(r"(?i)\b(?:issues?|tickets?|pull requests?|PR|fixes|closes|GH)[ -]?#?\d+\b"),
    "the host of a registry": re.compile(
        r"\bpypi\.org|pythonhosted\.org|registry\.npmjs|registry\.yarnpkg|repo1?\.maven|central\.sonatype"
    ),
}
IGNORED = [
    line for line in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines() if line and line[0] not in "#!"
]


def test_no_file_says_what_belongs_elsewhere() -> None:
    said = [
        f"{path.relative_to(ROOT)}:{number} says {what}: {line.strip()[:100]}"
        for path in sources(ROOT)
        for number, line in enumerate(text_of(path).splitlines(), 1)
        for what in spoken(line)
    ]
    assert said == []


@pytest.mark.parametrize(
    "line",
    [
        "see " + "/home" + "/ana/notes.md",
        "as in " + "issue" + " 12",
        "Fixes" + " #7",
        "from https://" + "pypi" + ".org/simple",
    ],
)
def test_such_a_line_is_noticed(line: str) -> None:
    assert len(spoken(line)) == 1


@pytest.mark.parametrize("line", ["~/notes.md", "https://example.org/home/page", "colour #333", "10 issues in 2 files"])
def test_an_innocent_line_is_left_alone(line: str) -> None:
    assert spoken(line) == []


def spoken(line: str) -> list[str]:
    return [what for what, pattern in UNSAID.items() if pattern.search(line)]


def text_of(path: Path) -> str:
    """A file's text; nothing where it is not text."""
    raw = path.read_bytes()
    return "" if b"\0" in raw else raw.decode("utf-8", errors="replace")


def sources(folder: Path) -> Iterator[Path]:
    """The files git would take, with no need of git."""
    for path in sorted(folder.iterdir()):
        if path.name == ".git" or path.is_symlink() or any(ignores(pattern, path) for pattern in IGNORED):
            continue
        if path.is_dir():
            yield from sources(path)
        else:
            yield path


def ignores(pattern: str, path: Path) -> bool:
    name = path.relative_to(ROOT).as_posix() if pattern.startswith("/") else path.name
    return fnmatch(name, pattern.strip("/")) and (path.is_dir() or not pattern.endswith("/"))
