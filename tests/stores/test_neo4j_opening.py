"""Opening a memory on a server: where it is, who asks, and how it is awaited."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from cofire.async_memory import AsyncMemory
from cofire.errors import InvalidInput, StoreClosed, StoreError, StoreNotOpened, StoreTooNew
from cofire.memory import Memory
from cofire.stores.neo4j import schema
from cofire.stores.neo4j.connection import PASSWORD_VARIABLE, USER_VARIABLE, parse_address
from cofire.stores.neo4j.store import Neo4jStore
from cofire.stores.store_location import is_server_url
from tests.neo4j_server import IN_TURN, OPTIONS, empty_store
from tests.stores.making import Pen

pytestmark = IN_TURN


@pytest.fixture
def url(neo4j_url: str) -> str:
    """A server with one fact."""
    store = empty_store()
    Pen(store).tell("Tea.")
    store.close()
    return neo4j_url


def bare(url: str) -> str:
    parts = urlsplit(url)
    return f"bolt://{parts.hostname}:{parts.port}"


def texts(memory: Memory) -> list[str]:
    with memory:
        return [fact.text for fact in memory.facts()]


def test_a_url_names_who_asks(url: str) -> None:
    assert texts(Memory(url, embedder=None)) == ["Tea."]


def test_an_argument_names_who_asks(url: str) -> None:
    assert texts(Memory(bare(url), embedder=None, auth=parse_address(url, None).auth)) == ["Tea."]


def test_the_environment_names_who_asks(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    user, password = parse_address(url, None).auth or ("", "")
    monkeypatch.setenv(USER_VARIABLE, user)
    monkeypatch.setenv(PASSWORD_VARIABLE, password)
    assert texts(Memory(bare(url), embedder=None)) == ["Tea."]


def test_nobody_is_let_in_without_a_name(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PASSWORD_VARIABLE, raising=False)
    with pytest.raises(StoreNotOpened):
        Memory(bare(url), embedder=None)


@pytest.mark.parametrize("named", ["/neo4j", "?database=neo4j", "/?database=neo4j"])
def test_a_database_is_named_by_the_path_or_a_question(url: str, named: str) -> None:
    assert texts(Memory(f"{url}{named}", embedder=None)) == ["Tea."]


def test_a_routed_address_finds_the_same_server(url: str) -> None:
    assert texts(Memory(url.replace("bolt://", "neo4j://"), embedder=None)) == ["Tea."]


def test_statistics_tell_the_place_and_the_server(url: str) -> None:
    with Memory(url, embedder=None) as memory:
        size = memory.stats().size
    assert size.place == bare(url)
    assert set(size.details) == {"neo4j", "schema"}


def test_a_memory_that_awaits_reads_the_same(url: str) -> None:
    async def read() -> list[str]:
        async with AsyncMemory(url, embedder=None) as memory:
            return [fact.text for fact in await memory.facts()]

    assert asyncio.run(read()) == ["Tea."]


def test_a_memory_that_awaits_is_closed_when_it_is_closed(url: str) -> None:
    async def read() -> None:
        memory = AsyncMemory(url, embedder=None)
        await memory.facts()
        await memory.close()
        with pytest.raises(StoreClosed):
            await memory.facts()

    asyncio.run(read())


def test_a_server_keeps_its_own_backups(url: str, tmp_path: Path) -> None:
    with Memory(url, embedder=None) as memory, pytest.raises(StoreError, match="neo4j-admin"):
        memory.backup(tmp_path / "copy.db")


def test_a_second_opening_makes_nothing_anew(url: str) -> None:
    Neo4jStore.open(url, OPTIONS).close()
    with Memory(url, embedder=None) as memory:
        assert memory.check() == []


def test_a_store_of_a_newer_cofire_is_refused() -> None:
    with pytest.raises(StoreTooNew, match="Upgrade with"):
        schema.reject_newer_schema(schema.SCHEMA_VERSION + 1, "neo4j://there")


@pytest.mark.parametrize("place", ["http://there", "mongodb://there/x", "neo4j://"])
def test_what_is_no_server_is_refused(place: str) -> None:
    with pytest.raises(StoreNotOpened, match="neo4j"):
        Memory(place, embedder=None)


def test_a_port_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput, match="7687"):
        Memory("bolt://there:99999", embedder=None)


@pytest.mark.parametrize("scheme", ["neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc"])
def test_every_scheme_of_the_driver_is_known(scheme: str) -> None:
    assert is_server_url(f"{scheme}://there")
    assert parse_address(f"{scheme}://there:1/x", None).place == f"{scheme}://there:1/x"


def test_a_password_with_signs_in_it_is_read_as_it_is_meant() -> None:
    assert parse_address("neo4j://ana:p%40ss%2F@there", None).auth == ("ana", "p@ss/")


def test_the_driver_is_loaded_by_who_opens_a_server_and_by_nobody_else() -> None:
    program = "import sys, cofire; cofire.Memory(':memory:', embedder=None).close(); sys.exit('neo4j' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
