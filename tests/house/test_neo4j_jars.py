"""Fetching Neo4j's jars: once, complete or not at all, however many test workers start at the same time."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.house import ROOT
from tests import neo4j_jars

WORKERS = 6
# Writes its jars one after the other, slowly, as a download does, and counts its calls.
SLOW_MAVEN = """#!/bin/sh
for word in "$@"; do case $word in -DoutputDirectory=*) folder=${word#*=} ;; esac; done
echo called >>"$(dirname "$0")/calls"
mkdir -p "$folder"
for name in a b c; do sleep 0.1; echo "$name" >"$folder/$name.jar"; done
"""
FAILING_MAVEN = """#!/bin/sh
for word in "$@"; do case $word in -DoutputDirectory=*) folder=${word#*=} ;; esac; done
mkdir -p "$folder"
echo half >"$folder/a.jar"
exit 1
"""
FETCH = (
    "import sys, pathlib, tests.neo4j_jars as jars; print(len(list(jars.fetch(pathlib.Path(sys.argv[1])).glob('*'))))"
)


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder at the head of the path, for a Maven of the test's own."""
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return folder


def install_maven(tools: Path, script: str) -> None:
    (tools / "mvn").write_text(script, encoding="utf-8")
    (tools / "mvn").chmod(0o755)


def test_workers_that_start_together_fetch_once_and_all_find_every_jar(tools: Path, tmp_path: Path) -> None:
    install_maven(tools, SLOW_MAVEN)
    target = tmp_path / "neo4j" / "lib"
    command = [sys.executable, "-c", FETCH, str(target)]
    workers = [
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(WORKERS)
    ]
    outputs = [worker.communicate() for worker in workers]
    assert [output for output, _ in outputs] == ["3\n"] * WORKERS, outputs
    assert (tools / "calls").read_text() == "called\n"


def test_a_fetch_that_fails_leaves_nothing_that_looks_complete(tools: Path, tmp_path: Path) -> None:
    target = tmp_path / "neo4j" / "lib"
    install_maven(tools, FAILING_MAVEN)
    with pytest.raises(subprocess.CalledProcessError):
        neo4j_jars.fetch(target)
    assert not neo4j_jars.is_fetched(target)
    install_maven(tools, SLOW_MAVEN)
    assert sorted(jar.read_text() for jar in neo4j_jars.fetch(target).glob("*")) == ["a\n", "b\n", "c\n"]


def test_the_test_command_fetches_before_its_workers_start() -> None:
    steps = [line.strip() for line in (ROOT / "scripts" / "test.sh").read_text().splitlines()]
    [workers] = [number for number, step in enumerate(steps) if "--numprocesses" in step]
    assert steps.index("neo4j_jars &") < steps.index('wait "$fetching"') < workers


def test_every_test_of_the_shared_server_runs_on_one_worker(request: pytest.FixtureRequest) -> None:
    ungrouped = [
        item.nodeid
        for item in request.session.items
        if "neo4j_url" in getattr(item, "fixturenames", ()) and not item.get_closest_marker("xdist_group")
    ]
    assert ungrouped == []


def test_groups_of_tests_stay_together(request: pytest.FixtureRequest) -> None:
    """pytest-xdist adds the group to the id of a test; where it cannot, each worker starts a server of its own."""
    if hasattr(request.config, "workerinput"):
        grouped = [item for item in request.session.items if item.get_closest_marker("xdist_group")]
        assert [item.nodeid for item in grouped if "@" not in item.nodeid] == []
