#!/bin/sh
# Set cofire up in this folder and show what it does. Arguments go to `cofire demo`.
set -eu
. "$(dirname "$0")/setup.sh"

environment core
if command -v npm >/dev/null; then page; fi
exec "$venv/bin/cofire" demo "$@"
