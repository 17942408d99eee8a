"""Twins: the same question asked of compiled code and of numpy, each known to have answered it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NoReturn, TypeVar

import pytest

from cofire.index.native import LIBRARY

Answer = TypeVar("Answer")

NEEDS_LIBRARY = pytest.mark.skipif(
    LIBRARY is None, reason="the kernels are not built: python hatch_build.py builds them"
)


def modules_of(room: str) -> list[ModuleType]:
    """All modules that were loaded of a package."""
    return [module for name, module in sorted(sys.modules.items()) if name.startswith(f"{room}.")]


def kernels() -> list[tuple[ModuleType, str]]:
    """Where the functions of the library stand: the module and the name."""
    return [
        (module, name)
        for module in modules_of("cofire.index")
        for name, held in vars(module).items()
        if LIBRARY is not None and isinstance(held, LIBRARY._FuncPtr)
    ]


def refused(*given: Any) -> NoReturn:
    raise AssertionError("Compiled code is called where numpy is asked.")


@contextmanager
def in_numpy() -> Iterator[None]:
    """As if there were no library. Whoever calls it nevertheless fails."""
    with pytest.MonkeyPatch.context() as patch:
        for module in modules_of("cofire"):
            if hasattr(module, "LIBRARY"):
                patch.setattr(module, "LIBRARY", None)
        for module, name in kernels():
            patch.setattr(module, name, refused)
        yield


@contextmanager
def calls_of(kernel: str) -> Iterator[list[Any]]:
    """What a function of the library gives back, call by call."""
    given: list[Any] = []
    ((module, name),) = [(module, name) for module, name in kernels() if name == f"_{kernel}"]
    compiled = getattr(module, name)

    def noted(*arguments: Any) -> Any:
        given.append(compiled(*arguments))
        return given[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, name, noted)
        yield given


def both(kernel: str, ask: Callable[[], Answer]) -> tuple[Answer, Answer]:
    """The answer of compiled code, which must be called for it, and that of numpy."""
    with calls_of(kernel) as calls:
        compiled = ask()
    assert calls, f"{kernel} was not called"
    with in_numpy():
        return compiled, ask()
