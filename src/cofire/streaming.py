"""Streaming: an answer that can be awaited whole, or iterated part by part as it comes."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from functools import partial, wraps
from typing import Any, Generic, TypeVar, cast

Whole = TypeVar("Whole")
Part = TypeVar("Part")
F = TypeVar("F", bound=Callable[..., Any])


class Streaming(Generic[Whole, Part]):
    """`await` it for the whole, or `async for` over its parts. Either begins the work anew."""

    def __init__(
        self, whole: Callable[[], Coroutine[Any, Any, Whole]], parts: Callable[[], AsyncIterator[Part]]
    ) -> None:
        self._whole = whole
        self._parts = parts

    def __await__(self) -> Generator[Any, Any, Whole]:
        return self._whole().__await__()

    def __aiter__(self) -> AsyncIterator[Part]:
        return self._parts()


class _Streamed:
    """A method that returns a Streaming. Asked of the class, it is known as the coroutine function that awaits it whole."""

    def __init__(self, method: Callable[..., Any], whole: str) -> None:
        self._method = method

        @wraps(method)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            return await method(*args, **kwargs)

        signature = inspect.signature(method).replace(return_annotation=whole)
        awaited.__signature__ = signature  # type: ignore[attr-defined]
        self._awaited = awaited

    def __get__(self, instance: object, owner: type | None = None) -> Callable[..., Any]:
        return self._awaited if instance is None else partial(self._method, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._method(*args, **kwargs)


def streamed(whole: str) -> Callable[[F], F]:
    """Let a method that returns a Streaming be a verb like the others: `whole` names what awaiting it gives."""

    def known(method: F) -> F:
        return cast(F, _Streamed(method, whole))

    return known
