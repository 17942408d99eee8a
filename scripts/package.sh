#!/bin/sh
# Build the wheel and the sdist into dist/, install the wheel into an empty environment and use it there.
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

say "installing the wheel into an empty environment"
empty=$(mktemp -d "$root/.tools/empty.XXXXXX")
trap 'rm -rf "$empty"' EXIT
trap 'exit 1' HUP INT TERM
quietly "$uv" venv --quiet --python "$python" "$empty/venv"
quietly "$uv" pip install --quiet --python "$empty/venv" --require-hashes --requirement requirements/core.txt
quietly "$uv" pip install --quiet --python "$empty/venv" --no-deps dist/*.whl
quietly "$uv" pip check --quiet --python "$empty/venv"

say "using it there"
mkdir "$empty/home"
cd "$empty/home"
quietly env -i PATH="$PATH" HOME="$empty/home" "$empty/venv/bin/cofire" --version
quietly env -i PATH="$PATH" HOME="$empty/home" "$empty/venv/bin/cofire" demo
