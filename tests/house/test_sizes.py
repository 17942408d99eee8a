"""Nothing in the house outgrows a screen or two, and every module says what lives there."""

import pytest

from scripts.house import LONGEST_FILE, LONGEST_FUNCTION, Module, functions, modules, undocumented

MODULES = modules()


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_module_fits_its_walls(module: Module) -> None:
    assert module.lines <= LONGEST_FILE, f"{module.name} has {module.lines} lines: split it by what it is about"
    long = [f"{f.where} has {f.lines} lines" for f in functions(module) if f.lines > LONGEST_FUNCTION]
    assert not long, f"{'; '.join(long)}: name its steps"


def test_every_module_says_what_lives_there() -> None:
    assert MODULES
    assert undocumented(MODULES) == []
