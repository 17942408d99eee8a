"""The MCP server: the cost of its tool listing, the time to it, and many clients on one file.

    python benchmarks/mcp_doors.py [--rounds 5] [--clients 16] [--facts 20] [--out figures.json]

Clients are those of the package mcp, each with its own server process over stdio. No embedder is loaded: neither the listing nor
the file needs one. Exits with 0 only if every fact of every client is in the file.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from mcp import Client, StdioServerParameters
from rich.console import Console
from rich.table import Table

if not __package__:  # run by its path
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import cofire
from cofire import Memory
from cofire.evaluation import provenance

# As the tests count them.
LETTERS_A_TOKEN = 4


def main(arguments: Sequence[str] | None = None) -> int:
    given = read_arguments(arguments)
    with TemporaryDirectory(prefix="cofire-mcp-") as folder:
        figures = asyncio.run(measured(given, Path(folder)))
        with Memory(Path(folder) / "shared.db", embedder=None) as memory:
            figures["facts_kept"] = memory.stats().size.facts
            known = provenance.collect_provenance(memory.settings())
    if given.out:
        provenance.write_json({**known, **figures}, given.out)
    show(figures)
    Console().print(provenance.format_provenance(known))
    return 0 if figures["facts_kept"] == figures["facts_told"] else 1


def read_arguments(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(description="What the MCP door costs.")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="How often a client starts a server.")
    parser.add_argument("--clients", type=int, default=16, metavar="N", help="How many share one file.")
    parser.add_argument("--facts", type=int, default=20, metavar="N", help="How many facts each of them stores.")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="Where to write all figures.")
    return parser.parse_args(arguments)


async def measured(given: Namespace, folder: Path) -> dict[str, Any]:
    await start_to_list(folder / "empty.db")  # compiles the bytecode that the others load
    before = children_cpu()
    starts = [await start_to_list(folder / "empty.db") for _ in range(given.rounds)]
    cpu = children_cpu() - before
    seconds, calls = await together(folder / "shared.db", given.clients, given.facts)
    return {
        "listing_tokens": starts[0][1],
        "start_to_list_s": median(seconds for seconds, _ in starts),
        "start_cpu_s": cpu / given.rounds,
        "clients": given.clients,
        "facts_told": given.clients * given.facts,
        "together_s": seconds,
        "remember_ms": median(calls) * 1_000,
        "remember_worst_ms": max(calls) * 1_000,
    }


def children_cpu() -> float:
    """CPU seconds of all servers that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def client_of(store: Path) -> Client:
    """A client that starts its own server, with compiled bytecode as after a first use."""
    source = str(Path(cofire.__file__).resolve().parent.parent)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"COFIRE_EMBEDDER_NAME": "none", "PYTHONPATH": source}
    environment |= {"PYTHONPYCACHEPREFIX": str(store.parent / "compiled")}
    arguments = ["-m", "cofire", "mcp", "--store", str(store)]
    return Client(StdioServerParameters(command=sys.executable, args=arguments, env=environment))


async def start_to_list(store: Path) -> tuple[float, float]:
    """Seconds from the start to the listing, and its tokens."""
    began = time.perf_counter()
    async with client_of(store) as client:
        listing = await client.list_tools()
        seconds = time.perf_counter() - began
    return seconds, len(listing.model_dump_json(by_alias=True, exclude_none=True)) / LETTERS_A_TOKEN


async def together(store: Path, clients: int, facts: int) -> tuple[float, list[float]]:
    """Seconds that connected clients need for all their facts, and seconds of every call."""
    ready = asyncio.Barrier(clients + 1)
    told = [asyncio.create_task(tell(store, number, facts, ready)) for number in range(clients)]
    await ready.wait()
    began = time.perf_counter()
    calls = [seconds for each in await asyncio.gather(*told) for seconds in each]
    return time.perf_counter() - began, calls


async def tell(store: Path, number: int, facts: int, ready: asyncio.Barrier) -> list[float]:
    async with client_of(store) as client:
        await client.call_tool("stats", {})
        await ready.wait()
        return [await timed(client, f"Client {number} tells fact {fact}.") for fact in range(facts)]


async def timed(client: Client, text: str) -> float:
    began = time.perf_counter()
    result = await client.call_tool("remember", {"text": text})
    if result.is_error:
        raise RuntimeError(str(result.content))
    return time.perf_counter() - began


def show(figures: dict[str, Any]) -> None:
    table = Table("figure", "value")
    table.add_row("listing", f"{figures['listing_tokens']:,.0f} tokens")
    table.add_row("start to list, median", f"{figures['start_to_list_s']:.2f} s")
    table.add_row("of it CPU of the server, mean", f"{figures['start_cpu_s']:.2f} s")
    table.add_row("clients on one file", f"{figures['clients']}")
    table.add_row("facts told, kept", f"{figures['facts_told']}, {figures['facts_kept']}")
    table.add_row("all of them, leaving included", f"{figures['together_s']:.2f} s")
    table.add_row(
        "one remember, median and worst", f"{figures['remember_ms']:.0f} ms, {figures['remember_worst_ms']:.0f} ms"
    )
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())
