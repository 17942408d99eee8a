"""Modules, functions and store methods that the pages for contributors name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cofire.runtime.store_proxy import StoreProxy
from scripts.house import PACKAGE
from tests.docs.pages import DOCS, written

GLOSSARY = DOCS / "glossary.md"
ARCHITECTURE = DOCS / "explanation" / "architecture.md"
CODE_FILE = re.compile(r"`((?:\w+/)*\w+\.(?:py|toml))`")
FUNCTIONS_IN_FILE = re.compile(r"((?:`\w+`(?:, )?)+) (?:in|\() ?`((?:\w+/)*\w+\.py)`")
STORE_METHOD = re.compile(r"`((?:read|list|find|fetch|search|look_up|match|expand|write)\w*)`")


@pytest.mark.parametrize("page", [GLOSSARY, ARCHITECTURE], ids=lambda page: page.name)
def test_every_file_exists(page: Path) -> None:
    # A name without a folder may be a file of the folder that the sentence names.
    names = {path.name for path in PACKAGE.rglob("*")}
    paths = [path for path in CODE_FILE.findall(written(page)) if not path.startswith("tests/")]
    missing = [path for path in paths if not (PACKAGE / path).exists() and ("/" in path or path not in names)]
    assert paths
    assert missing == []


def test_every_function_is_in_its_file() -> None:
    pairs = [
        (name, path)
        for functions, path in FUNCTIONS_IN_FILE.findall(written(ARCHITECTURE))
        for name in re.findall(r"\w+", functions)
    ]
    assert len(pairs) > 15
    assert [pair for pair in pairs if not defines(PACKAGE / pair[1], pair[0])] == []


def test_every_store_method_of_a_table_exists() -> None:
    rows = [line.rpartition(" | ")[2] for line in written(ARCHITECTURE).splitlines() if line.startswith("|")]
    methods = {name for cell in rows for name in STORE_METHOD.findall(cell)}
    assert len(methods) > 10
    assert {name for name in methods if not hasattr(StoreProxy, name)} == set()


def defines(path: Path, name: str) -> bool:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return re.search(rf"^(?:    )?(?:async )?(?:def|class) {name}\b", text, re.MULTILINE) is not None
