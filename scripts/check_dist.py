"""Check built packages before a release: python -m scripts.check_dist dist/*

A wheel must contain the page and the compiled kernels of its platform; the sdist the page and the sources of the kernels.
"""

from __future__ import annotations

import re
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import hatch_build

PAGE_FOLDER = hatch_build.PAGE.relative_to(hatch_build.ROOT / "src").as_posix()
# The first bytes of a library of each platform: the magic number, and the processor type (ELF: byte 18, Mach-O: byte 4).
LIBRARY_STARTS: dict[str, Callable[[bytes], bool]] = {
    "manylinux_2_17_x86_64": lambda data: data[:4] == b"\x7fELF" and data[18] == 0x3E,
    "manylinux_2_17_aarch64": lambda data: data[:4] == b"\x7fELF" and data[18] == 0xB7,
    "macosx_11_0_x86_64": lambda data: data[:8] == b"\xcf\xfa\xed\xfe\x07\x00\x00\x01",
    "macosx_11_0_arm64": lambda data: data[:8] == b"\xcf\xfa\xed\xfe\x0c\x00\x00\x01",
    "win_amd64": lambda data: data[:2] == b"MZ",
}
SUFFIX_OF_TAG = {target.wheel_tag: target.suffix for target in hatch_build.TARGETS.values()}


def check_wheel(path: Path) -> list[str]:
    """The problems of a wheel; empty if there are none."""
    tag = path.stem.split("-")[-1]
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        problems = check_page(names, archive.read, PAGE_FOLDER)
        if tag not in SUFFIX_OF_TAG:
            return [*problems, f"is for {tag}, which is no platform of a release: {', '.join(SUFFIX_OF_TAG)}"]
        library = f"cofire/index/cofire_kernels{SUFFIX_OF_TAG[tag]}"
        if library not in names:
            problems.append(f"has no kernels: {library} is missing")
        elif not LIBRARY_STARTS[tag](archive.read(library)):
            problems.append(f"has kernels for another platform than {tag}")
    return problems


def check_sdist(path: Path) -> list[str]:
    """The problems of an sdist; empty if there are none."""
    with tarfile.open(path) as archive:
        top = archive.getnames()[0].partition("/")[0]
        names = {name.partition("/")[2] for name in archive.getnames()}

        def read(name: str) -> bytes:
            member = archive.extractfile(f"{top}/{name}")
            return member.read() if member else b""

        problems = check_page(names, read, f"src/{PAGE_FOLDER}")
    sources = [hatch_build.SOURCE.relative_to(hatch_build.ROOT).as_posix()]
    missing = [name for name in ["hatch_build.py", *sources] if name not in names]
    return [*problems, *(f"lacks {name}" for name in missing)]


def check_page(names: set[str], read: Callable[[str], bytes], folder: str) -> list[str]:
    """Report a missing page, or missing files that its index.html names."""
    index = f"{folder}/index.html"
    if index not in names:
        return [f"has no page: {index} is missing"]
    assets = re.findall(r'(?:src|href)="\./([^"]+)"', read(index).decode())
    return [f"has an incomplete page: {asset} is missing" for asset in assets if f"{folder}/{asset}" not in names]


def check(path: Path) -> list[str]:
    if path.suffix == ".whl":
        return check_wheel(path)
    if path.name.endswith(".tar.gz"):
        return check_sdist(path)
    return ["is neither a wheel nor an sdist"]


def main(paths: list[Path]) -> int:
    problems = [f"{path.name} {problem}" for path in paths for problem in check(path)]
    if not paths:
        problems = ["There is nothing to check. Build first: sh scripts/release.sh"]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main([Path(argument) for argument in sys.argv[1:]]))
