"""All memories of a process share one loaded model, freed when the last one is closed."""

import gc
import multiprocessing
import weakref

import numpy as np
import pytest

from cofire import Memory
from cofire.embedders import bundled as module
from cofire.embedders.bundled import BundledEmbedder, LoadedGranite
from cofire.embedders.granite import find_pack


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[weakref.ref[LoadedGranite]]:
    """The models loaded during a test, with nothing shared from before."""
    loaded: list[weakref.ref[LoadedGranite]] = []
    load = module.load_granite

    def record(path: object) -> LoadedGranite:
        granite = load(find_pack())
        loaded.append(weakref.ref(granite))
        return granite

    monkeypatch.setattr(module, "SHARED_MODELS", module.SharedModels())
    monkeypatch.setattr(module, "load_granite", record)
    return loaded


def test_ten_memories_load_one_model(loads: list[weakref.ref[LoadedGranite]]) -> None:
    memories = [Memory(":memory:") for _ in range(10)]
    for number, memory in enumerate(memories):
        memory.remember(f"Service {number} runs on PostgreSQL.")
        assert memory.recall("Which database does the service use?").known
    assert len(loads) == 1
    for memory in memories:
        memory.close()


def test_the_last_one_closed_frees_the_model(loads: list[weakref.ref[LoadedGranite]]) -> None:
    first, second = BundledEmbedder(), BundledEmbedder()
    rows = first.embed(["tea"], "fact")
    second.embed(["tea"], "fact")
    first.close()
    gc.collect()
    np.testing.assert_array_equal(second.embed(["tea"], "fact"), rows)
    assert loads[0]() is not None
    second.close()
    gc.collect()
    assert loads[0]() is None


def test_one_that_was_closed_loads_the_model_again(loads: list[weakref.ref[LoadedGranite]]) -> None:
    embedder = BundledEmbedder()
    rows = embedder.embed(["tea"], "fact")
    embedder.close()
    np.testing.assert_array_equal(embedder.embed(["tea"], "fact"), rows)
    assert len(loads) == 2
    embedder.close()


def _embed_and_send(sender: object) -> None:
    sender.send(BundledEmbedder().embed(["tea"], "fact").tobytes())  # type: ignore[attr-defined]


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork")
def test_a_forked_child_loads_its_own_model_even_while_the_parent_loads_one() -> None:
    embedder = BundledEmbedder()
    rows = embedder.embed(["tea"], "fact").tobytes()
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    with module.SHARED_MODELS._lock:
        child = context.Process(target=_embed_and_send, args=(sender,))
        child.start()
    assert receiver.poll(120)
    assert receiver.recv() == rows
    child.join()
    embedder.close()
