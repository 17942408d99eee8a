"""The built packages: all that is needed, and no more."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import hatch_build
from cofire.index import native
from scripts.house import PACKAGE, ROOT

# Both packages are built once, on one worker.
pytestmark = pytest.mark.xdist_group("package")

# Neither is in a wheel as it stands: sources of the kernels, and what was made from them.
NOT_COPIED = (".c", ".h", ".so", ".dylib", ".dll")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(folder)], cwd=ROOT, check=True)
    return folder


def sources() -> set[str]:
    """What a wheel takes from the package as it is."""
    return {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in NOT_COPIED
    }


def test_wheel_holds_the_whole_package_and_nothing_else(built: Path) -> None:
    [wheel] = built.glob("*.whl")
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    compiled = {f"cofire/index/{native.FILE}"} if hatch_build.compiler() else set()
    assert "cofire/py.typed" in inside
    assert inside == sources() | compiled


def test_wheel_with_kernels_is_for_one_platform_and_every_python(built: Path) -> None:
    [wheel] = built.glob("*.whl")
    command = hatch_build.compiler()
    assert wheel.stem.split("-")[2:] == ["py3", "none", hatch_build.platform_tag(command) if command else "any"]


def test_wheel_carries_licence_and_command(built: Path) -> None:
    [wheel] = built.glob("*.whl")
    archive = zipfile.ZipFile(wheel)
    [licence] = [name for name in archive.namelist() if name.endswith("licenses/LICENSE")]
    [commands] = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
    assert archive.read(licence) == (ROOT / "LICENSE").read_bytes()
    assert b"cofire = cofire.cli.main:main" in archive.read(commands)


def test_sdist_holds_sources_and_no_litter(built: Path) -> None:
    [sdist] = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "src/cofire/py.typed"} <= inside
    assert {hatch_build.SOURCE.relative_to(ROOT).as_posix()} <= inside
    places = {name.partition("/")[0] for name in inside}
    assert places <= {
        *("src", "tests", "scripts", "requirements", "docs", "benchmarks", "web", "plugins", "PKG-INFO", ".gitignore"),
        *("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md"),
    }
    litter = (".pyc", ".db", ".db-wal", native.SUFFIX)
    assert [name for name in inside if name.endswith(litter) or "node_modules" in name] == []
