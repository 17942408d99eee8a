"""Build the kernels: the C sources in src/cofire/kernels, compiled into the one library that lies beside them.

python hatch_build.py    builds it in place; packaging does so for each wheel
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags

ROOT = Path(__file__).resolve().parent
KERNELS = ROOT / "src" / "cofire" / "kernels"
# As in kernels/library.py, which cannot be loaded before numpy is there.
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
LIBRARY = KERNELS / f"cofire_kernels{SUFFIX}"

# As in kernels/library.py too: who leaves kernels alone need not build them.
SWITCH = "COFIRE_KERNELS"

NO_COMPILER = (
    "The kernels are not built, as there is no C compiler: numpy does the same, slower. "
    "Install gcc or clang, or name another compiler with CC=…, and build again."
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


class CompilerFailed(Exception):
    """There is a compiler, and it did not do what it was asked for."""


class KernelsHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the library into the wheel, which is then for one platform; without a compiler it is the same wheel for all."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if os.environ.get(SWITCH) == "off":
            return
        command = compiler()
        if command is None:
            self.app.display_warning(NO_COMPILER)
            return
        try:
            build(command)
        except CompilerFailed as failure:
            self.app.abort(str(failure))
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag(command)}"
        build_data["artifacts"].append(LIBRARY.relative_to(ROOT).as_posix())


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
        run([*command, *flags(command), *map(str, sorted(KERNELS.glob("*.c"))), *UNIX_FLAGS, "-o", str(made)])
        os.replace(made, LIBRARY)


def run(command: Command) -> None:
    """Run a compiler and show what it says, which is nothing if all is well."""
    try:
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    except OSError as error:
        raise CompilerFailed(
            f"The C compiler {command[0]} cannot be run ({error}). Name another one with CC=…"
        ) from error
    if ran.returncode:
        raise CompilerFailed(
            f"The kernels could not be compiled. Mend the compiler, name another one with CC=…, or do without them: {SWITCH}=off\n"
            f"{shlex.join(command)}\n{ran.stdout}"
        )
    sys.stderr.write(ran.stdout)


def flags(command: Command) -> Command:
    """What a compiler is told. zig builds for the processor at hand unless told otherwise, and needs help to ask what that can do."""
    if not is_zig(command):
        return FLAGS
    major, minor = OLDEST_GLIBC
    target = ["-target", f"{platform.machine()}-linux-gnu.{major}.{minor}"] if is_for_old_linux(command) else []
    return [*FLAGS, *target, "-mcpu=baseline", "-include", str(KERNELS / "processor.h")]


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


def main() -> int:
    command = compiler()
    if command is None:
        print(NO_COMPILER, file=sys.stderr)
        return 1
    try:
        build(command)
    except CompilerFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    print(f"Built {LIBRARY.relative_to(ROOT)} with {shlex.join(command)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
