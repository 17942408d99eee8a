"""MCP resources: a fact, the guide and the statistics, each under a URI."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from cofire.errors import NotFound
from cofire.explain import fact_json, link_json
from cofire.mcp.handlers import fetch_stats, render_guide
from cofire.mcp.served_memory import ServedMemory
from cofire.text.prompt_text import delimit_entries

MAX_LINKS = 20
TEXT_MEDIA_TYPE, JSON_MEDIA_TYPE = "text/plain", "application/json"

_FACT_URI, _GUIDE_URI, _STATS_URI = "cofire://fact/", "cofire://guide", "cofire://stats"

# What can be read as it stands, and what needs a name put in.
RESOURCE_URIS: Mapping[str, str] = MappingProxyType(
    {_GUIDE_URI: "A line on every tool.", _STATS_URI: "How much memory holds, and what would do it good."}
)
URI_TEMPLATES: Mapping[str, str] = MappingProxyType(
    {f"{_FACT_URI}{{id}}": "A fact with its links.", f"{_GUIDE_URI}/{{verb}}": "When and how to use a tool."}
)


@dataclass(frozen=True, slots=True)
class ResourceContent:
    """What stands at an address."""

    text: str
    kind: str


async def read_resource(desk: ServedMemory, address: str) -> ResourceContent:
    """What stands at an address; one that leads nowhere is an error."""
    if address == _STATS_URI:
        return ResourceContent(json.dumps(await fetch_stats(desk), ensure_ascii=False), JSON_MEDIA_TYPE)
    if address == _GUIDE_URI:
        return ResourceContent(render_guide(), TEXT_MEDIA_TYPE)
    if address.startswith(f"{_GUIDE_URI}/"):
        return ResourceContent(render_guide(address.removeprefix(f"{_GUIDE_URI}/")), TEXT_MEDIA_TYPE)
    if address.startswith(_FACT_URI):
        return await _read_fact(desk, address.removeprefix(_FACT_URI))
    known = ", ".join([*RESOURCE_URIS, *URI_TEMPLATES])
    raise NotFound(f"Nothing stands at {address}.", way_out=f"There are {known}.")


async def _read_fact(desk: ServedMemory, id: str) -> ResourceContent:
    """A fact as values, fenced: whoever puts it into a prompt puts the fence there too."""
    [fact] = await desk.facts(id)
    links = await desk.memory.neighbours(id, limit=MAX_LINKS)
    desk.show([fact])
    values = {**fact_json(fact), "links": [link_json(link) for link in links]}
    return ResourceContent(
        delimit_entries(json.dumps(values, ensure_ascii=False, indent=2).splitlines()), TEXT_MEDIA_TYPE
    )
