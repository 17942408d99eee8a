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
    """The address to listen on, the host names that clients may use, and the required token, if any."""

    host: str
    port: int
    names: tuple[str, ...] = ()
    token: str | None = None

    def __post_init__(self) -> None:
        if self.token is not None and len(self.token) < MIN_TOKEN_LENGTH:
            raise InvalidInput(
                f"The token in {TOKEN_VARIABLE} is too short.",
                way_out=f"Give at least {MIN_TOKEN_LENGTH} random characters.",
            )
        if not self.is_loopback and self.token is None:
            raise InvalidInput(
                f"Everyone who can reach {self.host} could read and change this memory.",
                way_out=f"Set a token in {TOKEN_VARIABLE}, or listen on 127.0.0.1.",
            )
        if self._is_unspecified and not self.names:
            raise InvalidInput(
                f"{self.host} stands for every address of this machine, not for a host name.",
                way_out="Name the host that clients use, for example --allow-host memory.example.org",
            )

    @property
    def is_loopback(self) -> bool:
        return self.host == "localhost" or _has_ip_property(self.host, "is_loopback")

    @property
    def _is_unspecified(self) -> bool:
        return self.host == "" or _has_ip_property(self.host, "is_unspecified")

    def at_port(self, port: int) -> McpEndpoint:
        return replace(self, port=port)

    @property
    def address(self) -> str:
        return f"http://{self._host_names[0]}:{self.port}{ENDPOINT_PATH}"

    @property
    def hosts(self) -> list[str]:
        """Accepted Host headers. Other names are rejected to prevent DNS rebinding; proxies send names without a port."""
        return [*(f"{name}:{self.port}" for name in self._host_names), *self.names]

    @property
    def origins(self) -> list[str]:
        """Accepted Origin headers. Another port is another origin."""
        return [*(f"http://{host}" for host in self.hosts), *(f"https://{name}" for name in self.names)]

    @property
    def _host_names(self) -> tuple[str, ...]:
        names: list[str] = []
        if not self._is_unspecified:
            names.append(f"[{self.host}]" if ":" in self.host else self.host)
        if self.is_loopback:
            names += _LOCAL_NAMES
        return tuple(dict.fromkeys([*names, *self.names]))


def _has_ip_property(host: str, name: str) -> bool:
    try:
        return bool(getattr(ipaddress.ip_address(host), name))
    except ValueError:
        return False
