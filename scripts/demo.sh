#!/bin/sh
# Set cofire up in this folder and show what it does. Arguments go to `cofire demo`.
set -eu
. "$(dirname "$0")/setup.sh"

environment core
# The demo runs without kernels too: the parentheses keep a failure of theirs from ending it.
(kernels) || say "going on without compiled kernels: numpy does the same, slower"
if command -v npm >/dev/null; then page; fi
exec "$venv/bin/cofire" demo "$@"
