"""A store that was opened before a fork: the child is refused, the parent goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

STORY = """
import os, sys
from cofire import CofireError, Memory

def said(verb):
    try:
        return str(verb())
    except CofireError as error:
        return f"{type(error).__name__}: {error}"

memory = Memory(sys.argv[1], embedder=None)
memory.remember("The gate opens at six.")
memory.recall("When does the gate open?")
child = os.fork()
if not child:
    print(said(lambda: memory.recall("When does the gate open?")), said(lambda: memory.remember("It rains.")), sep="\\n")
    memory.close()
    with Memory(sys.argv[1], embedder=None) as anew:
        print(len(anew.recall("When does the gate open?")), flush=True)
    os._exit(0)
os.waitpid(child, 0)
memory.remember("The gate closes at nine.")
print(len(memory.facts()), memory.check())
"""


def test_a_child_opens_anew_and_the_parent_goes_on(tmp_path: Path) -> None:
    script = [sys.executable, "-c", STORY, str(tmp_path / "team.db")]
    ran = subprocess.run(script, capture_output=True, text=True, timeout=120, check=True)
    recalled, remembered, anew, parent = ran.stdout.splitlines()
    assert recalled.startswith("StoreClosed: The store ")
    assert "was opened before a fork" in recalled
    assert remembered == recalled
    assert anew == "1"
    assert parent == "2 []"


def test_a_store_in_memory_is_the_childs_own(tmp_path: Path) -> None:
    script = [sys.executable, "-c", STORY.split("child = ", maxsplit=1)[0] + IN_MEMORY, ":memory:"]
    ran = subprocess.run(script, capture_output=True, text=True, timeout=120, check=True)
    assert ran.stdout.splitlines() == ["2", "1"]


IN_MEMORY = """
child = os.fork()
if not child:
    memory.remember("It rains.")
    print(len(memory.facts()), flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(len(memory.facts()))
"""
