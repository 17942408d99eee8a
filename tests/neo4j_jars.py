"""The jars of Neo4j Community, fetched from Maven once into .tools/neo4j.

python tests/neo4j_jars.py    fetches them; scripts/test.sh does so before the test workers start
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VERSION = "5.26.30"
POM = Path(__file__).parent / "neo4j" / "pom.xml"
JARS = Path(__file__).parents[1] / ".tools" / "neo4j" / f"lib-{VERSION}"


def missing_tools() -> list[str]:
    """The programs that are not on the path. Maven is needed only while the jars are not there."""
    needed = ["java"] if is_fetched() else ["java", "mvn"]
    return [tool for tool in needed if shutil.which(tool) is None]


def is_fetched(target: Path = JARS) -> bool:
    return any(target.glob("*.jar"))


def fetch(target: Path = JARS) -> Path:
    """Fetch the jars unless they are there. Any number of processes may call this at the same time: one of them fetches."""
    if is_fetched(target):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with _locked(target.with_name("fetch.lock")):
        if not is_fetched(target):
            _fetch_and_rename(target)
    return target


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file. The system releases it when the process ends, however it ends."""
    import fcntl  # not on Windows, where COFIRE_TEST_NEO4J names a running server

    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _fetch_and_rename(target: Path) -> None:
    """Fetch into a temporary folder and rename it: an interrupted fetch never looks like a complete one."""
    partial = target.with_name(f"{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    command = [
        shutil.which("mvn") or "mvn",
        "-q",
        "-B",
        "-Dstyle.color=never",
        "-f",
        str(POM),
        "dependency:copy-dependencies",
    ]
    command += ["-DincludeScope=runtime", "-DincludeTypes=jar", f"-DoutputDirectory={partial}"]
    subprocess.run(command, check=True)
    shutil.rmtree(target, ignore_errors=True)
    os.rename(partial, target)


def main() -> int:
    if missing := missing_tools():
        print(f"Neo4j needs {' and '.join(missing)} on the path.", file=sys.stderr)
        return 1
    if not is_fetched():
        print("==> fetching Neo4j into .tools", flush=True)
        fetch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
