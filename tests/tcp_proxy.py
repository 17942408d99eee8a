"""A small TCP proxy between a client and a server: it can cut connections, refuse new ones, hold answers back, and count what passes."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

CHUNK = 65_536


class Proxy:
    """Listens on a loopback port and passes everything on, until it is told otherwise."""

    def __init__(self, target: tuple[str, int]) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._lock = threading.Lock()
        self._left: int | None = None
        self.holding_back = 0.0
        self.asked = 0
        self.cuts = 0
        threading.Thread(target=self._welcome, daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._listener.getsockname()[1]}"

    def cut(self) -> None:
        """Break every connection there is."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        self.cuts += bool(pairs)
        for pair in pairs:
            for one in pair:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
                one.close()

    def cut_after(self, messages: int) -> None:
        """Break every connection instead of passing on what the client says after so many times."""
        self._left = messages

    def close(self) -> None:
        self._listener.close()
        self.cut()

    def _welcome(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._target)
            except OSError:
                return
            with self._lock:
                self._pairs.append((client, server))
            threading.Thread(target=self._pass, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, False), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, asks: bool) -> None:
        with suppress(OSError):
            while said := source.recv(CHUNK):
                if asks and self._is_to_be_cut():
                    return self.cut()
                if not asks and self.holding_back:
                    time.sleep(self.holding_back)
                target.sendall(said)
            target.shutdown(socket.SHUT_WR)

    def _is_to_be_cut(self) -> bool:
        self.asked += 1
        if self._left is None:
            return False
        self._left -= 1
        if self._left >= 0:
            return False
        self._left = None
        return True


@contextmanager
def proxy(host: str, port: int) -> Iterator[Proxy]:
    made = Proxy((host, port))
    try:
        yield made
    finally:
        made.close()
