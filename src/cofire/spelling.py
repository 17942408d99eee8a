"""Spelling out: methods that take their keywords as a TypedDict show and check them one by one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from inspect import Parameter, Signature
from typing import Any, TypeVar, get_args, get_type_hints

F = TypeVar("F", bound=Callable[..., Any])


def spelled_out(method: F) -> F:
    """Let `**asked: Unpack[Asked]` be seen by `help()` as the keywords it stands for, and refuse any other.

    >>> from typing import TypedDict, Unpack
    >>> Size = TypedDict("Size", {"width": int}, total=False)
    >>> @spelled_out
    ... def draw(shape: str, **size: Unpack[Size]) -> str:
    ...     return shape
    >>> str(inspect.signature(draw)), draw("box", width=3)
    ("(shape: 'str', *, width: int = None) -> 'str'", 'box')
    """
    signature = _expanded(method)
    known = frozenset(signature.parameters)

    @wraps(method)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if not kwargs.keys() <= known:
            signature.bind(*args, **kwargs)
        # What can be gone through only once would be empty for the second who looks.
        said = {name: tuple(value) if isinstance(value, Iterator) else value for name, value in kwargs.items()}
        return method(*args, **said)

    made = _awaited(checked) if inspect.iscoroutinefunction(method) else checked
    made.__signature__ = signature  # type: ignore[attr-defined]
    return made  # type: ignore[return-value]


def _awaited(checked: Callable[..., Any]) -> Callable[..., Any]:
    """The same as a coroutine function, which it must be known as."""

    @wraps(checked)
    async def awaited(*args: Any, **kwargs: Any) -> Any:
        return await checked(*args, **kwargs)

    return awaited


def _expanded(method: Callable[..., Any]) -> Signature:
    plain = inspect.signature(method)
    *others, last = plain.parameters.values()
    (keywords,) = get_args(get_type_hints(method)[last.name])
    named = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in get_type_hints(keywords).items()
    ]
    return plain.replace(parameters=[*others, *named])
