"""The names a user may rely on: few, pinned, and light to import."""

import ast
import tomllib

import cofire
from scripts.house import ROOT, modules

PUBLIC_NAMES = [
    "AsyncMemory",
    "CofireError",
    "Edge",
    "Fact",
    "Hit",
    "Link",
    "Memory",
    "OwnChannel",
    "Recollection",
    "Settings",
    "__version__",
]


def test_public_names_are_these() -> None:
    assert cofire.__all__ == PUBLIC_NAMES
    assert len(PUBLIC_NAMES) <= 15
    assert [name for name in PUBLIC_NAMES if not hasattr(cofire, name)] == []


def test_version_is_that_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert cofire.__version__ == project["version"]


def test_class_names_are_unique_in_the_package() -> None:
    homes: dict[str, list[str]] = {}
    for module in modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(module.name)
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}
