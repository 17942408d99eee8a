"""Requests to a server: retries, limits, and a key that is never shown."""

import sys
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from cofire.embedders.http_client import (
    EmbeddingClient,
    ErrorAdvice,
    RetryPolicy,
    check_key,
    check_url,
    parse_retry_after,
    split_batches,
)
from cofire.errors import EmbedderFailed, EmbedderUnavailable, InvalidSetting, install_command
from tests.embedders.embedding_server import EmbeddingServer, Reply, unused_url

ADVICE = ErrorAdvice(unreachable="Start it.", refused="Get a key.", unknown="Get the model.")
PATIENCE = RetryPolicy(timeout=5.0, attempts=4, first_wait=0.5, longest_wait=30.0)
KEY = "sk-very-secret"


@pytest.fixture
def remote(server: EmbeddingServer) -> Iterator[EmbeddingClient]:
    remote = EmbeddingClient(server.url, advice=ADVICE, patience=PATIENCE, key=KEY)
    yield remote
    remote.close()


def ask(remote: EmbeddingClient) -> object:
    return remote.post("/embeddings", {"input": ["text"]})


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_a_passing_trouble_is_waited_out(
    remote: EmbeddingClient, server: EmbeddingServer, sleeps: list[float], status: int
) -> None:
    server.replies.extend([Reply(status), Reply(status)])
    assert ask(remote)
    assert sleeps == [0.5, 1.0]


def test_a_server_that_hangs_up_is_asked_again(
    remote: EmbeddingClient, server: EmbeddingServer, sleeps: list[float]
) -> None:
    server.replies.append(Reply(hang_up=True))
    assert ask(remote)
    assert len(server.asked) == 2


def test_patience_ends(remote: EmbeddingClient, server: EmbeddingServer, sleeps: list[float]) -> None:
    server.replies.extend([Reply(503, "restarting")] * 9)
    with pytest.raises(EmbedderFailed, match="restarting"):
        ask(remote)
    assert len(server.asked) == 4
    assert sleeps == [0.5, 1.0, 2.0]


def test_the_server_says_how_long_to_wait(
    remote: EmbeddingClient, server: EmbeddingServer, sleeps: list[float]
) -> None:
    server.replies.append(Reply(429, headers={"Retry-After": "7"}))
    assert ask(remote)
    assert sleeps == [7.0]


def test_a_wait_too_long_is_not_begun(remote: EmbeddingClient, server: EmbeddingServer, sleeps: list[float]) -> None:
    server.replies.append(Reply(429, {"error": "slow down"}, headers={"Retry-After": "3600"}))
    with pytest.raises(EmbedderFailed, match="slow down") as caught:
        ask(remote)
    assert "in 3600 seconds" in caught.value.way_out
    assert sleeps == []


def test_a_date_to_wait_for_is_understood() -> None:
    soon = datetime.now(UTC) + timedelta(seconds=90)
    assert parse_retry_after(format_datetime(soon, usegmt=True)) == pytest.approx(90, abs=5)


@pytest.mark.parametrize("status", [400, 401, 404, 413, 422])
def test_a_refusal_is_not_repeated(
    remote: EmbeddingClient, server: EmbeddingServer, sleeps: list[float], status: int
) -> None:
    server.replies.append(Reply(status, {"error": {"message": "because"}}))
    with pytest.raises((EmbedderFailed, EmbedderUnavailable), match=f"{status}.*because"):
        ask(remote)
    assert len(server.asked) == 1


def test_nobody_there_is_said_with_the_advice(sleeps: list[float]) -> None:
    remote = EmbeddingClient(unused_url(), advice=ADVICE, patience=PATIENCE)
    with pytest.raises(EmbedderUnavailable, match="is unreachable") as caught:
        ask(remote)
    remote.close()
    assert caught.value.way_out == "Start it."
    assert len(sleeps) == 3


def test_a_slow_answer_is_given_up_once(server: EmbeddingServer, sleeps: list[float]) -> None:
    remote = EmbeddingClient(
        server.url, advice=ADVICE, patience=RetryPolicy(0.1, attempts=4, first_wait=1, longest_wait=1)
    )
    server.replies.append(Reply(delay=0.5))
    with pytest.raises(EmbedderFailed, match="too long"):
        ask(remote)
    remote.close()
    assert sleeps == []


@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 429, 500])
def test_no_error_tells_the_key_even_if_the_server_does(
    remote: EmbeddingClient, server: EmbeddingServer, sleeps: list[float], status: int
) -> None:
    server.replies.extend([Reply(status, f"Your key {KEY} is wrong")] * 4)
    with pytest.raises((EmbedderFailed, EmbedderUnavailable), match="Your key") as caught:
        ask(remote)
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_a_password_in_the_address_is_not_told(server: EmbeddingServer) -> None:
    remote = EmbeddingClient(server.url.replace("://", "://ana:pass@"), advice=ADVICE, patience=PATIENCE)
    server.replies.append(Reply(404))
    with pytest.raises(EmbedderUnavailable) as caught:
        ask(remote)
    remote.close()
    assert "pass" not in str(caught.value)


def test_a_redirect_is_not_followed_with_the_key(remote: EmbeddingClient, server: EmbeddingServer) -> None:
    with EmbeddingServer.running() as other:
        server.replies.append(Reply(307, headers={"Location": f"{other.url}/embeddings"}))
        with pytest.raises(EmbedderFailed, match="307"):
            ask(remote)
        assert other.asked == []


def test_this_machine_is_not_asked_through_a_proxy(
    remote: EmbeddingClient, monkeypatch: pytest.MonkeyPatch, sleeps: list[float]
) -> None:
    monkeypatch.setenv("HTTP_PROXY", unused_url())
    assert ask(remote)


def test_a_senseless_proxy_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://proxy")
    with pytest.raises(EmbedderUnavailable, match="proxy"):
        ask(EmbeddingClient("http://embeddings.invalid", advice=ADVICE, patience=PATIENCE))


def test_threads_share_a_server(remote: EmbeddingClient, server: EmbeddingServer) -> None:
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: ask(remote), range(24)))
    assert len(server.asked) == 24
    assert all(answer == answers[0] for answer in answers)


def test_a_closed_one_connects_again(remote: EmbeddingClient) -> None:
    before = ask(remote)
    remote.close()
    assert ask(remote) == before


def test_without_httpx_the_extra_is_named(remote: EmbeddingClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(EmbedderUnavailable) as caught:
        ask(remote)
    assert install_command("remote") in caught.value.way_out


@pytest.mark.parametrize("url", ["", "localhost:8000", "ftp://host", "http://", "http://host:port", "http://[::1"])
def test_what_is_no_address_is_refused_at_once(url: str) -> None:
    with pytest.raises(InvalidSetting, match="http://localhost:8000/v1"):
        check_url(url)


@pytest.mark.parametrize("key", ["two words", "new\nline", "schlüssel"])
def test_what_is_no_key_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        check_key(key)
    assert key not in str(caught.value)


def test_long_texts_make_small_batches() -> None:
    texts = ["x" * 300_000, "y" * 300_000, "z", "w" * 500_000, ""]
    assert [[len(text) for text in batch] for batch in split_batches(texts, size=10)] == [
        [300_000],
        [300_000, 1],
        [500_000],
        [0],
    ]
