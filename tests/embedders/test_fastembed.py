"""Calls to the package fastembed, which a fake replaces."""

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest

from cofire.embedders.base import Model, Role
from cofire.embedders.fastembed import FastEmbed
from cofire.errors import EmbedderFailed, EmbedderUnavailable, install_command


class StandIn:
    made: ClassVar[list[dict[str, Any]]] = []

    def __init__(self, **options: Any) -> None:
        if options["model_name"] == "missing":
            raise ValueError("not supported")
        self.made.append(options)
        self.asked: list[tuple[str, list[str], int]] = []

    def query_embed(self, texts: list[str], batch_size: int) -> Iterator[Any]:
        return self._embed("query", texts, batch_size)

    def passage_embed(self, texts: list[str], batch_size: int) -> Iterator[Any]:
        return self._embed("passage", texts, batch_size)

    def _embed(self, how: str, texts: list[str], batch_size: int) -> Iterator[Any]:
        self.asked.append((how, texts, batch_size))
        for text in texts:
            if text == "explode":
                raise RuntimeError("out of memory")
            yield np.full(4, 2.0)


@pytest.fixture(autouse=True)
def package(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("fastembed")
    module.TextEmbedding = StandIn  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fastembed", module)
    monkeypatch.setattr(StandIn, "made", [])


def test_the_model_is_loaded_with_the_first_text() -> None:
    embedder = FastEmbed("bge")
    assert StandIn.made == []
    assert embedder.embed(["a", "b"], "fact").tolist() == [[0.5] * 4] * 2
    assert StandIn.made == [{"model_name": "bge", "threads": 1}]


def test_the_dimension_is_learned() -> None:
    assert FastEmbed("bge").model == Model("bge", 4)


@pytest.mark.parametrize(("role", "how"), [("question", "query"), ("fact", "passage")])
def test_each_role_is_read_in_its_way(role: Role, how: str) -> None:
    embedder = FastEmbed("bge", batch=5, question_prefix="Q ", fact_prefix="F ")
    embedder.embed(["a"], role)
    prefix = "Q " if role == "question" else "F "
    assert embedder._embedding.get().asked == [(how, [f"{prefix}a"], 5)]


def test_a_model_that_cannot_be_loaded_is_named() -> None:
    with pytest.raises(EmbedderUnavailable, match="not supported") as caught:
        FastEmbed("missing").embed(["a"], "fact")
    assert "missing" in caught.value.way_out


def test_a_failure_is_translated() -> None:
    with pytest.raises(EmbedderFailed, match="out of memory"):
        FastEmbed("bge").embed(["explode"], "fact")


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(EmbedderUnavailable) as caught:
        FastEmbed("bge").embed(["a"], "fact")
    assert install_command("fastembed") in caught.value.way_out
