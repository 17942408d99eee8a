"""The tools `update` and `supersede`: correct a fact in place, or replace it by a newer one."""

from __future__ import annotations

from typing import Any

from cofire.doors.mcp.desk import Answer, Desk
from cofire.doors.mcp.remembering import own_words
from cofire.errors import InvalidInput


async def update(desk: Desk, said: dict[str, Any]) -> Answer:
    id = said.pop("id")
    if not said:
        raise InvalidInput("No change was given.", way_out="Give text, subject, tags or at.")
    if "text" in said:
        said["text"] = own_words(said["text"])
    [before] = await desk.facts([id])
    fact = await desk.memory.update(id, **said)
    desk.show([fact])
    return Answer(f"Updated {id}.", {"id": id, "text": fact.text, "was": before.text})


async def supersede(desk: Desk, said: dict[str, Any]) -> Answer:
    old_ids, new = list(dict.fromkeys(said["old"])), said["new"]
    await desk.facts([*old_ids, new])
    if said.get("undo"):
        for old in old_ids:
            await desk.memory.unsupersede(old, new)
        return Answer(f"{new} no longer supersedes {', '.join(old_ids)}.", {"old": old_ids, "new": new})
    for old in old_ids:
        await desk.memory.supersede(old, new)
    return Answer(f"{new} supersedes {', '.join(old_ids)}.", {"old": old_ids, "new": new})
