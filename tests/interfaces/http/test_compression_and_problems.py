"""Long responses are compressed, streams are not; every error has problem details."""

from __future__ import annotations

from http import HTTPStatus

import httpx
import pytest

from tests.interfaces.http.conftest import Served
from tests.interfaces.http.serving import client, error

GZIP = {"Accept-Encoding": "gzip"}


def test_a_long_response_is_compressed_where_the_client_accepts_it(served: Served) -> None:
    plain = served.api.get("/settings", headers={"Accept-Encoding": "identity"})
    compressed = served.api.get("/settings", headers=GZIP)
    assert (plain.headers.get("content-encoding"), compressed.headers["content-encoding"]) == (None, "gzip")
    assert int(compressed.headers["content-length"]) < int(plain.headers["content-length"]) / 4
    assert compressed.json() == plain.json()


def test_a_short_response_is_not_compressed(served: Served) -> None:
    assert "content-encoding" not in served.api.get("/health", headers=GZIP).headers


def test_events_are_not_compressed(served: Served) -> None:
    headers = {**GZIP, "Accept": "text/event-stream"}
    with served.api.stream("POST", "/explore", json={"ids": served.ids}, headers=headers) as stream:
        assert "content-encoding" not in stream.headers
        assert "event: seed" in "".join(stream.iter_text())


@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [
        ("GET", "/facts/01M7GRXZ72ER9HC7SM0EVVJFVW", 404, "NotFound"),
        ("GET", "/nothing%20here", 404, "NotFound"),
        ("DELETE", "/facts", 405, "MethodNotAllowed"),
        ("POST", "/recall", 422, "InvalidInput"),
    ],
)
def test_an_error_has_problem_details(served: Served, method: str, path: str, status: int, kind: str) -> None:
    answer = served.api.request(method, path)
    problem = error(answer)
    assert (answer.status_code, problem["kind"], problem["title"]) == (status, kind, HTTPStatus(status).phrase)
    assert problem["type"] == f"urn:problem-type:cofire:{kind}"
    assert problem["instance"] == f"/api/v1{path}"
    assert problem["detail"] == f"{problem['problem']} {problem['way_out']}"


def test_a_refusal_before_the_routes_has_problem_details_too(served: Served) -> None:
    with client(served.url, token=None) as api:
        assert error(api.get("/stats"))["instance"] == "/api/v1/stats"
    assert error(httpx.get(served.url, headers={"Host": "evil.example"}))["kind"] == "ForeignHost"
