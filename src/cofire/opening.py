"""Opening: from a place, an embedder and settings to a world in which verbs can be run."""

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

from cofire.asks import Asking, World
from cofire.assuming import assuming
from cofire.configuration import default_store, gather
from cofire.curate_settings import CURATE_EVERY_HOURS
from cofire.dreaming import BackgroundCurator, BackgroundDreamer
from cofire.driving import arun, run
from cofire.embedders.base import Embedder
from cofire.embedders.choosing import embedder_for
from cofire.embedders.own import own
from cofire.errors import InvalidInput, StoreNotOpened
from cofire.graph_settings import DREAM_AFTER_FACTS, DREAM_AFTER_MINUTES, READER
from cofire.ids import Minter
from cofire.installation import install_command
from cofire.journal import Journal
from cofire.model import Record
from cofire.places import is_served, without_password
from cofire.reading.choosing import reader_for as choose_reader
from cofire.receipts import Receipts
from cofire.setting_effects import describe_effects
from cofire.settings import ANSWER_SECONDS, BUSY_SECONDS, EMBEDDER, INDEX, RECORD, SYNCHRONOUS, Settings
from cofire.stores.base import Store
from cofire.stores.neo4j.connecting import Auth, Neo4jOptions
from cofire.stores.sqlite.connecting import IN_MEMORY
from cofire.stores.sqlite.store import SqliteOptions, SqliteStore
from cofire.verbs import accepting
from cofire.verbs.curate import curate
from cofire.verbs.dream import dream
from cofire.verbs.model_of_store import check_model

T = TypeVar("T")

FROM_SETTINGS = "from settings"
NO_EMBEDDER = "none"

_MINTER = Minter()
_log = logging.getLogger("cofire")


@dataclass(frozen=True)
class Opened:
    """An open memory: the world its verbs run in, and its settings, which follow the store's own."""

    world: World
    call: Mapping[str, object]
    _layered: dict[bytes | None, Settings] = field(default_factory=dict)
    _dreamers: list[BackgroundDreamer | BackgroundCurator] = field(default_factory=list)
    _twins: list[Store] = field(default_factory=list)

    def settings(self, record: Record | None) -> Settings:
        """All settings, given the store's own. File and environment are read once."""
        value = record.value if record else None
        if value not in self._layered:
            self._layered[value] = gather(record=value, call=self.call)
        return self._layered[value]

    def informed(self, verb: Callable[[Settings], Asking[T]]) -> Asking[T]:
        """A verb begun with the settings that hold at this moment, whoever changed them."""
        return (yield from assuming(RECORD, lambda record: verb(self.settings(record))))

    def in_session(self, session: str) -> Opened:
        """The same, with recalls of another session."""
        return replace(self, world=replace(self.world, session=accepting.name(session, "session", InvalidInput)))

    def tend_in_background(self, settings: Settings) -> None:
        """Begin to dream and to curate by itself, if the settings say when. Threads call, so they have a store that answers them."""
        dreams, curates = settings[DREAM_AFTER_FACTS] or settings[DREAM_AFTER_MINUTES], settings[CURATE_EVERY_HOURS]
        if not dreams and not curates:
            return
        world = self._callable_world()
        if dreams:
            self._dream_in_background(world, settings)
        if curates:
            self._curate_in_background(world, curates)

    def _dream_in_background(self, world: World, settings: Settings) -> None:
        dreamer = BackgroundDreamer(
            waiting=lambda: world.store.size().waiting,
            dream=lambda: run(self.informed(lambda now: dream(None, now)), world),
            clock=world.clock,
            after_facts=settings[DREAM_AFTER_FACTS],
            after_minutes=settings[DREAM_AFTER_MINUTES],
        )
        self._dreamers.append(dreamer)
        dreamer.start()

    def _curate_in_background(self, world: World, hours: float) -> None:
        curator = BackgroundCurator(
            curate=lambda: run(self.informed(lambda now: curate(False, now)), world),
            clock=world.clock,
            every_hours=hours,
        )
        self._dreamers.append(curator)
        curator.start()

    def _callable_world(self) -> World:
        if not self.world.store_awaits:
            return self.world
        awaiting: Any = self.world.store
        self._twins.append(awaiting.blocking())
        return replace(self.world, store=self._twins[-1])

    def close(self) -> None:
        self._rest()
        self.world.store.close()
        if self.world.embedder is not None:
            self.world.embedder.close()

    async def aclose(self) -> None:
        """Let go of everything; a store that awaits is awaited, the rest is done in a thread."""
        if not self.world.store_awaits:
            return await asyncio.to_thread(self.close)
        await asyncio.to_thread(self._rest)
        store: Any = self.world.store
        await store.close()
        if self.world.embedder is not None:
            await asyncio.to_thread(self.world.embedder.close)

    def _rest(self) -> None:
        for dreamer in self._dreamers:
            dreamer.close()
        for twin in self._twins:
            twin.close()


@dataclass(frozen=True)
class Place:
    """All that is needed to open a memory, now or later."""

    store: Any
    embedder: Embedder | str | None
    settings: Mapping[str, object]
    clock: Callable[[], datetime] | None
    reembedding: bool
    session: str | None = None
    auth: Auth | None = None

    def open(self) -> Opened:
        """Open the store, choose the embedder, and refuse a pair that does not belong together."""
        store = open_store(self.store, gather(record=None, call=self.settings), self.auth)
        try:
            opened = self._furnished(store, store.record(RECORD))
            if not self.reembedding:
                run(check_model(), opened.world)
            opened.tend_in_background(opened.settings(store.record(RECORD)))
            return opened
        except BaseException:
            if store is not self.store:
                store.close()
            raise

    async def aopen(self) -> Opened:
        """The same for programs that await. A store on a server is awaited from its first question on, another opens in a thread."""
        if not is_served(place := _place(self.store)):
            return await asyncio.to_thread(self.open)
        options = server_options(gather(record=None, call=self.settings))
        store: Any = await _server_stores().AsyncNeo4jStore.open(place, options, self.auth)
        try:
            record = await store.record(RECORD)
            opened = await asyncio.to_thread(self._furnished, store, record)
            if not self.reembedding:
                await arun(check_model(), opened.world)
            await asyncio.to_thread(opened.tend_in_background, opened.settings(record))
            return opened
        except BaseException:
            await store.close()
            raise

    def _furnished(self, store: Store, record: Record | None) -> Opened:
        settings = gather(record=record.value if record else None, call=self.settings)
        for name, effect in describe_effects(self.settings, settings).items():
            _log.warning("%s: %s", name, effect)
        embedder = choose_embedder(self.embedder, settings)
        reader, journal = choose_reader(settings[READER]), Journal(beside(store, ".snapshots"))
        world = World(
            store,
            embedder,
            _zoned(self.clock or _utc_now),
            _MINTER.mint,
            reader,
            journal=journal,
            session=self._session(),
        )
        world = replace(world, receipts=Receipts(beside(store, ".receipts")))
        if not world.receipts.is_empty:
            world.receipts.sweep(world.clock())
        return Opened(world, self.settings)

    def _session(self) -> str | None:
        return accepting.name(self.session, "session", InvalidInput)


def open_store(place: Any, settings: Settings, auth: Auth | None = None) -> Store:
    """A store from a path or a URL, or a store that is open already."""
    where = _place(place)
    if not isinstance(where, str):
        store: Store = where
        return store
    if not where.strip() or "\x00" in where:
        raise StoreNotOpened(f"{where!r} is no path.", way_out="Give the path of a file, or leave the store out.")
    if is_served(where):
        served: Store = _server_stores().Neo4jStore.open(where, server_options(settings), auth)
        return served
    if "://" in where:
        schemes = "neo4j://, neo4j+s://, bolt:// or bolt+s://"
        raise StoreNotOpened(
            f"No store can be opened at {without_password(where)}.",
            way_out=f"Give the path of a file, or the URL of a Neo4j server: {schemes}.",
        )
    return SqliteStore.open(where, store_options(settings))


def _place(place: Any) -> Any:
    """Where a store is, as text; or the store itself, if it is open already."""
    if place is None:
        return default_store()
    if isinstance(place, str) or hasattr(place, "__fspath__"):
        return str(place)
    if not hasattr(place, "record"):
        raise StoreNotOpened(f"{type(place).__name__} is no store.", way_out="Give the path of a file, or a URL.")
    return place


def _server_stores() -> Any:
    """The stores on a server, loaded when the first one is opened: most have none, and not the package."""
    try:
        return import_module("cofire.stores.neo4j.store")
    except ModuleNotFoundError as error:
        if error.name != "neo4j":
            raise
        raise StoreNotOpened(
            "A store on Neo4j needs its driver, which is not installed.",
            way_out=f"Install it with: {install_command('neo4j')}",
        ) from error


def beside(store: Store, ending: str) -> Path | None:
    """The folder for what is kept beside a store: next to a file, and for a server among the user's own data, by its address."""
    path, server = getattr(store, "path", None), getattr(store, "place", None)
    if server:
        called = blake2b(server.encode(), digest_size=12).hexdigest()
        return Path(platformdirs.user_data_dir("cofire")) / "servers" / f"{called}{ending}"
    # Wherever a link to the store stands, or this process goes later.
    return Path(f"{Path(path).resolve()}{ending}") if path and path != IN_MEMORY else None


def store_options(settings: Settings) -> SqliteOptions:
    return SqliteOptions(settings[BUSY_SECONDS], settings[SYNCHRONOUS], settings[INDEX])


def server_options(settings: Settings) -> Neo4jOptions:
    return Neo4jOptions(settings[BUSY_SECONDS], settings[ANSWER_SECONDS])


def choose_embedder(given: Embedder | str | None, settings: Settings) -> Embedder | None:
    """The embedder given, or the one that a name or the settings describe; None is the mode without vectors."""
    if given is None:
        return None
    if not isinstance(given, str):
        return own(given)
    name = settings[EMBEDDER] if given == FROM_SETTINGS else given
    return None if name == NO_EMBEDDER else embedder_for(name)


def _zoned(clock: Callable[[], datetime]) -> Callable[[], datetime]:
    """A clock that refuses to tell a time without its zone, which no other time could be compared with."""

    def now() -> datetime:
        told: object = clock()
        if isinstance(told, datetime) and told.tzinfo is not None:
            return told
        raise InvalidInput(
            f"The clock says {told!r}, which is no time with a time zone.",
            way_out="Give a clock as in clock=lambda: datetime.now(UTC).",
        )

    return now


def _utc_now() -> datetime:
    return datetime.now(UTC)
