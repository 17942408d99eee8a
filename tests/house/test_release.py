"""What a release is made of: packages from a pristine clone are complete, and incomplete ones are refused."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import hatch_build
from scripts.check_dist import check, main
from scripts.house import ROOT

PAGE = "cofire/http/page/index.html"
needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="There is no npm.")


def run_hatchling(folder: Path, target: str, output: Path, **environment: str) -> str:
    """Build a package of the sources in a folder; what was printed."""
    ran = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(output)],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    return " ".join(ran.stdout.split())


def copy_sources(target: Path) -> Path:
    """The files that git knows, or would after an add: a pristine clone of the state under test."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0"):
        if name and (ROOT / name).is_file() and name.split("/")[0] not in ("tests", "benchmarks", "docs"):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)
    return target


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist of a pristine clone, for which npm builds the page."""
    folder = tmp_path_factory.mktemp("pristine")
    clone = copy_sources(folder / "clone")
    assert not (clone / "src" / PAGE).exists()
    run_hatchling(clone, "sdist", folder / "dist")
    [path] = (folder / "dist").glob("*.tar.gz")
    return path


@needs_npm
def test_the_sdist_of_a_pristine_clone_holds_the_page_and_passes_the_check(sdist: Path) -> None:
    assert check(sdist) == []


@needs_npm
def test_installing_from_the_sdist_needs_no_npm(sdist: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    [folder] = (tmp_path / "unpacked").iterdir()
    printed = run_hatchling(folder, "wheel", tmp_path, PATH=str(tmp_path), COFIRE_KERNELS="off")
    [wheel] = tmp_path.glob("*.whl")
    assert PAGE in zipfile.ZipFile(wheel).namelist()
    assert "there is no npm" not in printed


@needs_npm
def test_pip_install_of_a_pristine_clone_holds_the_page(tmp_path: Path) -> None:
    clone = copy_sources(tmp_path / "clone")
    run_hatchling(clone, "wheel", tmp_path, COFIRE_KERNELS="off")
    [wheel] = tmp_path.glob("*.whl")
    assert PAGE in zipfile.ZipFile(wheel).namelist()


def test_without_npm_the_wheel_of_a_clone_is_built_with_a_warning_and_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clone = copy_sources(tmp_path / "clone")
    printed = run_hatchling(clone, "wheel", tmp_path, PATH=str(tmp_path), COFIRE_KERNELS="off")
    assert "The page is not built, as there is no npm" in printed
    [wheel] = tmp_path.glob("*.whl")
    assert main([wheel]) == 1
    refusal = capsys.readouterr().err
    assert "has no page" in refusal
    assert "no platform of a release" in refusal


def write_wheel(folder: Path, tag: str, files: dict[str, bytes]) -> Path:
    path = folder / f"cofire-0.1.0-py3-none-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


WHOLE_PAGE = {PAGE: b'<script src="./assets/main.js"></script>', PAGE.replace("index.html", "assets/main.js"): b""}
ELF = b"\x7fELF" + bytes(14)
LIBRARY = "cofire/index/cofire_kernels.so"


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({**WHOLE_PAGE, LIBRARY: ELF + b"\x3e"}, ""),
        (WHOLE_PAGE, "has no kernels"),
        ({**WHOLE_PAGE, LIBRARY: ELF + b"\xb7"}, "has kernels for another platform"),
        ({LIBRARY: ELF + b"\x3e"}, "has no page"),
        ({PAGE: WHOLE_PAGE[PAGE], LIBRARY: ELF + b"\x3e"}, "has an incomplete page: assets/main.js"),
    ],
)
def test_an_incomplete_wheel_is_refused(files: dict[str, bytes], problem: str, tmp_path: Path) -> None:
    problems = check(write_wheel(tmp_path, "manylinux_2_17_x86_64", files))
    assert [problem in found for found in problems] == ([True] if problem else [])


def test_a_release_of_nothing_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 1
    assert "nothing to check" in capsys.readouterr().err


def test_an_unknown_platform_is_refused_with_those_there_are() -> None:
    with pytest.raises(hatch_build.BuildFailed, match="linux-x86_64, linux-aarch64, macos-x86_64"):
        hatch_build.find_target("amiga")


def test_the_release_script_builds_every_platform_and_checks_what_it_built() -> None:
    script = (ROOT / "scripts" / "release.sh").read_text(encoding="utf-8")
    [targets] = re.findall(r"set -- (.*)", script)
    assert targets.split() == list(hatch_build.TARGETS)
    assert "-m scripts.check_dist dist/*" in script
    assert not re.search(r"twine|publish |upload", script)


def test_the_workflow_builds_with_the_release_script_and_tries_every_platform() -> None:
    yaml = pytest.importorskip("yaml")
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "packages.yml").read_text(encoding="utf-8"))
    jobs = workflow["jobs"]
    assert "sh scripts/release.sh" in [step.get("run") for step in jobs["build"]["steps"]]
    systems = {re.split(r"-", name)[0] for name in jobs["wheel"]["strategy"]["matrix"]["os"]}
    assert systems == {"ubuntu", "macos", "windows"}
    assert {jobs[name]["needs"] for name in ("wheel", "sdist")} == {"build"}
    assert workflow["permissions"] == {"contents": "read"}
    for job in jobs.values():
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])
