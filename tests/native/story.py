"""A story told to a memory and asked about, as a program: prints what each question finds. Run with and without kernels."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cofire import Memory
from cofire.index.native import LIBRARY
from tests.conftest import Clock, HashedWords

# More than one word of signs, and not a whole number of them.
DIMENSION = 96
NAMES = ("Ana", "Ben", "Cleo", "Dora", "Emil", "Fay")
PLACES = ("Lisbon", "Oslo", "Kyoto", "Quito")
THINGS = ("a red kettle", "the old piano", "two bicycles", "a map of the river", "the broken radio")
QUESTIONS = (
    "Where does Ana live?",
    "Who mended the broken radio of Ben's sister?",
    "kettle",
    "What did Cleo carry to Oslo?",
    "Which pupil plays the old piano in Kyoto?",
    "Who is the one that sold two bicycles to Emil?",
    "unheard of",
)
MODES: tuple[dict[str, Any], ...] = (
    {},
    {"k": 3},
    {"mode": "minimal"},
    {"scope": ["diary"]},
    {"scope": ["default", "diary"]},
)


def tell(memory: Memory) -> None:
    """Facts about names, conversations in two sessions, another scope, and what comes and goes."""
    lived = [f"{name} lives in {PLACES[at % len(PLACES)]}. {name} is a student." for at, name in enumerate(NAMES)]
    ids = memory.remember(lived)
    for at, thing in enumerate(THINGS * 4):
        giver, taker, place = NAMES[at % 6], NAMES[(at * 5 + 1) % 6], PLACES[at % 4]
        memory.remember(f"{giver} sold {thing} to {taker} in {place}, number {at}.")
        memory.remember(f"I carried {thing} home, said {giver}. Was it heavy?", session=f"s{at % 2}", speaker=giver)
        memory.remember(f"Yes, after the {at} miles.", session=f"s{at % 2}", speaker=taker)
    memory.remember([f"{name} mended {THINGS[at % 5]}." for at, name in enumerate(NAMES)], scope="diary")
    memory.forget(ids[1])
    memory.update(ids[2], text="Cleo lives in Oslo now, near the harbour.")
    memory.archive(ids[3])


def ask(memory: Memory) -> list[list[tuple[str, float]]]:
    return [
        [(hit.text, hit.score) for hit in memory.recall(question, **mode)] for question in QUESTIONS for mode in MODES
    ]


def found(embedder: HashedWords | None) -> list[list[tuple[str, float]]]:
    """What questions find before a dream and after it, and once more in a new process's eyes."""
    with TemporaryDirectory() as folder:
        clock, path = Clock(), Path(folder) / "story.db"
        with Memory(path, embedder=embedder, clock=clock) as memory:
            tell(memory)
            before = ask(memory)
            memory.dream()
            after = ask(memory)
        with Memory(path, embedder=embedder, clock=clock) as memory:
            return [*before, *after, *ask(memory)]


def main() -> None:
    told = {"words": found(None), "vectors": found(HashedWords(dimension=DIMENSION))}
    json.dump({"compiled": LIBRARY is not None, "found": told}, sys.stdout)


if __name__ == "__main__":
    main()
