"""The version, commit, machine and settings behind measured figures, and their file."""

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
from cofire.index.native import IS_COMPILED
from cofire.settings.table import Settings

PACKAGE_FOLDER = Path(cofire.__file__).resolve().parent

# Only in a list is the bracket followed by a newline: in a string it is escaped.
_NUMBER_LIST = re.compile(r"\[\n([\s\d.,e+-]+)\]")


def collect_provenance(settings: Settings) -> dict[str, Any]:
    """Everything that is needed to interpret or reproduce a figure."""
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
        "kernels": "compiled" if IS_COMPILED else "numpy",
    }


def format_provenance(figures: dict[str, Any]) -> str:
    """One line for the heading of a table."""
    host = figures["machine"]
    commit = f"{figures['commit'][:12]}{', modified' * figures['modified']}" if figures["commit"] else "no commit"
    return (
        f"cofire {figures['cofire']} ({commit}); {host['cpu']}, {host['cores']} cores, load {host['load']}, "
        f"Python {host['python']}, {host.get('kernels', 'numpy')} kernels"
    )


def write_json(figures: dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(format_json(figures) + "\n", encoding="utf-8")


def format_json(figures: dict[str, Any]) -> str:
    """Indented JSON with each list of numbers on one line.

    >>> print(format_json({"shares": [0.5, 1.0]}))
    {
      "shares": [0.5, 1.0]
    }
    """
    return _NUMBER_LIST.sub(
        lambda match: f"[{' '.join(match[1].split())}]", json.dumps(figures, indent=2, ensure_ascii=False)
    )


def _run_git(*command: str) -> str | None:
    """The output of git in the package folder. None without git, or outside a repository."""
    try:
        result = subprocess.run(["git", *command], cwd=PACKAGE_FOLDER, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return result.stdout.strip()


def _find_cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
