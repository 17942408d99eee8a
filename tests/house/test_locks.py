"""The locks: every package pinned with its hashes, no host named, in step with pyproject.toml."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.house import ROOT

LOCKS = sorted(path.name for path in (ROOT / "requirements").glob("*.txt"))
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, GROUPS = PYPROJECT["project"], PYPROJECT["dependency-groups"]
EXTRAS = PROJECT["optional-dependencies"]
PIN = re.compile(r"^([\w.-]+)==(\S+)( ; .+)?$")


def entries(lock: str) -> list[tuple[str, list[str]]]:
    """Each line of a lock with the hashes that follow it."""
    text = (ROOT / "requirements" / lock).read_text(encoding="utf-8").replace("\\\n", " ")
    parts = [line.split(" --hash=") for line in text.splitlines()]
    return [(first.strip(), [found.strip() for found in hashes]) for first, *hashes in parts]


def pins(lock: str) -> dict[str, set[str]]:
    """The versions of each package: more than one where Pythons or platforms differ."""
    versions: dict[str, set[str]] = {}
    for line, _ in entries(lock):
        found = PIN.match(line)
        assert found, f"{lock}: not a pin: {line}"
        versions.setdefault(canonicalize_name(found[1]), set()).add(found[2])
    return versions


def group(name: str) -> list[str]:
    return [
        line
        for entry in GROUPS[name]
        for line in (group(entry["include-group"]) if isinstance(entry, dict) else [entry])
    ]


def test_there_are_five_locks() -> None:
    assert LOCKS == ["build.txt", "compiler.txt", "core.txt", "dev.txt", "tools.txt"]


@pytest.mark.parametrize("lock", LOCKS)
def test_every_package_has_its_hashes(lock: str) -> None:
    bare = [line for line, hashes in entries(lock) if not hashes]
    assert bare == []
    assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", found) for _, hashes in entries(lock) for found in hashes)


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_names_no_host(lock: str) -> None:
    text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
    assert not re.search(r"://|index-url|find-links|@ ", text)


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [
        ("core.txt", PROJECT["dependencies"]),
        ("dev.txt", [*PROJECT["dependencies"], *EXTRAS["remote"], *EXTRAS["usearch"], *group("dev")]),
        ("build.txt", [*PYPROJECT["build-system"]["requires"], *group("build")]),
        ("tools.txt", group("tools")),
        ("compiler.txt", group("compiler")),
    ],
)
def test_lock_holds_what_the_project_asks_for(lock: str, wanted: list[str]) -> None:
    pinned = pins(lock)
    missing = [
        line
        for line in wanted
        for asked in [Requirement(line)]
        if not any(asked.specifier.contains(version) for version in pinned.get(canonicalize_name(asked.name), ()))
    ]
    assert missing == [], "run: sh scripts/lock.sh"


@pytest.mark.parametrize("part", ["core.txt", "build.txt"])
def test_users_get_what_was_tested(part: str) -> None:
    tested = pins("dev.txt")
    assert {name: versions for name, versions in pins(part).items() if tested.get(name) != versions} == {}
