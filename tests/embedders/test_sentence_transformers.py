"""Calls to the package sentence-transformers, which a fake replaces."""

import sys
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest

from cofire.embedders.base import Model
from cofire.embedders.sentence_transformers import SentenceTransformers
from cofire.errors import EmbedderFailed, EmbedderUnavailable, install_command


class StandIn:
    made: ClassVar[list[tuple[str, str | None]]] = []

    def __init__(self, model: str, device: str | None) -> None:
        if model == "missing":
            raise OSError("no such model on the hub {}")
        self.made.append((model, device))
        self.prompts = {"query": "ask: ", "passage": "tell: "}
        self.asked: list[tuple[list[str], dict[str, Any]]] = []

    def encode(self, texts: list[str], **options: Any) -> Any:
        if "explode" in texts:
            raise RuntimeError("out of memory")
        self.asked.append((texts, options))
        return np.full((len(texts), 4), 2.0)


@pytest.fixture(autouse=True)
def package(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("sentence_transformers")
    module.SentenceTransformer = StandIn  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setattr(StandIn, "made", [])


def asked_by(embedder: SentenceTransformers) -> list[tuple[list[str], dict[str, Any]]]:
    asked: list[tuple[list[str], dict[str, Any]]] = embedder._transformer.get().asked
    return asked


def test_the_model_is_loaded_with_the_first_text() -> None:
    embedder = SentenceTransformers("mini", device="cpu")
    assert StandIn.made == []
    vectors = embedder.embed(["a", "b"], "fact")
    assert StandIn.made == [("mini", "cpu")]
    assert vectors.tolist() == [[0.5] * 4] * 2


def test_the_dimension_is_learned() -> None:
    assert SentenceTransformers("mini").model == Model("mini", 4)


def test_the_models_own_prompts_are_used() -> None:
    embedder = SentenceTransformers("mini", batch=7)
    embedder.embed(["a"], "fact")
    embedder.embed(["a"], "question")
    quiet = {"batch_size": 7, "show_progress_bar": False}
    assert asked_by(embedder) == [(["a"], {"prompt": "tell: ", **quiet}), (["a"], {"prompt": "ask: ", **quiet})]


def test_a_given_prefix_takes_the_place_of_a_prompt() -> None:
    embedder = SentenceTransformers("mini", question_prefix="query: ")
    embedder.embed(["a"], "question")
    [(texts, options)] = asked_by(embedder)
    assert texts == ["query: a"]
    assert options["prompt"] == ""


def test_a_model_that_cannot_be_loaded_is_named() -> None:
    with pytest.raises(EmbedderUnavailable, match="no such model on the hub") as caught:
        SentenceTransformers("missing").embed(["a"], "fact")
    assert "missing" in caught.value.way_out


def test_a_failure_is_translated() -> None:
    with pytest.raises(EmbedderFailed, match="out of memory"):
        SentenceTransformers("mini").embed(["explode"], "fact")


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(EmbedderUnavailable) as caught:
        SentenceTransformers("mini").embed(["a"], "fact")
    assert install_command("sentence-transformers") in caught.value.way_out


def test_a_closed_one_loads_again() -> None:
    embedder = SentenceTransformers("mini")
    embedder.embed(["a"], "fact")
    embedder.close()
    embedder.embed(["a"], "fact")
    assert len(StandIn.made) == 2
