"""What all tests share: a quiet environment, every store, a clock that ticks, and an embedder that needs no model."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings as hypothesis_settings

from cofire.algorithms.vector_similarity import normalise_vectors
from cofire.embedders.base import Model, Role, Vectors
from cofire.errors import EmbedderFailed
from cofire.memory import Memory
from cofire.settings.sources import FILE_VARIABLE
from cofire.stores.base import Store
from cofire.stores.sqlite.connections import SqliteOptions
from cofire.stores.sqlite.store import SqliteStore
from cofire.text.words import extract_words
from tests.neo4j_server import IN_TURN, empty_store, shared_server
from tests.reference_store.store import ReferenceStore

pytest_plugins = ["tests.no_skips"]

hypothesis_settings.register_profile(
    "same everywhere", derandomize=True, deadline=None, database=None, max_examples=100
)
hypothesis_settings.load_profile("same everywhere")

_NUMBERS = count()

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
SYNONYMS = {"automobil": "car", "vehicl": "car", "pupil": "student"}


@pytest.fixture(autouse=True)
def quiet_environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings but those of the test: neither the user's file and folders nor variables of whoever runs it."""
    for name in os.environ:
        if name.startswith("COFIRE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.getbasetemp() / f"data-{next(_NUMBERS)}"))
    monkeypatch.setenv(FILE_VARIABLE, str(tmp_path_factory.getbasetemp() / "no-such-folder" / "config.toml"))


def sqlite_store(folder: Path, index: str = "signs") -> SqliteStore:
    return SqliteStore.open(str(folder / "memory.db"), SqliteOptions(5.0, "normal", index))


STORES: dict[str, Callable[[Path], Store]] = {
    "reference": lambda folder: ReferenceStore(),
    "sqlite": sqlite_store,
    "neo4j": lambda folder: empty_store(),
}


@pytest.fixture(scope="session")
def neo4j_url() -> Iterator[str]:
    """A server that is there for the whole run, started when the first test asks for it."""
    with shared_server() as url:
        yield url


EVERY_STORE = [pytest.param(name, marks=IN_TURN if name == "neo4j" else ()) for name in STORES]


@pytest.fixture(params=EVERY_STORE)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Every store there is, one after the other."""
    if request.param == "neo4j":
        request.getfixturevalue("neo4j_url")
    opened = STORES[request.param](tmp_path)
    yield opened
    opened.close()


# What a store does is tried on the server as a whole; of the verbs, which know no store, those that write and take back.
SERVED = re.compile(
    r"/tests/(?:stores/|verbs/test_(?:undo|forget|update|feedback|pin)\.py|graph/test_(?:connect|curate|supersede_and_review)\.py)"
)
EVERYTHING = "COFIRE_TEST_EVERYTHING"


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist adds groups to the ids
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A server takes a hundred times as long to answer: COFIRE_TEST_EVERYTHING=1 runs every test of every verb on it, too."""
    for item in items:
        if "neo4j_url" in getattr(item, "fixturenames", ()) and not item.get_closest_marker("xdist_group"):
            item.add_marker(IN_TURN[0])
    if os.environ.get(EVERYTHING):
        return
    left = [item for item in items if "[neo4j" in item.name and not SERVED.search(item.path.as_posix())]
    gone = set(left)
    items[:] = [item for item in items if item not in gone]
    config.hook.pytest_deselected(items=left)


class Clock:
    """Ticks a second each time it is looked at."""

    def __init__(self, start: datetime = START) -> None:
        self.now = start

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


class HashedWords:
    """An embedder without a model: each word, or its synonym, is a direction; a text is where its words point together.

    All texts lean the same way a little, so that centring has something to do. `calls` tells what was embedded.
    """

    def __init__(self, name: str = "hashed-words", dimension: int = 32, *, measured: bool = True) -> None:
        self.model = Model(name, dimension)
        lean = np.zeros(dimension, np.float32)
        lean[0] = 1.0
        self.lean = lean
        self.mean: Vectors | None = lean * np.float32(0.7) if measured else None
        self.resting: tuple[float, float] | None = (0.0, 0.2) if measured else None
        self.silent_below: float | None = None
        self.calls: list[tuple[tuple[str, ...], Role]] = []
        self.closed = False

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        self.calls.append((tuple(texts), role))
        return normalise_vectors(np.array([self.lean + self._heading(text) for text in texts]))

    def close(self) -> None:
        self.closed = True

    def _heading(self, text: str) -> Vectors:
        headings = [self._direction(SYNONYMS.get(word, word)) for word in extract_words(text)]
        return normalise_vectors(np.sum([np.zeros_like(self.lean), *headings], axis=0))

    def _direction(self, word: str) -> Vectors:
        seed = int.from_bytes(blake2b(f"{self.model.name} {word}".encode(), digest_size=8).digest())
        return normalise_vectors(np.random.default_rng(seed).standard_normal(self.model.dimension))

    @property
    def embedded(self) -> list[str]:
        """All texts embedded so far."""
        return [text for texts, _ in self.calls for text in texts]


class Faltering(HashedWords):
    """Embeds so many batches, then fails until it is mended."""

    def __init__(self, batches: int = 0, name: str = "hashed-words", dimension: int = 32) -> None:
        super().__init__(name, dimension)
        self.batches = batches

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        if self.batches == 0:
            raise EmbedderFailed("The model is out of breath.", way_out="Wait a little.")
        self.batches -= 1
        return super().embed(texts, role)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def embedder() -> HashedWords:
    return HashedWords()


class Lent:
    """A store that outlives the memories it is lent to."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def for_call(self) -> Any:
        """The view of the store for a call; this one, where the store is used as it is."""
        view = self.store.for_call()
        return self if view is self.store else view

    def close(self) -> None:
        """Whoever lent it closes it."""


Opening = Callable[..., Memory]


@pytest.fixture
def open_memory(store: Store, clock: Clock) -> Opening:
    """Open a memory on the test's store, as often as wanted, with an embedder unless the test says otherwise."""

    def opened(embedder: Any = "hashed words", **others: Any) -> Memory:
        chosen = HashedWords() if embedder == "hashed words" else embedder
        return Memory(Lent(store), embedder=chosen, clock=clock, **others)

    return opened


@pytest.fixture
def memory(open_memory: Opening, embedder: HashedWords) -> Memory:
    """A memory with an embedder, on every store."""
    return open_memory(embedder)


@pytest.fixture
def wordy(open_memory: Opening) -> Memory:
    """A memory without an embedder, on every store."""
    return open_memory(None)
