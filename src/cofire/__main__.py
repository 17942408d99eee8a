"""Run the command line with python -m cofire."""

from __future__ import annotations

import sys

from cofire.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
