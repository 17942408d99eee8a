#!/bin/sh
# Pin every dependency with its hashes, for all platforms and Pythons, naming no host. `--upgrade` takes newer versions.
set -eu
. "$(dirname "$0")/setup.sh"

get_uv
cd "$root"

pin() {
    lock=$1
    shift
    say "requirements/$lock"
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
        --no-emit-index-url --no-emit-find-links --output-file "requirements/$lock" "$@"
}

pin dev.txt pyproject.toml --extra remote --extra usearch --extra neo4j --extra mcp --extra serve --group dev "$@"
pin core.txt pyproject.toml --constraint requirements/dev.txt "$@"
pin build.txt --group build --constraint requirements/dev.txt "$@"
pin tools.txt --group tools "$@"
pin compiler.txt --group compiler "$@"

# The lock needs the packages of every platform, without addresses. npm omits some packages when it omits
# addresses, so the addresses are removed afterwards.
say "web/package-lock.json"
cd web
rm -rf node_modules
[ "${1:-}" != --upgrade ] || rm -f package-lock.json
quietly npm install --package-lock-only --omit-lockfile-registry-resolved=false --no-audit --no-fund
node --eval '
    const fs = require("node:fs");
    const lock = JSON.parse(fs.readFileSync("package-lock.json", "utf8"));
    for (const part of Object.values(lock.packages)) delete part.resolved;
    fs.writeFileSync("package-lock.json", JSON.stringify(lock, null, 2) + "\n");
'
