"""Custom embedders: their possible errors, and how a memory handles them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from cofire import Memory
from cofire.embedders.base import Role
from cofire.errors import EmbedderFailed, InvalidInput
from tests.conftest import HashedWords, Opening

TOLD = "Ana leads the Berlin office."
ASKED = "Who leads the Berlin office?"


class Faulty(HashedWords):
    """Embeds as it should until it is told how to spoil its answers."""

    spoil: Callable[[Any], Any] | None = None

    def embed(self, texts: Sequence[str], role: Role) -> Any:
        answer = super().embed(texts, role)
        return answer if self.spoil is None else self.spoil(answer)


def _fails(answer: Any) -> Any:
    raise RuntimeError("out of memory")


FAULTS = {
    "raises": _fails,
    "nan": lambda answer: answer * np.nan,
    "infinite": lambda answer: answer * np.inf,
    "too short": lambda answer: answer[:, :3],
    "one vector too few": lambda answer: answer[:-1],
    "nothing": lambda answer: None,
}


@pytest.fixture(params=FAULTS.values(), ids=FAULTS)
def spoiled(request: pytest.FixtureRequest, open_memory: Opening) -> Memory:
    """A memory that knows a fact, and whose embedder has gone wrong since."""
    embedder = Faulty()
    memory = open_memory(embedder)
    memory.remember(TOLD)
    embedder.spoil = request.param
    return memory


@pytest.mark.filterwarnings("ignore:invalid value encountered")
def test_nothing_is_stored_when_an_embedder_goes_wrong(spoiled: Memory) -> None:
    with pytest.raises(EmbedderFailed):
        spoiled.remember("Bo leads the Paris office.")
    assert [fact.text for fact in spoiled.facts()] == [TOLD]


@pytest.mark.filterwarnings("ignore:invalid value encountered")
def test_words_still_find_what_a_broken_embedder_does_not(spoiled: Memory) -> None:
    found = spoiled.recall(ASKED)
    assert [hit.text for hit in found] == [TOLD]
    assert next(report.status for report in found.channels if report.name == "semantic") == "failed"


def test_what_an_embedder_raised_is_told(open_memory: Opening) -> None:
    embedder = Faulty()
    embedder.spoil = _fails
    with pytest.raises(EmbedderFailed, match="RuntimeError: out of memory"):
        open_memory(embedder).remember(TOLD)


def test_vectors_of_any_length_mean_the_same(open_memory: Opening) -> None:
    embedder = Faulty()
    embedder.spoil = lambda answer: (answer * 7).astype(np.float64).tolist()
    memory = open_memory(embedder)
    memory.remember([TOLD, "The harbour is closed."])
    assert memory.recall(ASKED)[0].text == TOLD


def test_an_object_that_cannot_embed_is_refused() -> None:
    with pytest.raises(InvalidInput, match="int is not an embedder"):
        Memory(":memory:", embedder=5)  # type: ignore[arg-type]
