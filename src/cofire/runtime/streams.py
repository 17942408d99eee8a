"""Results that can be awaited whole or iterated part by part."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from functools import partial, wraps
from typing import Any, Generic, TypeVar, cast

Whole = TypeVar("Whole")
Part = TypeVar("Part")
F = TypeVar("F", bound=Callable[..., Any])


class StreamingResult(Generic[Whole, Part]):
    """`await` it for the whole, or `async for` over its parts. Either starts the work."""

    def __init__(
        self, whole: Callable[[], Coroutine[Any, Any, Whole]], parts: Callable[[], AsyncIterator[Part]]
    ) -> None:
        self._whole = whole
        self._parts = parts

    def __await__(self) -> Generator[Any, Any, Whole]:
        return self._whole().__await__()

    def __aiter__(self) -> AsyncIterator[Part]:
        return self._parts()


class StreamingMethod:
    """A method that returns a StreamingResult. On the class it reads as a coroutine function that
    awaits the whole result."""

    def __init__(self, method: Callable[..., Any], whole: str) -> None:
        self.method = method
        self.whole = whole

        @wraps(method)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            return await method(*args, **kwargs)

        signature = inspect.signature(method).replace(return_annotation=whole)
        awaited.__signature__ = signature  # type: ignore[attr-defined]
        self._awaited = awaited

    def __get__(self, instance: object, owner: type | None = None) -> Callable[..., Any]:
        return self._awaited if instance is None else partial(self.method, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.method(*args, **kwargs)


def streaming_method(whole: str) -> Callable[[F], F]:
    """Decorate a method that returns a StreamingResult. `whole` names the type of the whole result."""

    def decorate(method: F) -> F:
        return cast(F, StreamingMethod(method, whole))

    return decorate
