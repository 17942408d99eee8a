"""The README and the tutorial run as they stand; the Python of every other page names methods and keywords that exist."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cofire
from cofire.settings.table import find_knob
from scripts.house import ROOT
from tests.docs.pages import PAGES, README, TUTORIAL, Block, blocks, is_call, shell_words, written
from tests.interfaces.calling import call

PYTHON = sorted(
    (page.relative_to(ROOT).as_posix(), place, block.text)
    for page in PAGES
    for place, block in enumerate(blocks(page), start=1)
    if block.language == "python"
)
PUBLIC = sorted(name for name in vars(cofire.Memory) if not name.startswith("_"))


def test_python_of_the_readme_passes_mypy_strict(tmp_path: Path) -> None:
    paths = []
    for number, block in enumerate(block for block in blocks(README) if block.language == "python"):
        paths.append(tmp_path / f"block_{number}.py")
        paths[-1].write_text(f"{block.text}\n", encoding="utf-8")
    assert paths
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--follow-imports=silent",
        "--cache-dir",
        str(tmp_path / "cache"),
    ]
    checked = subprocess.run([*command, *map(str, paths)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.slow
@pytest.mark.parametrize("page", [README, TUTORIAL], ids=lambda page: page.name)
def test_page_runs_from_top_to_bottom(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COFIRE_STORE", "memory.db")
    monkeypatch.setenv("COFIRE_CONFIG", "config.toml")
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks(page):
        follow(block, names, monkeypatch)


def follow(block: Block, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Do what a reader would do with a block."""
    if block.name:
        Path(block.name).write_text(block.text, encoding="utf-8")
    elif block.language == "python":
        exec(compile(block.text, "block", "exec"), names)
    elif block.language in {"sh", "console"}:
        for line in block.text.splitlines():
            follow_line(line, monkeypatch)


def follow_line(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if line.startswith("export "):
        name, _, value = line.removeprefix("export ").partition("=")
        monkeypatch.setenv(name, os.path.expandvars(value))
    elif is_call(line):
        ran = call(*shell_words(line)[1:])
        assert ran.code == 0, f"{line}\n{ran.err}"


@pytest.mark.parametrize(
    ("page", "place", "text"), PYTHON, ids=lambda value: str(value) if len(str(value)) < 60 else None
)
def test_python_names_what_exists(page: str, place: int, text: str) -> None:
    tree = ast.parse(text)
    assert list(unknown(tree)) == []


def unknown(tree: ast.AST) -> Iterator[str]:
    """Methods of memory, their keywords, and settings that do not exist."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cofire"):
            module = __import__(node.module or "", fromlist=["*"])
            yield from (f"{node.module}.{one.name}" for one in node.names if not hasattr(module, one.name))
        if isinstance(node, ast.Call):
            yield from _unknown_call(node)


def _unknown_call(node: ast.Call) -> Iterator[str]:
    if (
        isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "memory"
    ):
        method = getattr(cofire.Memory, node.func.attr, None)
        if method is None:
            yield f"memory.{node.func.attr}"
            return
        yield from _unknown_keywords(node, method)
    elif isinstance(node.func, ast.Name) and node.func.id in {"Memory", "AsyncMemory", "Fact"}:
        yield from _unknown_keywords(node, getattr(cofire, node.func.id))


def _unknown_keywords(node: ast.Call, callee: Any) -> Iterator[str]:
    known = inspect.signature(callee).parameters
    yield from (f"{ast.unparse(node.func)}({one.arg}=…)" for one in node.keywords if one.arg and one.arg not in known)
    for one in node.keywords:
        if one.arg == "settings" and isinstance(one.value, ast.Dict):
            for name, value in ast.literal_eval(one.value).items():
                find_knob(name).read(value)


@pytest.mark.parametrize("name", PUBLIC)
def test_method_is_mentioned_in_the_documentation(name: str) -> None:
    said = "\n".join(written(page) for page in PAGES)
    assert f"memory.{name}(" in said, f"say somewhere what memory.{name}() is for"


def test_both_memories_have_the_same_methods() -> None:
    assert sorted(name for name in vars(cofire.AsyncMemory) if not name.startswith("_")) == PUBLIC


@pytest.mark.parametrize(
    "text", ["memory.remembr('x')", "memory.recall('x', kk=3)", "from cofire import Nothing", "Memory(storage='x')"]
)
def test_what_does_not_exist_is_noticed(text: str) -> None:
    assert len(list(unknown(ast.parse(text)))) == 1


def test_a_setting_that_does_not_exist_is_noticed() -> None:
    with pytest.raises(ValueError, match="There is no setting"):
        list(unknown(ast.parse("Memory(settings={'recall.kk': 3})")))
