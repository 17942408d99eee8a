"""Open a store, embedder and settings as a session in which verbs run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import platformdirs

from cofire.embedders.adapters import wrap_embedder
from cofire.embedders.base import Embedder
from cofire.embedders.factory import create_embedder
from cofire.errors import InvalidInput, StoreNotOpened, install_command
from cofire.ids import IdGenerator
from cofire.model import StoreRecord
from cofire.runtime.background import BackgroundCurator, BackgroundDreamer
from cofire.runtime.effects import RunContext, Steps
from cofire.runtime.retries import run_optimistically
from cofire.runtime.runner import run_steps, run_steps_async
from cofire.settings.dependencies import describe_effects
from cofire.settings.sources import default_store, load_settings
from cofire.settings.table import (
    CURATE_EVERY_HOURS,
    DREAM_AFTER_FACTS,
    DREAM_AFTER_MINUTES,
    EMBEDDER_NAME,
    READING_READER,
    SEMANTIC_INDEX,
    SETTINGS_RECORD,
    STORE_ANSWER_SECONDS,
    STORE_BUSY_SECONDS,
    STORE_SYNCHRONOUS,
    Settings,
)
from cofire.stores.base import Store
from cofire.stores.journal_file import Journal
from cofire.stores.neo4j.connection import Auth, Neo4jOptions
from cofire.stores.receipt_files import ReceiptFolder
from cofire.stores.sqlite.connections import IN_MEMORY, SqliteOptions
from cofire.stores.sqlite.store import SqliteStore
from cofire.stores.store_location import is_server_url, strip_credentials
from cofire.text.base import create_reader as choose_reader
from cofire.verbs import validation
from cofire.verbs.curate import curate
from cofire.verbs.dream import dream
from cofire.verbs.embedding_model import check_model

T = TypeVar("T")

FROM_SETTINGS = "from settings"
NO_EMBEDDER = "none"

_ID_GENERATOR = IdGenerator()
_log = logging.getLogger("cofire")


@dataclass(frozen=True)
class MemorySession:
    """An open memory: the context its verbs run in, and its settings, which follow those of the store."""

    context: RunContext
    call: Mapping[str, object]
    _layered: dict[bytes | None, Settings] = field(default_factory=dict)
    _background: list[BackgroundDreamer | BackgroundCurator] = field(default_factory=list)
    _blocking_stores: list[Store] = field(default_factory=list)

    def settings(self, record: StoreRecord | None) -> Settings:
        """All settings, with those kept in the store. File and environment are read once."""
        value = record.value if record else None
        if value not in self._layered:
            self._layered[value] = load_settings(record=value, call=self.call)
        return self._layered[value]

    def with_settings(self, verb: Callable[[Settings], Steps[T]]) -> Steps[T]:
        """Run a verb with the current settings, also when another process changed them."""
        return (yield from run_optimistically(SETTINGS_RECORD, lambda record: verb(self.settings(record))))

    def in_session(self, session: str) -> MemorySession:
        """The same memory under another session name."""
        return replace(
            self, context=replace(self.context, session=validation.parse_name(session, "session", InvalidInput))
        )

    def tend_in_background(self, settings: Settings) -> None:
        """Start background dreams and curation if the settings schedule them."""
        dreams, curates = settings[DREAM_AFTER_FACTS] or settings[DREAM_AFTER_MINUTES], settings[CURATE_EVERY_HOURS]
        if not dreams and not curates:
            return
        context = self._make_blocking_context()
        if dreams:
            self._dream_in_background(context, settings)
        if curates:
            self._curate_in_background(context, curates)

    def _dream_in_background(self, context: RunContext, settings: Settings) -> None:
        dreamer = BackgroundDreamer(
            waiting=lambda: context.store.read_size().waiting,
            dream=lambda: run_steps(self.with_settings(lambda now: dream(None, now)), context),
            clock=context.clock,
            after_facts=settings[DREAM_AFTER_FACTS],
            after_minutes=settings[DREAM_AFTER_MINUTES],
        )
        self._background.append(dreamer)
        dreamer.start()

    def _curate_in_background(self, context: RunContext, hours: float) -> None:
        curator = BackgroundCurator(
            curate=lambda: run_steps(self.with_settings(lambda now: curate(False, now)), context),
            clock=context.clock,
            every_hours=hours,
        )
        self._background.append(curator)
        curator.start()

    def _make_blocking_context(self) -> RunContext:
        if not self.context.store.is_async:
            return self.context
        async_store: Any = self.context.store
        self._blocking_stores.append(async_store.blocking())
        return replace(self.context, store=self._blocking_stores[-1])

    def close(self) -> None:
        self._stop_background()
        self.context.store.close()
        if self.context.embedder is not None:
            self.context.embedder.close()

    async def aclose(self) -> None:
        """Close everything. An async store is awaited; the rest closes in a thread."""
        if not self.context.store.is_async:
            return await asyncio.to_thread(self.close)
        await asyncio.to_thread(self._stop_background)
        store: Any = self.context.store
        await store.close()
        if self.context.embedder is not None:
            await asyncio.to_thread(self.context.embedder.close)

    def _stop_background(self) -> None:
        for worker in self._background:
            worker.close()
        for store in self._blocking_stores:
            store.close()


@dataclass(frozen=True)
class SessionOptions:
    """What is needed to open a memory, now or later."""

    store: Any
    embedder: Embedder | str | None
    settings: Mapping[str, object]
    clock: Callable[[], datetime] | None
    reembedding: bool
    session: str | None = None
    auth: Auth | None = None

    def open(self) -> MemorySession:
        """Open the store, create the embedder, and refuse a pair that does not fit."""
        store = open_store(self.store, load_settings(record=None, call=self.settings), self.auth)
        try:
            opened = self._build_session(store, store.read_record(SETTINGS_RECORD))
            if not self.reembedding:
                run_steps(check_model(), opened.context)
            opened.tend_in_background(opened.settings(store.read_record(SETTINGS_RECORD)))
            return opened
        except BaseException:
            if store is not self.store:
                store.close()
            raise

    async def aopen(self) -> MemorySession:
        """The same, awaited. A server is opened by an async store, a file in a thread."""
        if not is_server_url(place := _normalise_location(self.store)):
            return await asyncio.to_thread(self.open)
        options = make_neo4j_options(load_settings(record=None, call=self.settings))
        store: Any = await _import_neo4j_stores().AsyncNeo4jStore.open(place, options, self.auth)
        try:
            record = await store.read_record(SETTINGS_RECORD)
            opened = await asyncio.to_thread(self._build_session, store, record)
            if not self.reembedding:
                await run_steps_async(check_model(), opened.context)
            await asyncio.to_thread(opened.tend_in_background, opened.settings(record))
            return opened
        except BaseException:
            await store.close()
            raise

    def _build_session(self, store: Store, record: StoreRecord | None) -> MemorySession:
        settings = load_settings(record=record.value if record else None, call=self.settings)
        for name, effect in describe_effects(self.settings, settings).items():
            _log.warning("%s: %s", name, effect)
        embedder = choose_embedder(self.embedder, settings)
        reader, journal = choose_reader(settings[READING_READER]), Journal(companion_path(store, ".snapshots"))
        context = RunContext(
            store,
            embedder,
            _require_time_zone(self.clock or _utc_now),
            _ID_GENERATOR.mint,
            reader,
            journal=journal,
            session=self._session(),
        )
        context = replace(context, receipts=ReceiptFolder(companion_path(store, ".receipts")))
        if not context.receipts.is_empty:
            context.receipts.sweep(context.clock())
        return MemorySession(context, self.settings)

    def _session(self) -> str | None:
        return validation.parse_name(self.session, "session", InvalidInput)


def open_store(place: Any, settings: Settings, auth: Auth | None = None) -> Store:
    """A store from a path or URL, or one that is open already."""
    where = _normalise_location(place)
    if not isinstance(where, str):
        store: Store = where
        return store
    if not where.strip() or "\x00" in where:
        raise StoreNotOpened(f"{where!r} is no path.", way_out="Give the path of a file, or leave the store out.")
    if is_server_url(where):
        served: Store = _import_neo4j_stores().Neo4jStore.open(where, make_neo4j_options(settings), auth)
        return served
    if "://" in where:
        schemes = "neo4j://, neo4j+s://, bolt:// or bolt+s://"
        raise StoreNotOpened(
            f"No store can be opened at {strip_credentials(where)}.",
            way_out=f"Give the path of a file, or the URL of a Neo4j server: {schemes}.",
        )
    return SqliteStore.open(where, make_sqlite_options(settings))


def _normalise_location(place: Any) -> Any:
    """The location of a store as text, or an open store itself."""
    if place is None:
        return default_store()
    if isinstance(place, str) or hasattr(place, "__fspath__"):
        return str(place)
    if not hasattr(place, "read_record"):
        raise StoreNotOpened(f"{type(place).__name__} is no store.", way_out="Give the path of a file, or a URL.")
    return place


def _import_neo4j_stores() -> Any:
    """Import the Neo4j stores on first use, since the driver is optional."""
    try:
        return import_module("cofire.stores.neo4j.store")
    except ModuleNotFoundError as error:
        if error.name != "neo4j":
            raise
        raise StoreNotOpened(
            "A store on Neo4j needs its driver, which is not installed.",
            way_out=f"Install it with: {install_command('neo4j')}",
        ) from error


def companion_path(store: Store, ending: str) -> Path | None:
    """The folder for files beside a store: next to its file, or in the user data folder by the
    address of its server. None for a store in memory."""
    if store.server is not None:
        called = blake2b(store.server.encode(), digest_size=12).hexdigest()
        return Path(platformdirs.user_data_dir("cofire")) / "servers" / f"{called}{ending}"
    if store.path is None or store.path == IN_MEMORY:
        return None
    # Resolved, so that links to the store and changes of directory lead to the same folder.
    return Path(f"{Path(store.path).resolve()}{ending}")


def make_sqlite_options(settings: Settings) -> SqliteOptions:
    return SqliteOptions(settings[STORE_BUSY_SECONDS], settings[STORE_SYNCHRONOUS], settings[SEMANTIC_INDEX])


def make_neo4j_options(settings: Settings) -> Neo4jOptions:
    return Neo4jOptions(settings[STORE_BUSY_SECONDS], settings[STORE_ANSWER_SECONDS])


def choose_embedder(given: Embedder | str | None, settings: Settings) -> Embedder | None:
    """The embedder given, or the one that a name or the settings describe; None to work without
    vectors."""
    if given is None:
        return None
    if not isinstance(given, str):
        return wrap_embedder(given)
    name = settings[EMBEDDER_NAME] if given == FROM_SETTINGS else given
    return None if name == NO_EMBEDDER else create_embedder(name)


def _require_time_zone(clock: Callable[[], datetime]) -> Callable[[], datetime]:
    """Refuse times without a time zone, which cannot be compared with others."""

    def now() -> datetime:
        time: object = clock()
        if isinstance(time, datetime) and time.tzinfo is not None:
            return time
        raise InvalidInput(
            f"The clock returned {time!r}, which is no time with a time zone.",
            way_out="Give a clock as in clock=lambda: datetime.now(UTC).",
        )

    return now


def _utc_now() -> datetime:
    return datetime.now(UTC)
