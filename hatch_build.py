"""Build what a package holds besides Python: the compiled kernels and the page of `cofire serve`.

python hatch_build.py         compiles the kernels in place
python hatch_build.py page    builds the page in place with npm, unless it is up to date

Packaging does both: a wheel gets kernels and page, an sdist gets the page, so that a wheel built from it needs no npm.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags

ROOT = Path(__file__).resolve().parent
INDEX = ROOT / "src" / "cofire" / "index"
SOURCE = INDEX / "native.c"
# As in index/native.py, which cannot be imported before numpy is installed.
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
LIBRARY = INDEX / f"cofire_kernels{SUFFIX}"

# As in index/native.py too: without kernels at run time there is no need to build them.
SWITCH = "COFIRE_KERNELS"
# Names another platform of TARGETS to build a wheel for, with zig.
TARGET_VARIABLE = "COFIRE_BUILD_TARGET"

WEB = ROOT / "web"
PAGE = ROOT / "src" / "cofire" / "http" / "page"
# The fingerprint of the sources that the page was built from.
PAGE_STAMP = ROOT / ".tools" / "page"
# Only an unpacked sdist has this file. Its page was built when the sdist was made.
SDIST_MARK = ROOT / "PKG-INFO"

NO_COMPILER = (
    "The kernels are not built, as there is no C compiler: numpy does the same, slower. "
    "Install gcc or clang, or name another compiler with CC=…, and build again."
)
NO_NPM = (
    "The page is not built, as there is no npm: cofire serve will have its API and no page. "
    "Install Node.js 20 or newer and build again, or build from an sdist, which holds the built page."
)

# No compiler may join a product and a sum into one step, so that all of them build what gives the same numbers. For the processor at
# hand nothing is built: the library finds out itself what it runs on. What only a debugger reads would be three times the rest.
FLAGS = ["-O3", "-g0", "-std=c11", "-ffp-contract=off", "-Wall", "-Wextra", "-shared", "-fvisibility=hidden"]
# Windows knows neither: its code can always be moved, and its mathematics are part of C.
UNIX_FLAGS = [] if sys.platform == "win32" else ["-fPIC", "-lm"]

# The oldest C library that a Linux wheel made by zig runs on, and the processors that zig and wheels call by the same name.
OLDEST_GLIBC = (2, 17)
WHEEL_MACHINES = ("x86_64", "aarch64")

Command = list[str]


class Target(NamedTuple):
    """A platform that zig compiles for from any other one."""

    triple: str
    suffix: str
    wheel_tag: str


TARGETS = {
    "linux-x86_64": Target("x86_64-linux-gnu.2.17", ".so", "manylinux_2_17_x86_64"),
    "linux-aarch64": Target("aarch64-linux-gnu.2.17", ".so", "manylinux_2_17_aarch64"),
    "macos-x86_64": Target("x86_64-macos.11.0", ".dylib", "macosx_11_0_x86_64"),
    "macos-arm64": Target("aarch64-macos.11.0", ".dylib", "macosx_11_0_arm64"),
    "windows-x86_64": Target("x86_64-windows-gnu", ".dll", "win_amd64"),
}


class BuildFailed(Exception):
    """A compiler or npm is there, but could not build."""


class PackageHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the page to sdists and wheels, and the kernels to wheels.

    A wheel with kernels is for one platform. Without a compiler it is a wheel for all platforms, without npm it has no page:
    both print a warning, and scripts/check_dist.py refuses such a wheel for a release.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        try:
            self.add_page()
            if self.target_name == "wheel":
                self.add_kernels(build_data)
        except BuildFailed as failure:
            self.app.abort(str(failure))

    def add_page(self) -> None:
        """Build the page where npm is. pyproject.toml names its folder as an artifact of every target."""
        if page_is_current():
            return
        if shutil.which("npm") is None:
            self.app.display_warning(NO_NPM)
            return
        build_page()

    def add_kernels(self, build_data: dict[str, Any]) -> None:
        if os.environ.get(SWITCH) == "off":
            return
        if name := os.environ.get(TARGET_VARIABLE):
            target = find_target(name)
            library = cross_build(name, target)
            build_data["force_include"][str(library)] = f"cofire/index/{library.name}"
            build_data["tag"] = f"py3-none-{target.wheel_tag}"
        else:
            command = compiler()
            if command is None:
                self.app.display_warning(NO_COMPILER)
                return
            build(command)
            build_data["artifacts"].append(LIBRARY.relative_to(ROOT).as_posix())
            build_data["tag"] = f"py3-none-{platform_tag(command)}"
        build_data["pure_python"] = False


def page_is_current() -> bool:
    """Whether the built page belongs to the sources in web/."""
    if not (PAGE / "index.html").is_file():
        return False
    if SDIST_MARK.is_file():
        return True
    return PAGE_STAMP.is_file() and PAGE_STAMP.read_text(encoding="utf-8") == page_fingerprint()


def page_fingerprint() -> str:
    """A digest of all files that the page is built from."""
    digest = hashlib.sha256()
    for path in sorted(WEB.rglob("*")):
        parts = path.relative_to(WEB).parts
        if path.is_file() and parts[0] not in ("node_modules", "build"):
            digest.update("/".join(parts).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def build_page() -> None:
    """Install the packages of web/package-lock.json and build the page into the Python package."""
    npm = shutil.which("npm") or "npm"
    for arguments in (["ci", "--no-audit", "--no-fund", "--loglevel=error"], ["run", "--silent", "build"]):
        finished = subprocess.run(
            [npm, *arguments], cwd=WEB, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        if finished.returncode:
            raise BuildFailed(
                "The page could not be built. Check that Node.js is version 20 or newer and that npm reaches its registry.\n"
                f"npm {shlex.join(arguments)}\n{finished.stdout}"
            )
    PAGE_STAMP.parent.mkdir(exist_ok=True)
    PAGE_STAMP.write_text(page_fingerprint(), encoding="utf-8")


def find_target(name: str) -> Target:
    if name not in TARGETS:
        raise BuildFailed(f"{TARGET_VARIABLE}={name} is no known platform. Choose one of {', '.join(TARGETS)}.")
    return TARGETS[name]


def cross_build(name: str, target: Target) -> Path:
    """Compile the kernels for another platform with zig, into a folder of its own."""
    command = compiler()
    if command is None or not is_zig(command):
        if find_spec("ziglang") is None:
            raise BuildFailed(f"{TARGET_VARIABLE} needs zig. Install it with: pip install ziglang")
        command = [sys.executable, "-m", "ziglang", "cc"]
    library = ROOT / "build" / name / f"cofire_kernels{target.suffix}"
    library.parent.mkdir(parents=True, exist_ok=True)
    unix_flags = [] if target.suffix == ".dll" else ["-fPIC", "-lm"]
    compile_kernels(command, [*FLAGS, *zig_flags(target.triple)], unix_flags, library)
    return library


def compiler() -> Command | None:
    """How the first C compiler is called that is there; the one that CC names is taken to be there."""
    if named := shlex.split(os.environ.get("CC", ""), posix=os.name != "nt"):
        return named
    if found := next(filter(shutil.which, ("cc", "gcc", "clang")), None):
        return [found]
    return [sys.executable, "-m", "ziglang", "cc"] if find_spec("ziglang") else None


def build(command: Command) -> None:
    """Compile elsewhere and put the library in its place in one step: others may be about to load it."""
    elsewhere = ROOT / "build"
    elsewhere.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=elsewhere) as folder:
        made = Path(folder) / LIBRARY.name
        compile_kernels(command, flags(command), UNIX_FLAGS, made)
        os.replace(made, LIBRARY)


def compile_kernels(command: Command, options: Command, libraries: Command, output: Path) -> None:
    run([*command, *options, str(SOURCE), *libraries, "-o", str(output)])


def run(command: Command) -> None:
    """Run a compiler and show what it says, which is nothing if all is well."""
    try:
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    except OSError as error:
        raise BuildFailed(f"The C compiler {command[0]} cannot be run ({error}). Name another one with CC=…") from error
    if ran.returncode:
        raise BuildFailed(
            f"The kernels could not be compiled. Mend the compiler, name another one with CC=…, or do without them: {SWITCH}=off\n"
            f"{shlex.join(command)}\n{ran.stdout}"
        )
    sys.stderr.write(ran.stdout)


def flags(command: Command) -> Command:
    """The options of a compiler. zig builds for the processor at hand by default."""
    if not is_zig(command):
        return FLAGS
    major, minor = OLDEST_GLIBC
    triple = f"{platform.machine()}-linux-gnu.{major}.{minor}" if is_for_old_linux(command) else ""
    return [*FLAGS, *zig_flags(triple)]


def zig_flags(triple: str) -> Command:
    target = ["-target", triple] if triple else []
    return [*target, "-mcpu=baseline"]


def is_zig(command: Command) -> bool:
    return any(Path(word).stem in ("zig", "ziglang") for word in command)


def is_for_old_linux(command: Command) -> bool:
    """Whether the library runs on older Linuxes than this one: zig brings the C library of each of them."""
    return is_zig(command) and platform.libc_ver()[0] == "glibc" and platform.machine() in WHEEL_MACHINES


def platform_tag(command: Command) -> str:
    """The platform of a wheel: this one, or any Linux from some age on."""
    if is_for_old_linux(command):
        major, minor = OLDEST_GLIBC
        return f"manylinux_{major}_{minor}_{platform.machine()}"
    return next(platform_tags())


def main(arguments: list[str]) -> int:
    try:
        return build_page_in_place() if arguments == ["page"] else build_kernels_in_place()
    except BuildFailed as failure:
        print(failure, file=sys.stderr)
        return 1


def build_page_in_place() -> int:
    if page_is_current():
        return 0
    if shutil.which("npm") is None:
        print(NO_NPM, file=sys.stderr)
        return 1
    print("==> building the page", flush=True)
    build_page()
    return 0


def build_kernels_in_place() -> int:
    command = compiler()
    if command is None:
        print(NO_COMPILER, file=sys.stderr)
        return 1
    build(command)
    print(f"Built {LIBRARY.relative_to(ROOT)} with {shlex.join(command)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
