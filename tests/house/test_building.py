"""How the kernels are built: by which compiler, for whom, and what happens where there is none or it fails."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import hatch_build
from cofire.index import native
from scripts.house import ROOT

ZIG = ["python", "-m", "ziglang", "cc"]


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder that programs are found in, and it is empty; nobody has named a compiler."""
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CC", raising=False)
    return folder


def has_no_zig(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hatch_build, "find_spec", lambda name: None)


def install(tools: Path, *names: str) -> None:
    for name in names:
        (tools / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (tools / name).chmod(0o755)


def wheel(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Build a wheel with no compiler in sight but what the environment names."""
    kept = {name: value for name, value in os.environ.items() if name not in ("CC", "PATH", "PYTHONPATH")}
    return subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        env={**kept, "PATH": str(folder), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_library_is_made_where_it_is_looked_for() -> None:
    assert native.library_path().samefile(hatch_build.LIBRARY)


def test_the_compiler_that_is_named_comes_first(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tools, "cc")
    monkeypatch.setenv("CC", "'my compilers/gcc' -m64")
    assert hatch_build.compiler() == ["my compilers/gcc", "-m64"]


def test_the_first_compiler_that_is_there_is_taken(tools: Path) -> None:
    install(tools, "clang", "gcc")
    assert hatch_build.compiler() == ["gcc"]


def test_zig_is_taken_where_nothing_else_is_there(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hatch_build, "find_spec", lambda name: object())
    assert hatch_build.compiler() == [sys.executable, "-m", "ziglang", "cc"]


def test_there_may_be_no_compiler(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    has_no_zig(monkeypatch)
    assert hatch_build.compiler() is None


def test_in_place_no_compiler_is_a_failure_with_a_way_out(
    tools: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    has_no_zig(monkeypatch)
    assert hatch_build.main([]) == 1
    assert "Install gcc or clang" in capsys.readouterr().err


def test_a_compiler_that_is_not_there_is_a_failure(
    tools: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    assert hatch_build.main([]) == 1
    assert "no-such-compiler cannot be run" in capsys.readouterr().err


def test_nothing_is_built_for_the_processor_at_hand() -> None:
    assert not [flag for flag in hatch_build.flags(["gcc"]) if flag.startswith(("-march", "-mcpu", "-mtune"))]
    assert "-mcpu=baseline" in hatch_build.flags(ZIG)


@pytest.mark.parametrize("command", [ZIG, ["/opt/zig/zig", "cc"], ["zig.exe", "cc"]])
def test_zig_is_known_by_its_name(command: list[str]) -> None:
    assert hatch_build.is_zig(command)


def test_a_folder_of_that_name_is_no_zig() -> None:
    assert not hatch_build.is_zig(["/opt/zig/gcc"])


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_zig_builds_for_old_linuxes(machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hatch_build.platform, "libc_ver", lambda: ("glibc", "2.36"))
    monkeypatch.setattr(hatch_build.platform, "machine", lambda: machine)
    assert hatch_build.platform_tag(ZIG) == f"manylinux_2_17_{machine}"
    assert f"{machine}-linux-gnu.2.17" in hatch_build.flags(ZIG)


def test_without_a_compiler_the_wheel_is_for_everybody_and_says_so(tmp_path: Path) -> None:
    ran = wheel(tmp_path)
    assert ran.returncode == 0, ran.stderr
    [made] = tmp_path.glob("*.whl")
    assert made.name.endswith("-py3-none-any.whl")
    assert [name for name in zipfile.ZipFile(made).namelist() if name.endswith(native.FILE)] == []
    assert "there is no C compiler" in " ".join((ran.stdout + ran.stderr).split())


def test_a_compiler_that_fails_is_quoted_and_ends_the_build(tmp_path: Path) -> None:
    failing = tmp_path / "failing"
    failing.write_text("#!/bin/sh\necho 'signs.c: out of ink'\nexit 1\n", encoding="utf-8")
    failing.chmod(0o755)
    ran = wheel(tmp_path, CC=str(failing))
    assert ran.returncode == 1
    assert "signs.c: out of ink" in ran.stdout + ran.stderr
    assert list(tmp_path.glob("*.whl")) == []


def test_who_leaves_kernels_alone_gets_the_wheel_for_everybody_whatever_the_compiler(tmp_path: Path) -> None:
    built = wheel(tmp_path, CC="false", COFIRE_KERNELS="off")
    assert built.returncode == 0, built.stderr
    assert [path.name.endswith("-py3-none-any.whl") for path in tmp_path.glob("*.whl")] == [True]
