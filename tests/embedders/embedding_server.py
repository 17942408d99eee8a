"""A local HTTP server with the embedding APIs of OpenAI and Ollama that can misbehave."""

from __future__ import annotations

import hashlib
import json
import socket
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One answer out of the ordinary. `body` is sent as JSON, or as it is where it is text."""

    status: int = 200
    body: Any = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    hang_up: bool = False


@dataclass(frozen=True)
class Asked:
    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def texts(self) -> list[str]:
        texts: list[str] = self.body["input"]
        return texts


class EmbeddingServer(ThreadingHTTPServer):
    """Answers `replies` first, one a request, then embeds every text in `dimension` numbers."""

    daemon_threads = True
    dimension = 8
    backwards = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies: deque[Reply] = deque()
        self.asked: list[Asked] = []

    @classmethod
    @contextmanager
    def running(cls) -> Iterator[EmbeddingServer]:
        with cls() as server:
            thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            yield server
            server.shutdown()
            thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, asked: Asked) -> Reply:
        if self.replies:
            return self.replies.popleft()
        vectors = [vector_of(text, self.dimension) for text in asked.texts]
        if asked.path.endswith("/api/embed"):
            return Reply(body={"embeddings": vectors})
        rows = [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]
        return Reply(body={"data": rows[::-1] if self.backwards else rows})

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up first is no news."""


class Handler(BaseHTTPRequestHandler):
    server: EmbeddingServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = Asked(self.path, dict(self.headers), json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.server.asked.append(asked)
        reply = self.server.answer(asked)
        time.sleep(reply.delay)
        if reply.hang_up:
            self.close_connection = True
            return
        body = (reply.body if isinstance(reply.body, str) else json.dumps(reply.body)).encode()
        self.send_response(reply.status)
        for name, value in {**reply.headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Tests are quiet."""


def vector_of(text: str, dimension: int) -> list[float]:
    """Some numbers that depend on the text, of no particular length."""
    return [float(octet) for octet in hashlib.sha256(text.encode()).digest()[:dimension]]


def unused_url() -> str:
    """An address where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"
