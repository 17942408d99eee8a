"""A dream tells how far it has come, to a client that wants to hear it."""

from __future__ import annotations

import pytest
from mcp import Client

from tests.interfaces.calling import Store, call
from tests.interfaces.mcp.talking import here, over_http, over_stdio, told, values

FACTS = 25


@pytest.fixture
def waiting(store: Store) -> Store:
    """A store of facts that wait for a dream, which takes ten at a time."""
    store.holds(*(f"Tea number {number} is at four." for number in range(FACTS)))
    assert call("config", "set", "dream.batch", "10", "--store", str(store.path)).code == 0
    return store


async def dreamed(client: Client) -> list[tuple[float, float | None, str | None]]:
    """What a client hears while a dream goes on."""
    heard = list[tuple[float, float | None, str | None]]()

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    result = await client.call_tool("dream", {}, progress_callback=listen)
    assert result.structured_content["facts"] == FACTS
    return heard


STEPS = [(10, 25, "dream"), (20, 25, "dream"), (25, 25, "dream")]


def test_a_dream_is_told_step_by_step_before_it_answers(waiting: Store) -> None:
    assert told(dreamed, here(waiting.path)) == STEPS


def test_over_pipes_too(waiting: Store) -> None:
    assert told(dreamed, over_stdio("--store", str(waiting.path))) == STEPS


def test_over_http_too(waiting: Store) -> None:
    with over_http("--store", str(waiting.path)) as address:
        assert told(dreamed, Client(address)) == STEPS


def test_who_does_not_ask_hears_nothing_and_gets_the_answer(waiting: Store) -> None:
    async def story(client: Client) -> None:
        assert (await values(client, "dream"))["facts"] == FACTS

    told(story, here(waiting.path))
