"""Who may know whom: doors → memory → verbs → {dynamics, reading, stores.base, embedders.base} → model.

Nothing points back, nothing goes in a circle, and no import hides in a function.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

import pytest

from scripts.house import Module, modules

# The two faces of one memory know the same rooms.
FACADE = {
    *("errors", "learned", "model", "presets", "settings", "configuration", "reasons", "recollection", "xray"),
    *(
        "embedders.base",
        "stores.base",
        "asks",
        "driving",
        "verbs",
        "opening",
        "own_channels",
        "shadows",
        "keyword_arguments",
        "guide",
        "ingesting",
        "pictures",
        "spreads",
        "streaming",
    ),
}

# Each room and the rooms it may import from besides itself. "cofire" is the package's own __init__.
MAY_KNOW = {
    "errors": set(),
    "installation": set(),
    "ids": {"errors"},
    "keyword_arguments": {"errors", "streaming"},
    "curating": set(),
    "metadata_filter": {"errors"},
    "kernels": set(),
    "late": set(),
    "learned": set(),
    "revising": set(),
    "carrying": {"learned", "stores.base"},
    "receipt_rows": set(),
    "receipts": {"errors", "places", "receipt_rows", "revising"},
    "receipt_asks": {"asks", "revising"},
    "forget_settings": {"knobs"},
    "model": {"curating", "errors", "learned", "metadata_filter", "revising"},
    "sheaves": {"model"},
    "presets": {"errors", "model"},
    "fencing": set(),
    "places": {"errors"},
    "guide": {"errors"},
    "dreaming": {"errors"},
    "kinds": set(),
    "knobs": {"errors"},
    "graph_settings": {"knobs"},
    "energy_settings": {"knobs"},
    "recall_settings": {"knobs"},
    "abstention_settings": {"knobs"},
    "curate_settings": {"knobs"},
    "learning_settings": {"knobs"},
    "learning_asks": {"asks", "learned"},
    "shadow_settings": {"knobs", "presets"},
    "journal": {"errors", "places"},
    "journal_asks": {"asks"},
    "curate_asks": {"asks", "curating"},
    "shadows": {"dynamics"},
    "ranking": {"dynamics"},
    "own_channels": {"asks", "errors", "model"},
    "settings": {
        *("errors", "abstention_settings", "curate_settings", "energy_settings", "graph_settings", "recall_settings"),
        *("forget_settings", "knobs", "learning_settings", "model", "presets", "shadow_settings"),
    },
    "setting_effects": {"abstention_settings", "energy_settings", "knobs", "recall_settings", "settings"},
    "configuration": {"errors", "model", "places", "presets", "settings"},
    "dynamics": {"errors", "kernels", "learned", "model", "reading", "spreads"},
    "reading": {"errors", "installation", "model", "dynamics", "ranking"},
    "ingesting": {"errors", "model"},
    "embedders.base": {"errors", "model"},
    "embedders.calibration": set(),
    "embedders": {"errors", "installation", "model", "dynamics", "embedders.base", "embedders.calibration"},
    "stores.base": {"curating", "learned", "revising", "errors", "model", "dynamics", "reading", "embedders.base"},
    "stores": {
        "installation",
        "carrying",
        "curating",
        "kernels",
        "late",
        "learned",
        "revising",
        "kinds",
        "errors",
        "metadata_filter",
        "model",
        "dynamics",
        "reading",
        "embedders.base",
        "stores.base",
        "places",
        "sheaves",
    },
    "assuming": {"asks", "errors", "model", "stores.base"},
    "asks": {"errors", "journal", "receipts", "model", "embedders.base", "reading", "stores.base"},
    "driving": {"asks"},
    "graph_asks": {"asks", "model", "stores.base"},
    "xray": {"errors", "fencing", "model", "reading", "spreads"},
    "reasons": {"errors", "model", "recollection", "xray"},
    "recollection": {"errors", "model", "spreads", "xray"},
    "spreads": set(),
    "pictures": {"model", "xray"},
    "streaming": set(),
    "garbage": set(),
    "verbs": {
        *(
            "errors",
            "ids",
            "garbage",
            "kernels",
            "keyword_arguments",
            "kinds",
            "late",
            "metadata_filter",
            "model",
            "presets",
            "settings",
            "sheaves",
            "graph_settings",
            "energy_settings",
            "recall_settings",
            "abstention_settings",
            "curate_settings",
            "curate_asks",
            "learned",
            "learning_asks",
            "learning_settings",
            "carrying",
            "curating",
            "forget_settings",
            "receipt_asks",
            "receipt_rows",
            "revising",
            "shadow_settings",
            "shadows",
            "ranking",
            "own_channels",
            "dynamics",
            "reading",
            "pictures",
            "reasons",
            "recollection",
            "spreads",
            "xray",
        ),
        *("embedders.base", "embedders.calibration", "stores.base", "asks", "graph_asks", "journal_asks", "ingesting"),
    },
    "opening": {
        "installation",
        "assuming",
        *("errors", "ids", "journal", "model", "settings", "graph_settings", "configuration", "dreaming", "reading"),
        "setting_effects",
        "curate_settings",
        "places",
        "receipts",
        *("embedders.base", "embedders", "stores.base", "stores", "asks", "driving", "verbs"),
    },
    "memory": FACADE,
    "async_memory": {*FACADE, "memory"},
    "restoring": {"errors", "settings", "configuration", "opening", "places", "stores"},
    "copying": {"carrying", "configuration", "errors", "opening", "places", "stores", "verbs"},
    "cofire": {"errors", "model", "settings", "own_channels", "recollection", "memory", "async_memory"},
    "benching": {
        *("cofire", "errors", "kernels", "presets", "settings", "configuration", "ranking", "opening"),
        *("embedders.base", "stores.base"),
    },
    "doors": {
        "installation",
        "benching",
        "errors",
        "ids",
        "fencing",
        "garbage",
        "learned",
        "revising",
        "guide",
        "kernels",
        "keyword_arguments",
        "kinds",
        "metadata_filter",
        "model",
        "pictures",
        "places",
        "presets",
        "settings",
        "setting_effects",
        "configuration",
        "reasons",
        "recollection",
        "shadows",
        "spreads",
        "xray",
        "memory",
        "restoring",
        "copying",
        "cofire",
    },
    "__main__": {"doors"},
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


def test_each_room_knows_only_what_it_may() -> None:
    trespasses = [
        str(found)
        for module in MODULES.values()
        for found in [*imports(module, module.tree), *named_modules(module)]
        if room(found.target) not in {room(module.name), *MAY_KNOW.get(room(module.name), ())}
    ]
    assert not trespasses, "\n".join(trespasses)


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


def test_the_table_has_a_room_for_every_module() -> None:
    homeless = [name for name in MODULES if room(name) not in MAY_KNOW]
    assert homeless == [], "give each a row in MAY_KNOW, with the least it must know"


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


def room(name: str) -> str:
    """`cofire.stores.sqlite` lives in `stores`; a `base` is a room of its own."""
    _, _, inside = name.partition(".")
    return inside if inside in MAY_KNOW else inside.partition(".")[0] or "cofire"


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
