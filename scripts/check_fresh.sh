#!/bin/sh
# Run both commands of the README in a new clone of the last commit, with an empty home,
# an empty Maven repository, and no caches. Each step is logged with the seconds since the start.
# Set an index or a mirror that only your home folder configures in the environment (PIP_INDEX_URL,
# NPM_CONFIG_REGISTRY, MAVEN_OPTS). Arguments are passed to the test command: sh scripts/check_fresh.sh tests/house tests/stores/test_neo4j_opening.py
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/cofire-fresh.XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
started=$(date +%s)

# Print each input line after the seconds since the start.
with_times() {
    while IFS= read -r line; do
        printf '%5d s  %s\n' "$(($(date +%s) - started))" "$line"
    done
}

# Run a command in the clone. Only the path and the variables of indexes, proxies and certificates are kept.
run_fresh() {
    echo "\$ $*"
    (
        cd "$folder/cofire"
        for name in $(env | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p'); do
            case $name in
                PATH | LANG | LC_* | TERM | PYTHON | CC | JAVA_HOME | MAVEN_OPTS | CI) ;;
                PIP_* | NPM_CONFIG_* | npm_config_* | NODE_EXTRA_CA_CERTS | SSL_CERT_* | REQUESTS_CA_BUNDLE | CURL_CA_BUNDLE) ;;
                *_PROXY | *_proxy | UV_DEFAULT_INDEX | UV_INDEX* | UV_FIND_LINKS) ;;
                *) unset "$name" 2>/dev/null || true ;;
            esac
        done
        export HOME="$folder/home" MAVEN_OPTS="${MAVEN_OPTS:-} -Dmaven.repo.local=$folder/maven"
        "$@"
    )
}

both_commands() {
    run_fresh sh scripts/demo.sh && run_fresh sh scripts/test.sh "$@"
}

mkdir "$folder/home"
git clone --quiet --no-local "$source" "$folder/cofire"
# The status of a pipe is that of its last command, so the status of the first is kept in a file.
{ if both_commands "$@" 2>&1; then : >"$folder/passed"; fi; } | with_times
echo "total: $(($(date +%s) - started)) s"
[ -f "$folder/passed" ]
