"""Where this copy of cofire is installed: the command that starts it, and the folder of the web page."""

from __future__ import annotations

import sys
from pathlib import Path

from cofire.errors import read_install_source

PACKAGE_FOLDER = Path(__file__).parents[1]
# Built from web/ by hatch_build.py and served by `cofire serve`.
PAGE_FOLDER = PACKAGE_FOLDER / "http" / "page"


def launch_command(extra: str) -> list[str]:
    """The command by which other programs start cofire: uvx if it came from a package index, else this installation."""
    if read_install_source() is None:
        return ["uvx", "--from", f"cofire[{extra}]", "cofire"]
    return [sys.executable, "-m", "cofire"]


def page_is_built(folder: Path | None = None) -> bool:
    return ((folder or PAGE_FOLDER) / "index.html").is_file()


def missing_page_way_out() -> str:
    """How to get the missing page. Only a clone of the repository can build it."""
    clone = PACKAGE_FOLDER.parents[1]
    if (clone / "hatch_build.py").is_file():
        return f"Install Node.js 20 or newer and run: sh {clone / 'scripts' / 'demo.sh'}"
    return "Reinstall cofire from a wheel or an sdist that contains the page."
