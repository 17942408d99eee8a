"""The version, commit, machine and settings behind measured figures, and the file they go to."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import cofire
from cofire.index.native import LIBRARY
from cofire.settings.table import Settings

PACKAGE_FOLDER = Path(cofire.__file__).resolve().parent

# Only a list has a line end behind its bracket: within a string it is spelled out.
_NUMBER_LIST = re.compile(r"\[\n([\s\d.,e+-]+)\]")


def collect_provenance(settings: Settings) -> dict[str, Any]:
    """What a reader must know to trust a figure, or to measure it again."""
    return {
        "cofire": cofire.__version__,
        "commit": _run_git("rev-parse", "HEAD"),
        "modified": bool(_run_git("status", "--porcelain", "--", ".")),
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": describe_machine(),
        "settings": {knob.name: value for knob, value in settings},
    }


def describe_machine() -> dict[str, Any]:
    return {
        "cpu": _find_cpu_name(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "kernels": "numpy" if LIBRARY is None else "compiled",
    }


def format_provenance(known: dict[str, Any]) -> str:
    """One line to print above a table."""
    host = known["machine"]
    commit = f"{known['commit'][:12]}{', modified' * known['modified']}" if known["commit"] else "no commit"
    return (
        f"cofire {known['cofire']} ({commit}); {host['cpu']}, {host['cores']} cores, load {host['load']}, "
        f"Python {host['python']}, {host.get('kernels', 'numpy')} kernels"
    )


def write_json(figures: dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(format_json(figures) + "\n", encoding="utf-8")


def format_json(figures: dict[str, Any]) -> str:
    """Figures as JSON to read, each list of numbers on one line.

    >>> print(format_json({"shares": [0.5, 1.0]}))
    {
      "shares": [0.5, 1.0]
    }
    """
    return _NUMBER_LIST.sub(
        lambda found: f"[{' '.join(found[1].split())}]", json.dumps(figures, indent=2, ensure_ascii=False)
    )


def _run_git(*command: str) -> str | None:
    """What git says of the package that is measured; None without git, or outside of a repository."""
    try:
        said = subprocess.run(["git", *command], cwd=PACKAGE_FOLDER, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return said.stdout.strip()


def _find_cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
