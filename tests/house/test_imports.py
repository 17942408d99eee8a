"""Imports between rooms: interfaces → memory → verbs and recall → stores, algorithms, text → model.

No import cycles, and no internal import inside a function.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

import pytest

from scripts.house import Module, modules

INTERFACES = {"cli", "evaluation", "hooks", "http", "interfaces", "mcp", "picture"}
FACADE = {"async_memory", "cofire", "memory"}
VERBS = {"recall", "runtime", "verbs"}
STORES = {"stores.sqlite", "stores.neo4j"}

# What each room must not import. Rooms not listed here may import everything.
MUST_NOT_IMPORT: dict[str, set[str]] = {
    "errors": {"model", "stores", *STORES, *VERBS, *FACADE, *INTERFACES},
    "model": {*STORES, *VERBS, *FACADE, *INTERFACES},
    "results": {*STORES, *VERBS, *FACADE, *INTERFACES},
    "explain": {*STORES, *VERBS, *FACADE, *INTERFACES},
    "algorithms": {"embedders", "results", *STORES, *VERBS, *FACADE, *INTERFACES},
    "text": {"embedders", "results", *STORES, *VERBS, *FACADE, *INTERFACES},
    "ingest": {"embedders", "results", *STORES, *VERBS, *FACADE, *INTERFACES},
    "index": {*VERBS, *FACADE, *INTERFACES},
    "stores": {*VERBS, *FACADE, *INTERFACES},
    "embedders": {*VERBS, *FACADE, *INTERFACES},
    "settings": {*VERBS, *FACADE, *INTERFACES},
    "runtime": {"recall", *FACADE, *INTERFACES},
    "recall": {*STORES, *FACADE, *INTERFACES},
    "verbs": {"index", *STORES, *FACADE, *INTERFACES},
}

MODULES = {module.name: module for module in modules()}
MODULE_NAME = re.compile(r"cofire(\.\w+)+")


@dataclass(frozen=True)
class Import:
    importer: Module
    target: str
    line: int

    def __str__(self) -> str:
        return f"{self.importer.name}, line {self.line}, imports {self.target}"


def test_no_room_imports_what_it_must_not() -> None:
    violations = [
        str(found)
        for module in MODULES.values()
        for found in [*imports(module, module.tree), *named_modules(module)]
        if rooms(found.target) & MUST_NOT_IMPORT.get(min(rooms(module.name), key=len), set())
    ]
    assert not violations, "\n".join(violations)


def test_no_import_cycle() -> None:
    knows = {name: {i.target for i in imports(module, module.tree)} for name, module in MODULES.items()}
    try:
        TopologicalSorter(knows).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' ← '.join(error.args[1])}")


def test_no_internal_import_inside_a_function() -> None:
    hidden = [
        str(found)
        for module in MODULES.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for found in imports(module, node)
    ]
    assert not hidden, "\n".join(hidden)


@pytest.mark.parametrize(
    ("statement", "target"),
    [
        ("import cofire.stores.base", "cofire.stores.base"),
        ("from cofire.stores import base", "cofire.stores.base"),
        ("from cofire.stores.base import Store", "cofire.stores.base"),
        ("from cofire import errors", "cofire.errors"),
        ("from cofire import Memory", "cofire"),
        ("from .base import Store", "cofire.stores.base"),
        ("from . import base", "cofire.stores.base"),
        ("from ..errors import CofireError", "cofire.errors"),
    ],
)
def test_every_way_to_import_is_understood(statement: str, target: str) -> None:
    importer = MODULES["cofire.stores.base"]
    assert [found.target for found in imports(importer, ast.parse(statement))] == [target]


def rooms(name: str) -> set[str]:
    """The rooms a module lives in: `cofire.stores.sqlite.store` in `stores` and `stores.sqlite`."""
    parts = name.split(".")[1:]
    return {".".join(parts[:1]) or "cofire", ".".join(parts[:2]) or "cofire"}


def imports(importer: Module, tree: ast.AST) -> Iterator[Import]:
    """Imports of cofire's own modules anywhere under a node, those for type checking included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            origin = origin_of(node, importer)
            targets = [
                f"{origin}.{alias.name}" if f"{origin}.{alias.name}" in MODULES else origin for alias in node.names
            ]
        else:
            continue
        yield from (
            Import(importer, name, node.lineno) for name in dict.fromkeys(targets) if name.split(".")[0] == "cofire"
        )


def origin_of(node: ast.ImportFrom, importer: Module) -> str:
    """The module named after `from`, a relative one seen from the importer."""
    if not node.level:
        return node.module or ""
    package = importer.name if importer.path.name == "__init__.py" else importer.name.rpartition(".")[0]
    parents = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*parents, *([node.module] if node.module else [])])


def named_modules(importer: Module) -> Iterator[Import]:
    """Modules named in strings, to be loaded later: they are known as well."""
    for node in ast.walk(importer.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and MODULE_NAME.fullmatch(node.value):
            yield Import(importer, node.value, node.lineno)
