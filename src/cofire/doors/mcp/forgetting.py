"""The tool `forget`: first a look at what would go, then a receipt, and the way back."""

from __future__ import annotations

import re
from typing import Any

from cofire.doors.mcp.desk import Answer, Desk
from cofire.errors import InvalidInput, NotFound
from cofire.fencing import fenced
from cofire.model import Fact
from cofire.xray import counted, shortened

PREVIEWED = 20

_RECEIPT = re.compile(r"[0-9A-Za-z]{26}")


async def forget(desk: Desk, said: dict[str, Any]) -> Answer:
    if "undo" in said:
        return await _undo(desk, said["undo"])
    confirmed, ids = said.pop("confirm", False), said.pop("ids", None)
    if ids is None and not said:
        raise InvalidInput("Nothing says what to forget.", way_out="Give ids, tags, a session or where.")
    if ids is not None:
        await desk.facts(ids)
    told = await desk.memory.forget(ids, dry_run=not confirmed, scope=desk.scope, **said)
    structured = {
        "forgotten": bool(confirmed and told.facts),
        "ids": list(told.ids),
        "edges": told.radius.edges,
        "receipt": told.receipt.id if told.receipt else "",
        "next": _next(list(told.ids), told.receipt.id if told.receipt else "", confirmed=confirmed),
    }
    return Answer(_in_words(list(told.facts), structured, confirmed=confirmed), structured)


def _next(ids: list[str], receipt: str, *, confirmed: bool) -> str:
    if not ids:
        return ""
    if not confirmed:
        return f"forget(ids={ids}, confirm=true)"
    return f"forget(undo={receipt!r})" if receipt else ""


def _in_words(facts: list[Fact], structured: dict[str, Any], *, confirmed: bool) -> str:
    if not facts:
        return "There is nothing to forget there."
    if confirmed:
        back = f" It comes back with: {structured['next']}" if structured["next"] else " No receipt was kept."
        return f"Forgot {counted(len(facts), 'fact')} and {counted(structured['edges'], 'edge')}.{back}"
    lines = [f"{fact.id} {shortened(fact.text)}" for fact in facts[:PREVIEWED]]
    lines += [f"… and {len(facts) - PREVIEWED} more"] if len(facts) > PREVIEWED else []
    count = f"{counted(len(facts), 'fact')} and {counted(structured['edges'], 'edge')}"
    would = f"Nothing is forgotten yet. Would delete {count}:"
    return f"{would}\n{fenced(lines)}\nTo forget them: {structured['next']}"


async def _undo(desk: Desk, receipt: str) -> Answer:
    """By the id of a receipt alone, as a path would let a client name any file; and in this scope alone."""
    if not _RECEIPT.fullmatch(receipt):
        raise NotFound(f"No receipt has the id {receipt}.", way_out="Give the receipt that forget told.")
    back = await desk.memory.undo(receipt, scope=desk.scope)
    ids = list(back.ids)
    structured = {"forgotten": False, "ids": ids, "edges": back.edges, "receipt": "", "next": ""}
    skipped = "".join(f" Not the {one.what} {one.id}: {one.why}." for one in back.skipped)
    return Answer(f"Brought back {counted(len(ids), 'fact')} and {counted(back.edges, 'edge')}.{skipped}", structured)
