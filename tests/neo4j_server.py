"""A real Neo4j Community server for the tests. It runs on a loopback port and is deleted at the end of the run.

`COFIRE_TEST_NEO4J=neo4j://user:password@host` names one that is running already. It must be one whose content may be lost.
"""

from __future__ import annotations

import logging
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import neo4j
import pytest
from neo4j.exceptions import DriverError, Neo4jError

from cofire.stores.neo4j.connection import Neo4jOptions, parse_address
from cofire.stores.neo4j.store import Neo4jStore
from tests.neo4j_jars import JARS, fetch, missing_tools

RUNNING = "COFIRE_TEST_NEO4J"
GIVEN = os.environ.get(RUNNING, "")
# Tests of the shared server run on one worker: they empty it, and a second server would compile every query again.
IN_TURN = [pytest.mark.xdist_group("neo4j")]


def in_turn(test: Callable[..., Any]) -> Callable[..., Any]:
    """The same for one test."""
    for mark in IN_TURN:
        test = mark(test)
    return test


OPTIONS = Neo4jOptions(retry_seconds=30.0, answer_seconds=120.0)
USER, PASSWORD = "neo4j", "only-for-tests"
PATIENCE = 120.0

_CONFIGURATION = """
dbms.security.auth_enabled=true
server.bolt.listen_address=127.0.0.1:{port}
server.bolt.advertised_address=127.0.0.1:{port}
server.http.enabled=false
server.https.enabled=false
server.memory.pagecache.size={page_cache}
dbms.usage_report.enabled=false
db.tx_log.preallocate=false
"""
_JAVA = (
    "-Xms256m",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dlog4j2.disable.jmx=true",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
)


@dataclass(frozen=True, slots=True)
class Room:
    """How much of the machine a server may have, and how it uses it."""

    page_cache: str
    java: tuple[str, ...]
    settings: str = ""


# With one compiler the code cache is 48 MB by default. A long run fills it: compiled code is dropped and compiled again.
# Tests ask each question a few times: what is compiled at once is never worth compiling better, nor a plan worth making anew.
FOR_TESTS = Room(
    "128m",
    ("-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m"),
    "dbms.cypher.min_replan_interval=1h\n",
)
FOR_MEASURING = Room("1g", ("-Xmx3g", "-XX:+UseG1GC"))


def missing() -> str:
    """What is missing to start a server; empty when nothing is."""
    tools = missing_tools()
    return f"Neo4j needs {' and '.join(tools)} on the path, or {RUNNING}" if tools else ""


@dataclass
class Server:
    """One server with a folder of its own. It can be stopped and started again, with what it holds."""

    port: int
    home: Path
    room: Room = FOR_TESTS
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"bolt://{USER}:{PASSWORD}@{self.address}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        command = ["java", *_JAVA, *self.room.java, "-cp", f"{JARS}/*", "org.neo4j.server.CommunityEntryPoint"]
        command += [f"--home-dir={self.home}", f"--config-dir={self.home / 'conf'}", "--console-mode"]
        log = (self.home / "console.log").open("ab")
        with log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        _wait(self)

    def stop(self, *, kill: bool = False) -> None:
        """Stop it: in order, or as if the power had gone."""
        if self._process is not None:
            self._process.kill() if kill else self._process.terminate()
            self._process.wait(PATIENCE)
            self._process = None

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None


@contextmanager
def server(room: Room = FOR_TESTS) -> Iterator[Server]:
    """A new and empty server, gone at the end with all that it held."""
    fetch()
    made = Server(free_port(), Path(mkdtemp(prefix="cofire-neo4j-")), room)
    try:
        _furnish(made)
        made.start()
        yield made
    finally:
        made.stop()
        shutil.rmtree(made.home, ignore_errors=True)


def free_port() -> int:
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _furnish(made: Server) -> None:
    """Its configuration and its password, before the first start."""
    (made.home / "conf").mkdir()
    said = _CONFIGURATION.format(port=made.port, page_cache=made.room.page_cache) + made.room.settings
    (made.home / "conf" / "neo4j.conf").write_text(said)
    environment = {**os.environ, "NEO4J_HOME": str(made.home), "NEO4J_CONF": str(made.home / "conf")}
    admin = ["java", "-cp", f"{JARS}/*", "org.neo4j.cli.AdminTool", "dbms", "set-initial-password", PASSWORD]
    subprocess.run(admin, check=True, env=environment, capture_output=True)


def _wait(made: Server) -> None:
    """Until it answers. The driver complains meanwhile of what is to be expected."""
    logger = logging.getLogger("neo4j")
    level, deadline = logger.level, time.monotonic() + PATIENCE
    logger.setLevel(logging.CRITICAL)
    try:
        while not _answers(made):
            if not made.runs or time.monotonic() > deadline:
                raise RuntimeError((made.home / "console.log").read_text(errors="replace")[-4_000:])
            time.sleep(0.2)
    finally:
        logger.setLevel(level)


def _answers(made: Server) -> bool:
    with neo4j.GraphDatabase.driver(f"bolt://{made.address}", auth=(USER, PASSWORD)) as driver:
        try:
            driver.verify_connectivity()
        except (DriverError, Neo4jError):
            return False
    return True


@contextmanager
def shared_server() -> Iterator[str]:
    """The URL of the server that all tests of a process share: the one that is named, or one started now."""
    if GIVEN:
        _SHARED.append(GIVEN)
        yield GIVEN
    elif lacking := missing():
        pytest.skip(lacking)
    else:
        with server() as made:
            _SHARED.append(made.url)
            yield made.url


_SHARED: list[str] = []


def empty_store(options: Neo4jOptions = OPTIONS) -> Neo4jStore:
    """The shared server as a store that holds nothing. Ask for the fixture `neo4j_url` first."""
    empty(_SHARED[-1])
    return Neo4jStore.open(_SHARED[-1], options)


def empty(url: str) -> None:
    """Take everything out of a server but its indexes."""
    where = parse_address(url, None)
    with neo4j.GraphDatabase.driver(where.url, auth=where.auth) as driver:
        driver.execute_query("MATCH (n) WHERE NOT n:Store DETACH DELETE n", database_=where.database)


class _Sent(logging.Handler):
    def __init__(self, queries: list[str]) -> None:
        super().__init__(logging.DEBUG)
        self._queries = queries

    def emit(self, record: logging.LogRecord) -> None:
        if "C: RUN" in record.getMessage():
            self._queries.append(record.getMessage())


@contextmanager
def queries_sent() -> Iterator[list[str]]:
    """What the driver says it has sent: a query a round trip, however many questions are in it."""
    queries: list[str] = []
    log, handler = logging.getLogger("neo4j.io"), _Sent(queries)
    before = log.level, log.propagate
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    log.propagate = False
    try:
        yield queries
    finally:
        log.removeHandler(handler)
        log.level, log.propagate = before
