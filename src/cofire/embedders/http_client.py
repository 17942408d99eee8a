"""HTTP client for embedding servers: retries, batches and helpful errors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from cofire.embedders.base import LazyResource
from cofire.errors import (
    EmbedderError,
    EmbedderFailed,
    EmbedderUnavailable,
    InvalidSetting,
    install_command,
    map_exceptions,
)

if TYPE_CHECKING:
    import httpx


STATUS_OK, STATUS_UNREACHABLE, STATUS_TIMEOUT, STATUS_TOO_MANY_REQUESTS, STATUS_SERVER_ERROR = 200, 0, 408, 429, 500

_MAX_CONNECT_SECONDS = 10.0
_MAX_QUOTE_LENGTH = 300
_MAX_REQUEST_CHARACTERS = 400_000  # About 100,000 tokens, well below what servers refuse.
_LOOPBACK_HOSTS = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Timeout of a request, number of attempts, and seconds between them, which double each time."""

    timeout: float
    attempts: int
    first_wait: float
    longest_wait: float


@dataclass(frozen=True, slots=True)
class ErrorAdvice:
    """The way out for an unreachable server, a refused key, and an unknown address or model."""

    unreachable: str
    refused: str
    unknown: str


@dataclass(frozen=True, slots=True)
class ServerResponse:
    """Status and body. STATUS_UNREACHABLE or STATUS_TIMEOUT stand for no response. `wait` is the Retry-After."""

    status: int
    body: str
    wait: float | None = None


class EmbeddingClient:
    """The client of one server. It connects for the first request."""

    def __init__(self, url: str, *, advice: ErrorAdvice, patience: RetryPolicy, key: str = "") -> None:
        self._url = check_url(url)
        self._key = check_key(key)
        self._advice = advice
        self._patience = patience
        self._client = LazyResource(self._connect)

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The JSON of the response. Retries while the server is busy, broken or unreachable."""
        attempt = 1
        answer = self._send(path, body)
        while (seconds := retry_delay(answer, attempt=attempt, patience=self._patience)) is not None:
            sleep(seconds)
            attempt += 1
            answer = self._send(path, body)
        return self._read(answer)

    def close(self) -> None:
        client = self._client.let_go()
        if client is not None:
            client.close()

    def _send(self, path: str, body: Mapping[str, Any]) -> ServerResponse:
        http = _import_httpx()
        try:
            response = self._client.get().post(self._url + path, json=body)
        except http.RequestError as error:
            late = isinstance(error, http.TimeoutException) and not isinstance(error, http.ConnectTimeout)
            return ServerResponse(STATUS_TIMEOUT if late else STATUS_UNREACHABLE, str(error) or type(error).__name__)
        return ServerResponse(
            response.status_code, response.text, parse_retry_after(response.headers.get("retry-after"))
        )

    def _read(self, answer: ServerResponse) -> Any:
        shown = redact_url(self._url)
        if answer.status != STATUS_OK:
            raise make_response_error(answer, url=shown, message=self._quote_message(answer.body), advice=self._advice)
        try:
            return json.loads(answer.body)
        except ValueError:
            problem = f"{shown} answered with something that is not JSON: {self._quote_message(answer.body)}"
            raise EmbedderFailed(problem, way_out=self._advice.unknown) from None

    def _quote_message(self, body: str) -> str:
        """The error message of the server, shortened and without the key, which some servers repeat."""
        message = extract_error_message(body)
        message = message.replace(self._key, "[key]") if self._key else message
        return f"“{message[:_MAX_QUOTE_LENGTH]}”"

    def _connect(self) -> httpx.Client:
        http = _import_httpx()
        seconds = self._patience.timeout
        with map_exceptions(
            {ValueError: EmbedderUnavailable, OSError: EmbedderUnavailable, ImportError: EmbedderUnavailable},
            problem="No connection can be made: {error}.",
            way_out="Check the environment's proxy and certificate settings (HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE).",
        ):
            client: httpx.Client = http.Client(
                headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
                timeout=http.Timeout(seconds, connect=min(seconds, _MAX_CONNECT_SECONDS)),
                # A proxy for the world is no way to one's own machine.
                trust_env=urlsplit(self._url).hostname not in _LOOPBACK_HOSTS,
            )
        return client


def retry_delay(answer: ServerResponse, *, attempt: int, patience: RetryPolicy) -> float | None:
    """Seconds until it makes sense to ask again, or None when it does not.

    >>> patience = RetryPolicy(timeout=9, attempts=4, first_wait=0.5, longest_wait=30)
    >>> [retry_delay(ServerResponse(503, ""), attempt=attempt, patience=patience) for attempt in (1, 2, 3, 4)]
    [0.5, 1.0, 2.0, None]
    >>> [retry_delay(ServerResponse(429, "", wait=wait), attempt=1, patience=patience) for wait in (7.0, 3600.0)]
    [7.0, None]
    """
    passing = answer.status in {STATUS_UNREACHABLE, STATUS_TOO_MANY_REQUESTS} or answer.status >= STATUS_SERVER_ERROR
    if not passing or attempt >= patience.attempts:
        return None
    if answer.wait is not None:
        return answer.wait if answer.wait <= patience.longest_wait else None
    return min(patience.first_wait * 2.0 ** (attempt - 1), patience.longest_wait)


def make_response_error(answer: ServerResponse, *, url: str, message: str, advice: ErrorAdvice) -> EmbedderError:
    """The error for a response."""
    status = answer.status
    if status == STATUS_UNREACHABLE:
        return EmbedderUnavailable(f"{url} is unreachable: {message}.", way_out=advice.unreachable)
    if status in {401, 403}:
        return EmbedderUnavailable(
            f"{url} refuses the key, or was given none ({status}): {message}.", way_out=advice.refused
        )
    if status == 404:
        return EmbedderUnavailable(
            f"{url} does not know the address or the model (404): {message}.", way_out=advice.unknown
        )
    if status == STATUS_TIMEOUT:
        return EmbedderFailed(f"{url} took too long to answer.", way_out="Use a smaller batch or a longer timeout.")
    if status == STATUS_TOO_MANY_REQUESTS:
        when = f"in {answer.wait:.0f} seconds" if answer.wait else "later"
        return EmbedderFailed(
            f"{url} refuses further requests for now: {message}.", way_out=f"Try again {when}, or raise the quota."
        )
    if status >= STATUS_SERVER_ERROR:
        return EmbedderFailed(f"{url} is broken ({status}): {message}.", way_out="Try again later; its log says more.")
    way_out = "Check the name of the model, and that no text is longer than the model reads."
    return EmbedderFailed(f"{url} refuses the request ({status}): {message}.", way_out=way_out)


def extract_error_message(body: str) -> str:
    """The message in the body of an error in the form of OpenAI or Ollama, or the whole body.

    >>> (
    ...     extract_error_message('{"error": {"message": "no such model"}}'),
    ...     extract_error_message('{"error": "busy"}'),
    ...     extract_error_message("<h1>404</h1>"),
    ... )
    ('no such model', 'busy', '<h1>404</h1>')
    """
    try:
        error = json.loads(body)["error"]
    except (ValueError, TypeError, KeyError):
        return body.strip()
    return str(error.get("message", error) if isinstance(error, dict) else error).strip()


def parse_retry_after(header: str | None) -> float | None:
    """Seconds to wait from a Retry-After header in either form (RFC 9110 §10.2.3).

    >>> (
    ...     parse_retry_after("7"),
    ...     parse_retry_after(None),
    ...     parse_retry_after("soon"),
    ...     parse_retry_after("Wed, 21 Oct 2015 07:28:00 GMT"),
    ... )
    (7.0, None, None, 0.0)
    """
    if header is None:
        return None
    if header.strip().isdecimal():
        return float(header)
    # A slow import for a rare form: every command loads this module.
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def split_batches(texts: Sequence[str], *, size: int) -> Iterator[list[str]]:
    """Consecutive texts, limited in number and length for one request.

    >>> list(split_batches(["a", "b", "c"], size=2))
    [['a', 'b'], ['c']]
    """
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (len(batch) >= size or characters + len(text) > _MAX_REQUEST_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch


def sanitise_text(text: str) -> str:
    """A text for JSON: lone surrogates replaced, and a space for an empty text, which servers refuse.

    >>> sanitise_text("a\\ud800"), sanitise_text("")
    ('a?', ' ')
    """
    return text.encode("utf-8", "replace").decode("utf-8") or " "


def check_url(url: str) -> str:
    """Validate an address and remove its trailing slash."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable:
        raise InvalidSetting(
            "This is not the address of a server.", way_out="Give one such as http://localhost:8000/v1"
        )
    return url.rstrip("/")


def redact_url(url: str) -> str:
    """An address without user and password.

    >>> redact_url("https://ana:secret@example.org:8000/v1")
    'https://example.org:8000/v1'
    """
    parts = urlsplit(url)
    return SplitResult(parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", "").geturl()


def check_key(key: str) -> str:
    """Validate a key for an HTTP header. The error does not show it."""
    key = key.strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise InvalidSetting(
            "The API key has invalid characters.", way_out="Copy it again, without spaces and line breaks."
        )
    return key


def _import_httpx() -> Any:
    with map_exceptions(
        {ImportError: EmbedderUnavailable},
        problem="Embedding servers need httpx: {error}.",
        way_out=f"Install it with: {install_command('remote')}",
    ):
        import httpx
    return httpx
