"""The examples in the benchmarks' docstrings hold."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

from scripts.house import ROOT

MODULES = sorted(path.stem for path in Path(ROOT / "benchmarks").glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name: str) -> None:
    assert doctest.testmod(import_module(f"benchmarks.{name}")).failed == 0
