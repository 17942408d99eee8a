# Sourced by the other scripts: installs uv in .tools and the packages of a lock in .venv, and builds the kernels and the page.
# Each is made again only if its sources, the interpreter or the path of this folder have changed.
# PYTHON chooses the interpreter (default: python3).

root=$(cd "$(dirname "$0")/.." && pwd)
venv=$root/.venv
uv=$root/.tools/uv/bin/uv

export UV_CACHE_DIR="${UV_CACHE_DIR:-$root/.tools/cache}"
export UV_LINK_MODE=copy
export UV_NO_PROGRESS=1
export UV_PYTHON_DOWNLOADS=never
export UV_SYSTEM_CERTS="${UV_SYSTEM_CERTS:-true}"
unset VIRTUAL_ENV PYTHONHOME PYTHONPATH
# Tests start hundreds of interpreters. The bytecode cache lets them compile each module only once.
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX="${PYTHONPYCACHEPREFIX:-$root/.tools/bytecode}"

say() {
    printf '==> %s\n' "$*"
}

give_up() {
    printf '%s\n' "$*" >&2
    exit 1
}

# Run a command and show its output only if it fails.
quietly() {
    if ! printed=$("$@" 2>&1); then
        printf '%s\n' "$printed" >&2
        give_up "failed: $*"
    fi
}

find_python() {
    python=$(command -v "${PYTHON:-python3}") || give_up "cofire needs Python 3.11 or newer: install it, or set PYTHON=…"
    python=$("$python" -c 'import sys; print(sys.executable if sys.version_info >= (3, 11) else "")')
    [ -n "$python" ] || give_up "cofire needs Python 3.11 or newer: set PYTHON=…"
}

# uv does not read pip's settings, so the index of pip is passed to it.
share_index() {
    index=${PIP_INDEX_URL:-$("$python" -m pip config get global.index-url 2>/dev/null || true)}
    [ -z "$index" ] || export UV_DEFAULT_INDEX="${UV_DEFAULT_INDEX:-$index}"
}

get_uv() {
    find_python
    share_index
    lock=$root/requirements/tools.txt
    ! cmp -s "$lock" "$root/.tools/uv/lock" || return 0
    say "fetching uv into .tools"
    rm -rf "$root/.tools/uv"
    quietly "$python" -m pip install --quiet --no-cache-dir --disable-pip-version-check --root-user-action=ignore \
        --require-hashes --only-binary :all: --target "$root/.tools/uv" --requirement "$lock"
    cp "$lock" "$root/.tools/uv/lock"
}

# The sources of .venv: equal fingerprints mean equal contents.
fingerprint() {
    (cd "$root" && { echo "$root" "${PYTHON:-python3}"; cat pyproject.toml "$@"; } | cksum)
}

# environment core: the packages cofire needs. environment dev: these and those of the tests.
environment() {
    case $1 in
        core) set -- requirements/core.txt requirements/build.txt ;;
        dev) set -- requirements/dev.txt ;;
    esac
    wanted=$(fingerprint "$@")
    present=$([ -x "$venv/bin/python" ] && cat "$venv/fingerprint" 2>/dev/null || true)
    [ "$present" != "$wanted" ] || return 0
    # The packages of dev contain those of core.
    [ "$present" != "$(fingerprint requirements/dev.txt)" ] || return 0
    get_uv
    say "installing $* into .venv"
    (
        cd "$root"
        quietly "$uv" venv --quiet --clear --python "$python" "$venv"
        quietly "$uv" pip install --quiet --python "$venv" --require-hashes $(printf ' --requirement %s' "$@")
        # The kernels and the page are built by separate steps, also when only they have changed.
        quietly env HATCH_BUILD_NO_HOOKS=true "$uv" pip install --quiet --python "$venv" --no-deps --no-build-isolation --editable .
    )
    printf '%s\n' "$wanted" >"$venv/fingerprint"
}

# A C compiler: that of the machine, or zig.
get_compiler() {
    [ -z "${CC:-}" ] || return 0
    if command -v cc || command -v gcc || command -v clang; then return 0; fi >/dev/null
    get_zig
}

# zig in .tools, found by hatch_build.py through PYTHONPATH. It compiles for every platform.
get_zig() {
    find_python
    lock=$root/requirements/compiler.txt
    if ! cmp -s "$lock" "$root/.tools/compiler/lock"; then
        say "fetching a C compiler into .tools"
        rm -rf "$root/.tools/compiler"
        quietly "$python" -m pip install --quiet --no-cache-dir --disable-pip-version-check --root-user-action=ignore \
            --require-hashes --only-binary :all: --target "$root/.tools/compiler" --requirement "$lock"
        cp "$lock" "$root/.tools/compiler/lock"
    fi
    export PYTHONPATH="$root/.tools/compiler"
    export ZIG_GLOBAL_CACHE_DIR="$root/.tools/cache/zig" ZIG_LOCAL_CACHE_DIR="$root/.tools/cache/zig"
}

# Compile the kernels into the package, with the Python of the environment.
kernels() {
    get_compiler
    wanted=$(cd "$root" && { uname -sm; cksum hatch_build.py src/cofire/index/native.c; } | cksum)
    built=$(find "$root/src/cofire/index" -name 'cofire_kernels.*')
    [ "$(cat "$root/.tools/kernels" 2>/dev/null || true)" != "$wanted" ] || [ -z "$built" ] || return 0
    say "building the kernels"
    quietly "$venv/bin/python" "$root/hatch_build.py"
    mkdir -p "$root/.tools"
    printf '%s\n' "$wanted" >"$root/.tools/kernels"
}

# Build the page of `cofire serve` into the package; it needs Node.
page() {
    "$venv/bin/python" "$root/hatch_build.py" page
}

# Fetch the jars of the Neo4j test server before the test workers start. Without Java and Maven its tests are skipped.
neo4j_jars() {
    [ -z "${COFIRE_TEST_NEO4J:-}" ] || return 0
    if ! command -v java || ! command -v mvn; then return 0; fi >/dev/null
    "$venv/bin/python" "$root/tests/neo4j_jars.py"
}

# Debian's Chromium for the tests of the page. Without the right to install it, they are skipped.
browser() {
    ! command -v chromium >/dev/null || return 0
    command -v apt-get >/dev/null || return 0
    [ "$(id -u)" = 0 ] || return 0
    say "installing Chromium"
    quietly apt-get update --quiet --quiet
    quietly env DEBIAN_FRONTEND=noninteractive apt-get install --quiet --quiet --yes --no-install-recommends chromium
}

# Install the wheel for this platform from dist/ into an empty environment and try it.
# try_wheel complete: also fail if its doctor reports no page or no kernels.
try_wheel() {
    say "installing the wheel into an empty environment"
    empty=$(mktemp -d "$root/.tools/empty.XXXXXX")
    trap 'rm -rf "$empty"' EXIT
    trap 'exit 1' HUP INT TERM
    quietly "$uv" venv --quiet --python "$python" "$empty/venv"
    quietly "$uv" pip install --quiet --python "$empty/venv" --require-hashes --requirement "$root/requirements/core.txt"
    quietly "$uv" pip install --quiet --python "$empty/venv" --no-deps --no-index --only-binary cofire --find-links "$root/dist" cofire
    quietly "$uv" pip check --quiet --python "$empty/venv"

    say "trying the wheel"
    mkdir "$empty/home"
    cd "$empty/home"
    quietly in_empty_home cofire --version
    quietly in_empty_home cofire demo
    [ "${1:-}" != complete ] || quietly in_empty_home python -c '
import json, subprocess, sys
report = json.loads(subprocess.run([sys.executable, "-m", "cofire", "doctor", "--json"], capture_output=True, check=True).stdout)
states = {finding["about"]: finding["state"] for finding in report["findings"]}
sys.exit(0 if states["page"] == states["kernels"] == "ok" else f"the wheel is not complete: {states}")
'
    cd "$root"
}

in_empty_home() {
    program=$1
    shift
    env -i PATH="$PATH" HOME="$empty/home" "$empty/venv/bin/$program" "$@"
}
