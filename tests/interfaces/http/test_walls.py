"""The walls hold: against requests without the token, of foreign pages and names, too large, too many, or out of shape."""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from cofire.http import server
from cofire.http.access import MAX_CLIENTS, AccessGuard, RateLimiter
from cofire.http.server import MAX_CONCURRENT_REQUESTS, make_api
from tests.interfaces.http.conftest import Served
from tests.interfaces.http.serving import TOKEN, WALLS, ask, client, error, running

OPERATIONS = sorted(
    f"{method.upper()} {path}"
    for path, methods in make_api(guarded=True).openapi()["paths"].items()
    for method in methods
    if path != "/api/v1/health"
)
SOME_ID = "01M7GRXZ72ER9HC7SM0EVVJFVW"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> object:
    """A server without facts, for all that does not come in."""
    folder = tmp_path_factory.mktemp("walls")
    (folder / "page" / "assets").mkdir(parents=True)
    (folder / "page" / "index.html").write_text("<!doctype html><title>cofire</title>", encoding="utf-8")
    (folder / "page" / "assets" / "main-1a2b.js").write_text("start()", encoding="utf-8")
    (folder / "secret.txt").write_text("a secret beside the page", encoding="utf-8")
    with running(folder / "memory.db", page=folder / "page", memory={"embedder": None}) as address:
        yield address


@pytest.mark.parametrize("operation", OPERATIONS)
def test_nothing_answers_without_the_token(url: str, operation: str) -> None:
    method, path = operation.split()
    address = url + path.replace("{id}", SOME_ID).replace("{name}", "recall.k").replace("{verb}", "dream")
    answer = httpx.request(method, address, json={} if method in {"POST", "PUT", "PATCH"} else None)
    assert (answer.status_code, error(answer)["kind"]) == (401, "Unauthorized")
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Bearer wrong", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN],
)
def test_a_wrong_token_is_as_good_as_none(url: str, authorization: str) -> None:
    assert httpx.get(f"{url}/api/v1/stats", headers={"Authorization": authorization}).status_code == 401


def test_a_token_in_the_address_is_no_token(url: str) -> None:
    assert httpx.get(f"{url}/api/v1/stats?token={TOKEN}").status_code == 401


def test_an_unknown_address_of_the_api_tells_nothing_without_the_token(url: str) -> None:
    assert httpx.get(f"{url}/api/v1/nothing-here").status_code == 401
    assert ask(url, "GET", "/nothing-here").status_code == 404


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "10.0.0.1", "[", ""]
)
def test_a_foreign_host_is_refused(url: str, host: str) -> None:
    for path in ("/api/v1/health", "/api/v1/stats", "/"):
        answer = httpx.get(url + path, headers={"Host": host, "Authorization": f"Bearer {TOKEN}"})
        assert (answer.status_code, error(answer)["kind"]) == (403, "ForeignHost")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1234", "127.0.0.1", "[::1]:8765"])
def test_this_machine_goes_by_several_names(url: str, host: str) -> None:
    assert httpx.get(f"{url}/api/v1/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1", "file://", "http://localhost:1"])
def test_a_page_of_another_origin_may_not_ask(url: str, origin: str) -> None:
    answer = ask(url, "POST", "/facts", json={"text": "Tea."}, headers={"Origin": origin})
    assert (answer.status_code, error(answer)["kind"]) == (403, "ForeignOrigin")
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_the_page_served_here_may_ask(url: str) -> None:
    assert ask(url, "GET", "/stats", headers={"Origin": url}).status_code == 200


def test_no_other_page_is_ever_allowed_in_by_cors(url: str) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    answer = ask(url, "OPTIONS", "/facts", headers=asked)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, POST"
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_body_that_says_it_is_too_large_is_not_read(tmp_path: Path) -> None:
    with running(tmp_path / "memory.db", most_bytes=1_000, memory={"embedder": None}) as url:
        answer = ask(url, "POST", "/facts", json={"text": "x" * 1_000})
        assert (answer.status_code, error(answer)["kind"]) == (413, "TooLarge")
        assert ask(url, "POST", "/facts", json={"text": "x" * 900}).status_code == 200


def test_a_body_that_does_not_say_how_large_it_is_is_counted(tmp_path: Path) -> None:
    def pieces() -> object:
        yield b'{"text": "'
        for _ in range(100):
            yield b"x" * 100
        yield b'"}'

    with running(tmp_path / "memory.db", most_bytes=1_000, memory={"embedder": None}) as url, client(url) as api:
        answer = api.post("/facts", content=pieces(), headers={"Content-Type": "application/json"})
        assert (answer.status_code, error(answer)["kind"]) == (413, "TooLarge")
        assert api.get("/stats").json()["facts"] == 0


def test_a_flood_is_held_back(tmp_path: Path) -> None:
    with running(tmp_path / "memory.db", rate=0.001, burst=3, memory={"embedder": None}) as url, client(url) as api:
        answers = [api.get("/health") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert error(answers[3])["kind"] == "TooManyRequests"
    assert int(answers[3].headers["retry-after"]) > 0


def test_guessing_tokens_is_held_back_too(tmp_path: Path) -> None:
    with (
        running(tmp_path / "memory.db", rate=0.001, burst=3, memory={"embedder": None}) as url,
        client(url, token="wrong") as api,
    ):
        assert [api.get("/stats").status_code for _ in range(5)] == [401, 401, 401, 429, 429]


def test_a_bucket_fills_again_in_time() -> None:
    now = [0.0]
    buckets = RateLimiter(rate=2.0, burst=2, clock=lambda: now[0])
    taken = [buckets.take("ana") for _ in range(3)]
    now[0] = 0.5
    assert [*taken, buckets.take("ana"), buckets.take("ana")] == [0.0, 0.0, 0.5, 0.0, 0.5]


def test_many_clients_do_not_fill_the_house() -> None:
    buckets = RateLimiter(rate=1.0, burst=1, clock=lambda: 0.0)
    for number in range(MAX_CLIENTS + 10):
        buckets.take(f"client {number}")
    assert len(buckets._levels) <= MAX_CLIENTS


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
)
def test_a_body_that_is_not_json_is_refused(url: str, kind: str) -> None:
    answer = ask(url, "POST", "/facts", content=b'{"text": "Tea."}', headers={"Content-Type": kind})
    assert (answer.status_code, error(answer)["kind"]) == (415, "UnsupportedMediaType")


@pytest.mark.parametrize(
    "body", [b"{", b"\xff", b"[" * 100_000, b"9" * 10_000, b"null", b'{"text": "\\ud800"}', b'{"text": NaN}']
)
def test_a_body_out_of_shape_is_refused(url: str, body: bytes) -> None:
    answer = ask(url, "POST", "/facts", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in {400, 422}
    assert error(answer)["kind"].startswith("Invalid")


@pytest.mark.parametrize(
    ("path", "body"),
    [("/facts", {"text": "Tea.", "txet": 1}), ("/recall", {"query": "Tea?", "kk": 3}), ("/curate", {"dry": True})],
)
def test_an_unknown_field_is_refused_by_name(url: str, path: str, body: dict[str, object]) -> None:
    answer = ask(url, "POST", path, json=body)
    assert (answer.status_code, list(body)[-1] in error(answer)["problem"]) == (422, True)


def test_an_unknown_question_in_the_address_is_refused(url: str) -> None:
    assert ask(url, "GET", "/facts", params={"limmit": 3}).status_code == 422


@pytest.mark.parametrize("receipt", ["../memory.db", "/etc/passwd", "x.json.gz", ""])
def test_a_receipt_is_never_a_path(url: str, receipt: str) -> None:
    assert ask(url, "POST", "/undo", json={"receipt": receipt}).status_code == 422


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/assets/../../secret.txt",
        "/..%2fsecret.txt",
        "/%2e%2e/secret.txt",
        "/assets/..%5c..%5csecret.txt",
        "//../secret.txt",
        "/%00",
        "/assets",
    ],
)
def test_no_path_leads_out_of_the_page(url: str, path: str) -> None:
    answer = raw(url, f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    assert answer.startswith((b"HTTP/1.1 404", b"HTTP/1.1 400", b"HTTP/1.1 307"))
    assert b"a secret" not in answer


def test_the_page_is_served_and_its_assets_may_be_kept(url: str) -> None:
    page, asset = httpx.get(url), httpx.get(f"{url}/assets/main-1a2b.js")
    assert "<title>cofire</title>" in page.text
    assert (page.headers["cache-control"], asset.headers["cache-control"]) == (
        "no-cache",
        "public, max-age=31536000, immutable",
    )
    assert asset.text == "start()"


def test_without_a_page_the_server_says_how_to_get_one(tmp_path: Path) -> None:
    with running(tmp_path / "memory.db", page=tmp_path / "nowhere", memory={"embedder": None}) as url:
        page = httpx.get(url)
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "This installation has no page." in page.text
    assert "npm" not in page.text


@pytest.mark.parametrize("path", ["/", "/nothing", "/api/v1/health", "/api/v1/stats", "/api/v1/nothing"])
def test_every_answer_has_the_headers_that_keep_browsers_safe(url: str, path: str) -> None:
    headers = httpx.get(url + path).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
    assert "unsafe" not in headers["content-security-policy"]
    assert "server" not in headers
    assert not path.startswith("/api/") or headers["cache-control"] == "no-store"


def test_the_openapi_file_is_served_with_the_token_only(served: Served) -> None:
    assert httpx.get(f"{served.url}/api/v1/openapi.json").status_code == 401
    assert served.api.get("/openapi.json").json()["info"]["title"] == "cofire"
    assert served.api.get("/docs").status_code == 404


def test_connections_that_ask_nothing_shut_nobody_out(url: str) -> None:
    with ExitStack() as idle:
        for _ in range(MAX_CONCURRENT_REQUESTS + 10):
            idle.enter_context(connected(url))
        assert ask(url, "GET", "/stats").status_code == 200


def test_a_connection_that_asks_nothing_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "IDLE_SECONDS", 0.05)
    with running(tmp_path / "memory.db", memory={"embedder": None}) as url, connected(url) as line:
        assert line.recv(1) == b""


def test_more_requests_than_may_be_at_work_are_refused_in_words() -> None:
    begun, released = asyncio.Event(), asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/api/v1/dream":
            begun.set()
            await released.wait()
        await JSONResponse({})(scope, receive, send)

    async def story() -> list[httpx.Response]:
        transport = httpx.ASGITransport(AccessGuard(app, replace(WALLS, at_once=1)))
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=bearer) as api:
            long = asyncio.ensure_future(api.post("/api/v1/dream"))
            await begun.wait()
            others = [await api.get("/api/v1/stats"), await api.get("/")]
            released.set()
            return [*others, await long, await api.get("/api/v1/stats")]

    refused, *answered = asyncio.run(story())
    assert (refused.status_code, error(refused)["kind"], refused.headers["retry-after"]) == (503, "ServerBusy", "1")
    assert [answer.status_code for answer in answered] == [200, 200, 200]


def connected(url: str) -> socket.socket:
    """A line to the server on which nothing was said yet."""
    there = urlsplit(url)
    return socket.create_connection((there.hostname, there.port), timeout=30)


def raw(url: str, request: str) -> bytes:
    """Send a request as it stands, which no client would."""
    with connected(url) as line:
        line.sendall(request.encode())
        answer = b""
        while piece := line.recv(65536):
            answer += piece
    return answer
