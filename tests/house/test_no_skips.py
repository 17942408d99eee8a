"""In CI nothing is skipped unseen."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.house import ROOT

SKIPS = """
import pytest

@pytest.mark.skip(reason="node is missing")
def test_marked(): ...

def test_called():
    pytest.skip("node is missing")

def test_imported():
    pytest.importorskip("no_such_package")
"""
OPTIONAL = """
import pytest

@pytest.mark.optional
def test_extra():
    pytest.importorskip("no_such_package")
"""
WHOLE_MODULE = """
import pytest
pytest.importorskip("no_such_package")
"""
EXPECTED_FAILURE = """
import pytest

@pytest.mark.xfail(reason="known")
def test_known():
    assert False
"""


def outcomes(folder: Path, tests: str, *, ci: str) -> tuple[int, dict[str, int]]:
    """The exit code of a pytest run over these tests, and its closing counts."""
    (folder / "test_it.py").write_text(tests, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = optional\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "tests.no_skips", "-p", "no:cacheprovider"]
    ran = subprocess.run(
        [*command, "-c", str(folder / "pytest.ini"), str(folder)],
        cwd=ROOT,
        env={**os.environ, "CI": ci},
        capture_output=True,
        text=True,
        check=False,
    )
    closing = ran.stdout.splitlines()[-1]
    return ran.returncode, {kind: int(count) for count, kind in re.findall(r"(\d+) ([a-z]+)", closing)}


def test_skips_fail_in_ci(tmp_path: Path) -> None:
    code, counts = outcomes(tmp_path, SKIPS, ci="true")
    assert code == 1
    assert counts == {"failed": 2, "error": 1}


def test_skips_are_skips_elsewhere(tmp_path: Path) -> None:
    assert outcomes(tmp_path, SKIPS, ci="") == (0, {"skipped": 3})


def test_a_skipped_module_fails_in_ci(tmp_path: Path) -> None:
    code, counts = outcomes(tmp_path, WHOLE_MODULE, ci="true")
    assert code == 2
    assert counts == {"error": 1}


def test_optional_tests_may_be_skipped_in_ci(tmp_path: Path) -> None:
    assert outcomes(tmp_path, OPTIONAL, ci="true") == (0, {"skipped": 1})


def test_expected_failures_stay_in_ci(tmp_path: Path) -> None:
    assert outcomes(tmp_path, EXPECTED_FAILURE, ci="true") == (0, {"xfailed": 1})


def test_this_run_refuses_skips(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.pluginmanager.has_plugin("tests.no_skips"), "tests/conftest.py loads it with pytest_plugins"
