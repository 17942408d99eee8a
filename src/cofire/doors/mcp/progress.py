"""Progress: how far long work has come, for a client that asked to be told. Others hear nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Protocol

from cofire.doors.steps import Step


class Session(Protocol):
    """The request that is answered, as its client follows it. Without a token from the client it says nothing."""

    async def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None: ...


@asynccontextmanager
async def telling(session: Session) -> AsyncIterator[Callable[[Step], None]]:
    """What hears of steps while the work is done; all of them are told before the answer goes."""
    steps: asyncio.Queue[Step | None] = asyncio.Queue()
    teller = asyncio.ensure_future(_tell(steps, session))
    try:
        yield steps.put_nowait
    finally:
        steps.put_nowait(None)
        await teller


async def _tell(steps: asyncio.Queue[Step | None], session: Session) -> None:
    """In order, and only what is farther than before: MCP wants progress to grow."""
    told = -1
    while (step := await steps.get()) is not None:
        if step.done > told:
            told = step.done
            await session.report_progress(step.done, step.total, step.doing)
