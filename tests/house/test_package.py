"""The built packages: all that is needed, and no more."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from scripts.house import PACKAGE, ROOT


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(folder)], cwd=ROOT, check=True)
    return folder


def test_wheel_holds_the_whole_package_and_nothing_else(built: Path) -> None:
    [wheel] = built.glob("*.whl")
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    sources = {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "cofire/py.typed" in inside
    assert inside == sources


def test_wheel_carries_licence_and_command(built: Path) -> None:
    [wheel] = built.glob("*.whl")
    archive = zipfile.ZipFile(wheel)
    [licence] = [name for name in archive.namelist() if name.endswith("licenses/LICENSE")]
    [commands] = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
    assert archive.read(licence) == (ROOT / "LICENSE").read_bytes()
    assert b"cofire = cofire.doors.cli.main:main" in archive.read(commands)


def test_sdist_holds_sources_and_no_litter(built: Path) -> None:
    [sdist] = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "src/cofire/py.typed"} <= inside
    places = {name.partition("/")[0] for name in inside}
    assert places <= {
        *("src", "tests", "scripts", "requirements", "docs", "benchmarks", "web", "plugins", "PKG-INFO", ".gitignore"),
        *("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md"),
    }
    assert [name for name in inside if name.endswith((".pyc", ".db", ".db-wal")) or "node_modules" in name] == []
