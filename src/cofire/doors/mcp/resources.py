"""Resources: a fact, the guide and the counts, each under an address of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from cofire.doors.mcp.answering import counts
from cofire.doors.mcp.desk import Desk
from cofire.doors.mcp.guiding import guide
from cofire.errors import NotFound
from cofire.fencing import fenced
from cofire.xray import fact_json, link_json

LINKS = 20
PLAIN, JSON = "text/plain", "application/json"

_FACT, _GUIDE, _STATS = "cofire://fact/", "cofire://guide", "cofire://stats"

# What can be read as it stands, and what needs a name put in.
ADDRESSES: Mapping[str, str] = MappingProxyType(
    {_GUIDE: "A line on every tool.", _STATS: "How much memory holds, and what would do it good."}
)
TEMPLATES: Mapping[str, str] = MappingProxyType(
    {f"{_FACT}{{id}}": "A fact with its links.", f"{_GUIDE}/{{verb}}": "When and how to use a tool."}
)


@dataclass(frozen=True, slots=True)
class Page:
    """What stands at an address."""

    text: str
    kind: str


async def read(desk: Desk, address: str) -> Page:
    """What stands at an address; one that leads nowhere is an error."""
    if address == _STATS:
        return Page(json.dumps(await counts(desk), ensure_ascii=False), JSON)
    if address == _GUIDE:
        return Page(guide(), PLAIN)
    if address.startswith(f"{_GUIDE}/"):
        return Page(guide(address.removeprefix(f"{_GUIDE}/")), PLAIN)
    if address.startswith(_FACT):
        return await _fact(desk, address.removeprefix(_FACT))
    known = ", ".join([*ADDRESSES, *TEMPLATES])
    raise NotFound(f"Nothing stands at {address}.", way_out=f"There are {known}.")


async def _fact(desk: Desk, id: str) -> Page:
    """A fact as values, fenced: whoever puts it into a prompt puts the fence there too."""
    [fact] = await desk.facts(id)
    links = await desk.memory.neighbours(id, limit=LINKS)
    desk.show([fact])
    values = {**fact_json(fact), "links": [link_json(link) for link in links]}
    return Page(fenced(json.dumps(values, ensure_ascii=False, indent=2).splitlines()), PLAIN)
