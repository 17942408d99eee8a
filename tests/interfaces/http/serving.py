"""A real server on a free port of this machine, in a thread of the test, and a client that holds its token."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from cofire import AsyncMemory
from cofire.http.server import PAGE_FOLDER, ListenAddress, make_access_rules, make_application, make_server_config

TOKEN = "a-token-for-tests-of-forty-four-letters-0000"
HERE = ListenAddress("127.0.0.1", 0, (), 100_000.0)
WALLS = make_access_rules(HERE, TOKEN)


@contextmanager
def running(
    store: Any, *, page: Path = PAGE_FOLDER, memory: dict[str, Any] | None = None, **walls: Any
) -> Iterator[str]:
    """The address of a server that serves this store as long as the block lasts."""
    listener, started = socket.create_server(("127.0.0.1", 0)), threading.Event()
    server = uvicorn.Server(make_server_config(None))

    async def serve() -> None:
        async with AsyncMemory(store, **(memory or {})) as opened:
            server.config.app = make_application(opened, replace(WALLS, **walls), page=page)
            started.set()
            await server.serve(sockets=[listener])

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert started.wait(60), "the server did not start"
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(60)
        listener.close()


def client(url: str, *, token: str | None = TOKEN, **headers: str) -> httpx.Client:
    """A client of a server's API."""
    bearer = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.Client(base_url=f"{url}/api/v1", headers={**bearer, **headers}, timeout=60)


def ask(url: str, method: str, path: str, **said: Any) -> httpx.Response:
    """One request with the token, on a line of its own."""
    with client(url) as api:
        return api.request(method, path, **said)


def error(answer: httpx.Response) -> dict[str, str]:
    """The problem details that a server answered with."""
    problem: dict[str, str] = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert set(problem) == {"type", "title", "status", "detail", "instance", "kind", "problem", "way_out"}
    assert problem["way_out"]
    assert problem["status"] == answer.status_code
    return problem


def events(api: httpx.Client, path: str, body: dict[str, Any]) -> list[tuple[str, Any]]:
    """The events of a stream, read to its end."""
    found, name = [], ""
    with api.stream("POST", path, json=body, headers={"Accept": "text/event-stream"}) as stream:
        assert stream.status_code == 200
        assert stream.headers["content-type"].startswith("text/event-stream")
        for line in stream.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                found.append((name, json.loads(line.removeprefix("data: "))))
    return found
