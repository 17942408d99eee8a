"""The labelled sets in data/: texts with their names, pairs of names, sentences with their causes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parent / "data"


def rows(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


@dataclass(frozen=True)
class Score:
    """How much of what was found was right, and how much of what is right was found."""

    right: int
    found: int
    wanted: int

    @property
    def precision(self) -> float:
        return self.right / self.found

    @property
    def recall(self) -> float:
        return self.right / self.wanted

    def __str__(self) -> str:
        return f"precision {self.precision:.3f} of {self.found}, recall {self.recall:.3f} of {self.wanted}"


def score(pairs: Iterable[tuple[Iterable[str], Iterable[str]]]) -> Score:
    """Over texts, each with what was found and what was wanted; a name wanted twice must be found twice."""
    counted = [(Counter(found), Counter(wanted)) for found, wanted in pairs]
    return Score(
        right=sum((found & wanted).total() for found, wanted in counted),
        found=sum(found.total() for found, _ in counted),
        wanted=sum(wanted.total() for _, wanted in counted),
    )
