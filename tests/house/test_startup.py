"""What is not needed is not loaded: importing cofire and asking for help are quick."""

import subprocess
import sys

HEAVY = {"apsw", "numpy", "onnxruntime", "rich", "typer"}
SHOW_MODULES = "import sys; print(*sorted(sys.modules), file=sys.stderr)"
SHOW_HELP = """
import atexit, sys
atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))
from cofire.cli.main import main
sys.argv = ["cofire", "--help"]
main()
"""


def loaded_by(program: str) -> tuple[str, set[str]]:
    """What the program printed, and the modules it had loaded at its end."""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout, set(ran.stderr.split())


def test_importing_cofire_loads_nothing_heavy() -> None:
    _, loaded = loaded_by(f"import cofire; {SHOW_MODULES}")
    assert "cofire" in loaded
    assert loaded & HEAVY == set()


def test_help_loads_no_numbers() -> None:
    shown, loaded = loaded_by(SHOW_HELP)
    assert "recall" in shown
    assert loaded & {"apsw", "numpy", "onnxruntime"} == set()
