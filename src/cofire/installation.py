"""How this copy of cofire was installed, and the commands that extend or start it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PACKAGE_FOLDER = Path(__file__).parent
# Built from web/ by hatch_build.py; `cofire serve` shows it.
PAGE_FOLDER = PACKAGE_FOLDER / "http" / "page"


def install_command(extra: str) -> str:
    """The command that installs cofire with an extra from where it was installed: an index, a folder, a wheel or a repository."""
    source = _read_direct_url()
    if source is None:
        return f'pip install "cofire[{extra}]"'
    if source.get("dir_info", {}).get("editable"):
        return f'pip install --editable "{_local_path(source)}[{extra}]"'
    return f'pip install "cofire[{extra}] @ {_requirement_url(source)}"'


def upgrade_command() -> str:
    """The command that installs the newest cofire from where this one was installed."""
    source = _read_direct_url()
    if source is None:
        return "pip install --upgrade cofire"
    if source.get("dir_info", {}).get("editable"):
        return f"git -C {_local_path(source)} pull"
    return f'pip install --upgrade "cofire @ {_requirement_url(source)}"'


def launch_command(extra: str) -> list[str]:
    """What another program runs to start cofire: uvx for a copy from an index, and else this installation."""
    if _read_direct_url() is None:
        return ["uvx", "--from", f"cofire[{extra}]", "cofire"]
    return [sys.executable, "-m", "cofire"]


def page_is_built(folder: Path | None = None) -> bool:
    return ((folder or PAGE_FOLDER) / "index.html").is_file()


def missing_page_way_out() -> str:
    """What to do about a page that is missing. Only in a clone can it be built."""
    clone = PACKAGE_FOLDER.parents[1]
    if (clone / "hatch_build.py").is_file():
        return f"Install Node.js 20 or newer and run: sh {clone / 'scripts' / 'demo.sh'}"
    return "Install cofire again from a wheel or an sdist that holds the page."


def _read_direct_url() -> dict[str, Any] | None:
    """Where a copy that did not come from an index was installed from (PEP 610)."""
    from importlib.metadata import (
        PackageNotFoundError,
        distribution,  # slow to import, and needed for errors only
    )

    try:
        record = distribution("cofire").read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    return json.loads(record) if record else None


def _local_path(source: dict[str, Any]) -> str:
    return str(source["url"]).removeprefix("file://")


def _requirement_url(source: dict[str, Any]) -> str:
    repository = source.get("vcs_info", {}).get("vcs")
    return f"{repository}+{source['url']}" if repository else str(source["url"])
