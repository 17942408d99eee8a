#!/bin/sh
# Set up cofire in this folder and run the demo. Arguments are passed to `cofire demo`.
set -eu
. "$(dirname "$0")/setup.sh"

environment core
# The demo also runs without kernels: the subshell keeps their failure from ending it.
(kernels) || say "continuing without compiled kernels; numpy computes the same, more slowly"
if command -v npm >/dev/null; then page; fi
exec "$venv/bin/cofire" demo "$@"
