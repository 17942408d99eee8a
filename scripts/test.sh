#!/bin/sh
# All checks: lint, format, types, the built packages, tests.
# With arguments, only pytest with these arguments: sh scripts/test.sh tests/house -k imports
set -eu
. "$(dirname "$0")/setup.sh"

environment dev
kernels
if command -v npm >/dev/null; then page; fi
browser
cd "$root"
if [ $# -gt 0 ]; then
    exec "$venv/bin/python" -m pytest "$@"
fi
# Maven mostly waits for the network, so the checks run meanwhile.
neo4j_jars &
fetching=$!

say "ruff check"
"$venv/bin/ruff" check --quiet
say "ruff format"
"$venv/bin/ruff" format --check --quiet
say "mypy"
"$venv/bin/mypy" --no-error-summary
sh scripts/package.sh
wait "$fetching"
say "pytest"
exec "$venv/bin/python" -m pytest --quiet --numprocesses 2 --dist loadgroup
