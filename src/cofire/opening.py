"""Opening: from a place, an embedder and settings to a world in which verbs can be run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from cofire.asks import Asking, Recorded, World, run
from cofire.configuration import default_store, gather
from cofire.curate_settings import CURATE_EVERY_HOURS
from cofire.dreaming import BackgroundCurator, BackgroundDreamer
from cofire.embedders.base import Embedder
from cofire.embedders.choosing import embedder_for
from cofire.errors import InvalidInput, StoreNotOpened
from cofire.graph_settings import DREAM_AFTER_FACTS, DREAM_AFTER_MINUTES, READER
from cofire.ids import Minter
from cofire.journal import Journal
from cofire.model import Record
from cofire.reading.choosing import reader_for as choose_reader
from cofire.receipts import Receipts
from cofire.settings import BUSY_SECONDS, EMBEDDER, INDEX, RECORD, SYNCHRONOUS, Settings
from cofire.stores.base import Store
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


@dataclass(frozen=True)
class Opened:
    """An open memory: the world its verbs run in, and its settings, which follow the store's own."""

    world: World
    call: Mapping[str, object]
    _layered: dict[bytes | None, Settings] = field(default_factory=dict)
    _dreamers: list[BackgroundDreamer | BackgroundCurator] = field(default_factory=list)

    def settings(self, record: Record | None) -> Settings:
        """All settings, given the store's own. File and environment are read once."""
        value = record.value if record else None
        if value not in self._layered:
            self._layered[value] = gather(record=value, call=self.call)
        return self._layered[value]

    def informed(self, verb: Callable[[Settings], Asking[T]]) -> Asking[T]:
        """A verb begun with the settings that hold at this moment, whoever changed them."""
        record: Record | None = yield Recorded(RECORD)
        return (yield from verb(self.settings(record)))

    def dream_in_background(self) -> None:
        """Begin to dream by itself, if the settings say when."""
        settings = self.settings(self.world.store.record(RECORD))
        if not settings[DREAM_AFTER_FACTS] and not settings[DREAM_AFTER_MINUTES]:
            return
        dreamer = BackgroundDreamer(
            waiting=lambda: self.world.store.size().waiting,
            dream=lambda: run(self.informed(lambda now: dream(None, now)), self.world),
            clock=self.world.clock,
            after_facts=settings[DREAM_AFTER_FACTS],
            after_minutes=settings[DREAM_AFTER_MINUTES],
        )
        self._dreamers.append(dreamer)
        dreamer.start()

    def curate_in_background(self) -> None:
        """Begin to curate by itself, if the settings say how often."""
        hours = self.settings(self.world.store.record(RECORD))[CURATE_EVERY_HOURS]
        if not hours:
            return
        curator = BackgroundCurator(
            curate=lambda: run(self.informed(lambda now: curate(False, now)), self.world),
            clock=self.world.clock,
            every_hours=hours,
        )
        self._dreamers.append(curator)
        curator.start()

    def close(self) -> None:
        for dreamer in self._dreamers:
            dreamer.close()
        self.world.store.close()
        if self.world.embedder is not None:
            self.world.embedder.close()


@dataclass(frozen=True)
class Place:
    """All that is needed to open a memory, now or later."""

    store: Any
    embedder: Embedder | str | None
    settings: Mapping[str, object]
    clock: Callable[[], datetime] | None
    reembedding: bool
    session: str | None = None

    def open(self) -> Opened:
        """Open the store, choose the embedder, and refuse a pair that does not belong together."""
        store = open_store(self.store, gather(record=None, call=self.settings))
        try:
            return self._furnished(store)
        except BaseException:
            if store is not self.store:
                store.close()
            raise

    def _furnished(self, store: Store) -> Opened:
        record = store.record(RECORD)
        settings = gather(record=record.value if record else None, call=self.settings)
        embedder = choose_embedder(self.embedder, settings)
        reader, journal = choose_reader(settings[READER]), Journal(beside(store, ".snapshots"))
        world = World(
            store, embedder, self.clock or _utc_now, _MINTER.mint, reader, journal=journal, session=self._session()
        )
        world = replace(world, receipts=Receipts(beside(store, ".receipts")))
        if not world.receipts.is_empty:
            world.receipts.sweep(world.clock())
        if not self.reembedding:
            run(check_model(), world)
        opened = Opened(world, self.settings)
        opened.dream_in_background()
        opened.curate_in_background()
        return opened

    def _session(self) -> str | None:
        return accepting.name(self.session, "session", InvalidInput)


def open_store(place: Any, settings: Settings) -> Store:
    """A store from a path, or a store that is open already."""
    if place is not None and not isinstance(place, str) and not hasattr(place, "__fspath__"):
        store: Store = place
        return store
    path = default_store() if place is None else str(place)
    if "://" in path:
        raise StoreNotOpened(f"No store can be opened at {path}.", way_out="Give the path of a file.")
    return SqliteStore.open(path, store_options(settings))


def beside(store: Store, ending: str) -> Path | None:
    """The folder for what is kept beside a store that is a file."""
    path = getattr(store, "path", None)
    return Path(f"{path}{ending}") if path and path != IN_MEMORY else None


def store_options(settings: Settings) -> SqliteOptions:
    return SqliteOptions(settings[BUSY_SECONDS], settings[SYNCHRONOUS], settings[INDEX])


def choose_embedder(given: Embedder | str | None, settings: Settings) -> Embedder | None:
    """The embedder given, or the one that a name or the settings describe; None is the mode without vectors."""
    if given is None:
        return None
    if not isinstance(given, str):
        return given
    name = settings[EMBEDDER] if given == FROM_SETTINGS else given
    return None if name == NO_EMBEDDER else embedder_for(name)


def _utc_now() -> datetime:
    return datetime.now(UTC)
