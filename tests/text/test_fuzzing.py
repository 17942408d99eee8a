"""No reader fails on real text with changed spaces, case, punctuation, Unicode or length."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from cofire import Memory
from cofire.errors import InvalidInput
from tests.text.every_reader import READERS
from tests.text.mutations import MUTATIONS, Mutation, mutate

CORPUS = Path(__file__).with_name("data").joinpath("fuzz_corpus.txt").read_text(encoding="utf-8").split("\n")
TEXTS = [line.replace("\\n", "\n") for line in CORPUS if line]
QUICK = settings(deadline=None, suppress_health_check=list(HealthCheck))

texts = st.sampled_from(TEXTS)
changes = st.lists(st.sampled_from(MUTATIONS), min_size=1, max_size=3).map(tuple)
seeds = st.integers(0, 2**32)


def read_with_every_reader(text: str) -> None:
    for name, read in READERS.items():
        try:
            read(text)
        except Exception as error:
            error.add_note(f"{name} fails on {text!r}")
            raise


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_readers_survive_each_change(mutation: Mutation) -> None:
    """About forty texts a change, more than a thousand in all."""
    chance = random.Random(mutation.__name__)
    for text in chance.sample(TEXTS, 40):
        read_with_every_reader(mutate(text, (mutation,), chance.randrange(2**32)))


def test_readers_survive_every_text_as_it_is() -> None:
    for text in TEXTS:
        read_with_every_reader(text)


@QUICK
@example(text="Postgres  or MySQL was the question.", mutations=(), seed=0)
@example(text="ſeven weeks ago, ſince the ſecond quarter of 2019", mutations=(), seed=0)
@given(text=texts, mutations=changes, seed=seeds)
def test_readers_survive_several_changes(text: str, mutations: tuple[Mutation, ...], seed: int) -> None:
    read_with_every_reader(mutate(text, mutations, seed))


@QUICK
@given(text=st.text(max_size=200))
def test_readers_survive_any_text(text: str) -> None:
    read_with_every_reader(text)


@pytest.fixture(scope="module")
def memory() -> Memory:
    return Memory(":memory:", embedder=None)


@QUICK
@given(text=texts, mutations=changes, seed=seeds)
def test_changed_text_is_remembered_recalled_and_ingested(
    memory: Memory, text: str, mutations: tuple[Mutation, ...], seed: int
) -> None:
    changed = mutate(text, mutations, seed)
    assume(changed.strip())
    id = memory.remember(changed)
    assert memory.facts(id)[0].text == changed
    memory.recall(changed)
    memory.ingest([{"role": "user", "content": changed}, {"role": "assistant", "content": text}], session=str(seed))
    assert memory.stats().reading_failures.facts == 0


@pytest.mark.parametrize("suffix", ["md", "txt"])
@QUICK
@given(chosen=st.lists(st.tuples(texts, changes, seeds), min_size=1, max_size=4))
def test_changed_documents_are_ingested(
    memory: Memory,
    tmp_path_factory: pytest.TempPathFactory,
    suffix: str,
    chosen: list[tuple[str, tuple[Mutation, ...], int]],
) -> None:
    content = "\n\n".join(mutate(text, mutations, seed) for text, mutations, seed in chosen)
    path = tmp_path_factory.mktemp("documents") / f"notes.{suffix}"
    path.write_bytes(content.encode("utf-8"))
    with suppress(InvalidInput):  # a file of JSON that holds no conversation is refused, with the reason
        memory.ingest(path)
    assert memory.stats().reading_failures.facts == 0
