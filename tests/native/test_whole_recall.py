"""A whole memory: the same story gives the same answers whether the kernels are there or not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cofire.index.native import SWITCH
from tests.native import story
from tests.native.conditions import NEEDS_LIBRARY

pytestmark = NEEDS_LIBRARY

ROOT = Path(__file__).parents[2]
CLOSE = 1e-6


@cache
def told(switch: str) -> Any:
    """What another process finds, with the kernels switched on or off."""
    environment = {**os.environ, SWITCH: switch}
    ran = subprocess.run(
        [sys.executable, "-m", "tests.native.story"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_one_process_has_the_kernels_and_the_other_has_not() -> None:
    assert (told("on")["compiled"], told("off")["compiled"]) == (True, False)


@pytest.mark.parametrize("kind", ["words", "vectors"])
def test_the_same_story_gives_the_same_answers(kind: str) -> None:
    compiled, numpy = (told(switch)["found"][kind] for switch in ("on", "off"))
    assert len(compiled) == 3 * len(story.QUESTIONS) * len(story.MODES)
    for one, other in zip(compiled, numpy, strict=True):
        assert [text for text, _ in one] == [text for text, _ in other]
        assert [score for _, score in one] == pytest.approx([score for _, score in other], abs=CLOSE)


@pytest.mark.parametrize("kind", ["words", "vectors"])
def test_the_story_has_an_answer_to_most_questions(kind: str) -> None:
    found = told("on")["found"][kind]
    assert sum(map(bool, found)) > len(found) / 2
