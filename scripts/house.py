"""Report the length of functions and files, and modules without a docstring.

python scripts/house.py [FOLDER]    prints a report on src/cofire, or on another folder of Python files
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "cofire"

LONG_FILE = 700


@dataclass(frozen=True, slots=True)
class Module:
    """A parsed Python file. `name` is its import name: `cofire.stores.base`."""

    path: Path
    name: str
    text: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())


@dataclass(frozen=True, slots=True)
class Function:
    """A function and the number of lines of its body, without signature and docstring."""

    where: str
    lines: int


def modules(folder: Path = PACKAGE) -> list[Module]:
    return [read(path, folder) for path in sorted(folder.rglob("*.py"))]


def read(path: Path, folder: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    return Module(path, dotted(path.relative_to(folder.parent)), text, ast.parse(text, filename=str(path)))


def dotted(path: Path) -> str:
    """The import name of a file.

    >>> dotted(Path("cofire/stores/base.py")), dotted(Path("cofire/stores/__init__.py"))
    ('cofire.stores.base', 'cofire.stores')
    """
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def functions(module: Module) -> Iterator[Function]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield Function(f"{module.name}.{node.name}", body_lines(node))


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The number of lines from the first statement to the last, without the docstring.

    >>> function = ast.parse('def f(x):\\n    "Explained."\\n    y = x\\n    return y').body[0]
    >>> body_lines(function)
    2
    """
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def undocumented(found: Sequence[Module]) -> list[str]:
    return [module.name for module in found if not ast.get_docstring(module.tree)]


def quantile(ordered: Sequence[int], share: float) -> int:
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def report(found: Sequence[Module]) -> str:
    by_length = sorted((f for module in found for f in functions(module)), key=lambda f: f.lines)
    lengths = [f.lines for f in by_length] or [0]
    long_files = [f"{m.name} {m.lines}" for m in found if m.lines > LONG_FILE]
    return "\n".join(
        [
            f"{len(found)} modules of {sum(m.lines for m in found)} lines, {len(by_length)} functions",
            f"functions: median {quantile(lengths, 0.5)}, nine in ten ≤ {quantile(lengths, 0.9)} lines; longest:",
            *(f"  {f.lines:4} {f.where}" for f in reversed(by_length[-5:])),
            f"files over {LONG_FILE} lines: {', '.join(long_files) or 'none'}",
            f"modules without a docstring: {', '.join(undocumented(found)) or 'none'}",
        ]
    )


if __name__ == "__main__":
    print(report(modules(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PACKAGE)))
