"""Toolsets: the tools that a server offers together, with what answers a call. cofire's own is here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from cofire.doors.mcp.answering import ACTS
from cofire.doors.mcp.arguments import understood
from cofire.doors.mcp.desk import Answer, Desk
from cofire.doors.mcp.tools import INSTRUCTIONS, TOOLS


class Listed(Protocol):
    """What the listing says of a tool."""

    @property
    def name(self) -> str: ...
    @property
    def what(self) -> str: ...
    @property
    def reads_only(self) -> bool: ...
    @property
    def destroys(self) -> bool: ...
    @property
    def idempotent(self) -> bool: ...
    def input_schema(self) -> dict[str, Any]: ...
    def output_schema(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Toolset:
    """Tools, and how a call of one is answered. `unlisted` are names that are answered without being listed."""

    tools: Sequence[Listed]
    answer: Callable[[Desk, str, Mapping[str, Any]], Awaitable[Answer]]
    instructions: str

    unlisted: Sequence[str] = ()

    @property
    def names(self) -> list[str]:
        return [*(tool.name for tool in self.tools), *self.unlisted]


async def _answer(desk: Desk, name: str, given: Mapping[str, Any]) -> Answer:
    return await ACTS[name](desk, understood(TOOLS[name], given))


OWN = Toolset(
    tuple(tool for tool in TOOLS.values() if tool.listed),
    _answer,
    INSTRUCTIONS,
    unlisted=tuple(tool.name for tool in TOOLS.values() if not tool.listed),
)
