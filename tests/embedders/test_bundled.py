"""The bundled embedder: any text becomes a unit vector, and the model is loaded lazily and once."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from cofire.embedders import bundled as module
from cofire.embedders.base import Model
from cofire.embedders.bundled import BundledEmbedder

WEIRD = [
    "",
    " ",
    "\n\t\r",
    "\x00",
    "\ud800",
    "👨‍👩‍👧🇩🇪",
    "مرحبا بالعالم",
    "日本語",
    "e\u0301" * 50,
    "\u200b",
    "�",
    "a" * 5_000,
]


def test_the_model_is_known_before_it_is_loaded() -> None:
    sha256 = "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd"
    assert BundledEmbedder().model == Model("granite-embedding-30m-english", 384, fingerprint=sha256)


def test_making_one_loads_no_runtime() -> None:
    program = """
import sys
from cofire.embedders.bundled import BundledEmbedder
embedder = BundledEmbedder()
embedder.model, embedder.mean, embedder.resting
print("onnxruntime" in sys.modules)
embedder.embed(["text"], "fact")
print("onnxruntime" in sys.modules)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "True"]


def test_rows_are_unit_vectors_of_single_precision(bundled: BundledEmbedder) -> None:
    vectors = bundled.embed(["one text", "and another one"], "fact")
    assert vectors.shape == (2, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_no_texts_give_no_rows(bundled: BundledEmbedder) -> None:
    assert bundled.embed([], "fact").shape == (0, 384)


def test_texts_about_one_thing_are_closer_than_others(bundled: BundledEmbedder) -> None:
    pool, mode, pie = bundled.embed(
        [
            "PostgreSQL connection pooling is configured via PgBouncer.",
            "PgBouncer sessions should be set to transaction mode.",
            "Grandma's apple pie",
        ],
        "fact",
    )
    assert pool @ mode > pool @ pie + 0.2


def test_facts_and_questions_are_read_alike(bundled: BundledEmbedder) -> None:
    np.testing.assert_array_equal(bundled.embed(["a text"], "fact"), bundled.embed(["a text"], "question"))


def test_rows_come_in_the_order_of_the_texts(bundled: BundledEmbedder) -> None:
    texts = ["a much longer text than the others in here", "short", "of middle length", "brief"]
    vectors = bundled.embed(texts, "fact")
    np.testing.assert_array_equal(vectors[::-1], bundled.embed(texts[::-1], "fact"))
    assert len(np.unique(vectors, axis=0)) == len(texts)


@pytest.mark.parametrize("text", WEIRD, ids=lambda text: ascii(text)[:20])
def test_any_text_has_a_vector(bundled: BundledEmbedder, text: str) -> None:
    [vector] = bundled.embed([text], "fact")
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


def test_many_threads_load_the_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []
    load = module.load_granite
    monkeypatch.setattr(module, "SHARED_MODELS", module.SharedModels())
    monkeypatch.setattr(module, "load_granite", lambda path: loaded.append(path) or load(path))
    embedder = BundledEmbedder()
    with ThreadPoolExecutor(8) as threads:
        rows = list(threads.map(lambda _: embedder.embed(["the same text"], "fact"), range(8)))
    assert len(loaded) == 1
    assert all((row == rows[0]).all() for row in rows)


def test_a_closed_one_opens_again() -> None:
    embedder = BundledEmbedder()
    before = embedder.embed(["text"], "fact")
    embedder.close()
    np.testing.assert_array_equal(embedder.embed(["text"], "fact"), before)
