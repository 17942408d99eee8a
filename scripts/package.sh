#!/bin/sh
# Build the wheel and the sdist into dist/, install the wheel into an empty environment and try it.
set -eu
. "$(dirname "$0")/setup.sh"

environment dev
get_uv
kernels
if command -v npm >/dev/null; then page; fi
cd "$root"

say "building the wheel and the sdist"
rm -rf dist
quietly "$venv/bin/python" -m build --no-isolation

try_wheel
