"""Recall quality over evaluation sets: the command `cofire bench quality`, run from the repository.

python benchmarks/quality.py DATA_FOLDER… [--sets musique,locomo] [--arms bm25,default] [--out figures.json] [--cache FOLDER]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cofire.cli.app import run_command


def main(arguments: Sequence[str]) -> int:
    return run_command(["bench", "quality", *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
