"""Where the MCP server listens over HTTP: host, port, allowed names and token."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, replace

from cofire.errors import InvalidInput

TOKEN_VARIABLE = "COFIRE_MCP_TOKEN"
MIN_TOKEN_LENGTH = 16
ENDPOINT_PATH = "/mcp"

_LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class McpEndpoint:
    """A host and a port to listen at, the names by which callers may know it, and the token they must have, if any."""

    host: str
    port: int
    names: tuple[str, ...] = ()
    token: str | None = None

    def __post_init__(self) -> None:
        if self.token is not None and len(self.token) < MIN_TOKEN_LENGTH:
            raise InvalidInput(
                f"The token in {TOKEN_VARIABLE} is too short.",
                way_out=f"Give at least {MIN_TOKEN_LENGTH} characters that nobody guesses.",
            )
        if not self.is_loopback and self.token is None:
            raise InvalidInput(
                f"Whoever reaches {self.host} could read and change this memory.",
                way_out=f"Put a token into {TOKEN_VARIABLE}, or serve 127.0.0.1.",
            )
        if self._is_everywhere and not self.names:
            raise InvalidInput(
                f"{self.host} is every address of this machine, and no name that callers use.",
                way_out="Say which they use, as in --allow-host memory.example.org",
            )

    @property
    def is_loopback(self) -> bool:
        return self.host == "localhost" or _has_ip_property(self.host, "is_loopback")

    @property
    def _is_everywhere(self) -> bool:
        return self.host == "" or _has_ip_property(self.host, "is_unspecified")

    def at_port(self, port: int) -> McpEndpoint:
        return replace(self, port=port)

    @property
    def address(self) -> str:
        return f"http://{self._known_as[0]}:{self.port}{ENDPOINT_PATH}"

    @property
    def hosts(self) -> list[str]:
        """What a request may have as its Host. Another name means that a page elsewhere was led here (DNS rebinding)."""
        behind_a_proxy = list(self.names)
        return [*(f"{name}:{self.port}" for name in self._known_as), *behind_a_proxy]

    @property
    def origins(self) -> list[str]:
        """What a request may have as its Origin: pages of another port are strangers too."""
        return [*(f"http://{host}" for host in self.hosts), *(f"https://{name}" for name in self.names)]

    @property
    def _known_as(self) -> tuple[str, ...]:
        own = () if self._is_everywhere else (f"[{self.host}]" if ":" in self.host else self.host,)
        return tuple(dict.fromkeys([*own, *(_LOCAL_NAMES if self.is_loopback else ()), *self.names]))


def _has_ip_property(host: str, what: str) -> bool:
    try:
        return bool(getattr(ipaddress.ip_address(host), what))
    except ValueError:
        return False
